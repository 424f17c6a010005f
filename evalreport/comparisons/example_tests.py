"""Tests over examples: of labels and proportions, of means and ranks of losses, of areas under the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability, register
from evalreport.engine.distributions import (
    binomial_at_least,
    binomial_at_most,
    chi2_tail,
    normal_tail,
    t_tail,
)
from evalreport.engine.ranks import equalised, mid_ranks, signed_rank_tail, standardised
from evalreport.engine.time_order import truncated_variance
from evalreport.intervals.registry import evidence_of
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.evidence import TwoProportions
from evalreport.predictions.arrays import Floats, required
from evalreport.samplings import STUDENTS, InOrder, Student, StudentError
from evalreport.texts import Message


def _discordant(pair: Pair) -> tuple[int, int]:
    _, b, c, _ = required(pair.agreement)
    return round(b), round(c)


def _outcome(pair: Pair, statistic: float, p: float, df: float | None = None) -> Outcome:
    """Add the effect size, the odds ratio b / c, undefined where one of them is 0; and the counts."""
    b, c = _discordant(pair)
    counts = {"n": sum(required(pair.agreement)), "only_a": float(b), "only_b": float(c)}
    ratio = b / c if b and c else None
    return Outcome(statistic, probability(p), df, "odds_ratio_discordant", ratio, details=counts)


@comparison_test(
    "McNemar, mid-p",
    "agreement",
    beside=("mcnemar_exact", "mcnemar", "mcnemar_corrected", "bootstrap_difference"),
)
def mcnemar_midp(pair: Pair) -> Outcome:
    """Exact binomial test on the discordant examples in which the observed outcome counts half."""
    b, c = _discordant(pair)
    return _outcome(pair, min(b, c), _midp(b, c))


def _midp(b: int, c: int) -> float:
    n, smaller = b + c, min(b, c)
    if b == c:
        return 1.0
    return binomial_at_most(smaller, n, 0.5) + binomial_at_most(smaller - 1, n, 0.5)


@comparison_test("McNemar, exact", "agreement")
def mcnemar_exact(pair: Pair) -> Outcome:
    """Exact two-sided binomial test on the discordant examples."""
    b, c = _discordant(pair)
    return _outcome(pair, min(b, c), _exact(b, c))


def _exact(b: int, c: int) -> float:
    return 1.0 if b == c else 2 * binomial_at_most(min(b, c), b + c, 0.5)


P_OF_COUNTS: Mapping[str, Callable[[int, int], float]] = {"mcnemar_midp": _midp, "mcnemar_exact": _exact}
"""The p-values that follow from the counts of discordant examples alone, by the names of their tests."""


@comparison_test("McNemar, chi-squared", "agreement", large_samples=True)
def mcnemar(pair: Pair) -> Outcome:
    """Chi-squared test (b - c)^2 / (b + c) on the discordant examples."""
    b, c = _discordant(pair)
    statistic = (b - c) ** 2 / (b + c) if b + c else 0.0
    return _outcome(pair, statistic, chi2_tail(statistic, 1), 1)


@comparison_test("McNemar, corrected", "agreement", large_samples=True)
def mcnemar_corrected(pair: Pair) -> Outcome:
    """Chi-squared test on the discordant examples with Edwards' continuity correction, (max(|b - c| - 1, 0))^2."""
    b, c = _discordant(pair)
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c) if b + c else 0.0
    return _outcome(pair, statistic, chi2_tail(statistic, 1), 1)


@comparison_test("Two-proportion z, pooled", "independent", beside=("bootstrap_difference",))
def two_proportions_z(pair: Pair) -> Outcome:
    """Difference of two proportions from independent test sets over its error under one common proportion."""
    table = evidence_of(pair.difference, TwoProportions)
    (x1, n1), (x2, n2) = ((side.successes, side.trials) for side in (table.a, table.b))
    # Cohen's h: the difference of the angles whose squared sines are the proportions.
    h = 2 * math.asin(math.sqrt(x1 / n1)) - 2 * math.asin(math.sqrt(x2 / n2))
    difference = x1 / n1 - x2 / n2
    pooled = (x1 + x2) / (n1 + n2)
    if abs(difference) <= 1e-15:  # shares lie in [0, 1]
        return Outcome(0.0, 1.0, None, "cohen_h", 0.0)
    statistic = difference / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return Outcome(statistic, probability(2 * normal_tail(abs(statistic))), None, "cohen_h", h)


@dataclass(frozen=True, slots=True)
class AgainstRate:
    """One model's successes in independent trials, and the rate that it has to beat."""

    successes: float
    trials: float
    rate: float


@comparison_test("Exact binomial, one sample", "one_model")
def binomial_exact(one: AgainstRate) -> Outcome:
    """Probability of at least so many right answers if each were right with the rate of the most frequent class."""
    p = binomial_at_least(one.successes, one.trials, one.rate)
    return Outcome(one.successes, probability(p), None, details={"rate": one.rate, "n": one.trials})


NEGLIGIBLE = 1e-12
"""A standard error of at most this share of the difference is rounding."""

NO_SPREAD = Message("reason.no_spread")


@comparison_test("Paired t", "mean_losses", beside=("bootstrap_difference",))
def paired_t(pair: Pair) -> Outcome:
    """Student's t test on the differences of the two models' losses, example by example.

    Of a metric that is no mean of losses (RMSE, R²) on those of the squared errors, whose means are equal just where
    its values are.
    """
    delta, rows = pair.difference, pair.by_example
    mean, error, units = delta.value, delta.corrected_error, delta.sampling.n_units
    if delta.metric.per_example is None and rows is not None:
        mean, error = _mean_of_squares(pair, rows)
    # Rows that are alike count once here: whether any difference is other than 0 does not depend on their number.
    alike = mean == 0 == error if rows is None else not (rows.values[:, 0] - rows.values[:, 1]).any()
    if alike:
        return Outcome(0.0, 1.0, units - 1, "cohen_d", 0.0)
    if error is None:
        return Outcome(None, None, reason=Message("reason.one_example"))
    if error <= NEGLIGIBLE * abs(mean):
        return Outcome(None, None, units - 1, reason=NO_SPREAD)
    p = probability(2 * t_tail(abs(mean / error), units - 1))
    return Outcome(mean / error, p, units - 1, "cohen_d", mean / (error * math.sqrt(units)))


def _mean_of_squares(pair: Pair, rows: CountedRows) -> tuple[float, float | None]:
    """Return the mean difference of squared errors, its sign that of the metric's difference, and its error."""
    differences, counts = rows.values[:, 0] - rows.values[:, 1], rows.counts
    n = len(differences) if counts is None else float(counts.sum())
    mean = float(np.average(differences, weights=counts))
    if n < 2:
        return mean, None
    away = np.abs(differences - mean)
    # Squares of squared errors can be larger than the largest double.
    most = float(away.max()) or 1.0
    squares = float(np.average((away / most) ** 2, weights=counts))
    return math.copysign(mean, pair.difference.value or mean), most * math.sqrt(squares / (n - 1))


@comparison_test("Diebold-Mariano, corrected", "horizon")
def diebold_mariano(pair: Pair) -> Outcome:
    """Mean difference of losses over its error from h - 1 autocovariances, by t with n - 1 degrees of freedom.

    The statistic is multiplied by sqrt((n + 1 - 2 h + h (h - 1) / n) / n), for forecasts h steps ahead. At h = 1 it is
    the paired t test. There is no p-value where the variance is negative, which these autocovariances do not exclude.
    """
    sampling, h = pair.difference.sampling, pair.horizon
    assert isinstance(sampling, InOrder)
    losses = sampling.in_order(pair.losses)
    differences = losses[:, 0] - losses[:, 1]
    n = len(differences)
    if not differences.any():
        return Outcome(0.0, 1.0, n - 1)
    factor = (n + 1 - 2 * h + h * (h - 1) / n) / n
    mean = float(differences.mean())
    variance = truncated_variance((differences - mean) / n, h - 1)
    if n <= h or factor <= 0 or variance <= 0:
        return Outcome(None, None, n - 1, reason=Message("reason.no_variance_in_time", h=h))
    statistic = mean / math.sqrt(variance) * math.sqrt(factor)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), n - 1)), n - 1)


def t(pair: Pair, *, student: Student) -> Outcome:
    """Divide the difference by the error of its sampling, under one of its names (``samplings.STUDENTS``)."""
    delta = pair.difference
    error = student.error(delta)
    if error is None:
        return Outcome(None, None, reason=delta.sampling.alone)
    outcome = by_error(pair, error)
    return outcome if student.details is None else replace(outcome, details=student.details(delta))


def by_error(pair: Pair, student: StudentError) -> Outcome:
    """Divide the difference by an error, by t; with infinite degrees of freedom by z."""
    difference, df = pair.difference.value, None if math.isinf(student.df) else student.df
    if student.error <= NEGLIGIBLE * abs(difference):
        alike = abs(difference) <= NEGLIGIBLE * max(abs(pair.a.value), abs(pair.b.value))
        return Outcome(0.0, 1.0, df) if alike else Outcome(None, None, df, reason=NO_SPREAD)
    statistic = difference / student.error
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), student.df)), df)


for _student in STUDENTS:
    if _student.test:
        register(
            partial(t, student=_student),
            _student.name,
            _student.label,
            _student.test,
            "seeds" if _student.over_fits else "student",
            beside=_student.beside,
            source=_student.source,
        )


def ranked_blocks(pair: Pair) -> Floats:
    """Return the difference on each block, (m,), as the rank tests read them: those that agree are equal."""
    rows = required(pair.difference.rows)
    return equalised(pair.blocks, rows.compared)


def _counted_blocks(pair: Pair) -> tuple[Floats, Floats]:
    """Return the differences, (m,), those that agree being equal, and how many blocks have each."""
    rows = required(pair.difference.rows)
    times = np.ones(len(rows.values)) if rows.counts is None else rows.counts
    return equalised(rows.values, rows.compared), times


@comparison_test(
    "Wilcoxon signed rank",
    "blocks",
    beside=("sign", "bayes_signed_rank", "nemenyi", "conover"),
    inverse="hodges_lehmann",
)
def wilcoxon(pair: Pair) -> Outcome:
    """Sum of the ranks of the positive differences: exact up to 50, ties included, else normal with tie correction."""
    differences, times = _counted_blocks(pair)
    moved, times = differences[differences != 0], times[differences != 0]
    if not len(moved):
        return _no_difference()
    ranks = mid_ranks(np.abs(moved), times)
    p = min(1.0, 2 * min(signed_rank_tail(moved, times), signed_rank_tail(-moved, times)))
    return _rank_outcome(float((times * ranks)[moved > 0].sum()), ranks, times, p)


@comparison_test("Wilcoxon signed rank, Pratt's zeros", "blocks", inverse="hodges_lehmann")
def wilcoxon_pratt(pair: Pair) -> Outcome:
    """Signed ranks where differences of 0 take the lowest ranks and count on neither side, normal approximation."""
    differences, times = _counted_blocks(pair)
    if not differences.any():
        return _no_difference()
    moved = differences != 0
    ranks, times = mid_ranks(np.abs(differences), times)[moved], times[moved]
    positive = float((times * ranks)[differences[moved] > 0].sum())
    p = 2 * normal_tail(abs(standardised(ranks, times, positive)))
    return _rank_outcome(positive, ranks, times, p)


def _rank_outcome(positive: float, ranks: Floats, times: Floats, p: float) -> Outcome:
    """Add the rank-biserial correlation: the favourable less the unfavourable share of the ranks (Kerby 2014)."""
    share, details = positive / float((times * ranks).sum()), {"n": float(times.sum())}
    return Outcome(positive, probability(p), None, "rank_biserial", 2 * share - 1, details=details)


def _no_difference() -> Outcome:
    return Outcome(0.0, 1.0, None, "rank_biserial", 0.0, details={"n": 0.0})


@comparison_test("Sign", "blocks")
def sign(pair: Pair) -> Outcome:
    """Exact two-sided binomial test on the number of positive among the differences other than 0."""
    differences, times = _counted_blocks(pair)
    positive, negative = (int(times[side].sum()) for side in (differences > 0, differences < 0))
    n, smaller = positive + negative, min(positive, negative)
    details = {"n": float(n)}
    if positive == negative:
        return Outcome(float(positive), 1.0, None, "cohen_g", 0.0, details=details)
    p = min(1.0, 2 * binomial_at_most(smaller, n, 0.5))
    return Outcome(float(positive), probability(p), None, "cohen_g", positive / n - 0.5, details=details)


@comparison_test("DeLong", "placements")
def delong(pair: Pair) -> Outcome:
    """Normal test of the difference of two areas with the covariance of their placement values."""
    error, value = pair.difference.delong_error, pair.difference.value
    if error is None:
        return Outcome(None, None, reason=Message("reason.too_few_to_place"))
    if error == 0:
        if abs(value) < 1e-15:  # areas lie in [0, 1]
            return Outcome(0.0, 1.0)
        return Outcome(None, None, reason=Message("reason.no_spread_of_placements"))
    statistic = value / error
    return Outcome(statistic, probability(2 * normal_tail(abs(statistic))))
