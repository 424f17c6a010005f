"""Learning and complexity curves: each point's error on test rows and on the rows that its fits were trained on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.engine.distributions import chi2_tail, dot, exp, log
from evalreport.engine.draws import bootstrap_rows
from evalreport.intervals import leading
from evalreport.intervals.proportions import quantile
from evalreport.metrics.estimate import value_range
from evalreport.metrics.fits import with_fits
from evalreport.metrics.layout import layout_of, parts_by
from evalreport.metrics.quantities import lacks
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.series import Point, Series, at_points, series_of
from evalreport.predictions.subsets import test_rows
from evalreport.predictions.table import Predictions
from evalreport.questions.algorithms.decomposition import decomposition_records, own_complexity
from evalreport.questions.algorithms.error_estimators import values_by_part
from evalreport.questions.algorithms.estimates import estimated_quantities
from evalreport.questions.algorithms.records import (
    DecompositionRecord,
    ErrorEstimateRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.questions.algorithms.replicates import NEGLIGIBLE, model_losses, part_is, without_spread
from evalreport.samplings import sampling_of
from evalreport.schema.inputs import FoundRecord, JsonObject
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, plain

LEAST_SIZES = 4
"""Three numbers are fitted: with fewer sizes nothing would be left to check the fit by."""
REDRAWN = 400
EXPONENTS = np.array([0.02 * 150.0 ** (k / 240) for k in range(241)])
LEAST_P = 0.01
"""Below this p-value of the lack of fit the law is refused."""
FEW_FITS = 5
"""With fewer fits at each size their own variation cannot be drawn."""


def extrapolated(
    model: str,
    metric: str,
    points: Sequence[PointLosses],
    *,
    level: float,
    seed: int,
    margin: float | None = None,
) -> LearningFitRecord:
    """Fit a + b n^-c to a learning curve, and extrapolate it to twice the largest size.

    The points' covariance comes from drawing examples and fits again, the same draws at every size; the fit is
    generalised least squares with it, for each c on a grid, and with a at least 0. The limits of the extrapolated error
    are those of the law, moved outwards by what leaving out the largest size changes, and the upper one is not below
    the upper limit at the largest size: nothing shows that the error falls any further.

    Parameters
    ----------
    points
        In rising order of size.
    margin
        Where declared: the size is sought at which the fitted error is lower than at the largest size by so much.

    Returns
    -------
    LearningFitRecord
        With a reason instead of numbers where there are too few sizes, the error does not fall, or the law does not
        fit (chi-squared, S - 3 degrees of freedom).
    """
    unknown = dict.fromkeys(("a", "b", "c", "a_low", "a_high", "at", "predicted", "low", "high"))
    refused = partial(LearningFitRecord, model=model, metric=metric, level=level, **unknown)
    sizes = np.array([point.x for point in points])
    if len(sizes) < LEAST_SIZES:
        return refused(reason=Message("extrapolation.few_sizes", least=LEAST_SIZES))
    values = np.array([float(point.losses.mean()) for point in points])
    drawn = redrawn_errors(points, seed)
    away = drawn - drawn.mean(axis=0)
    covariance = away.T @ away / (REDRAWN - 1)
    scale = float(np.trace(covariance)) / len(sizes)
    if scale <= 0:
        return refused(reason=Message("extrapolation.constant"))
    # A ridge of one part in a thousand: draws of few examples leave the covariance nearly singular.
    root = np.linalg.cholesky(covariance + 1e-3 * scale * np.eye(len(sizes)))
    fit = power_law(sizes, values[None, :], root)
    a, b, c, misfit = (float(part[0]) for part in fit)
    p = chi2_tail(misfit, len(sizes) - 3)
    reason = _why_not(b, c, p)
    if reason is not None:
        return refused(reason=reason)
    again = power_law(sizes, drawn, root)
    tails = ((1 - level) / 2, (1 + level) / 2)
    at = 2 * float(sizes[-1])
    ahead = again[0] + again[1] * exp(-again[2] * math.log(at))
    predicted = a + b * at**-c
    change = _without_the_largest(sizes, values, root, predicted)
    low = max(float(np.quantile(ahead, tails[0])) - change, 0.0)
    no_further = float(values[-1] + quantile(level) * math.sqrt(covariance[-1, -1]))
    high = max(float(np.quantile(ahead, tails[1])) + change, no_further)
    needed, needed_low, needed_high = _needed(fit, again, float(sizes[-1]), margin, tails)
    return LearningFitRecord(
        model=model,
        metric=metric,
        a=a,
        b=b,
        c=c,
        a_low=float(np.quantile(again[0], tails[0])),
        a_high=float(np.quantile(again[0], tails[1])),
        at=at,
        predicted=predicted,
        low=low,
        high=high,
        level=level,
        needed=needed,
        needed_low=needed_low,
        needed_high=needed_high,
    )


def _without_the_largest(sizes: Floats, values: Floats, root: Floats, predicted: float) -> float:
    """Return how far the law without the largest size is from the error there, or from the extrapolation if more."""
    a, b, c, _ = (float(part[0]) for part in power_law(sizes[:-1], values[None, :-1], root[:-1, :-1]))
    largest = float(sizes[-1])
    at_largest, at_twice = (float(a + b * n**-c) for n in (largest, 2 * largest))
    return max(abs(at_largest - float(values[-1])), abs(at_twice - predicted))


def _why_not(b: float, c: float, p: float) -> Message | None:
    if b <= 0:
        return Message("extrapolation.not_falling")
    if p < LEAST_P:
        return Message("extrapolation.no_fit", p=p)
    if c >= EXPONENTS[-2]:
        return Message("extrapolation.flat")
    if c <= EXPONENTS[1]:
        return Message("extrapolation.straight")
    return None


def power_law(sizes: Floats, values: Floats, root: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Fit a + b n^-c to each row of values (B, S); ``root`` is the Cholesky factor of their covariance.

    Returns
    -------
    a, b, c, misfit
        (B,) each; misfit is the weighted sum of squares at the best exponent.

    Examples
    --------
    A curve without error is found again:

    >>> n = np.array([50.0, 100.0, 200.0, 400.0, 800.0])
    >>> c = float(EXPONENTS[150])
    >>> found = power_law(n, (0.1 + 2 * n**-c)[None, :], np.eye(5))
    >>> [round(float(part[0]), 6) for part in found[:2]], bool(found[2][0] == c)
    ([0.1, 2.0], True)
    """
    from scipy.linalg import solve_triangular

    whitened = solve_triangular(root, values.T, lower=True)
    ones, logs = solve_triangular(root, np.ones((len(sizes), 1)), lower=True)[:, 0], log(sizes / sizes[0])
    square = dot(ones, ones)
    of_ones = ones @ whitened / square
    best = [np.zeros(len(values)), np.zeros(len(values)), np.zeros(len(values)), np.full(len(values), np.inf)]
    for c in EXPONENTS:
        falling = solve_triangular(root, exp(-c * logs)[:, None], lower=True)[:, 0]
        shared = dot(falling, ones) / square
        apart = falling - shared * ones
        b = apart @ whitened / dot(apart, apart)
        a = of_ones - shared * b
        # An error below 0 is none: where a would be negative, it is 0.
        alone = falling @ whitened / dot(falling, falling)
        a, b = np.where(a < 0, 0.0, a), np.where(a < 0, alone, b)
        misfit = ((whitened - ones[:, None] * a - falling[:, None] * b) ** 2).sum(axis=0)
        better = misfit < best[3]
        for part, new in zip(best, (a, b * sizes[0] ** c, np.full(len(values), c), misfit), strict=True):
            part[better] = new[better]
    return best[0], best[1], best[2], best[3]


@dataclass(frozen=True, slots=True)
class PointLosses:
    """The losses at one training size ``x``: (m,) each with its example and its fit (0 to ``n_fits`` - 1)."""

    x: float
    losses: Floats
    example: Indices
    fit: Indices
    n_fits: int


def redrawn_errors(points: Sequence[PointLosses], seed: int) -> Floats:
    """Return (B, S) errors with examples and fits drawn again, the same draws at every point.

    So they vary with the test examples and, from five fits on, with what each fit was trained on.
    """
    examples = np.unique(np.concatenate([point.example for point in points]))
    n_fits = min(point.n_fits for point in points)
    by_example = np.concatenate(list(bootstrap_rows(len(examples), REDRAWN, seed=seed)))
    by_fit = np.ones((REDRAWN, max(point.n_fits for point in points)))
    if n_fits >= FEW_FITS and all(point.n_fits == n_fits for point in points):
        by_fit = np.concatenate(list(bootstrap_rows(n_fits, REDRAWN, seed=seed + 1)))
    errors = np.empty((REDRAWN, len(points)))
    for s, point in enumerate(points):
        example = np.searchsorted(examples, point.example)
        for b in range(REDRAWN):
            weights = by_example[b, example] * by_fit[b, point.fit]
            total = weights.sum()
            errors[b, s] = dot(weights, point.losses) / total if total else point.losses.mean()
    return errors


def _needed(
    fit: tuple[Floats, Floats, Floats, Floats],
    again: tuple[Floats, Floats, Floats, Floats],
    largest: float,
    margin: float | None,
    tails: tuple[float, float],
) -> tuple[float | None, float | None, float | None]:
    """Return the size at which the fitted error is lower by the margin, with its limits; None where it never is."""
    if margin is None:
        return None, None, None
    values = []
    for _, b, c, _ in (fit, again):
        # a + b n^-c = a + b N^-c - margin, so n = (N^-c - margin / b)^(-1/c); never where that is not positive.
        rest = exp(-c * math.log(largest)) - margin / np.maximum(b, 1e-300)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values.append(np.where((b > 0) & (rest > 0), exp(-log(np.maximum(rest, 1e-300)) / c), np.inf))
    sizes = (float(values[0][0]), *(float(np.quantile(values[1], t, method="inverted_cdf")) for t in tails))
    needed, low, high = (size if np.isfinite(size) else None for size in sizes)
    return needed, low, high


FITS = ("repeat", "fold", "replicate", "seed")
LEAST_OF_A_FAMILY = 3
"""With this many models of one complexity each, their errors are a curve too."""


def at_one_point(predictions: Predictions) -> Predictions:
    """Return the table that models are compared on: one point of each curve; the same object without curves."""
    series = series_of(predictions)
    if series is None:
        return predictions
    chosen, warnings = chosen_points(predictions, series)
    table = at_points(predictions, series, chosen)
    at = ", ".join(f"{name} {point.x:g}" for name, point in chosen.items())
    compared_at = FoundRecord(
        what=series.axis.replace("_", " "), value=plain(at), why=Message(f"curve_point.{series.axis}")
    )
    return table.noted(found=[compared_at], warnings=warnings)


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
    return -value if definition(quantity).scale.greater_is_better else value


def curve_points(
    predictions: Predictions, series: Series, used: Mapping[str, Point], options: Options
) -> tuple[LearningPointRecord, ...]:
    """Return every point of every model's curve, on the main loss and on the primary metric where one is named."""
    quantities = estimated_quantities(predictions, options.metrics[:1])
    quantities = quantities if options.metrics else quantities[:1]
    found: list[LearningPointRecord] = []
    for name, points in series.points.items():
        tables = [at_points(predictions, series, {name: point}) for point in points]
        of_points = [
            partial(LearningPointRecord, model=name, axis=series.axis, x=point.x, used=used[name] is point)
            for point in points
        ]
        for quantity in quantities:
            if lacks(tables[0].models[0], quantity) is not None:
                continue
            plain = definition(quantity).is_mean and options.weight is None
            tested = (_of_losses if plain else _of_values)(tables, quantity, options)
            for of_point, (value, error, low, high), table in zip(of_points, tested, tables, strict=True):
                rows = test_rows(table)
                if not math.isnan(value):
                    found.append(
                        of_point(
                            part="test",
                            metric=quantity.spelled,
                            value=value,
                            standard_error=error,
                            low=low,
                            high=high,
                            n=rows.n_examples,
                            n_fits=layout_of(rows).fits.count,
                        )
                    )
        for of_point, table in zip(of_points, tables, strict=True):
            found += _trained(table, of_point, quantities, options.weight)
    return tuple(found)


Limits = tuple[float, float | None, float | None, float | None]
"""Value, standard error, low and high."""


def _of_losses(tables: Sequence[Predictions], quantity: Quantity, options: Options) -> list[Limits]:
    """Draw examples and fits again, the same at every point, and take the normal limits of a mean loss."""
    points = [_point_losses(test_rows(table), 0.0, quantity, options) for table in tables]
    errors = redrawn_errors(points, options.seed).std(axis=0, ddof=1)
    bottom, top = value_range(definition(quantity), tables[0])
    limits: list[Limits] = []
    for point, error in zip(points, errors, strict=True):
        value, half = float(point.losses.mean()), quantile(options.confidence) * float(error)
        if half > NEGLIGIBLE * abs(value):
            limits.append((value, float(error), max(value - half, bottom), min(value + half, top)))
            continue
        # Nothing varies at this point: at an end of [0, 1] Wilson's limits say how far it may be, elsewhere nothing.
        units = len(np.unique(point.example))
        limits.append((value, 0.0, *without_spread(value, units, options.confidence, (bottom, top))))
    return limits


def _of_values(tables: Sequence[Predictions], quantity: Quantity, options: Options) -> list[Limits]:
    """Take the value and the recommended interval of a metric that is no mean over examples."""
    limits: list[Limits] = []
    for table in tables:
        predictions = test_rows(table)
        units = sampling_of(predictions, cluster=options.cluster, weight=options.weight)
        drawn = estimate_all(
            predictions, [quantity], units=units, n_resamples=options.resamples, seed=options.seed
        )
        (estimate,) = with_fits(drawn).estimates.values()
        interval = leading(estimate, options.confidence)
        limits.append((estimate.value, estimate.standard_error, interval.low, interval.high))
    return limits


def _trained(
    table: Predictions,
    of_point: Callable[..., LearningPointRecord],
    quantities: Sequence[Quantity],
    weight: str | None,
) -> Iterator[LearningPointRecord]:
    rows = np.flatnonzero(part_is(table, "train"))
    if not len(rows):
        return
    fits, n = (
        parts_by(table, [name for name in FITS if name in table.keys]),
        len(np.unique(table.example[rows])),
    )
    weights = None if weight is None else np.asarray(table.metadata[weight].values, dtype=np.float64)[rows]
    values = values_by_part(table, rows, fits.codes[rows], quantities, weights=weights)
    for (_, quantity), by_fit in values.items():
        defined = by_fit[~np.isnan(by_fit)]
        value = float(defined.mean()) if len(defined) else None
        yield of_point(part="train", metric=quantity.spelled, value=value, n=n, n_fits=len(by_fit))


def curve_fits(predictions: Predictions, series: Series, options: Options) -> tuple[LearningFitRecord, ...]:
    """Fit a power law to each model's learning curve of the main loss; nothing for complexity curves, or weights."""
    quantity = estimated_quantities(predictions, ())[0]
    if series.axis != "train_size" or options.weight is not None or not definition(quantity).is_mean:
        return ()
    fits = []
    for name, points in series.points.items():
        tables = [test_rows(at_points(predictions, series, {name: point})) for point in points]
        if len(points) > 1 and lacks(tables[0].models[0], quantity) is None:
            losses = [
                _point_losses(t, point.x, quantity, options) for t, point in zip(tables, points, strict=True)
            ]
            fits.append(
                extrapolated(
                    name,
                    quantity.spelled,
                    losses,
                    level=options.confidence,
                    seed=options.seed,
                    margin=options.margin,
                )
            )
    return tuple(fits)


def _point_losses(predictions: Predictions, x: float, quantity: Quantity, options: Options) -> PointLosses:
    """Return one point's losses, each with its unit (the example, or the cluster) and its fit."""
    (model,) = predictions.models
    fits = parts_by(predictions, [name for name in FITS if name in predictions.keys])
    drawn = predictions.example
    if options.cluster is not None:
        column = predictions.column(options.cluster)
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
            at: JsonObject = {series.axis: point.x}
            found += [replace(record, **at) for record in records]
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
    points = []
    for model, x in at.items():
        own = {e.estimator: e for e in estimates if e.model == model and e.metric == metric}
        best = next((own[name] for name in tested if name in own and own[name].value is not None), None)
        train = own.get("resubstitution")
        for part, record in (("test", best), ("train", train)):
            if record is not None and record.value is not None:
                points.append(
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
    return tuple(points)
