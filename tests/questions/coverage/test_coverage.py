"""The question of coverage: by level, by tenths, in series, and the sentence that heads its section."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evalreport as er
from evalreport.questions.coverage.section import sentence
from evalreport.questions.coverage.series import miss_tests
from evalreport.report.view import view_of


def series(n: int = 400) -> pd.DataFrame:
    """Two models' 90 % intervals, one of them too narrow, of unlike widths, in order of time."""
    rng = np.random.default_rng(12)
    spread = rng.uniform(0.5, 2, n)
    y = rng.normal(0, spread)
    frames = [
        pd.DataFrame(
            {
                "id": [f"e{k:03d}" for k in range(n)],
                "model": model,
                "y_true": y,
                "y_low@90": -1.645 * width * spread,
                "y_high@90": 1.645 * width * spread,
                "time": np.arange(n),
            }
        )
        for model, width in (("narrow", 0.7), ("right", 1.0))
    ]
    return pd.concat(frames)


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


def test_tenths_hold_as_many_rows_and_add_up() -> None:
    """By the model's own widths and by time: ten parts of 40 rows whose mean coverage is the whole's."""
    results = er.evaluate(series(), resamples=20)
    whole = {r.model: r.coverage for r in results.coverages if r.by == "all"}
    for by in ("width", "time"):
        for model in ("narrow", "right"):
            own = [r for r in results.coverages if (r.by, r.model) == (by, model)]
            assert [r.part for r in own] == list(range(1, 11))
            assert {r.n for r in own} == {40}
            assert np.mean([r.coverage for r in own]) == pytest.approx(whole[model], rel=1e-12)
    ends = [r.ends for r in results.coverages if (r.by, r.model) == ("width", "right")]
    assert ends == sorted(ends)


def test_the_heading_says_how_often_and_who_is_narrower() -> None:
    """A true sentence about the two models that rank first: shares with Wilson's limits, the ratio of mean widths."""
    results = er.evaluate(series(), resamples=20)
    ratio = results.width_ratios[0]
    assert ratio.ratio == pytest.approx(0.7, rel=1e-9)
    said = sentence(view_of(results))
    held = {r.model: r.coverage for r in results.coverages if r.by == "all"}
    assert f"{100 * held['right']:.1f}" in said
    assert "narrow's are 30 % narrower" in said


def test_clusters_widen_the_limits_of_the_ratio() -> None:
    """The derivatives are added up by cluster: four copies of each row are no more evidence."""
    rng = np.random.default_rng(5)
    base = series(100)
    base["y_high@90"] *= rng.uniform(0.8, 1.2, len(base))
    copies = pd.concat([base.assign(id=base["id"] + f"-{k}", group=base["id"]) for k in range(4)])
    one = er.evaluate(base, resamples=20).width_ratios[0]
    many = er.evaluate(copies, cluster="group", resamples=20).width_ratios[0]
    assert many.low == pytest.approx(one.low, rel=1e-9)
    assert many.high == pytest.approx(one.high, rel=1e-9)
