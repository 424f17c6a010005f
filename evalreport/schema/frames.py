"""Lists of records as flat pandas frames: a value in every cell, and nothing nested."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Literal, Union, get_args, get_origin, get_type_hints

from evalreport.errors import UsageError
from evalreport.schema.metrics import Interval
from evalreport.texts import Message

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["plain", "record", "intervals", "mapping", "pair", "texts", "numbers"]
Row = dict[str, object]
OF_INTERVAL = {"low": "low", "high": "high", "level": "level", "interval_method": "method"}
"""Columns, and the fields of the recommended interval that they hold."""


def record_lists(results: type) -> Mapping[str, type]:
    """Return the fields of a class that are lists of records, and the class of the records of each."""
    lists = {name: hint for name, hint in get_type_hints(results).items() if get_origin(hint) is Sequence}
    parts = {name: get_args(hint)[:1] for name, hint in lists.items()}
    return {name: part[0] for name, part in parts.items() if part and _is_record(part[0])}


def frame_of(records: Sequence[object], kind: type) -> pd.DataFrame:
    """Return records as a frame, a row each; a record that holds arrays has a row for each of their elements.

    The recommended interval is in ``low``, ``high``, ``level`` and ``interval_method``; the two models that a
    record is about in ``a`` and ``b``; fields of a part and entries of a mapping in columns ``part_field``. Names in a
    tuple are joined by commas. Arrays that are shorter than others of their record end with missing values.

    Parameters
    ----------
    kind
        The records' class, which gives the columns where there are no records.

    Raises
    ------
    UsageError
        There is no pandas.
    """
    rows = [row for record in records for row in _rows(record, kind)]
    columns = dict.fromkeys([*_flat(None, kind), *(name for row in rows for name in row)])
    return table({name: [row.get(name) for row in rows] for name in columns})


def table(columns: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """Return columns as a pandas frame.

    Raises
    ------
    UsageError
        There is no pandas.
    """
    try:
        import pandas as pd
    except ImportError:
        raise UsageError("a data frame needs pandas, which is not installed: pip install pandas") from None
    return pd.DataFrame(columns)


@cache
def _kinds(record: type) -> Mapping[str, tuple[Kind, type]]:
    """Return what each field of a class of records holds, and the class of a part."""
    hints = get_type_hints(record)
    return {entry.name: _kind_of(hints[entry.name]) for entry in dataclasses.fields(record)}


def _kind_of(hint: object) -> tuple[Kind, type]:
    for part in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        inside = get_args(part)
        if get_origin(part) is tuple:
            if inside[0] is Interval:
                return "intervals", Interval
            if inside[0] is not str:
                return "numbers", tuple
            return ("texts" if inside[-1] is Ellipsis else "pair"), tuple
        if get_origin(part) is Mapping or part is Mapping:
            return "mapping", dict
        if _is_record(part):
            return "record", part
    return "plain", object


def _is_record(kind: object) -> bool:
    return dataclasses.is_dataclass(kind)


def _rows(record: object, kind: type) -> Iterator[Row]:
    """Yield the rows of one record: one, or one for each element of its arrays."""
    row = _flat(record, kind)
    arrays = {name: value for name, value in row.items() if isinstance(value, tuple)}
    for place in range(max(map(len, arrays.values()), default=1) or 1):
        yield row | {name: array[place] if place < len(array) else None for name, array in arrays.items()}


def _flat(record: object, kind: type) -> Row:
    """Return the cells of one record by column, its arrays still whole; of None the columns that every record has."""
    row: Row = {}
    for name, (holds, inner) in _kinds(kind).items():
        value = None if record is None else getattr(record, name)
        if holds == "intervals":
            first = value[0] if value else None
            row |= {cell: getattr(first, field, None) for cell, field in OF_INTERVAL.items()}
        elif holds == "pair":
            row["a"], row["b"] = (None, None) if value is None else value
        elif holds == "record":
            row |= {f"{name}_{key}": cell for key, cell in _flat(value, inner).items()}
        elif holds == "mapping":
            row |= {f"{name}_{key}": _cell(cell) for key, cell in (value or {}).items()}
        else:
            row[name] = ", ".join(value) if holds == "texts" and value is not None else _cell(value)
    return row


def _cell(value: object) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_cell(part)}" for key, part in value.items())
    return str(value) if isinstance(value, Message) else value
