"""Plans of refitting: the data, the scheme, the estimators; reading and checking them."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import FieldInfo, fields, replace

from evalreport.errors import UsageError
from evalreport.files import toml_of
from evalreport.options import is_number
from evalreport.registry import unknown_name

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Backend = Literal["sequential", "threads", "loky", "dask"]
Task = Literal["binary", "multiclass", "regression"]
Selection = Literal["accuracy", "log_loss", "mse", "mae"]

Table: TypeAlias = dict[str, Any]
"""Values by key, as in a table of TOML."""
Model: TypeAlias = "BaseEstimator"
"""An estimator of scikit-learn, or another object with its methods ``fit`` and ``predict``."""

MOST_FITS = 1_000_000
"""The greatest number of fits of a scheme, so that a typing error does not divide the examples forever."""
Text = Annotated[str, Meta(min_length=1)]
Texts = tuple[Text, ...]
Values = Annotated[tuple[Any, ...], Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1, le=MOST_FITS)]
Several = Annotated[int, Meta(ge=2, le=MOST_FITS)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Size = Annotated[int, Meta(ge=2)] | Annotated[float, Meta(gt=0, le=1)]
ImportPath = Annotated[str, Meta(pattern="^[^:]+:[^:]+$")]

_SEARCH: Table = {"inner_folds": 5, "select": None}
_HELD_OUT: Table = {"test": 1 / 3, "stratify": False, "train_predictions": False, **_SEARCH}
_CURVE: Table = {**_HELD_OUT, "repeats": 10, "train_predictions": True}
_FOLDS: Table = {"folds": 10, "repeats": 1, "stratify": False, "train_predictions": False, **_SEARCH}

SCHEMES: Mapping[str, Table] = {
    "holdout": _HELD_OUT,
    "repeated-holdout": {**_HELD_OUT, "repeats": 30},
    "kfold": _FOLDS,
    "stratified-kfold": {**_FOLDS, "stratify": True},
    "repeated-kfold": {**_FOLDS, "repeats": 10},
    "repeated-stratified-kfold": {**_FOLDS, "repeats": 10, "stratify": True},
    "leave-one-out": {"train_predictions": False, **_SEARCH},
    "leave-group-out": {"train_predictions": False, **_SEARCH},
    "time-ordered": {"folds": 5, "gap": 0, "train_predictions": False, **_SEARCH},
    "5x2cv": {"stratify": False, **_SEARCH},
    "nested": {**_FOLDS, "folds": 5},
    "bootstrap": {**_HELD_OUT, "replicates": 200},
    "bootstrap-oob": {"replicates": 200, **_SEARCH},
    "seeds": {**_HELD_OUT, "repeats": 10},
    "learning-curve": {**_CURVE, "sizes": (0.1, 0.25, 0.5, 0.75, 1.0)},
    "complexity-curve": _CURVE,
}
"""Every scheme with its keys and their defaults."""

OF_TIME = ("holdout", "time-ordered")
"""Schemes in which all training examples can precede all test examples."""


class DataSource(msgspec.Struct, frozen=True, kw_only=True):
    """The file of the examples and the roles of its columns.

    Attributes
    ----------
    file
        A CSV, TSV, Parquet, Arrow, JSON Lines or NPZ file; relative to the plan's folder.
    target
        The column to predict.
    id
        The column of ids; None: a column ``id`` if there is one, else the row number from 1.
    features
        The columns to predict from; empty: every column without another role.
    group
        The column of groups, which are never on both sides of a split.
    time
        The column of times: training examples precede test examples (schemes ``holdout`` and ``time-ordered``).
    keep
        Columns to write beside the predictions, for slices and clusters; they are no features.
    frame
        Give estimators a pandas data frame even if every feature is a number.
    """

    file: Path
    target: Text
    id: Text | None = None
    features: Texts = ()
    group: Text | None = None
    time: Text | None = None
    keep: Texts = ()
    task: Task | None = None
    positive: Text | None = None
    frame: bool = False


class Scheme(msgspec.Struct, frozen=True, kw_only=True):
    """How examples are divided; None: the scheme's default in ``SCHEMES``.

    Attributes
    ----------
    test
        Share of held-out examples, in (0, 1).
    sizes
        Training sizes of a learning curve: shares of the training part in (0, 1], or whole numbers of examples.
    gap
        Points of time left out between training and test examples.
    inner_folds, select
        Folds of the search of an estimator with a grid, and its criterion: ``accuracy``, ``log_loss``, ``mse`` or
        ``mae``.
    train_predictions
        Also write each model's predictions of its training examples (``part`` = train).
    """

    name: str
    repeats: Count | None = None
    folds: Several | None = None
    test: Share | None = None
    replicates: Several | None = None
    sizes: Annotated[tuple[Size, ...], Meta(min_length=1)] | None = None
    gap: Annotated[int, Meta(ge=0, le=MOST_FITS)] | None = None
    stratify: bool | None = None
    train_predictions: bool | None = None
    inner_folds: Several | None = None
    select: Selection | None = None


class Complexity(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter that makes an estimator more or less flexible, and its values.

    Attributes
    ----------
    complexity
        The number of each value on the axis; empty: the values themselves if they are numbers, else 1, 2, 3 ...
    as_models
        Make each value a separate model instead of a column ``complexity`` of one model.
    """

    parameter: Text
    values: Values
    complexity: tuple[float, ...] = ()
    as_models: bool = False


class Estimator(msgspec.Struct, frozen=True, kw_only=True, rename={"factory": "import"}):
    """An estimator: one import path, or several that become a pipeline, and the parameters.

    Attributes
    ----------
    factory
        ``module:name`` of a class or function that returns an object with ``fit`` and ``predict``; several make a
        scikit-learn pipeline of their objects in that order.
    parameters
        Passed to the factory; for a pipeline set as ``step__parameter``.
    grid
        Parameter -> candidates, searched within the training examples of each fit.
    """

    name: Text
    factory: Annotated[tuple[ImportPath, ...], Meta(min_length=1)]
    parameters: Table = {}
    grid: dict[str, Values] = {}
    complexity: Complexity | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True, rename={"estimators": "estimator"}):
    """Everything that the predictions depend on, and how the fits are run.

    Attributes
    ----------
    folder
        The folder of the data file and the user's modules.
    seed
        The seed of splits, samples and estimators.
    jobs, backend, scheduler
        The number of parallel fits, the backend, and the address of a Dask scheduler; predictions do not depend on
        them.
    """

    data: DataSource
    scheme: Scheme
    estimators: tuple[Estimator, ...]
    folder: Path = Path()
    seed: Annotated[int, Meta(ge=0)] = 0
    jobs: Annotated[int, Meta(ge=1)] = 1
    backend: Backend = "loky"
    scheduler: Text | None = None


def read_plan(path: Path) -> Plan:
    """Read a plan from a TOML file; relative paths in it are relative to its folder.

    Raises
    ------
    UsageError
        The file cannot be read or is no TOML, or has an unknown key, a wrong type or a value that is not allowed.
    """
    content = toml_of(path)
    try:
        if "folder" in content:
            raise UsageError(unknown_name("key", "folder", ["data", "scheme", "estimator"]))
        return _plan({**content, "folder": path.parent})
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def settle(plan: Plan) -> Plan:
    """Check every value and fill in the scheme's defaults.

    Raises
    ------
    UsageError
        A value is not allowed, or two values contradict each other.

    Examples
    --------
    >>> source = DataSource(file=Path("a.csv"), target="y")
    >>> tree = Estimator(name="tree", factory=("sklearn.tree:DecisionTreeClassifier",))
    >>> settle(Plan(data=source, scheme=Scheme(name="kfold"), estimators=(tree,))).scheme.folds
    10
    """
    return _plan(as_table(plan, "encode_name"))


def describe(plan: Plan) -> Table:
    """Return everything that the predictions depend on as plain values, for the record and for digests."""
    table = as_table(plan)
    table["data"]["file"] = plan.data.file.as_posix()
    return {name: table[name] for name in ("data", "scheme", "estimators", "seed")}


def as_table(value: Any, spelling: Literal["name", "encode_name"] = "name") -> Any:
    """Return a record as a table, its tuples as lists; by the names of its fields, or by the keys of the file."""
    if isinstance(value, msgspec.Struct):
        entries = {getattr(entry, spelling): getattr(value, entry.name) for entry in fields(value)}
        return {key: as_table(content, spelling) for key, content in entries.items()}
    if isinstance(value, tuple):
        return [as_table(part, spelling) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _plan(content: Table) -> Plan:
    """Make a settled plan of a table of tables."""
    estimators = content.get("estimator", [])
    if not isinstance(estimators, list) or not all(isinstance(entry, dict) for entry in estimators):
        raise UsageError("estimator must be a list of tables: begin each with a line [[estimator]]")
    parts = {
        "data": _record(DataSource, content.get("data", {}), "[data]"),
        "scheme": _with_defaults(_record(Scheme, content.get("scheme", {}), "[scheme]")),
        "estimator": [_estimator(entry, place) for place, entry in enumerate(estimators, start=1)],
    }
    plan = _record(Plan, {**content, **parts}, "")
    _check_contradictions(plan)
    return plan


def _with_defaults(scheme: Scheme) -> Scheme:
    if scheme.name not in SCHEMES:
        raise UsageError(unknown_name("scheme", scheme.name, dict(SCHEMES)))
    defaults = SCHEMES[scheme.name]
    for name, value in as_table(scheme).items():
        if name not in defaults and name != "name" and value is not None:
            takes = ", ".join(sorted(defaults))
            raise UsageError(f"the scheme {scheme.name} has no {name!r}; it takes {takes}")
    return replace(scheme, **{name: defaults[name] for name in defaults if getattr(scheme, name) is None})


def _estimator(table: Table, number: int) -> Estimator:
    name = table.get("name")
    place = f"estimator {name!r}" if isinstance(name, str) else f"estimator number {number}"
    varied = table.get("complexity")
    if varied is not None:
        table = {**table, "complexity": _record(Complexity, varied, f"{place}: complexity")}
    return _record(Estimator, table, place)


Record = TypeVar("Record", bound=msgspec.Struct)


def _record(kind: type[Record], table: object, place: str) -> Record:
    """Make a record of a table of the plan, whose keys are the record's fields."""
    if not isinstance(table, dict):
        raise UsageError(f"{place} must be a table, not {table!r}")
    before = f"{place}: " if place else ""
    entries = {entry.encode_name: entry for entry in fields(kind)}
    for key in table:
        if key not in entries:
            raise UsageError(f"{before}{unknown_name('key', key, list(entries))}")
    for key, entry in entries.items():
        if key not in table and entry.required:
            raise UsageError(f"{place} lacks {key!r}")
    return kind(**{entries[key].name: _value(value, entries[key], before) for key, value in table.items()})


_NAMES = {"task": get_args(Task), "select": get_args(Selection), "backend": get_args(Backend)}
_EXPECTED = {"factory": "'module:name', such as 'sklearn.tree:DecisionTreeClassifier'"}


def _value(value: object, entry: FieldInfo, before: str) -> Any:
    """Convert a value to a field's type: a text to a path or to a list of one text, a list to a tuple."""
    if isinstance(value, str) and entry.name in ("factory", "features", "keep"):
        value = [value]
    if isinstance(value, bool | int | float) and entry.name == "positive":
        value = str(int(value) if isinstance(value, bool) else value)
    try:
        return msgspec.convert(value, entry.type, dec_hook=lambda kind, content: kind(content))
    except (msgspec.ValidationError, TypeError) as error:
        if entry.name in _NAMES:
            raise UsageError(unknown_name(entry.name, str(value), _NAMES[entry.name])) from None
        problem = str(error).partition(" - at `$")[0].removeprefix("Expected ").replace(" | null", "")
        problem = _EXPECTED.get(entry.name, problem).replace("`array`", "a list")
        problem = problem.replace("`object`", "a table")
        value = reprlib.repr(value)
        raise UsageError(f"{before}{entry.encode_name} = {value}: expected {problem}") from None


def _check_contradictions(plan: Plan) -> None:
    """Refuse values that are allowed by themselves and contradict each other."""
    data, scheme, estimators = plan.data, plan.scheme, plan.estimators
    if plan.backend == "dask" and not plan.scheduler:
        raise UsageError("the backend dask needs the address of its scheduler, such as tcp://127.0.0.1:8786")
    if plan.scheduler and plan.backend != "dask":
        raise UsageError(f"a scheduler belongs to the backend dask, but the backend is {plan.backend}")
    if not estimators:
        raise UsageError("the plan names no estimator: add a table [[estimator]]")
    for estimator in estimators:
        place = f"estimator {estimator.name!r}"
        if not estimator.name.isprintable() or estimator.name != estimator.name.strip():
            raise UsageError(f"{place}: a name is printable text without spaces around it")
        if scheme.name == "nested" and not estimator.grid:
            raise UsageError(f"{place}: the scheme nested searches a grid: add a table [estimator.grid]")
        varied = estimator.complexity
        if varied is None:
            if scheme.name == "complexity-curve":
                raise UsageError(
                    f"{place}: the scheme complexity-curve varies a parameter: add a table"
                    " [estimator.complexity]"
                )
            continue
        if varied.complexity and len(varied.complexity) != len(varied.values):
            raise UsageError(
                f"{place}: complexity: {len(varied.values)} values, but {len(varied.complexity)} complexities"
            )
        if len(set(axis(varied))) < len(varied.values):
            raise UsageError(f"{place}: complexity: the same complexity appears twice")
        if varied.parameter in estimator.grid:
            raise UsageError(f"{place}: {varied.parameter!r} cannot be both searched and varied")
    models = [name for e in estimators for name in dict.fromkeys(variant.model for variant in variants(e))]
    for name in models:
        if models.count(name) > 1:
            raise UsageError(f"two estimators have a model {name!r}; give each estimator a name of its own")
    if scheme.name == "leave-group-out" and data.group is None:
        raise UsageError("the scheme leave-group-out needs the column of groups: [data] group")
    if scheme.name == "leave-one-out" and data.group is not None:
        raise UsageError("leave-one-out would put a group on both sides of a split: use leave-group-out")
    if scheme.name == "time-ordered" and data.time is None:
        raise UsageError("the scheme time-ordered needs the column of time: [data] time")
    if data.time is not None and scheme.name not in OF_TIME:
        raise UsageError(
            f"in the scheme {scheme.name} time would run backwards; with [data] time use {' or '.join(OF_TIME)},"
            " or take time out of the plan if it does not matter"
        )
    if data.time is not None and data.group is not None:
        raise UsageError(
            "group and time cannot both hold: a group that lasts stands on both sides; name one of them"
        )
    if data.time is not None and scheme.stratify:
        raise UsageError("stratify and time cannot both hold: name one of them")
    if data.group is not None and scheme.stratify and scheme.test is not None:
        raise UsageError(
            f"the scheme {scheme.name} cannot hold both group and stratify; stratified-kfold can"
        )


def axis(varied: Complexity) -> tuple[float, ...]:
    """Return the number of each value on the axis of complexity.

    Examples
    --------
    >>> axis(Complexity(parameter="kernel", values=("linear", "rbf")))
    (1.0, 2.0)
    """
    if varied.complexity:
        return tuple(map(float, varied.complexity))
    if all(is_number(value) and isfinite(value) for value in varied.values):
        return tuple(map(float, varied.values))
    return tuple(float(place) for place in range(1, len(varied.values) + 1))


class Variant(NamedTuple):
    """An estimator with one value of its complexity: the model's name, the parameter's value, the place on the axis."""

    model: str
    chosen: Table
    complexity: float | None


def variants(estimator: Estimator) -> tuple[Variant, ...]:
    """Return the variants of an estimator, one for each value of its complexity.

    Examples
    --------
    >>> varied = Complexity(parameter="max_depth", values=(1, 2), as_models=True)
    >>> [variant.model for variant in variants(Estimator(name="tree", factory=("m:f",), complexity=varied))]
    ['tree (max_depth=1)', 'tree (max_depth=2)']
    """
    varied = estimator.complexity
    if varied is None:
        return (Variant(estimator.name, {}, None),)
    name, parameter = estimator.name, varied.parameter
    pairs = zip(varied.values, axis(varied), strict=True)
    names = [f"{name} ({parameter}={value})" if varied.as_models else name for value in varied.values]
    return tuple(Variant(m, {parameter: v}, n) for m, (v, n) in zip(names, pairs, strict=True))
