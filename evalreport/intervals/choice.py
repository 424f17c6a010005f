"""The leading interval of an estimate, and all intervals in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalreport.intervals.leaders import recommended
from evalreport.intervals.proportions import (
    ValueLimits,
    clopper_pearson_limits,
    difference_limits,
    wilson_limits,
)
from evalreport.intervals.registry import INTERVALS, Bounds, Value, missing, why_missing
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import (
    EffectiveProportion,
    Groups,
    Mean,
    PredictionPowered,
    Proportion,
    Ranking,
    Rows,
    SquaredErrors,
    SumsByUnit,
)
from evalreport.metrics.metric import Ranks
from evalreport.schema.metrics import Interval
from evalreport.texts import Message, parts

NEGLIGIBLE = 1e-12
"""A width or a distance at or below this is rounding."""


def of_a_bounded_mean(estimate: Estimate, level: float) -> Bounds:
    """Return Wilson's interval of a mean of values in a bounded range, as if each were all or nothing.

    A mean of values in [0, 1] varies at most as a proportion does, so this is never too narrow for that reason.
    What is ranked among classes, or counted by them, rests on the examples of the rarest one, what people say on those
    that have gold, a share of the first ten on these.
    """
    low, high = estimate.range
    share = (estimate.value - low) / (high - low)
    n = estimate.sampling.effective_n
    units = float(n if estimate.rarest is None else min(n, estimate.rarest))
    if estimate.table is not None and not estimate.over_datasets:
        sizes = estimate.table.counts.sum(axis=1)
        units *= float(sizes[sizes > 0].min() / sizes.sum())
    if isinstance(estimate.evidence, PredictionPowered):
        units = min(units, estimate.evidence.gold)
    if isinstance(estimate.evidence, Rows) and estimate.evidence.trials is not None:
        weighed, of = estimate.sampling.n_effective, estimate.sampling.n_examples
        units = min(units, estimate.evidence.trials * (1.0 if weighed is None else weighed / of))
    limits = wilson_limits(share * units, units, level)
    reason = Message("limits.as_proportion")
    return Bounds(low + (high - low) * limits[0], low + (high - low) * limits[1], reason)


def of_mean_over_positives(estimate: Estimate, ranking: Ranking, level: float) -> Bounds:
    """Return Wilson's interval with n = number of positives, for a mean over them that does not vary."""
    weighed, n = estimate.sampling.n_effective, estimate.sampling.n_examples
    positives = float(ranking.class_sizes[0]) * (1.0 if weighed is None else weighed / n)
    limits = wilson_limits(estimate.value * positives, positives, level)
    return Bounds(*limits, Message("limits.positives"))


def of_same_units(estimate: Estimate, level: float) -> Bounds:
    """Return Clopper and Pearson's interval of a value at an end of its range in every unit, where units are not alike.

    The trials are as many as the sampling says: of clusters G*, the effective number of clusters if their examples are
    wholly alike, as they are here; in order of time the degrees of freedom that a standard error would have, and one.
    Nothing says how far another value may be that does not vary between units: no limits, with the reason.
    """
    sampling, (low, high), trials = estimate.sampling, estimate.range, _trials_of_same(estimate)
    if sampling.n_units < sampling.least_units:
        return Bounds(None, None, sampling.alone)
    if not trials or not (math.isfinite(low) and math.isfinite(high)):
        return Bounds(None, None, sampling.same)
    share = (estimate.value - low) / (high - low)
    if min(share, 1 - share) > NEGLIGIBLE:
        return Bounds(None, None, sampling.same)
    least, most = clopper_pearson_limits(trials if share > NEGLIGIBLE else 0.0, trials, level)
    return Bounds(low + (high - low) * least, low + (high - low) * most, sampling.same_share)


def _trials_of_same(estimate: Estimate) -> float | None:
    evidence = estimate.evidence
    return evidence.trials if isinstance(evidence, EffectiveProportion) else estimate.sampling.trials_if_same


DEFAULT_INTERVALS = ("normal", "bootstrap_percentile", "bootstrap_bca")
"""Shown after the recommended one, unless others are named."""

OF_ONE_PART = ("normal",)
"""The same for the values of a single class or slice."""

TRAINED_ONCE = Message("limits.trained_once")
"""The caution for a mean over training seeds whose interval is over the examples alone."""

LEAST_LEVEL = 1e-3
"""Below this confidence level an interval may be as narrow as rounding and still be right."""

LEAST_BEYOND = 10
"""Bootstrap replicates beyond each limit, below which their order statistics say little about the tail."""


def limits(estimate: Value, name: str, level: float, *, coarse: bool = False) -> Interval:
    """Compute one interval, cut to the range; None with the reason where it is not honest or undefined.

    ``coarse``: it replaces quantiles of too few replicates, and the metric may have no influence values.
    """
    method = INTERVALS[name]
    if not estimate.defined:
        return Interval(method=name, level=level, reason=estimate.reason, low=None, high=None)
    need = missing(method, estimate, but="smooth" if coarse else "")
    if need is not None:
        return Interval(method=name, level=level, reason=why_missing(need, estimate), low=None, high=None)
    # Squares of numbers near the largest double become infinite, and the reason for having no limits is that.
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = _on_own_scale(estimate, method.function(estimate.of_base, level))
        interval = _cut(name, level, bounds, estimate.range)
    if isinstance(estimate, Estimate) or level < LEAST_LEVEL or _has_width(interval) or interval.low is None:
        return interval
    combined = squared_and_added(estimate, level)
    if combined.reason is None:
        combined = replace(combined, reason=Message("limits.squared_and_added"))
    return _cut(name, level, combined, estimate.range)


def _on_own_scale(estimate: Value, bounds: Bounds) -> Bounds:
    """Map limits of the base metric to the estimate's own scale (``Metric.affine_of``)."""
    scale = estimate.metric.scale.affine_of
    if scale is None or bounds.low is None or bounds.high is None:
        return bounds
    if isinstance(estimate, Difference):
        scale = replace(scale, offset=0.0)
    low, high = scale.limits(bounds.low, bounds.high)
    return replace(bounds, low=low, high=high)


def resolved(estimate: Value, name: str, level: float) -> Interval:
    """Compute one interval; bootstrap limits with fewer than ten draws beyond them are bootstrap normal ones."""
    if INTERVALS[name].by_resampling and estimate.replicates is not None:
        beyond = (1 - level) / 2 * len(estimate.replicates_used)
        # A tenth of a draw is rounding: 0.025 of 400 are ten.
        if beyond < LEAST_BEYOND - 0.1:
            instead = limits(estimate, "bootstrap_normal", level, coarse=True)
            if instead.low is not None:
                return instead
    return limits(estimate, name, level)


def _has_width(interval: Interval) -> bool:
    if interval.low is None or interval.high is None:
        return False
    return interval.high - interval.low > NEGLIGIBLE * max(abs(interval.low), abs(interval.high))


def squared_and_added(difference: Difference, level: float) -> Bounds:
    """Make the interval of a difference from the two models' own, as if these were independent.

    The distances of the limits from the values are squared and added (Newcombe 1998, Stat Med 17:873; Zou and
    Donner 2008, Stat Med 27:1693). It serves models on test sets of their own, and a paired difference that does not
    vary: it is then too wide rather than too narrow. Without it two models that are both perfect on ten examples would
    be equivalent within any margin.
    """
    sides = values_with_limits(difference.a, difference.b, level)
    if isinstance(sides, Bounds):
        return sides
    if difference.sampling.two_sets:
        sides = (with_few_rows(difference.a, sides[0]), with_few_rows(difference.b, sides[1]))
    return Bounds(*difference_limits(*sides))


FEW_ROWS = 6
"""Over n: by how much the limits of a mean of n rows, or of a root of one, are wider beside another test set."""


def with_few_rows(estimate: Estimate, limits: ValueLimits) -> ValueLimits:
    """Return the limits of one of two test sets, 1 + 6 / n times as far from the value where it is a mean that varies.

    Limits of a skewed mean of 8 or 12 rows miss on one side, so that of two equal models 9 to 11 % were decided (a mean
    of five levels, RMSE; docs/two-sets.csv). Shares, areas and metrics of the confusion table stay as they are.
    """
    if not isinstance(estimate.evidence, Mean | SquaredErrors):
        return limits
    return further_away(limits, estimate.sampling.n_units)


def further_away(limits: ValueLimits, n: int) -> ValueLimits:
    """Return the limits of a mean of n rows 1 + 6 / n times as far from the value.

    Examples
    --------
    Of 12 rows half as far again:

    >>> [round(x, 6) for x in further_away((0.5, 0.4, 0.7), 12)]
    [0.5, 0.35, 0.8]
    """
    value, low, high = limits
    wider = 1 + FEW_ROWS / n
    return value, value - wider * (value - low), value + wider * (high - value)


def values_with_limits(a: Estimate, b: Estimate, level: float) -> tuple[ValueLimits, ValueLimits] | Bounds:
    """Return both values with the limits that lead, which hold them; no bounds, with the reason, where one has none."""
    sides = []
    for side in (a, b):
        own = leading(side, level)
        if own.low is None or own.high is None:
            return Bounds(None, None, own.reason or Message("limits.no_change"))
        sides.append((side.value, min(own.low, side.value), max(own.high, side.value)))
    return sides[0], sides[1]


def _cut(name: str, level: float, bounds: Bounds, value_range: tuple[float, float]) -> Interval:
    """Cut limits to the range; one that is not finite takes both away, one that is None says why in its reason."""
    low, high = (
        None if limit is None else float(min(max(limit, value_range[0]), value_range[1]))
        for limit in (bounds.low, bounds.high)
    )
    if not all(limit is None or math.isfinite(limit) for limit in (bounds.low, bounds.high)):
        low = high = None
    reason = bounds.reason
    if low is None or high is None:
        reason = reason or Message("limits.infinite")
    elif reason is None and high - low <= NEGLIGIBLE * max(abs(low), abs(high)):
        reason = Message("limits.meet")
    return Interval(method=name, level=level, low=low, high=high, reason=reason)


def leading(estimate: Estimate, level: float) -> Interval:
    """Compute the recommended interval; in a bounded range it never has zero width."""
    interval = resolved(estimate, recommended(estimate), level)
    if estimate.of_seeds and estimate.crossed is None and interval.low is not None:
        interval = replace(interval, reason=interval.reason or TRAINED_ONCE)
    refused = bool(estimate.metric.inference.no_interval) and interval.low is None
    method = INTERVALS[interval.method]
    unmade = method.by_resampling and estimate.replicates is None and estimate.influence is None
    if not estimate.defined or refused or unmade:
        return interval
    if "of_this_metric" in method.needs or SumsByUnit in method.of:
        return _of_no_width(interval)
    # Replicates in which a rare class is missing count it 0: no quantile of theirs may lead at the edge. There the
    # weakest class speaks for itself.
    at_the_edge = (
        method.by_resampling
        and estimate.table is not None
        and min(abs(estimate.value - end) for end in estimate.range) <= NEGLIGIBLE
    )
    if not at_the_edge and _has_width(interval):
        return interval
    if interval.low is None and estimate.standard_error and not isinstance(estimate.evidence, SquaredErrors):
        instead = limits(estimate, "normal", level)
        return replace(
            instead, reason=Message("limits.normal_instead", method=interval.method, reason=interval.reason)
        )
    if not estimate.sampling.limits_if_same:
        nothing_known = _trials_of_same(estimate) is None and estimate.influence is None
        if estimate.sampling.same_share is None or nothing_known:
            return _of_no_width(interval)
        bounds = _on_own_scale(estimate, of_same_units(estimate.of_base, level))
        name = interval.method if bounds.low is None else "clopper_pearson"
        return _cut(name, level, bounds, estimate.range)
    found = _without_spread(estimate, level)
    if found is None:
        return _of_no_width(interval)
    if interval.low is None and interval.reason:
        found = replace(
            found, reason=parts(interval.reason, found.reason) if found.reason else interval.reason
        )
    instead = _cut("wilson" if found.low is not None else interval.method, level, found, estimate.range)
    return instead if instead.low is None else _of_no_width(instead, Message("limits.meet"))


def _of_no_width(interval: Interval, reason: Message | None = None) -> Interval:
    """Give an interval that leads without a width no limits, but a reason: a value is not known exactly."""
    one_sided = interval.low is None or interval.high is None
    if one_sided or _has_width(interval) or interval.level < LEAST_LEVEL:
        return interval
    return replace(interval, low=None, high=None, reason=reason or interval.reason)


def leads_as_proportion(estimate: Estimate, first: Interval) -> bool:
    """Say whether the leading interval is that of a proportion of independent examples that count the same."""
    method = INTERVALS[first.method]
    evidence = estimate.evidence
    if (
        not isinstance(evidence, Proportion)
        or not evidence.trials
        or estimate.metric.scale.affine_of is not None
    ):
        return False
    return Proportion in method.of and missing(method, estimate) is None


def _without_spread(estimate: Estimate, level: float) -> Bounds | None:
    evidence, computation = estimate.evidence, estimate.metric.computation
    over_positives = isinstance(computation, Ranks) and computation.mean_over_positives
    if isinstance(evidence, Ranking) and over_positives:
        return _on_own_scale(estimate, of_mean_over_positives(estimate.of_base, evidence, level))
    if isinstance(evidence, Groups):
        # A few other examples may change it by any amount.
        return Bounds(None, None, Message("limits.groups_alike"))
    if all(map(math.isfinite, estimate.range)):
        return of_a_bounded_mean(estimate, level)
    return Bounds(None, None, Message("limits.same_loss")) if estimate.standard_error == 0 else None


def needs_replicates(estimate: Estimate, named: Sequence[str], *, in_slice: bool = False) -> bool:
    """Say whether an interval of ``all_intervals`` is made of bootstrap replicates."""
    if tuple(named) == ("all",) or any(INTERVALS[name].by_resampling for name in named):
        return True
    of_one_part = in_slice or estimate.quantity.label is not None
    return (not of_one_part and not named) or INTERVALS[recommended(estimate)].by_resampling


def all_intervals(
    estimate: Estimate, named: Sequence[str], level: float, *, in_slice: bool = False
) -> tuple[Interval, ...]:
    """Return the recommended interval, then those named (or the default ones), each once.

    Parameters
    ----------
    named
        Names from ``INTERVALS``; empty for the default; ``("all",)`` for all that apply to one model's value.
    in_slice
        Whether the value is of a slice.
    """
    if tuple(named) == ("all",):
        names = [m.name for m in INTERVALS.values() if m.of_one_value]
    else:
        of_one_part = in_slice or estimate.quantity.label is not None
        names = list(named) or list(OF_ONE_PART if of_one_part else DEFAULT_INTERVALS)
    first = leading(estimate, level)
    rest = [limits(estimate, name, level) for name in dict.fromkeys(names) if name != first.method]
    return (first, *rest)
