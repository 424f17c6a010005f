"""Learning and complexity curves: the points of each model, and the table at one point of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evalreport.engine.numbering import numbered
from evalreport.errors import InputError
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.column_names import IDENTITY_COLUMNS
from evalreport.predictions.design import Cells, design_of, with_seeds_as_repeats, without_a_place
from evalreport.predictions.subsets import of_model, subset
from evalreport.predictions.table import Column, ModelOutputs, Notes, Predictions
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import plain

Axis = Literal["train_size", "complexity"]


AXES: tuple[Axis, ...] = ("train_size", "complexity")


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a model's curve: where it lies (the mean, where sizes differ between fits), and its rows."""

    x: float
    rows: Indices


@dataclass(frozen=True, slots=True)
class Series:
    """The curves of all models: which column they run along, and each model's points in rising order."""

    axis: Axis
    points: Mapping[str, tuple[Point, ...]]
    cells: Indices
    """(rows,) number of each row's example and fit, without the position on the curve."""


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
        raise InputError.of("two_axes", column="complexity")
    if not varying:
        return None
    axis = varying[0]
    values = np.asarray(columns[axis].values, dtype=np.float64)
    points = {m.name: _points(predictions, m, values, axis) for m in predictions.models}
    return Series(axis, points, cells)


def _own_rows(predictions: Predictions, model: ModelOutputs) -> Indices:
    return np.arange(predictions.n) if model.present is None else np.flatnonzero(model.present)


def _fit_codes(predictions: Predictions, names: Sequence[str]) -> Indices:
    """Number the rows by key columns."""
    keys = (predictions.keys[name].values for name in names if name in predictions.keys)
    return numbered((np.zeros(predictions.n), *keys))


def _cell_codes(predictions: Predictions) -> Indices:
    """Number the rows by example and fit, without the position on the curve."""
    fit = _fit_codes(predictions, IDENTITY_COLUMNS)
    return np.asarray(fit * (int(predictions.example.max()) + 1) + predictions.example)


def _varies(predictions: Predictions, column: Column, cells: Indices) -> bool:
    """Say whether one model has several values of a column for one example and fit."""
    values = np.asarray(column.values, dtype=np.float64)
    for model in predictions.models:
        rows = _own_rows(predictions, model)
        own = np.unique(values[rows], return_inverse=True)[1]
        pairs = len(np.unique(cells[rows] * (int(own.max()) + 1) + own))
        if pairs > len(np.unique(cells[rows])):
            return True
    return False


def _points(predictions: Predictions, model: ModelOutputs, values: Floats, axis: Axis) -> tuple[Point, ...]:
    """Divide a model's rows by value; training sizes that differ between fits by their rank within each fit."""
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
            raise InputError.of(
                "unlike_points",
                column=series.axis,
                first=repr(names[0]),
                second=repr(name),
                axis=series.axis,
                first_x=f"{chosen[names[0]].x:g}",
                second_x=f"{chosen[name].x:g}",
            )
    # Sorted by example first, as every table is.
    first_order = np.argsort(first, kind="stable")
    table = subset(replace(predictions, models=()), first[first_order])
    models = tuple(
        _at_point(m, order[m.name][first_order], series.axis, chosen[m.name].x)
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
    records = tuple(r for r in predictions.found if r.what != "design")
    return replace(
        table,
        models=models,
        keys=with_seeds_as_repeats(keys) if design.seeds_are_repeats else keys,
        design=design.design,
        notes=Notes(
            (*records, FoundRecord(what="design", value=plain(design.design), why=design.why)), table.warnings
        ),
    )


def _at_point(model: ModelOutputs, rows: Indices, axis: Axis, x: float) -> ModelOutputs:
    chosen = of_model(model, rows)
    return replace(chosen, present=None, columns={**chosen.columns, axis: Column(np.full(len(rows), x))})
