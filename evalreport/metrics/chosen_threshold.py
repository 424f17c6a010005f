"""Values at the threshold that is best on these examples, and by how much such a choice flatters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.engine.counts import Counts
from evalreport.engine.distributions import gradient
from evalreport.metrics.curves import by_counts
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import AtChosen
from evalreport.metrics.metric import Ranks
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.row_data import RowData
from evalreport.metrics.threshold_counts import (
    Coarse,
    Replicate,
    ThresholdCounts,
    coarse,
    count_thresholds,
    counts_at,
    replicates,
)
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings import Sampling, StudentError
from evalreport.samplings.linear import Linear

MOST_CHOSEN = 1000
"""Replicates at most in which thresholds are chosen anew."""

Function = Callable[[Counts], Floats]
Key = tuple[str, Quantity]


@dataclass(frozen=True, slots=True)
class Rechosen:
    """Thresholds chosen anew on replicates, (b,) each: nan where a replicate lacks a class.

    Attributes
    ----------
    optimism
        By how much the replicate's best value exceeds the value of its threshold on the data themselves, which are to
        the replicate what fresh examples are to the data.
    on_data
        The value of that threshold on the data.
    """

    optimism: Floats
    on_data: Floats


def rechosen(function: Function, cut: Coarse, replicate: Replicate, *, greater_is_better: bool) -> Rechosen:
    """Choose the threshold anew on each replicate, and compare its value there with that on the data."""
    on_data = function(counts_at(cut.found, cut.wrong))
    values = function(counts_at(replicate.found, replicate.wrong))
    best = values.argmax(axis=0) if greater_is_better else values.argmin(axis=0)
    chosen = np.take_along_axis(values, best[None, :], axis=0)[0]
    return Rechosen(
        np.where(replicate.usable, chosen - on_data[best], np.nan),
        np.where(replicate.usable, on_data[best], np.nan),
    )


def all_rechosen(blocks: Sequence[Rechosen]) -> Rechosen:
    """Join the blocks of replicates, the first 1,000 of these."""
    if not blocks:
        return Rechosen(np.empty(0), np.empty(0))
    return Rechosen(
        np.concatenate([block.optimism for block in blocks])[:MOST_CHOSEN],
        np.concatenate([block.on_data for block in blocks])[:MOST_CHOSEN],
    )


def best_index(values: Floats, *, greater_is_better: bool) -> tuple[int, int]:
    """Return the index of the highest threshold with the best value, and how many thresholds are as good.

    ``values`` (g,) are those at the thresholds, the highest first; they are equal within 1e-12 of the largest.
    """
    signed = values if greater_is_better else -values
    best = signed.max()
    equal = np.flatnonzero(signed >= best - 1e-12 * float(np.abs(signed).max()))
    return int(equal[0]), len(equal)


def at_chosen(
    counts: ThresholdCounts, function: Function, index: int, drawn: Rechosen, units: Sampling
) -> AtChosen:
    """Return the evidence of the value at the threshold with this index, which is best on the data."""
    table = np.array(counts.at(index), dtype=np.float64)

    def of_table(four: Floats) -> Floats:
        return function(Counts(*(four[..., k] for k in range(4))))

    alike = units.plain or not counts.of_rows
    student = None if alike else _student(counts, index, gradient(of_table, table), units)
    used = ~np.isnan(drawn.optimism)
    return AtChosen(table, of_table, drawn.optimism[used], drawn.on_data[used], alike, student)


def _student(counts: ThresholdCounts, index: int, slopes: Floats, units: Sampling) -> StudentError | None:
    """Return the error of the value at a threshold that is taken as fixed, as the sampling gives it."""
    order = required(counts.order)
    called = order.group < index
    true_positive, false_positive, false_negative, true_negative = slopes
    derivative = np.where(
        order.positive,
        np.where(called, true_positive, false_negative),
        np.where(called, false_positive, true_negative),
    )
    return units.error(Linear(0.0, units.influence_by(derivative), units))


def with_chosen_thresholds(
    data: RowData, estimates: Mapping[Key, Estimate], *, n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Give the values at a best threshold of one ranking the evidence of their limits, all from the same draws."""
    if data.layout.ranked.count > 1:
        return {}
    rankings: dict[Key, ThresholdCounts] = {}
    for key, estimate in estimates.items():
        computation = definition(key[1]).computation
        if not isinstance(computation, Ranks) or not computation.best_of or not estimate.defined:
            continue
        counts = count_thresholds(data.orders[key[0]][0], weights=data.units.heavy)
        if counts.positives > 0 and counts.negatives > 0:
            rankings[key] = counts
    if not rankings:
        return {}
    cuts = {key: coarse(counts) for key, counts in rankings.items()}
    blocks: dict[Key, list[Rechosen]] = {key: [] for key in cuts}
    done = 0
    # The blocks of the curves' own replicates: the table of thresholds says the same of the same threshold.
    for size, draws in replicates([*cuts.values()], data.units, n_resamples, seed=seed):
        for (key, cut), draw in zip(cuts.items(), draws, strict=True):
            function, greater = _criterion(key)
            blocks[key].append(rechosen(function, cut, draw(), greater_is_better=greater))
        done += size
        if done >= MOST_CHOSEN:
            break
    with_evidence = {}
    for key, counts in rankings.items():
        function, greater = _criterion(key)
        index, _ = best_index(counts.values(function), greater_is_better=greater)
        evidence = at_chosen(counts, function, index, all_rechosen(blocks[key]), data.units)
        with_evidence[key] = replace(estimates[key], evidence=evidence)
    return with_evidence


def _criterion(key: Key) -> tuple[Function, bool]:
    """Return the function of counts that the threshold is best by, and whether more of it is better."""
    best_of = definition(key[1]).of(Ranks).best_of
    return partial(by_counts, best_of), bool(METRICS[best_of].scale.greater_is_better)
