"""Rows that belong together: the attempts at a question, the labels of a unit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from evalreport.engine.numbering import numbered
from evalreport.loading.rows import Rows, fault
from evalreport.options import Options
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.cells import combined, dictionary_codes
from evalreport.predictions.column_names import IDENTITY_COLUMNS
from evalreport.predictions.slicing import may_be_sliced_by


def numbered_units(rows: Rows, *, without: Collection[str] = (), numbers: Sequence[str] = ()) -> Indices:
    """Number the units of each model, by id and by all columns that tell fits apart.

    Parameters
    ----------
    without
        Columns of which a unit may have several values.
    numbers
        Columns of numbers that tell units apart as well.
    """
    names = [name for name in IDENTITY_COLUMNS if name in rows.columns and name not in without]
    codes = (dictionary_codes(rows.columns[name]) for name in names)
    others = (rows.columns[n].to_numpy(zero_copy_only=False) for n in numbers if n in rows.columns)
    assert rows.coded is not None
    return numbered((rows.model, rows.coded[1], *codes, *others))


def repeated(key: Indices) -> tuple[Indices, Indices]:
    """Return the rows whose key occurs before, and for every row the first one with its key.

    Examples
    --------
    >>> again, before = repeated(np.array([4, 7, 4]))
    >>> again.tolist(), before.tolist()
    ([2], [0, 1, 0])
    """
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    before = first[inverse.ravel()]
    return np.flatnonzero(before != np.arange(len(key))), before


def one_of_each(unit: Indices, empty: Mask) -> Indices:
    """Return one row of each unit, sorted: the first one with an empty cell, which errors name, else the first."""
    order = np.lexsort((np.arange(len(unit)), ~empty, unit))
    first = np.unique(unit[order], return_index=True)[1]
    return np.sort(order[first])


def differing(rows: Rows, name: str, unit: Indices) -> Indices:
    """Return the rows whose metadata is not that of the first row of their unit."""
    codes = dictionary_codes(combined(rows.metadata[name]))
    first = np.unique(unit, return_index=True)[1]
    return np.flatnonzero(codes != codes[first][unit])


def refuse_differing(rows: Rows, unit: Indices, options: Options, code: str) -> None:
    """Refuse a column that an option names and that is no fact about the unit."""
    named = {options.cluster, options.weight, options.grade}
    for name in sorted(rows.metadata):
        if name not in named and not may_be_sliced_by(name, options.slices, options.gates):
            continue
        apart = differing(rows, name, unit)
        if len(apart):
            row = int(apart[0])
            raise fault(rows, row, name, code, count=len(apart))
