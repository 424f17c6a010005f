"""How the error of a comparison that may be repeated is spent over its looks, and what looks do to sample sizes.

The sum of the examples' differences is a Brownian motion in the number of examples. A boundary of each look is the
value of Z = sum / sqrt(n) beyond which the pair is decided there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evalreport.engine.distributions import exp, normal_quantile, normal_tail, root, tails
from evalreport.predictions.arrays import Floats

STEPS = 1000
"""Steps of Simpson's rule, at least: twice as many change no level by 1e-10."""
STEPS_OF_A_PLAN = 200
"""Steps for sample sizes, which are rounded up to whole examples."""
REACH = 9.0
"""Standard deviations beyond which a density of the sum is taken as 0."""
LEAST_STEP = 1e-4
"""A look that adds a smaller share of examples is computed as if it added this share: its level is then smaller."""
MOST_Z = 38.0
"""No boundary is searched beyond: the tail there is the smallest double."""
HALVINGS = 60
"""Of the interval of a boundary, which is then known to the last digit; the first looks spend less than 1e-100."""
SMALLEST_LEVEL = 1e-12
"""No look has a smaller level: intervals at one minus it still have finite limits."""


def spent_at(share: float, alpha: float) -> float:
    """Return how much of the error is spent once a share of the information is there.

    A(u) = 4 [1 - Phi(z_{1 - alpha/4} / sqrt(u))], the O'Brien-Fleming type, two-sided as two one-sided halves.

    Parameters
    ----------
    share
        u in (0, 1]; at 1 all of alpha is spent.

    References
    ----------
    Lan and DeMets (1983), Biometrika 70:659.

    Examples
    --------
    >>> [round(spent_at(u, 0.05), 5) for u in (0.2, 0.6, 1.0)]
    [0.0, 0.00762, 0.05]
    """
    return alpha if share >= 1 else 4 * normal_tail(-normal_quantile(alpha / 4) / math.sqrt(share))


def look_levels(n: Sequence[int], shares: Sequence[float], alpha: float) -> list[float]:
    """Return the two-sided level of each look, so that the looks together decide falsely with probability alpha.

    The boundary z_k solves P(|Z_1| < z_1, ..., |Z_{k-1}| < z_{k-1}, |Z_k| >= z_k) = A(u_k) - A(u_{k-1}).

    Parameters
    ----------
    n
        The number of examples at each look, growing.
    shares
        The share of the information u at each look, growing.

    References
    ----------
    Armitage, McPherson and Rowe (1969), J R Stat Soc A 132:235: the recursive integration.

    Examples
    --------
    >>> [round(level, 4) for level in look_levels([100, 200], [0.5, 1.0], 0.05)]
    [0.0031, 0.049]
    """
    bounds, _ = _boundaries(tuple(n), tuple(shares), alpha)
    return [max(2 * normal_tail(bound), SMALLEST_LEVEL) for bound in bounds]


@dataclass(frozen=True, slots=True)
class _State:
    """The sum where nothing was decided yet: points (m,), their probabilities (m,), and the number of examples."""

    points: Floats
    masses: Floats
    n: float


BEGINNING = _State(np.zeros(1), np.ones(1), 0.0)


@lru_cache(maxsize=256)
def _boundaries(
    n: tuple[int, ...], shares: tuple[float, ...], alpha: float
) -> tuple[tuple[float, ...], _State]:
    """Return the boundary of each look, and the sum before the last of them; a further look goes on from there."""
    before: tuple[float, ...] = ()
    state, spent = BEGINNING, 0.0
    if len(n) > 1:
        before, earlier = _boundaries(n[:-1], shares[:-1], alpha)
        state, spent = _continued(earlier, float(n[-2]), before[-1]), spent_at(shares[-2], alpha)
    bound = _bound(state, float(n[-1]), spent_at(shares[-1], alpha) - spent)
    return (*before, bound), state


def _bound(state: _State, n: float, target: float) -> float:
    """Return the z that is reached first at this look with a probability of ``target``."""
    if _crossing(state, n, MOST_Z) >= target:
        return MOST_Z
    low, high = 0.0, MOST_Z
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _crossing(state, n, middle) > target else (low, middle)
    return (low + high) / 2


def _crossing(state: _State, n: float, bound: float, drift: float = 0.0) -> float:
    """Return the probability that the sum is beyond -+bound sqrt(n) at n examples, and was not decided before."""
    step = _step(state, n)
    centre, deviation, limit = state.points + drift * step, math.sqrt(step), bound * math.sqrt(n)
    beyond = tails((limit - centre) / deviation) + tails((limit + centre) / deviation)
    return float((state.masses * beyond).sum())


def _continued(state: _State, n: float, bound: float, drift: float = 0.0, *, steps: int = STEPS) -> _State:
    """Return the sum at n examples where it is within -+bound sqrt(n): the density by the normal kernel, Simpson."""
    step = _step(state, n)
    deviation = math.sqrt(step)
    limit = min(bound, REACH + abs(drift) * math.sqrt(n)) * math.sqrt(n)
    intervals = max(steps, 2 * math.ceil(2 * limit / deviation))
    points = np.linspace(-limit, limit, intervals + 1)
    weights = np.full(intervals + 1, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    weights *= 2 * limit / intervals / 3
    scale = deviation * math.sqrt(2 * math.pi)
    density = np.empty(len(points))
    for place in range(0, len(points), 512):
        part = slice(place, place + 512)
        away = (points[part, None] - state.points - drift * step) / deviation
        density[part] = (exp(-0.5 * away * away) * state.masses).sum(axis=1) / scale
    return _State(points, density * weights, n)


def _step(state: _State, n: float) -> float:
    return max(n - state.n, LEAST_STEP * n)


# --- planning with looks --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LookedAt:
    """Equally spaced looks against one look at the end that has the same power.

    Attributes
    ----------
    inflation
        The largest number of examples, in numbers of the one look.
    mean, mean_equal
        The expected number, likewise: if the difference is the planned one, and if there is none.
    """

    inflation: float
    mean: float
    mean_equal: float


def with_looks(looks: int, alpha: float, power: float) -> LookedAt:
    """Return how many examples ``looks`` equally spaced looks take, in numbers of one look's.

    Examples
    --------
    >>> found = with_looks(5, 0.05, 0.8)
    >>> round(found.inflation, 3), round(found.mean, 2)
    (1.025, 0.82)
    """
    n = list(range(1, looks + 1))
    levels = look_levels(n, [k / looks for k in n], alpha)
    bounds = [-normal_quantile(level / 2) for level in levels]
    single = normal_quantile(power) - normal_quantile(alpha / 2)

    def found_with(drift: float) -> float:
        return sum(_decided(bounds, drift)) - power

    # The drift of the sum a step; one look of L steps needs ``single`` standard deviations.
    one = single / math.sqrt(looks)
    drift = one if looks == 1 else root(found_with, one, 2 * one)
    inflation = (drift / one) ** 2
    return LookedAt(inflation, inflation * _mean_share(bounds, drift), inflation * _mean_share(bounds, 0.0))


def _decided(bounds: Sequence[float], drift: float) -> list[float]:
    """Return the probability that each look is the one that decides."""
    levels, state = [], BEGINNING
    for k, bound in enumerate(bounds, 1):
        levels.append(_crossing(state, float(k), bound, drift))
        state = _continued(state, float(k), bound, drift, steps=STEPS_OF_A_PLAN)
    return levels


def _mean_share(bounds: Sequence[float], drift: float) -> float:
    """Return the expected share of the largest number of examples at which looking stops."""
    looks = len(bounds)
    stops = _decided(bounds, drift)[:-1]
    return (sum(k * p for k, p in enumerate(stops, 1)) + looks * (1 - sum(stops))) / looks


def error_of_second_look(n: float, more: float, alpha: float) -> float:
    """Return how often two equally good models are decided by one of two looks at the full level.

    Parameters
    ----------
    n, more
        The number of examples at the first look and at the second, which holds the first ones too.

    Examples
    --------
    >>> round(error_of_second_look(100, 200, 0.05), 3)
    0.083
    """
    bound = -normal_quantile(alpha / 2)
    state = _continued(BEGINNING, n, bound)
    return alpha + _crossing(state, max(more, n), bound)
