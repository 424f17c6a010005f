"""Adjusted p-values over a family of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.keys import Correction


def adjust(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Adjust p-values so that they can be compared with the level itself.

    Parameters
    ----------
    p_values
        One family, each in (0, 1].
    correction
        ``holm`` (step-down Bonferroni: family-wise error, any dependence), ``bonferroni``,
        ``bh`` (false discovery rate) or ``none``.

    References
    ----------
    Holm (1979), Scand J Stat 6:65; Benjamini and Hochberg (1995), J R Stat Soc B 57:289.

    Examples
    --------
    >>> [round(p, 3) for p in adjust([0.01, 0.04, 0.03], "holm")]
    [0.03, 0.06, 0.06]
    """
    return [float(p) for p in _adjusted(np.asarray(p_values, dtype=np.float64), correction)]


def _adjusted(p: npt.NDArray[np.float64], correction: Correction) -> npt.NDArray[np.float64]:
    m = len(p)
    if correction == "none" or m == 0:
        return p
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(m)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    else:
        ranks = np.arange(1, m + 1)
        adjusted[order] = np.minimum.accumulate((p[order] * m / ranks)[::-1])[::-1]
    return np.minimum(adjusted, 1)
