"""One test of whether errors change along the predictions: level, slope and curvature together."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from evalreport.engine.distributions import f_tail
from evalreport.predictions.arrays import Floats
from evalreport.schema.metrics import ErrorTrendRecord

LEAST_ROWS = 60
"""With fewer examples nothing is tested: at 20 a trend is named in 11 % of data sets without one."""

PARTS: tuple[Literal["level"], Literal["slope"], Literal["curvature"]] = ("level", "slope", "curvature")


def error_trend(predicted: Floats, true: Floats) -> ErrorTrendRecord | None:
    """Fit errors (predicted - true) to 1, z and z^2 - 1, z the standardised prediction, and test the three together.

    Least squares with HC3 errors: V = (X'X)^-1 X' diag(e^2 / (1 - h)^2) X (X'X)^-1, F = b' V^-1 b / 3 on 3 and
    n - 3 degrees of freedom. The level is the mean error, since z and z^2 - 1 have mean 0.

    Parameters
    ----------
    predicted, true
        (n,), of independent examples of equal weight.

    Returns
    -------
    ErrorTrendRecord or None
        None with fewer than 60 examples, fewer than three different predictions, and where the fit leaves nothing
        over, or an example alone decides a coefficient (h = 1).

    Notes
    -----
    MacKinnon and White (1985), J Econometrics 29:305.
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
    return ErrorTrendRecord(
        **dict(zip(PARTS, (coefficients * unit).tolist(), strict=True)),
        leads=PARTS[int(np.abs(ratios).argmax())],
        at_low=ends[0], at_high=ends[1],
        statistic=statistic, df2=n - 3, p_value=f_tail(statistic, 3, n - 3),
    )  # fmt: skip
