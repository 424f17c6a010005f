"""Agreement of a model's groups with the true ones, independent of the groups' names.

Every one of these is a function of a few sums over the table of true groups by the model's groups, so that values,
derivatives and replicates follow from ``Overlap`` alone. The definitions are scikit-learn's. Estimates come from the
distinct cells of true group and every model's group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from evalreport.engine.counts import Codes, distinct_cells
from evalreport.engine.distributions import Array, exp, gradient, log, log_choose, ratio
from evalreport.engine.draws import bootstrap_cells
from evalreport.metrics.estimate import Estimate, value_range
from evalreport.metrics.evidence import Groups
from evalreport.metrics.metric import Contingency, Metric
from evalreport.metrics.registry import Quantity, affine, contingency, definition
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.table import Predictions
from evalreport.samplings import Sampling
from evalreport.texts import Message

ROUNDING = 1e-13
"""Entropies at or below this are those of a single group."""


class Overlap(NamedTuple):
    """Sums over the table of true groups by the model's groups, arrays of one shape.

    Attributes
    ----------
    n
        Examples.
    same_both, same_true, same_groups
        Squared counts, added up over the cells, over the true groups and over the model's groups.
    log_n, log_both, log_true, log_groups
        x ln x of n, and of the counts, added up likewise.
    largest
        The largest cell of each of the model's groups, added up.
    expected
        Mutual information (nats) of the two groupings of the data, expected were they independent.
    """

    n: Array
    same_both: Array
    same_true: Array
    same_groups: Array
    log_n: Array
    log_both: Array
    log_true: Array
    log_groups: Array
    largest: Array
    expected: Array


@contingency(
    "Rand index",
    "share of the pairs of examples that both groupings put together, or both apart",
    filled="groups",
    extensive=True,
    source="Rand (1971), J Am Stat Assoc 66:846",
)
def rand_index(o: Overlap) -> Array:
    """Share of the pairs of examples on which the two groupings agree; near 1 by chance where groups are many."""
    pairs = o.n * (o.n - 1)
    return ratio(pairs + 2 * o.same_both - o.same_true - o.same_groups, pairs)


@contingency(
    "Adjusted Rand index",
    "(Rand index - its expected value) / (1 - its expected value)",
    range=(-0.5, 1.0),
    extensive=True,
    filled="groups",
    headline=True,
    source="Hubert and Arabie (1985), J Classif 2:193, equation 5",
)
def adjusted_rand(o: Overlap) -> Array:
    """Rand index corrected for chance: 0 for groups drawn at random, 1 for the true groups."""
    pairs, both, true, groups = (x - o.n for x in (o.n * o.n, o.same_both, o.same_true, o.same_groups))
    chance = true * groups
    return ratio(both * pairs - chance, (true + groups) / 2 * pairs - chance)


def _entropies(o: Overlap) -> tuple[Array, Array, Array]:
    """Return the mutual information of the two groupings, and the entropies of the truth and of the groups."""
    true, groups = o.log_n - o.log_true, o.log_n - o.log_groups
    shared = true + groups - (o.log_n - o.log_both)
    mutual, of_truth, of_groups = (
        np.where((x / o.n).real > ROUNDING, x / o.n, 0) for x in (shared, true, groups)
    )
    return mutual, of_truth, of_groups


@contingency(
    "NMI",
    "I(true; groups) / mean of H(true) and H(groups)",
    headline=True,
    source="Strehl and Ghosh (2002), J Mach Learn Res 3:583; the arithmetic mean, as in scikit-learn",
)
def nmi(o: Overlap) -> Array:
    """Normalized mutual information, arithmetic mean; it rises with the number of groups, by chance alone."""
    mutual, true, groups = _entropies(o)
    return ratio(mutual, (true + groups) / 2)


@contingency(
    "AMI",
    "(I - E[I]) / (mean of H(true) and H(groups) - E[I])",
    range=(-1.0, 1.0),
    extensive=True,
    headline=True,
    source="Vinh, Epps and Bailey (2010), J Mach Learn Res 11:2837; the arithmetic mean, as in scikit-learn",
)
def ami(o: Overlap) -> Array:
    """Mutual information corrected for chance (adjusted, arithmetic mean): 0 for groups drawn at random."""
    mutual, true, groups = _entropies(o)
    beyond = (true + groups) / 2 - o.expected
    return ratio(mutual - o.expected, np.where(np.abs(beyond.real) > ROUNDING, beyond, 0))


ROSENBERG = "Rosenberg and Hirschberg (2007), EMNLP-CoNLL, pages 410-420"


@contingency(
    "Homogeneity",
    "I(true; groups) / H(true)",
    undefined=Message("undefined.one_true_group"),
    source=ROSENBERG,
)
def homogeneity(o: Overlap) -> Array:
    """How far each group holds examples of one true group only; smaller groups make it rise."""
    mutual, true, _ = _entropies(o)
    return ratio(mutual, true)


@contingency(
    "Completeness",
    "I(true; groups) / H(groups)",
    undefined=Message("undefined.one_model_group"),
    source=ROSENBERG,
)
def completeness(o: Overlap) -> Array:
    """How far each true group lies within one group; larger groups make it rise."""
    mutual, _, groups = _entropies(o)
    return ratio(mutual, groups)


@affine("V-measure", "2 homogeneity completeness / (homogeneity + completeness)", of="nmi", source=ROSENBERG)
def v_measure(of_nmi: float) -> float:
    """Harmonic mean of homogeneity and completeness: the same number as NMI by the arithmetic mean."""
    return of_nmi


@contingency(
    "Purity",
    "sum over the groups of their most frequent true group's examples / n",
    filled="groups",
    source="Manning, Raghavan and Schuetze (2008), Introduction to Information Retrieval, section 16.3",
)
def purity(o: Overlap) -> Array:
    """Share of examples in their group's most frequent true group; 1 where every example is a group of its own."""
    return ratio(o.largest, o.n)


def expected_mutual_information(true: Floats, groups: Floats) -> float:
    """Return the mutual information (nats) expected of two groupings of these sizes that are independent.

    The sum over cells and counts k of P(k) k/n ln(n k / (a b)), P hypergeometric. Sizes that occur repeatedly are
    evaluated once, and counts so far from their mean that P is below 1e-30 are left out.

    Parameters
    ----------
    true, groups
        Sizes of the groups, whole numbers above 0 of one sum.

    References
    ----------
    Vinh, Epps and Bailey (2010), J Mach Learn Res 11:2837, equation 24a.

    Examples
    --------
    Two groupings of four examples into pairs are the same, or independent, in one and two of three cases:

    >>> bool(np.isclose(expected_mutual_information(np.array([2.0, 2.0]), np.array([2.0, 2.0])), np.log(2) / 3))
    True
    """
    n, information = float(true.sum()), 0.0
    if len(true) == 1 or len(groups) == 1:
        return 0.0
    columns = list(zip(*np.unique(groups, return_counts=True), strict=True))
    for a, rows in zip(*np.unique(true, return_counts=True), strict=True):
        for b, times in columns:
            mean = a * b / n
            reach = 12 * (mean * (1 - a / n) * (1 - b / n)) ** 0.5 + 30
            low, high = max(0.0, a + b - n, np.floor(mean - reach)), min(a, b, np.ceil(mean + reach))
            k = np.arange(low, high + 1)
            logs = log_choose(a, k) + log_choose(n - a, b - k)
            chances = exp(logs - logs.max())
            terms = chances[k > 0] * k[k > 0] * log(k[k > 0] / mean)
            information += float(rows * times * terms.sum() / chances.sum()) / n
    return information


Key = tuple[str, Quantity]

LEAST_ON_AVERAGE = 5
"""Examples in a group (of pairs of examples, and of purity) or in a cell of the table (of entropies), on average, from
which 95 % intervals held in 90 to 96 % (docs/clustering.md); entropies with 2 in a cell held in 88 %."""


@dataclass(frozen=True, slots=True)
class GroupTable:
    """One model's table of true groups by its own groups, by the cells that hold examples.

    Attributes
    ----------
    cell
        (n,) the cell of each row.
    counts
        (cells,) examples, the cells of one of the model's groups side by side.
    true, group
        (cells,) the cell's true group and the model's, 0 to their number - 1.
    """

    cell: Indices
    counts: Floats
    true: Indices
    group: Indices

    @classmethod
    def of(cls, true: Codes, group: Codes) -> GroupTable:
        """Find the distinct cells of rows (n,)."""
        of_true, of_group = (np.unique(codes, return_inverse=True)[1] for codes in (true, group))
        n_true = int(of_true.max()) + 1
        cells, cell, counts = np.unique(of_group * n_true + of_true, return_inverse=True, return_counts=True)
        return cls(cell, counts.astype(np.float64), cells % n_true, cells // n_true)

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        """Examples of each true group and of each of the model's."""
        true, groups = (np.bincount(codes, weights=self.counts) for codes in (self.true, self.group))
        return true.astype(np.float64), groups.astype(np.float64)

    def overlap(self, counts: Floats, expected: float) -> Floats:
        """Return the sums (..., fields of ``Overlap``) of counts (..., cells)."""
        by_true = np.argsort(self.true, kind="stable")
        starts, group_starts = _starts(self.true[by_true]), _starts(self.group)
        true = np.add.reduceat(counts[..., by_true], starts, axis=-1)
        groups = np.add.reduceat(counts, group_starts, axis=-1)
        n, counted = counts.sum(-1), (counts, true, groups)
        squares = [(x * x).sum(-1) for x in counted]
        logs = [special.xlogy(x, x).sum(-1) for x in (n[..., None], *counted)]
        largest = np.maximum.reduceat(counts, group_starts, axis=-1).sum(-1)
        # In the order of the fields of Overlap.
        return np.stack([n, *squares, *logs, largest, np.full(np.shape(n), expected)], axis=-1)

    def slopes(self, by_sum: Floats) -> Floats:
        """Return the derivatives (cells,) by one more example of each cell, centred, from those by each sum.

        What is expected by chance is held: it changes by an order of cells / n less than the rest.
        """
        g = Overlap(*by_sum)
        true, groups = (size[of] for size, of in zip(self.sizes, (self.true, self.group), strict=True))
        largest = np.zeros(len(self.counts))
        first = np.lexsort((-self.counts, self.group))[_starts(self.group)]
        largest[first] = 1.0
        found = g.largest * largest
        found += 2 * (g.same_both * self.counts + g.same_true * true + g.same_groups * groups)
        found += g.log_both * log(self.counts) + g.log_true * log(true) + g.log_groups * log(groups)
        # What is the same in every cell is lost in the centring.
        return np.asarray(found - (self.counts * found).sum() / self.counts.sum())

    def thin(self, metric: Metric) -> Message | None:
        """Say where groups or cells hold too few examples for an interval; None where they hold enough."""
        computation, (n_true, n_groups) = metric.of(Contingency), (len(sizes) for sizes in self.sizes)
        over = n_true * n_groups if computation.filled == "cells" else max(n_true, n_groups)
        if self.counts.sum() >= LEAST_ON_AVERAGE * over:
            return None
        known = {"n": int(self.counts.sum()), "true": n_true, "groups": n_groups, "least": LEAST_ON_AVERAGE}
        return Message(f"undefined.thin_{computation.filled}", **known)


def _starts(ordered: Indices) -> Indices:
    return np.flatnonzero(np.diff(ordered, prepend=-1))


def clustering_estimates(
    predictions: Predictions, units: Sampling, quantities: Sequence[Quantity], *, n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Estimate every agreement of groups of every model, all from one set of draws.

    Examples that are drawn twice agree with themselves, which lifts replicates of all of these above the value, by
    more than a standard error where groups are small (docs/clustering.md): so they are moved until their mean
    is the value. Intervals are then about other sets of as many examples.
    """
    said = {m.name: m.y_pred for m in predictions.models if m.y_pred is not None}
    tables = {name: GroupTable.of(required(predictions.y_true), codes) for name, codes in said.items()}
    expected = {name: expected_mutual_information(*table.sizes) for name, table in tables.items()}
    estimates: dict[Key, Estimate] = {}
    for name, table in tables.items():
        sums = table.overlap(table.counts, expected[name])
        for quantity in quantities:
            estimates[name, quantity] = _estimate(predictions, units, name, table, quantity, sums)
    drawn: dict[Key, list[Floats]] = {key: [] for key, estimate in estimates.items() if estimate.defined}
    columns, draws = _drawn(tables, units, n_resamples, seed)
    for multiplicities in draws if drawn else ():
        for name in dict.fromkeys(model for model, _ in drawn):
            sums = tables[name].overlap(multiplicities @ columns[name], expected[name])
            for quantity in quantities:
                if (name, quantity) in drawn:
                    drawn[name, quantity].append(_values(quantity, sums))
    for key, parts in drawn.items():
        replicates = np.concatenate(parts)
        moved = replicates - replicates.mean() + estimates[key].value
        estimates[key] = replace(estimates[key], replicates=moved)
    return estimates


def _drawn(
    tables: Mapping[str, GroupTable], units: Sampling, n_resamples: int, seed: int
) -> tuple[dict[str, sparse.csr_array], Iterator[Floats]]:
    """Return which cells one draw of each atom adds to, (atoms, cells) by model, and blocks of draws (b, atoms)."""
    if not units.plain:
        columns = {name: units.gather(_indicator(t.cell, len(t.counts))) for name, t in tables.items()}
        return columns, units.unit_draws(n_resamples, seed=seed)
    # Examples that share their cell in every model's table are drawn together.
    of_models = [table.cell.astype(np.int32) for table in tables.values()]
    cells = distinct_cells(of_models[0], of_models[1:])
    joint = (cells.true, *cells.predicted)
    columns = {
        name: _indicator(cell, len(table.counts))
        for (name, table), cell in zip(tables.items(), joint, strict=True)
    }
    return columns, bootstrap_cells(cells.counts, n_resamples, seed=seed)


def _indicator(cell: Codes | Indices, n_cells: int) -> sparse.csr_array:
    """Return the sparse matrix (atoms, cells) with a one where each atom is."""
    atoms = len(cell)
    return sparse.csr_array((np.ones(atoms), cell, np.arange(atoms + 1)), shape=(atoms, n_cells))


def _values(quantity: Quantity, sums: Floats) -> Floats:
    """Return values (...,) from sums (..., fields of ``Overlap``); two groupings without any division agree wholly."""
    values = definition(quantity).computation.function(Overlap(*np.moveaxis(sums, -1, 0)))
    return np.where(np.isnan(values), 1.0, values)


def _estimate(
    predictions: Predictions, units: Sampling, model: str, table: GroupTable, quantity: Quantity, sums: Floats
) -> Estimate:
    metric = definition(quantity)
    undefined = bool(np.isnan(metric.computation.function(Overlap(*sums))))
    reason = metric.scale.undefined if undefined else table.thin(metric)
    influence = None
    if reason is None:
        by_sum = gradient(
            lambda moved: metric.computation.function(Overlap(*np.moveaxis(moved, -1, 0))), sums
        )
        influence = units.influence_by(table.slopes(by_sum)[table.cell])
    return Estimate(
        model=model,
        quantity=quantity,
        value=float(_values(quantity, sums)),
        reason=reason,
        range=value_range(metric, predictions),
        sampling=units,
        evidence=Groups(),
        influence=influence,
    )
