"""The distribution of a difference when the two models' predictions are swapped row by row.

Labels: only the discordant cells matter, and the number of their rows that change sides is binomial, so small
problems are enumerated exactly. Means: the swapped rows' columns move from one model's sums to the other's.
Ranks: the within-model mid-ranks are swapped, since raw scores of two models have no common scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.derivative import zero_where_undefined
from evalreport.engine.distributions import fair_binomial
from evalreport.engine.draws import stream
from evalreport.engine.ranks import mid_ranks
from evalreport.engine.tables import Cells, margin_columns
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.row_estimates import ColumnBlock
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import Units

Floats = npt.NDArray[np.float64]
Key = tuple[str, str, Quantity]

MOST_ENUMERATED = 100_000
"""Swaps are enumerated exactly up to so many distinct outcomes."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """Differences after swaps and their probabilities; None: equally likely draws of a Monte Carlo sample."""

    differences: Floats
    weights: Floats | None


def swap_distributions(
    sample: Sample,
    pairs: Sequence[tuple[str, str]],
    quantities: Sequence[Quantity],
    *,
    n_resamples: int,
    seed: int,
) -> dict[Key, Swapped]:
    """Return the swap distribution of every pair and quantity that has one; undefined ones are left out."""
    usable = [
        (a, b, q) for a, b in pairs for q in quantities if all(sample.estimates[m, q].defined for m in (a, b))
    ]
    by_family: dict[str, list[Key]] = {"labels": [], "moments": [], "ranking": [], "rows": []}
    for key in usable:
        family = definition(key[2]).family
        by_family["labels" if family in ("table", "binary_table") else family].append(key)
    found = _swap_labels(sample, by_family["labels"], n_resamples, seed)
    found |= _swap_rows(sample, by_family["moments"], by_family["ranking"], n_resamples, seed)
    return found


# --- labels ---------------------------------------------------------------------------------------------------------


def _swap_labels(sample: Sample, keys: Sequence[Key], n_resamples: int, seed: int) -> dict[Key, Swapped]:
    found: dict[Key, Swapped] = {}
    if not keys:
        return found
    tables = sample.tables
    assert tables is not None
    by_unit = None if tables.cells is not None else _margins_moved(sample, n_resamples, seed)
    for a, b in dict.fromkeys(key[:2] for key in keys):
        places = [tables.models.index(name) for name in (a, b)]
        if tables.cells is not None:
            first, second, weights = _swapped_margins(
                tables.cells, places, tables.n_classes, n_resamples, seed
            )
        else:
            assert by_unit is not None
            change = by_unit.moved[places[1]] - by_unit.moved[places[0]]
            first, second = tables.point(places[0]) + change, tables.point(places[1]) - change
            weights = by_unit.weights
        for key in keys:
            if key[:2] == (a, b):
                function = table_function(key[2], sample.predictions)
                values = [zero_where_undefined(function(m)).mean(axis=1) for m in (first, second)]
                found[key] = Swapped(values[0] - values[1], weights)
    return found


@dataclass(frozen=True, slots=True)
class _Moved:
    """What the swapped units add to each model's margins, (models, m, parts, 3, K), and the swaps' probabilities."""

    moved: list[Floats]
    weights: Floats | None


def _margins_moved(sample: Sample, n_resamples: int, seed: int) -> _Moved:
    """Swap rows, or whole clusters, where examples are not alike and cells do not hold all."""
    tables = sample.tables
    assert tables is not None
    patterns, weights = swap_patterns(sample.units, n_resamples, seed)
    parts: list[list[Floats]] = [[] for _ in tables.models]
    for swapped in patterns:
        for j, collected in enumerate(parts):
            collected.append(tables.margins(j, swapped))
    return _Moved([np.concatenate(blocks) for blocks in parts], weights)


def swap_patterns(units: Units, n_resamples: int, seed: int) -> tuple[Iterator[Floats], Floats | None]:
    """Return blocks (b, units) of 0 and 1, which units change sides, and the patterns' probabilities if exact."""
    if units.count < 60 and 2**units.count <= MOST_ENUMERATED:
        every = ((np.arange(2**units.count)[:, None] >> np.arange(units.count)) & 1).astype(np.float64)
        return iter([every]), np.full(2**units.count, 0.5**units.count)
    return units.unit_swaps(n_resamples, seed=seed), None


def _swapped_margins(
    cells: Cells, places: Sequence[int], k: int, n_resamples: int, seed: int
) -> tuple[Floats, Floats, Floats | None]:
    """Return both models' margins (m, 1, 3, K) after swaps, and the probabilities of the m outcomes."""
    one, other = cells.predicted[places[0]], cells.predicted[places[1]]
    same = one == other
    kept = margin_columns(cells.true[same], one[same], k).T @ cells.counts[same]
    # Kinds in the order in which their classes occur: what classes are called moves no draw.
    place = _place_of_classes(cells, k)
    one_place, other_place = place[one[~same]], place[other[~same]]
    low, high = np.minimum(one_place, other_place), np.maximum(one_place, other_place)
    kinds, inverse = np.unique(np.stack([place[cells.true[~same]], low, high]), axis=1, return_inverse=True)
    kinds = np.argsort(place)[kinds]
    sizes = np.bincount(inverse, weights=cells.counts[~same], minlength=kinds.shape[1]).astype(np.int64)
    with_low, weights = _numbers_swapped(sizes, n_resamples, seed)
    columns_low, columns_high = (margin_columns(kinds[0], kinds[j], k) for j in (1, 2))
    first = kept + with_low @ columns_low + (sizes - with_low) @ columns_high
    second = kept + with_low @ columns_high + (sizes - with_low) @ columns_low
    return first.reshape(-1, 1, 3, k), second.reshape(-1, 1, 3, k), weights


def _place_of_classes(cells: Cells, k: int) -> npt.NDArray[np.int64]:
    """Return each class's place (k,) in the order of first occurrence: as truth, else as a prediction."""
    classes, first = np.unique(np.append(cells.true, cells.predicted.T), return_index=True)
    place = np.empty(k, dtype=np.int64)
    unseen = np.setdiff1d(np.arange(k), classes)
    place[np.concatenate([classes[np.argsort(first)], unseen])] = np.arange(k)
    return place


def _numbers_swapped(
    sizes: npt.NDArray[np.int64], n_resamples: int, seed: int
) -> tuple[Floats, Floats | None]:
    """Return how many rows of each kind get the lower class from the first model: all outcomes, or draws."""
    if np.prod(sizes + 1.0) <= MOST_ENUMERATED:
        axes = np.meshgrid(*(np.arange(m + 1.0) for m in sizes), indexing="ij")
        outcomes = np.stack([axis.ravel() for axis in axes], axis=1) if len(sizes) else np.zeros((1, 0))
        return outcomes, fair_binomial(outcomes, sizes).prod(axis=1)
    draws = stream(seed, "swap cells", 0).binomial(sizes, 0.5, size=(n_resamples, len(sizes)))
    return draws.astype(np.float64), None


# --- means and ranks ------------------------------------------------------------------------------------------------


def _swap_rows(
    sample: Sample, moments: Sequence[Key], ranking: Sequence[Key], n_resamples: int, seed: int
) -> dict[Key, Swapped]:
    if sample.rows.layout.ranked.count > 1 or sample.rows.many:
        # The ranks of several fits have no common scale, not even within one model; those of very many rows
        # are only known by bins.
        ranking = ()
    collected: dict[Key, list[Floats]] = {key: [] for key in (*moments, *ranking)}
    if not collected:
        return {}
    units, data = sample.units, sample.rows
    histograms = _rank_histograms(sample, sorted({name for key in ranking for name in key[:2]}))
    whole = {name: np.asarray(table.T @ units.base)[:, None] for name, table in histograms.items()}
    needed = dict.fromkeys((name, key[2]) for key in moments for name in key[:2])
    columns = ColumnBlock.of({place: data.columns[place] for place in needed}, units, data.layout)
    sums = columns.sums(np.ones((1, units.count)))
    patterns, weights = swap_patterns(units, n_resamples, seed)
    for swapped in patterns:
        for key, differences in _swapped_sums(columns.sums(swapped), sums, moments):
            collected[key].append(differences)
        if ranking:
            by_row = np.ascontiguousarray(units.expand(swapped).T)
            moved = {name: np.asarray(table.T @ by_row) for name, table in histograms.items()}
            for key in ranking:
                collected[key].append(_swapped_ranks(key, whole, moved))
    return {key: Swapped(np.concatenate(parts), weights) for key, parts in collected.items()}


def _swapped_sums(
    moved: Mapping[tuple[str, Quantity], Floats],
    whole: Mapping[tuple[str, Quantity], Floats],
    keys: Sequence[Key],
) -> Iterator[tuple[Key, Floats]]:
    for a, b, quantity in keys:
        function = definition(quantity).function
        change = moved[b, quantity] - moved[a, quantity]
        values = [
            function(whole[name, quantity] + side * change).mean(axis=1) for name, side in ((a, 1), (b, -1))
        ]
        yield (a, b, quantity), values[0] - values[1]


def _rank_histograms(sample: Sample, names: Sequence[str]) -> dict[str, sparse.csr_array]:
    """Return, by model, (n, 2 g) one-hot columns of each row's mid-rank, best first: positives, then negatives.

    Ranks that no positive of any model holds are merged with their neighbours: only the order of negatives
    relative to positives counts, so AUC and AP do not change, and the work is that of the rarer class.
    """
    if not names:
        return {}
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


def _swapped_ranks(key: Key, whole: Mapping[str, Floats], moved: Mapping[str, Floats]) -> Floats:
    a, b, quantity = key
    function = definition(quantity).function
    change = moved[b] - moved[a]
    g = len(change) // 2
    first = whole[a] + change
    second = whole[b] - change
    return np.asarray(function(first[:g], first[g:]) - function(second[:g], second[g:]))
