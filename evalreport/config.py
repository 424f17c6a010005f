"""The options of a run: what changes results, what changes only the outputs, and evalreport.toml.

Every option stands once, in ``KEYS``: the command line's flags, the keys of evalreport.toml and the file
that ``evalreport init`` writes all come from there.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from evalreport.errors import UsageError
from evalreport.registry import unknown_name

Task = Literal["binary", "multiclass", "regression", "outcome", "scores"]
Join = Literal["error", "intersect", "independent"]
Correction = Literal["holm", "bh", "bonferroni", "none"]
Format = Literal["html", "pdf", "json", "md"]
Detail = Literal["brief", "full"]

FORMATS: tuple[Format, ...] = ("html", "pdf", "json", "md")
STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that change results; they stand in results.json.

    ``metrics``, ``intervals`` and ``tests`` empty mean the defaults; the first metric is the primary one.
    """

    truth: str | None = None
    task: Task | None = None
    positive: str | None = None
    threshold: float | None = None
    join: Join = "error"
    outcome: str | None = None
    value: str | None = None
    lower_is_better: bool = False
    baseline: str | None = None
    metrics: tuple[str, ...] = ()
    intervals: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0
    correction: Correction = "holm"
    margin: float | None = None
    slices: tuple[str, ...] = ()
    cluster: str | None = None
    weight: str | None = None
    gates: tuple[str, ...] = ()
    exact: bool = False
    fixed_class_counts: bool = False
    against: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The options that change only what is written and how; results.json does not depend on them."""

    output: Path = Path("evalreport-out")
    formats: tuple[Format, ...] = FORMATS
    formats_named: bool = False
    detail: Detail = "brief"
    templates: Path | None = None
    title: str | None = None
    jobs: int = 1
    quiet: bool = False
    verbose: bool = False


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
    Key("slice", "slices", "list", "COLUMN", "Repeatable: every metric by the values of this column.",
        '["age_group"]'),
    Key("cluster", "cluster", "text", "COLUMN", "Resample and compute standard errors by whole clusters.",
        '"patient"'),
    Key("weight", "weight", "text", "COLUMN", "Example weights.", '"weight"'),
    Key("gate", "gates", "list", "EXPR",
        "Repeatable: 'forest.accuracy >= 0.90', 'forest.f1_macro - logreg.f1_macro > -0.01', 'n >= 500'.",
        '["forest.accuracy >= 0.90", "n >= 500"]'),
    Key("fixed_class_counts", "fixed_class_counts", "flag", "",
        "Resample within the true classes: only where the design fixed how many examples of each there are.",
        "false"),
    Key("exact", "exact", "flag", "",
        "Resample rank metrics from all rows (default: above 200,000 rows from a histogram).", "false"),
    Key("against", "against", "number", "X",
        "Accuracy that binomial_exact tests against (default: that of the most frequent class).", "0.9"),
    Key("detail", "detail", "choice", "HOW", "How much stands in the PDF (default brief).",
        '"brief"', choices=get_args(Detail)),
    Key("templates", "templates", "path", "DIR",
        "Folder searched before the built-in templates.", '"templates"'),
    Key("title", "title", "text", "TEXT", "Title of the report.", '"Comparison of the models"'),
    Key("jobs", "jobs", "integer", "N", "Threads to use; no figure depends on it (default 1).", "1"),
    Key("quiet", "quiet", "flag", "", "Print errors only.", "false", short="-q"),
    Key("verbose", "verbose", "flag", "",
        "Print every warning, and a traceback on a defect.", "false", short="-v"),
)  # fmt: skip


def validate(options: Options) -> None:
    """Check the values of the options that change results, before any file is read.

    Names of metrics, intervals and tests are checked against the registries by the pipeline: this module
    knows the standard library only.

    Raises
    ------
    UsageError
        A value outside its range or of a wrong type, or two options that contradict each other.

    Examples
    --------
    >>> validate(Options(confidence=95))
    Traceback (most recent call last):
    ...
    evalreport.errors.UsageError: confidence must be a number between 0 and 1, not 95 (95 % is 0.95)
    """
    check_types(options)
    check_ranges(options)
    if options.outcome is not None and options.value is not None:
        raise UsageError(
            "outcome and value contradict each other: name one column, by --outcome or by --value"
        )
    for column, task in (("outcome", "outcome"), ("value", "scores")):
        if getattr(options, column) is not None and options.task not in (None, task):
            raise UsageError(f"{column} belongs to the task {task}, but the task is given as {options.task}")


def validate_output(options: OutputOptions) -> None:
    """Check the values of the options that change only what is written.

    Raises
    ------
    UsageError
        A value outside its range or of a wrong type, or standard output asked for anything but the JSON.
    """
    check_types(options)
    if options.jobs < 1:
        raise UsageError(f"jobs must be a whole number of at least 1, not {options.jobs}")
    if not options.formats:
        raise UsageError(f"format needs at least one of {', '.join(FORMATS)}")
    if options.output == STANDARD_OUTPUT and options.formats != ("json",):
        raise UsageError(
            "-o - writes to standard output, which holds one format: add -f json, or name a folder"
        )


def with_fields(options: Options, given: Mapping[str, Any]) -> Options:
    """Return options with some fields replaced, lists made tuples, and everything validated.

    Raises
    ------
    UsageError
        An unknown field, or a value that ``validate`` refuses.

    Examples
    --------
    >>> with_fields(Options(), {"metrics": ["f1", "accuracy"], "seed": 7}).metrics
    ('f1', 'accuracy')
    """
    changed = replace(options, **_plain_fields(given, Options))
    validate(changed)
    return changed


def output_options(given: Mapping[str, Any]) -> OutputOptions:
    """Return output options made of fields, everything validated.

    Raises
    ------
    UsageError
        An unknown field, or a value that ``validate_output`` refuses.

    Examples
    --------
    >>> output_options({"formats": "md,html"}).formats
    ('html', 'md')
    """
    plain = _plain_fields(given, OutputOptions)
    options = OutputOptions(**plain, formats_named="formats" in plain)
    validate_output(options)
    return options


def pick(values: Mapping[str, Any], record: type[Options | OutputOptions]) -> dict[str, Any]:
    """Return those of the values that are fields of the record."""
    names = {entry.name for entry in fields(record)}
    return {name: value for name, value in values.items() if name in names}


def parse_formats(parts: Sequence[str]) -> tuple[Format, ...]:
    """Read a list of formats, each part possibly several with commas between, into canonical order.

    Raises
    ------
    UsageError
        An unknown format, or none.

    Examples
    --------
    >>> parse_formats(["md,html"])
    ('html', 'md')
    """
    named = [name.strip() for part in parts for name in part.split(",") if name.strip()]
    for name in named:
        if name not in FORMATS:
            raise UsageError(unknown_name("format", name, list(FORMATS)))
    if not named:
        raise UsageError(f"format needs at least one of {', '.join(FORMATS)}")
    return tuple(name for name in FORMATS if name in named)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(part, str) for part in value)
    )


def _is_number(value: Any) -> bool:
    # The abstract types take numpy's scalars, which people pass from notebooks; True is no number here.
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


# What each kind of option takes: in words, and as a test of the value that TOML or Python gives.
EXPECTED: dict[Kind, tuple[str, Callable[[Any], bool]]] = {
    "text": ("text in quotes", _is_text),
    "path": ("a path in quotes", _is_text),
    "choice": ("one of the known names in quotes", _is_text),
    "number": ("a number", _is_number),
    "integer": ("a whole number", _is_integer),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list of texts", _is_text_list),
    "formats": ("a list of formats", _is_text_list),
}


def check_types(options: Options | OutputOptions) -> None:
    """Check every field against its key: the kind of value, the choices, finite numbers.

    Raises
    ------
    UsageError
        A value of a wrong type, an unknown choice, or a number that is not finite.
    """
    by_field = {key.field: key for key in KEYS}
    for entry in fields(options):
        key, value = by_field.get(entry.name), getattr(options, entry.name)
        if key is None or (value is None and entry.default is None):
            continue
        if key.kind in ("list", "formats"):
            if not isinstance(value, tuple) or not all(_is_text(part) for part in value):
                raise UsageError(f"{entry.name} must be a list of names, not {shown(value)}")
            if key.kind == "formats":
                parse_formats(value)
        elif key.kind == "path":
            if not isinstance(value, Path) and not _is_text(value):
                raise UsageError(f"{entry.name} must be a path, not {shown(value)}")
        elif not EXPECTED[key.kind][1](value):
            raise UsageError(f"{entry.name} must be {EXPECTED[key.kind][0]}, not {shown(value)}")
        elif key.kind == "number" and not math.isfinite(value):
            raise UsageError(f"{entry.name} must be a finite number, not {value}")
        elif key.choices and value not in key.choices:
            raise UsageError(unknown_name(entry.name, value, list(key.choices)))


def check_ranges(options: Options) -> None:
    """Check each number against its range, whatever the other options are.

    Raises
    ------
    UsageError
        A number outside its range.
    """
    level = options.confidence
    if not 0 < level < 1:
        hint = f" ({level:g} % is {level / 100:g})" if 1 < level < 100 else ""
        raise UsageError(f"confidence must be a number between 0 and 1, not {level:g}{hint}")
    if options.resamples < 1:
        raise UsageError(f"resamples must be a whole number of at least 1, not {options.resamples}")
    if options.seed < 0:
        raise UsageError(f"seed must be a whole number of at least 0, not {options.seed}")
    if options.margin is not None and options.margin <= 0:
        said = "the smallest difference that matters"
        raise UsageError(f"margin must be greater than 0, not {options.margin:g}: {said}")
    if options.against is not None and not 0 < options.against < 1:
        raise UsageError(f"against must be an accuracy between 0 and 1, not {options.against:g}")


def _plain_fields(given: Mapping[str, Any], record: type[Options | OutputOptions]) -> dict[str, Any]:
    """Check the fields' names; accept one name or any list where a tuple is kept, and numpy's numbers."""
    keys = {key.field: key for key in KEYS}
    known = [entry.name for entry in fields(record) if entry.name in keys]
    for name in given:
        if name not in known:
            raise UsageError(unknown_name("option", name, known))
    return {name: _plain(keys[name], value) for name, value in given.items()}


def _plain(key: Key, value: Any) -> Any:
    kind = key.kind
    if kind in ("list", "formats") and isinstance(value, (str, list, tuple)):
        parts = (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))
        return parse_formats(parts) if kind == "formats" else parts
    if kind == "path" and isinstance(value, (str, Path)) and str(value):
        # The truth's path stands in results.json, which holds plain values.
        return str(value) if key.field == "truth" else Path(value)
    if kind == "number" and _is_number(value):
        return float(value)
    return int(value) if kind == "integer" and _is_integer(value) else value


def shown(value: Any) -> str:
    """Write a value that came from outside, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
