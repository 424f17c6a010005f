"""The whole flow in one short function: predictions -> estimates -> comparisons -> verdicts -> results."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

import numpy as np

import evalreport
from evalreport.comparisons.cautions import cautions
from evalreport.comparisons.disagreements import disagreements
from evalreport.comparisons.effects import agreement_records, effects
from evalreport.comparisons.pairs import comparable, compare, records
from evalreport.comparisons.ranking import rank
from evalreport.comparisons.verdicts import Decision, family_records, verdict
from evalreport.config import Options
from evalreport.data import load
from evalreport.data.predictions import Predictions
from evalreport.data.selection import test_rows
from evalreport.data.survey import why_not_analysed
from evalreport.errors import UsageError
from evalreport.intervals import all_intervals
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.baselines import baseline_records
from evalreport.metrics.curves import precision_recall, roc
from evalreport.metrics.fits import with_fits
from evalreport.metrics.formula import filled_in
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import chosen
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.metrics.units import units_of
from evalreport.results import ConfusionRecord, CurveRecord, FoldRecord, MetricRecord, Results

Progress = Callable[[str, float], None]
DEFAULTS = Options()
MOST_WHOLE = 50
"""Confusion matrices of up to so many classes are written with their zeros."""


def evaluate(
    source: Any,
    *,
    options: Options = DEFAULTS,
    truth: Any = None,
    jobs: int = 1,  # noqa: ARG001 - accepted so that callers need not know that nothing is slow enough yet
    progress: Progress | None = None,
) -> Results:
    """Compare models on their predictions: see ``evalreport.evaluate`` for parameters and errors.

    Every figure of the report comes from here; no figure depends on ``jobs``.
    """
    say = progress or (lambda _stage, _fraction: None)
    say("reading and checking", 0.0)
    loaded = load(source, options=options, truth=truth)
    require_analysable(loaded, options)
    predictions = test_rows(loaded)
    quantities = chosen(predictions, options.metrics)
    say("resampling", 0.1)
    units = units_of(predictions, cluster=options.cluster, weight=options.weight)
    sample = with_fits(
        estimate_all(
            predictions,
            quantities,
            units=units,
            n_resamples=options.resamples,
            seed=options.seed,
            exact=options.exact,
        )
    )
    say("comparing", 0.4)
    tested = comparable(quantities, named=bool(options.metrics))
    compared = compare(sample, tested, options)
    family = [c for c in compared if c.quantity == quantities[0]]
    family_rows, decisions = family_records(family, options)
    others = [row for c in compared if c.quantity != quantities[0] for row in records(c, options)]
    curves = curve_records(sample)
    if any(warning.level == "blocker" for warning in predictions.warnings):
        decisions = []
    say("putting together", 0.9)
    pairs = {frozenset((d.comparison.a, d.comparison.b)): d.decided for d in decisions}
    decided = [pair for pair, told_apart in pairs.items() if told_apart]
    primary = {m.name: sample.estimates[m.name, quantities[0]] for m in predictions.models}
    results = Results(
        signature=signature(predictions, options),
        options=plain_options(options),
        task=predictions.task,
        design=predictions.design,
        n=predictions.n,
        classes=predictions.classes,
        positive=predictions.positive,
        models=tuple(primary),
        primary_metric=quantities[0].spelled,
        baseline=options.baseline,
        inputs=predictions.inputs,
        found=predictions.found,
        metrics=metric_records(sample, options),
        baselines=baseline_records(predictions, quantities, units),
        folds=fold_records(sample),
        confusion=confusion_records(sample),
        curves=curves,
        comparisons=(*family_rows, *others),
        ranking=rank(primary, pairs, decided, lower_is_better=options.lower_is_better),
        effects=effects(sample, family, options.confidence),
        agreement=agreement_records(family),
        disagreements=disagreements(predictions),
        verdicts=verdict_records(decisions, options),
        warnings=(
            *predictions.warnings,
            *cautions(sample, family, options, rows=(*family_rows, *others), curves=curves),
        ),
        environment=environment(),
    )
    say("done", 1.0)
    return results


def require_analysable(predictions: Predictions, options: Options) -> None:
    """Refuse, with the reason, what this version cannot analyse: never silently ignore an option or a column.

    Raises
    ------
    UsageError
        A design, a task or an option that is not served yet, or a baseline that is no model.
    """
    names = [m.name for m in predictions.models]
    if options.baseline is not None and options.baseline not in names:
        raise UsageError(
            f"baseline {options.baseline!r} is no model of these data; models: {', '.join(names)}"
        )
    if options.lower_is_better and predictions.task not in ("outcome", "scores"):
        raise UsageError(
            f"--lower-is-better is about outcomes and values; these data are {predictions.task}, whose metrics have a"
            " direction of their own: leave it out"
        )
    why_not = "the task is scores" if predictions.task == "scores" else why_not_analysed(predictions)
    if why_not is not None:
        raise UsageError(
            f"{why_not}: this version reads and checks such data, but analyses one test set only (one prediction"
            " for each example and model); `evalreport check` says what was found"
        )
    if options.slices or options.join == "independent":
        flag = "--slice" if options.slices else "--join independent"
        raise UsageError(f"{flag} is not served by this version: leave it out")


def metric_records(sample: Sample, options: Options) -> tuple[MetricRecord, ...]:
    """Return every model's value of every quantity with its intervals, the recommended one first."""
    predictions = sample.predictions
    found = []
    for model in predictions.models:
        for quantity in sample.quantities:
            estimate = sample.estimates[model.name, quantity]
            value_of = (
                as_tables(table_function(quantity, predictions)) if estimate.table is not None else None
            )
            code = predictions.classes.index(quantity.label) if quantity.label is not None else None
            if code is None and predictions.task == "binary":
                code = predictions.positive_code
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
                    intervals=all_intervals(estimate, options.intervals, options.confidence, value_of),
                    formula=filled_in(estimate, code),
                )
            )
    return tuple(found)


def fold_records(sample: Sample) -> tuple[FoldRecord, ...]:
    """Return every model's value of every overall and averaged quantity on each single fit."""
    parts = sample.rows.layout.fits
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


def curve_records(sample: Sample) -> tuple[CurveRecord, ...]:
    """Return the ROC and precision-recall curves of every model that gives scores."""
    found: list[CurveRecord] = []
    for name, orders in sample.rows.orders.items():
        order = orders[0]
        if len(orders) == 1 and order.positive.any() and not order.positive.all():
            found += [roc(name, order), precision_recall(name, order)]
    return tuple(found)


def verdict_records(decisions: Sequence[Decision], options: Options) -> tuple[Any, ...]:
    """Return the verdict of each pair on the primary metric."""
    return tuple(verdict(decision, options) for decision in decisions)


# --- what makes a run reproducible ----------------------------------------------------------------------------------


def plain_options(options: Options) -> dict[str, Any]:
    """Return the options as they stand in results.json; of a truth file its name, since its digest is recorded."""
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in dataclasses.asdict(options).items()}
    if options.truth is not None:
        plain["truth"] = PurePath(options.truth).name
    return plain


def signature(predictions: Predictions, options: Options) -> str:
    """Return one line that says what was computed from what."""
    joined = "\n".join(f"{record.path} {record.sha256}" for record in predictions.inputs)
    digest = hashlib.sha256(joined.encode()).hexdigest()[:16]
    return (
        f"evalreport {evalreport.__version__}; {predictions.task}; {predictions.design}; n={predictions.n};"
        f" models={len(predictions.models)}; resamples={options.resamples}; seed={options.seed};"
        f" confidence={options.confidence:g}; inputs={digest}"
    )


def environment() -> dict[str, str]:
    """Return the versions of what computed the figures."""
    libraries = ("numpy", "scipy", "duckdb")
    return {
        "evalreport": evalreport.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }
