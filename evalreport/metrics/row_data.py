"""What metrics need of the rows, prepared once, and where their replicates come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evalreport.engine.distributions import Columns
from evalreport.engine.histograms import Bins
from evalreport.engine.ranks import Order
from evalreport.metrics.layout import Layout
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Sampling

Key = tuple[str, Quantity]
Source = Literal["rows", "histograms", "histograms alone"]
"""Where replicates come from: the rows; histograms, where these can give them; or histograms and nothing else."""

MOST_EXACT_ROWS = 2_000
"""Up to this many rows all replicates come from the rows themselves."""

MOST_RESAMPLED_ROWS = 200_000
"""Up to this many rows everything has replicates: from the rows where histograms cannot give them."""


def source_of_replicates(n: int, *, one_by_one: bool, exact: bool = False) -> Source:
    """Decide where the replicates of n rows come from.

    Parameters
    ----------
    one_by_one
        Whether rows are drawn one by one. Only then is the part of the variance inside bins known, so that others are
        resampled from rows as long as that can be done.
    exact
        Whether the user asks for the rows themselves, however many.

    Examples
    --------
    >>> source_of_replicates(5_000, one_by_one=True), source_of_replicates(5_000, one_by_one=False)
    ('histograms', 'rows')
    """
    if exact or n <= MOST_EXACT_ROWS:
        return "rows"
    if n > MOST_RESAMPLED_ROWS:
        return "histograms alone"
    return "histograms" if one_by_one else "rows"


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
    source
        Where replicates come from.
    bins
        model -> the histogram of its scores, one for each ranked part; empty where no model has scores of two classes,
        and where replicates come from rows.
    """

    units: Sampling
    layout: Layout
    columns: Mapping[Key, Columns]
    states: Mapping[Key, tuple[object, ...]]
    orders: Mapping[str, tuple[Order, ...]]
    source: Source = "rows"
    bins: Mapping[str, tuple[Bins, ...]] = field(default_factory=dict)

    @property
    def one_by_one(self) -> bool:
        """Whether rows are drawn one by one, weigh the same, and make one evaluation."""
        parts = self.layout.pooled.count == self.layout.ranked.count == 1
        return self.units.plain and self.units.strata is None and parts

    def is_binned(self, key: Key) -> bool:
        """Whether a histogram gives a quantity's replicates."""
        return key[0] in self.bins and definition(key[1]).binned is not None

    def is_resampled(self, key: Key) -> bool:
        """Whether a quantity has replicates: not where each would cost too much."""
        from_rows = self.source != "histograms alone"
        resampled = definition(key[1]).inference.resampled and (from_rows or self.is_binned(key))
        return key in self.columns or resampled


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
