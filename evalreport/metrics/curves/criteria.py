"""What a threshold can be chosen by: each criterion is a function of the counts at every threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.tables import Counts
from evalreport.metrics.curves.ladder import counts_at
from evalreport.metrics.curves.replicates import Coarse, Replicate
from evalreport.metrics.curves.sweeps import by_counts, has_a_best_threshold
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.registry import METRICS

Floats = npt.NDArray[np.float64]

ALWAYS = ("accuracy", "f1", "mcc")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A way to choose the best threshold.

    Attributes
    ----------
    name
        ``best`` (of a metric), ``youden``, ``closest_topleft`` or ``cost``.
    metric
        What the value is: a registered metric, ``distance`` or ``expected_cost``.
    value
        Function of ``Counts``, each (g + 1, ...), returning (g + 1, ...).
    greater_is_better
        Whether the greatest value is the best.
    range
        Smallest and largest possible value.
    """

    name: str
    metric: str
    value: Callable[[Counts], Floats]
    greater_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)


def criteria(quantities: Sequence[Quantity], cost_ratio: float | None) -> tuple[Criterion, ...]:
    """Return the criteria of a run: the usual ones, the metrics that were named, and the cost where it is given.

    Parameters
    ----------
    quantities
        Those that the user named; empty where none was.
    cost_ratio
        Cost of a false negative over that of a false positive.
    """
    named = [q.metric for q in quantities if has_a_best_threshold(definition(q))]
    own = [name for name, metric in METRICS.items() if metric.criterion]
    found = [_best(name) for name in dict.fromkeys((*ALWAYS, *(n for n in named if n not in own), *own))]
    found.append(Criterion("closest_topleft", "distance", _distance, False, (0.0, float(np.sqrt(2)))))
    if cost_ratio is not None:
        found.append(
            Criterion("cost", "expected_cost", _cost(cost_ratio), False, (0.0, max(1.0, cost_ratio)))
        )
    return tuple(found)


def _best(name: str) -> Criterion:
    metric = METRICS[name]
    limits = metric.binary_range or metric.range
    return Criterion(metric.criterion or "best", name, _of(name), bool(metric.greater_is_better), limits)


def _of(name: str) -> Callable[[Counts], Floats]:
    return lambda counts: by_counts(name, counts)


def _share(part: Floats, rest: Floats) -> Floats:
    whole = part + rest
    return np.asarray(part / np.where(whole > 0, whole, 1))


def _distance(c: Counts) -> Floats:
    """Distance of the point (FPR, TPR) from (0, 1), where nothing is mistaken."""
    return np.asarray(np.hypot(_share(c.fp, c.tn), _share(c.fn, c.tp)))


def _cost(ratio: float) -> Callable[[Counts], Floats]:
    """Cost by example in units of one false positive, at the prevalence of these data."""
    return lambda c: np.asarray((c.fp + ratio * c.fn) / (c.tp + c.fp + c.fn + c.tn))


def best_rung(values: Floats, *, greater_is_better: bool) -> tuple[int, int]:
    """Return the first of the best places, the highest threshold, and how many places are as good."""
    signed = values if greater_is_better else -values
    best = signed.max()
    equal = np.flatnonzero(signed >= best - 1e-12 * max(1.0, abs(float(best))))
    return int(equal[0]), len(equal)


def optimism(criterion: Criterion, cut: Coarse, replicate: Replicate) -> Floats:
    """Return by how much each replicate's best value flatters its threshold, (b,): nan where it lacks a class.

    The threshold is chosen anew on the replicate; its value there is compared with its value on the data themselves,
    which are to the replicate what fresh examples are to the data.
    """
    on_data = criterion.value(counts_at(cut.found, cut.wrong))
    values = criterion.value(counts_at(replicate.found, replicate.wrong))
    place = values.argmax(axis=0) if criterion.greater_is_better else values.argmin(axis=0)
    chosen = np.take_along_axis(values, place[None, :], axis=0)[0]
    return np.where(replicate.usable, chosen - on_data[place], np.nan)
