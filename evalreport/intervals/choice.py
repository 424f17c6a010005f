"""Which interval leads for an estimate, which are honest for it, and all of them in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.intervals import boundary
from evalreport.intervals.blocks import MOST_BLOCKS
from evalreport.intervals.boundary import NEGLIGIBLE
from evalreport.intervals.registry import INTERVALS, UNLIKE, Bounds, IntervalMethod
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Metric
from evalreport.records import Interval

DEFAULT_INTERVALS = ("normal", "bootstrap_percentile", "bootstrap_bca")
"""Shown after the recommended one, unless others are named."""

TRAINED_ONCE = (
    "about these trained models: training noise not included, since the metric has no influence values"
)
"""Said of a mean over training seeds whose interval is over the examples alone."""

LEAST_LEVEL = 1e-3
"""Below this confidence level an interval may be as narrow as rounding and still be right."""

LEAST_BEYOND = 10
"""Bootstrap replicates beyond each limit, below which their order statistics say little about the tail."""

MOST_CLASSES = 3
"""So far Wilson's limits by class, squared and added, are measured to hold. The skewness of a mean shrinks with the
number of classes, that of these limits does not: of many classes near a recall of 1 they miss on one side too often.
"""

TableFunction = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


def lacks(method: IntervalMethod, estimate: Estimate) -> str | None:
    """Say why a method is not honest for an estimate; None if it is."""
    metric = estimate.metric
    if method.kind == "fits":
        if estimate.fits is None or not estimate.of_folds:
            return "holds for folds and repeated hold-out, where training sets overlap"
        known = method.name != "corrected_t" or not math.isnan(estimate.fits.test_train_ratio)
        return None if known else "the number of training examples is not known: add a column train_size"
    if method.kind == "seeds":
        if not estimate.of_seeds:
            return "holds for a mean over training seeds (column seed)"
        known = estimate.crossed is not None
        return None if known else "no influence values of each seed, or one example only"
    if method.kind == "blocks":
        if estimate.paired is None:
            return "an interval of the mean of paired differences: by example, fold or data set"
        few = len(estimate.paired) <= MOST_BLOCKS
        return None if few else f"made for up to {MOST_BLOCKS} differences: all pairs of them are averaged"
    if method.kind == "independent_proportion":
        missing = "an interval of the difference of two proportions from independent test sets"
        return None if estimate.independent is not None else missing
    if metric.no_interval:
        return metric.no_interval
    if method.kind == "bootstrap" and not metric.resampled:
        return "not resampled: each replicate would be a fit of its own"
    if not metric.smooth and method.kind == "bootstrap" and method.name not in metric.intervals:
        return "holds for smooth functions of the examples, and this is none"
    few = estimate.rarest is not None and estimate.rarest < metric.least_of_a_class
    if few and method.kind == "bootstrap":
        return f"fewer than {metric.least_of_a_class} examples of a class: bootstrap limits are too narrow"
    if method.kind == "bootstrap" and estimate.clusters == 1:
        return "there is one unit only: nothing to draw again"
    if method.kind in UNLIKE and estimate.derivative is None:
        return "not a smooth function of the examples: no influence values"
    reason = _unlike(method, estimate)
    if reason is not None or method.kind in ("bootstrap", "smooth", *UNLIKE):
        return reason
    of_a_proportion = method.kind in ("proportion", "weighted_proportion")
    if of_a_proportion and estimate.trials is None and estimate.trials_effective is None:
        return "not a binomial proportion"
    if method.kind == "f1" and estimate.jaccard is None:
        return "holds for the F1 of one class only: its Jaccard index is a binomial proportion"
    # The share of right answers is a mean, too.
    proportion = metric.family == "table" and metric.proportion is not None
    mean = "t" in metric.intervals or proportion or estimate.over_datasets
    if method.kind in ("losses", "class_recalls", "class_f1"):
        return _not_a_mean_of(method, estimate)
    if method.kind == "mean" and not mean:
        return "not a mean over the examples"
    if method.kind == "auc" and metric.name != "roc_auc":
        return "holds for the area under the ROC curve only"
    if method.kind == "auc" and estimate.positive is None:
        return "holds for one ranking of all examples: scores of several fits have no common scale"
    if method.kind == "auc" and estimate.is_difference and method.name != "delong":
        return "not an interval of a difference"
    if method.kind == "paired_proportion" and estimate.agreement is None:
        return "an interval of the difference of two paired proportions"
    return None


def _not_a_mean_of(method: IntervalMethod, estimate: Estimate) -> str | None:
    """Say why the value is none of the means that a method was made for."""
    metric, average = estimate.metric, estimate.quantity.average
    if estimate.over_datasets or estimate.is_unpaired:
        return "holds for one set of examples"
    if method.kind == "losses":
        if estimate.is_difference and metric.root_of_mean:
            return "not an interval of a difference of roots"
        return None if method.name in metric.intervals else "not a mean of losses over the examples"
    if estimate.is_difference:
        return "not an interval of a difference"
    if estimate.table is not None and len(estimate.table) > MOST_CLASSES:
        return f"for up to {MOST_CLASSES} classes: of more the skewness adds up where it should cancel"
    if method.kind == "class_f1":
        macro = method.name in metric.intervals and average == "macro"
        return None if macro else "holds for the macro mean of F1"
    of_recalls = metric.recall_slope and (metric.family == "table" or average == "macro")
    return None if of_recalls else "holds for means of the class recalls"


def _unlike(method: IntervalMethod, estimate: Estimate) -> str | None:
    """Say where a method takes examples for alike that are not, or for unlike that are."""
    clustered = estimate.clusters is not None and not estimate.over_datasets
    if method.kind == "clusters" and not clustered:
        return "made for clusters (--cluster) and for ids that occur repeatedly"
    if method.kind == "weights" and not estimate.weighted:
        return "made for examples with weights (--weight)"
    whatever = method.kind in ("bootstrap", "smooth", "weights")
    if whatever or (method.kind == "weighted_proportion" and estimate.weighted):
        return None
    if estimate.weighted:
        return "assumes that every example counts the same; here examples have weights"
    if method.kind == "clusters" or (method.kind == "mean" and estimate.over_datasets):
        return None
    independent = estimate.clusters is None
    return None if independent else "assumes independent examples; here whole clusters are drawn"


def recommended(estimate: Estimate) -> str:
    """Return the name of the interval that leads (docs/intervals.md; for differences: the metric's own)."""
    metric = estimate.metric
    over_fits = next((n for n in ("corrected_t", "seeds_t") if lacks(INTERVALS[n], estimate) is None), None)
    if over_fits is not None:
        return over_fits
    if (
        estimate.is_difference
        and estimate.over_datasets
        and lacks(INTERVALS["hodges_lehmann"], estimate) is None
    ):
        return "hodges_lehmann"
    if estimate.independent is not None:
        return "newcombe_independent"
    if estimate.weighted and estimate.trials_effective is not None:
        return "wilson"
    unlike = next((m for m in INTERVALS.values() if m.kind in UNLIKE and lacks(m, estimate) is None), None)
    if unlike is not None:
        return unlike.name
    if estimate.over_datasets and lacks(INTERVALS["t"], estimate) is None:
        return "t"
    if estimate.is_unpaired or estimate.clusters is not None or estimate.weighted:
        return _whatever_the_units(metric)
    if estimate.is_difference:
        if estimate.agreement is not None:
            return "newcombe_paired"
        own = {"newcombe_paired": "t", "bootstrap_bca": _whatever_the_units(metric)}
        return own.get(metric.difference_interval, metric.difference_interval)
    if metric.name == "roc_auc" and estimate.positive is not None:
        smaller = min(int(estimate.positive.sum()), int((~estimate.positive).sum()))
        return "logit" if smaller >= 30 and 0.05 <= estimate.value <= 0.95 else "newcombe_auc"
    if estimate.trials is not None:
        return "wilson"
    honest = (n for n in metric.intervals if n != "wilson" and lacks(INTERVALS[n], estimate) is None)
    return next(honest, _whatever_the_units(metric))


def _whatever_the_units(metric: Metric) -> str:
    """Return the interval that needs nothing but the metric's own smoothness; where it has none, the refused one."""
    general = (n for n in ("bootstrap_bca", "bootstrap_percentile", "normal") if n in metric.intervals)
    return next(general, "bootstrap_percentile")


def limits(estimate: Estimate, name: str, level: float) -> Interval:
    """Compute one interval, cut to the range; None with the reason where it is not honest or undefined."""
    method = INTERVALS[name]
    if not estimate.defined:
        return Interval(name, level, None, None, estimate.reason)
    reason = lacks(method, estimate)
    if reason is not None:
        return Interval(name, level, None, None, reason)
    # Squares of numbers near the largest double become infinite, and such limits are said to be.
    with np.errstate(over="ignore", invalid="ignore"):
        interval = _cut(name, level, method.function(estimate, level), estimate.range)
    if estimate.sides is None or level < LEAST_LEVEL or _has_width(interval) or interval.low is None:
        return interval
    return _cut(name, level, _square_and_add(estimate, estimate.sides, level), estimate.range)


def resolved(estimate: Estimate, name: str, level: float) -> Interval:
    """Compute one interval; bootstrap limits with fewer than ten draws beyond them are bootstrap normal ones."""
    if INTERVALS[name].kind == "bootstrap" and estimate.replicates is not None:
        beyond = (1 - level) / 2 * len(estimate.replicates_used)
        instead = limits(estimate, "bootstrap_normal", level)
        # A tenth of a draw is rounding: 0.025 of 400 are ten.
        if beyond < LEAST_BEYOND - 0.1 and instead.low is not None:
            return instead
    return limits(estimate, name, level)


def _has_width(interval: Interval) -> bool:
    if interval.low is None or interval.high is None:
        return False
    return interval.high - interval.low > NEGLIGIBLE * max(abs(interval.low), abs(interval.high))


def _square_and_add(estimate: Estimate, sides: tuple[Estimate, Estimate], level: float) -> Bounds:
    """Make the interval of a difference that does not vary from the two models' own, which have a width.

    The distances of the limits from the values are squared and added (Newcombe 1998, Stat Med 17:873; Zou and
    Donner 2008, Stat Med 27:1693) as if the models were independent: too wide rather than too narrow. Without
    it two models that are both perfect on ten examples would be equivalent within any margin.
    """
    first, second = (leading(side, level, estimate.value_of) for side in sides)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Bounds(
            None, None, "no example changes the difference, and nothing else says how far it may be"
        )
    a, b = (side.value for side in sides)
    return Bounds(
        estimate.value - math.hypot(a - first.low, second.high - b),
        estimate.value + math.hypot(first.high - a, b - second.low),
        "no example changes the difference: the two models' own intervals, squared and added",
    )


def _cut(name: str, level: float, bounds: Bounds, value_range: tuple[float, float]) -> Interval:
    if (
        bounds.low is None
        or bounds.high is None
        or not (math.isfinite(bounds.low) and math.isfinite(bounds.high))
    ):
        return Interval(name, level, None, None, bounds.reason or "the limits are infinite")
    low, high = (
        float(min(max(limit, value_range[0]), value_range[1])) for limit in (bounds.low, bounds.high)
    )
    reason = bounds.reason
    if reason is None and high - low <= NEGLIGIBLE * max(abs(low), abs(high)):
        reason = "the limits meet: nothing varies here, or both lie at the edge of the range"
    return Interval(name, level, low, high, reason)


def leading(estimate: Estimate, level: float, value_of: TableFunction | None = None) -> Interval:
    """Compute the recommended interval; in a bounded range it never has zero width.

    Parameters
    ----------
    value_of
        Label metrics: the quantity as a function of tables (m, K, K).
    """
    interval = limits(estimate, recommended(estimate), level)
    if (
        estimate.of_seeds
        and estimate.crossed is None
        and interval.low is not None
        and not estimate.is_difference
    ):
        interval = replace(interval, reason=interval.reason or TRAINED_ONCE)
    refused = bool(estimate.metric.no_interval) and interval.low is None
    if not estimate.defined or estimate.is_difference or refused:
        return interval
    # Replicates in which a rare class is missing count it 0: no quantile of theirs may lead at the edge. There the
    # weakest class speaks for itself.
    at_the_edge = (
        INTERVALS[interval.method].kind in ("bootstrap", "class_recalls", "class_f1")
        and estimate.table is not None
        and min(abs(estimate.value - end) for end in estimate.range) <= NEGLIGIBLE
    )
    if not at_the_edge and _wide(Bounds(interval.low, interval.high)):
        return interval
    if interval.low is None and estimate.standard_error:
        instead = limits(estimate, "normal", level)
        return replace(
            instead, reason=f"normal approximation, since {interval.method} cannot be had: {interval.reason}"
        )
    if estimate.clusters is not None and not estimate.over_datasets:
        bounds = boundary.of_alike_clusters(estimate, level)
        method = interval.method if bounds.low is None else "clopper_pearson"
        return _cut(method, level, bounds, estimate.range)
    found = _without_spread(estimate, level, value_of)
    if found is None:
        return interval
    if interval.low is None and interval.reason:
        found = replace(found, reason=f"{interval.reason}; {found.reason}")
    return _cut("wilson" if found.low is not None else interval.method, level, found, estimate.range)


def leads_as_proportion(estimate: Estimate, first: Interval) -> bool:
    """Say whether the leading interval is that of a proportion of independent examples that count the same."""
    method = INTERVALS[first.method]
    alike = method.kind in ("proportion", "weighted_proportion") and not estimate.weighted
    return alike and bool(estimate.trials) and lacks(method, estimate) is None


def _without_spread(estimate: Estimate, level: float, value_of: TableFunction | None) -> Bounds | None:
    found: list[Bounds] = []
    if estimate.metric.name == "average_precision" and estimate.positive is not None:
        found.append(boundary.of_average_precision(estimate, level))
    elif estimate.table is not None and value_of is not None:
        found.append(boundary.from_class_recalls(estimate, value_of, level))
    bounded = all(math.isfinite(limit) for limit in estimate.range)
    # Examples of one data set vary together: the number of data sets bounds what is known, too.
    if bounded and (estimate.clusters is not None or not any(_wide(bounds) for bounds in found)):
        found.append(boundary.of_a_bounded_mean(estimate, level))
    if found:
        return max(found, key=_width)
    if estimate.standard_error == 0:
        reason = "every example has the same loss and the range is not bounded: nothing says how far the value may be"
        return Bounds(None, None, reason)
    return None


def _width(bounds: Bounds) -> float:
    return 0.0 if bounds.low is None or bounds.high is None else bounds.high - bounds.low


def _wide(bounds: Bounds) -> bool:
    return _width(bounds) > NEGLIGIBLE


def all_intervals(
    estimate: Estimate, named: Sequence[str], level: float, value_of: TableFunction | None = None
) -> tuple[Interval, ...]:
    """Return the recommended interval, then those named (or the default ones), each once.

    Parameters
    ----------
    named
        Names from ``INTERVALS``; empty for the default; ``("all",)`` for all that apply to one model's value.
    """
    if tuple(named) == ("all",):
        names = [m.name for m in INTERVALS.values() if "paired" not in m.kind and "independent" not in m.kind]
    else:
        names = list(named) or list(DEFAULT_INTERVALS)
    first = leading(estimate, level, value_of)
    rest = [limits(estimate, name, level) for name in dict.fromkeys(names) if name != first.method]
    return (first, *rest)


def table_function(function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> TableFunction:
    """Turn a function of margins into one of tables."""
    from evalreport.engine.tables import margins_of

    return lambda tables: np.asarray(function(margins_of(tables)))
