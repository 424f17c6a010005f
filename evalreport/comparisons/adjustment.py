"""P-values and levels adjusted over a family of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalreport.options import Correction
from evalreport.predictions.arrays import Floats


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


def _adjusted(p: Floats, correction: Correction) -> Floats:
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


def level_of_each(alpha: float, adjusted: Sequence[float], correction: Correction) -> float:
    """Return the level of each pair's limits, so that ``alpha`` holds over the family.

    1 - alpha / m for ``holm`` and ``bonferroni``: all m intervals hold together. 1 - alpha max(r, 1) / m with r decided
    pairs for ``bh``: the expected share of the decided pairs' intervals that miss is at most alpha. 1 - alpha for
    ``none``.

    Parameters
    ----------
    adjusted
        The adjusted p-values of the family's m pairs.

    References
    ----------
    Benjamini and Yekutieli (2005), J Am Stat Assoc 100:71.

    Examples
    --------
    >>> [round(level_of_each(0.05, [0.01, 0.04, 0.3, 0.5], how), 4) for how in ("holm", "bh", "none")]
    [0.9875, 0.975, 0.95]
    """
    m = max(len(adjusted), 1)
    if correction == "none":
        return 1 - alpha
    decided = sum(p <= alpha for p in adjusted) if correction == "bh" else 1
    return 1 - alpha * max(decided, 1) / m
