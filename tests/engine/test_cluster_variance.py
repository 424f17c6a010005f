"""The variance over clusters, against clubSandwich and R's analysis of variance, and by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.engine.cluster_variance import ClusterVariance, variance_of_clusters
from tests.reference.third_round import assert_agrees, each

Floats = npt.NDArray[np.float64]


def found_for(influence: Floats, cluster: npt.NDArray[np.int64]) -> ClusterVariance:
    """Return the variance of a mean whose examples have these influence values."""
    derivative = influence / len(influence)
    sums, sizes = np.bincount(cluster, derivative), np.bincount(cluster).astype(np.float64)
    found = variance_of_clusters(sums, sizes, float((derivative**2).sum()))
    assert found is not None
    return found


def f1_influence(truth: npt.NDArray[np.int64], said: npt.NDArray[np.int64]) -> Floats:
    """Return the influence values of F1: (2 tp - F1 (2 tp + fp + fn)) over the mean of what is in brackets."""
    right, counted = 2.0 * (truth & said), (truth + said).astype(np.float64)
    return np.asarray((right - right.sum() / counted.sum() * counted) / counted.mean())


@each("cluster_accuracy", "cluster_f1", "cluster_difference")
def test_variances_and_degrees_of_freedom_are_the_references(case: Mapping[str, Any]) -> None:
    """CR2 and its df of clubSandwich, the correlation of R's anova, the exchangeable variance, the larger of both."""
    given = {name: np.array(values) for name, values in case["input"].items()}
    truth, said = given["y_true"], given.get("y_pred", given.get("a"))
    assert said is not None
    right = (said == truth).astype(np.float64)
    influence = {
        "cluster_accuracy": right - right.mean(),
        "cluster_f1": f1_influence(truth, said),
        "cluster_difference": right - (given.get("b") == truth),
    }[case["method"]]
    found = found_for(influence - influence.mean(), given["cluster"])
    assert_agrees(
        {
            "cr2": found.robust, "df_cr2": found.robust_df, "exchangeable": found.exchangeable,
            "icc": found.correlation, "variance": found.variance, "df": found.df,
        },
        case,
    )  # fmt: skip


def test_clusters_of_one_example_have_students_variance() -> None:
    """The sum of squares over n (n - 1), with n - 1 degrees of freedom."""
    z = np.array([1.0, -2.0, 3.0, -2.0])
    found = found_for(z, np.arange(4))
    assert found.variance == pytest.approx((z**2).sum() / 12, rel=1e-15)
    assert found.df == pytest.approx(3, rel=1e-15)


def test_clusters_of_one_size_have_one_degree_of_freedom_less_than_clusters() -> None:
    """Satterthwaite's degrees of freedom are then G - 1 too."""
    z = np.random.default_rng(0).normal(size=30)
    found = found_for(z - z.mean(), np.repeat(np.arange(10), 3))
    assert (found.robust_df, found.df) == pytest.approx((9, 9), rel=1e-12)


def test_one_cluster_has_no_variance() -> None:
    """Nor do clusters of which one alone has examples."""
    assert variance_of_clusters(np.zeros(1), np.ones(1), 1.0) is None
    assert variance_of_clusters(np.zeros(2), np.array([3.0, 0.0]), 1.0) is None


def test_no_variation_is_a_variance_of_0() -> None:
    """Neither the correlation nor its denominator of 0 makes it nan."""
    found = variance_of_clusters(np.zeros(3), np.array([2.0, 3.0, 4.0]), 0.0)
    assert found is not None
    assert (found.variance, found.correlation) == (0, 0)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_do_not_matter(unit: float) -> None:
    """In other units the variance is that times their square, and the rest stays."""
    random = np.random.default_rng(1)
    z, cluster = random.normal(size=40), np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 9, 10])
    plain, scaled = found_for(z - z.mean(), cluster), found_for(unit * (z - z.mean()), cluster)
    assert scaled.variance == pytest.approx(unit**2 * plain.variance, rel=1e-12)
    assert (scaled.correlation, scaled.df) == pytest.approx((plain.correlation, plain.df), rel=1e-12)
