"""Learning and complexity curves: each point's error on test rows and on the rows that its fits were trained on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.algorithm_records import (
    DecompositionRecord,
    ErrorEstimateRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.data.selection import test_rows
from evalreport.data.series import Point, Series, at_points, series_of
from evalreport.intervals import leading
from evalreport.intervals.choice import table_function as as_tables
from evalreport.intervals.proportions import quantile
from evalreport.learning.bootstrap_errors import values_by_part
from evalreport.learning.decomposition import decomposition_records, own_complexity, with_point
from evalreport.learning.estimates import estimated_quantities
from evalreport.learning.extrapolation import PointLosses, extrapolated, redrawn_errors
from evalreport.learning.precision import NEGLIGIBLE, without_spread
from evalreport.learning.replicates import is_mean_of_losses, model_losses, part_is
from evalreport.metrics.fits import with_fits
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.layout import layout_of, parts_by
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.sample import estimate_all, lacks
from evalreport.metrics.units import units_of
from evalreport.metrics.views import value_range
from evalreport.records import FoundRecord, WarningRecord, warning
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

FITS = ("repeat", "fold", "replicate", "seed")
LEAST_OF_A_FAMILY = 3
"""With so many models of one complexity each, their errors are a curve too."""


def at_one_point(predictions: Predictions) -> Predictions:
    """Return the table that models are compared on: one point of each curve; the same object without curves."""
    series = series_of(predictions)
    if series is None:
        return predictions
    chosen, warnings = chosen_points(predictions, series)
    table = at_points(predictions, series, chosen)
    at = ", ".join(f"{name} {point.x:g}" for name, point in chosen.items())
    said = FoundRecord(series.axis.replace("_", " "), at, Message(f"curve_point.{series.axis}"))
    return replace(table, found=(*table.found, said), warnings=(*table.warnings, *warnings))


def chosen_points(
    predictions: Predictions, series: Series
) -> tuple[dict[str, Point], tuple[WarningRecord, ...]]:
    """Choose the point of each model's curve that comparisons are made at.

    Returns
    -------
    points, warnings
        Of a learning curve the largest size. Of a complexity curve the one of the smallest error on these very
        examples, with the warning that the figure flatters the model.
    """
    if series.axis == "train_size":
        return {name: points[-1] for name, points in series.points.items()}, ()
    chosen = {}
    for name, points in series.points.items():
        losses = [_test_loss(predictions, series, name, point) for point in points]
        chosen[name] = points[int(np.nanargmin(losses))] if not np.isnan(losses).all() else points[-1]
    several = [name for name, points in series.points.items() if len(points) > 1]
    at = [Message("curve_point.model", model=name, x=chosen[name].x) for name in several[:6]]
    return chosen, (warning("complexity_chosen_on_test", about=tuple(several), points=tuple(at)),)


def _test_loss(predictions: Predictions, series: Series, name: str, point: Point) -> float:
    table = test_rows(at_points(predictions, series, {name: point}))
    (model,) = table.models
    quantity = estimated_quantities(table, ())[0]
    if lacks(model, quantity) is not None:
        return math.nan
    rows = np.arange(table.n)
    values = values_by_part(table, rows, np.zeros(table.n, np.int64), [quantity])
    value = float(values[model.name, quantity][0])
    return -value if definition(quantity).greater_is_better else value


def curve_points(
    predictions: Predictions, series: Series, used: Mapping[str, Point], options: Options
) -> tuple[LearningPointRecord, ...]:
    """Return every point of every model's curve, on the main loss and on the primary metric where one is named."""
    quantities = estimated_quantities(predictions, options.metrics[:1])
    quantities = quantities if options.metrics else quantities[:1]
    found: list[LearningPointRecord] = []
    for name, points in series.points.items():
        tables = [at_points(predictions, series, {name: point}) for point in points]
        for quantity in quantities:
            if lacks(tables[0].models[0], quantity) is not None:
                continue
            plain = is_mean_of_losses(quantity) and options.weight is None
            tested = _of_losses if plain else _of_values
            for point, (value, error, low, high), table in zip(
                points, tested(tables, quantity, options), tables, strict=True
            ):
                rows = test_rows(table)
                if not math.isnan(value):
                    found.append(
                        LearningPointRecord(
                            model=name,
                            axis=series.axis,
                            x=point.x,
                            part="test",
                            metric=quantity.spelled,
                            value=value,
                            standard_error=error,
                            low=low,
                            high=high,
                            n=rows.n_examples,
                            n_fits=layout_of(rows).fits.count,
                            used=used[name] is point,
                        )
                    )
        for point, table in zip(points, tables, strict=True):
            found += _trained(table, point, series, quantities, options.weight, used=used[name] is point)
    return tuple(found)


Limits = tuple[float, float | None, float | None, float | None]
"""Value, standard error, low and high."""


def _of_losses(tables: Sequence[Predictions], quantity: Quantity, options: Options) -> list[Limits]:
    """Draw examples and fits again, the same at every point, and take the normal limits of a mean loss."""
    points = [_point_losses(test_rows(table), 0.0, quantity, options) for table in tables]
    errors = redrawn_errors(points, options.seed).std(axis=0, ddof=1)
    bottom, top = value_range(definition(quantity), tables[0])
    found: list[Limits] = []
    for point, error in zip(points, errors, strict=True):
        value, half = float(point.losses.mean()), quantile(options.confidence) * float(error)
        if half > NEGLIGIBLE * max(1.0, abs(value)):
            found.append((value, float(error), max(value - half, bottom), min(value + half, top)))
            continue
        # Nothing varies at this point: at an end of [0, 1] Wilson's limits say how far it may be, elsewhere nothing.
        units = len(np.unique(point.example))
        found.append((value, 0.0, *without_spread(value, units, options.confidence, (bottom, top))))
    return found


def _of_values(tables: Sequence[Predictions], quantity: Quantity, options: Options) -> list[Limits]:
    """Take the value and the recommended interval of a metric that is no mean over examples."""
    found: list[Limits] = []
    for table in tables:
        predictions = test_rows(table)
        units = units_of(predictions, cluster=options.cluster, weight=options.weight)
        sample = with_fits(
            estimate_all(
                predictions, [quantity], units=units, n_resamples=options.resamples, seed=options.seed
            )
        )
        (estimate,) = sample.estimates.values()
        value_of = None
        if estimate.table is not None:
            value_of = as_tables(table_function(quantity, predictions))
        interval = leading(estimate, options.confidence, value_of)
        found.append((estimate.value, estimate.standard_error, interval.low, interval.high))
    return found


def _trained(
    table: Predictions,
    point: Point,
    series: Series,
    quantities: Sequence[Quantity],
    weight: str | None,
    *,
    used: bool,
) -> Iterator[LearningPointRecord]:
    rows = np.flatnonzero(part_is(table, "train"))
    if not len(rows):
        return
    fits = parts_by(table, [name for name in FITS if name in table.keys])
    weights = None if weight is None else np.asarray(table.metadata[weight].values, dtype=np.float64)[rows]
    values = values_by_part(table, rows, fits.codes[rows], quantities, weights=weights)
    for (model, quantity), by_fit in values.items():
        defined = by_fit[~np.isnan(by_fit)]
        yield LearningPointRecord(
            model=model,
            axis=series.axis,
            x=point.x,
            part="train",
            metric=quantity.spelled,
            value=float(defined.mean()) if len(defined) else None,
            standard_error=None,
            low=None,
            high=None,
            n=len(np.unique(table.example[rows])),
            n_fits=len(by_fit),
            used=used,
        )


def curve_fits(predictions: Predictions, series: Series, options: Options) -> tuple[LearningFitRecord, ...]:
    """Fit a power law to each model's learning curve of the main loss; nothing for complexity curves, or weights."""
    quantity = estimated_quantities(predictions, ())[0]
    if series.axis != "train_size" or options.weight is not None or not is_mean_of_losses(quantity):
        return ()
    found = []
    for name, points in series.points.items():
        tables = [test_rows(at_points(predictions, series, {name: point})) for point in points]
        if len(points) > 1 and lacks(tables[0].models[0], quantity) is None:
            losses = [
                _point_losses(t, point.x, quantity, options) for t, point in zip(tables, points, strict=True)
            ]
            found.append(
                extrapolated(
                    name,
                    quantity.spelled,
                    losses,
                    level=options.confidence,
                    seed=options.seed,
                    margin=options.margin,
                )
            )
    return tuple(found)


def _point_losses(predictions: Predictions, x: float, quantity: Quantity, options: Options) -> PointLosses:
    """Take one point's losses, each with what is drawn as one (its example, or its cluster) and its fit."""
    (model,) = predictions.models
    fits = parts_by(predictions, [name for name in FITS if name in predictions.keys])
    drawn = predictions.example
    if options.cluster is not None:
        column = predictions.metadata.get(options.cluster) or predictions.keys[options.cluster]
        drawn = np.asarray(column.values, dtype=np.int64)
    return PointLosses(x, model_losses(predictions, model, quantity), drawn, fits.codes, fits.count)


def decomposed_points(
    predictions: Predictions, series: Series, options: Options
) -> tuple[DecompositionRecord, ...]:
    """Split the expected loss at every point of every curve, where the points hold bootstrap replicates."""
    found: list[DecompositionRecord] = []
    for name, points in series.points.items():
        for point in points:
            records, _ = decomposition_records(at_points(predictions, series, {name: point}), options)
            found += [with_point(record, series.axis, point.x) for record in records]
    return tuple(found)


def family_points(
    predictions: Predictions, estimates: Sequence[ErrorEstimateRecord]
) -> tuple[LearningPointRecord, ...]:
    """Return the curve over models that each have one complexity, from their error estimates."""
    at = own_complexity(predictions)
    if len(at) < len(predictions.models) or len(set(at.values())) < LEAST_OF_A_FAMILY:
        return ()
    tested = ("nested_cv", "loocv", "cv", "repeated_holdout", "holdout", "bootstrap_oob")
    metric = estimates[0].metric if estimates else None
    found = []
    for model, x in at.items():
        own = {e.estimator: e for e in estimates if e.model == model and e.metric == metric}
        best = next((own[name] for name in tested if name in own and own[name].value is not None), None)
        train = own.get("resubstitution")
        for part, record in (("test", best), ("train", train)):
            if record is not None and record.value is not None:
                found.append(
                    LearningPointRecord(
                        model=model,
                        axis="complexity",
                        x=x,
                        part=part,
                        metric=record.metric,
                        value=record.value,
                        standard_error=record.standard_error,
                        low=record.low,
                        high=record.high,
                        n=predictions.n_examples,
                        n_fits=1,
                        used=True,
                    )
                )
    return tuple(found)
