"""The intervals of a proportion cover as often as enumeration of all outcomes has said, to the printed digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.intervals import limits
from evalreport.intervals.proportions import equal_error_limits, wilson_limits
from evalreport.metrics.evidence import EqualErrors
from research.studies.enumeration import (
    paired_estimate,
    paired_limits,
    proportion_coverage,
    proportion_estimate,
    proportion_limits,
    smallest_sample,
)
from tests.samples.cases import every, quick

# Coverage of 95 % intervals by n and p, enumerated by another program before this one was written (three digits);
# the figures of the normal and of Wilson's interval agree with Brown, Cai and DasGupta (2001), section 2.
METHODS = ("normal", "wilson", "clopper_pearson", "jeffreys", "bootstrap_percentile")
TABLE = {
    (10, 0.9): (0.650, 0.930, 0.987, 0.987, 0.650),
    (30, 0.9): (0.809, 0.974, 0.992, 0.932, 0.950),
    (30, 0.95): (0.782, 0.939, 0.984, 0.984, 0.782),
    (100, 0.95): (0.877, 0.966, 0.983, 0.935, 0.959),
    (100, 0.99): (0.633, 0.921, 0.982, 0.982, 0.633),
    (1000, 0.99): (0.927, 0.964, 0.976, 0.945, 0.964),
}


@pytest.mark.parametrize("n, p", every(3, TABLE), ids=str)
def test_coverage_equals_the_enumerated_table(n: int, p: float) -> None:
    """Each interval's exact coverage is the tabulated one; half a unit of its last digit is allowed."""
    every = proportion_limits(n, METHODS)
    found = [proportion_coverage(n, np.array([p]), every[name])[0] for name in METHODS]
    assert found == pytest.approx(TABLE[n, p], abs=5.01e-4)


def test_mean_coverage_at_thirty() -> None:
    """At n = 30, averaged over p from 0.5 to 1, the normal interval covers 87.6 % and Wilson's 95.3 %.

    Same source as the table, three digits; its grid of p is not known, hence a whole unit of the last digit.
    """
    every, truths = proportion_limits(30, ("normal", "wilson")), np.arange(0.5, 1.0, 0.001)
    means = {name: proportion_coverage(30, truths, every[name]).mean() for name in every}
    assert means["normal"] == pytest.approx(0.876, abs=1e-3)
    assert means["wilson"] == pytest.approx(0.953, abs=1e-3)


@pytest.mark.parametrize("p, last_failure", every(3, [(0.8, 117), (0.9, 285), (0.95, 525)]))
def test_how_many_examples_the_normal_interval_needs(p: float, last_failure: int) -> None:
    """The normal interval keeps covering 93 % only beyond n = 117, 285, 525: "n > 30" is not enough (same source)."""
    assert smallest_sample(p, at_least=0.93, largest=1000) == last_failure + 1


@pytest.mark.parametrize("n", [*range(1, 31), 55, 100])
def test_clopper_and_pearson_never_cover_less(n: int) -> None:
    """Clopper and Pearson's interval covers at least 95 % whatever p: it inverts the exact test (1934)."""
    truths = np.linspace(0.001, 0.999, 999)
    every = proportion_limits(n, ("clopper_pearson",))
    assert proportion_coverage(n, truths, every["clopper_pearson"]).min() >= 0.95


@pytest.mark.parametrize("n", range(10, 101, 10))
def test_wilson_inverts_the_score_test(n: int) -> None:
    """Wilson's interval holds exactly those p whose score test |x - np| / sqrt(np(1-p)) is below z (definition)."""
    truths, x = np.linspace(0.0005, 0.9995, 1000), np.arange(n + 1)
    z = np.abs(x - n * truths[:, None]) / np.sqrt(n * truths * (1 - truths))[:, None]
    accepted = z <= stats.norm.ppf(0.975)
    expected = (stats.binom.pmf(x, n, truths[:, None]) * accepted).sum(axis=1)
    every = proportion_limits(n, ("wilson",))
    assert proportion_coverage(n, truths, every["wilson"]) == pytest.approx(expected, abs=1e-12)


def test_exact_bootstrap_is_the_binomial() -> None:
    """The enumerated study's replicates have the mean x/n and the variance x/n (1 - x/n) / n of the bootstrap."""
    estimate = proportion_estimate(27, 30)
    assert estimate.replicates is not None
    # 1,999 midpoint quantiles carry the moments of a 30-step distribution to three digits.
    assert estimate.replicates.mean() == pytest.approx(0.9, abs=1e-4)
    assert estimate.replicates.var() == pytest.approx(0.9 * 0.1 / 30, rel=5e-3)


@pytest.mark.parametrize("n", quick([1, 2, 7, 30], [1, 2, 7]))
@pytest.mark.parametrize("method", ["tango", "newcombe_paired"])
def test_paired_intervals_exist_on_every_table(n: int, method: str) -> None:
    """Both paired intervals have limits on every table, also without disagreement and with all of it on one side."""
    for low, high in paired_limits(n, 0.95)[method]:
        assert -1 <= low <= high <= 1


def test_paired_intervals_mirror() -> None:
    """Swapping the models mirrors both paired intervals at 0."""
    for method in ("tango", "newcombe_paired"):
        one = limits(paired_estimate(20, 7, 2, 1), method, 0.95)
        other = limits(paired_estimate(20, 2, 7, 1), method, 0.95)
        assert one.low is not None
        assert one.high is not None
        assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)), abs=1e-10)


def test_no_disagreement_leaves_a_width() -> None:
    """Without disagreement on n examples Tango's limit solves the score equation: d / (1 - d) = z^2 / n.

    With b = c = 0 the restricted estimate is q = 0 and the score -sqrt(n d / (1 - d)), by hand.
    """
    one = limits(paired_estimate(25, 0, 0, 5), "tango", 0.95)
    ratio = stats.norm.ppf(0.975) ** 2 / 30
    assert (one.low, one.high) == pytest.approx((-ratio / (1 + ratio), ratio / (1 + ratio)), abs=1e-9)


def _corners(score: np.ndarray, positive: np.ndarray) -> EqualErrors:
    """Return the corners of a ROC curve, as a loop over thresholds finds them."""
    cuts = [np.inf, *sorted(set(score), reverse=True)]
    found, wrong = ([float((score[kind] >= cut).sum()) for cut in cuts] for kind in (positive, ~positive))
    return EqualErrors(np.array(found), np.array(wrong))


@pytest.mark.parametrize("n, positives, levels", every(3, [(40, 12, 0), (60, 5, 0), (50, 20, 4)]))
def test_limits_of_the_equal_error_rate_are_those_of_the_score_test(
    n: int, positives: int, levels: int
) -> None:
    """A rate lies within exactly where some threshold's two error rates agree with it, by trying every one."""
    random = np.random.default_rng([n, positives])
    positive = np.arange(n) < positives
    score = random.normal(size=n) + 1.2 * positive
    score = np.round(score) if levels else score
    errors = _corners(score, positive)
    z2 = stats.norm.ppf(0.975) ** 2
    # Between two corners examples of one score are called at random, each with the same chance.
    shares = np.linspace(0, 1, 401)[:, None]
    found, wrong = (sums[:-1] + shares * np.diff(sums) for sums in (errors.found, errors.wrong))
    missed, alarms = (1 - found / positives).ravel(), (wrong / (n - positives)).ravel()
    rates = np.arange(0.0005, 1, 0.001)[:, None]
    left = positives * (missed - rates) ** 2 + (n - positives) * (alarms - rates) ** 2
    agree = (left <= z2 * rates * (1 - rates)).any(axis=1)
    low, high = equal_error_limits(errors, float(rates[agree].mean()), 0.95)
    assert low == pytest.approx(rates[agree].min(), abs=1.1e-3)
    assert high == pytest.approx(rates[agree].max(), abs=1.1e-3)


def test_beside_very_many_negatives_they_are_the_rarer_class_s() -> None:
    """With the false alarms known exactly the rate is that of 3 missed among 12 positives, as Wilson has it."""
    # A quarter of the negatives lies above the nine positives that are found, the others below the three missed.
    errors = EqualErrors(np.array([0.0, 0.0, 9.0, 9.0, 12.0]), np.array([0.0, 2.5e8, 2.5e8, 1e9, 1e9]))
    low, high = equal_error_limits(errors, 0.25, 0.95)
    assert low <= 0.25 <= high
    # Between the corners the positives' error rate is 3 / 12 at every rate of alarms above a quarter.
    assert high == pytest.approx(wilson_limits(3, 12, 0.95)[1], abs=1e-3)


def test_limits_at_a_cut_lead_at_any_size_and_do_not_hang_on_how_rows_are_given() -> None:
    """Five positives of forty: equal errors and R-precision have closed limits, of shuffled rows and new labels too."""
    random = np.random.default_rng(5)
    true = np.array([1] * 5 + [0] * 35)
    score = 1 / (1 + np.exp(-np.round(random.normal(size=40) + 1.5 * true, 1)))
    order = random.permutation(40)
    plain = {"id": np.arange(40), "y_true": true, "p_1": score}
    other = {"id": order, "y_true": np.array(["ill", "a well one"])[1 - true][order], "p_ill": score[order]}
    names = {"metrics": ("eer", "r_precision"), "resamples": 100}
    results = (er.evaluate({"m": plain}, **names), er.evaluate({"m": other}, positive="ill", **names))
    for before, after in zip(*(each.metrics for each in results), strict=True):
        first, again = before.intervals[0], after.intervals[0]
        assert first.method == "threshold_wilson"
        assert (first.low, first.high) == pytest.approx((again.low, again.high), rel=1e-9)
        assert first.low <= before.value <= first.high
        assert first.high - first.low > 0.2
