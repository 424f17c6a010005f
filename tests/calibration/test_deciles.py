"""The test of deciles sees a step that level, spread and curvature do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.calibration.deciles import decile_test
from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import score_test
from evalreport.questions.calibration.section import describe
from evalreport.report.view import view_of


def steps(n: int, seed: int) -> Risks:
    """Return probabilities about 26 and 57 % where 16 and 68 % happen, and the reverse beyond (METHODS 7P)."""
    random = np.random.default_rng(seed)
    true = np.repeat([0.05, 0.16, 0.42, 0.68, 0.85], n // 5)
    p = np.repeat([0.05, 0.26, 0.42, 0.57, 0.85], n // 5) + random.uniform(-0.02, 0.02, n)
    return Risks(p, (random.random(n) < true).astype(float))


@pytest.mark.slow
def test_a_step_is_found_in_nearly_all_data_sets() -> None:
    """At 1 %, of 2,500 examples; the scores at 4 % find it less often."""
    found, by_scores = 0, 0
    for seed in range(20):
        risks = steps(2500, seed)
        scores = score_test(risks, seed=0)
        assert scores is not None
        by_scores += scores.p_value <= 0.04
        found += (decile_test(risks, seed=0) or 1.0) <= 0.01
    assert found >= 19
    assert found >= by_scores


@pytest.mark.slow
@pytest.mark.parametrize("n", [1500, 6000])
def test_the_p_value_is_that_of_chi_square_where_deciles_are_large(n: int) -> None:
    """Ten independent standardised sums: chi-square with ten degrees of freedom, within the error of 2,000 draws."""
    random = np.random.default_rng(n)
    for seed in range(6):
        p = random.uniform(0.1, 0.9, n)
        y = (random.random(n) < np.clip(p + 0.04, 0, 1)).astype(float)
        decile = np.minimum(9, (10 * (stats.rankdata(p) - 0.5) / n).astype(int))
        by_decile = [np.bincount(decile, weights=w) for w in (y, p, p * (1 - p))]
        expected = stats.chi2.sf(((by_decile[0] - by_decile[1]) ** 2 / by_decile[2]).sum(), 10)
        found = decile_test(Risks(p, y), seed=seed)
        assert found is not None
        draws = 200 if found >= 0.5 else 2000
        assert found == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / draws) + 2e-3)


def test_few_events_clusters_and_weights_have_no_test_of_deciles() -> None:
    """49 events, 49 non-events; examples that vary together or weigh differently."""
    p = np.full(400, 0.12)
    few = np.repeat([1.0, 0.0], [49, 351])
    enough = np.repeat([1.0, 0.0], [50, 350])
    assert decile_test(Risks(p, few), seed=0) is None
    assert decile_test(Risks(p, 1 - few), seed=0) is None
    assert decile_test(Risks(p, enough), seed=0) is not None
    assert decile_test(Risks(p, enough, np.full(400, 2.0)), seed=0) is None
    assert decile_test(Risks(p, enough, None, np.arange(400) // 2), seed=0) is None


def test_the_record_and_the_heading_follow_both_tests() -> None:
    """A step is "shape" by drawn outcomes; with few events the heading says what it looked at."""
    risks = steps(2500, 1)
    ids = [f"{i:05d}" for i in range(2500)]
    source = {"m": {"id": ids, "y_true": risks.y.astype(int), "p_1": risks.p}}
    results = evalreport.evaluate(source, task="binary", metrics=["log_loss"], resamples=2)
    (record,) = results.calibration
    assert (record.part, record.p_method) == ("shape", "monte_carlo")
    assert record.p_deciles is not None
    assert record.p_score is not None
    assert record.p_value == pytest.approx(min(1, 5 * record.p_deciles, 1.25 * record.p_score))
    heading = describe(view_of(results))
    assert heading is not None
    assert heading.heading.startswith("Calibration: m’s curve is off in shape")
    random = np.random.default_rng(2)
    p = random.uniform(0.02, 0.2, 300)
    y = (random.random(300) < p).astype(int)
    assert y.sum() < 50
    few = {"m": {"id": ids[:300], "y_true": y, "p_1": p}}
    section = describe(view_of(evalreport.evaluate(few, task="binary", metrics=["log_loss"], resamples=2)))
    assert section is not None
    assert section.heading.startswith(
        "Calibration: No miscalibration shows in level, spread or curvature: m "
    )
