"""From samples to records: the values, folds, confusion matrices and curves that stand in the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparisons.dominance import crossing_sentence
from evalreport.comparisons.seeds import trained_once
from evalreport.comparisons.verdicts import Decision, verdict
from evalreport.config import Options
from evalreport.curve_records import DominanceRecord
from evalreport.data.predictions import Predictions
from evalreport.intervals import all_intervals, leads_as_proportion
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.formula import filled_in
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import definition
from evalreport.metrics.sample import Sample
from evalreport.records import (
    ConfusionRecord,
    FoldRecord,
    MetricRecord,
    VerdictRecord,
)
from evalreport.texts import Text, sentences

MOST_WHOLE = 50
"""Confusion matrices of up to so many classes are written with their zeros."""


def metric_records(sample: Sample, options: Options) -> tuple[MetricRecord, ...]:
    """Return every model's value of every quantity with its intervals, the recommended one first."""
    predictions, effective = sample.predictions, (sample.n_effective, sample.units.clusters_effective)
    found = []
    for model in predictions.models:
        for quantity in sample.quantities:
            estimate = sample.estimates[model.name, quantity]
            value_of = (
                as_tables(table_function(quantity, predictions)) if estimate.table is not None else None
            )
            n_effective, clusters_effective = (None, None) if estimate.over_datasets else effective
            code = predictions.classes.index(quantity.label) if quantity.label is not None else None
            if code is None and predictions.task == "binary":
                code = predictions.positive_code
            intervals = all_intervals(estimate, options.intervals, options.confidence, value_of)
            found.append(
                MetricRecord(
                    model=model.name,
                    metric=quantity.metric,
                    average=quantity.average,
                    label=quantity.label,
                    slice=None,
                    value=None if np.isnan(estimate.value) else float(estimate.value),
                    standard_error=estimate.standard_error if estimate.defined else None,
                    n=estimate.n,
                    reason=estimate.reason,
                    intervals=intervals,
                    formula=filled_in(estimate, code),
                    n_effective=n_effective,
                    clusters_effective=clusters_effective,
                    trials=estimate.trials if leads_as_proportion(estimate, intervals[0]) else None,
                )
            )
    return tuple(found)


def fold_records(sample: Sample) -> tuple[FoldRecord, ...]:
    """Return every model's value of every overall and averaged quantity on each single fit."""
    layout = sample.rows.layout
    parts = layout.pooled if sample.predictions.design == "datasets" else layout.fits
    if parts.count == 1:
        return ()
    names = [dict(name) for name in parts.names]
    found = []
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.fits is None or quantity.label is not None:
            continue
        for name, value, n in zip(names, estimate.fits.values, estimate.fits.n_test, strict=True):
            repeat = name.get("repeat") or name.get("replicate") or name.get("seed") or name.get("dataset")
            found.append(
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
    return tuple(found)


def confusion_records(sample: Sample) -> tuple[ConfusionRecord, ...]:
    """Return every label model's confusion matrix, cell by cell; with very many classes only the cells in use."""
    classes, found = sample.predictions.classes, []
    if sample.tables is None:
        return ()
    for name, table in zip(sample.label_models, sample.tables.tables, strict=True):
        found += [
            ConfusionRecord(name, true, predicted, float(table[t, p]))
            for t, true in enumerate(classes)
            for p, predicted in enumerate(classes)
            if len(classes) <= MOST_WHOLE or table[t, p]
        ]
    return tuple(found)


def verdict_records(
    decisions: Sequence[Decision],
    predictions: Predictions,
    options: Options,
    crossed: Sequence[DominanceRecord] = (),
) -> tuple[VerdictRecord, ...]:
    """Return the verdict of each pair on the primary metric.

    Where that is an area under a curve, it is added to the sentence that the pair's curves cross: an area settles
    nothing for one operating point. The verdict itself stays what the declared metric's test settles. Where a model was
    trained with one seed, the sentence says that it is about the models as they were trained.
    """
    clear = {frozenset((record.a, record.b)): record for record in crossed if record.clear}
    found = []
    for decision in decisions:
        said, notes = verdict(decision, options), list[Text]()
        record = clear.get(frozenset(said.about))
        if record is not None and definition(decision.comparison.quantity).area:
            settled = said.verdict in ("better", "worse")
            if not settled or record.beyond_bands:
                notes.append(crossing_sentence(record, settled=settled))
        pair = decision.comparison.pair
        once = None if pair is None else trained_once(pair, predictions)
        if once is not None:
            notes.append(once)
        found.append(replace(said, text=sentences(said.text, *notes)) if notes else said)
    return tuple(found)
