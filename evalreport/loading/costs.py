"""The columns of costs as numbers."""

from __future__ import annotations

import numpy as np

from evalreport.errors import InputError, UsageError, refuse_all, together
from evalreport.loading.rows import Rows, refuse_where
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Mask
from evalreport.predictions.cells import combined, dictionary_codes, dictionary_numbers
from evalreport.questions.costs.options import cost_name


def parse_costs(rows: Rows, options: Options) -> dict[str, Floats]:
    """Parse every column of costs, nan where a cell is empty.

    Raises
    ------
    InputError
        A cell is no number of at least 0; or, where missing values are refused, a model's cell is empty though others
        of the column are not.
    UsageError
        A column that ``--cost`` names holds no number.
    """
    empty = [name for name in map(cost_name, options.costs) if name not in rows.costs]
    if empty:
        raise UsageError(f"--cost {empty[0]}: the column holds no number")
    errors: list[InputError] = []
    costs: dict[str, Floats] = {}
    for name, array in rows.costs.items():
        whole = combined(array)
        values, given = dictionary_numbers(whole), dictionary_codes(whole) >= 0
        with together(errors):
            refuse_where(given & ~(np.isfinite(values) & (values >= 0)), rows, name, "no_cost")
            if options.missing == "refuse":
                refuse_where(_gaps(rows, np.isnan(values)), rows, name, "empty_cost")
        costs[name] = values
    refuse_all(errors)
    return costs


def _gaps(rows: Rows, empty: Mask) -> Mask:
    """Return the empty cells of models that give the column in another test row."""
    if "part" in rows.columns:
        part = combined(rows.columns["part"])
        other = [code for code, name in enumerate(part.dictionary.to_pylist()) if name != "test"]
        empty = empty & ~np.isin(dictionary_codes(part), other)
    given = np.bincount(rows.model, weights=~empty, minlength=len(rows.models)) > 0
    return np.asarray(empty & given[rows.model], dtype=np.bool_)
