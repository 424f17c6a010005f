"""Error estimators: cross-validation and the bootstrap's, from leave-one-out to .632+."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
from evalreport.questions.algorithms.records import ChosenRecord, ErrorEstimateRecord
from evalreport.questions.algorithms.replicates import (
    OutOfBag,
    Precision,
    Replicates,
    bootstrap_632,
    bootstrap_632plus,
    is_mean_of_losses,
    model_losses,
    no_information_rate,
    optimism_by_example,
    out_of_bag,
    over_examples,
)
from evalreport.samplings import sampling_by
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, Text

FOLDED = ("cross-validation", "5x2cv")
LEAST_IN_A_FOLD = 3
"""With fewer examples of the second most frequent class in a fold, even shares say nothing about the intention."""


def estimators_of(predictions: Predictions) -> tuple[str, ...]:
    """Name the estimators that match the layout of the test rows, the most specific last."""
    if predictions.design == "repeated-holdout":
        return ("repeated_holdout",)
    if predictions.design in ("test-set", "seeds", "bootstrap"):
        return ("holdout",)
    if predictions.design not in FOLDED:
        return ()
    if is_nested(predictions):
        return ("nested_cv",)
    return ("cv",)


def is_nested(predictions: Predictions) -> bool:
    """Say whether a search chose parameters inside each training part: there is a column params or inner_fold."""
    held = {*predictions.keys, *(name for m in predictions.models for name in m.columns)}
    return bool(held & {"params", "inner_fold"})


def is_leave_one_out(parts: Parts) -> bool:
    """Say whether every fold tests one example."""
    return parts.count > 1 and int(np.bincount(parts.codes).max()) == 1


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


def split_records(sample: Sample, level: float) -> list[ErrorEstimateRecord]:
    """Return the estimates that the layout of the test rows gives, of every quantity of every model."""
    predictions, layout = sample.predictions, sample.rows.layout
    names = list(estimators_of(predictions))
    if names == ["cv"]:
        if is_leave_one_out(layout.ranked):
            names = ["loocv"]
        elif is_stratified(predictions, layout.ranked, layout.pooled):
            names.append("stratified_cv")
    return [
        _record(sample, estimate, name, level) for estimate in sample.estimates.values() for name in names
    ]


def _record(sample: Sample, estimate: Estimate, name: str, level: float) -> ErrorEstimateRecord:
    known = not math.isnan(estimate.value)
    error, low, high, method = None, None, None, None
    if known:
        interval = leading(estimate, level)
        over_fits = INTERVALS[interval.method].over_fits
        error = corrected_error(estimate) if over_fits else _own_error(estimate)
        low, high, method = interval.low, interval.high, interval.method if interval.low is not None else None
    return ErrorEstimateRecord(
        model=estimate.model,
        estimator=name,
        metric=estimate.quantity.spelled,
        value=estimate.value if known else None,
        standard_error=error,
        low=low,
        high=high,
        details=_details(sample, estimate),
        reason=estimate.reason,
        interval_method=method,
    )


def _own_error(estimate: Estimate) -> float | None:
    return estimate.standard_error if estimate.defined else None


def corrected_error(estimate: Estimate) -> float | None:
    """Return the standard error of the mean over folds with the variance factor 1/J + n_test/n_train."""
    fits = estimate.fits
    if fits is None or len(fits.values) < 2 or np.isnan(fits.values).any():
        return None
    factor = 1 / len(fits.values) + fits.test_train_ratio
    return math.sqrt(factor * float(fits.values.var(ddof=1)))


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
            codes = column.values[rows]
            if (codes < 0).all():
                continue
            (code, _), *_ = Counter(codes[codes >= 0].tolist()).most_common(1)
            key = dict(name)
            records.append(
                ChosenRecord(
                    model=model.name,
                    repeat=key.get("repeat"),
                    fold=key.get("fold"),
                    params=column.categories[code],
                )
            )
    return tuple(records)


Values = Mapping[tuple[str, Quantity], Floats]

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
class Estimated:
    """One estimate: its value or the reason why there is none, its precision, and the numbers that it was made of."""

    value: float
    details: JsonObject
    precision: Precision | None = None
    reason: Text | None = None


def bootstrap_estimates(
    predictions: Predictions,
    replicates: Replicates,
    quantities: Sequence[Quantity],
    *,
    cluster: Indices | None,
    level: float,
) -> dict[tuple[str, Quantity, str], Estimated]:
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
    means = [q for q in quantities if is_mean_of_losses(q)]
    others = [q for q in quantities if not is_mean_of_losses(q)]
    estimates: dict[tuple[str, Quantity, str], Estimated] = {}
    for model in predictions.models:
        for quantity in means:
            if lacks(model, quantity) is None:
                own = _of_losses(predictions, replicates, model, quantity, cluster=cluster, level=level)
                estimates |= {(model.name, quantity, name): estimate for name, estimate in own.items()}
    values = _values(predictions, replicates, others)
    for model in predictions.models:
        for quantity in others:
            if lacks(model, quantity) is None:
                own = _of_values(predictions, replicates, model, quantity, values)
                estimates |= {(model.name, quantity, name): estimate for name, estimate in own.items()}
    return estimates


def _of_losses(
    predictions: Predictions,
    replicates: Replicates,
    model: ModelOutputs,
    quantity: Quantity,
    *,
    cluster: Indices | None,
    level: float,
) -> dict[str, Estimated]:
    """Estimate a mean of losses: every estimator is then a mean over examples itself, which gives its error."""
    by_row = model_losses(predictions, model, quantity)
    losses = by_row[replicates.rows]
    bag = out_of_bag(losses, replicates.out)
    limits = value_range(definition(quantity), predictions)

    def estimated(by_example: Floats, value: float, **details: float) -> Estimated:
        reason = _no_limits(quantity, details.get("resubstitution"), bag.value, value, limits)
        if reason is not None:
            return Estimated(value, details, None, reason)
        precision = over_examples(by_example, cluster, level, limits, value)
        without = precision.low is None and not math.isnan(value)
        return Estimated(value, details, precision, NO_SPREAD if without else None)

    estimates = {"bootstrap_oob": estimated(bag.by_example, bag.value, **_bag_details(bag))}
    if replicates.apparent is None:
        return estimates | _refused(NO_APPARENT, "bootstrap_optimism", "bootstrap_632", "bootstrap_632plus")
    apparent = by_row[replicates.apparent]
    e_r = float(apparent.mean())
    estimates["resubstitution"] = Estimated(e_r, {"n": replicates.n})
    if replicates.holds_whole_samples and replicates.inbag is not None:
        optimism = optimism_by_example(losses, replicates.inbag)
        estimates["bootstrap_optimism"] = estimated(
            apparent + optimism,
            e_r + float(optimism.mean()),
            resubstitution=e_r,
            optimism=float(optimism.mean()),
            n_replicates=replicates.count,
        )
    else:
        estimates |= _refused(NO_WHOLE, "bootstrap_optimism")
    if replicates.of_another_size:
        return estimates | _refused(OTHER_SIZE, "bootstrap_632", "bootstrap_632plus")
    gamma = no_information_rate(view(predictions, model).of(replicates.apparent), quantity)
    return estimates | _mixed(
        apparent, bag, gamma, estimated, better=definition(quantity).scale.greater_is_better is True
    )


def _mixed(
    apparent: Floats, bag: OutOfBag, gamma: float | None, estimated: Callable[..., Estimated], *, better: bool
) -> dict[str, Estimated]:
    """Mix the apparent error (n,) with the out-of-bag error: .632, and .632+ where there is a no-information rate."""
    e_r, lecture = float(apparent.mean()), float(np.nanmean(bag.by_replicate))
    parts = {"resubstitution": e_r, "out_of_bag": bag.value, "n_replicates": len(bag.by_replicate)}
    mixed = estimated(
        bootstrap_632(1.0, 0.0) * apparent + bootstrap_632(0.0, 1.0) * bag.by_example,
        bootstrap_632(e_r, bag.value),
        **parts,
        with_mean_over_replicates=bootstrap_632(e_r, lecture),
    )
    if gamma is None:
        return {"bootstrap_632": mixed} | _refused(NO_RATE, "bootstrap_632plus")
    plus = bootstrap_632plus(e_r, bag.value, gamma, greater_is_better=better)
    # The weight is taken as known, and the cap at gamma as not reached: the error is that of the two means.
    by_weight = estimated(
        (1 - plus.omega) * apparent + plus.omega * bag.by_example,
        plus.value,
        **parts,
        R=plus.relative_overfitting,
        gamma=gamma,
        omega=plus.omega,
        with_mean_over_replicates=bootstrap_632plus(e_r, lecture, gamma, greater_is_better=better).value,
    )
    return {"bootstrap_632": mixed, "bootstrap_632plus": by_weight}


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


def _bag_details(bag: OutOfBag) -> JsonObject:
    replicates = bag.by_replicate[~np.isnan(bag.by_replicate)]
    return {
        "mean_over_replicates": float(replicates.mean()) if len(replicates) else None,
        "pooled": bag.pooled,
        "never_out_of_bag": bag.never_out,
        "n_replicates": len(bag.by_replicate),
    }


def _refused(reason: Message, *names: str) -> dict[str, Estimated]:
    return {name: Estimated(math.nan, {}, reason=reason) for name in names}


# --- not a mean over examples: the value of each replicate on its out-of-bag rows, then their mean --------------------


@dataclass(frozen=True, slots=True)
class _Values:
    """By (model, quantity): on all data of the whole fit, and by replicate out of the bag, on all rows, in the bag."""

    apparent: Values
    out: Values
    everywhere: Values
    inside: Values


def _values(predictions: Predictions, replicates: Replicates, quantities: Sequence[Quantity]) -> _Values:
    if not quantities:
        return _Values({}, {}, {}, {})
    given, out = replicates.given, replicates.out
    apparent: Values = {}
    if replicates.apparent is not None:
        apparent = values_by_part(
            predictions, replicates.apparent, np.zeros(replicates.n, np.int64), quantities
        )
    everywhere: Values = {}
    inside: Values = {}
    if replicates.holds_whole_samples and replicates.inbag is not None:
        weights = replicates.inbag[given]
        everywhere = _by_replicate(predictions, replicates, given, quantities)
        inside = _by_replicate(predictions, replicates, given, quantities, weights=weights)
    return _Values(apparent, _by_replicate(predictions, replicates, out, quantities), everywhere, inside)


def _by_replicate(
    predictions: Predictions,
    replicates: Replicates,
    chosen: Mask,
    quantities: Sequence[Quantity],
    weights: Floats | None = None,
) -> Values:
    codes = np.nonzero(chosen)[0].astype(np.int64)
    return values_by_part(predictions, replicates.rows[chosen], codes, quantities, weights=weights)


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


def _of_values(
    predictions: Predictions, replicates: Replicates, model: ModelOutputs, quantity: Quantity, values: _Values
) -> dict[str, Estimated]:
    key = (model.name, quantity)
    if key not in values.out:
        return {}
    by_replicate = values.out[key]
    defined = ~np.isnan(by_replicate)
    out = float(by_replicate[defined].mean()) if defined.any() else math.nan
    counted = {"n_replicates": replicates.count, "undefined_replicates": int((~defined).sum())}
    estimates = {"bootstrap_oob": Estimated(out, {"mean_over_replicates": out, **counted}, reason=None)}
    if key not in values.apparent:
        return estimates | _refused(NO_APPARENT, "bootstrap_optimism", "bootstrap_632", "bootstrap_632plus")
    whole = float(values.apparent[key][0])
    estimates["resubstitution"] = Estimated(whole, {"n": replicates.n})
    if key in values.inside:
        optimism = float(np.nanmean(values.everywhere[key] - values.inside[key]))
        details = {"resubstitution": whole, "optimism": optimism, **counted}
        estimates["bootstrap_optimism"] = Estimated(whole + optimism, details)
    else:
        estimates |= _refused(NO_WHOLE, "bootstrap_optimism")
    if replicates.of_another_size:
        return estimates | _refused(OTHER_SIZE, "bootstrap_632", "bootstrap_632plus")
    parts = {"resubstitution": whole, "out_of_bag": out, **counted}
    estimates["bootstrap_632"] = Estimated(bootstrap_632(whole, out), parts)
    assert replicates.apparent is not None
    table = view(predictions, model).of(replicates.apparent)
    gamma = no_information_rate(table, quantity) if definition(quantity).is_auc else None
    if gamma is None:
        return estimates | _refused(NO_RATE, "bootstrap_632plus")
    plus = bootstrap_632plus(whole, out, gamma, greater_is_better=True)
    details = {**parts, "R": plus.relative_overfitting, "gamma": gamma, "omega": plus.omega}
    return estimates | {"bootstrap_632plus": Estimated(plus.value, details)}
