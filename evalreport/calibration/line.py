"""The calibration line: the joint logistic fit of the outcomes on the log odds of the probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from evalreport.engine.distributions import dot, log, log1p
from evalreport.predictions.arrays import Floats, Mask
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Logits:
    """The examples of the fit.

    Attributes
    ----------
    p, y
        (n,) probabilities and outcomes.
    logit
        (n,) log odds; 0 of an example that is left out.
    reason
        Why there is no fit; None where there is one.
    kept
        (n,) which examples are fitted: a probability of 0 or 1 that agrees with the outcome has no log odds and says
        nothing against calibration. None: all.
    fitted
        The last weights and their line: slope and intercept, and their derivatives, share one fit.
    """

    p: Floats
    y: Floats
    logit: Floats
    reason: Message | None
    kept: Mask | None = None
    fitted: list[tuple[Floats, Floats]] = field(default_factory=list)


def logits_of(p: Floats, y: Floats) -> Logits:
    """Return the log odds of probabilities (n,) with their outcomes (n,)."""
    certain = (p <= 0) | (p >= 1)
    if not certain.any():
        logit = log(p) - log1p(-p)
        return Logits(p, y, logit, _no_fit(logit, y == 1))
    if (certain & (p != y)).any():
        return Logits(p, y, np.zeros(len(p)), Message("undefined.certain"))
    kept, logit = ~certain, np.zeros(len(p))
    if not kept.any():
        return Logits(p, y, logit, Message("undefined.all_certain"), kept)
    logit[kept] = log(p[kept]) - log1p(-p[kept])
    return Logits(p, y, logit, _no_fit(logit[kept], y[kept] == 1), kept)


def _no_fit(logit: Floats, positive: Mask) -> Message | None:
    """Say why the likelihood has no single maximum; None where it has one."""
    if positive.all() or not positive.any():
        return Message("undefined.one_class")
    if np.ptp(logit) == 0:
        return Message("undefined.constant")
    low, high = logit[~positive], logit[positive]
    if high.min() >= low.max() or high.max() <= low.min():
        return Message("undefined.separated")
    return None


_MANY, _EVERY = 8192, 16


def calibration_line(state: Logits, weights: Floats) -> Floats:
    """Return (intercept, slope) of the weighted logistic fit of y on logit p, by Newton's method.

    Parameters
    ----------
    state
        Without a ``reason``.
    weights
        (n,), 0 or more.
    """
    weights = _of_kept(state, weights)
    if state.fitted and np.array_equal(state.fitted[0][0], weights):
        return state.fitted[0][1]
    line, before = _begin(state, weights), math.inf
    for _ in range(100):
        p, score = _fitted(state, weights, line)
        step = _information(state, weights, p).solved(score)
        if not np.isfinite(step).all():
            break
        while _raises_deviance(state, weights, line, step):
            step = step / 2
        line = line + step
        size = float(np.abs(step).max()) / max(1.0, float(np.abs(line).max()))
        # Near its end each step has about the square of the one before: one that is no smaller is rounding.
        if size <= 1e-13 or before <= size <= 1e-6:
            break
        before = size
    state.fitted[:] = [(weights, line)]
    return line


def _of_kept(state: Logits, weights: Floats) -> Floats:
    return weights if state.kept is None else weights * state.kept


def _begin(state: Logits, weights: Floats) -> Floats:
    """Return the line that the search begins with: of many examples that of every 16th, where there is one."""
    if len(weights) >= _MANY:
        some = slice(None, None, _EVERY)
        logit, y, own = state.logit[some], state.y[some], weights[some]
        if _no_fit(logit[own > 0], y[own > 0] == 1) is None:
            line = calibration_line(Logits(state.p[some], y, logit, None), own)
            if np.isfinite(line).all():
                return line
    # Start at the share of positives, not at the forecast: far from the truth p (1 - p) gives no usable step.
    share = np.clip(dot(weights, state.y) / weights.sum(), 1e-12, 1 - 1e-12)
    return np.array([float(log(share) - log1p(-share)), 0.0])


def _fitted(state: Logits, weights: Floats, line: Floats) -> tuple[Floats, Floats]:
    """Return the fitted probabilities (n,) and the score: the log likelihood's derivatives by intercept and slope."""
    p = special.expit(line[0] + line[1] * state.logit)
    left = weights * (state.y - p)
    return p, np.array([left.sum(), dot(state.logit, left)])


def _raises_deviance(state: Logits, weights: Floats, line: Floats, step: Floats) -> bool:
    """Say whether Newton's step goes too far.

    Where it changes no log odds by more than 1 it does not: no variance p (1 - p) grows by more than e, and the
    deviance falls by at least 0.28 of the decrement (Bach 2010, Electron J Stat 4:384, proposition 1).
    """
    ends = step[0] + step[1] * np.array([state.logit.min(), state.logit.max()])
    if np.abs(ends).max() <= 1:
        return False
    before, after = (_deviance(state, weights, one) for one in (line, line + step))
    return after > before * (1 + 1e-12) + 1e-12


def _deviance(state: Logits, weights: Floats, line: Floats) -> float:
    signed = np.where(state.y == 1, -1, 1) * (line[0] + line[1] * state.logit)
    return dot(weights, np.logaddexp(0, signed))


@dataclass(frozen=True, slots=True)
class _Information:
    """The line's information matrix: the sum of v = w p (1 - p), and the logits' mean and squares under v."""

    weight: float
    mean: float
    squares: float

    def solved(self, vector: Floats) -> Floats:
        """Return the information's inverse times a vector (2,); 0 in directions that the data do not determine."""
        of_intercept, of_slope = vector.tolist()
        slope = (of_slope - self.mean * of_intercept) / self.squares if self.squares > 0 else 0.0
        intercept = of_intercept / self.weight if self.weight > 0 else 0.0
        return np.array([intercept - self.mean * slope, slope])


def _information(state: Logits, weights: Floats, p: Floats) -> _Information:
    v = weights * p * (1 - p)
    weight = float(v.sum())
    mean = dot(v, state.logit) / weight if weight > 0 else 0.0
    return _Information(weight, mean, dot(v, (state.logit - mean) ** 2))


def line_derivative(state: Logits, weights: Floats, coefficient: int) -> Floats:
    """Return the derivatives (n,) of intercept (0) or slope (1) by the weights: the sandwich's rows, H^-1 x (y - p)."""
    p, x = _pulls(state, weights, coefficient)
    slope = np.asarray(x * (state.y - p))
    return slope if state.kept is None else slope * state.kept


def line_influence(state: Logits, weights: Floats, coefficient: int) -> tuple[Floats, float]:
    """Return the weighted derivatives (n,) of intercept (0) or slope (1), and its variance if the fit holds."""
    own, (p, x) = _of_kept(state, weights), _pulls(state, weights, coefficient)
    return own * x * (state.y - p), float((own * own * p * (1 - p) * x * x).sum())


def _pulls(state: Logits, weights: Floats, coefficient: int) -> tuple[Floats, Floats]:
    """Return the fitted probabilities (n,), and how far a residual of 1 at each example moves a coefficient, (n,)."""
    own = _of_kept(state, weights)
    p, _ = _fitted(state, own, calibration_line(state, weights))
    information = _information(state, own, p)
    of_ones, of_logit = (information.solved(unit)[coefficient] for unit in np.eye(2))
    return p, of_ones + of_logit * state.logit
