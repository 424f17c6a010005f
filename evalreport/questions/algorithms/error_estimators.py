"""Error estimators: cross-validation and the bootstrap's, from leave-one-out to .632+."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evalreport.intervals import INTERVALS, leading
from evalreport.metrics.estimate import Estimate, value_range
from evalreport.metrics.fits import fit_values
from evalreport.metrics.layout import Layout, Parts
from evalreport.metrics.metric import Ranks, RowWise
from evalreport.metrics.quantities import lacks
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_data import RowData
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.algorithms.records import ChosenRecord
from evalreport.questions.algorithms.replicates import (
    WEIGHT,
    Plus,
    Precision,
    Replicates,
    bootstrap_632,
    bootstrap_632plus,
    model_losses,
    no_information_rate,
    optimism_by_example,
    out_of_bag,
    over_examples,
)
from evalreport.samplings import sampling_by
from evalreport.samplings.folds import over_folds
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

FOLDED = ("cross-validation", "5x2cv")
LEAST_IN_A_FOLD = 3
"""With fewer examples of the second most frequent class in a fold, even shares say nothing about the intention."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """One estimate: its value or the reason why there is none, its precision, and the numbers that it was made of."""

    value: float
    details: JsonObject
    precision: Precision | None = None
    reason: Text | None = None


ByEstimator = dict[tuple[str, Quantity, str], Estimated]
"""Estimates by model, quantity and estimator."""


def estimators_of(predictions: Predictions, layout: Layout) -> tuple[str, ...]:
    """Name the estimators that match the layout of the test rows."""
    if predictions.design == "repeated-holdout":
        return ("repeated_holdout",)
    if predictions.design in ("test-set", "seeds", "bootstrap"):
        return ("holdout",)
    if predictions.design not in FOLDED:
        return ()
    if is_nested(predictions):
        return ("nested_cv",)
    if layout.ranked.count > 1 and int(np.bincount(layout.ranked.codes).max()) == 1:
        return ("loocv",)
    stratified = is_stratified(predictions, layout.ranked, layout.pooled)
    return ("cv", "stratified_cv") if stratified else ("cv",)


def is_nested(predictions: Predictions) -> bool:
    """Say whether a search chose parameters inside each training part: there is a column params or inner_fold."""
    held = {*predictions.keys, *(name for m in predictions.models for name in m.columns)}
    return bool(held & {"params", "inner_fold"})


def is_stratified(predictions: Predictions, parts: Parts, repeats: Parts) -> bool:
    """Say whether, in every repeat, each class is shared out over the folds as evenly as can be.

    The files do not say how folds were drawn; counts that differ by at most one in every class do.
    """
    if not predictions.classes or predictions.y_true is None:
        return False
    table = np.zeros((parts.count, len(predictions.classes)))
    np.add.at(table, (parts.codes, predictions.y_true), 1)
    table = table[:, table.any(axis=0)]
    if table.shape[1] < 2 or np.sort(table, axis=1)[:, -2].min() < LEAST_IN_A_FOLD:
        return False
    owner = np.array([repeats.codes[rows[0]] for rows in parts.rows()])
    spread = [table[owner == r].max(axis=0) - table[owner == r].min(axis=0) for r in np.unique(owner)]
    return bool(np.stack(spread).max() <= 1)


def split_estimates(sample: Sample, level: float) -> ByEstimator:
    """Return the estimates that the layout of the test rows gives, of every quantity of every model."""
    names = estimators_of(sample.predictions, sample.rows.layout)
    return {
        (model, quantity, name): _of_split(sample, estimate, level)
        for (model, quantity), estimate in sample.estimates.items()
        for name in names
    }


def _of_split(sample: Sample, estimate: Estimate, level: float) -> Estimated:
    details = _details(sample, estimate)
    if math.isnan(estimate.value):
        return Estimated(math.nan, details, reason=estimate.reason)
    interval, fits = leading(estimate, level), estimate.fits
    error = estimate.standard_error if estimate.defined else None
    if INTERVALS[interval.method].over_fits:
        unknown = fits is None or len(fits.values) < 2 or np.isnan(fits.values).any()
        error = None if fits is None or unknown else over_folds(fits).error
    precision = Precision(error, interval.low, interval.high, interval.method)
    return Estimated(estimate.value, details, precision, estimate.reason)


def _details(sample: Sample, estimate: Estimate) -> JsonObject:
    fits = estimate.fits
    if fits is None:
        return {"n_test": sample.predictions.n_examples}
    defined = fits.values[~np.isnan(fits.values)]
    train = fits.n_train[~np.isnan(fits.n_train)]
    ranked = isinstance(definition(estimate.quantity).computation, Ranks | RowWise)
    repeats = len(np.unique(fits.repeat))
    return {
        f"n_{fits.kind}": len(fits.values),
        "n_repeats": repeats,
        "n_test": float(fits.n_test.mean()),
        "n_train": float(train.mean()) if len(train) else None,
        "mean_over_fits": float(defined.mean()) if len(defined) else None,
        "standard_deviation_over_fits": float(defined.std(ddof=1)) if len(defined) > 1 else None,
        "aggregation": "mean over fits" if ranked or fits.kind != "folds" else "pooled over folds",
    }


def chosen_records(predictions: Predictions, parts: Parts) -> tuple[ChosenRecord, ...]:
    """Say which parameters the inner search chose on each outer fold, for every model."""
    if predictions.design not in FOLDED:
        return ()
    records = []
    for model in predictions.models:
        column = model.columns.get("params") or predictions.keys.get("params")
        if column is None or column.categories is None:
            continue
        for name, rows in zip(parts.names, parts.rows(), strict=True):
            key, codes = dict(name), column.values[rows]
            for code, _ in Counter(codes[codes >= 0].tolist()).most_common(1):
                chosen = column.categories[code]
                records.append(
                    ChosenRecord(
                        model=model.name, repeat=key.get("repeat"), fold=key.get("fold"), params=chosen
                    )
                )
    return tuple(records)


NO_APPARENT = Message("estimator.no_apparent")
NO_WHOLE = Message("estimator.no_whole")
NO_RATE = Message("estimator.no_rate")
INTERPOLATES = Message("estimator.interpolates")
OUT_OF_RANGE = Message("estimator.out_of_range")
NO_SPREAD = Message("estimator.no_spread")
OTHER_SIZE = Message("estimator.other_size")
NEARLY_NONE = 0.1
"""An apparent error below this share of the out-of-bag error is next to none (docs/estimators.md)."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the replicates give of a quantity of a model: of a mean of losses by example (n,), else one value each.

    ``out`` averages to ``value``. ``details`` of the out-of-bag estimate, ``counted`` of all others; ``limited`` makes
    the estimates, and ``with_mean`` is the out-of-bag error of the lecture, averaged over replicates.
    """

    apparent: Floats | None
    out: Floats
    value: float
    optimism: Floats | None
    details: JsonObject
    counted: JsonObject
    limited: Callable[..., Estimated] = lambda _, value, **details: Estimated(value, details)
    with_mean: float | None = None


def bootstrap_estimates(
    predictions: Predictions,
    replicates: Replicates,
    quantities: Sequence[Quantity],
    *,
    cluster: Indices | None,
    level: float,
) -> ByEstimator:
    """Estimate every quantity of every model in the four ways, and by resubstitution.

    Parameters
    ----------
    predictions
        The whole table, rows in the bag included.
    replicates
        With ``inbag``.
    cluster
        (n,) cluster of each example of the replicates; None: every example is independent.
    level
        Confidence level of the intervals over examples.
    """
    others = _of_values(predictions, replicates, [q for q in quantities if not definition(q).is_mean])
    estimates: ByEstimator = {}
    for model in predictions.models:
        for quantity in quantities:
            if lacks(model, quantity) is not None:
                continue
            if definition(quantity).is_mean:
                of = _of_losses(predictions, replicates, model, quantity, cluster=cluster, level=level)
            elif (model.name, quantity) in others:
                of = others[model.name, quantity]
            else:
                continue
            made = _estimates(predictions, replicates, model, quantity, of)
            estimates |= {(model.name, quantity, name): estimate for name, estimate in made.items()}
    return estimates


def _of_losses(
    predictions: Predictions,
    replicates: Replicates,
    model: ModelOutputs,
    quantity: Quantity,
    *,
    cluster: Indices | None,
    level: float,
) -> _Parts:
    """Return the parts of a mean of losses: every estimator is then a mean over examples, which gives its error."""
    by_row = model_losses(predictions, model, quantity)
    losses = by_row[replicates.rows]
    bag = out_of_bag(losses, replicates.out)
    limits = value_range(definition(quantity), predictions)

    def limited(by_example: Floats, value: float, **details: float) -> Estimated:
        reason = _no_limits(quantity, details.get("resubstitution"), bag.value, value, limits)
        if reason is not None:
            return Estimated(value, details, None, reason)
        precision = over_examples(by_example, cluster, level, limits, value)
        without = precision.low is None and not math.isnan(value)
        return Estimated(value, details, precision, NO_SPREAD if without else None)

    whole = replicates.holds_whole_samples and replicates.inbag is not None
    by_replicate = bag.by_replicate[~np.isnan(bag.by_replicate)]
    mean = float(by_replicate.mean()) if len(by_replicate) else None
    return _Parts(
        apparent=None if replicates.apparent is None else by_row[replicates.apparent],
        out=bag.by_example,
        value=bag.value,
        optimism=optimism_by_example(losses, replicates.inbag) if whole else None,  # type: ignore[arg-type]
        details={"mean_over_replicates": mean, "pooled": bag.pooled, "never_out_of_bag": bag.never_out},
        counted={"n_replicates": replicates.count},
        limited=limited,
        with_mean=math.nan if mean is None else mean,
    )


def _of_values(
    predictions: Predictions, replicates: Replicates, quantities: Sequence[Quantity]
) -> dict[tuple[str, Quantity], _Parts]:
    """Return the parts of what is no mean over examples: the value of each replicate on some rows, then their mean."""
    if not quantities:
        return {}

    def values(chosen: Mask, weights: Floats | None = None) -> dict[tuple[str, Quantity], Floats]:
        return values_by_part(
            predictions, replicates.rows[chosen], np.nonzero(chosen)[0], quantities, weights=weights
        )

    of_whole, optimism = {}, {}
    if replicates.apparent is not None:
        every = np.zeros(replicates.n, np.int64)
        of_whole = values_by_part(predictions, replicates.apparent, every, quantities)
    if replicates.holds_whole_samples and replicates.inbag is not None:
        given = replicates.given
        everywhere, inside = values(given), values(given, replicates.inbag[given])
        optimism = {key: np.array([np.nanmean(everywhere[key] - inside[key])]) for key in inside}
    parts = {}
    for key, by_replicate in values(replicates.out).items():
        defined = by_replicate[~np.isnan(by_replicate)]
        value = float(defined.mean()) if len(defined) else math.nan
        undefined = len(by_replicate) - len(defined)
        parts[key] = _Parts(
            apparent=of_whole.get(key),
            out=np.array([value]),
            value=value,
            optimism=optimism.get(key),
            details={"mean_over_replicates": value},
            counted={"n_replicates": replicates.count, "undefined_replicates": undefined},
        )
    return parts


def _estimates(
    predictions: Predictions, replicates: Replicates, model: ModelOutputs, quantity: Quantity, of: _Parts
) -> dict[str, Estimated]:
    """Return the out-of-bag error, its mixtures with the apparent error, and the apparent error less its optimism."""
    estimates = {"bootstrap_oob": of.limited(of.out, of.value, **of.details, **of.counted)}
    apparent = of.apparent
    if apparent is None or replicates.apparent is None:
        return estimates | _refused(NO_APPARENT, "bootstrap_optimism", "bootstrap_632", "bootstrap_632plus")
    e_r = float(apparent.mean())
    estimates["resubstitution"] = Estimated(e_r, {"n": replicates.n})
    if of.optimism is None:
        estimates |= _refused(NO_WHOLE, "bootstrap_optimism")
    else:
        optimism = float(of.optimism.mean())
        estimates["bootstrap_optimism"] = of.limited(
            apparent + of.optimism, e_r + optimism, resubstitution=e_r, optimism=optimism, **of.counted
        )
    if replicates.of_another_size:
        return estimates | _refused(OTHER_SIZE, "bootstrap_632", "bootstrap_632plus")
    known = {"resubstitution": e_r, "out_of_bag": of.value, **of.counted}

    def mixed(weight: float, mix: Callable[[float], float], **details: float) -> Estimated:
        if of.with_mean is not None:
            details["with_mean_over_replicates"] = mix(of.with_mean)
        by_example = (1 - weight) * apparent + weight * of.out
        return of.limited(by_example, mix(of.value), **known, **details)

    estimates["bootstrap_632"] = mixed(WEIGHT, partial(bootstrap_632, e_r))
    gamma = no_information_rate(view(predictions, model).of(replicates.apparent), quantity)
    if gamma is None:
        return estimates | _refused(NO_RATE, "bootstrap_632plus")
    better = definition(quantity).scale.greater_is_better is True

    def plus(out_of_bag_error: float) -> Plus:
        return bootstrap_632plus(e_r, out_of_bag_error, gamma, greater_is_better=better)

    # The weight is taken as known, and the cap at gamma as not reached: the error is that of the two means.
    of_value = plus(of.value)
    parts = {"R": of_value.relative_overfitting, "gamma": gamma, "omega": of_value.omega}
    estimates["bootstrap_632plus"] = mixed(of_value.omega, lambda error: plus(error).value, **parts)
    return estimates


def _no_limits(
    quantity: Quantity,
    apparent: float | None,
    out_of_bag_error: float,
    value: float,
    limits: tuple[float, float],
) -> Message | None:
    """Say why no interval of an estimate would be honest; None where one may be."""
    if apparent is not None and interpolates(quantity, apparent, out_of_bag_error):
        return INTERPOLATES
    outside = not math.isnan(value) and not limits[0] <= value <= limits[1]
    return OUT_OF_RANGE if outside else None


def interpolates(quantity: Quantity, apparent: float, out_of_bag_error: float) -> bool:
    """Say whether a fit's training error is almost 0, relative to its error on other rows."""
    metric = definition(quantity)
    if metric.scale.greater_is_better:
        if metric.scale.range != (0.0, 1.0):
            return False
        apparent, out_of_bag_error = 1 - apparent, 1 - out_of_bag_error
    return bool(apparent < NEARLY_NONE * out_of_bag_error)


def _refused(reason: Message, *names: str) -> dict[str, Estimated]:
    return {name: Estimated(math.nan, {}, reason=reason) for name in names}


def values_by_part(
    predictions: Predictions,
    rows: Indices,
    codes: Indices,
    quantities: Sequence[Quantity],
    weights: Floats | None = None,
) -> dict[tuple[str, Quantity], Floats]:
    """Evaluate quantities on parts of the table: (parts,) by (model, quantity), nan where undefined.

    Parameters
    ----------
    rows, codes
        (m,) rows of the table, and the part of each, 0 to the number of parts - 1.
    weights
        (m,) how often each row counts; None: once.
    """
    table = subset(predictions, rows)
    names, codes = np.unique(codes, return_inverse=True)
    parts = Parts(codes.astype(np.int64), tuple((("part", str(name)),) for name in names))
    units = sampling_by(len(rows), weight=weights)
    prepared = RowData(units, Layout(parts, parts, parts), {}, {}, {})
    return fit_values(Sample(table, tuple(quantities), {}, None, prepared), parts)
