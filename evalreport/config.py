"""The options of a run: what changes results, what changes only the outputs, and evalreport.toml.

What each option is called and takes stands in ``keys``.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from evalreport.errors import UsageError
from evalreport.registry import unknown_name
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


STANDARD_OUTPUT = Path("-")
LEAST_MEMORY = 100 * 10**6
TEMPLATE_TIME = 30
"""Seconds of processor time that a user's templates may take for each document."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(i?)b", re.IGNORECASE | re.ASCII)


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
    cost_ratio: float | None = None
    what_if_threshold: float | None = None
    noise: float | None = None
    same_input: str | None = None
    kohavi_wolpert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The options that change only what is written and how; results.json does not depend on them."""

    output: Path = Path("evalreport-out")
    formats: tuple[Format, ...] = FORMATS
    formats_named: bool = False
    detail: Detail = "brief"
    templates: Path | None = None
    template_time: int = TEMPLATE_TIME
    title: str | None = None
    junit: Path | None = None
    jobs: int = 1
    memory_limit: str | None = None
    log_format: LogFormat = "text"
    quiet: bool = False
    verbose: bool = False


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
    if options.noise is not None and options.same_input is not None:
        raise UsageError(
            "noise and same_input contradict each other: give the level, or the column that shows it"
        )
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
    if options.template_time < 1:
        raise UsageError(f"template_time must be a whole number of at least 1, not {options.template_time}")
    memory_bytes(options.memory_limit)
    if not options.formats:
        raise UsageError(f"format needs at least one of {', '.join(FORMATS)}")
    if options.output == STANDARD_OUTPUT and options.formats != ("json",):
        raise UsageError(
            "-o - writes to standard output, which holds one format: add -f json, or name a folder"
        )


def memory_bytes(size: str | None) -> int | None:
    """Read a limit of memory; None where none is given.

    Raises
    ------
    UsageError
        No size with its unit, or too little to work in.

    Examples
    --------
    >>> memory_bytes("1.5 GB"), memory_bytes("512MiB"), memory_bytes(None)
    (1500000000, 536870912, None)
    """
    if size is None:
        return None
    match = _SIZE.fullmatch(size.strip())
    if match is None:
        raise UsageError(f"memory_limit must be a size such as 4GB or 500MB, not {shown(size)}")
    base = 1024 if match[3] else 1000
    limit = int(float(match[1]) * base ** " kmgt".index(match[2].lower()))
    if limit < LEAST_MEMORY:
        raise UsageError(f"memory_limit must be at least {LEAST_MEMORY // 10**6}MB, not {size}")
    return limit


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
        raise UsageError(
            f"margin must be greater than 0, not {options.margin:g}: the smallest difference that matters"
        )
    if options.noise is not None and options.noise < 0:
        raise UsageError(f"noise is a variance and must be at least 0, not {options.noise:g}")
    if options.cost_ratio is not None and options.cost_ratio <= 0:
        raise UsageError(
            f"cost_ratio must be greater than 0, not {options.cost_ratio:g}: the cost of a false negative over that of"
            " a false positive"
        )
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
