"""What is drawn as one: an example, or a whole cluster of examples; and what each example weighs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

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

    def gather(self, columns: sparse.csr_array) -> sparse.csr_array:
        """Add up the weighted columns (n, p) of each unit's rows, (count, p): what one draw of the unit adds."""
        if self.plain:
            return columns
        cluster = np.arange(self.n) if self.cluster is None else self.cluster
        adder = sparse.csr_array((self.base, (cluster, np.arange(self.n))), shape=(self.count, self.n))
        return sparse.csr_array(adder @ columns)

    def unit_draws(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of multiplicities of the units."""
        if self.cluster is None:
            return bootstrap_rows(self.n, n_resamples, seed=seed)
        return bootstrap_clusters(self.count, n_resamples, seed=seed)

    def unit_swaps(self, n_resamples: int, *, seed: int) -> Iterator[Floats]:
        """Yield blocks (b, count) of 0 and 1: which units change sides."""
        return swaps(self.count, n_resamples, seed=seed)

    def expand(self, multiplicities: Floats) -> Floats:
        """Turn multiplicities of units (b, count) into weights of rows (b, n)."""
        by_row = multiplicities if self.cluster is None else multiplicities[:, self.cluster]
        return by_row if self.weight is None else by_row * self.weight

    def influence(self, derivative: Floats) -> Floats:
        """Turn derivatives (n,) by an example's weight into derivatives by a unit's multiplicity, (count,)."""
        weighted = derivative if self.weight is None else derivative * self.weight
        if self.cluster is None:
            return weighted
        return np.bincount(self.cluster, weights=weighted, minlength=self.count).astype(np.float64)


def units_of(predictions: Predictions, *, cluster: str | None, weight: str | None) -> Units:
    """Return the units of a run: the clusters of ``--cluster``, else examples that are predicted repeatedly.

    Loading has checked that the columns named are there.
    """
    codes = None
    if cluster is not None:
        column = (predictions.metadata.get(cluster) or predictions.keys[cluster]).values
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    elif predictions.n > len(predictions.ids):
        codes = np.unique(predictions.example, return_inverse=True)[1].astype(np.int64)
    weights = None if weight is None else np.asarray(predictions.metadata[weight].values, dtype=np.float64)
    return Units(predictions.n, codes, weights)
