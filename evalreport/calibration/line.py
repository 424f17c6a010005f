"""The calibration line: the joint logistic fit of the outcomes on the log odds of the probabilities."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from evalreport.calibration.risks import Risks
from evalreport.engine.distributions import dot, log, log1p
from evalreport.predictions.arrays import Floats


def calibration_line(risks: Risks, weights: Floats) -> Floats:
    """Return (intercept, slope) of the weighted logistic fit of y on logit p, by Newton's method.

    Parameters
    ----------
    risks
        With a line, so that ``no_line`` is None; examples without a logit are left out.
    weights
        (n,), 0 or more.
    """
    weights = weights * risks.has_logit
    if risks.fitted and np.array_equal(risks.fitted[0][0], weights):
        return risks.fitted[0][1]
    # Start at the share of positives, not at the forecast: far from the truth p (1 - p) gives no usable step.
    share = np.clip(dot(weights, risks.y) / weights.sum(), 1e-12, 1 - 1e-12)
    line, before = np.array([float(log(share) - log1p(-share)), 0.0]), math.inf
    for _ in range(100):
        p, score = _fitted(risks, weights, line)
        step = _inverse(risks, weights, p) @ score
        if not np.isfinite(step).all():
            break
        while _raises_deviance(risks, weights, line, step):
            step = step / 2
        line = line + step
        size = float(np.abs(step).max()) / max(1.0, float(np.abs(line).max()))
        # Near its end each step has about the square of the one before: one that is no smaller is rounding.
        if size <= 1e-13 or before <= size <= 1e-6:
            break
        before = size
    risks.fitted[:] = [(weights, line)]
    return line


def _fitted(risks: Risks, weights: Floats, line: Floats) -> tuple[Floats, Floats]:
    """Return the fitted probabilities (n,) and the score: the log likelihood's derivatives by intercept and slope."""
    p = special.expit(line[0] + line[1] * risks.logit)
    left = weights * (risks.y - p)
    return p, np.array([left.sum(), dot(risks.logit, left)])


def _raises_deviance(risks: Risks, weights: Floats, line: Floats, step: Floats) -> bool:
    """Say whether Newton's step goes too far.

    Where it changes no log odds by more than 1 it does not: no variance p (1 - p) grows by more than e, and the
    deviance falls by at least 0.28 of the decrement (Bach 2010, Electron J Stat 4:384, proposition 1).
    """
    ends = step[0] + step[1] * np.array([risks.logit.min(), risks.logit.max()])
    if np.abs(ends).max() <= 1:
        return False
    signs = np.where(risks.y == 1, -1, 1)
    before, after = (
        dot(weights, np.logaddexp(0, signs * (one[0] + one[1] * risks.logit))) for one in (line, line + step)
    )
    return after > before * (1 + 1e-12) + 1e-12


def _inverse(risks: Risks, weights: Floats, p: Floats) -> Floats:
    """Return the inverse (2, 2) of the line's information; 0 in directions that the data do not determine."""
    v = weights * p * (1 - p)
    weight = float(v.sum())
    mean = dot(v, risks.logit) / weight if weight > 0 else 0.0
    squares = dot(v, (risks.logit - mean) ** 2)
    of_slope = 1 / squares if squares > 0 else 0.0
    of_intercept = (1 / weight if weight > 0 else 0.0) + mean * mean * of_slope
    return np.array([[of_intercept, -mean * of_slope], [-mean * of_slope, of_slope]])


def line_derivative(risks: Risks, weights: Floats, coefficient: int) -> Floats:
    """Return the derivatives (n,) of intercept (0) or slope (1) by the weights: the sandwich's rows, H^-1 x (y - p)."""
    p, x = _pulls(risks, weights, coefficient)
    return np.asarray(x * (risks.y - p) * risks.has_logit)


def line_influence(risks: Risks, weights: Floats, coefficient: int) -> tuple[Floats, float]:
    """Return the weighted derivatives (n,) of intercept (0) or slope (1), and its variance if the fit holds."""
    own, (p, x) = weights * risks.has_logit, _pulls(risks, weights, coefficient)
    return own * x * (risks.y - p), float((own * own * p * (1 - p) * x * x).sum())


def _pulls(risks: Risks, weights: Floats, coefficient: int) -> tuple[Floats, Floats]:
    """Return the fitted probabilities (n,), and how far a residual of 1 at each example moves a coefficient, (n,)."""
    own = weights * risks.has_logit
    p, _ = _fitted(risks, own, calibration_line(risks, weights))
    of_ones, of_logit = _inverse(risks, own, p)[coefficient]
    return p, of_ones + of_logit * risks.logit
