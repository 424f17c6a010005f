"""Replicates of very many examples from bootstrap counts as they are drawn: ranks by bins, means of losses by sums.

The work for each count is to be drawn and to be added to one bin of each model. A mean of losses is taken from the
same bins where losses hardly vary inside them, else from the losses themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.histogram import Bins, BinWeights, Cells
from evalreport.engine.inside import (
    FIRST_ORDER_SHARE,
    NEGLIGIBLE_SHARE,
    Slopes,
    shares,
    slopes_of,
)
from evalreport.engine.multinomial import Bytes
from evalreport.engine.portable import Whole, column_sums, weighted_sums, whole_numbers
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.records import FoundRecord
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]


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
            for model, by_bin in zip(self.bins, self.cells.weights(weights), strict=True):
                found |= self._of_model(model, by_bin)
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
        found = {}
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


def can_be_binned(key: Key, bins: Mapping[str, Bins]) -> bool:
    """Say whether a quantity's replicates follow from bins, or from sums of one column."""
    metric = definition(key[1])
    if metric.family == "ranking":
        return metric.binned is not None and key[0] in bins
    return metric.family == "moments" and metric.is_mean


def binned(bins: Mapping[str, Bins], estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> Binned:
    """Prepare the replicates of quantities that ``can_be_binned``; their derivatives are by example."""
    ranked = tuple(key for key in keys if definition(key[1]).family == "ranking")
    losses: dict[Key, tuple[float, Floats | None]] = {}
    added: dict[Key, Floats] = {}
    for quantity in dict.fromkeys(key[1] for key in keys):
        own = [key for key in keys if key[1] == quantity]
        slopes = slopes_of_keys(bins, estimates, own)
        pairs = zip(own, slopes.means, strict=True)
        losses |= {key: (estimates[key].value, mean) for key, mean in pairs if key not in ranked}
        if max(shares(slopes).values()) > NEGLIGIBLE_SHARE:
            added |= {key: slopes.inside(j) for j, key in enumerate(own)}
    columns = {key: whole_numbers(part) for key, part in added.items()}
    used = {model: one for model, one in bins.items() if any(key[0] == model for key in keys)}
    return Binned(used, Cells(tuple(used.values())), ranked, losses, columns)


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


def said_of_bins(
    bins: Mapping[str, tuple[Bins, ...]], estimates: Mapping[Key, Estimate], *, single: bool, most_exact: int
) -> FoundRecord | None:
    """Say how the rank metrics of very many rows were resampled and what that leaves out.

    ``single``: rows are drawn one by one and make one evaluation, so that shares are known and replicates completed.
    """
    ranked = [key for key, e in estimates.items() if e.defined and _is_ranked(key, bins)]
    if not ranked:
        return None
    most = max(len(part.wins) for key in ranked for part in bins[key[0]])
    why = Message("bins.why", n=most_exact)
    if single:
        why = Message("bins.why_of", why=why, shares=tuple(_of_shares(shares_of_ranks(bins, estimates))))
    return FoundRecord("resampling of ranks", Message("bins.histogram", n=most), why)


def _is_ranked(key: Key, bins: Mapping[str, tuple[Bins, ...]]) -> bool:
    metric = definition(key[1])
    return key[0] in bins and metric.family == "ranking" and metric.binned is not None


def _of_shares(found: Mapping[Share, float]) -> Iterator[Message]:
    """Say what lies inside bins: left out, added, or more than can be added to first order."""
    by_quantity: dict[str, list[float]] = {}
    close: dict[str, list[str]] = {}
    for (quantity, a, b), share in found.items():
        by_quantity.setdefault(quantity.spelled, []).append(share)
        if share > FIRST_ORDER_SHARE:
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
