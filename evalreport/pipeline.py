"""The whole flow in one short function: predictions -> estimates -> comparisons -> verdicts -> results."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np

import evalreport
from evalreport.comparisons.apart import compare_apart
from evalreport.comparisons.cautions import cautions
from evalreport.comparisons.disagreements import disagreements
from evalreport.comparisons.effects import agreement_records, effects
from evalreport.comparisons.everyone import (
    average_rank_records,
    omnibus_records,
    one_sample_records,
    variance_records,
)
from evalreport.comparisons.pairs import Comparison, comparable, compare, records
from evalreport.comparisons.ranking import rank
from evalreport.comparisons.verdicts import Decision, family_records, verdict
from evalreport.config import Options
from evalreport.data import load
from evalreport.data.predictions import Predictions
from evalreport.data.scores import one_value_a_dataset
from evalreport.data.selection import test_rows
from evalreport.data.survey import why_not_analysed
from evalreport.errors import UsageError
from evalreport.intervals import all_intervals
from evalreport.intervals.choice import table_function as as_tables
from evalreport.metrics.apart import sampled_apart
from evalreport.metrics.baselines import baseline_records
from evalreport.metrics.criteria import criteria_records
from evalreport.metrics.curves import precision_recall, roc
from evalreport.metrics.datasets import over_datasets
from evalreport.metrics.fits import with_fits
from evalreport.metrics.formula import filled_in
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import Quantity, chosen
from evalreport.metrics.row_estimates import said_of_histograms
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.metrics.units import units_of
from evalreport.results import (
    ComparisonRecord,
    ConfusionRecord,
    CurveRecord,
    FoldRecord,
    FoundRecord,
    MetricRecord,
    RankingRecord,
    Results,
    WarningRecord,
)

T = TypeVar("T")
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
    predictions = one_value_a_dataset(test_rows(loaded))
    quantities = chosen(predictions, options.metrics)
    say("resampling", 0.1)
    apart = options.join == "independent"
    samples = all_sampled(predictions, quantities, options, apart=apart)
    say("comparing", 0.4)
    tested = comparable(quantities, named=bool(options.metrics))
    compared = compare_apart(samples, tested, options) if apart else compare(samples[0], tested, options)
    family = [c for c in compared if c.quantity == quantities[0]]
    family_rows, decisions = decide(family, predictions, options)
    others = [row for c in compared if c.quantity != quantities[0] for row in records(c, options)]
    rows = (*family_rows, *others, *one_sample_records(samples, quantities[0], options))
    omnibus = omnibus_records(samples, tested, options)
    curves = of_each(samples, curve_records)
    say("putting together", 0.9)
    results = Results(
        **provenance(predictions, quantities[0], options),
        found=(*predictions.found, *of_each(samples, ranks_found)),
        metrics=(
            *of_each(samples, metric_records, options),
            *criteria_records(loaded, options.metrics, options.confidence),
        ),
        baselines=() if apart else baseline_records(predictions, quantities, samples[0].units),
        folds=of_each(samples, fold_records),
        confusion=of_each(samples, confusion_records),
        curves=curves,
        comparisons=rows,
        omnibus=omnibus,
        average_ranks=average_rank_records(samples, omnibus, tested, options),
        variance=of_each(samples, variance_records),
        ranking=ranked(samples, decisions, quantities[0], options),
        effects=() if apart else effects(samples[0], family, options.confidence),
        agreement=agreement_records(family),
        disagreements=disagreements(predictions),
        verdicts=verdict_records(decisions, options),
        warnings=all_cautions(predictions, samples, family, options, rows=rows, curves=curves),
    )
    say("done", 1.0)
    return results


def decide(
    family: Sequence[Comparison], predictions: Predictions, options: Options
) -> tuple[list[ComparisonRecord], list[Decision]]:
    """Return the family's rows and decisions; a blocker leaves the numbers and takes the decisions."""
    rows, decisions = family_records(family, options)
    blocked = any(warning.level == "blocker" for warning in predictions.warnings)
    return rows, [] if blocked else decisions


def all_sampled(
    predictions: Predictions, quantities: Sequence[Quantity], options: Options, *, apart: bool
) -> list[Sample]:
    """Return one sample of all models; apart: one a model, each on its own test set with its own draws."""
    if not apart:
        return [sampled(predictions, quantities, options, seed=options.seed)]
    return sampled_apart(
        predictions, options.seed, lambda own, seed: sampled(own, quantities, options, seed=seed)
    )


def sampled(
    predictions: Predictions, quantities: Sequence[Quantity], options: Options, *, seed: int
) -> Sample:
    """Estimate every quantity of every model, on the whole and on every single fit."""
    units = units_of(
        predictions,
        cluster=options.cluster,
        weight=options.weight,
        fixed_class_counts=options.fixed_class_counts,
    )
    sample = estimate_all(
        predictions,
        quantities,
        units=units,
        n_resamples=options.resamples,
        seed=seed,
        exact=options.exact,
    )
    return over_datasets(with_fits(sample), n_resamples=options.resamples, seed=seed)


def of_each(samples: Sequence[Sample], records_of: Callable[..., tuple[T, ...]], *args: Any) -> tuple[T, ...]:
    """Return the records of every sample, one after the other."""
    return tuple(record for sample in samples for record in records_of(sample, *args))


def ranks_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say how the ranks of very many rows were resampled."""
    said = said_of_histograms(sample.rows, sample.estimates)
    return () if said is None else (said,)


def ranked(
    samples: Sequence[Sample], decisions: Sequence[Decision], primary: Quantity, options: Options
) -> tuple[RankingRecord, ...]:
    """Rank the models on the primary metric; letters follow the decisions."""
    pairs = {frozenset((d.comparison.a, d.comparison.b)): d.decided for d in decisions}
    decided = [pair for pair, told_apart in pairs.items() if told_apart]
    estimates = {m.name: s.estimates[m.name, primary] for s in samples for m in s.predictions.models}
    return rank(estimates, pairs, decided, lower_is_better=options.lower_is_better)


def all_cautions(
    predictions: Predictions,
    samples: Sequence[Sample],
    family: Sequence[Comparison],
    options: Options,
    **found: Any,
) -> tuple[WarningRecord, ...]:
    """Return the warnings of loading and of every sample; those about pairs once."""
    raised = list(predictions.warnings)
    for place, sample in enumerate(samples):
        raised += cautions(sample, family if place == 0 else (), options, **found)
    return tuple(dict.fromkeys(raised))


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
    why_not = why_not_analysed(predictions)
    if why_not is not None:
        raise UsageError(
            f"{why_not}: this version reads and checks such data, but analyses one test set only (one prediction"
            " for each example and model); `evalreport check` says what was found"
        )
    if options.slices:
        raise UsageError("--slice is not served by this version: leave it out")


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


def provenance(predictions: Predictions, primary: Quantity, options: Options) -> dict[str, Any]:
    """Return the fields of the results that say what was analysed, by what and how."""
    return {
        "signature": signature(predictions, options),
        "options": plain_options(options),
        "task": predictions.task,
        "design": predictions.design,
        "n": predictions.n_examples,
        "classes": predictions.classes,
        "positive": predictions.positive,
        "models": tuple(model.name for model in predictions.models),
        "primary_metric": primary.spelled,
        "baseline": options.baseline,
        "inputs": predictions.inputs,
        "environment": environment(),
    }


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
        f"evalreport {evalreport.__version__}; {predictions.task}; {predictions.design}; n={predictions.n_examples};"
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
