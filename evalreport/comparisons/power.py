"""The smallest difference that a test could reliably detect, and how many examples a difference would need."""

from __future__ import annotations

import math

import numpy as np

from evalreport.engine.distributions import normal_quantile, root, t_quantile
from evalreport.metrics.estimate import Estimate

POWER = 0.8


def detectable_difference(difference: Estimate, alpha: float, power: float = POWER) -> float | None:
    """Return the true difference that the two-sided test at ``alpha`` would find with the given probability.

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
    scale = difference.metric.affine_of
    if scale is not None:
        found = detectable_difference(difference.of_base, alpha, power)
        return None if found is None else abs(scale.slope) * found
    on_folds = corrected_fold_error(difference)
    if on_folds is not None and difference.fits is not None:
        df = len(difference.fits.values) - 1
        quantiles = t_quantile(1 - alpha / 2, df) + t_quantile(power, df)
        return quantiles * on_folds if on_folds > 0 else None
    if difference.agreement is not None:
        n = sum(difference.agreement)
        discordant = (difference.agreement[1] + difference.agreement[2]) / n
        return detectable_accuracy_difference(n, discordant, alpha, power) if discordant > 0 else None
    error, freedom = difference.standard_error, difference.df
    unlike = difference.weighted or (difference.clusters is not None and not difference.over_datasets)
    if difference.crossed is not None:
        freedom = difference.crossed.df
    if unlike and freedom is not None:
        quantiles = t_quantile(1 - alpha / 2, freedom) + t_quantile(power, freedom)
    else:
        quantiles = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    return quantiles * error if error else None


def corrected_fold_error(difference: Estimate) -> float | None:
    """Return the error of the mean fold difference as the corrected resampled t test has it; None without folds."""
    fits = difference.fits
    if fits is None or not difference.of_folds or len(fits.values) < 2:
        return None
    if np.isnan(fits.values).any() or math.isnan(fits.test_train_ratio):
        return None
    return math.sqrt((1 / len(fits.values) + fits.test_train_ratio) * float(fits.values.var(ddof=1)))


def detectable_accuracy_difference(n: float, discordant: float, alpha: float, power: float = POWER) -> float:
    """Return the d that solves sqrt(n) d = z_{1-alpha/2} sqrt(p_d) + z_power sqrt(p_d - d^2), p_d = discordant > 0."""
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)

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


def examples_needed(difference: Estimate, alpha: float, power: float = POWER) -> int | None:
    """Return how many examples (data sets, where those are the units) a true difference of the observed size needs.

    None where it is 0 or unknown; on folds, where more examples would also train other models; and on training seeds,
    whose own variance no number of examples makes smaller.
    """
    difference = difference.of_base
    detectable = detectable_difference(difference, alpha, power)
    if detectable is None or difference.value == 0 or difference.of_folds or difference.of_seeds:
        return None
    if difference.agreement is not None:
        # The equation of the detectable difference, solved for n.
        d, discordant = difference.value, sum(difference.agreement[1:3]) / sum(difference.agreement)
        z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
        spread = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - d * d)
        return math.ceil((spread / d) ** 2)
    units = difference.n_units if difference.over_datasets else difference.n
    return math.ceil(units * (detectable / difference.value) ** 2)
