"""Options of a run, each declared once: flags, keys of evalreport.toml and keywords follow. Types of the input."""

# ruff: noqa: RUF009 - `option` makes a field, as `dataclasses.field` does

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard, TypeVar, get_type_hints

from evalreport.errors import UsageError
from evalreport.keys import Key, Kind, kind_of, option
from evalreport.questions.declared_options import RoomOptions
from evalreport.registry import unknown_name
from evalreport.texts import say

AnyPath = str | PathLike[str]


class Frame(Protocol):
    """A data frame of pandas, polars, pyarrow, duckdb, Dask or Spark."""

    @property
    def columns(self) -> object:
        """The columns, or their names."""


class Array(Protocol):
    """An array of numpy, or a column of a data frame."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> object: ...


Values = Sequence[object] | Array
"""One value for each example."""
Model = Frame | Values | Mapping[str, object]
"""The predictions of one model: a frame, an array, or columns by their names."""
Models = AnyPath | Sequence[AnyPath] | Frame | Mapping[str, Model]
"""Files, a frame with a column ``model``, or each model's predictions by its name."""

Task = Literal[
    "binary", "multiclass", "regression", "outcome", "scores", "clustering", "sums", "intervals", "sets"
]
Join = Literal["error", "intersect", "independent"]
Average = Literal["tasks", "examples"]
Order = Literal["time"]
Missing = Literal["refuse", "drop", "wrong"]
Scale = Literal["percent", "log"]
"""How probabilities are written that are no shares of 1."""
Correction = Literal["holm", "bh", "bonferroni", "none"]
Format = Literal["html", "pdf", "json", "md", "csv", "tex", "card"]
FigureKind = Literal["svg", "png"]
Detail = Literal["brief", "full"]
LogFormat = Literal["text", "json"]
Engine = Literal["duckdb", "dask", "spark"]

USUAL_FORMATS: tuple[Format, ...] = ("html", "pdf", "json", "md")
"""Those that a run writes by itself."""
FILES: Mapping[Format, tuple[str, ...]] = {
    "html": ("report.html",),
    "pdf": ("report.pdf",),
    "json": ("results.json",),
    "md": ("summary.md",),
    "csv": tuple(
        f"tables/{name}.csv"
        for name in (
            "metrics",
            "pairs",
            "slices",
            "gates",
            "curves",
            "net_benefit",
            "murphy",
            "deciles",
            "findings",
        )
    ),
    "tex": ("table.tex", "methods.tex"),
    "card": ("card.md",),
}
"""The files of each format in the output folder."""
PAGE, PDF, JSON, SUMMARY = (FILES[form][0] for form in USUAL_FORMATS)

T = TypeVar("T")
Record = TypeVar("Record", "Options", "OutputOptions")

RECORDED_PATHS = ("truth", "looks_file", "criteria")
"""Fields of ``Options`` with a path, of which results.json has the name."""
STANDARD_OUTPUT = Path("-")
LEAST_MEMORY = 100 * 10**6
MOST_DIGITS_OF_A_SIZE = 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(i?)b", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(RoomOptions):
    """The options that change results; results.json records them.

    ``metrics``, ``intervals`` and ``tests`` empty mean the defaults; the first metric is the primary one.
    """

    truth: str | None = option(None, "FILE", '"truth.csv"', loading=True, group="Input")
    task: Task | None = option(None, "NAME", '"binary"', loading=True, group="Input")
    positive: str | None = option(None, "LABEL", '"1"', loading=True, group="Input")
    threshold: float | None = option(None, "X", "0.5", loading=True, group="Input")
    join: Join = option("error", "HOW", '"error"', loading=True, group="Input")
    missing: Missing = option("refuse", "HOW", '"refuse"', loading=True, group="Input")
    average: Average = option("tasks", "HOW", '"tasks"', group="Analysis")
    wide: bool = option(False, "", "false", loading=True, group="Input")
    labels: tuple[str, ...] = option((), "LIST", '["NA"]', loading=True, group="Input")
    probabilities: Scale | None = option(None, "HOW", '"percent"', loading=True, group="Input")
    encoding: str | None = option(None, "NAME", '"latin-1"', loading=True, group="Input")
    attempts_by: str | None = option(None, "COLUMN", '"task_id"', loading=True, group="Input")
    outcome: str | None = option(None, "COLUMN", '"correct"', loading=True, group="Input")
    value: str | None = option(None, "COLUMN", '"auc"', loading=True, group="Input")
    class_order: str | None = option(None, "LIST", '"low,mid,high"', loading=True, group="Input")
    level: float | None = option(None, "X", "0.9", loading=True, group="Input")
    sort_quantiles: bool = option(False, "", "false", loading=True, group="Input")
    lower_is_better: bool = option(False, "", "false", loading=True, group="Input")
    higher_is_better: bool = option(False, "", "false", loading=True, group="Input")
    baseline: str | None = option(None, "MODEL", '"logreg"', short="-b", group="Analysis")
    metrics: tuple[str, ...] = option(
        (), "NAME", '["accuracy", "f1"]', name="metric", short="-m", group="Analysis"
    )
    intervals: tuple[str, ...] = option(
        (), "NAME|all", '["wilson", "bootstrap_bca"]', name="interval", group="Analysis"
    )
    tests: tuple[str, ...] = option(
        (), "NAME|all", '["mcnemar_midp", "permutation"]', name="test", group="Analysis"
    )
    confidence: float = option(0.95, "X", "0.95", group="Analysis")
    resamples: int = option(2000, "N", "2000", group="Analysis")
    seed: int = option(0, "N", "0", group="Analysis")
    correction: Correction = option("holm", "NAME", '"holm"', group="Analysis")
    margin: float | None = option(None, "X", "0.01", group="Analysis")
    cluster: str | None = option(None, "COLUMN", '"patient"', group="Analysis")
    weight: str | None = option(None, "COLUMN", '"weight"', group="Analysis")
    order: Order | None = option(None, "NAME", '"time"', group="Analysis")
    horizon: int | None = option(None, "H", "12", group="Analysis")
    gates: tuple[str, ...] = option(
        (), "EXPR", '["forest.accuracy >= 0.90", "n >= 500"]', name="gate", group="Gates"
    )
    fixed_class_counts: bool = option(False, "", "false", group="Analysis")
    between_runs: float | None = option(None, "X", "0.01", group="Analysis")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The options of outputs and of running; results.json does not depend on them."""

    output: Path = option(Path("evalreport-out"), "DIR", '"evalreport-out"', short="-o", group="Output")
    formats: tuple[Format, ...] = option(
        USUAL_FORMATS, "LIST", '["html", "pdf", "json", "md"]', name="format", short="-f", group="Output"
    )
    formats_named: bool = False
    figures: FigureKind | None = option(None, "KIND", '"svg"', group="Output")
    detail: Detail = option("brief", "HOW", '"brief"', group="Output")
    templates: Path | None = option(None, "DIR", '"templates"', group="Output")
    title: str | None = option(None, "TEXT", '"Comparison of the models"', group="Output")
    sign_off: tuple[str, ...] = option(
        (), "TEXT", '["Name, validator", "Name, owner of the model"]', group="Output"
    )
    time: str | None = option(None, "ISO8601", '"2025-03-01T02:00:00+01:00"', group="Output")
    junit: Path | None = option(None, "FILE", '"gates.xml"', group="Gates")
    jobs: int = option(1, "N", "1", short="-j", group="Output")
    memory_limit: str | None = option(None, "SIZE", '"4GB"', loading=True, group="Input")
    engine: str | None = option(None, "ENGINE", '"dask=tcp://10.0.0.1:8786"', loading=True, group="Input")
    log_format: LogFormat = option("text", "HOW", '"text"', group="Output")
    quiet: bool = option(False, "", "false", short="-q", group="Output")
    verbose: bool = option(False, "", "false", short="-v", group="Output")


def _keys(record: type[Options | OutputOptions]) -> tuple[Key, ...]:
    own = [entry for entry in fields(record) if entry.name in record.__annotations__]
    rooms = [entry for entry in fields(record) if entry not in own]
    hints = get_type_hints(record)
    keys = []
    for entry in (entry for entry in (*own, *rooms) if entry.metadata):
        key, (kind, choices) = entry.metadata["key"], kind_of(hints[entry.name])
        kind = "path" if entry.name in RECORDED_PATHS else kind
        keys.append(replace(key, name=key.name or entry.name, field=entry.name, kind=kind, choices=choices))
    return tuple(keys)


KEYS: tuple[Key, ...] = (*_keys(OutputOptions)[:2], *_keys(Options), *_keys(OutputOptions)[2:])
"""Every option in the order of --help: output and formats, analysis, other outputs."""


OF_AGGREGATES = (
    "truth", "task", "positive", "threshold", "labels", "slices", "cluster", "weight", "resamples", "seed"
)  # fmt: skip
"""Fields of ``Options`` that ``evalreport aggregate`` takes."""
OF_CRITERIA = (
    "metrics", "margin", "gates", "slices", "correction", "confidence", "looks", "n_max", "baseline", "time"
)  # fmt: skip
"""Fields that ``evalreport declare`` takes."""
RENDERING = ("formats", "figures", "detail", "templates", "title", "sign_off", "time")
"""Fields of ``OutputOptions`` that ``evalreport.render`` takes."""


def validate(options: Options) -> None:
    """Check the values of the options that change results, before any file is read.

    Names of metrics, intervals and tests are checked against the registries by the analysis: this module
    knows the standard library only.

    Raises
    ------
    UsageError
        A value has a wrong type or is outside its range, or two options contradict each other.

    Examples
    --------
    >>> validate(Options(confidence=95))
    Traceback (most recent call last):
    ...
    evalreport.errors.UsageError: confidence must be a number between 0 and 1, not 95 (95 % is 0.95)
    """
    check_types(options)
    check_ranges(options)
    _ask_rooms(options, "check")
    if options.outcome is not None and options.value is not None:
        raise UsageError(
            "outcome and value contradict each other: name one column, by --outcome or by --value"
        )
    if options.lower_is_better and options.higher_is_better:
        raise UsageError("lower_is_better and higher_is_better contradict each other: name one of them")
    if options.order is not None and options.cluster is not None:
        raise UsageError(
            "order and cluster contradict each other: name clusters alone (blocks of time, say), or the order alone,"
            " where every example is a neighbour of the next"
        )
    if options.order is not None and options.weight is not None:
        raise UsageError(
            "order and weight do not go together: limits of weighted examples in order of time were never measured;"
            " leave one of them out"
        )
    if options.order is not None and options.fixed_class_counts:
        raise UsageError("order and fixed_class_counts contradict each other: time fixes no class counts")
    if options.horizon is not None and options.order is None:
        raise UsageError("horizon is about forecasts in order of time: add --order time, or leave it out")
    for column, task in (("outcome", "outcome"), ("value", "scores")):
        if getattr(options, column) is not None and options.task not in (None, task):
            raise UsageError(f"{column} belongs to the task {task}, but the task is given as {options.task}")


def validate_output(options: OutputOptions) -> None:
    """Check the values of the options of outputs.

    Raises
    ------
    UsageError
        A value has a wrong type or is outside its range, or standard output is not for the JSON alone.
    """
    check_types(options)
    if options.jobs < 1:
        raise UsageError(f"jobs must be a whole number of at least 1, not {options.jobs}")
    if options.time is not None:
        parse_time(options.time)
    memory_bytes(options.memory_limit)
    if not options.formats:
        raise UsageError(f"format needs at least one of {', '.join(FILES)}")
    if options.output == STANDARD_OUTPUT and options.formats != ("json",):
        raise UsageError(
            "-o - writes to standard output, which holds one format: add -f json, or name a folder"
        )


def memory_bytes(size: str | None) -> int | None:
    """Return a limit of memory in bytes; None: no limit.

    Raises
    ------
    UsageError
        It is no size with a unit, or too small.

    Examples
    --------
    >>> memory_bytes("1.5 GB"), memory_bytes("512MiB"), memory_bytes(None)
    (1500000000, 536870912, None)
    """
    if size is None:
        return None
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None or len(match[1]) > MOST_DIGITS_OF_A_SIZE:
        raise UsageError(f"memory_limit must be a size such as 4GB or 500MB, not {shown(size)}")
    base = 1024 if match[3] else 1000
    limit = int(float(match[1]) * base ** " kmgt".index(match[2].lower()))
    if limit < LEAST_MEMORY:
        raise UsageError(f"memory_limit must be at least {LEAST_MEMORY // 10**6}MB, not {size}")
    return limit


def with_fields(options: Options, given: Mapping[str, object]) -> Options:
    """Return validated options with some fields replaced.

    Raises
    ------
    UsageError
        A field is unknown, or a value is not allowed.

    Examples
    --------
    >>> with_fields(Options(), {"metrics": ["f1", "accuracy"], "seed": 7}).metrics
    ('f1', 'accuracy')
    """
    unchanged = {entry.name: getattr(options, entry.name) for entry in fields(options)}
    changed = filled(Options, {**unchanged, **_plain_fields(given, Options)})
    validate(changed)
    return changed


def output_options(given: Mapping[str, object]) -> OutputOptions:
    """Return validated output options; errors as ``with_fields``.

    Examples
    --------
    >>> output_options({"formats": "md,html"}).formats
    ('html', 'md')
    """
    options = filled(OutputOptions, _plain_fields(given, OutputOptions))
    validate_output(options)
    return options


def filled(record: type[Record], values: Mapping[str, object]) -> Record:
    """Return a record of the values that are fields of it."""
    names = {entry.name for entry in fields(record)}
    if "formats_named" in names:
        values = {**values, "formats_named": "formats" in values}
    known: dict[str, Any] = {name: value for name, value in values.items() if name in names}
    return record(**known)


def parse_formats(parts: Sequence[str]) -> tuple[Format, ...]:
    """Return formats in canonical order; each part may name several, with commas.

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
        if name not in FILES:
            of_word = f" {say('cli.of_word')}" if name.lower() in ("docx", "doc", "word", "odt") else ""
            raise UsageError(unknown_name("format", name, list(FILES)) + of_word)
    if not named:
        raise UsageError(f"format needs at least one of {', '.join(FILES)}")
    return tuple(name for name in FILES if name in named)


LARGEST_INTEGER = 2**63 - 1
LONGEST_TEXT = 10_000
"""Characters of an option: a gate may name two models by 1,000 each."""
MOST_RESAMPLES = 1_000_000
"""More would take longer than an hour on ten thousand rows, and change no third digit."""


def _parts(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_text_list(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(part, str) for part in value)
    )


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value of TOML, JSON or Python is a number."""
    # The abstract types include numpy's scalars; bool is excluded.
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value of TOML, JSON or Python is a whole number."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


# For each kind of option, its values in words and a check of a value from TOML or Python.
EXPECTED: dict[Kind, tuple[str, Callable[[object], bool]]] = {
    "text": ("text in quotes", _is_text),
    "path": ("a path in quotes", _is_text),
    "choice": ("one of the known names in quotes", _is_text),
    "number": ("a number", is_number),
    "integer": ("a whole number", is_integer),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list of texts", _is_text_list),
    "formats": ("a list of formats", _is_text_list),
}


def check_types(options: Options | OutputOptions) -> None:
    """Check every field against its key: the kind of value, the choices, finite numbers.

    Raises
    ------
    UsageError
        A value has a wrong type, is an unknown choice, or is not finite.
    """
    by_field = {key.field: key for key in KEYS}
    for entry in fields(options):
        key, value = by_field.get(entry.name), getattr(options, entry.name)
        if key is None or (value is None and entry.default is None):
            continue
        if any(isinstance(part, str) and len(part) > LONGEST_TEXT for part in _parts(value)):
            raise UsageError(f"{entry.name} is longer than {LONGEST_TEXT:,} characters: {shown(value)}")
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
        elif key.kind == "integer" and abs(value) > LARGEST_INTEGER:
            raise UsageError(f"{entry.name} must be at most {LARGEST_INTEGER}, not {shown(value)}")
        elif key.choices and value not in key.choices:
            raise UsageError(unknown_name(entry.name, value, list(key.choices)))


def check_ranges(options: Options) -> None:
    """Check each number against its range.

    Raises
    ------
    UsageError
        A number outside its range.
    """
    for name in ("confidence", "level"):
        share = getattr(options, name)
        if share is not None and not 0 < share < 1:
            hint = f" ({share:g} % is {share / 100:g})" if 1 < share < 100 else ""
            raise UsageError(f"{name} must be a number between 0 and 1, not {share:g}{hint}")
    for name, least in (("resamples", 1), ("seed", 0), ("horizon", 1)):
        number = getattr(options, name)
        if number is not None and number < least:
            raise UsageError(f"{name} must be a whole number of at least {least}, not {number}")
    if options.resamples > MOST_RESAMPLES:
        raise UsageError(f"resamples must be at most {MOST_RESAMPLES:,}, not {options.resamples}")
    if options.margin is not None and options.margin <= 0:
        raise UsageError(
            f"margin must be greater than 0, not {options.margin:g}: the smallest difference that matters"
        )
    if options.between_runs is not None and options.between_runs < 0:
        raise UsageError(
            f"between_runs must be at least 0, not {options.between_runs:g}: the standard deviation of the primary"
            " metric between runs"
        )
    _ask_rooms(options, "check_ranges")


def _ask_rooms(options: Options, check: str) -> None:
    """Call a check of every room that has it: ``check_ranges`` of single options, ``check`` of several together."""
    for room in Options.__mro__:
        if check in vars(room):
            vars(room)[check](options)


def _plain_fields(given: Mapping[str, object], record: type[Options | OutputOptions]) -> dict[str, object]:
    """Check the names of fields, and convert the values to their fields' types."""
    keys = {key.field: key for key in _keys(record)}
    for name in given:
        if name not in keys:
            raise UsageError(unknown_name("option", name, list(keys)))
    return {name: plain(keys[name], value) for name, value in given.items()}


def plain(key: Key, value: object) -> object:
    """Convert names and lists to tuples, and numpy's numbers to Python's; wrong values stay as they are.

    Raises
    ------
    UsageError
        An unknown format.
    """
    kind = key.kind
    if kind in ("list", "formats") and isinstance(value, (str, list, tuple)):
        parts = (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))
        return parse_formats(parts) if kind == "formats" else parts
    if kind == "path" and isinstance(value, (str, Path)) and str(value):
        # These are recorded in results.json, which holds plain values.
        return str(value) if key.field in RECORDED_PATHS else Path(value)
    if kind == "number" and is_number(value):
        try:
            return float(value)
        except OverflowError:
            raise UsageError(f"the number is too large; for example: {key.name} = {key.example}") from None
    return int(value) if kind == "integer" and is_integer(value) else value


def shown(value: object) -> str:
    """Return a value from outside as text, shortened if long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more than 4,300 digits
        text = (
            f"a whole number of {value.bit_length():,} bits"
            if isinstance(value, int)
            else type(value).__name__
        )
    return text if len(text) <= 60 else text[:57] + "..."


def parse_time(text: str) -> datetime:
    """Read a time; without a zone it is UTC.

    Raises
    ------
    UsageError
        It is no time in ISO 8601.

    Examples
    --------
    >>> parse_time("2025-03-01").isoformat()
    '2025-03-01T00:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"--time {text!r}: expected ISO 8601, such as 2025-03-01T02:00:00+01:00") from None


def run_time(given: str | None) -> datetime:
    """Return the time of the run in UTC: the given one, else SOURCE_DATE_EPOCH, else the clock's."""
    if given is not None:
        return parse_time(given)
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
