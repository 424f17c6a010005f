"""Curves of how well scores rank: ROC and its hull, precision and recall, error rates, gain and lift."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.metrics.curves.ladder import Ladder
from evalreport.metrics.curves.registry import MOST_POINTS, Points, curve

Floats = npt.NDArray[np.float64]

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
def roc(ladder: Ladder) -> Points:
    """True positive rate against false positive rate at every distinct threshold, ties as one step.

    It begins at (0, 0), above every score, and ends at (1, 1).
    """
    return Points(ladder.fpr, ladder.tpr, ladder.steps)


@curve(
    "ROC convex hull",
    x=FPR,
    y=TPR,
    source="Provost and Fawcett (2001), Mach Learn 42:203; Fawcett and Niculescu-Mizil (2007) on the same hull by PAV",
)
def roc_hull(ladder: Ladder) -> Points:
    """Upper convex hull of the ROC curve: the thresholds that are best for some costs and prevalence.

    Its corners are the blocks of the isotonic regression of the labels on the scores (pool adjacent violators).
    """
    corners = ladder.hull
    return Points(ladder.fpr[corners], ladder.tpr[corners], ladder.steps[corners])


@curve("Precision-recall curve", x="Recall", y="Precision", tasks=BOTH, most=MOST_POINTS)
def pr(ladder: Ladder) -> Points:
    """Precision against recall at every distinct threshold, from recall 0 with the first threshold's precision.

    It ends at (1, share of positives) and need not fall.
    """
    precision = precision_of(ladder)
    return Points(ladder.tpr, np.concatenate([precision[:1], precision]), ladder.steps)


def precision_of(ladder: Ladder) -> Floats:
    """Return the precision at each threshold, (g,)."""
    called = ladder.found[1:] + ladder.wrong[1:]
    return np.asarray(ladder.found[1:] / np.where(called > 0, called, 1))


@curve(
    "Interpolated precision",
    x="Recall",
    y="Highest precision at this recall or more",
    source="Manning, Raghavan and Schuetze (2008), Introduction to Information Retrieval, section 8.4",
)
def pr_interpolated(ladder: Ladder) -> Points:
    """Highest precision that some threshold reaches at this recall or a greater one; it never rises.

    A step function: the value at a point holds from the point before it, exclusive, up to it.
    """
    best = np.maximum.accumulate(precision_of(ladder)[::-1])[::-1]
    recall = ladder.tpr[1:]
    # Of a run of one precision the last point says all.
    last = np.concatenate([np.diff(best) < 0, [True]])
    x, y, threshold = recall[last], best[last], ladder.thresholds[last]
    return Points(
        np.concatenate([[0.0], x]), np.concatenate([y[:1], y]), np.concatenate([[np.nan], threshold])
    )


@curve("Pareto front", x="Recall", y="Precision", front=True)
def pareto(ladder: Ladder) -> Points:
    """Thresholds that no other one of the model beats on precision and recall at once.

    Choose the wanted recall and read the precision, or the other way round.
    """
    precision, recall = precision_of(ladder), ladder.tpr[1:]
    later = np.concatenate([np.maximum.accumulate(precision[::-1])[::-1][1:], [-1.0]])
    kept = precision > later
    # At one recall the highest precision stands first.
    kept[1:] &= (recall[1:] > recall[:-1]) | ~kept[:-1]
    kept &= recall > 0
    return Points(recall[kept], precision[kept], ladder.thresholds[kept])


@curve("False acceptance rate", x="Threshold", y="False acceptance rate")
def far(ladder: Ladder) -> Points:
    """Share of the negatives at or above the threshold (false positive rate), by threshold."""
    return Points(ladder.thresholds[::-1], ladder.fpr[:0:-1])


@curve("False rejection rate", x="Threshold", y="False rejection rate")
def frr(ladder: Ladder) -> Points:
    """Share of the positives below the threshold (false negative rate), by threshold."""
    return Points(ladder.thresholds[::-1], 1 - ladder.tpr[:0:-1])


def _called(ladder: Ladder) -> Floats:
    return (ladder.found + ladder.wrong) / (ladder.positives + ladder.negatives)


@curve("Cumulative gain", x="Share of the examples called", y="Share of the positives found")
def gain(ladder: Ladder) -> Points:
    """Share of the positives found among the examples with the highest scores, by how many are looked at."""
    return Points(_called(ladder), ladder.tpr, ladder.steps)


@curve("Lift", x="Share of the examples called", y="Precision / share of positives")
def lift(ladder: Ladder) -> Points:
    """How many times as frequent positives are among the highest scores as among all examples."""
    called = _called(ladder)[1:]
    held = called > 0
    return Points(called[held], (ladder.tpr[1:] / np.where(held, called, 1))[held], ladder.thresholds[held])
