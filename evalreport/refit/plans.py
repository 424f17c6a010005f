"""Plans of refitting: the data, the scheme, the estimators; reading and checking them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, get_args

from evalreport.errors import UsageError
from evalreport.files import toml_of
from evalreport.options import is_integer, is_number
from evalreport.registry import unknown_name

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Backend = Literal["sequential", "threads", "loky", "dask"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
Task = Literal["binary", "multiclass", "regression"]
TASKS: tuple[Task, ...] = get_args(Task)
Selection = Literal["accuracy", "log_loss", "mse", "mae"]
SELECTIONS: tuple[Selection, ...] = get_args(Selection)

Table: TypeAlias = Mapping[str, Any]
"""Values by key, as in a table of TOML."""
Model: TypeAlias = "BaseEstimator"
"""An estimator of scikit-learn, or another object with its methods ``fit`` and ``predict``."""

MOST_FITS = 1_000_000
"""The greatest number of fits of a scheme, and of a model."""
_SEARCH: Table = {"inner_folds": 5, "select": None}
_HELD_OUT: Table = {"test": 1 / 3, "stratify": False, "train_predictions": False, **_SEARCH}
_FOLDS: Table = {
    "folds": 10,
    "repeats": 1,
    "stratify": False,
    "train_predictions": False,
    **_SEARCH,
}

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
    "learning-curve": {
        **_HELD_OUT,
        "repeats": 10,
        "sizes": (0.1, 0.25, 0.5, 0.75, 1.0),
        "train_predictions": True,
    },
    "complexity-curve": {**_HELD_OUT, "repeats": 10, "train_predictions": True},
}
"""Every scheme with its keys and their defaults."""

OF_TIME = ("holdout", "time-ordered")
"""Schemes in which all training examples can precede all test examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
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
    target: str
    id: str | None = None
    features: tuple[str, ...] = ()
    group: str | None = None
    time: str | None = None
    keep: tuple[str, ...] = ()
    task: Task | None = None
    positive: str | None = None
    frame: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
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
    repeats: int | None = None
    folds: int | None = None
    test: float | None = None
    replicates: int | None = None
    sizes: tuple[float, ...] | None = None
    gap: int | None = None
    stratify: bool | None = None
    train_predictions: bool | None = None
    inner_folds: int | None = None
    select: Selection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """One parameter that makes an estimator more or less flexible, and its values.

    Attributes
    ----------
    complexity
        The number of each value on the axis; empty: the values themselves if they are numbers, else 1, 2, 3 ...
    as_models
        Make each value a separate model instead of a column ``complexity`` of one model.
    """

    parameter: str
    values: tuple[Any, ...]
    complexity: tuple[float, ...] = ()
    as_models: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
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

    name: str
    factory: tuple[str, ...]
    parameters: Table = field(default_factory=dict)
    grid: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    complexity: Complexity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
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
    seed: int = 0
    jobs: int = 1
    backend: Backend = "loky"
    scheduler: str | None = None


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
    scheme = _settled_scheme(plan.scheme)
    _check_scheme(scheme)
    _check_estimators(plan.estimators, scheme)
    _check_division(plan.data, scheme)
    _whole("seed", plan.seed, 0)
    _whole("jobs", plan.jobs, 1)
    _one_of("backend", plan.backend, BACKENDS)
    _one_of("task", plan.data.task, TASKS)
    if plan.backend == "dask" and not plan.scheduler:
        raise UsageError("the backend dask needs the address of its scheduler, such as tcp://127.0.0.1:8786")
    if plan.scheduler and plan.backend != "dask":
        raise UsageError(f"a scheduler belongs to the backend dask, but the backend is {plan.backend}")
    # In Python, paths are often given as text.
    data = replace(plan.data, file=Path(plan.data.file))
    return replace(plan, data=data, scheme=scheme, folder=Path(plan.folder))


def describe(plan: Plan) -> dict[str, object]:
    """Return everything that the predictions depend on as plain values, for the record and for digests."""
    return {
        "data": {**plain(plan.data), "file": plan.data.file.as_posix()},
        "scheme": plain(plan.scheme),
        "estimators": [
            {**plain(e), "complexity": None if e.complexity is None else plain(e.complexity)}
            for e in plan.estimators
        ],
        "seed": plan.seed,
    }


def plain(record: DataSource | Scheme | Estimator | Complexity) -> dict[str, object]:
    """Return a part of a plan as plain values."""
    return {entry.name: _listed(getattr(record, entry.name)) for entry in fields(record)}


def _listed(value: object) -> object:
    if isinstance(value, tuple):
        return [_listed(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _listed(part) for name, part in value.items()}
    return value


def _settled_scheme(scheme: Scheme) -> Scheme:
    if scheme.name not in SCHEMES:
        raise UsageError(unknown_name("scheme", scheme.name, dict(SCHEMES)))
    defaults = SCHEMES[scheme.name]
    given = {f.name: getattr(scheme, f.name) for f in fields(scheme) if f.name != "name"}
    for name, value in given.items():
        if value is not None and name not in defaults:
            raise UsageError(
                f"the scheme {scheme.name} has no {name!r}; it takes {', '.join(sorted(defaults))}"
            )
    return replace(scheme, **{name: default for name, default in defaults.items() if given[name] is None})


def _check_scheme(scheme: Scheme) -> None:
    for name, least in (("repeats", 1), ("folds", 2), ("replicates", 2), ("gap", 0), ("inner_folds", 2)):
        if getattr(scheme, name) is not None:
            _countable(name, getattr(scheme, name), least)
    for name in ("stratify", "train_predictions"):
        if getattr(scheme, name) not in (None, True, False):
            raise UsageError(f"{name} must be true or false, not {getattr(scheme, name)!r}")
    if scheme.test is not None and not (_is_finite(scheme.test) and 0 < scheme.test < 1):
        raise UsageError(f"test must be a share between 0 and 1, not {scheme.test!r}")
    for size in scheme.sizes or ():
        whole = isinstance(size, numbers.Integral)
        if not _is_finite(size) or not (size >= 2 if whole else 0 < size <= 1):
            raise UsageError(
                f"sizes must be shares between 0 and 1 or whole numbers of at least 2, not {size!r}"
            )
    if scheme.name == "learning-curve" and not scheme.sizes:
        raise UsageError("sizes needs at least one training size")
    _one_of("select", scheme.select, SELECTIONS)


def _check_estimators(estimators: tuple[Estimator, ...], scheme: Scheme) -> None:
    if not estimators:
        raise UsageError("the plan names no estimator: add a table [[estimator]]")
    seen: set[str] = set()
    for estimator in estimators:
        place = f"estimator {estimator.name!r}"
        if not estimator.name or not estimator.name.isprintable() or estimator.name != estimator.name.strip():
            raise UsageError(f"{place}: a name is printable text without spaces around it")
        if estimator.name in seen:
            raise UsageError(f"{place}: the name appears twice; give each estimator its own")
        seen.add(estimator.name)
        for path in estimator.factory or ("",):
            module, _, name = path.partition(":")
            if not module or not name:
                raise UsageError(
                    f"{place}: import must be 'module:name', such as"
                    f" 'sklearn.tree:DecisionTreeClassifier', not {path!r}"
                )
        _check_searched(estimator, scheme, place)


def _check_searched(estimator: Estimator, scheme: Scheme, place: str) -> None:
    for name, candidates in estimator.grid.items():
        if not candidates:
            raise UsageError(f"{place}: grid: {name!r} has no candidates")
    if scheme.name == "nested" and not estimator.grid:
        raise UsageError(f"{place}: the scheme nested searches a grid: add a table [estimator.grid]")
    if scheme.name == "complexity-curve" and estimator.complexity is None:
        raise UsageError(
            f"{place}: the scheme complexity-curve varies a parameter: add a table [estimator.complexity]"
        )
    varied = estimator.complexity
    if varied is None:
        return
    if not varied.values:
        raise UsageError(f"{place}: complexity: {varied.parameter!r} has no values")
    if varied.complexity and len(varied.complexity) != len(varied.values):
        raise UsageError(
            f"{place}: complexity: {len(varied.values)} values, but {len(varied.complexity)} complexities"
        )
    if len(set(axis(varied))) < len(varied.values):
        raise UsageError(f"{place}: complexity: the same complexity appears twice")
    if varied.parameter in estimator.grid:
        raise UsageError(f"{place}: {varied.parameter!r} cannot be both searched and varied")


def axis(varied: Complexity) -> tuple[float, ...]:
    """Return the number of each value on the axis of complexity.

    Examples
    --------
    >>> axis(Complexity(parameter="kernel", values=("linear", "rbf")))
    (1.0, 2.0)
    """
    if varied.complexity:
        return tuple(float(number) for number in varied.complexity)
    if all(_is_finite(value) for value in varied.values):
        return tuple(float(value) for value in varied.values)
    return tuple(float(place) for place in range(1, len(varied.values) + 1))


def _check_division(data: DataSource, scheme: Scheme) -> None:
    """Refuse a scheme that would train on later examples or divide a group."""
    if scheme.name == "leave-group-out" and data.group is None:
        raise UsageError("the scheme leave-group-out needs the column of groups: [data] group")
    if scheme.name == "leave-one-out" and data.group is not None:
        raise UsageError("leave-one-out would put a group on both sides of a split: use leave-group-out")
    if scheme.name == "time-ordered" and data.time is None:
        raise UsageError("the scheme time-ordered needs the column of time: [data] time")
    if data.time is not None and scheme.name not in OF_TIME:
        raise UsageError(
            f"in the scheme {scheme.name} time would run backwards; with [data] time use"
            f" {' or '.join(OF_TIME)}, or take time out of the plan if it does not matter"
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


def _is_finite(value: object) -> TypeGuard[float]:
    return is_number(value) and math.isfinite(value)


def _whole(name: str, value: object, least: int) -> None:
    if not is_integer(value) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _countable(name: str, value: Any, least: int) -> None:
    """Check a number of fits, so that a typing error does not divide the examples forever."""
    _whole(name, value, least)
    if value > MOST_FITS:
        raise UsageError(f"{name} must be at most {MOST_FITS:,}, not {value}")


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise UsageError(unknown_name(name, str(value), list(known)))


_TOP = ("data", "scheme", "estimator", "seed", "jobs", "backend", "scheduler")
_ESTIMATOR = ("name", "import", "parameters", "grid", "complexity")


def read_plan(path: Path) -> Plan:
    """Read a plan from a TOML file; relative paths in it are relative to its folder.

    Raises
    ------
    UsageError
        The file cannot be read or is no TOML, or has an unknown key, a wrong type or a value that is not allowed.
    """
    content = toml_of(path)
    try:
        return settle(_plan(content, path.parent))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def keys_of(record: type[DataSource | Scheme | Complexity]) -> tuple[str, ...]:
    """Return the keys of a table of the plan."""
    return tuple(entry.name for entry in fields(record))


def _plan(content: Table, folder: Path) -> Plan:
    _known(content, _TOP, "key")
    data, scheme = _table(content, "data", keys_of(DataSource)), _table(content, "scheme", keys_of(Scheme))
    estimators = content.get("estimator", [])
    if not isinstance(estimators, list) or not all(isinstance(entry, dict) for entry in estimators):
        raise UsageError("estimator must be a list of tables: begin each with a line [[estimator]]")
    plain = {name: content[name] for name in ("seed", "jobs", "backend", "scheduler") if name in content}
    for name in ("backend", "scheduler"):
        if name in plain:
            _text(plain[name], name)
    return Plan(
        data=_data(data),
        scheme=_scheme(scheme),
        estimators=tuple(_estimator(entry, place) for place, entry in enumerate(estimators, start=1)),
        folder=folder,
        **plain,
    )


def _data(table: Table) -> DataSource:
    for name in ("file", "target"):
        if name not in table:
            raise UsageError(f"[data] lacks {name!r}; it needs a file and a target")
    values: dict[str, Any] = {}
    for name, value in table.items():
        place = f"[data] {name}"
        if name in ("features", "keep"):
            values[name] = _texts(value, place)
        elif name == "frame":
            if not isinstance(value, bool):
                raise UsageError(f"{place} must be true or false, not {value!r}")
            values[name] = value
        elif name == "positive" and isinstance(value, (int, float)):
            values[name] = str(int(value)) if isinstance(value, bool) else str(value)
        else:
            values[name] = _text(value, place)
    return DataSource(**{**values, "file": Path(values["file"])})


def _scheme(table: Table) -> Scheme:
    if "name" not in table:
        raise UsageError("[scheme] lacks 'name', such as name = \"kfold\"")
    values = dict(table)
    _text(values["name"], "[scheme] name")
    if "sizes" in values:
        values["sizes"] = _values(values["sizes"], "[scheme] sizes")
    return Scheme(**values)


def _estimator(table: Table, number: int) -> Estimator:
    named = f" {table['name']!r}" if isinstance(table.get("name"), str) else f" number {number}"
    place = f"estimator{named}"
    _known(table, _ESTIMATOR, f"{place}: key")
    for name in ("name", "import"):
        if name not in table:
            raise UsageError(f"{place} lacks {name!r}; it needs a name and an import")
    paths = table["import"]
    return Estimator(
        name=_text(table["name"], f"{place}: name"),
        factory=(paths,) if isinstance(paths, str) else _texts(paths, f"{place}: import"),
        parameters=_table(table, "parameters", None, place),
        grid={
            name: _values(value, f"{place}: grid: {name}")
            for name, value in _table(table, "grid", None, place).items()
        },
        complexity=_complexity(_table(table, "complexity", keys_of(Complexity), place), place),
    )


def _complexity(table: Table, place: str) -> Complexity | None:
    if not table:
        return None
    for name in ("parameter", "values"):
        if name not in table:
            raise UsageError(f"{place}: complexity lacks {name!r}; it needs a parameter and its values")
    numbers = _values(table.get("complexity", []), f"{place}: complexity: complexity")
    if not all(map(is_number, numbers)):
        raise UsageError(f"{place}: complexity: complexity must be a list of numbers")
    if not isinstance(table.get("as_models", False), bool):
        raise UsageError(f"{place}: complexity: as_models must be true or false")
    return Complexity(
        parameter=_text(table["parameter"], f"{place}: complexity: parameter"),
        values=_values(table["values"], f"{place}: complexity: values"),
        complexity=numbers,
        as_models=table.get("as_models", False),
    )


def _table(content: Table, name: str, known: tuple[str, ...] | None, place: str = "") -> Table:
    """Return the table of a name, empty where there is none; all of its keys are known ones."""
    table = content.get(name, {})
    where = f"{place}: {name}" if place else f"[{name}]"
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table, not {table!r}")
    if known is not None:
        _known(table, known, f"{where}: key")
    return table


def _known(table: Table, known: tuple[str, ...], kind: str) -> None:
    for name in table:
        if name not in known:
            problem = unknown_name("key", name, list(known))
            raise UsageError(problem if kind == "key" else f"{kind.removesuffix(' key')} {problem}")


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{place} must be text in quotes, not {value!r}")
    return value


def _texts(value: object, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise UsageError(f"{place} must be a list of texts, not {value!r}")
    return tuple(value)


def _values(value: object, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} must be a list of values, not {value!r}")
    return tuple(value)
