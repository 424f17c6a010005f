"""Some rows of a table: test rows, any rows, one value for each data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from evalreport.errors import InputError
from evalreport.predictions.arrays import Indices, Mask, Values, required
from evalreport.predictions.cells import from_numpy
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.table import Column, Counts, ModelOutputs, Predictions
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message


def test_rows(predictions: Predictions) -> Predictions:
    """Keep the test predictions: no training or validation rows, and of bootstrap replicates those out of the bag.

    Parameters
    ----------
    predictions
        Any design.

    Returns
    -------
    Predictions
        The same object where every row is a test row; ``ids`` stay as they are.

    Raises
    ------
    InputError
        Where no test row is left, or where models have different rows out of the bag.
    """
    keep = tested(predictions.keys, predictions.n)
    if any("inbag" in model.columns for model in predictions.models):
        raise InputError.of("other_bags", column="inbag")
    if keep.all():
        return predictions
    if not keep.any():
        raise _no_test_row(predictions)
    kept = FoundRecord(
        what="rows",
        value=Message("found.test_rows.value", n=int(keep.sum()), total=predictions.n),
        why=Message("found.test_rows.why"),
    )
    return subset(predictions, np.flatnonzero(keep)).noted(found=[kept])


def weighing_rows(predictions: Predictions, weight: str | None) -> Predictions:
    """Leave out rows whose weight is 0: they are no examples, so that nothing counts them.

    Parameters
    ----------
    weight
        The column of weights; None: every row weighs 1.

    Returns
    -------
    Predictions
        The same object where no row weighs 0, and for sums of scores, to which such rows have added nothing.
    """
    column = None if weight is None else predictions.metadata.get(weight)
    if column is None or column.categories is not None or predictions.scores is not None:
        return predictions
    kept = column.values != 0
    if kept.all():
        return predictions
    if not all(model.present is None or model.present[kept].any() for model in predictions.models):
        raise InputError.of("weights_all_zero", column=weight)
    left_out = FoundRecord(
        what="rows",
        value=Message("found.weighing_rows.value", n=int(kept.sum()), total=predictions.n),
        why=Message("found.weighing_rows.why", column=weight),
    )
    return alone(predictions, np.flatnonzero(kept)).noted(found=[left_out])


# A name that begins with "test" is no test.
test_rows.__test__ = False  # type: ignore[attr-defined]


def _no_test_row(predictions: Predictions) -> InputError:
    """Return the error about a table without test rows, by the parts of its rows."""
    part = predictions.keys.get("part")
    if part is None or part.categories is None or marked_as_test(part).any():
        return InputError.of("all_in_the_bag", column="inbag")
    held = sorted({part.categories[code] for code in np.unique(part.values)})
    return InputError.of(f"no_test_row_but_{'_and_'.join(held)}", column="part")


def tested(keys: Mapping[str, Column], n: int) -> Mask:
    """Say which rows (n,) are test rows: not of training or validation, not in the bag, not beside outer test rows."""
    rows = np.ones(n, dtype=np.bool_)
    if "part" in keys:
        rows &= marked_as_test(keys["part"])
    if "inbag" in keys:
        rows &= ~(keys["inbag"].values > 0)
    inner = keys.get("inner_fold")
    if inner is not None and (rows & (inner.values < 0)).any():
        rows &= inner.values < 0  # beside outer test rows, those of an inner fold chose parameters
    return rows


def marked_as_test(part: Column) -> Mask:
    """Say which rows the column ``part`` takes for test rows: those marked so, and those with an empty cell."""
    assert part.categories is not None
    test = part.categories.index("test") if "test" in part.categories else -1
    return np.asarray((part.values == test) | (part.values < 0))


def subset(predictions: Predictions, rows: Indices) -> Predictions:
    """Return the table of some rows, in their order."""
    return replace(
        predictions,
        example=predictions.example[rows],
        y_true=None if predictions.y_true is None else predictions.y_true[rows],
        models=tuple(of_model(model, rows) for model in predictions.models),
        keys=_of_columns(predictions.keys, rows),
        metadata=_of_columns(predictions.metadata, rows),
        counts=None
        if predictions.counts is None
        else Counts(predictions.counts.multiplicity[rows], _scores_of(predictions, rows)),
    )


def alone(predictions: Predictions, rows: Indices) -> Predictions:
    """Return the table of some rows as if there were no other: its ids are those in use."""
    part = subset(predictions, rows)
    used, example = np.unique(part.example, return_inverse=True)
    return replace(
        part,
        models=tuple(m for m in part.models if m.present is None or m.present.any()),
        ids=predictions.ids.take(from_numpy(used)),
        example=example.astype(np.int64).ravel(),
    )


def _scores_of(predictions: Predictions, rows: Indices) -> ScoreSums | None:
    """Return the sums of scores of some rows: of all, or of one slice that they were made for; else None."""
    whole = predictions.scores
    if whole is None or len(np.unique(rows)) == predictions.n:
        return whole
    for name in whole.columns if whole.slice is None else ():
        column = predictions.metadata[name]
        value = column.values[rows[0]]
        same = np.isnan(column.values) if value != value else column.values == value
        if same[rows].all() and same.sum() == len(rows):
            return whole.within(name, _as_text(whole, name, column, value))
    return None


def _as_text(whole: ScoreSums, name: str, column: Column, value: float) -> str | None:
    """Return a value of a column as the sums spell it; None where it is empty."""
    if column.categories is not None:
        return column.categories[int(value)] if value >= 0 else None
    return next((text for text in whole.values_of(name) if text is not None and float(text) == value), None)


def of_model(model: ModelOutputs, rows: Indices) -> ModelOutputs:
    """Return some rows of a model's outputs."""

    def taken(values: Values | None) -> Values | None:
        return None if values is None else values[rows]

    return replace(
        model,
        y_pred=taken(model.y_pred),
        score=taken(model.score),
        proba=taken(model.proba),
        outcome=taken(model.outcome),
        attempts=None if model.attempts is None else model.attempts.of(rows),
        answers=None if model.answers is None else model.answers.of(rows),
        gold=taken(model.gold),
        by_people=taken(model.by_people),
        by_judge=taken(model.by_judge),
        present=taken(model.present),
        columns=_of_columns(model.columns, rows),
        numbers={name: values[rows] for name, values in model.numbers.items()},
    )


def _of_columns(columns: Mapping[str, Column], rows: Indices) -> dict[str, Column]:
    return {name: replace(column, values=column.values[rows]) for name, column in columns.items()}


def one_value_a_dataset(predictions: Predictions) -> Predictions:
    """Average the scores of each data set over its repeats, folds and seeds, so that data sets are the examples.

    Parameters
    ----------
    predictions
        Any task and design.

    Returns
    -------
    Predictions
        The same object unless the task is scores, the design data sets, and a data set has several rows.
    """
    if predictions.task != "scores" or predictions.design != "datasets":
        return predictions
    dataset = predictions.keys["dataset"]
    _, first, codes = np.unique(dataset.values, return_index=True, return_inverse=True)
    if len(first) == predictions.n:
        return predictions
    counts = np.bincount(codes)

    def averaged(model: ModelOutputs, whole: ModelOutputs) -> ModelOutputs:
        return replace(model, outcome=np.bincount(codes, weights=required(whole.outcome)) / counts)

    kept = subset(predictions, first)
    why = Message("found.dataset_values.why", least=int(counts.min()), most=int(counts.max()))
    note = FoundRecord(what="values", value=Message("found.dataset_values.value", n=len(first)), why=why)
    models = tuple(averaged(m, w) for m, w in zip(kept.models, predictions.models, strict=True))
    return replace(kept, models=models, keys={"dataset": kept.keys["dataset"]}).noted(found=[note])
