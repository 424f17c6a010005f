"""Records of values by fold, of confusion matrices, of how values vary between fits, and of how they were resampled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from evalreport.engine.draws import GROUPS
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.replicates import LEAST_OF_PRECISION, MOST_DRAWN, drawn_in_groups, serve_precision
from evalreport.metrics.row_estimates import rarest
from evalreport.metrics.sample import Sample
from evalreport.schema.comparisons import VarianceRecord
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.metrics import ConfusionRecord, FoldRecord
from evalreport.texts import Message

MOST_WHOLE = 50
"""Confusion matrices of up to this many classes are written with their zeros."""


def fold_records(sample: Sample) -> tuple[FoldRecord, ...]:
    """Return every model's value of every overall and averaged quantity on each single fit."""
    layout = sample.rows.layout
    parts = layout.pooled if sample.predictions.design == "datasets" else layout.fits
    if parts.count == 1:
        return ()
    names = [dict(name) for name in parts.names]
    records = []
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.fits is None or quantity.label is not None:
            continue
        for name, value, n in zip(names, estimate.fits.values, estimate.fits.n_test, strict=True):
            repeat = name.get("repeat") or name.get("replicate") or name.get("seed") or name.get("dataset")
            records.append(
                FoldRecord(
                    model=model,
                    repeat=repeat,
                    fold=name.get("fold"),
                    metric=quantity.metric,
                    average=quantity.average,
                    label=None,
                    value=None if np.isnan(value) else float(value),
                    n=int(n),
                )
            )
    return tuple(records)


def confusion_records(sample: Sample) -> tuple[ConfusionRecord, ...]:
    """Return every label model's confusion matrix, cell by cell; with very many classes only the cells in use."""
    classes, records = sample.predictions.classes, []
    if sample.tables is None:
        return ()
    for name, table in zip(sample.label_models, sample.tables.tables, strict=True):
        records += [
            ConfusionRecord(model=name, true=true, predicted=predicted, count=float(table[t, p]))
            for t, true in enumerate(classes)
            for p, predicted in enumerate(sample.predictions.answers)
            if len(classes) <= MOST_WHOLE or table[t, p]
        ]
    return tuple(records)


def variance_records(sample: Sample) -> tuple[VarianceRecord, ...]:
    """Return how much values vary between training seeds or replicates, apart from how much with the test set."""
    return tuple(record for estimate in sample.estimates.values() for record in _variances(estimate))


def _variances(estimate: Estimate) -> Iterator[VarianceRecord]:
    fits, quantity = estimate.fits, estimate.quantity
    if fits is None or fits.kind not in ("seeds", "replicates") or quantity.label is not None:
        return
    record = partial(VarianceRecord, model=estimate.model, metric=quantity.spelled)
    values = fits.values[~np.isnan(fits.values)]
    if len(values) > 1:
        yield record(source=fits.kind, value=float(values.var(ddof=1)), n=len(values))
    if estimate.defined and estimate.corrected_error is not None:
        yield record(source="test set", value=estimate.corrected_error**2, n=estimate.sampling.n_units)


def replicates_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say that scores and losses of many rows were resampled in groups."""
    resampled = any(e.replicates is not None for e in sample.estimates.values())
    predictions = sample.predictions
    if not resampled or not drawn_in_groups(sample.rows, rarest(predictions), len(predictions.classes)):
        return ()
    how, why = Message("groups.drawn", n=GROUPS), Message("groups.why", n=MOST_DRAWN)
    if not all(serve_precision(e) for e in sample.estimates.values() if e.replicates is not None):
        how = Message("groups.drawn_without_areas", n=GROUPS, least=LEAST_OF_PRECISION)
    return (FoundRecord(what="resampling of scores and losses", value=how, why=why),)
