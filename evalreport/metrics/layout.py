"""Which rows make one evaluation: test sets, folds, replicates, seeds, data sets and the tasks of a suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.options import Average
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.column_names import TASK
from evalreport.predictions.table import Predictions
from evalreport.samplings.sampling import Sampling

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
    """The parts for counts and losses, for ranks, and the single fits (folds, replicates, seeds, data sets).

    ``whole``: the parts are the fixed tasks of a suite, so a mean over those in which a value is defined is no value.
    """

    pooled: Parts
    ranked: Parts
    fits: Parts
    whole: bool = False


def layout_of(predictions: Predictions, *, average: Average = "tasks") -> Layout:
    """Divide the rows by the design that loading found; a suite by its tasks, or (average ``examples``) not at all."""
    if predictions.tasks is not None:
        tasks = parts_by(predictions, (TASK,) if average == "tasks" else ())
        return Layout(tasks, tasks, parts_by(predictions, ()), whole=True)
    pooled = POOLED_BY[predictions.design]
    ranked = (*pooled, "fold")
    by_fit = ranked if predictions.design not in FOLDED else [name for name in ranked if name != "seed"]
    held = [_held(predictions, names) for names in (pooled, ranked, by_fit)]
    parts = {names: parts_by(predictions, names) for names in set(held)}
    of_pooled, of_ranked, of_fits = (parts[names] for names in held)
    return Layout(of_pooled, of_ranked, of_fits)


def _held(predictions: Predictions, columns: Sequence[str]) -> tuple[str, ...]:
    # A column without any value has no categories, and divides nothing either.
    return tuple(n for n in columns if n in predictions.keys and predictions.keys[n].categories != ())


def parts_by(predictions: Predictions, columns: Sequence[str]) -> Parts:
    """Divide the rows by the values of key columns; those that the files do not hold do not divide."""
    held = _held(predictions, columns)
    if not held:
        return Parts(np.broadcast_to(np.int64(0), predictions.n), ((),))
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


def by_seed(
    predictions: Predictions, units: Sampling, seeds: Parts, derivative: Floats | None
) -> Callable[[], Floats] | None:
    """Return a function from derivatives (n,) to ones by unit and training seed, (count, S); None in other designs."""
    if derivative is None or predictions.design != "seeds":
        return None
    return lambda: units.by_part(derivative, seeds.codes, seeds.count)


def task_weights(units: Sampling, layout: Layout) -> Floats:
    """Return how much each row counts in a mean, (n,), summing to 1: of a suite as ``--average`` says."""
    if units.task is None or layout.pooled.count == 1:
        return np.full(units.n, 1 / units.n)
    sizes = np.bincount(units.task)
    return np.asarray(1 / (len(sizes) * sizes[units.task]), dtype=np.float64)
