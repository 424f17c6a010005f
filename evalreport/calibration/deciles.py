"""The test of deciles of risk: shapes that level, spread and curvature do not see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.calibration.squared_error import bins_by_rank
from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats, Indices

DRAWS, BATCH = 2000, 200
LEAST = 50
"""With fewer events or non-events there are too few in a decile."""

MOST_ROWS = 100_000
"""Up to so many examples numbers of events are drawn as they are; beyond, of groups of neighbouring probabilities."""

GROUPS = 100
"""Groups of a decile, each drawn as a binomial of its mean probability."""

LIKELY = 0.5
"""A first batch with at least this share of larger statistics leaves no doubt: the p-value is above 0.2."""


def decile_test(risks: Risks, *, seed: int) -> float | None:
    """Return the Monte Carlo p-value of sum (O_k - E_k)^2 / V_k over deciles of risk; None where it is not tested.

    O_k and E_k are the observed and expected events of decile k (tied probabilities together), V_k = sum p (1 - p);
    deciles without variance are left out. Outcomes are drawn 2,000 times with the probabilities themselves, 200 times
    where half of these statistics are larger. Not tested are fewer than 50 events or non-events, clusters and weights.

    Examples
    --------
    Half of the examples are right at 30 %, the others at 70 %, where 50 % are announced throughout:

    >>> p = np.linspace(0.45, 0.55, 1000)
    >>> y = np.repeat([0.0, 1.0, 0.0, 1.0], [350, 150, 150, 350])
    >>> decile_test(Risks(p, y), seed=1)
    0.0004997501249375312
    """
    events = float(risks.y.sum())
    if not risks.plain or min(events, risks.n - events) < LEAST:
        return None
    order = np.argsort(risks.p, kind="stable")
    p, y = risks.p[order], risks.y[order]
    decile = bins_by_rank(p).astype(np.int64)
    starts = np.flatnonzero(np.diff(decile, prepend=-1))
    expected, variance = (np.add.reduceat(values, starts) for values in (p, p * (1 - p)))
    counted = variance > 0
    if not counted.any():
        return None

    def statistic(observed: Floats | Indices) -> Floats:
        return np.asarray(((observed - expected)[..., counted] ** 2 / variance[counted]).sum(axis=-1))

    value = float(statistic(np.add.reduceat(y, starts)))
    draw = _exact(p, starts) if len(p) <= MOST_ROWS else _by_group(p, decile)
    generator, larger, drawn = stream(seed, "outcomes of deciles", 0), 0, 0
    while drawn < DRAWS:
        larger += int((statistic(draw(generator)) >= value * (1 - 1e-12)).sum())
        drawn += BATCH
        if drawn == BATCH and larger >= LIKELY * BATCH:
            break
    return (1 + larger) / (drawn + 1)


Draw = Callable[[np.random.Generator], Indices]
"""Draws the events (BATCH, deciles) of every decile."""


def _exact(p: Floats, starts: Indices) -> Draw:
    """Draw the events of each decile from their distribution; ``p`` ascends, and deciles begin at ``starts``."""
    rising = [np.cumsum(numbers_of_events(of_decile)) for of_decile in np.split(p, starts[1:])]

    def draw(generator: np.random.Generator) -> Indices:
        uniform = generator.random((len(rising), BATCH))
        drawn = [np.searchsorted(below[:-1], u) for below, u in zip(rising, uniform, strict=True)]
        return np.stack(drawn, axis=1)

    return draw


def numbers_of_events(p: Floats) -> Floats:
    """Return the probabilities (n + 1,) of 0 to n events among examples with probabilities p (n,).

    The product of the polynomials 1 - p + p x, by fast Fourier transforms, two and two.

    Examples
    --------
    >>> numbers_of_events(np.array([0.5, 0.5, 1.0])).round(6).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    n, size = len(p), 1 << max(len(p) - 1, 0).bit_length()
    factors = np.zeros((size, 2))
    factors[:n, 1], factors[:n, 0], factors[n:, 0] = p, 1 - p, 1.0
    while len(factors) > 1:
        width = 2 * factors.shape[1]
        transformed = np.fft.rfft(factors, width, axis=1)
        factors = np.fft.irfft(transformed[::2] * transformed[1::2], width, axis=1)[:, : width - 1]
    return np.asarray(np.clip(factors[0, : n + 1], 0.0, 1.0))


def _by_group(p: Floats, decile: Indices) -> Draw:
    """Draw the events of groups of neighbours within each decile; ``p`` ascends."""
    first, sizes = np.searchsorted(decile, decile), np.bincount(decile)
    within = (np.arange(len(p)) - first) * GROUPS // sizes[decile]
    starts = np.flatnonzero(np.diff(decile * GROUPS + within, prepend=-1))
    size = np.diff(starts, append=len(p))
    share = np.clip(np.add.reduceat(p, starts) / size, 0.0, 1.0)
    of_decile = np.flatnonzero(np.diff(decile[starts], prepend=-1))

    def draw(generator: np.random.Generator) -> Indices:
        events = generator.binomial(size[:, None], share[:, None], size=(len(size), BATCH))
        return np.add.reduceat(events, of_decile, axis=0).T

    return draw
