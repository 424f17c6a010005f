"""What is drawn as one: an example, or a whole cluster of examples; and what each example weighs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.data.predictions import Predictions
from evalreport.engine.draws import bootstrap_clusters, bootstrap_rows, bootstrap_rows_within, swaps
from evalreport.errors import UsageError

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
    strata
        (n,) class codes, where the design fixed how many examples of each class there are; None: it did not.
    """

    n: int
    cluster: npt.NDArray[np.int64] | None = None
    weight: Floats | None = None
    strata: npt.NDArray[np.int64] | None = None

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
        if self.strata is not None:
            return bootstrap_rows_within(self.strata, n_resamples, seed=seed)
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
        if self.strata is not None:
            return within(derivative, np.ones(self.n), self.strata)
        weighted = derivative if self.weight is None else derivative * self.weight
        if self.cluster is None:
            return weighted
        return np.bincount(self.cluster, weights=weighted, minlength=self.count).astype(np.float64)


def within(derivative: Floats, counts: Floats, strata: npt.NDArray[Any]) -> Floats:
    """Centre derivatives (u,) within strata: where class counts are fixed, differences of classes do not vary."""
    totals = np.bincount(strata, weights=counts)
    means = np.bincount(strata, weights=counts * derivative) / np.where(totals > 0, totals, 1)
    return np.asarray(derivative - means[strata], dtype=np.float64)


def units_of(
    predictions: Predictions, *, cluster: str | None, weight: str | None, fixed_class_counts: bool = False
) -> Units:
    """Return the units of a run: the clusters of ``--cluster``, else examples that are predicted repeatedly.

    Loading has checked that the columns named are there.

    Raises
    ------
    UsageError
        Where class counts are declared as fixed and there are no classes, or units are not single examples.
    """
    codes = None
    if cluster is not None:
        column = (predictions.metadata.get(cluster) or predictions.keys[cluster]).values
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    elif predictions.n > len(predictions.ids):
        codes = np.unique(predictions.example, return_inverse=True)[1].astype(np.int64)
    weights = None if weight is None else np.asarray(predictions.metadata[weight].values, dtype=np.float64)
    strata = None
    if fixed_class_counts:
        if predictions.y_true is None or not predictions.classes:
            raise UsageError(f"--fixed-class-counts: the task is {predictions.task}, which has no classes")
        if codes is not None or weights is not None:
            raise UsageError(
                "--fixed-class-counts holds for single examples: leave out --cluster and --weight, and predict"
                " each example once"
            )
        strata = predictions.y_true.astype(np.int64)
    return Units(predictions.n, codes, weights, strata)
