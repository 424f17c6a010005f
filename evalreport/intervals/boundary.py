"""Where a value sits at the edge of its range or nothing varies, and the leading interval would have no width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evalreport.intervals.proportions import ALIKE, ONE_CLUSTER, clopper_pearson_limits, wilson_limits
from evalreport.intervals.registry import Bounds
from evalreport.metrics.estimate import Estimate
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-12
"""A width or a distance at or below this is rounding."""


def from_class_recalls(estimate: Estimate, value_of: Callable[[Floats], Floats], level: float) -> Bounds:
    """Return the weakest of the Wilson intervals of the class recalls, mapped through the metric's definition.

    Each class's recall in turn is moved to its Wilson limits, the rest of the table staying as it is; errors
    taken away or added fall on the class that moves the value most.

    Parameters
    ----------
    estimate
        With its K x K ``table``, rows true.
    value_of
        The metric as a function of tables (m, K, K) -> (m,).
    """
    assert estimate.table is not None
    # Weights say how much an example counts, not how many there are: that is their effective number.
    weighed = estimate.n_effective
    table = estimate.table * (1.0 if weighed is None else weighed / estimate.table.sum())
    moved = [t for k in range(len(table)) if table[k].sum() > 0 for t in _moved(table, k, level)]
    values = value_of(np.array(moved)) if moved else np.empty(0)
    values = np.append(values[~np.isnan(values)], estimate.value)
    return Bounds(float(values.min()), float(values.max()), Message("limits.class_recalls"))


def _moved(table: Floats, k: int, level: float) -> list[Floats]:
    """Return the tables in which class k's recall sits at a Wilson limit, one for each class its errors go to."""
    total, right = table[k].sum(), table[k, k]
    found = []
    for limit in wilson_limits(right, total, level):
        errors = table[k].copy()
        errors[k] = 0
        for other in _receivers(len(table), k):
            row = errors * (total * (1 - limit) / errors.sum()) if errors.sum() else np.zeros(len(table))
            if not errors.sum():
                row[other] = total * (1 - limit)
            row[k] = total * limit
            changed = table.copy()
            changed[k] = row
            found.append(changed)
    return found


def _receivers(n_classes: int, k: int) -> list[int]:
    """Return the classes that class k's new errors may fall on; with very many classes the next one stands for all."""
    return [j for j in range(n_classes) if j != k] if n_classes <= 30 else [(k + 1) % n_classes]


def of_a_bounded_mean(estimate: Estimate, level: float) -> Bounds:
    """Return Wilson's interval of a mean of values in a bounded range, as if each were all or nothing.

    A mean of values in [0, 1] varies at most as a proportion does, so this is never too narrow for that reason.
    What is ranked among classes rests on the examples of the rarest one.
    """
    low, high = estimate.range
    share = (estimate.value - low) / (high - low)
    n = estimate.n_units if estimate.n_effective is None else estimate.n_effective
    units = float(n if estimate.rarest is None else min(n, estimate.rarest))
    limits = wilson_limits(share * units, units, level)
    reason = Message("limits.as_proportion")
    return Bounds(low + (high - low) * limits[0], low + (high - low) * limits[1], reason)


def of_average_precision(estimate: Estimate, level: float) -> Bounds:
    """Return Wilson's interval with n = number of positives, for an average precision that does not vary."""
    assert estimate.positive is not None
    weighed = estimate.n_effective
    positives = float(estimate.positive.sum()) * (1.0 if weighed is None else weighed / estimate.n)
    limits = wilson_limits(estimate.value * positives, positives, level)
    return Bounds(*limits, Message("limits.positives"))


def of_alike_clusters(estimate: Estimate, level: float) -> Bounds:
    """Return Clopper and Pearson's interval with n = G* where all examples of all clusters are right, or all wrong.

    G* is the effective number of clusters if their examples are wholly alike, as they are here. Nothing else says how
    far a value may be that does not vary between clusters: no limits, with the reason.
    """
    if estimate.n_units < 2:
        return Bounds(None, None, ONE_CLUSTER)
    at_an_end = min(estimate.value, 1 - estimate.value) <= NEGLIGIBLE
    if not estimate.trials_effective or not at_an_end:
        return Bounds(None, None, ALIKE)
    clusters = estimate.trials_effective
    limits = clopper_pearson_limits(clusters if estimate.value > NEGLIGIBLE else 0.0, clusters, level)
    return Bounds(*limits, Message("limits.alike_clusters"))
