"""How far the groups of a column differ: the standard deviation without noise, and the largest gap beside noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine.distributions import Floats
from evalreport.engine.draws import stream
from evalreport.questions.slices.records import LEAST_TRIALS, GroupSpreadRecord
from evalreport.texts import Message

LEAST_COUNTED, LEAST_GROUPS = 2, 2
TIE = 1e-9
"""Two gaps that differ by less are the same: shares are quotients of whole numbers."""
MOST_EXACT, DRAWS = 1_000_000, 2000
"""Above so many examples the gap by noise is drawn, so often."""
FEW = 30
"""Groups with fewer trials are counted: they weigh as much as the others."""


def spread(successes: Floats, trials: Floats, level: float) -> tuple[float, float, float]:
    """Return the standard deviation between groups less what sampling gives, and its limits.

    sigma^2 = sum (theta_g - mean theta)^2 / (G - 1) of these groups' true shares. The estimate is unbiased for its
    square: s2 = sum (p_g - mean p)^2 / (G - 1) - (1/G) sum p_g (1 - p_g) / (n_g - 1), cut at 0. The limits take the
    sum of squared deviations over a scale c as noncentral chi-square, with variances of shares drawn towards each
    other.

    Parameters
    ----------
    successes, trials
        (G,) of each group; at least two groups, with two trials or more each.

    References
    ----------
    Lum, Zhang and Bower (2022), FAccT (the corrected estimate); the limits were chosen by simulation.
    """
    g, p = len(trials), successes / trials
    d = p - p.sum() / g
    total = float((d**2).sum())
    s2 = total / (g - 1) - float((p * (1 - p) / (trials - 1)).sum()) / g
    sd, tail = math.sqrt(max(s2, 0.0)), (1 + level) / 2
    pooled = float((successes.sum() + 1) / (trials.sum() + 2))
    q, a = (successes + 2 * pooled) / (trials + 2), (successes + 2) / (trials + 4)

    def scale_of(r: Floats) -> tuple[float, float]:
        """Return t and the scale c of shares r."""
        w = r * (1 - r)
        v, k = w / trials, w * (1 - 6 * w) / (trials * trials * trials)
        t = (1 - 1 / g) * float(v.sum())
        e0 = (1 - 2 / g) * float((v**2).sum()) + float(v.sum()) ** 2 / g**2
        e = max(e0 + (1 - 1 / g) ** 2 * float(k.sum()) / 2, e0 / 2)
        weighted = float((v * d**2).sum()) / total if total > 0 else e / t
        return t, max(e / t, weighted)

    t, c = scale_of(np.where(q * (1 - q) >= pooled * (1 - pooled), q, pooled))
    low = math.sqrt(_noncentrality(total / c, t / c, tail) * c / (g - 1))
    (t, c_q), (_, c_a) = scale_of(q), scale_of(a)
    c = max(c_q, c_a)
    nu = t / c
    high = math.sqrt(_noncentrality(max(total / c, nu), nu, 1 - tail) * c / (g - 1))
    return sd, min(low, sd), max(high, sd)


def _noncentrality(x: float, df: float, p: float) -> float:
    """Return lambda with P(chi-square(df, lambda) <= x) = p; 0 where lambda = 0 has no more than that."""
    return 0.0 if special.chndtr(x, df, 0.0) <= p else float(special.chndtrinc(x, df, p))


def gaps_by_noise(
    successes: Floats, trials: Floats, *, seed: int, points: Sequence[float] = (0.95,)
) -> tuple[float, ...]:
    """Return mean and points (by default 95 %) of the largest gap between groups that all have the pooled share."""
    share = float(successes.sum() / trials.sum())
    if share in (0.0, 1.0):
        return (0.0,) * (1 + len(points))
    if trials.sum() > MOST_EXACT:
        generator = stream(seed, "gaps by noise", 0)
        drawn = generator.binomial(trials.astype(np.int64), share, size=(DRAWS, len(trials))) / trials
        gaps = np.sort(drawn.max(axis=1) - drawn.min(axis=1))
        return float(gaps.mean()), *(float(gaps[math.ceil(point * DRAWS) - 1]) for point in points)
    return _exact_gaps(trials, share, points)


def _exact_gaps(trials: Floats, share: float, points: Sequence[float]) -> tuple[float, ...]:
    supports, tables = [], []
    for n in trials:
        k = np.arange(int(n) + 1, dtype=np.float64)
        at_most = special.bdtr(k, int(n), share)
        held = (at_most >= 1e-12) & (np.concatenate([[0.0], at_most[:-1]]) <= 1 - 1e-12)
        supports.append((k / n)[held])
        tables.append((n, at_most))
    values = np.unique(np.concatenate(supports))

    def below(v: Floats, *, strictly: bool) -> Floats:
        """Return P(X_g / n_g <= v), or < v, of each group, (G, len(v)); comparisons have some slack."""
        gaps = []
        for n, at_most in tables:
            largest = np.ceil(v * n - 1e-9) - 1 if strictly else np.floor(v * n + 1e-9)
            count = np.clip(largest, -1, n).astype(np.int64)
            gaps.append(np.where(count < 0, 0.0, at_most[np.maximum(count, 0)]))
        return np.stack(gaps)

    upto, under = below(values, strictly=False), below(values, strictly=True)
    steps = np.diff(values)
    all_below, all_above = _product(upto[:, :-1]), _product(1 - upto[:, :-1])
    mean = float((steps * (1 - all_below - all_above)).sum())

    def within(r: float) -> float:
        """Return the probability that the largest gap is at most r."""
        top = below(values + r, strictly=False)
        return float((_product(top - under) - _product(top - upto)).sum())

    def point_of(share_below: float) -> float:
        low, high = 0.0, 1.0
        if within(0.0) >= share_below:
            return 0.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if within(middle) >= share_below else (middle, high)
        return high

    return mean, *(point_of(point) for point in points)


def _product(table: Floats) -> Floats:
    return np.asarray(np.multiply.reduce(table, axis=0))


@dataclass(frozen=True, slots=True)
class Shares:
    """One model's share of one metric in every group of one column.

    Attributes
    ----------
    names, successes, trials
        (G,) of each group; trials nan where the value is no plain share of independent examples.
    """

    model: str
    metric: str
    column: str
    names: tuple[str, ...]
    successes: Floats
    trials: Floats


def spread_records(found: Sequence[Shares], level: float, seed: int) -> tuple[GroupSpreadRecord, ...]:
    """Return how far the groups of each column differ, of each model and metric."""
    of_model = Counter(shares.model for shares in found if _reason(shares) is None)
    return tuple(_record(shares, level, seed, of_model[shares.model]) for shares in found)


def _counted(shares: Shares) -> npt.NDArray[np.bool_]:
    return np.asarray(shares.trials >= LEAST_COUNTED)


def _reason(shares: Shares) -> Message | None:
    """Say why the spread of a column is not described."""
    if np.isnan(shares.trials).any():
        return Message("group_spread.no_share")
    return Message("group_spread.one_group") if int(_counted(shares).sum()) < LEAST_GROUPS else None


def _record(shares: Shares, level: float, seed: int, comparisons: int) -> GroupSpreadRecord:
    reason = _reason(shares)
    without = GroupSpreadRecord(model=shares.model, metric=shares.metric, column=shares.column, reason=reason)
    if reason is not None:
        return without
    counted = _counted(shares)
    successes, trials = shares.successes[counted], shares.trials[counted]
    (sd, sd_low, sd_high), each = spread(successes, trials, level), successes / trials
    points = (0.95, 1 - 0.05 / comparisons)
    mean, point, of_all = gaps_by_noise(successes, trials, seed=seed, points=points)
    left_out = tuple(name for name, held in zip(shares.names, counted, strict=True) if not held)
    gap = float(each.max() - each.min())
    return replace(
        without,
        sd=sd,
        sd_low=sd_low,
        sd_high=sd_high,
        largest_gap=gap,
        gap_by_noise=mean,
        gap_by_noise_95=point,
        gap_by_noise_all=of_all,
        beyond=gap > of_all + TIE and int((trials >= LEAST_TRIALS).sum()) >= LEAST_GROUPS,
        groups=int(counted.sum()),
        small_groups=int((trials < FEW).sum()),
        left_out=left_out,
        reason=Message("group_spread.left_out", names=left_out) if left_out else None,
    )
