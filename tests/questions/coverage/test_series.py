"""Kupiec's and Christoffersen's tests of the misses of a series, by their formulas and in a run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.questions.coverage.compute import miss_tests
from tests.samples.coverages import series


def kupiec(n: int, x: int, share: float) -> float:
    """The formula of METHODS 7F, written out."""
    free = (1 - x / n) ** (n - x) * (x / n) ** x
    return float(-2 * np.log((1 - share) ** (n - x) * share**x / free))


def test_kupiec_and_christoffersen_are_their_formulas() -> None:
    """60 rows, 9 misses, of which three follow another; p-values by scipy."""
    missed = np.zeros(60, dtype=bool)
    missed[[3, 4, 5, 10, 20, 21, 30, 40, 59]] = True
    uc, independence, both = miss_tests("m", 0.9, missed)
    assert uc.statistic == pytest.approx(kupiec(60, 9, 0.1), rel=1e-9)
    assert uc.p_value == pytest.approx(stats.chi2.sf(uc.statistic, 1), rel=1e-9)
    pairs = list(itertools.pairwise(missed))
    n = {(a, b): pairs.count((a, b)) for a in (False, True) for b in (False, True)}
    p01 = n[False, True] / (n[False, True] + n[False, False])
    p11 = n[True, True] / (n[True, True] + n[True, False])
    p = (n[False, True] + n[True, True]) / 59
    free = (
        (1 - p01) ** n[False, False]
        * p01 ** n[False, True]
        * (1 - p11) ** n[True, False]
        * p11 ** n[True, True]
    )
    bound = (1 - p) ** (n[False, False] + n[True, False]) * p ** (n[False, True] + n[True, True])
    assert independence.statistic == pytest.approx(-2 * np.log(bound / free), rel=1e-9)
    assert both.statistic == pytest.approx(uc.statistic + independence.statistic, rel=1e-12)
    assert both.p_value == pytest.approx(stats.chi2.sf(both.statistic, 2), rel=1e-9)


def test_a_series_without_a_miss_has_kupiec_s_test_alone() -> None:
    """-2 n log(level); no transition says anything about independence."""
    uc, independence, both = miss_tests("m", 0.9, np.zeros(30, dtype=bool))
    assert uc.statistic == pytest.approx(-2 * 30 * np.log(0.9), rel=1e-12)
    assert (independence.p_value, both.p_value) == (None, None)
    assert independence.reason is not None


def test_miss_tests_are_run_in_order_of_time_only() -> None:
    """The same rows without --order time have none."""
    assert not er.evaluate(series(), resamples=20).coverage_tests
    found = er.evaluate(series(), order="time", resamples=20).coverage_tests
    assert [(t.model, t.test) for t in found] == [
        (m, t) for m in ("narrow", "right") for t in ("kupiec", "christoffersen", "conditional")
    ]
    narrow = next(t for t in found if t.model == "narrow")
    table = series().query("model == 'narrow'")
    misses = int((~table.y_true.between(table["y_low@90"], table["y_high@90"])).sum())
    assert narrow.misses == misses
    assert narrow.statistic == pytest.approx(kupiec(400, misses, 0.1), rel=1e-9)
