"""Which rows an analysis is about: test predictions, series of sizes, scores by data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.data.columns import IDENTITY_COLUMNS
from evalreport.data.design import Cells, design_of, with_seeds_as_repeats, without_a_place
from evalreport.data.predictions import Column, ModelOutputs, Predictions, Values
from evalreport.errors import InputError
from evalreport.records import FoundRecord
from evalreport.texts import Message

Rows = npt.NDArray[np.int64]


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
    keep = np.ones(predictions.n, dtype=bool)
    part = predictions.keys.get("part")
    if part is not None and part.categories is not None:
        test = part.categories.index("test") if "test" in part.categories else -2
        # An empty cell means a test row.
        keep &= (part.values == test) | (part.values < 0)
    inner = predictions.keys.get("inner_fold")
    if inner is not None and (keep & (inner.values < 0)).any():
        keep &= inner.values < 0  # beside outer test rows, those of an inner fold chose parameters
    inbag = predictions.keys.get("inbag")
    if inbag is not None:
        keep &= ~(inbag.values > 0)
    if any("inbag" in model.columns for model in predictions.models):
        raise InputError(
            "the models were trained on different bootstrap samples",
            column="inbag",
            expected="the same samples for every model, which is what pairs them",
            remedy="draw the samples once and train every model on each of them",
        )
    if keep.all():
        return predictions
    if not keep.any():
        raise InputError(
            "every row is a training row",
            column="part" if part is not None else "inbag",
            expected="predictions of examples that the model was not trained on",
            remedy="add test predictions (part = test, or inbag = 0)",
        )
    kept = FoundRecord(
        what="rows",
        value=Message("found.test_rows.value", n=int(keep.sum()), total=predictions.n),
        why=Message("found.test_rows.why"),
    )
    return replace(subset(predictions, np.flatnonzero(keep)), found=(*predictions.found, kept))


# A name that begins with "test" is no test.
test_rows.__test__ = False  # type: ignore[attr-defined]


def subset(predictions: Predictions, rows: Rows) -> Predictions:
    """Return the table of some rows, in their order."""
    return replace(
        predictions,
        example=predictions.example[rows],
        y_true=None if predictions.y_true is None else predictions.y_true[rows],
        models=tuple(_of_model(model, rows) for model in predictions.models),
        keys=_of_columns(predictions.keys, rows),
        metadata=_of_columns(predictions.metadata, rows),
        multiplicity=None if predictions.multiplicity is None else predictions.multiplicity[rows],
    )


def _of_model(model: ModelOutputs, rows: Rows) -> ModelOutputs:
    def taken(values: Values | None) -> Values | None:
        return None if values is None else values[rows]

    return replace(
        model,
        y_pred=taken(model.y_pred),
        score=taken(model.score),
        proba=taken(model.proba),
        outcome=taken(model.outcome),
        attempts=None if model.attempts is None else model.attempts.of(rows),
        gold=taken(model.gold),
        present=taken(model.present),
        columns=_of_columns(model.columns, rows),
    )


def _of_columns(columns: Mapping[str, Column], rows: Rows) -> dict[str, Column]:
    return {name: replace(column, values=column.values[rows]) for name, column in columns.items()}


Axis = Literal["train_size", "complexity"]
AXES: tuple[Axis, ...] = ("train_size", "complexity")


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a model's curve: where it lies (the mean, where sizes differ between fits), and its rows."""

    x: float
    rows: Rows


@dataclass(frozen=True, slots=True)
class Series:
    """The curves of all models: which column they run along, and each model's points in rising order."""

    axis: Axis
    points: Mapping[str, tuple[Point, ...]]
    cells: Rows
    """(rows,) number of each row's example and fit, the place on a curve left out."""


def series_of(predictions: Predictions) -> Series | None:
    """Divide the rows into the points of each model's curve; None where no model is fitted at several points.

    Raises
    ------
    InputError
        Where both training size and complexity vary within a model.
    """
    columns = {axis: predictions.keys[axis] for axis in AXES if axis in predictions.keys}
    if not columns or predictions.n == 0 or predictions.task == "scores":
        return None
    cells = _cell_codes(predictions)
    if len(np.unique(cells)) == len(cells):
        return None
    varying = [axis for axis in AXES if axis in columns and _varies(predictions, columns[axis], cells)]
    if len(varying) > 1:
        raise InputError(
            "both train_size and complexity vary within a model",
            column="complexity",
            expected="curves along one of the two",
            remedy="write the curve of each complexity as a model of its own, without the column complexity",
        )
    if not varying:
        return None
    axis = varying[0]
    values = np.asarray(columns[axis].values, dtype=np.float64)
    points = {m.name: _points(predictions, m, values, axis) for m in predictions.models}
    return Series(axis, points, cells)


def _own_rows(predictions: Predictions, model: ModelOutputs) -> Rows:
    return np.arange(predictions.n) if model.present is None else np.flatnonzero(model.present)


def _fit_codes(predictions: Predictions, names: Sequence[str]) -> Rows:
    """Number the rows by key columns."""
    packed = np.zeros(predictions.n, dtype=np.int64)
    for name in names:
        if name in predictions.keys:
            column = predictions.keys[name].values
            codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
            packed = np.unique(packed * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return packed.astype(np.int64)


def _cell_codes(predictions: Predictions) -> Rows:
    """Number the rows by example and fit, the place on a curve left out."""
    fit = _fit_codes(predictions, IDENTITY_COLUMNS)
    return np.asarray(fit * (int(predictions.example.max()) + 1) + predictions.example)


def _varies(predictions: Predictions, column: Column, cells: Rows) -> bool:
    """Say whether one model has several values of a column for one example and fit."""
    values = np.asarray(column.values, dtype=np.float64)
    for model in predictions.models:
        rows = _own_rows(predictions, model)
        own = np.unique(values[rows], return_inverse=True)[1]
        pairs = len(np.unique(cells[rows] * (int(own.max()) + 1) + own))
        if pairs > len(np.unique(cells[rows])):
            return True
    return False


def _points(
    predictions: Predictions, model: ModelOutputs, values: npt.NDArray[np.float64], axis: Axis
) -> tuple[Point, ...]:
    """Divide a model's rows by value; training sizes that differ between fits by their place in each fit."""
    rows = _own_rows(predictions, model)
    own = np.nan_to_num(values[rows], nan=-1.0)
    distinct, place = np.unique(own, return_inverse=True)
    if axis == "train_size":
        fits = _fit_codes(predictions, [n for n in IDENTITY_COLUMNS if n != "part"])[rows]
        by_fit = {int(f): np.unique(own[fits == f]) for f in np.unique(fits)}
        lengths = {len(sizes) for sizes in by_fit.values()}
        if lengths != {len(distinct)} and len(lengths) == 1:
            place = np.zeros(len(rows), dtype=np.int64)
            for f, sizes in by_fit.items():
                place[fits == f] = np.searchsorted(sizes, own[fits == f])
    return tuple(
        Point(float(values[rows[place == p]].mean()), rows[place == p]) for p in range(int(place.max()) + 1)
    )


def at_points(predictions: Predictions, series: Series, chosen: Mapping[str, Point]) -> Predictions:
    """Return the table with one point of each model's curve: an ordinary table, its design found anew.

    Raises
    ------
    InputError
        Where the models' points do not hold the same examples and fits.
    """
    cells = series.cells
    order = {name: point.rows[np.argsort(cells[point.rows], kind="stable")] for name, point in chosen.items()}
    names = [m.name for m in predictions.models if m.name in chosen]
    first = order[names[0]]
    for name in names[1:]:
        if not np.array_equal(cells[order[name]], cells[first]):
            raise InputError(
                f"the models {names[0]!r} and {name!r} do not predict the same examples at the points of their curves"
                f" that would be compared ({series.axis} {chosen[names[0]].x:g} and {chosen[name].x:g})",
                column=series.axis,
                expected="the same ids (and folds or replicates) at every point of every curve",
                remedy="predict the same test examples with every fit, or give `run` the models one by one",
            )
    # Sorted by example first, as every table is.
    first_order = np.argsort(first, kind="stable")
    table = subset(replace(predictions, models=()), first[first_order])
    models = tuple(
        _model(m, order[m.name][first_order], series.axis, chosen[m.name].x)
        for m in predictions.models
        if m.name in chosen
    )
    keys = dict(table.keys)
    if len({chosen[name].x for name in names}) > 1:
        del keys[series.axis]
    else:
        models = tuple(
            replace(m, columns={k: c for k, c in m.columns.items() if k != series.axis}) for m in models
        )
    design = design_of(Cells(keys, table.example, table.n, table.ids), without_a_place)
    found = tuple(r for r in predictions.found if r.what != "design")
    return replace(
        table,
        models=models,
        keys=with_seeds_as_repeats(keys) if design.seeds_are_repeats else keys,
        design=design.design,
        found=(*found, FoundRecord(what="design", value=design.design, why=design.why)),
    )


def _model(model: ModelOutputs, rows: Rows, axis: Axis, x: float) -> ModelOutputs:
    columns = {name: replace(c, values=c.values[rows]) for name, c in model.columns.items()}
    columns[axis] = Column(np.full(len(rows), x))
    return ModelOutputs(
        model.name,
        y_pred=None if model.y_pred is None else model.y_pred[rows],
        score=None if model.score is None else model.score[rows],
        proba=None if model.proba is None else model.proba[rows],
        outcome=None if model.outcome is None else model.outcome[rows],
        attempts=None if model.attempts is None else model.attempts.of(rows),
        gold=None if model.gold is None else model.gold[rows],
        columns=columns,
    )


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
        assert whole.outcome is not None
        return replace(model, outcome=np.bincount(codes, weights=whole.outcome) / counts)

    kept = subset(predictions, first)
    why = Message("found.dataset_values.why", least=int(counts.min()), most=int(counts.max()))
    said = FoundRecord(what="values", value=Message("found.dataset_values.value", n=len(first)), why=why)
    return replace(
        kept,
        models=tuple(averaged(m, w) for m, w in zip(kept.models, predictions.models, strict=True)),
        keys={"dataset": kept.keys["dataset"]},
        found=(*predictions.found, said),
    )
