"""Intervals of calibration: level, spread and debiased error of probabilities, and their differences."""

from __future__ import annotations

import math
from functools import partial

from evalreport.calibration import level as of_level
from evalreport.calibration.level import line_limits
from evalreport.calibration.limits import Limits
from evalreport.calibration.risks import Risks
from evalreport.calibration.squared_error import difference_limits, squared_error_limits
from evalreport.intervals.proportions import ONE_CLUSTER, quantile
from evalreport.intervals.registry import Bounds, evidence_of, interval
from evalreport.intervals.student import half_width
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import PairedRisks
from evalreport.texts import Message

OWN = ("of_this_metric",)


def _bounds(limits: Limits, risks: Risks) -> Bounds:
    """Return limits; where there are none, the reason: one cluster, or outcomes that no such level allows."""
    if None not in limits:
        return Bounds(*limits)
    alone = risks.cluster is not None and int(risks.cluster.max()) == 0
    return Bounds(None, None, ONE_CLUSTER if alone else Message("limits.outcomes_vary"))


COX = "Cox (1958), Biometrika 45:562; sandwich: Huber (1967)"
KUMAR = "Kumar, Liang and Ma (2019), NeurIPS; the interval was chosen by simulation (docs/calibration.md)"


_of_risks = partial(interval, of=Risks, needs=OWN)


@_of_risks(
    "Score, with dispersion",
    source="McCullagh and Nelder (1989), Generalized Linear Models, chapter 9 (quasi-likelihood); the form of the"
    " dispersion was chosen by simulation (docs/calibration.md)",
)
def score_ratio(estimate: Estimate, level: float) -> Bounds:
    """Score limits of a ratio of counts whose variance is that of the outcomes about r p: quasi-Poisson."""
    return _bounds(
        of_level.observed_expected_limits(evidence_of(estimate, Risks), level), evidence_of(estimate, Risks)
    )


@_of_risks("Shift -+ the larger error", source=COX)
def in_the_large(estimate: Estimate, level: float) -> Bounds:
    """Shift of the log odds plus or minus z times the larger of the robust and the model's error; clusters by t."""
    risks = evidence_of(estimate, Risks).open
    return _bounds(of_level.in_the_large_limits(risks, level), risks)


@_of_risks("Slope -+ the larger error", source=COX)
def line_slope(estimate: Estimate, level: float) -> Bounds:
    """Slope plus or minus z times the larger of the robust and the model's error; clusters by t."""
    return _bounds(line_limits(evidence_of(estimate, Risks), 1, level), evidence_of(estimate, Risks))


@_of_risks("Intercept -+ the larger error", source=COX)
def line_intercept(estimate: Estimate, level: float) -> Bounds:
    """Intercept plus or minus z times the larger of the robust and the model's error; clusters by t."""
    return _bounds(line_limits(evidence_of(estimate, Risks), 0, level), evidence_of(estimate, Risks))


@interval("Debiased squares", of=Risks, needs=(*OWN, "independent", "equal_weights"), source=KUMAR)
def debiased_squares(estimate: Estimate, level: float) -> Bounds:
    """Roots of the limits of the squared error that chance does not inflate: all that its own variance allows."""
    bins = evidence_of(estimate, Risks).bins
    if bins is None:
        return Bounds(None, None, estimate.metric.scale.undefined)
    low, high = squared_error_limits(bins, level)
    return Bounds(math.sqrt(low), math.sqrt(high))


@interval(
    "Paired influence",
    of=PairedRisks,
    needs=OWN,
    source="M-estimation: Stefanski and Boos (2002), Am Stat 56:29",
)
def paired_influence(difference: Difference, level: float) -> Bounds:
    """Difference plus or minus z errors from the differences of the two models' influence values; clusters by t."""
    sampling, error = difference.sampling, difference.student
    if error is None and not sampling.independent:
        return Bounds(None, None, sampling.alone)
    if error is None or not error.error:
        return Bounds(None, None, Message("limits.no_change") if sampling.independent else sampling.same)
    half = quantile(level) * error.error if sampling.independent else half_width(error, level)
    return Bounds(difference.value - half, difference.value + half)


def described_difference(difference: Difference) -> float:
    """Return the difference that an interval describes: of debiased squares, which may be below 0, or of the values."""
    pair = difference.evidence
    if difference.metric.inference.of_squares and isinstance(pair, PairedRisks):
        a, b = pair.a.bins, pair.b.bins
        if a is not None and b is not None:
            return a.value - b.value
    return difference.value


@interval(
    "Difference of debiased squares",
    of=PairedRisks,
    needs=(*OWN, "independent", "equal_weights"),
    source=KUMAR,
)
def difference_of_squares(difference: Difference, level: float) -> Bounds:
    """Limits of the difference of two squared calibration errors on the same examples."""
    pair = evidence_of(difference, PairedRisks)
    a, b = pair.a.bins, pair.b.bins
    if a is None or b is None:
        return Bounds(None, None, difference.metric.scale.undefined)
    return Bounds(*difference_limits(a, b, level))
