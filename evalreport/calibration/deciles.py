"""The test of deciles of risk: shapes that level, spread and curvature do not see."""

from __future__ import annotations

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.calibration.squared_error import BINS, bins_by_rank
from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats

DRAWS, BATCH = 2000, 200
LEAST = 50
"""With fewer events or non-events there are too few in a decile."""

MOST_ROWS = 2000
"""Up to so many examples outcomes are drawn one by one; beyond, in groups of neighbouring probabilities."""

GROUPS = 100
"""Groups of a decile, each drawn as a binomial of its mean probability."""

LIKELY = 0.5
"""A first batch with at least this share of larger statistics leaves no doubt: the p-value is above 0.2."""


def decile_test(risks: Risks, *, seed: int) -> float | None:
    """Return the Monte Carlo p-value of sum (O_k - E_k)^2 / V_k over deciles of risk; None where it is not tested.

    O_k and E_k are the observed and expected events of decile k (tied probabilities together), V_k = sum p (1 - p);
    deciles without variance are left out. Outcomes are drawn 2,000 times with the probabilities themselves; 200 draws
    decide where the p-value is far above 0.2, where it is one. Not tested are fewer than 50 events or non-events,
    clusters and weights.

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
    decile, variances = bins_by_rank(risks.p), risks.p * (1 - risks.p)
    expected, variance = (np.bincount(decile, weights=v, minlength=BINS) for v in (risks.p, variances))
    counted = variance > 0
    if not counted.any():
        return None

    def statistic(observed: Floats) -> Floats:
        return np.asarray(((observed - expected)[..., counted] ** 2 / variance[counted]).sum(axis=-1))

    value = float(statistic(np.bincount(decile, weights=risks.y, minlength=BINS).astype(np.float64)))
    group, size, share, of_decile = _drawn_groups(risks.p, decile)
    generator, larger, drawn = stream(seed, "outcomes of deciles", 0), 0, 0
    while drawn < DRAWS:
        counts = generator.binomial(size, share, size=(BATCH, group))
        observed = np.stack([counts[:, of_decile == k].sum(axis=1) for k in range(BINS)], axis=1)
        larger += int((statistic(observed.astype(np.float64)) >= value * (1 - 1e-12)).sum())
        drawn += BATCH
        if drawn == BATCH and larger >= LIKELY * BATCH:
            return 1.0
    return (1 + larger) / (DRAWS + 1)


def _drawn_groups(p: Floats, decile: np.ndarray) -> tuple[int, np.ndarray, Floats, np.ndarray]:
    """Return how many groups are drawn, and each one's examples, probability and decile."""
    if len(p) <= MOST_ROWS:
        return len(p), np.ones(len(p), dtype=np.int64), p, decile
    order = np.argsort(p, kind="stable")
    ordered, of_row = p[order], decile[order]
    starts = np.searchsorted(of_row, np.arange(BINS))
    within = np.arange(len(p)) - starts[of_row]
    sizes = np.bincount(of_row, minlength=BINS)
    code = of_row.astype(np.int64) * GROUPS + within * GROUPS // np.maximum(sizes[of_row], 1)
    count = np.bincount(code, minlength=BINS * GROUPS)
    sums = np.bincount(code, weights=ordered, minlength=BINS * GROUPS)
    held = np.flatnonzero(count)
    share = np.clip(sums[held] / count[held], 0.0, 1.0)
    return len(held), count[held], share, held // GROUPS
