"""How many examples or clusters count where they are unlike, and how sums over them become a variance.

A value that is smooth in the examples' weights has the variance sum_u f_u D_u^2, D_u its derivative by the multiplicity
of a unit (an example or a cluster). The factors f_u undo the pull of each unit on the value that it is measured from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Freedom:
    """Factors (u,) of the units' squared derivatives, or one for all, and the degrees of freedom of their sum."""

    factors: Floats | float
    df: float


def freedom(units: int, df: float | None = None) -> Freedom | None:
    """Return the factor u / (u - 1) for every unit, with u - 1 or the given degrees of freedom; None for one unit."""
    if units < 2 or (df is not None and not df > 0):
        return None
    return Freedom(units / (units - 1), units - 1 if df is None else df)


def freedom_of_clusters(sizes: Floats) -> Freedom | None:
    """Return factors and degrees of freedom of the bias-reduced cluster-robust variance, CR2; None for one cluster.

    With h_g the share of cluster g in all examples the factors are 1 / (1 - h_g), and Satterthwaite's degrees of
    freedom under an identity working covariance are

        1 / (sum h^2 / (1 - h)^2 - 2 sum h^3 / (1 - h)^2 + (sum h^2 / (1 - h))^2).

    Clusters of one size have the factor G / (G - 1) and G - 1 degrees of freedom. For a mean this is the matrix form
    with (I - H_gg)^(-1/2); for other smooth metrics it holds for the linearised value, so df is approximate.

    Parameters
    ----------
    sizes
        (G,) examples of each cluster, or their summed weights; 0: the cluster does not enter.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28:169; Pustejovsky and Tipton (2018), J Bus Econ Stat 36:672.

    Examples
    --------
    Clusters of 2, 2 and 10 examples (clubSandwich 0.5.8):

    >>> round(freedom_of_clusters(np.array([2.0, 2.0, 10.0])).df, 6)
    1.384615
    """
    if int((sizes > 0).sum()) < 2:
        return None
    h = sizes / sizes.sum()
    rest = 1 - h
    pull = h * h / rest
    spread = (pull / rest).sum() - 2 * (pull * h / rest).sum() + pull.sum() ** 2
    return Freedom(1 / rest, float(1 / spread))


def kish(weights: Floats) -> float:
    """Return how many examples of equal weight would vary as much: (sum w)^2 / sum w^2; 0 where nothing weighs.

    References
    ----------
    Kish (1965), Survey Sampling, Wiley.

    Examples
    --------
    >>> kish(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def effective_clusters(sizes: Floats) -> float:
    """Return the effective number of clusters G* where the examples of one are wholly alike (rho = 1).

    G* = G / (1 + mean((gamma - mean gamma)^2) / (mean gamma)^2) with gamma_g = n_g^2: Kish's number for n_g^2.

    References
    ----------
    Carter, Schnepel and Steigerwald (2017), Rev Econ Stat 99:698.

    Examples
    --------
    >>> round(effective_clusters(np.array([2.0, 2.0, 10.0])), 6)
    1.162679
    """
    return kish(sizes**2)
