"""Predicted probabilities of an event, and whether it occurred."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from evalreport.calibration.limits import NO_LIMITS, Limits, rising_root
from evalreport.calibration.squared_error import Binned, binned
from evalreport.engine.cluster_variance import variance_of_clusters
from evalreport.engine.distributions import log, log1p, normal_quantile, t_quantile
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.texts import Message


@dataclass(frozen=True)
class Risks:
    """Probabilities and outcomes of the same examples; what describes them is computed once.

    Attributes
    ----------
    p
        (n,) predicted probabilities, 0 to 1.
    y
        (n,) 1 where the event occurred, else 0.
    weight
        (n,) example weights; None: every example weighs 1.
    cluster
        (n,) code of each example's cluster, from 0; None: examples are independent.
    """

    p: Floats
    y: Floats
    weight: Floats | None = None
    cluster: Indices | None = None

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.p)

    @property
    def plain(self) -> bool:
        """Whether examples are independent and weigh the same."""
        return self.weight is None and self.cluster is None

    @cached_property
    def w(self) -> Floats:
        """Weights (n,)."""
        return np.ones(self.n) if self.weight is None else self.weight

    @property
    def contradicted(self) -> tuple[int, int]:
        """How many events had probability 0, and how many non-events probability 1."""
        return int(((self.p <= 0) & (self.y == 1)).sum()), int(((self.p >= 1) & (self.y == 0)).sum())

    @cached_property
    def has_logit(self) -> Mask:
        """Which probabilities (n,) are neither 0 nor 1."""
        return np.asarray((self.p > 0) & (self.p < 1))

    @cached_property
    def open(self) -> Risks:
        """The examples whose probability has a logit."""
        return self if bool(self.has_logit.all()) else self.of(self.has_logit)

    @cached_property
    def logit(self) -> Floats:
        """Log odds (n,) of the probabilities; 0 of those of 0 and 1."""
        p = np.where(self.has_logit, self.p, 0.5)
        return log(p) - log1p(-p)

    @cached_property
    def no_line(self) -> Message | None:
        """Why no calibration line can be fitted; None where one can.

        A probability of 0 or 1 that agrees with the outcome says nothing against calibration, and is left out.
        """
        if bool((~self.has_logit & (self.p != self.y)).any()):
            return Message("undefined.certain")
        if not self.has_logit.any():
            return Message("undefined.all_certain")
        return no_fit(self.logit[self.has_logit], self.y[self.has_logit] == 1)

    @cached_property
    def fitted(self) -> list[tuple[Floats, Floats]]:
        """The last weights and their calibration line: slope and intercept, and their derivatives, share one fit."""
        return []

    @cached_property
    def bins(self) -> Binned | None:
        """The deciles of risk; None for fewer than 20 examples, or where no bin holds two."""
        return binned(self.p, self.y)

    @property
    def equal_bins(self) -> Binned | None:
        """The deciles where examples weigh the same; their debiased error is of equal weights."""
        return self.bins if self.weight is None else None

    @cached_property
    def shift(self) -> float:
        """Calibration in the large, where every probability has a logit: a of sum w (y - expit(logit p + a)) = 0.

        Infinite where no outcome differs.
        """
        w, x = self.w, self.logit
        share = float((w * self.y).sum() / w.sum())
        if share in (0.0, 1.0):
            return math.inf if share else -math.inf
        centre = math.log(share / (1 - share))
        return rising_root(
            lambda a: float((w * (special.expit(x + a) - self.y)).sum()),
            centre - float(x.max()),
            centre - float(x.min()),
        )

    def under(self, weight: Floats) -> Risks:
        """Return independent examples under weights (n,): these themselves where all are 1."""
        return self if self.plain and bool((weight == 1).all()) else Risks(self.p, self.y, weight)

    def of(self, rows: Mask | Indices) -> Risks:
        """Return some examples; their clusters are numbered anew."""
        weight = None if self.weight is None else self.weight[rows]
        cluster = None if self.cluster is None else np.unique(self.cluster[rows], return_inverse=True)[1]
        return Risks(self.p[rows], self.y[rows], weight, cluster)

    def by_cluster(self, values: Floats) -> Floats:
        """Add up values (n, ...) of the examples of each cluster, (G, ...)."""
        assert self.cluster is not None
        count = int(self.cluster.max()) + 1
        flat = values.reshape(len(values), -1)
        sums = [np.bincount(self.cluster, weights=column, minlength=count) for column in flat.T]
        return np.stack(sums, axis=1).astype(np.float64).reshape(count, *values.shape[1:])

    def clustered_variance(self, derivative: Floats) -> tuple[float, float] | None:
        """Return variance and degrees of freedom over clusters of a value with these derivatives (n,) by example."""
        assert self.cluster is not None
        sizes = np.bincount(self.cluster, weights=self.weight).astype(np.float64)
        variance = variance_of_clusters(self.by_cluster(derivative), sizes, float((derivative**2).sum()))
        return None if variance is None else (variance.variance, variance.df)


def around(
    value: float, level: float, risks: Risks, derivative: Floats, least: float, robust: float | None = None
) -> Limits:
    """Return value -+ quantile times the larger of an error by the outcomes and one by the model.

    Parameters
    ----------
    derivative
        (n,) by example; of clusters the variance and Student's t of ``Risks.clustered_variance``.
    least
        The variance if the probabilities are right.
    robust
        The variance by the outcomes; None: the sum of squared derivatives.
    """
    if risks.cluster is None:
        variance = float((derivative**2).sum()) if robust is None else robust
        q = normal_quantile((1 + level) / 2)
    else:
        found = risks.clustered_variance(derivative)
        if found is None:
            return NO_LIMITS
        variance, df = found
        q = t_quantile((1 + level) / 2, df)
    half = q * math.sqrt(max(variance, least))
    return value - half, value + half


def no_fit(logit: Floats, positive: Mask) -> Message | None:
    """Say why the likelihood has no single maximum; None where it has one."""
    if positive.all() or not positive.any():
        return Message("undefined.one_class")
    if np.ptp(logit) == 0:
        return Message("undefined.constant")
    low, high = logit[~positive], logit[positive]
    if high.min() >= low.max() or high.max() <= low.min():
        return Message("undefined.separated")
    return None
