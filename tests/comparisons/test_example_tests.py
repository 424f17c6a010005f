"""Wilcoxon's test and its limits with ties, Diebold and Mariano's: reference values, enumeration, and by hand."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.engine.ranks import mid_ranks, signed_rank_tail
from evalreport.intervals.normal import hodges_lehmann
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Mean, PairedMean
from evalreport.metrics.registry import Quantity
from evalreport.samplings import sampling_by
from evalreport.schema.comparisons import ComparisonRecord
from tests.reference.second_round import agrees, each


def over_data_sets(first: list[float], second: list[float]) -> ComparisonRecord:
    """Return the leading row of two models' values on as many data sets."""
    names = [f"d{k:02d}" for k in range(len(first))]
    source = {m: {"dataset": names, "value": list(v)} for m, v in (("a", first), ("b", second))}
    results = evalreport.evaluate(source, resamples=20)
    (found,) = (row for row in results.comparisons if row.recommended)
    assert found.test == "wilcoxon"
    return found


@each("wilcoxon")
def test_wilcoxon_agrees_with_exact_rank_tests(record: Mapping[str, Any]) -> None:
    """Statistic and both tails are exactRankTests' and coin's, with ties, zeros and differences written in binary."""
    given, value = record["inputs"], record["value"]
    first = given.get("d", given.get("a"))
    second = given.get("b", [0.0] * len(first))
    found = over_data_sets(first, second)
    assert found.statistic == value["w_plus"]
    assert found.details["n"] == value["n_used"]
    assert agrees(found.p_value, value["p_two_sided"])
    moved = np.round(np.subtract(first, second), 10)
    moved = moved[moved != 0]
    assert agrees(signed_rank_tail(-moved), value["p_greater"])
    assert agrees(signed_rank_tail(moved), value["p_less"])


def test_four_equal_differences_say_little() -> None:
    """Four equal differences are all of one sign in 2 of 16 patterns: p = .125, and no limits at 95 %."""
    found = over_data_sets([0.9, 0.8, 0.7, 0.6], [0.8, 0.7, 0.6, 0.5])
    assert found.p_value == 0.125
    assert (found.low, found.high) == (None, None)
    assert "too few" in (found.reason or "")


@pytest.mark.parametrize("seed", range(5))
def test_the_distribution_is_that_of_all_signs(seed: int) -> None:
    """The tail is the share of the 2^m sign patterns whose positive rank sum is as small, enumerated."""
    random = np.random.default_rng(seed)
    d = random.integers(1, 4, size=9) * random.choice([-1.0, 1.0], size=9)
    ranks = mid_ranks(np.abs(d))
    observed = ranks[d > 0].sum()
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=9)]
    assert signed_rank_tail(d) == np.mean(np.array(sums) <= observed)


def limits_of(differences: np.ndarray, level: float = 0.95) -> tuple[float | None, float | None]:
    """Return the Hodges-Lehmann limits of differences."""
    sampling = sampling_by(n=len(differences))
    estimate = Estimate(
        model="a", quantity=Quantity("mae"), value=0.0, range=(0, 9), sampling=sampling, evidence=Mean()
    )
    bounds = hodges_lehmann(
        Difference(
            a=estimate,
            b=estimate,
            value=0.0,
            range=(-9, 9),
            sampling=sampling,
            evidence=PairedMean(CountedRows(differences)),
        ),
        level,
    )
    return bounds.low, bounds.high


@pytest.mark.parametrize("seed", range(8))
def test_limits_with_ties_hold_the_shifts_that_are_not_rejected(seed: int) -> None:
    """With ties the limits are the ends of the shifts with p > 1 - level, the test made anew at each of a fine grid."""
    random = np.random.default_rng(seed)
    d = np.round(random.normal(0.5, 1.0, size=12) * 4) / 4
    low, high = limits_of(d)
    # Averages of two differences are multiples of 1/8: the p-value is constant between them.
    grid = np.arange(-6, 6, 1 / 8) + 1 / 16
    kept = [x for x in grid if 2 * min(signed_rank_tail(d - x), signed_rank_tail(x - d)) > 0.05]
    assert low == pytest.approx(min(kept) - 1 / 16)
    assert high == pytest.approx(max(kept) + 1 / 16)


def test_limits_turn_with_the_differences() -> None:
    """The limits of b - a are those of a - b, turned, with a tie and without."""
    d = np.random.default_rng(3).normal(0.3, 1.0, size=25)
    for differences in (d, np.append(d[:-1], d[0])):
        low, high = limits_of(differences)
        assert low is not None
        assert high is not None
        assert limits_of(-differences) == (-high, -low)


# --- Diebold and Mariano --------------------------------------------------------------------------------------------

LOSSES = [4.0, 5.0, 6.0, 5.0, 3.0, 1.0]
"""Absolute errors of one model in order of time; the other's are all 3: the differences are 1, 2, 3, 2, 0, -2."""


def diebold_mariano(horizon: int, metric: str = "mae", losses: list[float] = LOSSES) -> ComparisonRecord:
    """Return the row of the test at a horizon; the rows are given in reverse."""
    n = len(losses)
    columns = {"id": list(range(n)), "time": list(range(n)), "y_true": [0.0] * n}
    source = {name: {**columns, "y_pred": said} for name, said in (("a", losses), ("b", [3.0] * n))}
    backwards = {name: {c: list(v)[::-1] for c, v in model.items()} for name, model in source.items()}
    results = evalreport.evaluate(
        backwards, metrics=[metric], order="time", horizon=horizon, tests=["diebold_mariano"], resamples=20
    )
    (found,) = (row for row in results.comparisons if row.test == "diebold_mariano")
    assert not found.recommended
    return found


def test_diebold_mariano_by_hand() -> None:
    """H = 2: mean 1, autocovariances 16/6 and 6/6, variance (16 + 2 x 6)/36 = 7/9, factor (6 + 1 - 4 + 2/6)/6 = 5/9.

    That is the formula of R's forecast::dm.test (acf with lag.max h - 1; Harvey, Leybourne and Newbold's factor), so
    the statistic is sqrt(5/9 / (7/9)) = sqrt(5/7), by t with 5 degrees of freedom.
    """
    found = diebold_mariano(2)
    assert found.statistic == pytest.approx((5 / 7) ** 0.5, rel=1e-12)
    assert found.df == 5
    assert found.p_value == pytest.approx(2 * stats.t.sf((5 / 7) ** 0.5, 5), rel=1e-12)


def test_diebold_mariano_of_squared_errors_by_hand() -> None:
    """Squares 16, 25, 36, 25, 9, 1 less 9: mean 29/3; deviations -8/3, 19/3, 52/3, 19/3, -29/3, -53/3.

    Squares of them 64 + 361 + 2704 + 361 + 841 + 2809 = 7140, neighbours -152 + 988 + 988 - 551 + 1537 = 2810, all over
    9: variance (7140 + 2 x 2810)/(9 x 36), factor 5/9.
    """
    variance = (7140 + 2 * 2810) / 324
    found = diebold_mariano(2, "mse")
    assert found.statistic == pytest.approx(29 / 3 / variance**0.5 * (5 / 9) ** 0.5, rel=1e-12)


def test_diebold_mariano_at_horizon_1_is_the_paired_t_test() -> None:
    """So it is refused there, and by name says what it needs."""
    found = diebold_mariano(1)
    assert found.p_value is None
    assert "--horizon 2" in str(found.reason)


def test_diebold_mariano_has_no_p_value_where_the_variance_is_not_positive() -> None:
    """Differences 1 and -1 in turn: squares n, neighbours -(n - 1), so that n - 2 (n - 1) is below 0."""
    found = diebold_mariano(2, losses=[4.0, 2.0] * 10)
    assert found.p_value is None
    assert "no positive variance" in str(found.reason)


def test_diebold_mariano_is_about_mean_losses() -> None:
    """RMSE is no mean of losses."""
    assert "mean" in str(diebold_mariano(2, "rmse").reason)


@pytest.mark.parametrize("metric", ["rmse", "r2"])
def test_a_function_of_the_mean_square_is_tested_by_squared_errors(metric: str) -> None:
    """On one truth RMSE and R² are equal just where the mean squared errors are: scipy's paired t test of these."""
    rng = np.random.default_rng(4)
    truth = rng.normal(50, 10, 80)
    a, b = truth + rng.normal(0, 4, 80), truth + rng.normal(0, 5, 80)
    results = evalreport.evaluate(
        {"a": {"y_pred": a}, "b": {"y_pred": b}}, truth=truth, metrics=(metric,), resamples=20
    )
    (found,) = (r for r in results.comparisons if r.recommended)
    expected = stats.ttest_rel((a - truth) ** 2, (b - truth) ** 2)
    assert found.test == "paired_t"
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert abs(found.statistic or 0.0) == pytest.approx(abs(expected.statistic), rel=1e-9)
    assert (found.statistic or 0.0) * (found.difference or 0.0) > 0
