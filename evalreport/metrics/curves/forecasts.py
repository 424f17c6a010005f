"""Curves of whether probabilities can be trusted: reliability by bin, accuracy where doubtful answers are withheld."""

from __future__ import annotations

import numpy as np

from evalreport.engine.portable import log
from evalreport.metrics.calibration import BINS, bin_of
from evalreport.metrics.curves.ladder import Floats, Forecasts
from evalreport.metrics.curves.registry import Points, curve

BOTH = ("binary", "multiclass")


@curve(
    "Reliability diagram",
    x="Mean forecast probability",
    y="Share that came true",
    needs="probabilities",
    tasks=BOTH,
    source="Murphy and Winkler (1977), Appl Stat 26:41; Broecker and Smith (2007) on reading it with counts",
)
def reliability(given: Forecasts) -> Points:
    """Share that came true against the mean forecast, in ten bins of equal width; empty bins are left out.

    Two classes: the positive class's probability; several: the largest one, and whether that class is the true one.
    """
    place = bin_of(given.p)
    count, forecast, true = (
        np.bincount(place, weights=given.weights * values, minlength=BINS).astype(np.float64)
        for values in (np.ones(len(given.p)), given.p, given.came_true)
    )
    held = count > 0
    count, forecast, true = count[held], forecast[held], true[held]
    return Points(forecast / count, true / count, None, count, true)


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


def right_at_coverage(kept: Floats, right: Floats, coverage: Floats) -> Floats:
    """Return the weight right among the most confident share of the examples; ties count by their share."""
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
