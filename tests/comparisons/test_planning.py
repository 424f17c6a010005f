"""Planning: against published figures, statsmodels, and simulated or enumerated power."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons import sample_size
from evalreport.comparisons.sample_size import detectable_accuracy_difference
from evalreport.comparisons.study_design import Measure, answers
from evalreport.errors import UsageError
from evalreport.intervals.proportions import wilson_limits


@pytest.mark.parametrize(
    "n, discordance, points",
    [(1000, 0.05, 2.0), (1000, 0.1, 2.8), (1000, 0.2, 4.0), (100, 0.1, 8.8), (5000, 0.1, 1.25)],
)
def test_detectable_differences_of_accuracies(n: int, discordance: float, points: float):
    """sqrt(n) d = 1.960 sqrt(p_d) + 0.842 sqrt(p_d - d^2), solved by hand to the digits shown."""
    found = 100 * detectable_accuracy_difference(n, discordance, 0.05)
    assert found == pytest.approx(points, abs=0.05)
    # The examples for that difference are those it was computed from.
    assert sample_size.examples_for_paired_accuracies(found / 100, discordance, 0.05, 0.8) == pytest.approx(
        n, abs=1
    )


def test_paired_power_by_simulation():
    """With the planned n McNemar's mid-p test finds the difference about as often as planned: 0.8 +- 0.03."""
    discordance, difference = 0.1, 0.03
    n = sample_size.examples_for_paired_accuracies(difference, discordance, 0.05, 0.8)
    random = np.random.default_rng(0)
    b_share, c_share = (discordance + difference) / 2, (discordance - difference) / 2
    draws = random.multinomial(n, [b_share, c_share, 1 - discordance], size=20_000)
    m, smaller = draws[:, 0] + draws[:, 1], np.minimum(draws[:, 0], draws[:, 1])
    p = 2 * stats.binom.cdf(smaller, m, 0.5) - stats.binom.pmf(smaller, m, 0.5)
    assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.03)


def test_a_wilson_interval_is_as_narrow_as_planned():
    """That n gives the wanted half-width and n - 1 does not: the limits themselves say so."""
    for p, wanted in ((0.5, 0.05), (0.9, 0.02), (0.99, 0.01)):
        n = sample_size.examples_for_proportion(wanted, p)
        widths = [np.subtract(*wilson_limits(p * k, k, 0.95)[::-1]) / 2 for k in (n, n - 1)]
        assert widths[0] <= wanted < widths[1]


def test_a_mean_s_interval_is_as_narrow_as_planned():
    """t_{n-1} sd / sqrt(n) is at most the half-width at n and not at n - 1."""
    n = sample_size.examples_for_mean(0.1, 1.0)
    widths = [stats.t.ppf(0.975, k - 1) / math.sqrt(k) for k in (n, n - 1)]
    assert widths[0] <= 0.1 < widths[1]


def test_the_error_of_an_auc_of_one_half():
    """At A = 1/2 the formula is that of Wilcoxon's null but for one: sqrt((P + N + 1) / (12 P N)) nearly."""
    p, n = 400, 600
    null = math.sqrt((p + n + 1) / (12 * p * n))
    assert sample_size.auc_error(0.5, p, n) == pytest.approx(null, rel=0.002)


def test_an_auc_with_rare_positives_needs_more_examples():
    """Positives and negatives count alike by symmetry, and balance is cheapest."""
    needed = [sample_size.examples_for_auc(0.03, 0.85, share) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert needed == needed[::-1]
    assert needed[0] > needed[1] > needed[2]


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.8])
def test_mean_differences_agree_with_statsmodels(effect: float):
    """TTestPower of statsmodels gives the same n, rounded up."""
    from statsmodels.stats.power import TTestPower

    reference = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    n = sample_size.examples_for_mean_difference(effect, 1.0, 0.05, 0.8)
    assert n == math.ceil(reference)
    assert sample_size.detectable_mean_difference(n, 1.0, 0.05, 0.8) <= effect


def test_small_error_rates_are_planned_for():
    """There the solver of statsmodels ends too early; the distribution itself says that ours is the smallest."""
    n = sample_size.examples_for_mean_difference(0.5, 1.0, 0.001, 0.99)
    power = [stats.nct.sf(stats.t.isf(0.0005, m - 1), m - 1, 0.5 * math.sqrt(m)) for m in (n - 1, n)]
    assert power[0] < 0.99 <= power[1]


def test_independent_sets_agree_with_the_textbook():
    """Fleiss, Levin and Paik (2003), equation 4.14 without continuity correction, worked out here."""
    p1, p2 = 0.9, 0.85
    mean = (p1 + p2) / 2
    z_a, z_b = stats.norm.ppf([0.975, 0.8])
    spread = z_a * math.sqrt(2 * mean * (1 - mean)) + z_b * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    expected = math.ceil((spread / (p1 - p2)) ** 2)
    assert sample_size.examples_for_independent_sets(p1, p2, 0.05, 0.8) == expected
    assert sample_size.examples_for_independent_sets(p2, p1, 0.05, 0.8) == expected


def test_one_model_against_a_value_has_the_planned_power():
    """The exact two-sided power of the score test at the planned n, enumerated, is near the wanted 0.8."""
    p0, p1 = 0.8, 0.85
    n = sample_size.examples_against_value(p0, p1, 0.05, 0.8)
    k = np.arange(n + 1)
    rejects = np.abs(k / n - p0) / math.sqrt(p0 * (1 - p0) / n) >= stats.norm.ppf(0.975)
    assert stats.binom.pmf(k, n, p1)[rejects].sum() == pytest.approx(0.8, abs=0.02)


def test_the_corrected_t_has_the_planned_power():
    """Fold differences of the assumed correlation, simulated: power 0.8 +- 0.02 at the planned difference."""
    plan, sd = sample_size.Folds(10), 0.02
    difference = sample_size.detectable_over_folds(plan, sd, 0.05, 0.8)
    ratio = 1 / (plan.folds - 1)
    # Nadeau and Bengio: correlation rho = n_test / (n_test + n_train), so rho / (1 - rho) = n_test / n_train.
    random, rho = np.random.default_rng(1), ratio / (1 + ratio)
    shared = random.normal(size=(40_000, 1)) * math.sqrt(rho / (1 - rho))
    x = difference + sd * (random.normal(size=(40_000, plan.fits)) + shared)
    t = x.mean(axis=1) / np.sqrt(x.var(axis=1, ddof=1) * plan.variance_factor)
    assert (np.abs(t) >= stats.t.ppf(0.975, plan.fits - 1)).mean() == pytest.approx(0.8, abs=0.02)


def test_repeats_have_a_floor():
    """Below the part that is shared no number of repeats is enough; above it the answer is the smallest that is."""
    sd, folds = 0.02, 10
    floor = sum(stats.norm.ppf([0.975, 0.8])) * sd / 3
    assert sample_size.repeats_needed(0.999 * floor, folds, sd, 0.05, 0.8) is None
    r = sample_size.repeats_needed(0.02, folds, sd, 0.05, 0.8)
    assert r is not None
    shown = [
        sample_size.detectable_over_folds(sample_size.Folds(folds, k), sd, 0.05, 0.8) for k in (r, r - 1)
    ]
    assert shown[0] <= 0.02 < shown[1]


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.005, 0.25])
@pytest.mark.parametrize("exact", [True, False])
def test_discordant_needed(alpha: float, exact: bool):
    """With so many discordant examples all on one side p <= alpha, with one fewer not."""
    m = sample_size.discordant_needed(alpha, exact=exact)
    p = [0.5**k * (2 if exact else 1) for k in (m, m - 1)]
    assert p[0] <= alpha < p[1]


def test_what_two_accuracies_allow():
    """0.9 and 0.8: at least 0.1 apart, 0.26 when independent, 0.3 when no error is shared (by hand)."""
    found = sample_size.discordance_of(0.9, 0.8)
    assert (found.least, found.independent, found.most) == pytest.approx((0.1, 0.26, 0.3))


@pytest.mark.parametrize(
    "question, said",
    [
        ({"difference": 0.2, "discordance": 0.1}, "--discordance"),
        ({"measure": "mean", "difference": 0.1}, "--sd"),
        ({"layout": "one", "difference": 0.1}, "--against"),
        ({"layout": "folds"}, "--sd"),
        ({"measure": "auc", "difference": 0.1}, "pilot"),
        ({"difference": 0.5, "expected": (0.3,)}, "between 0 and 1"),
        ({"half_width": 1e-9}, "ask for less"),
    ],
)
def test_impossible_plans_say_what_is_missing(question: dict[str, Any], said: str):
    """A plan that lacks an assumption, or asks for what cannot be, names the option."""
    with pytest.raises(UsageError, match=said):
        answers(**question)


def test_without_a_question_usual_numbers_are_shown():
    """The overview holds 100 to 10,000 examples; what cannot be found with them is none."""
    overview, discordant = answers()
    assert len(overview.rows) == 15
    assert overview.rows[0].answer is None, "100 examples of which 5 are discordant"
    assert [row.answer for row in discordant.rows] == [5, 6]


def test_without_repeats_a_plan_of_folds_begins_with_one_run():
    """One, five, ten and a hundred runs of the cross-validation; each is the plan in which that number is given."""
    (usual,) = answers(layout="folds", sd=0.02)
    single = [answers(layout="folds", sd=0.02, repeats=r)[0].rows[0] for r in (1, 5, 10, 100)]
    assert [row.answer for row in usual.rows] == [row.answer for row in single]


@pytest.mark.parametrize("measure", ["accuracy", "auc"])
def test_half_widths_are_shown_for_usual_values_unless_one_is_expected(measure: Measure):
    """Without an expected value 0.5, 0.8, 0.9 and 0.95 are shown, each as if it had been expected."""
    usual = answers(measure=measure, layout="one", examples=400)[-1]
    alone = [
        answers(measure=measure, layout="one", examples=400, expected=(value,))[-1].rows
        for value in (0.5, 0.8, 0.9, 0.95)
    ]
    assert [len(rows) for rows in alone] == [1, 1, 1, 1]
    assert [row.answer for row in usual.rows] == [rows[0].answer for rows in alone]
