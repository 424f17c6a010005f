"""Cluster-robust and weighted errors, against statsmodels' sandwich estimators of a mean."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from .sources import Source, labels, row, run, values

RANDOM = np.random.default_rng(14)
SITE = np.repeat(np.arange(24), RANDOM.integers(1, 9, 24))
N = len(SITE)
TRUTH = RANDOM.normal(size=N) + 3
A = TRUTH + RANDOM.normal(size=24)[SITE] + RANDOM.normal(size=N)
B = TRUTH + RANDOM.normal(size=24)[SITE] + RANDOM.normal(size=N)
TIMES = RANDOM.integers(1, 5, N).astype(float)


def source(**columns: list[object]) -> Source:
    """Return both models with more columns."""
    return {name: {**model, **columns} for name, model in values(TRUTH, a=A, b=B).items()}


def sites() -> list[object]:
    """Return the clusters' names."""
    return [f"s{s}" for s in SITE]


def test_error_and_t_test_of_clusters() -> None:
    """Mean loss by cluster: statsmodels' OLS on a constant with cluster covariance, G / (G - 1), and t with G - 1."""
    results = run(source(site=sites()), metrics=("mae",), cluster="site", tests=("paired_t",))
    losses = {"a": np.abs(A - TRUTH), "b": np.abs(B - TRUTH)}
    for record in results.metrics:
        fit = sm.OLS(losses[record.model], np.ones(N)).fit(
            cov_type="cluster", cov_kwds={"groups": SITE}, use_t=True
        )
        assert record.standard_error == pytest.approx(fit.bse[0], rel=1e-9)
        t = next(i for i in record.intervals if i.method == "t")
        assert (t.low, t.high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)
    fit = sm.OLS(losses["a"] - losses["b"], np.ones(N)).fit(
        cov_type="cluster", cov_kwds={"groups": SITE}, use_t=True
    )
    found = row(results, "paired_t")
    assert found.df == 23
    assert found.p_value == pytest.approx(fit.pvalues[0], rel=1e-9)


def test_error_of_a_weighted_mean() -> None:
    """Weighted mean loss: statsmodels' WLS on a constant with the HC0 sandwich (divisor n)."""
    results = run(source(times=TIMES.tolist()), metrics=("mae",), weight="times")
    record = results.metrics[0]
    fit = sm.WLS(np.abs(A - TRUTH), np.ones(N), weights=TIMES).fit(cov_type="HC0")
    assert record.value == pytest.approx(fit.params[0], rel=1e-12)
    assert record.standard_error == pytest.approx(fit.bse[0], rel=1e-9)


def test_weights_are_repetitions_for_the_value_only() -> None:
    """Integer weights give the value of the repeated rows, and an error that does not pretend to more examples."""
    weighed = run(source(times=TIMES.tolist()), metrics=("mae", "rmse", "r2"), weight="times")
    times = TIMES.astype(int)
    repeated = run(
        values(np.repeat(TRUTH, times), a=np.repeat(A, times), b=np.repeat(B, times)),
        metrics=("mae", "rmse", "r2"),
    )
    for one, other in zip(weighed.metrics, repeated.metrics, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.standard_error > 1.3 * other.standard_error
    doubled = run(source(times=(2 * TIMES).tolist()), metrics=("mae", "rmse", "r2"), weight="times")
    for one, other in zip(weighed.metrics, doubled.metrics, strict=True):
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)
        assert one.intervals == other.intervals


def test_cluster_bootstrap_has_the_cluster_error() -> None:
    """Replicates that draw whole clusters spread as the sandwich without G / (G - 1) says, within 4 Monte Carlo errors.

    The bootstrap-normal interval is 2 z times the replicates' standard deviation wide; a ratio of sums differs
    from its linearisation by O(1 / G).
    """
    truth = (TRUTH > 3).astype(int)
    said = np.where(RANDOM.random(24)[SITE] < 0.3, 1 - truth, truth)
    data = {name: {**model, "site": sites()} for name, model in labels(truth, a=said).items()}
    results = run(
        data, metrics=("accuracy",), cluster="site", resamples=4000, intervals=("bootstrap_normal",)
    )
    record = results.metrics[0]
    found = next(i for i in record.intervals if i.method == "bootstrap_normal")
    spread = (found.high - found.low) / (2 * stats.norm.ppf(0.975))
    assert spread == pytest.approx(record.standard_error * np.sqrt(23 / 24), rel=0.1)
    assert record.intervals[0].method == "t"
