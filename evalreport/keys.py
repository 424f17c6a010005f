"""Every option once: its flag, its key in evalreport.toml, what it takes and what it does.

The command line, evalreport.toml and the file that ``evalreport init`` writes all come from ``KEYS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Task = Literal["binary", "multiclass", "regression", "outcome", "scores"]
Join = Literal["error", "intersect", "independent"]
Correction = Literal["holm", "bh", "bonferroni", "none"]
Format = Literal["html", "pdf", "json", "md"]
Detail = Literal["brief", "full"]
LogFormat = Literal["text", "json"]

FORMATS: tuple[Format, ...] = ("html", "pdf", "json", "md")
FILES: Mapping[Format, str] = {
    "html": "report.html", "pdf": "report.pdf", "json": "results.json", "md": "summary.md"
}  # fmt: skip
"""The file of each format in the output folder."""

Kind = Literal["text", "number", "integer", "flag", "path", "choice", "list", "formats"]


@dataclass(frozen=True, slots=True)
class Key:
    """One option: its name in evalreport.toml, the field it fills, what it takes and what it does."""

    name: str
    field: str
    kind: Kind
    metavar: str
    summary: str
    example: str
    choices: tuple[str, ...] = ()
    short: str | None = None
    loading: bool = False
    """True where reading the files depends on it, so that ``evalreport check`` takes it as well."""

    @property
    def flag(self) -> str:
        """The spelling on the command line."""
        return "--" + self.name.replace("_", "-")


KEYS: tuple[Key, ...] = (
    Key("output", "output", "path", "DIR",
        "Folder of the report; `-` with -f json writes the JSON to standard output"
        " (default evalreport-out).",
        '"evalreport-out"', short="-o"),
    Key("format", "formats", "formats", "LIST",
        "Any of html,pdf,json,md, separated by commas (default: all).",
        '["html", "pdf", "json", "md"]', short="-f"),
    Key("truth", "truth", "path", "FILE", "True values by id, when they are not in the prediction files.",
        '"truth.csv"', loading=True),
    Key("task", "task", "choice", "NAME", "Kind of task (default: found from the data, and said).",
        '"binary"', choices=get_args(Task), loading=True),
    Key("positive", "positive", "text", "LABEL",
        "Positive class of a binary task (default: found, and said).", '"1"', loading=True),
    Key("threshold", "threshold", "number", "X",
        "Positive where p >= X, for models without y_pred (default 0.5 on probabilities, none on scores).",
        "0.5", loading=True),
    Key("join", "join", "choice", "HOW",
        "What to do where models do not have the same ids (default error; independent: separate test sets).",
        '"error"', choices=get_args(Join), loading=True),
    Key("outcome", "outcome", "text", "COLUMN", "Column of outcomes judged elsewhere, 0/1 or any number.",
        '"correct"', loading=True),
    Key("value", "value", "text", "COLUMN", "Column of scores, one a row for a model on a data set.",
        '"auc"', loading=True),
    Key("lower_is_better", "lower_is_better", "flag", "", "Smaller outcomes or values are better.",
        "false", loading=True),
    Key("baseline", "baseline", "text", "MODEL",
        "Compare every model with this one (default: every pair of models).", '"logreg"', short="-b"),
    Key("metric", "metrics", "list", "NAME",
        "Repeatable. The first is the primary metric, which the verdict is about; only those named are"
        " computed (default: all that the data allow). Spelled f1, f1_macro, recall[class=3]; see"
        " `evalreport list metrics`.",
        '["accuracy", "f1"]', short="-m"),
    Key("interval", "intervals", "list", "NAME|all",
        "Repeatable (default: the recommended one, normal, bootstrap_percentile and bootstrap_bca).",
        '["wilson", "bootstrap_bca"]'),
    Key("test", "tests", "list", "NAME|all",
        "Repeatable (default: the recommended test and the ones usually shown beside it).",
        '["mcnemar_midp", "permutation"]'),
    Key("confidence", "confidence", "number", "X",
        "Confidence level of the intervals (default 0.95).", "0.95"),
    Key("resamples", "resamples", "integer", "N", "Bootstrap replicates (default 2000).", "2000"),
    Key("seed", "seed", "integer", "N", "Seed of every random draw (default 0).", "0"),
    Key("correction", "correction", "choice", "NAME",
        "Correction of the verdict's p-values for several comparisons (default holm).",
        '"holm"', choices=get_args(Correction)),
    Key("margin", "margin", "number", "X",
        "Smallest difference that matters, in the primary metric's units; without it nothing is called"
        " equivalent or non-inferior.", "0.01"),
    Key("slice", "slices", "list", "COLUMN",
        "Repeatable: every metric by the values of this column; age:4 or age:18,40,65 makes bins, city:10 keeps the ten"
        " most frequent values, sex*region takes two columns at once.",
        '["sex", "age:4", "sex*region"]'),
    Key("cluster", "cluster", "text", "COLUMN", "Resample and compute standard errors by whole clusters.",
        '"patient"'),
    Key("weight", "weight", "text", "COLUMN", "Example weights.", '"weight"'),
    Key("gate", "gates", "list", "EXPR",
        "Repeatable: 'forest.accuracy >= 0.90', 'forest.f1_macro - logreg.f1_macro > -0.01', 'n >= 500',"
        " 'forest.recall[sex=f] >= 0.75' within a slice.",
        '["forest.accuracy >= 0.90", "n >= 500"]'),
    Key("fixed_class_counts", "fixed_class_counts", "flag", "",
        "Resample within the true classes: only where the design fixed how many examples of each there are.",
        "false"),
    Key("exact", "exact", "flag", "",
        "Resample rank metrics from all rows (default: above 200,000 rows from a histogram).", "false"),
    Key("noise", "noise", "number", "X",
        "Variance of the noise in the true values, so that bias and noise are told apart (regression).", "0.09"),
    Key("same_input", "same_input", "text", "COLUMN",
        "Column that is equal for repeated measurements of one input: their spread is the noise.", '"specimen"',
        loading=True),
    Key("kohavi_wolpert", "kohavi_wolpert", "flag", "",
        "Split 0-1 loss after Kohavi and Wolpert as well (always: after Domingos).", "false"),
    Key("against", "against", "number", "X",
        "Accuracy that binomial_exact tests against (default: that of the most frequent class).", "0.9"),
    Key("cost_ratio", "cost_ratio", "number", "X",
        "Cost of a false negative over that of a false positive; the cheapest threshold is then found.", "5"),
    Key("what_if_threshold", "what_if_threshold", "number", "X",
        "Say how many cases would change sides at this threshold.", "0.7"),
    Key("detail", "detail", "choice", "HOW", "How much stands in the PDF (default brief).",
        '"brief"', choices=get_args(Detail)),
    Key("templates", "templates", "path", "DIR",
        "Folder searched before the built-in templates.", '"templates"'),
    Key("template_time", "template_time", "integer", "SECONDS",
        "Processor time that templates of that folder may take for each document (default 30).", "30"),
    Key("title", "title", "text", "TEXT", "Title of the report.", '"Comparison of the models"'),
    Key("junit", "junit", "path", "FILE",
        "Also write the gates as JUnit XML, which shows each of them in continuous integration.",
        '"gates.xml"'),
    Key("jobs", "jobs", "integer", "N", "Threads to use; no figure depends on it (default 1).", "1"),
    Key("memory_limit", "memory_limit", "text", "SIZE",
        "Memory for reading and joining, such as 4GB; the rest lies on disk meanwhile (default: 80 % of this machine's"
        " or container's). A binary file that declares more is refused.", '"4GB"', loading=True),
    Key("log_format", "log_format", "choice", "HOW",
        "How lines on standard error are written (default text); json: one object a line.",
        '"text"', choices=get_args(LogFormat)),
    Key("quiet", "quiet", "flag", "", "Print errors only.", "false", short="-q"),
    Key("verbose", "verbose", "flag", "",
        "Print every warning, and a traceback on a defect.", "false", short="-v"),
)  # fmt: skip
