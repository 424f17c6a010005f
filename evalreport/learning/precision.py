"""Standard error and interval of a mean of contributions, one an example (or a cluster of examples)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.engine.distributions import t_quantile
from evalreport.engine.effective import effective_clusters, freedom, freedom_of_clusters
from evalreport.intervals.proportions import wilson_limits

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-13


@dataclass(frozen=True, slots=True)
class Precision:
    """A standard error and limits with the method's name; None where there is no spread to take them from."""

    standard_error: float | None
    low: float | None
    high: float | None
    method: str


def over_examples(
    contributions: Floats,
    cluster: npt.NDArray[np.int64] | None,
    level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
    centre: float | None = None,
) -> Precision:
    """Return the precision of the mean of contributions (n,), nan left out, by Student's t.

    It holds for these fits on other examples; how the fits themselves vary with their training data is in it only as
    far as it differs from example to example.

    Parameters
    ----------
    cluster
        (n,) codes; their sums are then the independent units, with the factors and degrees of freedom of CR2.
    limits
        The range of the quantity, to which the interval is cut.
    centre
        The estimate, where it is not the mean of the contributions (a cap).
    """
    defined = ~np.isnan(contributions)
    values = contributions[defined]
    n = len(values)
    if n == 0:
        return Precision(None, None, None, "none")
    mean = float(values.mean())
    centre = mean if centre is None else centre
    deviations, units, by = values - mean, float(n), freedom(n)
    if cluster is not None:
        codes = np.unique(cluster[defined], return_inverse=True)[1]
        deviations = np.bincount(codes, weights=deviations).astype(np.float64)
        sizes = np.bincount(codes).astype(np.float64)
        units, by = effective_clusters(sizes), freedom_of_clusters(sizes)
    if by is None:
        return Precision(None, None, None, "none")
    error = float(np.sqrt((by.factors * deviations**2).sum())) / n
    if error <= NEGLIGIBLE * max(1.0, abs(mean)):
        low, high = without_spread(centre, units, level, limits)
        return Precision(0.0, low, high, "none" if low is None else "wilson")
    half = t_quantile((1 + level) / 2, by.df) * error
    low, high = (float(np.clip(limit, *limits)) for limit in (centre - half, centre + half))
    return Precision(error, low, high, "t" if cluster is None else "cr2_t")


def without_spread(
    centre: float, units: float, level: float, limits: tuple[float, float]
) -> tuple[float, float] | tuple[None, None]:
    """Give a width where every example says the same: at an end of [0, 1], Wilson's limits of 0 (or all) of n.

    Of clusters n is their effective number G*.
    """
    if limits == (0.0, 1.0) and centre in limits:
        return wilson_limits(centre * units, units, level)
    return None, None
