"""One slice: its rows alone, estimated as if nothing else were there.

So a slice's values and intervals are those of a run on its rows only, bootstrap intervals included: each slice is
drawn from by itself, with the seed of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions
from evalreport.data.selection import subset
from evalreport.data.slicing import Division
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.sample import Sample
from evalreport.records import Slice

Indices = npt.NDArray[np.int64]
Sampler = Callable[[Predictions, Sequence[Quantity], int], Sequence[Sample]]
"""Makes the samples of a table: predictions, quantities, bootstrap replicates -> one sample, or one a model."""


@dataclass(frozen=True, slots=True)
class Group:
    """One slice of one division.

    Attributes
    ----------
    rows
        Its rows in the whole table, ascending.
    samples
        One of all models; with test sets apart one a model that has examples in the slice.
    """

    division: Division
    name: Slice
    rows: Indices
    samples: tuple[Sample, ...]

    def sample_of(self, model: str) -> Sample | None:
        """Return the sample that holds a model; None where it has no example in the slice."""
        return next((s for s in self.samples if any(m.name == model for m in s.predictions.models)), None)

    def estimate(self, model: str, quantity: Quantity) -> Estimate | None:
        """Return a model's estimate in the slice; None where it has no example there."""
        sample = self.sample_of(model)
        return None if sample is None else sample.estimates.get((model, quantity))


def rows_by_slice(division: Division) -> list[Indices]:
    """Return the rows of each slice, in order."""
    order = np.argsort(division.codes, kind="stable")
    counts = np.bincount(division.codes, minlength=len(division.values))
    return [rows.astype(np.int64) for rows in np.split(order, np.cumsum(counts)[:-1])]


def group_of(
    predictions: Predictions,
    division: Division,
    value: str,
    rows: Indices,
    *,
    quantities: Sequence[Quantity],
    sampler: Sampler,
    n_resamples: int,
) -> Group:
    """Estimate every quantity on some rows alone."""
    samples = sampled_alone(predictions, rows, quantities, sampler, n_resamples)
    return Group(division, Slice(division.column, value), rows, samples)


def sampled_alone(
    predictions: Predictions,
    rows: Indices,
    quantities: Sequence[Quantity],
    sampler: Sampler,
    n_resamples: int,
) -> tuple[Sample, ...]:
    """Return the samples of some rows; models without any of them are left out.

    Values over folds pool them: a slice holds too little of a fold for tests between folds, so what is said of a
    slice is about these fitted models. Training seeds each predicted the whole slice, and stay.
    """
    part = alone(predictions, rows)
    if not part.models:
        return ()
    return tuple(_pooled(sample) for sample in sampler(part, quantities, n_resamples))


def alone(predictions: Predictions, rows: Indices) -> Predictions:
    """Return the table of some rows as if there were no other: its ids are those in use."""
    part = subset(predictions, rows)
    used, example = np.unique(part.example, return_inverse=True)
    return replace(
        part,
        models=tuple(m for m in part.models if m.present is None or m.present.any()),
        ids=predictions.ids.take(used),
        example=example.astype(np.int64).ravel(),
        warnings=(),
    )


def _pooled(sample: Sample) -> Sample:
    """Drop the values on single fits, except of seeds, and where data sets are the units themselves."""
    several = sample.rows.layout.pooled.count > 1
    estimates = {
        key: e if e.fits is None or e.of_seeds or (e.over_datasets and several) else replace(e, fits=None)
        for key, e in sample.estimates.items()
    }
    return replace(sample, estimates=estimates)
