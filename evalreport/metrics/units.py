"""What is drawn as one: an example, or a whole cluster of examples; and what each example weighs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions
from evalreport.engine.draws import bootstrap_clusters, bootstrap_rows, swaps

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Units:
    """The resampling units of a run.

    Attributes
    ----------
    n
        Examples.
    cluster
        (n,) code of each example's cluster, 0 to ``count`` - 1; None: every example is a unit of its own.
    weight
        (n,) example weights; None: every example weighs 1.
    """

    n: int
    cluster: npt.NDArray[np.int64] | None = None
    weight: Floats | None = None

    @property
    def plain(self) -> bool:
        """Whether examples are independent and weigh the same: binomial arithmetic holds."""
        return self.cluster is None and self.weight is None

    @property
    def count(self) -> int:
        """Number of units."""
        return self.n if self.cluster is None else int(self.cluster.max()) + 1

    @property
    def base(self) -> Floats:
        """Weights (n,) of the data themselves."""
        return np.ones(self.n) if self.weight is None else self.weight

    def draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, n) of bootstrap weights: multiplicities of the units times the example weights."""
        if self.cluster is None:
            drawn: Iterator[Floats] = bootstrap_rows(self.n, n_resamples, seed=seed)
        else:
            drawn = bootstrap_clusters(self.cluster, self.count, n_resamples, seed=seed)
        for weights in drawn:
            yield weights if self.weight is None else weights * self.weight

    def swaps(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, n) of 0 and 1: which rows change sides; a cluster changes sides as a whole."""
        n = self.n if self.cluster is None else self.count
        for bits in swaps(n, n_resamples, seed=seed):
            yield bits if self.cluster is None else bits[:, self.cluster]

    def every_swap(self) -> Floats:
        """Return all 2^units patterns of swapped rows, (2^units, n)."""
        bits = ((np.arange(2**self.count)[:, None] >> np.arange(self.count)) & 1).astype(np.float64)
        return bits if self.cluster is None else bits[:, self.cluster]

    def influence(self, derivative: Floats) -> Floats:
        """Turn derivatives (n,) by an example's weight into derivatives by a unit's multiplicity, (count,)."""
        weighted = derivative if self.weight is None else derivative * self.weight
        if self.cluster is None:
            return weighted
        return np.bincount(self.cluster, weights=weighted, minlength=self.count).astype(np.float64)


def units_of(predictions: Predictions, *, cluster: str | None, weight: str | None) -> Units:
    """Return the units that the columns named by ``--cluster`` and ``--weight`` make; loading has checked them."""
    codes = None
    if cluster is not None:
        column = (predictions.metadata.get(cluster) or predictions.keys[cluster]).values
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    weights = None if weight is None else np.asarray(predictions.metadata[weight].values, dtype=np.float64)
    return Units(predictions.n, codes, weights)
