"""Sample sizes: against published figures, statsmodels, and simulated or enumerated power."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons import sample_size
from evalreport.comparisons.sample_size import (
    corrected_fold_error,
    detectable_accuracy_difference,
    detectable_difference,
    examples_needed,
)
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Evidence, Paired, PairedProportion, Proportion
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Fits, sampling_by
from tests.samples.pairs import labels, run, values

FIGURES = [(1000, 0.05, 2.0), (1000, 0.1, 2.8), (1000, 0.2, 4.0), (100, 0.1, 8.8), (5000, 0.1, 1.25)]


@pytest.mark.parametrize(("n", "discordant", "points"), FIGURES)
def test_published_figures(n: int, discordant: float, points: float) -> None:
    """Connett, Smith and McHugh's equation gives the figures of a simulation study of this project, to two digits."""
    assert 100 * detectable_accuracy_difference(n, discordant, 0.05) == pytest.approx(points, abs=0.06)


@pytest.mark.parametrize(
    ("n", "discordant", "most"), [(1000, 0.2, 0.83), (1000, 0.05, 0.84), (200, 0.015, 0.92)]
)
def test_power_at_the_detectable_difference_is_eighty_per_cent(
    n: int, discordant: float, most: float
) -> None:
    """McNemar's mid-p test finds that difference in about 80 % of test sets, by enumeration of the counts.

    Where the plain equation asks for more than the share of discordant examples (2.4 points of 1.5 %: found in
    55 %), that share is raised to the difference; all are then on one side, where the normal approximation
    promises too little.
    """
    d = detectable_accuracy_difference(n, discordant, 0.05)
    share = max(discordant, d)
    first = (share + d) / 2 / share
    total = np.arange(n + 1)
    weight = stats.binom.pmf(total, n, share)
    power = 0.0
    for m in total[weight > 1e-9]:
        b = np.arange(m + 1)
        smaller = np.minimum(b, m - b)
        p = 2 * stats.binom.cdf(smaller, m, 0.5) - stats.binom.pmf(smaller, m, 0.5)
        power += weight[m] * stats.binom.pmf(b, m, first)[np.minimum(p, 1) <= 0.05].sum()
    assert 0.78 < power < most


def test_examples_needed_solve_the_same_equation() -> None:
    """At the n given, the observed difference is the detectable one: the two sentences cannot contradict."""
    values = CountedRows(np.array([0.0, 1.0, -1.0]), np.array([900.0, 55.0, 45.0]))
    delta = _difference(0.01, 1000, PairedProportion(850.0, 55.0, 45.0, 50.0, values))
    needed = examples_needed(delta, 0.05)
    assert needed is not None
    assert detectable_accuracy_difference(needed, 0.1, 0.05) == pytest.approx(0.01, rel=1e-4)
    assert needed == math.ceil(
        ((1.959963985 * math.sqrt(0.1) + 0.841621234 * math.sqrt(0.1 - 0.0001)) / 0.01) ** 2
    )


@pytest.mark.slow
@pytest.mark.parametrize("affordable", [True, False])
def test_a_large_family_draws_more_replicates(affordable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """66 pairs at 5 % need limits of level 0.99924: more replicates are drawn, or, of too many rows, asked for."""
    if not affordable:
        monkeypatch.setattr("evalreport.comparisons.decisions.MOST_WEIGHTS", 0)
    random = np.random.default_rng(15)
    source, truth = {}, random.normal(size=200)
    for k in range(12):
        source |= values(truth, **{f"m{k:02d}": truth + (0.5 + 0.2 * k) * random.normal(size=200)})
    results = run(source, metrics=("medae",), resamples=1000)
    leading = [row for row in results.comparisons if row.recommended]
    assert {row.test for row in leading} == {"interval"}
    decided = [v for v in results.verdicts if v.verdict in ("better", "worse")]
    codes = {w.code for w in results.warnings}
    assert len(decided) > 20
    assert ("few_resamples_for_family" not in codes) == affordable


@pytest.mark.slow
def test_a_value_that_is_0_by_convention_is_compared() -> None:
    """A model without a positive answer has MCC 0 and influence 0: its pairs are tested and in the family."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 150)
    right = {f"m{k}": np.where(random.random(150) < q, 1 - truth, truth) for k, q in enumerate((0.1, 0.2))}
    zero = np.zeros(150, dtype=int)
    results = run(labels(truth, **right, nobody=zero, none=zero), metrics=("mcc",))
    by_pair = {frozenset(v.about): v for v in results.verdicts}
    assert [v.level for v in by_pair.values()] == pytest.approx([1 - 0.05 / 6] * 6)
    assert {by_pair[frozenset((m, z))].verdict for m in right for z in ("nobody", "none")} == {"better"}
    p_values = {
        frozenset((row.a, row.b)): (row.p_value, row.p_adjusted)
        for row in results.comparisons
        if row.recommended
    }
    assert p_values[frozenset(("nobody", "none"))] == (1.0, 1.0)
    (p, adjusted) = p_values[frozenset(right)]
    assert adjusted == pytest.approx(min(1, 2 * p))
    single = run(labels(truth, m0=right["m0"], nobody=zero), metrics=("mcc",))
    (pair,) = (row for row in single.comparisons if row.recommended)
    assert pair.difference == pytest.approx(next(r.value for r in single.metrics if r.model == "m0"))
    assert "nobody" in str(pair.reason)
    assert [(r.model, r.value) for r in single.ranking][1] == ("nobody", 0.0)


def _difference(value: float, n: int, evidence: Evidence, fits: Fits | None = None) -> Difference:
    """Return a difference of two accuracies."""
    sampling = sampling_by(n=n)
    accuracy = Estimate(
        model="m",
        quantity=Quantity("accuracy"),
        value=0.9,
        range=(0.0, 1.0),
        sampling=sampling,
        evidence=Proportion(0.9 * n, n),
    )
    return Difference(
        a=accuracy,
        b=accuracy,
        value=value,
        range=(-1.0, 1.0),
        sampling=sampling,
        evidence=evidence,
        fits=fits,
    )


def _of_fits(kind: str) -> Difference:
    """Return a difference on four fits, each tested on a third of what it was trained on."""
    codes = np.arange(4)
    fits = Fits(np.array([0.01, 0.03, 0.02, 0.06]), codes, codes, np.full(4, 30.0), np.full(4, 90.0), kind)
    return _difference(0.03, 120, Paired(), fits)


def test_detectable_difference_over_folds_has_one_degree_fewer_than_folds() -> None:
    """Student's quantiles of 3 degrees of freedom times sqrt((1/4 + 1/3) s^2), s^2 = 0.0014 / 3 (Nadeau and Bengio)."""
    error = math.sqrt((1 / 4 + 1 / 3) * 0.0014 / 3)
    expected = (stats.t.ppf(0.975, 3) + stats.t.ppf(0.8, 3)) * error
    assert detectable_difference(_of_fits("folds"), 0.05) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["replicates", "seeds", "datasets"])
def test_only_folds_have_the_error_of_folds(kind: str) -> None:
    """Fits of other training data than folds of one data set: no factor for shared training applies."""
    assert corrected_fold_error(_of_fits("folds")) == pytest.approx(math.sqrt((1 / 4 + 1 / 3) * 0.0014 / 3))
    assert corrected_fold_error(_of_fits(kind)) is None


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
        n = sample_size.examples_for(
            partial(sample_size.proportion_half_width, proportion=p, confidence=0.95), wanted
        )
        widths = [np.subtract(*wilson_limits(p * k, k, 0.95)[::-1]) / 2 for k in (n, n - 1)]
        assert widths[0] <= wanted < widths[1]


def test_a_mean_s_interval_is_as_narrow_as_planned():
    """t_{n-1} sd / sqrt(n) is at most the half-width at n and not at n - 1."""
    n = sample_size.examples_for(partial(sample_size.mean_half_width, sd=1.0, confidence=0.95), 0.1)
    widths = [stats.t.ppf(0.975, k - 1) / math.sqrt(k) for k in (n, n - 1)]
    assert widths[0] <= 0.1 < widths[1]


def test_the_error_of_an_auc_of_one_half():
    """At A = 1/2 the formula is that of Wilcoxon's null but for one: sqrt((P + N + 1) / (12 P N)) nearly."""
    p, n = 400, 600
    null = math.sqrt((p + n + 1) / (12 * p * n))
    assert sample_size.auc_error(0.5, p, n) == pytest.approx(null, rel=0.002)


def test_an_auc_with_rare_positives_needs_more_examples():
    """Positives and negatives count alike by symmetry, and balance is cheapest."""
    width = partial(sample_size.auc_half_width, auc=0.85, confidence=0.95)
    shares = (0.1, 0.3, 0.5, 0.7, 0.9)
    needed = [sample_size.examples_for(partial(width, prevalence=share), 0.03) for share in shares]
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
    folds, sd = 10, 0.02
    difference = sample_size.detectable_over_folds(folds, 1, sd, 0.05, 0.8)
    ratio = 1 / (folds - 1)
    # Nadeau and Bengio: correlation rho = n_test / (n_test + n_train), so rho / (1 - rho) = n_test / n_train.
    random, rho = np.random.default_rng(1), ratio / (1 + ratio)
    shared = random.normal(size=(40_000, 1)) * math.sqrt(rho / (1 - rho))
    x = difference + sd * (random.normal(size=(40_000, folds)) + shared)
    t = x.mean(axis=1) / np.sqrt(x.var(axis=1, ddof=1) * (1 / folds + ratio))
    assert (np.abs(t) >= stats.t.ppf(0.975, folds - 1)).mean() == pytest.approx(0.8, abs=0.02)


def test_repeats_have_a_floor():
    """Below the part that is shared no number of repeats is enough; above it the answer is the smallest that is."""
    sd, folds = 0.02, 10
    floor = sum(stats.norm.ppf([0.975, 0.8])) * sd / 3
    assert sample_size.repeats_needed(0.999 * floor, folds, sd, 0.05, 0.8) is None
    r = sample_size.repeats_needed(0.02, folds, sd, 0.05, 0.8)
    assert r is not None
    shown = [sample_size.detectable_over_folds(folds, k, sd, 0.05, 0.8) for k in (r, r - 1)]
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
    assert sample_size.discordance_of(0.9, 0.8) == pytest.approx((0.1, 0.26, 0.3))
