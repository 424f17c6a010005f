"""Error estimates from splits: hold-out, repeated hold-out, folds (stratified, leave-one-out) and nested search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from evalreport.algorithm_records import ChosenRecord, ErrorEstimateRecord
from evalreport.data.predictions import Predictions
from evalreport.intervals import INTERVALS, leading
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.layout import Parts
from evalreport.metrics.quantities import definition
from evalreport.metrics.sample import Sample

FOLDED = ("cross-validation", "5x2cv")
LEAST_IN_A_FOLD = 3
"""With fewer examples of the second most frequent class in a fold, even shares say nothing about the intention."""


def estimators_of(predictions: Predictions) -> tuple[str, ...]:
    """Name the estimators that the layout of the test rows is, the most specific last."""
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
    """Return the estimates that the layout of the test rows is, of every quantity of every model."""
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
        value_of = None
        if estimate.table is not None:
            value_of = as_tables(table_function(estimate.quantity, sample.predictions))
        interval = leading(estimate, level, value_of)
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


def _details(sample: Sample, estimate: Estimate) -> Mapping[str, Any]:
    fits = estimate.fits
    if fits is None:
        return {"n_test": sample.predictions.n_examples}
    defined = fits.values[~np.isnan(fits.values)]
    train = fits.n_train[~np.isnan(fits.n_train)]
    ranked = definition(estimate.quantity).family in ("ranking", "rows")
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
    found = []
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
            found.append(
                ChosenRecord(model.name, key.get("repeat"), key.get("fold"), column.categories[code])
            )
    return tuple(found)
