"""Bootstrap replicates as matrices: what the fit of each replicate said of each example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.views import ModelView, view

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


ANOTHER_SIZE = 0.1
"""Samples whose mean size differs from the number of examples by more than this share are of another size."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """Where the predictions of each replicate stand.

    Attributes
    ----------
    rows
        (K, n) row of each replicate's prediction of each example; -1 where there is none.
    inbag
        (K, n) how often the example was in the replicate's sample; None where the files do not say.
    apparent
        (n,) row of the prediction by the fit to all the data (training rows without a replicate); None where
        it is not given for every one of these examples.
    examples
        (n,) positions of the examples in ``Predictions.ids``.
    """

    rows: Rows
    inbag: Floats | None
    apparent: Rows | None
    examples: Rows

    @property
    def first(self) -> Rows:
        """A row (n,) of each example, for what does not depend on the fit: its truth, its cluster."""
        any_row = self.rows.max(axis=0)
        return any_row if self.apparent is None else np.where(any_row >= 0, any_row, self.apparent)

    @property
    def count(self) -> int:
        """Number of replicates K."""
        return len(self.rows)

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.examples)

    @property
    def given(self) -> npt.NDArray[np.bool_]:
        """Which (K, n) predictions there are."""
        return np.asarray(self.rows >= 0)

    @property
    def out(self) -> npt.NDArray[np.bool_]:
        """Which (K, n) predictions are of examples that the replicate was not trained on."""
        return self.given if self.inbag is None else np.asarray(self.given & ~(self.inbag > 0))

    @property
    def holds_whole_samples(self) -> bool:
        """Whether every replicate predicts all examples, and its counts add up to a sample of that size."""
        return (
            self.inbag is not None
            and bool(self.given.all())
            and bool((self.inbag.sum(axis=1) == self.n).all())
        )

    @property
    def of_another_size(self) -> bool:
        """Whether samples are clearly larger or smaller than the data; False where in-bag rows are not all given.

        Samples of whole clusters are as large on average only.
        """
        if self.inbag is None or not bool(self.given.all()):
            return False
        return abs(float(self.inbag.sum(axis=1).mean()) / self.n - 1) > ANOTHER_SIZE


def replicates_of(predictions: Predictions) -> Replicates | None:
    """Arrange the rows by replicate and example; None where the files hold no replicates.

    Parameters
    ----------
    predictions
        With training rows and rows in the bag, before the test rows are taken.
    """
    column = predictions.keys.get("replicate")
    if column is None or not bool((column.values >= 0).any()):
        return None
    train = part_is(predictions, "train")
    kept = np.flatnonzero((column.values >= 0) & ~train & ~part_is(predictions, "validation"))
    if not len(kept):
        return None
    whole = np.flatnonzero(train & (column.values < 0))
    # Where only rows out of the bag are written, an example may stand in the apparent fit alone.
    every, places = np.unique(predictions.example[np.concatenate([kept, whole])], return_inverse=True)
    examples, place = every, places[: len(kept)]
    names, replicate = np.unique(column.values[kept], return_inverse=True)
    rows = np.full((len(names), len(examples)), -1, dtype=np.int64)
    rows[replicate, place] = kept
    inbag = None
    counts = predictions.keys.get("inbag")
    if counts is not None:
        inbag = np.where(rows >= 0, np.nan_to_num(np.asarray(counts.values, dtype=np.float64))[rows], 0.0)
    return Replicates(rows, inbag, _placed(predictions.example[whole], whole, examples), examples)


def part_is(predictions: Predictions, part: str) -> npt.NDArray[np.bool_]:
    """Say which rows are of a part; an empty cell is none of train and validation."""
    column = predictions.keys.get("part")
    if column is None or column.categories is None or part not in column.categories:
        return np.zeros(predictions.n, dtype=np.bool_)
    return np.asarray(column.values == column.categories.index(part))


def _placed(example: Rows, rows: Rows, examples: Rows) -> Rows | None:
    """Return the row of each of the examples; None where one is missing or stands twice."""
    order = np.argsort(example, kind="stable")
    if not np.array_equal(example[order], examples):
        return None
    return rows[order]


def is_mean_of_losses(quantity: Quantity) -> bool:
    """Say whether a quantity is a mean of one number for each example."""
    return definition(quantity).is_mean


def example_losses(view_of_model: ModelView, quantity: Quantity) -> Floats:
    """Return the number of each row that the quantity is the mean of, (rows,).

    Parameters
    ----------
    quantity
        One for which ``is_mean_of_losses`` holds, and which the model's outputs allow.
    """
    numbers_of = definition(quantity).per_example
    assert numbers_of is not None
    return np.asarray(numbers_of(view_of_model), dtype=np.float64)


def model_losses(predictions: Predictions, model: ModelOutputs, quantity: Quantity) -> Floats:
    """Return one model's losses by row of the table, (rows,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return example_losses(view(predictions, model), quantity)
