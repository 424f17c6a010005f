"""Automatic warnings that predictions and estimates can show, each with a stable code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evalreport.comparisons.cautions_of_choice import of_choice
from evalreport.comparisons.cautions_of_coverage import of_coverage
from evalreport.comparisons.cautions_of_fits import of_fits
from evalreport.comparisons.measured import measured_of_few, measured_of_rare_errors
from evalreport.comparisons.pairs import Comparison
from evalreport.config import Options
from evalreport.engine.tables import Counts, margins_of
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.numbers import count, percent
from evalreport.records import ComparisonRecord, WarningRecord

MOST_UNDEFINED = 0.05


def cautions(
    sample: Sample,
    family: Sequence[Comparison],
    options: Options,
    *,
    rows: Sequence[ComparisonRecord] = (),
    thresholds: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[WarningRecord, ...]:
    """Return the warnings of a run, those that may change a reading first, each kind in a fixed order.

    Parameters
    ----------
    family
        The primary metric's comparisons.
    rows
        Every test of the run.
    thresholds
        The fields of the results that are about thresholds, by name.
    """
    found = (
        *_of_classes(sample),
        *_of_values(sample),
        *_of_flagged(sample),
        *_of_rare_errors(sample),
        *_of_scores(sample),
        *_of_regression(sample),
        *_of_pairs(family, options),
        *_of_resampling(sample, family, options),
        *of_coverage(sample, rows),
        *of_fits(sample, rows, options),
        *of_choice(sample, rows, thresholds or {}, options),
    )
    return tuple(sorted(found, key=lambda warning: warning.level == "info"))


def _of_classes(sample: Sample) -> Iterator[WarningRecord]:
    predictions = sample.predictions
    if not predictions.classes or predictions.y_true is None:
        return
    # An example that is predicted repeatedly is one example.
    first = np.unique(predictions.example, return_index=True)[1]
    counts = np.bincount(predictions.y_true[first], minlength=len(predictions.classes))
    largest = int(counts.argmax())
    share = counts[largest] / len(first)
    name = predictions.classes[largest]
    if share > 0.8:
        yield WarningRecord(
            "majority_class",
            f"{percent(round(share, 3))} of the examples are of class {name}: always answering {name} has that"
            " accuracy. Look at balanced accuracy, MCC and average precision first.",
            (name,),
        )
    for code, label in enumerate(predictions.classes):
        if 0 < counts[code] < 30:
            yield WarningRecord(
                "few_of_a_class",
                f"Only {counts[code]} examples of class {label}: its recall, the AUC and their intervals are rough.",
                (label,),
            )
    for model in sample.label_models:
        outputs = next(m for m in predictions.models if m.name == model)
        right = float(np.mean(outputs.y_pred == predictions.y_true))
        low, _ = wilson_limits(right * len(first), len(first), 0.95)
        if low <= share:
            yield WarningRecord(
                "not_better_than_majority",
                f"{model} is not shown to be more accurate than always answering {name} ({percent(round(share, 4))}).",
                (model,),
            )


def _of_values(sample: Sample) -> Iterator[WarningRecord]:
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.reason and not np.isnan(estimate.value):
            text = f"{quantity.spelled} of {model} is 0/0 and set to 0 by convention: {estimate.reason}."
            yield WarningRecord("undefined_value", text, (model, quantity.spelled), level="info")
        few = (
            estimate.trials is not None
            and min(estimate.successes or 0, estimate.trials - (estimate.successes or 0)) < 10
        )
        if few and quantity.metric == "accuracy" and quantity.label is None:
            text = f"{model} has fewer than 10 right or fewer than 10 wrong answers: its normal interval is not to be"
            yield WarningRecord("few_successes_or_failures", text + " trusted; read Wilson's.", (model,))


FEW_FLAGGED = 20
"""With fewer positive predictions studentised swaps of precision and F1 reject too often (docs/tests.md)."""
FEW_OF_CALLED = 5
"""With fewer right or fewer wrong of those that a share is of, its swaps do so however many those are."""


def _of_flagged(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models that call few examples positive, or hardly any of one class rightly or wrongly.

    A share of those that is nearly 0 or 1 has next to no error of its own, so that chance looks like a difference.
    """
    if not sample.predictions.classes or sample.predictions.task != "binary":
        return
    positive, named = sample.predictions.positive_code, set()
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.table is None or quantity.label is not None or model in named:
            continue
        flagged, called = float(estimate.table[:, positive].sum()), _called(quantity)
        if estimate.trials is None and estimate.jaccard is None:
            continue  # clusters and weights: other tests lead
        if flagged < FEW_FLAGGED and (called == "positive" or estimate.jaccard is not None):
            text = f"{model} predicts the positive class for {count(int(flagged))} examples, fewer than {FEW_FLAGGED}:"
            text += " its precision and F1 rest on these few, and tests of them reject more often than they promise"
        elif called is not None and len(sample.label_models) > 1 and sample.predictions.design == "test-set":
            code = positive if called == "positive" else 1 - positive
            of_them, right = float(estimate.table[:, code].sum()), float(estimate.table[code, code])
            rarer, kind = min((of_them - right, "wrong"), (right, "right"))
            if rarer >= FEW_OF_CALLED or not of_them:
                continue
            text = f"{count(int(rarer))} of the {count(int(of_them))} examples that {model} predicts to be {called} are"
            text += f" {kind}, fewer than {FEW_OF_CALLED}:"
            text += f" tests of {quantity.metric} reject more often than they promise"
        else:
            continue
        named.add(model)
        measured = f" ({measured_of_few()})" if len(sample.label_models) > 1 else ""
        yield WarningRecord("few_flagged", f"{text}{measured}.", (model,))


FEW_ERRORS = 3
"""With fewer errors of a model on a rare class, swaps of a mean of the class recalls reject too often."""


def _of_rare_errors(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of models that hardly err on a rare class, where a metric gives all classes the same weight.

    Rare is a class that holds less than half of an even share: each of its errors then counts as several others do.
    """
    if len(sample.label_models) < 2 or not sample.units.plain or sample.predictions.design != "test-set":
        return  # other tests lead
    classes, named = sample.predictions.classes, set()
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.table is None or not _weighs_classes_alike(quantity, sample):
            continue
        held = estimate.table.sum(axis=1)
        wrong = held - np.diag(estimate.table)
        for code in np.flatnonzero(
            (held > 0) & (held < held.sum() / (2 * len(classes))) & (wrong < FEW_ERRORS)
        ):
            if (model, code) in named:
                continue
            named.add((model, code))
            text = (
                f"{model} errs on {count(int(wrong[code]))} of the {count(int(held[code]))} examples of class"
            )
            text += f" {classes[code]}, fewer than {FEW_ERRORS}, and each of them weighs heavily in {quantity.spelled}:"
            text += f" tests of it reject more often than they promise ({measured_of_rare_errors()})."
            yield WarningRecord("few_errors_of_a_class", text, (model, classes[code]))


def _weighs_classes_alike(quantity: Quantity, sample: Sample) -> bool:
    """Say whether a metric is one of the class recalls, each with the same weight, as made-up counts show.

    Such a one stays as it is where a class has more examples with the same recall, and where classes change places.
    """
    if quantity.label is not None or definition(quantity).greater_is_better is None:
        return False
    k = len(sample.predictions.classes)
    counts = np.arange(1.0, k * k + 1).reshape(k, k)
    larger = counts * np.arange(1, k + 1)[:, None]
    function = table_function(quantity, sample.predictions)
    return bool(
        np.ptp([function(margins_of(table)) for table in (counts, larger, counts[::-1, ::-1])]) < 1e-12
    )


def _called(quantity: Quantity) -> str | None:
    """Say of which predictions a metric is a share: of the positive or of the negative ones; None of neither."""
    metric = definition(quantity)
    if metric.family != "binary_table" or metric.proportion is None or quantity.average is not None:
        return None
    _, trials = metric.proportion(Counts(*np.array([1.0, 2.0, 4.0, 8.0])))
    return {3.0: "positive", 12.0: "negative"}.get(float(trials))


def _of_scores(sample: Sample) -> Iterator[WarningRecord]:
    n = sample.predictions.n
    for model, orders in sample.rows.orders.items():
        if len(orders) > 1:
            continue  # each fit has a scale of its own
        distinct = len(orders[0].thresholds)
        if distinct == 1:
            yield WarningRecord("constant_scores", f"{model} gives every example the same score.", (model,))
        elif 1 - distinct / n > 0.1:
            text = f"{model} gives {count(n)} examples only {count(distinct)} distinct scores; ties count one half."
            yield WarningRecord("tied_scores", text, (model,), level="info")
    for (model, quantity), estimate in sample.estimates.items():
        if quantity.metric == "roc_auc" and estimate.defined and estimate.value < 0.5:
            text = f"{model} ranks worse than chance: check the direction of its scores; they are not flipped here."
            yield WarningRecord("worse_than_random", text, (model,))
    if not any(q.metric == "log_loss" for q in sample.quantities):
        return
    for outputs in sample.predictions.models:
        if outputs.proba is None or sample.predictions.y_true is None:
            continue
        p = np.take_along_axis(outputs.proba, sample.predictions.y_true[:, None].astype(np.intp), axis=1)
        wrong = int((p <= 1e-15).sum())
        if wrong:
            name = outputs.name
            text = f"{name} gives the true class probability 0 on {count(wrong)} examples: its log loss is infinite"
            yield WarningRecord("certain_and_wrong", text + " and is shown with p clipped at 1e-15.", (name,))


def _of_regression(sample: Sample) -> Iterator[WarningRecord]:
    for (model, quantity), estimate in sample.estimates.items():
        if quantity.metric == "r2" and estimate.defined and estimate.value < 0:
            text = f"{model} predicts worse than the mean of the true values (R² below 0)."
            yield WarningRecord("worse_than_mean", text, (model,))
        if quantity.metric == "mape" and np.isnan(estimate.value) and estimate.reason:
            yield WarningRecord("truth_zero", f"MAPE of {model} is undefined: {estimate.reason}.", (model,))
        elif quantity.metric == "mape" and estimate.defined:
            yield from _near_zero(sample, model)


def _near_zero(sample: Sample, model: str) -> Iterator[WarningRecord]:
    """Warn where most of a MAPE comes from examples whose true value is nearly 0."""
    true = np.abs(np.asarray(sample.predictions.y_true, dtype=np.float64))
    outputs = next(m for m in sample.predictions.models if m.name == model)
    if outputs.y_pred is None or outputs.present is not None:
        return
    relative = np.abs(outputs.y_pred - sample.predictions.y_true) / true
    small = true < 0.01 * np.median(true)
    if relative[small].sum() > 0.5 * relative.sum():
        few = int(small.sum())
        text = f"More than half of the MAPE of {model} comes from {count(few)} example{'s' if few > 1 else ''} whose"
        yield WarningRecord("truth_near_zero", text + " true value is nearly 0: read MAE or RMSE.", (model,))


def _of_pairs(family: Sequence[Comparison], options: Options) -> Iterator[WarningRecord]:
    for comparison in family:
        if comparison.pair is None or comparison.pair.difference.agreement is None:
            continue
        _, b, c, _ = comparison.pair.difference.agreement
        about = (comparison.a, comparison.b)
        n = comparison.pair.difference.n
        if b + c == 0:
            text = f"{about[0]} and {about[1]} are right and wrong on the same examples: p = 1, difference 0; up to"
            text += f" {3 / n:.2g} of examples may still differ (3/n)."
            yield WarningRecord("identical_answers", text, about, level="info")
        elif b + c < 5:
            text = f"{about[0]} and {about[1]} disagree on {b + c:.0f} examples: the mid-p test needs 5 to reach 0.05,"
            yield WarningRecord("few_discordant", text + " whichever model is better.", about)
    if len(family) > 1:
        adjusted = f"adjusted ({options.correction})" if options.correction != "none" else "not adjusted"
        text = f"{len(family)} pairs are compared: p-values of the primary metric are {adjusted}."
        text += " The best of several models looks better than it is."
        yield WarningRecord("several_comparisons", text, level="info")


RESAMPLED = ("permutation", "bootstrap_difference")
"""The tests whose p-values, and the intervals beside them, are only as fine as the replicates are many."""


def _enough(alpha: float) -> int:
    """Return the replicates that put ten beyond a two-sided limit, rounded up to thousands."""
    return -(-math.ceil(20 / alpha) // 1000) * 1000


def _of_resampling(sample: Sample, family: Sequence[Comparison], options: Options) -> Iterator[WarningRecord]:
    resampled = any(c.pair is not None and c.recommended_test in RESAMPLED for c in family)
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(len(family), 1))
    if resampled and alpha / 2 * (options.resamples + 1) < 1:
        text = f"{len(family)} pairs need p-values down to {alpha:.2g}, which {count(options.resamples)} replicates do"
        text += f" not resolve on either side: use --resamples {count(_enough(alpha))} or more."
        yield WarningRecord("few_resamples_for_family", text)
    if options.resamples < 1000:
        text = f"{options.resamples} bootstrap replicates leave visible Monte Carlo error in the limits;"
        text += " use 1,000 or more."
        yield WarningRecord("few_resamples", text)
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.defined and estimate.undefined_share > MOST_UNDEFINED:
            share = percent(round(estimate.undefined_share, 3))
            label = definition(quantity).label + (
                f", class {quantity.label}," if quantity.label is not None else ""
            )
            text = f"{label} of {model} is 0/0 in {share} of the replicates, which are left out."
            yield WarningRecord("undefined_replicates", text, (model, quantity.spelled))
