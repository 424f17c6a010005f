"""Sample sizes for a wanted precision or difference, and the difference that a given size can show.

Every function is arithmetic on assumptions that its caller states; nothing here sees data. alpha is two-sided,
power the wanted probability of finding a true difference of the stated size.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evalreport.engine.distributions import normal_quantile, root, t_quantile
from evalreport.errors import UsageError
from evalreport.intervals.proportions import quantile
from evalreport.metrics.difference import Difference
from evalreport.samplings.folds import over_folds

POWER = 0.8


def detectable_difference(difference: Difference, alpha: float) -> float | None:
    """Return the true difference that the two-sided test at ``alpha`` would find with a probability of 0.8.

    For the difference of two accuracies, from the observed share of discordant examples p_d (Connett, Smith and
    McHugh 1987): the d that solves sqrt(n) d = z_{1-alpha/2} sqrt(p_d) + z_power sqrt(p_d - d^2). For any other
    metric (z_{1-alpha/2} + z_power) times the standard error of the difference; of clusters, of training seeds and
    under weights Student's quantiles times theirs, on folds times the error of the corrected resampled t test.

    Parameters
    ----------
    difference
        With its standard error, or the agreement table of two accuracies.
    alpha
        Level of the test, after correction for the family.

    Returns
    -------
    float or None
        In the metric's units; None where nothing varies.

    Examples
    --------
    Ten per cent discordant examples of 1,000: 2.8 percentage points.

    >>> round(detectable_accuracy_difference(1000, 0.1, 0.05), 3)
    0.028
    """
    scale = difference.metric.scale.affine_of
    if scale is not None:
        smallest = detectable_difference(difference.of_base, alpha)
        return None if smallest is None else abs(scale.slope) * smallest
    on_folds = corrected_fold_error(difference)
    if on_folds is not None and difference.fits is not None:
        df = len(difference.fits.values) - 1
        quantiles = t_quantile(1 - alpha / 2, df) + t_quantile(POWER, df)
        return quantiles * on_folds if on_folds > 0 else None
    if difference.agreement is not None:
        n = sum(difference.agreement)
        discordant = (difference.agreement[1] + difference.agreement[2]) / n
        return detectable_accuracy_difference(n, discordant, alpha) if discordant > 0 else None
    error, freedom = difference.standard_error, difference.df
    unlike = not {"equal_weights", "independent_or_datasets"} <= difference.sampling.meets
    if difference.crossed is not None:
        freedom = difference.crossed.df
    if unlike and freedom is not None:
        quantiles = t_quantile(1 - alpha / 2, freedom) + t_quantile(POWER, freedom)
    else:
        quantiles = normal_quantile(1 - alpha / 2) + normal_quantile(POWER)
    return quantiles * error if error else None


def corrected_fold_error(difference: Difference) -> float | None:
    """Return the error of the mean fold difference as the corrected resampled t test has it; None without folds."""
    fits = difference.fits
    if fits is None or not difference.of_folds or len(fits.values) < 2:
        return None
    if np.isnan(fits.values).any() or math.isnan(fits.test_train_ratio):
        return None
    return over_folds(fits).error


def detectable_accuracy_difference(n: float, discordant: float, alpha: float, power: float = POWER) -> float:
    """Return the d that solves sqrt(n) d = z_{1-alpha/2} sqrt(p_d) + z_power sqrt(p_d - d^2), p_d = discordant > 0."""
    z_alpha, z_power = _z(alpha, power)

    def shortfall(d: float) -> float:
        return (
            math.sqrt(n) * d
            - z_alpha * math.sqrt(discordant)
            - z_power * math.sqrt(max(discordant - d * d, 0.0))
        )

    if shortfall(discordant) >= 0:
        return root(shortfall, 0.0, discordant)

    # No difference exceeds the share of discordant examples, so a larger one has a larger share: at the least its
    # own size, all of them on one side. With p_d = d the equation is one in sqrt(d).
    def one_sided(d: float) -> float:
        return math.sqrt(n * d) - z_alpha - z_power * math.sqrt(1 - d)

    return 1.0 if one_sided(1.0) < 0 else root(one_sided, 0.0, 1.0)


def examples_needed(difference: Difference, alpha: float) -> int | None:
    """Return how many examples (data sets, where those are the units) a true difference of the observed size needs.

    None where it is 0 or unknown; on folds, where more examples would also train other models; and on training seeds,
    whose own variance no number of examples makes smaller.
    """
    difference = difference.of_base
    detectable = detectable_difference(difference, alpha)
    if detectable is None or difference.value == 0 or difference.of_folds or difference.of_seeds:
        return None
    if difference.agreement is not None:
        # The equation of the detectable difference, solved for n.
        d, discordant = difference.value, sum(difference.agreement[1:3]) / sum(difference.agreement)
        z_alpha, z_power = _z(alpha, POWER)
        spread = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - d * d)
        return math.ceil((spread / d) ** 2)
    units = difference.sampling.n_units if difference.over_datasets else difference.sampling.n_examples
    return math.ceil(units * (detectable / difference.value) ** 2)


MOST_EXAMPLES = 10**12
TOO_MANY = "this would take more than a trillion examples: ask for less"


def _z(alpha: float, power: float) -> tuple[float, float]:
    return normal_quantile(1 - alpha / 2), normal_quantile(power)


def _smallest(enough: Callable[[int], bool], least: int = 1) -> int:
    """Return the smallest n >= least that is enough; more examples must never be worse.

    Raises
    ------
    UsageError
        Where not even a million million are enough.
    """
    high = least
    while not enough(high):
        high *= 2
        if high > MOST_EXAMPLES:
            raise UsageError(TOO_MANY)
    return least_enough(enough, max(least - 1, high // 2), high)


def least_enough(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest whole number that is enough, above one that is not and up to one that is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# --- for a wanted half-width ----------------------------------------------------------------------------------------


def proportion_half_width(n: float, proportion: float, confidence: float) -> float:
    """Return half the width of Wilson's interval of an expected proportion with n examples.

    z sqrt(p (1 - p) / n + z^2 / (4 n^2)) / (1 + z^2 / n), before it is cut to [0, 1].
    """
    z = quantile(confidence)
    return z * math.sqrt(proportion * (1 - proportion) / n + z * z / (4 * n * n)) / (1 + z * z / n)


def examples_for(width: Callable[[float], float], wanted: float, least: int = 1) -> int:
    """Return the smallest n >= least at which half the width of an interval, a function of n, is at most ``wanted``.

    Examples
    --------
    The textbook's 385 for +-5 points at one half is Wald's; Wilson's needs z^2 fewer.

    >>> examples_for(lambda n: proportion_half_width(n, 0.5, 0.95), 0.05)
    381
    """
    return _smallest(lambda n: width(n) <= wanted, least)


def mean_half_width(n: float, sd: float, confidence: float) -> float:
    """Return half the width of Student's interval of a mean: t_{n-1} sd / sqrt(n); infinite for n = 1."""
    if n < 2:
        return math.inf
    return t_quantile((1 + confidence) / 2, n - 1) * sd / math.sqrt(n)


def auc_error(auc: float, positives: float, negatives: float) -> float:
    """Return the standard error of an AUC under exponential scores (Hanley and McNeil 1982, as Newcombe 2006).

    A (1 - A) [1 + N* (1 - A) / (2 - A) + N* A / (1 + A)] / (P N), with N* = (P + N) / 2 - 1.
    """
    mean_size = (positives + negatives) / 2 - 1
    inner = 1 + mean_size * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return math.sqrt(auc * (1 - auc) * inner / (positives * negatives))


def auc_half_width(n: float, auc: float, prevalence: float, confidence: float) -> float:
    """Return z standard errors of an expected AUC with n examples, a share ``prevalence`` of them positive."""
    return quantile(confidence) * auc_error(auc, n * prevalence, n * (1 - prevalence))


# --- one model against a stated value -------------------------------------------------------------------------------


def examples_against_value(value: float, expected: float, alpha: float, power: float) -> int:
    """Return n to tell an expected proportion from a stated value: normal approximation, both variances.

    n = ((z_a sqrt(p0 (1 - p0)) + z_b sqrt(p1 (1 - p1))) / (p1 - p0))^2
    """
    spreads = math.sqrt(value * (1 - value)), math.sqrt(expected * (1 - expected))
    return _normal_size(_nonzero(expected - value), *spreads, alpha, power)


def _nonzero(difference: float) -> float:
    if difference == 0:
        raise UsageError("no number of examples shows a difference of 0: state a difference")
    return difference


def _normal_size(difference: float, null: float, alternative: float, alpha: float, power: float) -> int:
    """Return n of the two-sided z test, given the standard deviations at the null and at the difference."""
    from statsmodels.stats.power import normal_sample_size_one_tail

    with np.errstate(over="ignore"):
        n = normal_sample_size_one_tail(difference, power, alpha / 2, null, alternative)
    if not n <= MOST_EXAMPLES:
        raise UsageError(TOO_MANY)
    # 868.0000000001 is 868, not 869.
    return math.ceil(round(float(n), 9))


# --- two models on the same examples --------------------------------------------------------------------------------


def discordance_of(first: float, second: float) -> tuple[float, float, float]:
    """Return the shares of examples on which exactly one of two models is right, given their accuracies.

    They are the least (errors nested), that of independent errors, and the most (errors as disjoint as possible).
    Models that learned from the same data err on the same hard examples: the truth lies between the first two.
    """
    least = abs(first - second)
    independent = first * (1 - second) + second * (1 - first)
    return least, independent, min(first + second, 2 - first - second)


def examples_for_paired_accuracies(difference: float, discordance: float, alpha: float, power: float) -> int:
    """Return n for McNemar's test to find a true difference of two accuracies on the same examples.

    n = ((z_a sqrt(p_d) + z_b sqrt(p_d - d^2)) / d)^2, p_d the share of examples on which exactly one is right.

    Raises
    ------
    UsageError
        A difference of 0, or larger than the discordance allows.

    References
    ----------
    Connett, Smith and McHugh (1987), Stat Med 6:449.

    Examples
    --------
    Ten per cent discordant examples and a difference of 3 points:

    >>> examples_for_paired_accuracies(0.03, 0.1, 0.05, 0.8)
    870
    """
    d = abs(_nonzero(difference))
    if d > discordance:
        raise UsageError(
            f"a difference of {d:g} needs more than a share of {discordance:g} of examples on which exactly one"
            " model is right: give --discordance at least as large as --difference"
        )
    return _normal_size(d, math.sqrt(discordance), math.sqrt(max(discordance - d * d, 0.0)), alpha, power)


def examples_for_mean_difference(difference: float, sd: float, alpha: float, power: float) -> int:
    """Return n for the paired t test to find a mean difference of losses, given the sd of the differences."""
    effect = abs(_nonzero(difference)) / sd
    return _smallest(lambda n: t_power(effect * math.sqrt(n), n - 1, alpha) >= power, least=2)


def t_power(noncentrality: float, df: float, alpha: float) -> float:
    """Return the power of the two-sided t test: both tails of the noncentral t distribution (decision 18)."""
    from scipy import stats

    critical = t_quantile(1 - alpha / 2, df)
    power = float(stats.nct.sf(critical, df, noncentrality))
    # The far tail matters near the null alone; beyond, its series has nothing left to sum and gives nan.
    return power + (float(stats.nct.cdf(-critical, df, noncentrality)) if noncentrality < 5 else 0.0)


def detectable_noncentrality(df: float, alpha: float, power: float) -> float:
    """Return the difference in standard errors that the two-sided t test finds with the wanted power."""
    high = sum(_z(alpha, power))
    while t_power(high, df, alpha) < power:
        high *= 2
    return root(lambda x: t_power(x, df, alpha) - power, 0.0, high, tolerance=1e-10)


def detectable_mean_difference(n: int, sd: float, alpha: float, power: float) -> float:
    """Return the mean difference that n examples show, given the sd of the differences."""
    return detectable_noncentrality(n - 1, alpha, power) * sd / math.sqrt(n)


# --- a judge and a few people ---------------------------------------------------------------------------------------


def gold_effective(gold: float, n: int, correlation: float) -> float:
    """Return how many human outcomes without a judge make as small an error as ``gold`` of n with one (PPI++).

    gold / (1 - r^2 (n - gold) / n): the variance sd^2 / gold less what the judge explains of it, at the best weight.

    Parameters
    ----------
    n
        All examples, which the judge graded.
    correlation
        r between the judge's outcomes and people's; below 0 the judge counts for nothing.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453, section 6.

    Examples
    --------
    A judge with a correlation of 0.8 makes 150 human outcomes of 2,000 answers worth 368.

    >>> round(gold_effective(150, 2000, 0.8))
    368
    """
    return gold / (1 - max(correlation, 0.0) ** 2 * (n - gold) / n)


def judged_half_width(gold: int, n: int, sd: float, correlation: float, confidence: float) -> float:
    """Return z sd / sqrt(effective human outcomes): half the interval of what people say on average."""
    return quantile(confidence) * sd / math.sqrt(gold_effective(gold, n, correlation))


# --- two independent test sets --------------------------------------------------------------------------------------


def examples_for_independent_sets(first: float, second: float, alpha: float, power: float) -> int:
    """Return n of each of two equal test sets for the pooled two-proportions z test (statsmodels)."""
    from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

    difference = _nonzero(first - second)
    # statsmodels takes alpha of one tail as half of the two-sided one.
    n = samplesize_proportions_2indep_onetail(difference, second, power, alpha=alpha)
    return math.ceil(round(float(n), 9))


# --- cross-validation -----------------------------------------------------------------------------------------------


def detectable_over_folds(folds: int, repeats: int, sd: float, alpha: float, power: float) -> float:
    """Return the mean difference over folds that the corrected t test finds, given the sd of fold differences.

    delta sd sqrt(1 / J + 1 / (k - 1)), delta the noncentrality of t with J - 1 degrees of freedom: of k folds, r times,
    there are J = k r differences, and n_test / n_train is 1 / (k - 1).

    References
    ----------
    Nadeau and Bengio (2003), Mach Learn 52:239; Bouckaert and Frank (2004) for repeats.
    """
    fits = folds * repeats
    return detectable_noncentrality(fits - 1, alpha, power) * sd * math.sqrt(1 / fits + 1 / (folds - 1))


def repeats_needed(difference: float, folds: int, sd: float, alpha: float, power: float) -> int | None:
    """Return how often k-fold cross-validation must be repeated; None where no number of repeats is enough.

    More repeats never take the error below sqrt(1 / (k - 1)): that part is the shared training data.
    """
    wanted = abs(_nonzero(difference))
    z_a, z_b = _z(alpha, power)
    if wanted <= (z_a + z_b) * sd / math.sqrt(folds - 1):
        return None
    return _smallest(lambda r: detectable_over_folds(folds, r, sd, alpha, power) <= wanted)


# --- discordant pairs -----------------------------------------------------------------------------------------------


def discordant_needed(alpha: float, *, exact: bool = False) -> int:
    """Return the least number of discordant examples with which McNemar's test can reach p <= alpha.

    All on one side: p = 2^(1 - m) (exact) or 2^-m (mid-p).

    Examples
    --------
    >>> discordant_needed(0.05, exact=True), discordant_needed(0.05)
    (6, 5)
    """
    return math.ceil(round(math.log2(1 / alpha), 9)) + (1 if exact else 0)
