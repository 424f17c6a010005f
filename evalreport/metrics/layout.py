"""Which rows make one evaluation: repeats, replicates, seeds, data sets; and folds, where ranks cannot be pooled.

A value is the mean over parts. Counts and losses are pooled over the folds of a repeat, so their parts are the
repeats; scores of different folds come from different models and have no common scale, so the parts of rank
metrics are the folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions

Indices = npt.NDArray[np.int64]

POOLED_BY = {
    "test-set": (),
    "cross-validation": ("repeat", "seed"),
    "5x2cv": ("repeat", "seed"),
    "repeated-holdout": ("repeat", "seed"),
    "bootstrap": ("replicate",),
    "seeds": ("seed",),
    "datasets": ("dataset",),
}
"""The key columns whose values make the parts over which counts and losses are pooled."""

FOLDED = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose single fits are folds or hold-outs; the value of one is the mean over its training seeds."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A division of the rows.

    Attributes
    ----------
    codes
        (n,) part of each row, 0 to ``count`` - 1.
    names
        The key columns' values of each part, in order, as (column, value) pairs.
    """

    codes: Indices
    names: tuple[tuple[tuple[str, str], ...], ...]

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.names)

    def rows(self) -> list[Indices]:
        """Return the rows of each part, in order."""
        if self.count == 1:
            return [np.arange(len(self.codes))]
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.codes, minlength=self.count))[:-1])


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts for counts and losses, for ranks, and the single fits (folds, replicates, seeds, data sets)."""

    pooled: Parts
    ranked: Parts
    fits: Parts


def layout_of(predictions: Predictions) -> Layout:
    """Divide the rows by the design that loading found."""
    pooled = POOLED_BY[predictions.design]
    ranked = (*pooled, "fold")
    by_fit = ranked if predictions.design not in FOLDED else [name for name in ranked if name != "seed"]
    return Layout(*(parts_by(predictions, columns) for columns in (pooled, ranked, by_fit)))


def parts_by(predictions: Predictions, columns: Sequence[str]) -> Parts:
    """Divide the rows by the values of key columns; those that the files do not hold do not divide."""
    # A column without any value has no categories, and divides nothing either.
    held = [name for name in columns if name in predictions.keys and predictions.keys[name].categories != ()]
    if not held:
        return Parts(np.zeros(predictions.n, dtype=np.int64), ((),))
    stacked = np.stack([predictions.keys[name].values for name in held])
    distinct, codes = np.unique(stacked, axis=1, return_inverse=True)
    names = []
    for values in distinct.T:
        name = []
        for column, value in zip(held, values, strict=True):
            categories = predictions.keys[column].categories
            name.append((column, f"{value:g}" if categories is None else categories[int(value)]))
        names.append(tuple(name))
    return Parts(codes.ravel().astype(np.int64), tuple(names))
