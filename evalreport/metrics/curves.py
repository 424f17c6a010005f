"""Curves over a threshold: the registry, the curves, and their bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from evalreport.calibration import isotonic
from evalreport.engine.counts import Counts
from evalreport.engine.distributions import log, zero_where_undefined
from evalreport.metrics.calibration import BINS, bin_of
from evalreport.metrics.metric import ClassCounts, Margins, Metric
from evalreport.metrics.registry import METRICS
from evalreport.metrics.threshold_counts import Forecasts, ThresholdCounts, visible_points
from evalreport.options import Task
from evalreport.predictions.arrays import Floats
from evalreport.questions.thresholds.records import CurveRecord
from evalreport.registry import Registered, Registry, summary_of

Needs = Literal["scores", "probabilities", "isotonic_fit"]

MOST_POINTS = 500
"""No curve in the results has more points; secondary curves have at most 200."""


@dataclass(frozen=True, slots=True)
class Points:
    """A curve as computed, every point of it.

    Attributes
    ----------
    x, y
        (m,) coordinates.
    threshold
        (m,) the score at and above which an example counts; nan where none does; None where x says it.
    count, successes
        (m,) weight behind each point, and how much of it y is the share of; None elsewhere.
    """

    x: Floats
    y: Floats
    threshold: Floats | None = None
    count: Floats | None = None
    successes: Floats | None = None


CurveFunction = Callable[..., Points | None]


@dataclass(frozen=True, slots=True)
class Curve(Registered):
    """A registered curve.

    Attributes
    ----------
    x, y
        What the axes say.
    needs
        ``scores``: a function of a ``ThresholdCounts``; ``probabilities``: of ``Forecasts``;
        ``isotonic_fit``: of the fit that describes calibration.
    tasks
        Where it is computed; of several classes those of scores are of each class against the rest.
    most
        Points at most in the results.
    front
        True where every point has a meaning, so that none on a straight line is dropped.
    """

    x: str
    y: str
    needs: Needs
    function: CurveFunction
    tasks: tuple[Task, ...] = ("binary",)
    most: int = 200
    front: bool = False
    source: str = ""


CURVES: Registry[Curve] = Registry("curve")


def curve(
    label: str, *, x: str, y: str, needs: Needs = "scores", name: str | None = None, **fields: Any
) -> Callable[[CurveFunction], CurveFunction]:
    """Register a function of what the curve needs; its name is the function's unless one is given."""

    def _decorate(function: CurveFunction) -> CurveFunction:
        entry = Curve(
            name=name or function.__name__,
            label=label,
            summary=summary_of(function),
            x=x,
            y=y,
            needs=needs,
            function=function,
            **fields,
        )
        CURVES.add(entry)
        return function

    return _decorate


def record_of(entry: Curve, points: Points, *, model: str, label: str | None = None) -> CurveRecord:
    """Return the record of a curve, thinned without visible change; a curve with counts keeps every point."""
    m = len(points.x)
    if entry.front and m > entry.most:
        kept = np.unique(np.linspace(0, m - 1, entry.most).round().astype(np.int64))
    elif entry.front or points.count is not None:
        kept = np.arange(m)
    else:
        kept = visible_points(points.x, points.y, entry.most)
    threshold = None
    if points.threshold is not None:
        threshold = tuple(None if np.isnan(t) else float(t) for t in points.threshold[kept])
    return CurveRecord(
        model=model,
        curve=entry.name,
        label=label,
        x=tuple(points.x[kept].tolist()),
        y=tuple(points.y[kept].tolist()),
        threshold=threshold,
        count=None if points.count is None else tuple(points.count[kept].tolist()),
    )


FPR, TPR = "False positive rate", "True positive rate"
BOTH = ("binary", "multiclass")


@curve(
    "ROC curve",
    x=FPR,
    y=TPR,
    tasks=BOTH,
    most=MOST_POINTS,
    source="Fawcett (2006), Pattern Recognit Lett 27:861, algorithm 1",
)
def roc(counts: ThresholdCounts) -> Points:
    """True positive rate against false positive rate at every distinct threshold, ties as one step.

    It begins at (0, 0), above every score, and ends at (1, 1).
    """
    return Points(counts.fpr, counts.tpr, counts.steps)


@curve(
    "ROC convex hull",
    x=FPR,
    y=TPR,
    source="Provost and Fawcett (2001), Mach Learn 42:203; Fawcett and Niculescu-Mizil (2007) on the same hull by PAV",
)
def roc_hull(counts: ThresholdCounts) -> Points:
    """Upper convex hull of the ROC curve: the thresholds that are best for some costs and prevalence.

    Its corners are the blocks of the isotonic regression of the labels on the scores (pool adjacent violators).
    """
    corners = counts.hull
    return Points(counts.fpr[corners], counts.tpr[corners], counts.steps[corners])


@curve("Precision-recall curve", x="Recall", y="Precision", tasks=BOTH, most=MOST_POINTS)
def pr(counts: ThresholdCounts) -> Points:
    """Precision against recall at every distinct threshold, from recall 0 with the first threshold's precision.

    It ends at (1, share of positives) and need not fall.
    """
    precision = precision_of(counts)
    return Points(counts.tpr, np.concatenate([precision[:1], precision]), counts.steps)


def precision_of(counts: ThresholdCounts) -> Floats:
    """Return the precision at each threshold, (g,)."""
    called = counts.found[1:] + counts.wrong[1:]
    return np.asarray(counts.found[1:] / np.maximum(called, np.finfo(np.float64).tiny))


@curve(
    "Interpolated precision",
    x="Recall",
    y="Highest precision at this recall or more",
    source="Manning, Raghavan and Schuetze (2008), Introduction to Information Retrieval, section 8.4",
)
def pr_interpolated(counts: ThresholdCounts) -> Points:
    """Highest precision that some threshold reaches at this recall or a greater one; it never rises.

    A step function: the value at a point holds from the point before it, exclusive, up to it.
    """
    best = np.maximum.accumulate(precision_of(counts)[::-1])[::-1]
    recall = counts.tpr[1:]
    # Of a run of one precision the last point says all.
    last = np.concatenate([np.diff(best) < 0, [True]])
    x, y, threshold = recall[last], best[last], counts.thresholds[last]
    return Points(
        np.concatenate([[0.0], x]), np.concatenate([y[:1], y]), np.concatenate([[np.nan], threshold])
    )


@curve("Pareto front", x="Recall", y="Precision", front=True)
def pareto(counts: ThresholdCounts) -> Points:
    """Thresholds that no other one of the model beats on precision and recall at once.

    Choose the wanted recall and read the precision, or the other way round.
    """
    precision, recall = precision_of(counts), counts.tpr[1:]
    later = np.concatenate([np.maximum.accumulate(precision[::-1])[::-1][1:], [-1.0]])
    kept = precision > later
    # At one recall the highest precision stands first.
    kept[1:] &= (recall[1:] > recall[:-1]) | ~kept[:-1]
    kept &= recall > 0
    return Points(recall[kept], precision[kept], counts.thresholds[kept])


@curve("False acceptance rate", x="Threshold", y="False acceptance rate")
def far(counts: ThresholdCounts) -> Points:
    """Share of the negatives at or above the threshold (false positive rate), by threshold."""
    return Points(counts.thresholds[::-1], counts.fpr[:0:-1])


@curve("False rejection rate", x="Threshold", y="False rejection rate")
def frr(counts: ThresholdCounts) -> Points:
    """Share of the positives below the threshold (false negative rate), by threshold."""
    return Points(counts.thresholds[::-1], 1 - counts.tpr[:0:-1])


def _called(counts: ThresholdCounts) -> Floats:
    return (counts.found + counts.wrong) / (counts.positives + counts.negatives)


@curve("Cumulative gain", x="Share of examples flagged", y="Share of the positives found")
def gain(counts: ThresholdCounts) -> Points:
    """Share of the positives found among the examples with the highest scores, by how many are looked at."""
    return Points(_called(counts), counts.tpr, counts.steps)


@curve("Lift", x="Share of examples flagged", y="Precision / share of positives")
def lift(counts: ThresholdCounts) -> Points:
    """Positive rate among top scores ÷ overall rate."""
    called = _called(counts)
    first = int(np.searchsorted(called, 0.0, side="right"))
    return Points(called[first:], counts.tpr[first:] / called[first:], counts.steps[first:])


@curve(
    "Reliability diagram",
    x="Mean predicted probability",
    y="Observed frequency",
    needs="probabilities",
    tasks=BOTH,
    source="Murphy and Winkler (1977), Appl Stat 26:41; Broecker and Smith (2007) on reading it with counts",
)
def reliability(given: Forecasts) -> Points:
    """Observed frequency against the mean predicted probability, in ten bins of equal width; empty bins are left out.

    Two classes: the positive class's probability; several: the largest one, and whether that class is the true one.
    """
    bins, weight = bin_of(given.p), given.weights
    count, forecast, true = (
        np.bincount(bins, weights=weight * values, minlength=BINS).astype(np.float64)
        for values in (np.broadcast_to(1.0, len(given.p)), given.p, given.came_true)
    )
    held = count > 0
    count, forecast, true = count[held], forecast[held], true[held]
    return Points(forecast / count, true / count, None, count, true)


@curve(
    "Murphy curve",
    x="Threshold",
    y="Mean elementary score",
    needs="probabilities",
    source="Ehm, Gneiting, Jordan and Krueger (2016), J R Stat Soc B 78:505",
)
def murphy(given: Forecasts) -> Points:
    """Mean elementary score of deciding at each threshold t: a miss costs 1 - t, a false alarm t; smaller is better.

    It is best to act from t on where a miss costs (1 - t) / t false alarms. Twice the area below is the Brier score.
    Between two probabilities it is a straight line, so each has two points: below and above.
    """
    p, group = np.unique(given.p, return_inverse=True)
    event = np.where(given.came_true, given.weights, 0.0)
    events, others = (
        np.bincount(group.ravel(), weights=weight, minlength=len(p))
        for weight in (event, given.weights - event)
    )
    total = float(given.weights.sum())
    # At a threshold just above a probability it is missed; at most that, its others are false alarms.
    missed = np.concatenate([[0.0], np.cumsum(events)]) / total
    alarms = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]]) / total
    ends = np.concatenate([[0.0], p, [1.0]])
    at = np.stack([ends[:-1], ends[1:]], axis=1)
    return Points(at.ravel(), ((1 - at) * missed[:, None] + at * alarms[:, None]).ravel())


@curve(
    "Accuracy-rejection curve",
    x="Share of the examples rejected",
    y="Accuracy on the rest",
    needs="probabilities",
    tasks=BOTH,
    source="Nadeem, Zucker and Hanczar (2009), JMLR Proc 8:65; El-Yaniv and Wiener (2010), JMLR 11:1605",
)
def accuracy_rejection(given: Forecasts) -> Points | None:
    """Accuracy on the examples that are kept when those with the least probable answers are rejected first.

    The confidence is the probability that the model gives to its own answer; ties are rejected together.
    """
    if given.confidence is None:
        return None
    confidence, kept, right = given.kept_and_right
    share = 1 - kept / kept[-1]
    share[-1] = 0.0
    return Points(share[::-1], (right / kept)[::-1], confidence[::-1])


@curve(
    "Calibration curve",
    x="Predicted probability",
    y="Observed share",
    needs="isotonic_fit",
    tasks=BOTH,
    source="Dimitriadis, Gneiting and Jordan (2021), PNAS 118:e2016191118 (CORP)",
)
def corp(fit: isotonic.Curve) -> Points:
    """Isotonic fit of the outcomes on the probabilities, without bins, in the band of a calibrated model.

    Two classes: the positive class's probability; several: of each class, and the largest one and whether that class is
    the true one.
    """
    return Points(fit.p, fit.fit, None, fit.weight)


def right_at_coverage(kept: Floats, right: Floats, coverage: Floats) -> Floats:
    """Return the weight right among the most confident share of the examples; ties count by their share.

    Parameters
    ----------
    kept, right
        (g,) weight of the examples, and of the right ones, down to each distinct confidence, the highest first.
    coverage
        (m,) shares in [0, 1].
    """
    return np.asarray(
        np.interp(coverage * kept[-1], np.concatenate([[0.0], kept]), np.concatenate([[0.0], right]))
    )


def rejection_area(kept: Floats, right: Floats) -> float:
    """Return the mean accuracy of the kept examples over all coverages from 0 to 1.

    Inside a group of ties the number of right answers rises in a straight line, as in a random order of the ties:
    the integral of (a + b u) / u over a piece is a ln(u1 / u0) + b (u1 - u0).
    """
    u = np.concatenate([[0.0], kept]) / kept[-1]
    r = np.concatenate([[0.0], right]) / kept[-1]
    slope = np.diff(r) / np.diff(u)
    level = r[1:] - slope * u[1:]
    # The first piece begins at 0, where it has no constant part.
    logs = np.concatenate([[0.0], log(u[2:] / u[1:-1])])
    return float((level * logs + slope * np.diff(u)).sum())


SWEPT = ("accuracy", "balanced_accuracy", "f1", "mcc")


def has_a_best_threshold(metric: Metric) -> bool:
    """Say whether a metric of predicted labels weighs both kinds of error and has a better direction."""
    computation = metric.computation
    if not isinstance(computation, ClassCounts | Margins) or "binary" not in metric.tasks:
        return False
    one_sided = isinstance(computation, ClassCounts) and computation.one_sided
    return metric.scale.greater_is_better is not None and not one_sided


def by_counts(name: str, counts: Counts) -> Floats:
    """Return a label metric of two classes at TP, FP, FN, TN of any shape; 0 where it is 0/0, as everywhere.

    Some metrics have a faster form for two classes, ``of_counts``: this is asked for at every threshold and replicate.
    """
    computation = METRICS[name].computation
    if isinstance(computation, Margins) and computation.of_counts is not None:
        return zero_where_undefined(computation.of_counts(counts))
    if isinstance(computation, ClassCounts):
        return zero_where_undefined(computation.function(counts))
    tp, fp, fn, tn = counts
    margins = np.stack(
        [np.stack(pair, axis=-1) for pair in ((tn, tp), (tn + fp, tp + fn), (tn + fn, tp + fp))], axis=-2
    )
    return zero_where_undefined(computation.function(margins))


def _register(name: str) -> None:
    def sweep(counts: ThresholdCounts) -> Points:
        values = counts.values(partial(by_counts, name))
        return Points(counts.thresholds[::-1], values[:0:-1])

    label = METRICS[name].display.label
    sweep.__doc__ = f"{label} of the decisions at each threshold."
    curve(f"{label} by threshold", x="Threshold", y=label, name=f"sweep_{name}")(sweep)


for _name in SWEPT:
    _register(_name)
