"""Swaps of what needs single rows: ranks, and what only a function of all rows can express."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.comparisons.registry import Swapped
from evalreport.comparisons.unit_swaps import swap_patterns
from evalreport.engine.distributions import Array, ratio
from evalreport.engine.ranks import mid_ranks
from evalreport.metrics.estimate import Floats, ModelView, view
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample, chosen_states
from evalreport.metrics.units import Units


@dataclass(frozen=True, slots=True)
class Draws:
    """How many swaps are drawn: all n of them, unless the first ones show that p is above the level by far."""

    n: int
    first: int
    level: float
    seed: int


OfBlock = Callable[[Floats], tuple[Floats, Floats | None]]
"""The differences (b,) after swaps (b, units) and their standard errors; None where they are not studentised."""


def _of_patterns(units: Units, discordant: npt.NDArray[np.bool_], draws: Draws, of_block: OfBlock) -> Swapped:
    """Evaluate swaps block by block: each costs a pass over all rows, of which a large family asks very many.

    Drawing ends early where p is twice the level or more. No correction makes such a p-value smaller, so it can decide
    nothing, and every p that may decide rests on all draws (a curtailed Monte Carlo test: Besag and Clifford 1991,
    Biometrika 78:301).
    """
    patterns, weights = swap_patterns(units, draws.n, draws.seed, discordant)
    observed = _size(*of_block(np.zeros((1, units.count))))[0]
    found: list[tuple[Floats, Floats | None]] = []
    drawn = extreme = 0
    for swapped in _few_at_a_time(patterns):
        found.append(of_block(swapped))
        sizes = _size(*found[-1])
        drawn, extreme = drawn + len(sizes), extreme + int((sizes >= observed * (1 - 1e-9)).sum())
        if weights is None and drawn >= draws.first and extreme >= 2 * draws.level * drawn:
            break
    differences, errors = zip(*found, strict=True)
    of_all = None if errors[0] is None else np.concatenate([e for e in errors if e is not None])
    return Swapped(np.concatenate(differences), of_all, weights, int(discordant.sum()))


_VALUES_AT_ONCE = 1 << 17
"""Units times swaps at once: so much stays in the processor's cache."""


def _few_at_a_time(patterns: Iterator[Floats]) -> Iterator[Floats]:
    for block in patterns:
        step = max(1, _VALUES_AT_ONCE // block.shape[1])
        yield from (block[start : start + step] for start in range(0, len(block), step))


def _size(differences: Floats, errors: Floats | None) -> Floats:
    return np.abs(differences if errors is None else ratio(differences, errors))


def of_ranks(
    sample: Sample,
    a: str,
    b: str,
    quantity: Quantity,
    histograms: Callable[[], Mapping[str, sparse.csr_array]],
    draws: Draws,
) -> Swapped:
    """Swap the mid-ranks of a metric of the family ``ranking``, by their histograms."""
    units, metric = sample.units, definition(quantity)
    tables = [histograms()[name] for name in (a, b)]
    places = [table.indices for table in tables]
    sums = [np.asarray(table.T @ units.base)[:, None] for table in tables]
    discordant = units.influence((places[0] != places[1]).astype(np.float64)) != 0

    def of_block(swapped: Floats) -> tuple[Floats, Floats | None]:
        by_row = np.ascontiguousarray(units.expand(swapped).T)
        moved = np.asarray(tables[1].T @ by_row) - np.asarray(tables[0].T @ by_row)
        both = [np.split(after, 2) for after in (sums[0] + moved, sums[1] - moved)]
        first, second = (metric.function(*weights) for weights in both)
        if metric.derivative is None:
            return np.asarray(first - second), None
        slopes = [np.concatenate(metric.derivative(*weights)) for weights in both]
        came = (swapped if units.cluster is None else swapped[:, units.cluster]).T > 0
        apart = np.where(
            came, slopes[0][places[1]] - slopes[1][places[0]], slopes[0][places[0]] - slopes[1][places[1]]
        )
        return np.asarray(first - second), _errors(units, apart)

    return _of_patterns(units, discordant, draws, of_block)


def _errors(units: Units, slopes: Floats) -> Floats:
    """Return standard errors (b,) from derivatives (n, b) by the weight of each example."""
    if units.single and units.strata is None:
        weighted = slopes if units.heavy is None else slopes * units.heavy[:, None]
        return np.asarray(np.sqrt(units.factors * np.einsum("nb,nb->b", weighted, weighted)))
    return np.sqrt([(units.factors * units.influence(column) ** 2).sum() for column in slopes.T])


def rank_histograms(sample: Sample) -> Mapping[str, sparse.csr_array]:
    """Return, by model, (n, 2 g) one-hot columns of each row's mid-rank, best first: positives, then negatives.

    Ranks that no positive of any model holds are merged with their neighbours: only the order of negatives
    relative to positives counts, so AUC and AP do not change, and the work is that of the rarer class.
    """
    names = sorted(sample.rows.orders)
    scores = {m.name: m.score for m in sample.predictions.models}
    positive = sample.rows.orders[names[0]][0].positive
    ranks = np.stack([-mid_ranks(np.asarray(scores[name])) for name in names])
    distinct, code = np.unique(ranks, return_inverse=True)
    code = code.reshape(ranks.shape)
    alone = np.zeros(len(distinct), dtype=bool)
    alone[code[:, positive]] = True
    starts = alone | np.concatenate([[True], alone[:-1]])
    group = np.cumsum(starts) - 1
    g, n = int(group[-1]) + 1, len(positive)
    return {
        name: sparse.csr_array(
            (np.ones(n), np.where(positive, group[row], g + group[row]), np.arange(n + 1)), shape=(n, 2 * g)
        )
        for name, row in zip(names, code, strict=True)
    }


# --- functions of all rows ------------------------------------------------------------------------------------------


def of_rows(sample: Sample, a: str, b: str, quantity: Quantity, draws: Draws) -> Swapped:
    """Swap the rows, or their ranks, of a metric of the family ``rows``.

    The rows of both models stand one below the other, (2 n), and a swap only changes which of them weigh: those of a
    model's own that stay, and the other's that came.
    """
    units, metric, predictions = sample.units, definition(quantity), sample.predictions
    outputs = {m.name: m for m in predictions.models}
    views = [view(predictions, outputs[name]) for name in (a, b)]
    if metric.by_ranks:
        views = [_ranked(one) for one in views]
    apart = np.any([_differ(*pair) for pair in zip(*map(_outputs, views), strict=True)], axis=0)
    assert metric.prepare is not None
    (state,) = chosen_states((metric.prepare(_below(*views)),), quantity, predictions)

    def of_block(swapped: Floats) -> tuple[Floats, Floats | None]:
        came = units.expand(swapped)
        stayed = units.base - came
        both = [np.concatenate(pair, axis=1) for pair in ((stayed, came), (came, stayed))]
        first, second = (metric.function(state, weights) for weights in both)
        if metric.derivative is None:
            return np.asarray(first - second), None
        (own, others), (left, kept) = (
            np.split(metric.derivative(state, weights), 2, axis=1) for weights in both
        )
        return np.asarray(first - second), _errors(units, np.where(came > 0, others - left, own - kept).T)

    return _of_patterns(units, units.influence(apart.astype(np.float64)) != 0, draws, of_block)


def _outputs(one: ModelView) -> list[Array]:
    return [v for v in (one.y_pred, one.proba, one.score) if v is not None]


def _differ(one: Array, other: Array) -> npt.NDArray[np.bool_]:
    """Say in which rows (n,) two models' outputs, (n,) or (n, K), are not the same."""
    return np.asarray((one != other).reshape(len(one), -1).any(axis=1))


def _ranked(one: ModelView) -> ModelView:
    """Put ranks within the model in the place of its scores, and of each class's probabilities."""
    proba = one.proba
    if proba is not None:
        proba = np.column_stack([mid_ranks(column) for column in np.asarray(proba).T])
    return replace(one, y_pred=None, proba=proba, score=None if one.score is None else mid_ranks(one.score))


def _below(one: ModelView, other: ModelView) -> ModelView:
    """Put the rows of two models one below the other."""

    def both(first: Array | None, second: Array | None) -> Array | None:
        return None if first is None or second is None else np.concatenate([first, second])

    return ModelView(
        both(one.true, other.true),
        both(one.y_pred, other.y_pred),
        both(one.proba, other.proba),
        both(one.outcome, other.outcome),
        one.positive_code,
        both(one.score, other.score),
    )
