"""Every option once: its flag, its key in evalreport.toml, what it takes and what it does.

The command line, evalreport.toml and the file that ``evalreport init`` writes all come from ``KEYS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from evalreport.texts import say

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
    example: str
    choices: tuple[str, ...] = ()
    short: str | None = None
    loading: bool = False
    """True where reading the files depends on it, so that ``evalreport check`` takes it as well."""

    @property
    def flag(self) -> str:
        """The spelling on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def summary(self) -> str:
        """What it does, in the words of the catalogue."""
        return say(f"option.{self.name}")


KEYS: tuple[Key, ...] = (
    Key("output", "output", "path", "DIR", '"evalreport-out"', short="-o"),
    Key("format", "formats", "formats", "LIST", '["html", "pdf", "json", "md"]', short="-f"),
    Key("truth", "truth", "path", "FILE", '"truth.csv"', loading=True),
    Key("task", "task", "choice", "NAME", '"binary"', choices=get_args(Task), loading=True),
    Key("positive", "positive", "text", "LABEL", '"1"', loading=True),
    Key("threshold", "threshold", "number", "X", "0.5", loading=True),
    Key("join", "join", "choice", "HOW", '"error"', choices=get_args(Join), loading=True),
    Key("outcome", "outcome", "text", "COLUMN", '"correct"', loading=True),
    Key("value", "value", "text", "COLUMN", '"auc"', loading=True),
    Key("lower_is_better", "lower_is_better", "flag", "", "false", loading=True),
    Key("baseline", "baseline", "text", "MODEL", '"logreg"', short="-b"),
    Key("metric", "metrics", "list", "NAME", '["accuracy", "f1"]', short="-m"),
    Key("interval", "intervals", "list", "NAME|all", '["wilson", "bootstrap_bca"]'),
    Key("test", "tests", "list", "NAME|all", '["mcnemar_midp", "permutation"]'),
    Key("confidence", "confidence", "number", "X", "0.95"),
    Key("resamples", "resamples", "integer", "N", "2000"),
    Key("seed", "seed", "integer", "N", "0"),
    Key("correction", "correction", "choice", "NAME", '"holm"', choices=get_args(Correction)),
    Key("margin", "margin", "number", "X", "0.01"),
    Key("slice", "slices", "list", "COLUMN", '["sex", "age:4", "sex*region"]'),
    Key("cluster", "cluster", "text", "COLUMN", '"patient"'),
    Key("weight", "weight", "text", "COLUMN", '"weight"'),
    Key("gate", "gates", "list", "EXPR", '["forest.accuracy >= 0.90", "n >= 500"]'),
    Key("fixed_class_counts", "fixed_class_counts", "flag", "", "false"),
    Key("exact", "exact", "flag", "", "false"),
    Key("noise", "noise", "number", "X", "0.09"),
    Key("same_input", "same_input", "text", "COLUMN", '"specimen"', loading=True),
    Key("kohavi_wolpert", "kohavi_wolpert", "flag", "", "false"),
    Key("against", "against", "number", "X", "0.9"),
    Key("cost_ratio", "cost_ratio", "number", "X", "5"),
    Key("what_if_threshold", "what_if_threshold", "number", "X", "0.7"),
    Key("detail", "detail", "choice", "HOW", '"brief"', choices=get_args(Detail)),
    Key("templates", "templates", "path", "DIR", '"templates"'),
    Key("template_time", "template_time", "integer", "SECONDS", "30"),
    Key("title", "title", "text", "TEXT", '"Comparison of the models"'),
    Key("junit", "junit", "path", "FILE", '"gates.xml"'),
    Key("jobs", "jobs", "integer", "N", "1"),
    Key("memory_limit", "memory_limit", "text", "SIZE", '"4GB"', loading=True),
    Key("log_format", "log_format", "choice", "HOW", '"text"', choices=get_args(LogFormat)),
    Key("quiet", "quiet", "flag", "", "false", short="-q"),
    Key("verbose", "verbose", "flag", "", "false", short="-v"),
)
