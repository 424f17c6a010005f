"""The variance of a value or a difference whose examples come in clusters, and its degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.counts import freedom_of_clusters

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterVariance:
    """Two estimates of one variance; the larger one counts.

    Attributes
    ----------
    robust, robust_df
        The bias-reduced cluster-robust variance (CR2) and Satterthwaite's degrees of freedom.
    exchangeable
        The variance if any two examples of a cluster have the same correlation.
    correlation
        That correlation, by the analysis of variance, cut to [0, 1].
    df
        Degrees of freedom of the larger variance: the geometric mean of ``robust_df`` and G - 1.
    """

    robust: float
    robust_df: float
    exchangeable: float
    correlation: float
    df: float

    @property
    def variance(self) -> float:
        """The larger of the two variances."""
        return max(self.robust, self.exchangeable)


def variance_of_clusters(sums: Floats, sizes: Floats, squares: float) -> ClusterVariance | None:
    """Return the larger of the cluster-robust and the exchangeable variance; None for fewer than two clusters.

    With d_i the derivative of the value by the weight of example i (n times it is the influence value, of mean 0), D_g
    the sum of d in cluster g of n_g examples, and N examples in G clusters:

        V_CR2 = sum D_g^2 / (1 - n_g / N)
        MSB = sum(D_g^2 / n_g) / (G - 1),  MSW = (sum d_i^2 - sum D_g^2 / n_g) / (N - G)
        rho = (MSB - MSW) / (MSB + (n_0 - 1) MSW),  n_0 = (N - sum n_g^2 / N) / (G - 1)
        V_E = (sum d_i^2 / N) sum n_g (1 + (n_g - 1) rho)

    With few large clusters V_CR2 is small exactly where a value is far off; V_E takes the correlation from all
    clusters.

    Parameters
    ----------
    sums
        (G,) derivatives by cluster, D_g.
    sizes
        (G,) examples of each cluster; 0: it does not enter.
    squares
        Sum of d_i^2 over the examples.

    References
    ----------
    CR2 as ``freedom_of_clusters``; Donner (1986), Int Stat Rev 54:67, for rho. Their maximum and the degrees of
    freedom were chosen by simulation.

    Examples
    --------
    Three clusters of 2, 2 and 4 examples, each wholly alike:

    >>> found = variance_of_clusters(np.array([0.2, -0.2, 0.0]), np.array([2.0, 2.0, 4.0]), 0.04)
    >>> round(found.correlation, 6), round(found.robust, 6), round(found.exchangeable, 6), round(found.df, 6)
    (1.0, 0.106667, 0.12, 1.897367)
    """
    by_size = freedom_of_clusters(sizes)
    if by_size is None:
        return None
    held = sizes > 0
    n_g, d_g = sizes[held], sums[held]
    n, g = float(n_g.sum()), len(n_g)
    robust = float((d_g**2 / (1 - n_g / n)).sum())
    between = float((d_g**2 / n_g).sum())
    mean_size = (n - float((n_g**2).sum()) / n) / (g - 1)
    msb = between / (g - 1)
    msw = max(squares - between, 0.0) / (n - g) if n > g else 0.0
    total = msb + (mean_size - 1) * msw
    rho = min(max((msb - msw) / total, 0.0), 1.0) if total > 0 else 0.0
    exchangeable = squares / n * float((n_g * (1 + (n_g - 1) * rho)).sum())
    return ClusterVariance(
        robust=robust,
        robust_df=by_size.df,
        exchangeable=exchangeable,
        correlation=rho,
        df=math.sqrt(by_size.df * (g - 1)),
    )
