"""What replicates of rows follow from: the rows prepared once, and histograms of scores where there are many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from evalreport.engine.binned import (
    FIRST_ORDER_SHARE,
    NEGLIGIBLE_SHARE,
    Bins,
    BinWeights,
    Cells,
    Slopes,
    few_at_a_time,
    shares,
    slopes_of,
)
from evalreport.engine.distributions import Columns, Whole, column_sums, dot, weighted_sums, whole_numbers
from evalreport.engine.draws import Bytes
from evalreport.engine.ranks import Order
from evalreport.metrics.estimate import Estimate, Floats
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.units import Layout, Units
from evalreport.records import FoundRecord
from evalreport.texts import Message

Key = tuple[str, Quantity]

MOST_EXACT_ROWS = 2_000
"""Up to so many rows the replicates of rank metrics come from the rows themselves."""

MOST_RESAMPLED_ROWS = 200_000
"""Up to so many rows everything has replicates: of rows themselves where they cannot come from bins."""


@dataclass(frozen=True, slots=True)
class RowData:
    """What the per-example metrics of a run work on, prepared once.

    Attributes
    ----------
    columns
        (model, quantity) -> (n, p) columns of the family ``moments``, dense or sparse.
    states
        (model, quantity) -> what the family ``rows`` prepared, a state for each ranked part.
    orders
        model -> its sorted scores, an order for each ranked part.
    bins
        model -> the histogram of its scores, one for each ranked part; empty where there are few rows.
    exact
        Whether the rows themselves are asked for, however many.
    many
        Whether there are so many rows that what bins do not give has no replicates.
    """

    units: Units
    layout: Layout
    columns: Mapping[Key, Columns]
    states: Mapping[Key, tuple[object, ...]]
    orders: Mapping[str, tuple[Order, ...]]
    bins: Mapping[str, tuple[Bins, ...]] = field(default_factory=dict)
    exact: bool = False
    many: bool = False

    @property
    def single(self) -> bool:
        """Whether rows are drawn one by one, weigh the same, and make one evaluation."""
        parts = self.layout.pooled.count == self.layout.ranked.count == 1
        return self.units.plain and self.units.strata is None and parts

    def is_binned(self, key: Key) -> bool:
        """Whether a quantity's replicates come from the histogram instead of the rows themselves."""
        return key[0] in self.bins and definition(key[1]).binned is not None


@dataclass(frozen=True, slots=True)
class Binned:
    """What gives the replicates of some quantities.

    Attributes
    ----------
    bins, cells
        By model, of those models that have such a quantity; the cells of all of them.
    ranked
        Rank metrics that are functions of the bins.
    losses
        Means of losses: the value, and each code's mean derivative (2 G,); None where the model has no bins.
    inside
        By key, where the derivative's part inside bins is added: that part as whole numbers, and their unit.
    """

    bins: Mapping[str, Bins]
    cells: Cells
    ranked: tuple[Key, ...]
    losses: Mapping[Key, tuple[float, Floats | None]]
    inside: Mapping[Key, tuple[Whole, float]]

    def replicates(self, weights: Bytes) -> dict[Key, Floats]:
        """Return each quantity's values (b,) under bootstrap counts (n, b)."""
        found: dict[Key, Floats] = {}
        if self.bins:
            for model, by_code in zip(self.bins, self.cells.weights(weights), strict=True):
                parts = [self._of_model(model, part) for part in few_at_a_time(by_code)]
                found |= {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        flat = {
            key: np.full(weights.shape[1], value)
            for key, (value, slope) in self.losses.items()
            if slope is None
        }
        found |= flat
        if self.inside:
            added = column_sums([column for column, _ in self.inside.values()], weights)
            for (key, (_, unit)), of_column in zip(self.inside.items(), added, strict=True):
                found[key] = found[key] + unit * of_column
        return found

    def _of_model(self, model: str, by_bin: BinWeights) -> dict[Key, Floats]:
        found: dict[Key, Floats] = {}
        for key in self.ranked:
            if key[0] == model:
                binned = definition(key[1]).binned
                assert binned is not None
                found[key] = binned(self.bins[model], by_bin)
        for key, (value, slopes) in self.losses.items():
            if key[0] == model and slopes is not None:
                g = len(slopes) // 2
                found[key] = value + weighted_sums(by_bin.positives.T, slopes[:g])
                found[key] += weighted_sums(by_bin.negatives.T, slopes[g:])
        return found


def binned(data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> Binned:
    """Prepare the replicates of those quantities that bins, or sums of one column, give; the others are left out."""
    bins = {name: parts[0] for name, parts in data.bins.items()}
    means = [key for key in keys if _is_mean(key)]
    unsafe = set() if data.many else _nearly_alike(estimates, [key for key in keys if data.is_binned(key)])
    ranked = tuple(key for key in keys if data.is_binned(key) and key not in unsafe)
    losses: dict[Key, tuple[float, Floats | None]] = {}
    added: dict[Key, Floats] = {}
    smooth = [key for key in (*means, *ranked) if estimates[key].derivative is not None]
    for quantity in dict.fromkeys(key[1] for key in smooth):
        own = [key for key in smooth if key[1] == quantity]
        slopes = slopes_of_keys(bins, estimates, own)
        pairs = zip(own, slopes.means, strict=True)
        losses |= {key: (estimates[key].value, mean) for key, mean in pairs if key in means}
        if max(shares(slopes).values()) > NEGLIGIBLE_SHARE:
            added |= {key: slopes.inside(j) for j, key in enumerate(own)}
    whole = {key: whole_numbers(part) for key, part in added.items()}
    taken = (*means, *ranked)
    used = {model: one for model, one in bins.items() if any(key[0] == model for key in taken)}
    return Binned(used, Cells(tuple(used.values())), ranked, losses, whole)


def _is_mean(key: Key) -> bool:
    metric = definition(key[1])
    return metric.family == "moments" and metric.is_mean


ALIKE = 0.04
"""Of a model's variance: where that of a difference is less, what bins leave out of each model may matter in it."""


def _nearly_alike(estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> set[Key]:
    """Return the rank metrics of models that hardly differ in them, so that their rows themselves are resampled."""
    found: set[Key] = set()
    slopes = {key: d for key in keys if (d := estimates[key].derivative) is not None}
    for one, other in combinations(slopes, 2):
        if one[1] == other[1]:
            a, b = slopes[one], slopes[other]
            apart = a - b
            square = dot(apart, apart)
            if 0 < square < ALIKE * max(dot(a, a), dot(b, b)):
                found |= {one, other}
    return found


def slopes_of_keys(
    bins: Mapping[str, Bins], estimates: Mapping[Key, Estimate], keys: Sequence[Key]
) -> Slopes:
    """Put the derivatives of one quantity beside the models' bins; without bins all of the variance is inside."""
    return slopes_of([_derivative(estimates[key]) for key in keys], [bins.get(key[0]) for key in keys])


def _derivative(estimate: Estimate) -> Floats:
    assert estimate.derivative is not None
    return estimate.derivative


Share = tuple[Quantity, str, str]
"""A quantity and the two models of a difference, or the same model twice."""


def shares_of_ranks(
    bins: Mapping[str, tuple[Bins, ...]], estimates: Mapping[Key, Estimate]
) -> dict[Share, float]:
    """Return the share of variance inside bins of each binned rank metric, and of each difference of two models."""
    found: dict[Share, float] = {}
    ranked = [key for key in estimates if _is_ranked(key, bins) and estimates[key].derivative is not None]
    first = {model: parts[0] for model, parts in bins.items()}
    for quantity in dict.fromkeys(key[1] for key in ranked):
        own = [key for key in ranked if key[1] == quantity]
        for (i, j), share in shares(slopes_of_keys(first, estimates, own)).items():
            found[quantity, own[i][0], own[j][0]] = share
    return found


def said_of_histograms(data: RowData, estimates: Mapping[Key, Estimate]) -> FoundRecord | None:
    """Say how the rank metrics of very many rows were resampled and how much of their variance that loses.

    Shares are known, and replicates completed, where rows are drawn one by one and make one evaluation; models that
    hardly differ in rank are resampled from bins as well where there are too many rows to be resampled themselves.
    """
    bins = data.bins
    ranked = [key for key, e in estimates.items() if e.defined and _is_ranked(key, bins)]
    if not ranked:
        return None
    most = max(len(part.wins) for key in ranked for part in bins[key[0]])
    why = Message("bins.why", n=MOST_EXACT_ROWS)
    if data.single:
        found = shares_of_ranks(bins, estimates)
        why = Message("bins.why_of", why=why, shares=tuple(_of_shares(found, named=data.many)))
    return FoundRecord(what="resampling of ranks", value=Message("bins.histogram", n=most), why=why)


def _is_ranked(key: Key, bins: Mapping[str, tuple[Bins, ...]]) -> bool:
    return key[0] in bins and definition(key[1]).family == "ranking"


def _of_shares(found: Mapping[Share, float], *, named: bool) -> Iterator[Message]:
    """Say what lies inside bins: left out, added, or (``named``) more than can be added to first order."""
    by_quantity: dict[str, list[float]] = {}
    close: dict[str, list[str]] = {}
    for (quantity, a, b), share in found.items():
        by_quantity.setdefault(quantity.spelled, []).append(share)
        if named and share > FIRST_ORDER_SHARE:
            close.setdefault(a if a == b else f"{a} - {b}", []).append(quantity.spelled)
    left = {name: max(every) for name, every in by_quantity.items() if max(every) <= NEGLIGIBLE_SHARE}
    yield Message("bins.within")
    if left:
        yield Message("bins.left_out", names=tuple(left), share=max(left.values()), digits=1)
    if added := tuple(name for name in by_quantity if name not in left):
        yield Message("bins.added", names=added)
    if close:
        pairs = [Message("bins.pair", models=models, names=names) for models, names in close.items()]
        yield Message("bins.close", pairs=pairs)
