"""Metrics of classes in an order: weighted kappa, distance in classes, answers at most one class away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from evalreport.engine.distributions import Array, Columns, column_totals, combined, gradient, ratio
from evalreport.metrics.evidence import AtCounts, Ordered, Table
from evalreport.metrics.metric import PROPORTION_INTERVALS, SMOOTH_INTERVALS, TABLE_INTERVALS, Metric, Moments
from evalreport.metrics.registry import Fields, mean_loss, moments
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.texts import Message

ORDERED: Fields = {"tasks": ("binary", "multiclass"), "needs": "labels", "ordered": True, "headline": True}
TABLE: Fields = {"intervals": TABLE_INTERVALS, "difference_interval": "plus_two", "test": "interval"}


def distances(k: int) -> Floats:
    """Return the distance (K, K) of each true class from each answer, in classes."""
    places = np.arange(k, dtype=np.float64)
    return np.abs(places[:, None] - places)


def _codes(view: ModelView) -> tuple[Indices, Indices]:
    return np.asarray(required(view.true), dtype=np.int64), np.asarray(required(view.y_pred), dtype=np.int64)


# --- weighted kappa ---------------------------------------------------------------------------------------------------


def _columns_of(power: int) -> Callable[[ModelView], Columns]:
    """Return the columns of weighted kappa: ones, the weight of each answer, and the true and the given class."""

    def columns(view: ModelView) -> Columns:
        true, given = _codes(view)
        n, k = len(true), view.n_classes
        weights = (np.abs(true - given) / max(k - 1, 1)) ** power
        rows = np.tile(np.arange(n), 4)
        places = np.concatenate([np.zeros(n), np.ones(n), 2 + true, 2 + k + given]).astype(np.int64)
        values = np.concatenate([np.ones(n), weights, np.ones(2 * n)])
        return sparse.csr_array((values, (rows, places)), shape=(n, 2 + 2 * k))

    return columns


def _kappa(sums: Array, power: int) -> Array:
    """Return 1 - O / E, the mean weight over that of independent margins."""
    k = (sums.shape[-1] - 2) // 2
    n, observed, true, given = sums[..., 0], sums[..., 1], sums[..., 2 : 2 + k], sums[..., 2 + k :]
    weights = (distances(k) / max(k - 1, 1)) ** power
    expected = ((true @ weights) * given).sum(axis=-1)
    return np.asarray(1 - ratio(observed * n, expected))


def _weighted_kappa(power: int) -> Fields:
    return {
        **ORDERED, **TABLE, "columns": _columns_of(power), "range": (-1.0, 1.0),
        "undefined": Message("undefined.chance"), "source": "Cohen (1968), Psychol Bull 70:213",
    }  # fmt: skip


@moments(
    "Quadratic kappa",
    "1 - sum (i - j)^2 P_ij / sum (i - j)^2 r_i c_j, i and j places in the order",
    **_weighted_kappa(2),
)
def quadratic_kappa(sums: Array) -> Array:
    """Agreement beyond chance where an answer two classes away weighs four times as much as one next to the truth."""
    return _kappa(sums, 2)


@moments(
    "Linear kappa",
    "1 - sum |i - j| P_ij / sum |i - j| r_i c_j, i and j places in the order",
    **_weighted_kappa(1),
)
def linear_kappa(sums: Array) -> Array:
    """Agreement beyond chance where an answer two classes away weighs twice as much as one next to the truth."""
    return _kappa(sums, 1)


# --- means ------------------------------------------------------------------------------------------------------------


@mean_loss(
    "Mean class distance",
    "mean |i - j|, i and j places in the order",
    **ORDERED,
    **TABLE,
    range=(0.0, float("inf")),
)
def mean_class_distance(view: ModelView) -> Floats:
    """Mean number of classes between the answer and the truth."""
    true, given = _codes(view)
    return np.asarray(np.abs(true - given), dtype=np.float64)


@mean_loss(
    "Within one class",
    "share of |i - j| <= 1, i and j places in the order",
    **ORDERED,
    intervals=(*PROPORTION_INTERVALS, "t", *SMOOTH_INTERVALS),
    range=(0.0, 1.0),
    greater_is_better=True,
)
def within_one_class(view: ModelView) -> Floats:
    """Share of the answers that are the true class or one next to it."""
    true, given = _codes(view)
    return np.asarray(np.abs(true - given) <= 1, dtype=np.float64)


def ordered_evidence(metric: Metric, view: ModelView, times: Floats | None) -> Ordered | None:
    """Return the table of counts of a metric of ordered classes; None of one that is a share."""
    if metric.inference.may_be_proportion:
        return None
    k, (true, given) = view.n_classes, _codes(view)
    flat = np.bincount(true * k + given, weights=times, minlength=k * k).astype(np.float64)
    return Ordered(table_of_order(flat.reshape(k, k), metric))


def table_of_order(counts: Floats, metric: Metric) -> Table:
    """Return the evidence of a function of the whole table of counts (K, K), whose cells are rows of the metric.

    Examples
    --------
    >>> from evalreport.metrics import METRICS
    >>> counts = np.array([[8.0, 2.0], [3.0, 7.0]])
    >>> at = table_of_order(counts, METRICS["quadratic_kappa"]).at(counts)
    >>> round(at.value, 6), abs(round(float((at.of_cell * counts).sum()), 12))
    (0.5, 0.0)
    """
    k, computation = len(counts), metric.of(Moments)
    true, given = np.divmod(np.arange(k * k), k)
    columns = computation.columns(ModelView(true, given, None, None, None, n_classes=k))
    none, classes = np.zeros(k), tuple(range(k))

    def at(counts: Floats) -> AtCounts:
        sums = column_totals(counts.ravel(), columns)
        slopes = combined(columns, gradient(computation.function, sums))
        return AtCounts(float(computation.function(sums)), none, none, none, slopes.reshape(k, k))

    return Table(counts, 0, at, classes, classes)
