"""Intervals of values and differences whose examples come in clusters."""

from __future__ import annotations

from evalreport.engine.distributions import t_quantile
from evalreport.intervals.normal import student
from evalreport.intervals.proportions import ALIKE, ONE_CLUSTER, score_limits
from evalreport.intervals.registry import Bounds, interval
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate

OF_CLUSTERS = ("some_interval", "one_task", "influence", "no_gold", "clusters", "equal_weights")
CR2 = "Bell and McCaffrey (2002), Survey Methodology 28:169; Pustejovsky and Tipton (2018), J Bus Econ Stat 36:672"


@interval(
    "Cluster Wilson",
    of=Estimate,
    needs=(*OF_CLUSTERS, "examples_of_clusters", "bounded"),
    source="Korn and Graubard (1998), Survey Methodology 24:193, with Wilson's limits; the larger of the"
    f" cluster-robust variance (CR2: {CR2}) and that of equally correlated examples (Donner 1986, Int Stat Rev 54:67):"
    " this combination was chosen by simulation",
)
def cluster_wilson(estimate: Estimate, level: float) -> Bounds:
    """Wilson's interval of a value in a bounded range, with the number of trials that its variance over clusters shows.

    With s the value's place in its range [lo, hi] the trials are s (1 - s) (hi - lo)^2 / V, and Student's t takes the
    place of z; V and the degrees of freedom are those of ``engine.cluster_variance``.
    """
    found, (low, high) = estimate.student, estimate.range
    if found is None:
        return Bounds(None, None, ONE_CLUSTER)
    share, error = (estimate.value - low) / (high - low), found.error / (high - low)
    if error == 0 or share in (0, 1):
        return Bounds(None, None, ALIKE)
    least, most = score_limits(share, share * (1 - share) / error**2, t_quantile((1 + level) / 2, found.df))
    return Bounds(low + (high - low) * least, low + (high - low) * most)


@interval(
    "Cluster t",
    needs=(*OF_CLUSTERS, "examples_of_clusters"),
    source=f"CR2: {CR2}; correlation within clusters: Donner (1986), Int Stat Rev 54:67; the larger of the two"
    " variances and its degrees of freedom were chosen by simulation",
)
def cluster_t(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus t errors over clusters, the error from the larger of two variances.

    One is the cluster-robust variance (CR2), the other takes any two examples of a cluster as equally correlated: with
    few large clusters the first is too small just where the value is far off. The degrees of freedom are the geometric
    mean of Satterthwaite's and G - 1.
    """
    return student(estimate, estimate.student, level)


@interval("Cluster-robust t (CR2)", needs=OF_CLUSTERS, source=f"CR2: {CR2}")
def cr2_t(estimate: Estimate | Difference, level: float) -> Bounds:
    """Value plus or minus t bias-reduced cluster-robust errors (CR2), with Satterthwaite's degrees of freedom.

    Clusters may be of unequal size: a large one counts for less than its examples. Of metrics that are no mean the
    influence values are taken for the examples' own, so the degrees of freedom are approximate.
    """
    return student(estimate, estimate.robust, level)
