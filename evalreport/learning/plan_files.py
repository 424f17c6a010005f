"""A plan's TOML file -> ``Plan``; whatever it holds that a plan does not know is refused by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalreport.errors import UsageError
from evalreport.files import toml_of
from evalreport.learning.plans import Complexity, DataSource, Estimator, Plan, Scheme, settle
from evalreport.registry import unknown_name

_TOP = ("data", "scheme", "estimator", "seed", "jobs", "backend", "scheduler")
_DATA = ("file", "target", "id", "features", "group", "time", "keep", "task", "positive", "frame")
_SCHEME = (
    *("name", "repeats", "folds", "test", "replicates", "sizes", "gap", "stratify"),
    *("train_predictions", "inner_folds", "select"),
)
_ESTIMATOR = ("name", "import", "parameters", "grid", "complexity")
_COMPLEXITY = ("parameter", "values", "complexity", "as_models")
Table = Mapping[str, Any]


def read_plan(path: Path) -> Plan:
    """Read a plan from a TOML file; relative paths in it are relative to its folder.

    Raises
    ------
    UsageError
        A file that cannot be read or is no TOML, an unknown key, a wrong type, a value that is not allowed.
    """
    try:
        content = toml_of(path)
    except OSError as error:
        raise UsageError(f"{path}: the plan cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the plan as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    try:
        return settle(_plan(content, path.parent))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _plan(content: Table, folder: Path) -> Plan:
    _known(content, _TOP, "key")
    data, scheme = _table(content, "data", _DATA), _table(content, "scheme", _SCHEME)
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
        complexity=_complexity(_table(table, "complexity", _COMPLEXITY, place), place),
    )


def _complexity(table: Table, place: str) -> Complexity | None:
    if not table:
        return None
    for name in ("parameter", "values"):
        if name not in table:
            raise UsageError(f"{place}: complexity lacks {name!r}; it needs a parameter and its values")
    numbers = _values(table.get("complexity", []), f"{place}: complexity: complexity")
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
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
            said = unknown_name("key", name, list(known))
            raise UsageError(said if kind == "key" else f"{kind.removesuffix(' key')} {said}")


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{place} must be text in quotes, not {value!r}")
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise UsageError(f"{place} must be a list of texts, not {value!r}")
    return tuple(value)


def _values(value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} must be a list of values, not {value!r}")
    return tuple(value)
