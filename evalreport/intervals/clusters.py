"""Intervals of values and differences whose examples come in clusters."""

from __future__ import annotations

from evalreport.engine.distributions import t_quantile
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.estimate import Estimate
from evalreport.samplings.clusters import CLUSTER_T

MADE_UP = 1 / 16
"""The weight of each of two made-up clusters, one all right and one all wrong."""


@interval(
    "Cluster Wilson",
    of=Estimate,
    needs=(*CLUSTER_T.needs, "bounded"),
    source="Korn and Graubard (1998), Survey Methodology 24:193, with Wilson's limits; the error of cluster t: this"
    " combination was chosen by simulation (docs/coverage.md)",
)
def cluster_wilson(estimate: Estimate, level: float) -> Bounds:
    """Wilson's interval of a value in a bounded range, with the number of trials that its variance over clusters shows.

    With s the value's place in its range [lo, hi] the trials are s (1 - s) (hi - lo)^2 / V, and Student's t takes the
    place of z; V and the degrees of freedom are those of ``cluster_t``. Where fewer errors are left than one of the G
    clusters holds, e = G min(s, 1 - s) < 1, they do not show how much a cluster's examples are alike: two made-up
    clusters, all right and all wrong, add h (1 - e) (s^2 + (1 - s)^2) / (G (G - 1)) to V / (hi - lo)^2, h = 1/16.
    """
    student, (low, high) = estimate.student, estimate.range
    if student is None:
        return Bounds(None, None, estimate.sampling.alone)
    share, error = (estimate.value - low) / (high - low), student.error / (high - low)
    if error == 0 or share in (0, 1):
        return Bounds(None, None, estimate.sampling.same)
    variance, g = error**2, estimate.sampling.clusters or 2
    errors = g * min(share, 1 - share)
    if errors < 1:
        variance += MADE_UP * (1 - errors) * (share**2 + (1 - share) ** 2) / (g * (g - 1))
    least, most = score_limits(share, share * (1 - share) / variance, t_quantile((1 + level) / 2, student.df))
    return Bounds(low + (high - low) * least, low + (high - low) * most)
