"""What metrics need of the rows, prepared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evalreport.engine.distributions import Columns
from evalreport.engine.ranks import Order
from evalreport.metrics.layout import Layout
from evalreport.metrics.metric import Function
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Sampling

Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class RowData:
    """What the per-example metrics of a run need of the rows, prepared once.

    Attributes
    ----------
    columns
        (model, quantity) -> p columns of the family ``Moments``, vectors or sparse.
    states
        (model, quantity) -> the states of the family ``RowWise``, one for each ranked part.
    orders
        model -> its sorted scores, an order for each ranked part.
    of_sums
        Of sums by unit the function of each quantity's columns.
    """

    units: Sampling
    layout: Layout
    columns: Mapping[Key, Columns]
    states: Mapping[Key, tuple[object, ...]]
    orders: Mapping[str, tuple[Order, ...]]
    of_sums: Mapping[Quantity, Function] = field(default_factory=dict)

    def function(self, quantity: Quantity) -> Function:
        """Return the function of the sums of a quantity's columns."""
        found: Function = self.of_sums.get(quantity) or definition(quantity).computation.function
        return found


def mean_of_parts(values: Floats, layout: Layout) -> Floats:
    """Return the mean over the parts (first axis): nan where a task of a suite has no value, which is no other mean."""
    if layout.whole:
        return np.asarray(values.mean(axis=0))
    return mean_of_defined(values)


def mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not nan; nan where nothing is defined."""
    if len(values) == 1:
        return np.asarray(values[0])
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.where(count > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def all_finite(columns: Columns) -> bool:
    """Say whether no column holds an infinite value or nan."""
    return all(np.isfinite(c).all() for c in (columns if isinstance(columns, tuple) else (columns.data,)))
