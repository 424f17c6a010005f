"""Rows of numbers with the number of examples that have each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_EXPANDED = 100_000_000
"""Up to here the rows of counted examples are written out one by one."""


class TooManyRowsError(Exception):
    """The counts hold more examples than are written out one by one."""

    def __init__(self, n: int) -> None:
        super().__init__(f"{n:,} examples are more than {MOST_EXPANDED:,}")
        self.n = n


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Rows of numbers and how many examples (or folds, or data sets) have each; examples that are alike share a row.

    Attributes
    ----------
    values
        (m,) or (m, k): a number, or one for each of k models.
    counts
        (m,) how many examples have each row; None: one.
    compared
        Of differences: the largest size of the numbers that were subtracted, whose rounding they carry.
    """

    values: Floats
    counts: Floats | None = None
    compared: float = 0.0

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.values) if self.counts is None else int(self.counts.sum())

    def expanded(self) -> Floats:
        """Return one row an example.

        Raises
        ------
        TooManyRowsError
            More than ``MOST_EXPANDED`` examples are counted.
        """
        if self.counts is None:
            return self.values
        if self.n > MOST_EXPANDED:
            raise TooManyRowsError(self.n)
        return np.repeat(self.values, self.counts.astype(np.int64), axis=0)
