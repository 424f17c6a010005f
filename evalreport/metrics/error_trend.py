"""One test of whether errors change along the predictions: level, slope and curvature together."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from evalreport.engine.distributions import f_tail
from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats
from evalreport.schema.metrics import ErrorTrendRecord

LEAST_ROWS = 60
"""With fewer examples nothing is tested: at 20 a trend is named in 11 % of data sets without one."""

SKEWED = 400
"""Errors whose skewness g is so large that n < 400 g^2 are not tested: their mean is far from normal."""

ALPHA = 0.03
"""A title names a trend from this p-value down: below 0.05, since skewed errors make p-values too small."""

FLIPS, MOST_FLIPPED, BATCH = 499, 10_000, 100
"""Draws of random signs, and the most examples for which signs are drawn; with more, F decides."""

PARTS: tuple[Literal["level"], Literal["slope"], Literal["curvature"]] = ("level", "slope", "curvature")


def error_trend(predicted: Floats, true: Floats, *, seed: int = 0) -> ErrorTrendRecord | None:
    """Fit errors (predicted - true) to 1, z and z^2 - 1, z the standardised prediction, and test the three together.

    Least squares with HC3 errors: V = (X'X)^-1 X' diag(e^2 / (1 - h)^2) X (X'X)^-1, F = b' V^-1 b / 3 on 3 and
    n - 3 degrees of freedom. The level is the mean error, since z and z^2 - 1 have mean 0. F's own p-value is too small
    where few predictions lie far out. So up to 10,000 examples F is also computed of the errors under 499 draws of
    random signs, which is exact for errors that are symmetric around 0 at every prediction, and that p-value decides.

    Parameters
    ----------
    predicted, true
        (n,), of independent examples of equal weight.

    Returns
    -------
    ErrorTrendRecord or None
        None with fewer than 60 examples, or fewer than 400 times the squared skewness of what the fit leaves over; with
        fewer than three different predictions; and where the fit leaves nothing over, or an example alone decides a
        coefficient (h = 1).

    Notes
    -----
    HC3: MacKinnon and White (1985), J Econometrics 29:305. Random signs: Davidson and Flachaire (2008), J Econometrics
    146:162, with the null imposed.
    """
    n = len(predicted)
    if n < LEAST_ROWS:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        unit = float(np.abs(predicted - true).max())
        error = (predicted - true) / unit
        spread = float(predicted.std())
        z = (predicted - predicted.mean()) / spread
    if not (np.isfinite(z).all() and np.isfinite(error).all()):
        return None
    design = np.column_stack([np.ones(n), z, z * z - 1])
    q, r = np.linalg.qr(design)
    if abs(r[2, 2]) <= 1e-9 * math.sqrt(n) or spread <= 1e-12 * float(np.abs(predicted).max()):
        return None
    coefficients = np.linalg.solve(r, q.T @ error)
    rest, free = error - design @ coefficients, 1 - (q * q).sum(axis=1)
    if free.min() <= 1e-9 or np.abs(rest).max() <= 1e-9:
        return None
    if n < SKEWED * float((rest**3).mean() / (rest**2).mean() ** 1.5) ** 2:
        return None
    scores = np.linalg.solve(r, (q * (rest / free)[:, None]).T)
    variance = scores @ scores.T
    errors = np.sqrt(np.diag(variance))
    scaled = variance / np.outer(errors, errors)
    if not errors.min() > 0 or np.linalg.cond(scaled) > 1e12:
        return None
    ratios = coefficients / errors
    statistic = float(ratios @ np.linalg.solve(scaled, ratios)) / 3
    low, high = np.quantile(z, [0.05, 0.95])
    ends = [float(coefficients @ (1.0, at, at * at - 1)) * unit for at in (low, high)]
    p_value = f_tail(statistic, 3, n - 3)
    p_signs = _under_signs(q, free, error, statistic, seed) if n <= MOST_FLIPPED else None
    return ErrorTrendRecord(
        **dict(zip(PARTS, (coefficients * unit).tolist(), strict=True)),
        leads=PARTS[int(np.abs(ratios).argmax())],
        at_low=ends[0], at_high=ends[1],
        statistic=statistic, df2=n - 3, p_value=p_value, p_signs=p_signs,
        shown=(p_value if p_signs is None else p_signs) <= ALPHA,
    )  # fmt: skip


def _under_signs(q: Floats, free: Floats, error: Floats, statistic: float, seed: int) -> float:
    """Return the share of draws of random signs of the errors whose F is at least ``statistic``.

    Parameters
    ----------
    q
        (n, 3), an orthonormal basis of the design, in which F is the same.
    free
        (n,), 1 - h.
    """
    left, right = np.triu_indices(3)
    products = q[:, left] * q[:, right] / (free * free)[:, None]
    at_least = 0
    for block, start in enumerate(range(0, FLIPS, BATCH)):
        generator = stream(seed, "signs of errors", block)
        signs = generator.integers(0, 2, size=(min(BATCH, FLIPS - start), len(error)), dtype=np.int8)
        flipped = (2.0 * signs - 1) * error
        b = flipped @ q
        variance = np.empty((len(b), 3, 3))
        variance[:, left, right] = variance[:, right, left] = (flipped - b @ q.T) ** 2 @ products
        drawn = (b * np.linalg.solve(variance, b[:, :, None])[:, :, 0]).sum(axis=1) / 3
        at_least += int((drawn >= statistic * (1 - 1e-12)).sum())
    return (1 + at_least) / (FLIPS + 1)
