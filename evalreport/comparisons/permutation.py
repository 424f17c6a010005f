"""The permutation test: the difference after the two models' outputs were swapped unit by unit, each swap studentised.

Swapping tests whether the models are exchangeable. Two models with equal F1 and unlike operating points are not, so
the difference after each swap is divided by its own standard error (Janssen 1997, Stat Probab Lett 36:9; Chung and
Romano 2013, Ann Stat 41:484): that tests equal metrics. Plain means over examples need no division.

A swap gives every unit (example, cluster or data set) one of its two outputs under the first model and the other one
under the second. Both outputs of all units are one table, on which each model is a set of weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evalreport.comparisons.registry import Outcome, Pair, Swapped, comparison_test, probability
from evalreport.engine.counts import class_ranks, margin_columns
from evalreport.engine.distributions import Array, fair_binomial, slopes_at, zero_where_undefined
from evalreport.engine.draws import stream
from evalreport.metrics.metric import ClassCounts, Margins, Moments, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.replicates import unit_columns
from evalreport.metrics.sample import Sample, chosen_states
from evalreport.metrics.table_functions import TableFunctions
from evalreport.metrics.views import ModelView, view
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.texts import Message

MOST_ENUMERATED = 4_000
"""The most distinct outcomes for which swaps are enumerated."""

AT_ONCE = 1 << 21
"""Derivatives of swaps at once (16 MB)."""

ROUNDING = 1e-12
"""Numbers closer than this share of the largest are the same number by another order of additions."""

NEARLY = 1e-9
"""Statistics that differ by this share are equal: their errors are sums in another order."""

# --- the units, and the metric as a function of weights ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kinds:
    """The units of a pair, those that are alike together.

    Attributes
    ----------
    times
        (k,) number of units of each kind.
    discordant
        (k,) whether the two outputs of its units differ.
    factors
        (k,) the factors of the squared derivatives in a variance, or one for all.
    value, derivative
        Map weights (b, 2 k), first of the one and then of the other output of each kind, to values (b,) and to their
        derivatives (b, 2 k) by the weights; no derivative where the differences themselves are compared.
    """

    times: Indices
    discordant: Array
    factors: Floats | float
    value: Callable[[Floats], Floats]
    derivative: Callable[[Floats], Floats] | None


def kinds_of(sample: Sample, models: tuple[str, str], quantity: Quantity) -> Kinds | None:
    """Return the units of a pair on a quantity; None for metrics whose outputs cannot be swapped, as ranks."""
    computation = definition(quantity).computation
    if sample.predictions.design == "datasets":
        fits = [sample.estimates[name, quantity].fits for name in models]
        if any(own is None or np.isnan(own.values).any() for own in fits):
            return None
        columns = [sparse.csr_array(own.values[:, None]) for own in fits if own is not None]
        return _of_sums(columns, lambda sums: sums[:, 0] / columns[0].shape[0], None, 1.0)
    if quantity in sample.rows.of_sums:
        return _of_moments(sample, models, quantity)
    if isinstance(computation, Margins | ClassCounts):
        return _of_labels(sample, models, quantity)
    if isinstance(computation, Moments):
        return _of_moments(sample, models, quantity)
    if (
        isinstance(computation, RowWise)
        and not computation.by_ranks
        and definition(quantity).needs == "values"
    ):
        return _of_rows(sample, models, quantity)
    return None


def _of_sums(
    columns: list[sparse.csr_array],
    function: Callable[[Floats], Floats],
    slopes: Callable[[Floats], Floats] | None,
    factors: Floats | float,
    times: Indices | None = None,
) -> Kinds:
    """Return the units of a function of sums of columns, by model (k, p): ``function`` and ``slopes`` of (b, p)."""
    change = sparse.csr_array(columns[1] - columns[0])
    largest = np.maximum(*(abs(table).max(axis=0).toarray().ravel() for table in columns))
    change.data[np.abs(change.data) <= ROUNDING * largest[change.indices]] = 0.0
    change.eliminate_zeros()
    both = sparse.csr_array(sparse.vstack(columns))

    def derivative(weights: Floats) -> Floats:
        return np.asarray((both @ required(slopes)(np.asarray(weights @ both)).T).T)

    return Kinds(
        times=np.ones(change.shape[0], dtype=np.int64) if times is None else times,
        discordant=np.diff(change.indptr) > 0,
        factors=factors,
        value=lambda weights: function(np.asarray(weights @ both)),
        derivative=None if slopes is None else derivative,
    )


def _of_labels(sample: Sample, models: tuple[str, str], quantity: Quantity) -> Kinds:
    """Return the units of a metric of the confusion table; single examples by truth and both labels."""
    tables = required(sample.tables)
    k, parts = tables.n_classes, tables.parts

    def at(sums: Floats) -> TableFunctions:
        return TableFunctions(sums.reshape(-1, 3, k), sample.predictions)

    def function(sums: Floats) -> Floats:
        values = zero_where_undefined(at(sums).value(quantity))
        return np.asarray(values.reshape(-1, parts).mean(axis=1))

    def slopes(sums: Floats) -> Floats:
        return np.asarray(at(sums).slopes(quantity).reshape(len(sums), -1) / parts)

    studentised = slopes if definition(quantity).inference.smooth else None
    if tables.cells is None:
        columns = [tables.columns[tables.models.index(name)] for name in models]
        return _of_sums(columns, function, studentised, sample.units.factors)
    cells = tables.cells_of(models)
    # In the canonical order of their classes: neither the classes' names nor the models' order moves a draw.
    rank = class_ranks(tables.cells)
    of_rank = np.argsort(rank)
    labels = np.sort(rank[cells.predicted.astype(np.int64)], axis=0)
    keys = np.column_stack([rank[cells.true.astype(np.int64)], labels[0], labels[1], cells.weights])
    rows, kind = np.unique(keys, axis=0, return_inverse=True)
    times = np.bincount(kind.ravel(), weights=cells.counts).astype(np.int64)
    true, low, high = (of_rank[rows[:, j].astype(np.int64)].astype(np.int32) for j in range(3))
    scale = sparse.diags_array(rows[:, 3])
    columns = [sparse.csr_array(scale @ margin_columns(true, label, k)) for label in (low, high)]
    return _of_sums(columns, function, studentised, sample.units.factors, times)


def _of_moments(sample: Sample, models: tuple[str, str], quantity: Quantity) -> Kinds:
    """Return the units of a function of sums; single examples that are alike together, as counts have them."""
    data, metric = sample.rows, definition(quantity)
    of_totals = data.function(quantity)
    tables = [unit_columns(data.columns[name, quantity], data.units, data.layout) for name in models]
    parts, p = data.layout.pooled.count, tables[0].shape[1]

    def value(sums: Array) -> Array:
        return np.asarray(of_totals(sums))

    def function(sums: Floats) -> Floats:
        return np.asarray(value(sums.reshape(-1, parts, p // parts)).mean(axis=1))

    def slopes(sums: Floats) -> Floats:
        found = slopes_at(value, sums.reshape(-1, parts, p // parts), 1)
        return np.asarray(found.reshape(len(sums), -1) / parts)

    studentised = (
        slopes if metric.inference.smooth and (quantity in data.of_sums or not metric.is_mean) else None
    )
    units = sample.units
    if not units.single:
        return _of_sums(tables, function, studentised, units.factors)
    # Without weights and parts a row's columns are those of one example, else of all its examples.
    each = 1.0 if units.times is None or (units.plain and parts == 1) else units.times[:, None]
    first, second = (table.toarray() / each for table in tables)
    # Numbers that differ by rounding alone are equal, so that another unit of measurement makes the same kinds.
    largest = np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0))
    unit = NEARLY * np.where(largest > 0, largest, 1.0)
    keys = [np.rint(side / unit) for side in (first, second)]
    swapped = _is_greater(keys[0], keys[1])[:, None]
    low, high = np.where(swapped, second, first), np.where(swapped, first, second)
    both = np.concatenate([np.where(swapped, keys[1], keys[0]), np.where(swapped, keys[0], keys[1])], axis=1)
    _, place, kind = np.unique(both, axis=0, return_index=True, return_inverse=True)
    rows = np.concatenate([low, high], axis=1)[place]
    times = np.bincount(kind.ravel(), weights=units.times).astype(np.int64)
    columns = [sparse.csr_array(part) for part in (rows[:, :p], rows[:, p:])]
    return _of_sums(columns, function, studentised, units.factors, times)


def _is_greater(first: Floats, second: Floats) -> Array:
    """Say of each row (n,) whether the first table (n, p) has the greater number where the two differ first."""
    differs = first != second
    column = differs.argmax(axis=1)[:, None]
    return np.asarray((np.take_along_axis(first - second, column, axis=1) > 0)[:, 0])


def _of_rows(sample: Sample, models: tuple[str, str], quantity: Quantity) -> Kinds | None:
    """Return the units of a function of all rows' weights."""
    metric, units, predictions = definition(quantity), sample.units, sample.predictions
    computation = metric.of(RowWise)
    if sample.rows.layout.ranked.count > 1:
        return None
    outputs = {model.name: model for model in predictions.models}
    first, second = (view(predictions, outputs[name]) for name in models)
    both = computation.prepare(_one_after_the_other(first, second))
    (state,) = chosen_states((both,), quantity, predictions)

    def by_row(weights: Floats) -> Floats:
        """Turn weights of the units' outputs (b, 2 k) into those of the rows (b, 2 n)."""
        return np.concatenate([units.expand(half) for half in np.split(weights, 2, axis=1)], axis=1)

    def by_unit(slopes: Floats) -> Floats:
        part = np.zeros(units.n, dtype=np.int64)
        halves = (half for row in slopes for half in np.split(row, 2))
        sums = [units.by_part(half, part, 1)[:, 0] for half in halves]
        return np.concatenate(sums).reshape(len(slopes), -1)

    def slopes_of(weights: Floats) -> Floats:
        return by_unit(np.asarray(required(computation.derivative)(state, by_row(weights))))

    return Kinds(
        times=np.ones(units.count, dtype=np.int64),
        discordant=np.ones(units.count, dtype=np.bool_),
        factors=units.factors,
        value=lambda weights: np.asarray(computation.function(state, by_row(weights))),
        derivative=slopes_of if metric.inference.smooth and computation.derivative is not None else None,
    )


def _one_after_the_other(first: ModelView, second: ModelView) -> ModelView:
    """Return a view of the rows of one model, then of the other, for metrics of numbers."""
    true, y_pred = (
        np.tile(required(first.true), 2),
        np.concatenate([required(first.y_pred), required(second.y_pred)]),
    )
    return ModelView(true, y_pred, None, None, None, mean_weight=first.mean_weight)


# --- swaps ------------------------------------------------------------------------------------------------------------


def swapped_pair(
    sample: Sample, models: tuple[str, str], quantity: Quantity, *, n_swaps: int, seed: int
) -> Callable[[], Swapped | None] | None:
    """Return a function that swaps two models' outputs; None where they cannot be swapped."""
    estimates = [sample.estimates[name, quantity] for name in models]
    if "any_order" not in sample.units.meets or not all(estimate.swappable for estimate in estimates):
        return None
    metric = definition(quantity)
    if metric.by_ranks or not isinstance(metric.computation, Margins | ClassCounts | Moments | RowWise):
        return None

    def swapped() -> Swapped | None:
        kinds = kinds_of(sample, models, quantity)
        return None if kinds is None else after_swaps(kinds, n_swaps=n_swaps, seed=seed)

    return swapped


def after_swaps(kinds: Kinds, *, n_swaps: int, seed: int) -> Swapped:
    """Return the differences after every swap, or after draws of them, with their standard errors."""
    moved = np.flatnonzero(kinds.discordant)
    drawn, probabilities = outcomes(kinds.times[moved], n_swaps, seed)
    step = max(1, AT_ONCE // (2 * len(kinds.times)))
    differences, errors = [], []
    for start in range(0, len(drawn), step):
        block = drawn[start : start + step]
        with_first = np.tile(kinds.times.astype(np.float64), (len(block), 1))
        with_first[:, moved] = block
        rest = kinds.times - with_first
        one, other = np.hstack([with_first, rest]), np.hstack([rest, with_first])
        differences.append(kinds.value(one) - kinds.value(other))
        if kinds.derivative is not None:
            (a, b), (c, d) = (np.split(kinds.derivative(side), 2, axis=1) for side in (one, other))
            squares = with_first * (a - d) ** 2 + rest * (b - c) ** 2
            errors.append(np.sqrt((kinds.factors * squares).sum(axis=1)))
    return Swapped(
        np.concatenate(differences),
        np.concatenate(errors) if errors else None,
        probabilities,
        int(kinds.times[moved].sum()),
    )


def outcomes(sizes: Indices, n_swaps: int, seed: int) -> tuple[Floats, Floats | None]:
    """Return how many units of each kind (k,) give the first model their one output, (m, k), and the probabilities.

    Each unit tosses a fair coin. All outcomes where they are few, with their probabilities; else draws, without.
    """
    number = math.prod(int(size) + 1 for size in sizes)
    if number > max(MOST_ENUMERATED, n_swaps + 1):
        drawn = stream(seed, "swaps", 0).binomial(sizes, 0.5, size=(n_swaps, len(sizes)))
        return drawn.astype(np.float64), None
    place, every = np.arange(number), np.empty((number, len(sizes)))
    for j, size in enumerate(sizes.tolist()):
        place, every[:, j] = np.divmod(place, size + 1)
    return every, fair_binomial(every, np.broadcast_to(sizes, every.shape)).prod(axis=1)


@comparison_test("Paired permutation", "swaps", beside=("bootstrap_difference",))
def permutation(pair: Pair) -> Outcome:
    """Share of the swaps of the two models, unit by unit, with a difference as large for its error as the observed one.

    Where the metric is a mean over examples, or has no influence values, the differences themselves are compared.
    The statistic is the difference over its standard error, else the difference.
    """
    swapped = None if pair.swapped is None else pair.swapped()
    if swapped is None:
        return Outcome(None, None, reason=Message("reason.cannot_be_swapped"))
    value, observed = pair.difference.value, abs(pair.difference.value)
    scale = max(observed, float(np.abs(swapped.differences).max(initial=0.0)))
    # The error of the swaps: of clusters CR2.
    statistic, robust = value, pair.difference.robust
    if swapped.errors is None or robust is None:
        extreme = np.abs(swapped.differences) >= observed - ROUNDING * scale
    else:
        statistic = float(_studentised(np.array([value]), np.array([robust.error]), scale)[0])
        ratios = np.abs(_studentised(swapped.differences, swapped.errors, scale))
        extreme = ratios >= abs(statistic) * (1 - NEARLY)
    if swapped.probabilities is not None:
        p = float(swapped.probabilities[extreme].sum())
    else:
        p = (int(extreme.sum()) + 1) / (len(extreme) + 1)
    details = {"discordant": float(swapped.discordant)}
    return Outcome(statistic if math.isfinite(statistic) else None, probability(p), details=details)


def _studentised(differences: Floats, errors: Floats, scale: float) -> Floats:
    """Divide by the errors; without any error a difference is infinitely far from 0, unless it is 0."""
    exact = errors <= ROUNDING * scale
    ratios = differences / np.where(exact, 1.0, errors)
    return np.where(
        exact,
        np.where(np.abs(differences) <= ROUNDING * scale, 0.0, np.copysign(np.inf, differences)),
        ratios,
    )
