"""Grades of a rating scale, or deciles of risk: events against the mean probability."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import special

from evalreport.engine.distributions import beta_quantile


@dataclass(frozen=True, slots=True)
class Grade:
    """Limits of the share of events, and the one-sided p-value that the mean probability is too low."""

    low: float
    high: float
    p_value: float


def jeffreys_grade(events: float, n: float, predicted: float, level: float) -> Grade:
    """Test a grade's mean probability as the ECB's validation reporting asks: small p where it is too low.

    p = P(Beta(D + 1/2, N - D + 1/2) <= PD) for D events among N; the limits of D / N are the same distribution's.

    References
    ----------
    European Central Bank (2019), Instructions for reporting the validation results of internal models, section 2.5.3.

    Examples
    --------
    >>> found = jeffreys_grade(3, 941, 0.0055, 0.95)
    >>> round(found.p_value, 4)
    0.8312
    """
    a, b, tail = events + 0.5, n - events + 0.5, (1 - level) / 2
    low = 0.0 if events == 0 else beta_quantile(tail, a, b)
    high = 1.0 if events == n else beta_quantile(1 - tail, a, b)
    return Grade(low, high, float(special.betainc(a, b, predicted)))
