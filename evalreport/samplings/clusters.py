"""Whole clusters of examples, such as all answers to one question or all images of one patient."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from evalreport.engine.cluster_variance import ClusterVariance, variance_of_clusters
from evalreport.engine.counts import Freedom, by_kurtosis, freedom, freedom_of_clusters
from evalreport.engine.draws import bootstrap_clusters
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value, by_factors
from evalreport.samplings.weighted import WEIGHTED_T
from evalreport.texts import Message

_NEEDS = ("some_interval", "one_task", "influence", "no_gold", "clusters", "equal_weights")
_CR2 = "Bell and McCaffrey (2002), Survey Methodology 28:169; Pustejovsky and Tipton (2018), J Bus Econ Stat 36:672"

CLUSTER_T = Student(
    name="cluster_t",
    drawn="clusters",
    label="Cluster t",
    interval="Value plus or minus t errors over clusters, the error from the larger of two variances.",
    test="Difference over its error between clusters, by t: the larger of the robust and the exchangeable error.",
    needs=(*_NEEDS, "examples_of_clusters"),
    source=f"CR2: {_CR2}; correlation within clusters: Donner (1986), Int Stat Rev 54:67; the larger of the two"
    " variances and its degrees of freedom were chosen by simulation (docs/coverage.md)",
    beside=("cr2_t", "bootstrap_difference"),
)
CR2_T = Student(
    name="cr2_t",
    drawn="clusters",
    label="Cluster-robust t (CR2)",
    interval="Value plus or minus t bias-reduced cluster-robust errors (CR2), with Satterthwaite's degrees of freedom.",
    test="Difference over its bias-reduced cluster-robust error (CR2), by t with Satterthwaite's degrees of freedom.",
    needs=_NEEDS,
    source=f"CR2: {_CR2}",
    beside=("bootstrap_difference",),
    error=lambda value: value.sampling.robust(value),
)


class Clusters(Sampling):
    """Whole clusters are drawn; their examples may depend on one another, and may weigh differently.

    A large cluster counts for less than its examples. With few large clusters the robust variance (CR2) is too small
    just where the value is far off, so the error is from the larger of two: CR2's, and that of any two examples of a
    cluster being equally correlated. Its degrees of freedom are the geometric mean of Satterthwaite's and G - 1. Of
    metrics that are no mean the influence values are taken for the examples' own, so these are approximate. Of weighted
    clusters the error is CR2's with their summed weights as sizes; the degrees of freedom are Satterthwaite's, or by
    the kurtosis of the clusters' influence values where these are fewer. Shares of right answers alone have the factor
    G / (G - 1) and G - 1 degrees of freedom there, as in R's package survey.
    """

    single = False
    alone = Message("limits.one_cluster")
    same = Message("limits.alike")
    limits_if_same = False
    same_share = Message("limits.alike_clusters")
    knows_examples = True

    @property
    def words(self) -> tuple[str, ...]:
        """Clusters."""
        return ("clusters", *super().words)

    @property
    def students(self) -> tuple[Student, ...]:
        """The t of clusters; under weights that of weights."""
        return (WEIGHTED_T,) if self.weighted else (CLUSTER_T, CR2_T)

    @cached_property
    def meets(self) -> frozenset[str]:
        """Clusters; what holds for independent examples holds under weights alone, by effective numbers."""
        return of_clusters(self, super().meets)

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of multinomial counts of the clusters."""
        return bootstrap_clusters(self.count, n_resamples, seed=seed)

    def freedom(self, sizes: Floats) -> Freedom | None:
        """Return CR2's factors and Satterthwaite's degrees of freedom; under weights G / (G - 1) and G - 1."""
        return freedom(int((sizes > 0).sum())) if self.weighted else freedom_of_clusters(sizes)

    def standard_error(self, value: Value) -> float | None:
        """Return the error of Student's t; under weights that with the factor G / (G - 1)."""
        if not self.weighted or self.sizes is None:
            return super().standard_error(value)
        student = by_factors(value, self.freedom(self.sizes))
        return None if student is None else student.error

    def robust(self, value: Value) -> StudentError | None:
        """Return the bias-reduced cluster-robust error (CR2), under weights with degrees of freedom by the kurtosis."""
        student = by_factors(value, freedom_of_clusters(required(self.sizes)))
        if student is None or student.error == 0 or not self.weighted or value.influence is None:
            return student
        kurtosis = value.influence.kurtosis(self.n_units)
        return replace(student, df=by_kurtosis(student.df, self.n_units, kurtosis))

    def error(self, value: Value) -> StudentError | None:
        """Return the larger of the robust error and that of equally correlated examples, where these are known."""
        variance = self.variance(value)
        if variance is None:
            return self.robust(value)
        return StudentError(value.rounded(math.sqrt(variance.variance)), variance.df)

    def variance(self, value: Value) -> ClusterVariance | None:
        """Return both variances; None under weights, and where the influence of the single examples is not known."""
        influence = value.influence
        if self.weighted or influence is None or influence.by_example is None:
            return None
        derivative = influence.by_example()
        squares = float(((1.0 if self.times is None else self.times) * derivative**2).sum())
        return variance_of_clusters(influence.values, required(self.sizes), squares)

    def trials_of_share(self, share: float, sizes: Callable[[], Floats], times: Floats) -> float | None:
        """Return the effective number of clusters, under weights or where the share does not vary between them."""
        return self.effective(sizes(), times) if self.weighted or share in (0, 1) else None

    @property
    def effective_n(self) -> float:
        """G*, the effective number of clusters."""
        return self.clusters_effective or 0.0

    @property
    def trials_effective(self) -> float | None:
        """G*, the effective number of clusters."""
        return self.clusters_effective

    @property
    def trials_if_same(self) -> float | None:
        """G*, the effective number of clusters if the examples of one are wholly alike, as they then are."""
        return self.clusters_effective


def of_clusters(sampling: Sampling, met: frozenset[str]) -> frozenset[str]:
    """Return the needs that are met where clusters are drawn, of those that single examples meet."""
    left_out = {"independent", "independent_or_datasets"}
    left_out |= set() if sampling.weighted else {"independent_or_weighted"}
    return (met | {"clusters"}) - left_out - ({"several_units"} if sampling.clusters == 1 else set())
