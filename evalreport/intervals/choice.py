"""Which interval leads for an estimate, which are honest for it, and all of them in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evalreport.engine.distributions import Array
from evalreport.intervals.normal import MOST_BLOCKS
from evalreport.intervals.proportions import (
    ALIKE,
    INTERVALS,
    ONE_CLUSTER,
    UNLIKE,
    Bounds,
    IntervalMethod,
    Kind,
    clopper_pearson_limits,
    difference_limits,
    wilson_limits,
)
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import Contingency, Margins, Metric, Ranks
from evalreport.predictions.arrays import Floats
from evalreport.schema.metrics import Interval
from evalreport.texts import Message, Text, parts

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
    What is ranked among classes rests on the examples of the rarest one, what people say on those that they judged.
    """
    low, high = estimate.range
    share = (estimate.value - low) / (high - low)
    n = estimate.n_units if estimate.n_effective is None else estimate.n_effective
    units = float(n if estimate.rarest is None else min(n, estimate.rarest))
    if estimate.judged is not None:
        units = min(units, estimate.judged.gold)
    limits = wilson_limits(share * units, units, level)
    reason = Message("limits.as_proportion")
    return Bounds(low + (high - low) * limits[0], low + (high - low) * limits[1], reason)


def of_average_precision(estimate: Estimate, level: float) -> Bounds:
    """Return Wilson's interval with n = number of positives, for an average precision that does not vary."""
    weighed = estimate.n_effective
    positives = float(estimate.class_sizes[0]) * (1.0 if weighed is None else weighed / estimate.n)
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


DEFAULT_INTERVALS = ("normal", "bootstrap_percentile", "bootstrap_bca")
"""Shown after the recommended one, unless others are named."""

TRAINED_ONCE = Message("limits.trained_once")
"""Said of a mean over training seeds whose interval is over the examples alone."""

LEAST_LEVEL = 1e-3
"""Below this confidence level an interval may be as narrow as rounding and still be right."""

LEAST_BEYOND = 10
"""Bootstrap replicates beyond each limit, below which their order statistics say little about the tail."""

MOST_CLASSES = 3
"""So far Wilson's limits by class, squared and added, are measured to hold. The skewness of a mean shrinks with the
number of classes, that of these limits does not: of many classes near a recall of 1 they miss on one side too often.
"""

TableFunction = Callable[[Array], Array]

NEEDS: Mapping[str, Callable[[IntervalMethod, Estimate], bool]] = {
    "folds": lambda _, e: e.of_folds,
    "train_size": lambda _, e: e.fits is not None and not math.isnan(e.fits.test_train_ratio),
    "seeds": lambda _, e: e.of_seeds,
    "seed_influence": lambda _, e: e.crossed is not None,
    "paired": lambda _, e: e.paired is not None,
    "few_blocks": lambda _, e: e.paired is not None and e.n_blocks <= MOST_BLOCKS,
    "independent_proportions": lambda _, e: e.independent is not None,
    "some_interval": lambda _, e: not e.metric.inference.no_interval,
    "resampled": lambda _, e: e.metric.inference.resampled,
    "smooth": lambda m, e: e.metric.inference.smooth or m.name in e.metric.inference.intervals,
    "enough_of_a_class": lambda _, e: e.rarest is None or e.rarest >= e.metric.inference.least_of_a_class,
    "several_units": lambda _, e: e.clusters != 1,
    "influence": lambda _, e: e.derivative is not None,
    "gold": lambda _, e: e.judged is not None,
    "no_gold": lambda _, e: e.judged is None,
    "clusters": lambda _, e: e.clusters is not None and not e.over_datasets,
    "weights": lambda _, e: e.weighted,
    "tasks": lambda _, e: e.tasks is not None,
    "one_task": lambda _, e: e.tasks is None,
    "equal_weights": lambda _, e: not e.weighted,
    "independent": lambda _, e: e.clusters is None,
    "independent_or_weighted": lambda _, e: e.clusters is None or e.weighted,
    "independent_or_datasets": lambda _, e: e.clusters is None or e.over_datasets,
    "proportion": lambda _, e: e.trials is not None or e.trials_effective is not None,
    "jaccard": lambda _, e: e.jaccard is not None,
    "mean": lambda _, e: e.metric.is_mean or e.over_datasets,
    "one_set": lambda _, e: not (e.over_datasets or e.is_unpaired),
    "no_difference_of_roots": lambda _, e: not (e.is_difference and e.metric.root_of),
    "losses": lambda m, e: m.name in e.metric.inference.intervals,
    "one_model": lambda _, e: not e.is_difference,
    "few_classes": lambda _, e: e.table is None or len(e.table) <= MOST_CLASSES,
    "class_recalls": lambda _, e: (
        bool(e.metric.recall_slope)
        and (isinstance(e.metric.computation, Margins) or e.quantity.average == "macro")
    ),
    "macro_f1": lambda m, e: m.name in e.metric.inference.intervals and e.quantity.average == "macro",
    "auc": lambda _, e: e.metric.is_auc,
    "one_ranking": lambda _, e: e.positive is not None,
    "agreement": lambda _, e: e.agreement is not None,
}
"""What kinds of intervals need of an estimate. What is said where it is missing is the text of the same name."""

_ALIKE = ("some_interval", "one_task", "equal_weights", "independent")
_OF_CLASSES = (*_ALIKE, "one_set", "one_model", "few_classes")

NEEDS_OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "fits": ("folds",),
    "trained_fits": ("folds", "train_size"),
    "seeds": ("seeds", "seed_influence"),
    "blocks": ("paired", "few_blocks"),
    "independent_proportion": ("independent_proportions",),
    "bootstrap": ("some_interval", "no_gold", "resampled", "smooth", "enough_of_a_class", "several_units"),
    "smooth": ("some_interval",),
    "judged": ("gold",),
    "clusters": ("some_interval", "one_task", "influence", "no_gold", "clusters", "equal_weights"),
    "suite": ("some_interval", "tasks", "influence", "no_gold"),
    "weights": ("some_interval", "influence", "weights"),
    "proportion": (*_ALIKE, "proportion"),
    "weighted_proportion": ("some_interval", "one_task", "independent_or_weighted", "proportion"),
    "binary_f1": (*_ALIKE, "jaccard"),
    "mean": ("some_interval", "one_task", "equal_weights", "independent_or_datasets", "mean"),
    "losses": (*_ALIKE, "one_set", "no_difference_of_roots", "losses"),
    "class_recalls": (*_OF_CLASSES, "class_recalls"),
    "class_f1": (*_OF_CLASSES, "macro_f1"),
    "auc": (*_ALIKE, "auc", "one_ranking", "one_model"),
    "auc_or_difference": (*_ALIKE, "auc", "one_ranking"),
    "paired_proportion": (*_ALIKE, "agreement"),
}
"""What each kind of interval needs; of several that are missing the first is said."""


def lacks(method: IntervalMethod, estimate: Estimate) -> Text | None:
    """Say why a method is not honest for an estimate; None if it is."""
    missing = _missing(method, estimate)
    return None if missing is None else _said(missing, estimate)


def _missing(method: IntervalMethod, estimate: Estimate, *, but: str = "") -> str | None:
    """Return the first that a method needs of an estimate and does not find; None if it is honest."""
    needed = (name for name in NEEDS_OF_KIND[method.kind] if name != but)
    return next((name for name in needed if not NEEDS[name](method, estimate)), None)


def _said(need: str, estimate: Estimate) -> Text:
    if need == "some_interval":
        return estimate.metric.inference.no_interval
    if need == "enough_of_a_class":
        return Message("interval_needs.enough_of_a_class", least=estimate.metric.inference.least_of_a_class)
    most = {"few_blocks": MOST_BLOCKS, "few_classes": MOST_CLASSES}
    return Message(f"interval_needs.{need}", **({"most": most[need]} if need in most else {}))


def recommended(estimate: Estimate) -> str:
    """Return the name of the interval that leads (docs/intervals.md; for differences: the metric's own)."""
    metric = estimate.metric
    over_fits = next(
        (n for n in ("corrected_t", "seeds_t") if _missing(INTERVALS[n], estimate) is None), None
    )
    if over_fits is not None:
        return over_fits
    if (
        estimate.is_difference
        and estimate.over_datasets
        and _missing(INTERVALS["hodges_lehmann"], estimate) is None
    ):
        return "hodges_lehmann"
    if estimate.independent is not None:
        return "newcombe_independent"
    if estimate.weighted and estimate.trials_effective is not None:
        return "wilson"
    unlike = next((m for m in INTERVALS.values() if m.kind in UNLIKE and _missing(m, estimate) is None), None)
    if unlike is not None:
        return unlike.name
    if estimate.over_datasets and _missing(INTERVALS["t"], estimate) is None:
        return "t"
    unlike_units = estimate.clusters is not None or estimate.tasks is not None or estimate.weighted
    if estimate.is_unpaired or unlike_units:
        return _whatever_the_units(metric)
    if estimate.is_difference:
        if estimate.agreement is not None:
            return "newcombe_paired"
        own = INTERVALS[metric.inference.difference_interval]
        if own.kind == "bootstrap":
            return _whatever_the_units(metric)
        return own.name if own.of_one_value else "t"  # without the agreement table the difference is a mean
    if metric.is_auc and estimate.positive is not None:
        return (
            "logit"
            if min(estimate.class_sizes) >= 30 and 0.05 <= estimate.of_base.value <= 0.95
            else "newcombe_auc"
        )
    if estimate.trials is not None:
        return "wilson"
    honest = (m for n in metric.inference.intervals if _missing(m := INTERVALS[n], estimate) is None)
    others = (m.name for m in honest if m.kind != "weighted_proportion")
    return next(others, _whatever_the_units(metric))


def _whatever_the_units(metric: Metric) -> str:
    """Return the interval that needs nothing but the metric's own smoothness; where it has none, the refused one."""
    general = (
        n for n in ("bootstrap_bca", "bootstrap_percentile", "normal") if n in metric.inference.intervals
    )
    return next(
        general, metric.inference.intervals[0] if metric.inference.intervals else "bootstrap_percentile"
    )


def limits(estimate: Estimate, name: str, level: float, *, coarse: bool = False) -> Interval:
    """Compute one interval, cut to the range; None with the reason where it is not honest or undefined.

    ``coarse``: it stands in for quantiles of too few replicates, and may be about a metric without influence values.
    """
    method = INTERVALS[name]
    if not estimate.defined:
        return Interval(method=name, level=level, reason=estimate.reason, low=None, high=None)
    missing = _missing(method, estimate, but="smooth" if coarse else "")
    if missing is not None:
        return Interval(method=name, level=level, reason=_said(missing, estimate), low=None, high=None)
    # Squares of numbers near the largest double become infinite, and such limits are said to be.
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = _on_own_scale(estimate, method.function(estimate.of_base, level))
        interval = _cut(name, level, bounds, estimate.range)
    if estimate.sides is None or level < LEAST_LEVEL or _has_width(interval) or interval.low is None:
        return interval
    return _cut(name, level, _square_and_add(estimate, estimate.sides, level), estimate.range)


def _on_own_scale(estimate: Estimate, bounds: Bounds) -> Bounds:
    """Map limits of the metric that an estimate's is another scale of (``Metric.affine_of``)."""
    scale = estimate.metric.scale.affine_of
    if scale is None or bounds.low is None or bounds.high is None:
        return bounds
    if estimate.is_difference:
        scale = replace(scale, offset=0.0)
    low, high = scale.limits(bounds.low, bounds.high)
    return replace(bounds, low=low, high=high)


def resolved(estimate: Estimate, name: str, level: float) -> Interval:
    """Compute one interval; bootstrap limits with fewer than ten draws beyond them are bootstrap normal ones."""
    if INTERVALS[name].kind == "bootstrap" and estimate.replicates is not None:
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


def _square_and_add(estimate: Estimate, sides: tuple[Estimate, Estimate], level: float) -> Bounds:
    """Make the interval of a difference that does not vary from the two models' own, which have a width.

    The distances of the limits from the values are squared and added (Newcombe 1998, Stat Med 17:873; Zou and
    Donner 2008, Stat Med 27:1693) as if the models were independent: too wide rather than too narrow. Without
    it two models that are both perfect on ten examples would be equivalent within any margin.
    """
    first, second = (leading(side, level, estimate.value_of) for side in sides)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Bounds(None, None, Message("limits.no_change"))
    own = (sides[0].value, first.low, first.high), (sides[1].value, second.low, second.high)
    return Bounds(*difference_limits(*own), Message("limits.squared_and_added"))


def _cut(name: str, level: float, bounds: Bounds, value_range: tuple[float, float]) -> Interval:
    if (
        bounds.low is None
        or bounds.high is None
        or not (math.isfinite(bounds.low) and math.isfinite(bounds.high))
    ):
        return Interval(
            method=name, level=level, reason=bounds.reason or Message("limits.infinite"), low=None, high=None
        )
    low, high = (
        float(min(max(limit, value_range[0]), value_range[1])) for limit in (bounds.low, bounds.high)
    )
    reason = bounds.reason
    if reason is None and high - low <= NEGLIGIBLE * max(abs(low), abs(high)):
        reason = Message("limits.meet")
    return Interval(method=name, level=level, low=low, high=high, reason=reason)


def leading(estimate: Estimate, level: float, value_of: TableFunction | None = None) -> Interval:
    """Compute the recommended interval; in a bounded range it never has zero width.

    Parameters
    ----------
    value_of
        Label metrics: the quantity as a function of tables (m, K, K).
    """
    interval = resolved(estimate, recommended(estimate), level)
    if (
        estimate.of_seeds
        and estimate.crossed is None
        and interval.low is not None
        and not estimate.is_difference
    ):
        interval = replace(interval, reason=interval.reason or TRAINED_ONCE)
    refused = bool(estimate.metric.inference.no_interval) and interval.low is None
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
            instead, reason=Message("limits.normal_instead", method=interval.method, reason=interval.reason)
        )
    if estimate.tasks is not None:
        return _of_no_width(interval)
    if estimate.clusters is not None and not estimate.over_datasets:
        bounds = _on_own_scale(estimate, of_alike_clusters(estimate.of_base, level))
        method = interval.method if bounds.low is None else "clopper_pearson"
        return _cut(method, level, bounds, estimate.range)
    found = _without_spread(estimate, level, value_of)
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
    if interval.low is None or _has_width(interval) or interval.level < LEAST_LEVEL:
        return interval
    return replace(interval, low=None, high=None, reason=reason or interval.reason)


def leads_as_proportion(estimate: Estimate, first: Interval) -> bool:
    """Say whether the leading interval is that of a proportion of independent examples that count the same."""
    method = INTERVALS[first.method]
    alike = method.kind in ("proportion", "weighted_proportion") and not estimate.weighted
    alike = alike and estimate.metric.scale.affine_of is None
    return alike and bool(estimate.trials) and lacks(method, estimate) is None


def _without_spread(estimate: Estimate, level: float, value_of: TableFunction | None) -> Bounds | None:
    found: list[Bounds] = []
    computation = estimate.metric.computation
    if isinstance(computation, Ranks) and computation.mean_over_positives and estimate.positive is not None:
        found.append(_on_own_scale(estimate, of_average_precision(estimate.of_base, level)))
    elif estimate.table is not None and value_of is not None:
        found.append(from_class_recalls(estimate, value_of, level))
    if isinstance(estimate.metric.computation, Contingency):
        return Bounds(
            None, None, Message("limits.groups_alike")
        )  # a few other examples may change it by any amount
    bounded = all(math.isfinite(limit) for limit in estimate.range)
    # Examples of one data set vary together: the number of data sets bounds what is known, too.
    if bounded and (estimate.clusters is not None or not any(_wide(bounds) for bounds in found)):
        found.append(of_a_bounded_mean(estimate, level))
    if found:
        return max(found, key=_width)
    if estimate.standard_error == 0:
        return Bounds(None, None, Message("limits.same_loss"))
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
        names = [m.name for m in INTERVALS.values() if m.of_one_value]
    else:
        names = list(named) or list(DEFAULT_INTERVALS)
    first = leading(estimate, level, value_of)
    rest = [limits(estimate, name, level) for name in dict.fromkeys(names) if name != first.method]
    return (first, *rest)


def table_function(function: Callable[[Array], Array]) -> TableFunction:
    """Turn a function of margins into one of tables."""
    from evalreport.engine.counts import margins_of

    return lambda tables: np.asarray(function(margins_of(tables)))
