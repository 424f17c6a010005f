"""Automatic warnings that predictions and estimates can show, each with a stable code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from evalreport.comparisons.cautions_of_tests import of_coverage, of_fits, phrase_of
from evalreport.comparisons.pairs import Comparison
from evalreport.comparisons.registry import TESTS
from evalreport.comparisons.test_selection import measured_of_few, measured_of_rare_errors
from evalreport.engine.counts import Counts, margins_of
from evalreport.engine.ranks import descending_order, running_weights
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.judged import task_weights
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.registry import METRICS, Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.curves import DominanceRecord, OperatingPointRecord
from evalreport.schema.metrics import BESIDE_MAJORITY, BESIDE_MAPE
from evalreport.schema.results import ResultFields
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, shortened

MOST_NAMED = 3
MANY_MODELS = 10
FEW_SCORES = 20
"""With fewer distinct scores than this the best threshold is hit by chance too often to say anything."""


def of_choice(
    sample: Sample, rows: Sequence[ComparisonRecord], thresholds: ResultFields, options: Options
) -> Iterator[WarningRecord]:
    """Yield the warnings of this room, in a fixed order."""
    yield from _of_metrics(sample, rows, options)
    yield from _of_curves(thresholds.get("dominance", ()))
    yield from _of_chosen(thresholds.get("operating_points", ()), options)
    yield from _of_thresholds(sample)
    yield from _of_test_set(sample)


def _of_metrics(
    sample: Sample, rows: Sequence[ComparisonRecord], options: Options
) -> Iterator[WarningRecord]:
    """Warn of pairs in which each model is ahead on some metric, by the interval of the difference."""
    ahead: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    known = frozenset(sample.quantities)
    for row in rows:
        quantity = Quantity.of(row)
        if not row.recommended or row.slice is not None or quantity not in known or row.b is None:
            continue
        if quantity.label is not None or not _tells_apart(row, options):
            continue
        if not definition(quantity).intervals:
            continue  # no interval of the metric is honest, so none of its difference tells who is ahead
        assert row.difference is not None
        first = (row.difference > 0) == greater_is_better(quantity, lower_is_better=options.lower_is_better)
        ahead.setdefault((row.a, row.b), ([], []))[0 if first else 1].append(phrase_of(quantity))
    for (a, b), (for_a, for_b) in ahead.items():
        if for_a and for_b:
            of_a, of_b = shortened(for_a, MOST_NAMED), shortened(for_b, MOST_NAMED)
            yield warning("metrics_disagree", about=(a, b), a=a, b=b, for_a=of_a, for_b=of_b)


def _tells_apart(row: ComparisonRecord, options: Options) -> bool:
    """Say whether a pair is told apart: by the verdict on the primary metric, elsewhere by the row's interval."""
    if row.low is None or row.high is None or not row.difference:
        return False
    if row.p_adjusted is not None:
        return row.p_adjusted <= 1 - options.confidence
    return not row.low <= 0 <= row.high


def _of_curves(dominance: Sequence[DominanceRecord]) -> Iterator[WarningRecord]:
    """Tell of ROC curves that cross clearly; a warning where it is more than the bands allow for."""
    clear = [record for record in dominance if record.clear]
    beyond = [record for record in clear if record.beyond_bands]
    pairs = [Message("list.and", names=record.a, last=record.b) for record in beyond or clear]
    if len(pairs) > MOST_NAMED:
        pairs[MOST_NAMED:] = [Message("list.more_pairs", n=len(pairs) - MOST_NAMED)]
    if beyond:
        yield warning("curves_cross", "clearly", pairs=tuple(pairs))
    elif pairs:
        yield warning("curves_cross", "within_bands", level="info", pairs=tuple(pairs))


def _of_chosen(points: Sequence[OperatingPointRecord], options: Options) -> Iterator[WarningRecord]:
    """Say that thresholds were chosen on the data that they are judged on: a warning where one was asked for."""
    if any(record.optimistic for record in points):
        if options.cost_ratio is not None:
            yield warning("threshold_chosen_here", about=("cost_ratio",))
        else:
            yield warning("threshold_chosen_here", level="info")


def _of_thresholds(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of decisions that lie exactly at the threshold with the best accuracy or F1 on these very examples."""
    predictions = sample.predictions
    if predictions.task != "binary" or predictions.design != "test-set" or predictions.y_true is None:
        return
    positive = predictions.y_true == predictions.positive_code
    for model in predictions.models:
        best = _best_at_own_threshold(model, positive, predictions.positive_code)
        if best is not None:
            yield warning("suspicious_threshold", about=(model.name,), model=model.name, metric=best)


def _best_at_own_threshold(model: ModelOutputs, positive: Mask, code: int) -> str | None:
    if model.score is None or model.y_pred is None or model.present is not None:
        return None
    called = model.y_pred == code
    usual = model.proba is not None and np.array_equal(called, model.score >= 0.5)
    if usual or not called.any() or called.all() or model.score[called].min() <= model.score[~called].max():
        return None  # the usual threshold, none at all, or labels that no threshold on the score gives
    order = descending_order(model.score, positive)
    if len(order.starts) < FEW_SCORES:
        return None
    tp, fp = (running[1:] for running in running_weights(None, order))
    place = len(np.unique(model.score[called])) - 1
    right = tp + ((~positive).sum() - fp)
    f1 = 2 * tp / (tp + fp + positive.sum())
    for name, values in (("accuracy", right), ("F1", f1)):
        if values[place] == values.max():
            return name
    return None


def _of_test_set(sample: Sample) -> Iterator[WarningRecord]:
    """Tell what a test set alone cannot show: other prevalences, earlier use, and how to read two intervals."""
    predictions = sample.predictions
    models = len(predictions.models)
    if predictions.task == "binary" and predictions.y_true is not None:
        held = predictions.class_counts
        share = float(held[predictions.positive_code] / held.sum())
        yield warning("prevalence_of_this_set", share=share)
    if models > 1:
        yield warning("overlap_is_no_test")
    if models >= MANY_MODELS:
        yield warning("reused_test_set", models=models)


MOST_UNDEFINED = 0.05


def cautions(
    sample: Sample,
    family: Sequence[Comparison],
    options: Options,
    *,
    rows: Sequence[ComparisonRecord],
    thresholds: ResultFields,
) -> tuple[WarningRecord, ...]:
    """Return the warnings of a run, those that may change a reading first, each kind in a fixed order.

    Parameters
    ----------
    family
        The primary metric's comparisons.
    rows
        Every test of the run.
    thresholds
        The fields of the results about thresholds, by name.
    """
    found = (
        *_of_classes(sample),
        *_of_values(sample),
        *_of_groups(sample),
        *_of_flagged(sample),
        *_of_rare_errors(sample),
        *_of_scores(sample),
        *_of_regression(sample),
        *_of_pairs(family, options),
        *_of_resampling(sample, family, options),
        *of_coverage(sample, rows),
        *of_fits(sample, rows, options),
        *of_choice(sample, rows, thresholds, options),
    )
    return tuple(sorted(found, key=lambda one: one.level == "info"))


def _of_classes(sample: Sample) -> Iterator[WarningRecord]:
    predictions = sample.predictions
    if not predictions.classes or predictions.y_true is None:
        return
    # An example that is predicted repeatedly is one example.
    counts, n = predictions.class_counts, predictions.n_examples
    if predictions.multiplicity is None:
        first = np.unique(predictions.example, return_index=True)[1]
        counts, n = np.bincount(predictions.y_true[first], minlength=len(predictions.classes)), len(first)
    largest = int(counts.argmax())
    share = float(counts[largest] / n)
    name = predictions.classes[largest]
    if share > 0.8:
        text, others = _computed(sample, BESIDE_MAJORITY)
        yield warning("majority_class", text, about=(name,), share=share, name=name, others=others)
    for code, label in enumerate(predictions.classes):
        if 0 < counts[code] < 30:
            yield warning("few_of_a_class", about=(label,), n=int(counts[code]), label=label)
    for model in sample.label_models:
        outputs = next(m for m in predictions.models if m.name == model)
        hits = np.asarray(outputs.y_pred == predictions.y_true)
        right = predictions.number(hits) / int(predictions.class_counts.sum())
        low, _ = wilson_limits(right * n, n, 0.95)
        if low <= share:
            yield warning("not_better_than_majority", about=(model,), model=model, name=name, share=share)


def _headed(quantity: Quantity) -> Text:
    """Name a metric at the head of a sentence, with its average or class."""
    label = definition(quantity).label + (f" ({quantity.average})" if quantity.average else "")
    if quantity.label is None:
        return label
    return Message("undefined_share.of_a_class", metric=label, label=quantity.label)


def _computed(sample: Sample, wanted: Sequence[str], joint: str = "list.and") -> tuple[str, Text]:
    """Name those metrics that this run has a value of: nobody can look at the others."""
    known = {
        quantity.metric: definition(quantity).phrase
        for (_, quantity), estimate in sample.estimates.items()
        if quantity.label is None and estimate.defined
    }
    names = [known[name] for name in wanted if name in known]
    if not names:
        return "alone", ""
    others: Text = names[-1]
    if len(names) > 1:
        others = Message(joint, names=", ".join(names[:-1]), last=names[-1])
    return "beside", others


def _of_values(sample: Sample) -> Iterator[WarningRecord]:
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.reason and not np.isnan(estimate.value) and estimate.metric.family != "contingency":
            about, why = (model, quantity.spelled), estimate.reason
            yield warning("undefined_value", about=about, model=model, metric=_headed(quantity), why=why)
        few = (
            estimate.trials is not None
            and min(estimate.successes or 0, estimate.trials - (estimate.successes or 0)) < 10
        )
        if few and _of_right_labels(quantity) and quantity.label is None:
            yield warning("few_successes_or_failures", about=(model,), model=model)


def _of_groups(sample: Sample) -> Iterator[WarningRecord]:
    """Say once of a model which agreements of groups have a value, but no interval, and why."""
    found: dict[tuple[str, Text], list[str]] = {}
    for (model, _), estimate in sample.estimates.items():
        if estimate.metric.family == "contingency" and estimate.reason is not None:
            found.setdefault((model, estimate.reason), []).append(estimate.metric.phrase)
    for (model, why), metrics in found.items():
        yield warning("groups_without_interval", about=(model,), model=model, metrics=tuple(metrics), why=why)


def _of_right_labels(quantity: Quantity) -> bool:
    metric = definition(quantity)
    return metric.share_of_right and metric.needs == "labels"


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
            params: dict[str, object] = {"n": int(flagged), "enough": FEW_FLAGGED}
            kind = "compared" if len(sample.label_models) > 1 else "alone"
        elif called is not None and len(sample.label_models) > 1 and sample.predictions.design == "test-set":
            code = positive if called == "positive" else 1 - positive
            of_them, right = float(estimate.table[:, code].sum()), float(estimate.table[code, code])
            rarer, rare = min((of_them - right, "wrong"), (right, "right"))
            if rarer >= FEW_OF_CALLED or not of_them:
                continue
            kind = f"{rare}_of_{called}"
            params = {
                "n": int(rarer),
                "called": int(of_them),
                "enough": FEW_OF_CALLED,
                "metric": quantity.metric,
            }
        else:
            continue
        named.add(model)
        if kind != "alone":
            params["measured"] = measured_of_few()
        text = Message(f"warning.few_flagged.{kind}", model=model, **params)
        yield WarningRecord(code="few_flagged", text=text, about=(model,))


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
            yield warning(
                "few_errors_of_a_class",
                about=(model, classes[code]),
                model=model,
                label=classes[code],
                wrong=int(wrong[code]),
                examples=int(held[code]),
                enough=FEW_ERRORS,
                metric=phrase_of(quantity),
                measured=measured_of_rare_errors(),
            )


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
        distinct = len(orders[0].starts)
        if distinct == 1:
            yield warning("constant_scores", about=(model,), model=model)
        elif 1 - distinct / n > 0.1:
            yield warning("tied_scores", about=(model,), model=model, examples=n, distinct=distinct)
    for (model, quantity), estimate in sample.estimates.items():
        if definition(quantity).is_auc and estimate.defined and _worse_than_uninformed(estimate):
            yield warning("worse_than_random", about=(model,), model=model)
    if not any(definition(q).infinite_at == "zero_probability" for q in sample.quantities):
        return
    for outputs in sample.predictions.models:
        if outputs.proba is None or sample.predictions.y_true is None:
            continue
        p = np.take_along_axis(outputs.proba, sample.predictions.y_true[:, None].astype(np.intp), axis=1)
        wrong = int((p <= 1e-15).sum())
        if wrong:
            yield warning("certain_and_wrong", about=(outputs.name,), model=outputs.name, n=wrong)


def _worse_than_uninformed(estimate: Estimate) -> bool:
    """Say whether a value is worse than that of a model that tells no example from another."""
    uninformed = estimate.metric.uninformed
    if uninformed is None:
        return False
    return estimate.value < uninformed if estimate.metric.greater_is_better else estimate.value > uninformed


def _of_regression(sample: Sample) -> Iterator[WarningRecord]:
    for (model, quantity), estimate in sample.estimates.items():
        metric = definition(quantity)
        if metric.needs == "values" and estimate.defined and _worse_than_uninformed(estimate):
            yield warning("worse_than_mean", about=(model,), model=model)
        if metric.infinite_at == "zero_truth" and np.isnan(estimate.value) and estimate.reason:
            yield warning("truth_zero", about=(model,), model=model, why=estimate.reason)
        elif metric.infinite_at == "zero_truth" and estimate.defined:
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
        text, others = _computed(sample, BESIDE_MAPE, "list.or")
        yield warning("truth_near_zero", text, about=(model,), model=model, n=int(small.sum()), others=others)


def _of_pairs(family: Sequence[Comparison], options: Options) -> Iterator[WarningRecord]:
    for comparison in family:
        if comparison.pair is None or comparison.pair.difference.agreement is None:
            continue
        _, b, c, _ = comparison.pair.difference.agreement
        about = (comparison.a, comparison.b)
        n = comparison.pair.difference.n
        if b + c == 0:
            yield warning("identical_answers", about=about, models=about, most=3 / n)
        elif b + c < 5:
            yield warning("few_discordant", about=about, models=about, n=round(b + c))
    if len(family) > 1 and options.correction == "none":
        yield warning("several_comparisons", "unadjusted", pairs=len(family))
    elif len(family) > 1:
        yield warning(
            "several_comparisons",
            "adjusted",
            pairs=len(family),
            correction=Message(f"correction.{options.correction}"),
        )


def _enough(alpha: float) -> int:
    """Return the replicates that put ten beyond a two-sided limit, rounded up to thousands."""
    return -(-math.ceil(20 / alpha) // 1000) * 1000


def _of_resampling(sample: Sample, family: Sequence[Comparison], options: Options) -> Iterator[WarningRecord]:
    leading = [c.pair for c in family if TESTS[c.recommended_test].needs == "replicates"]
    drawn = [
        len(pair.difference.replicates)
        for pair in leading
        if pair is not None and pair.difference.replicates is not None
    ]
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(len(family), 1))
    if drawn and alpha / 2 * (min(drawn) + 1) < 1:
        yield warning(
            "few_resamples_for_family",
            n=len(family),
            alpha=alpha,
            replicates=options.resamples,
            enough=_enough(alpha),
        )
    if options.resamples < 1000:
        yield warning("few_resamples", n=options.resamples)
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.defined and estimate.undefined_share > MOST_UNDEFINED:
            label: Text = definition(quantity).label
            if quantity.label is not None:
                label = Message("undefined_share.of_a_class", metric=label, label=quantity.label)
            about = (model, quantity.spelled)
            yield warning(
                "undefined_replicates", about=about, metric=label, model=model, share=estimate.undefined_share
            )


MUCH_ALIKE = 0.1
"""From this share of the weight on, in tasks whose examples are all alike.

In scripts/study_easy_suites.py nominal 95 % intervals held in as few as 78 % of such suites.
"""


LOSSES = frozenset(("error", "loss"))
"""Words for a loss that are no metric's name."""
_OF_A_SEARCH = re.compile(r"^(mean_|split\d+_)?(test|val|train|validation)_")


def of_direction(predictions: Predictions, options: Options) -> list[WarningRecord]:
    """Warn of values that are ranked by the greatest while their column is named after a loss.

    Parameters
    ----------
    predictions
        Of outcomes or values; others have metrics with a direction of their own.
    options
        With ``--lower-is-better`` nothing is said.
    """
    if options.lower_is_better:
        return []
    return [
        warning("named_like_a_loss", about=(header,), column=header, name=name)
        for header in predictions.judged_in
        if (name := _loss_in(header)) is not None
    ]


def _loss_in(header: str) -> str | None:
    """Return the loss that a column is named after; None where it is no metric's name, or a score's.

    Examples
    --------
    >>> _loss_in("test_RMSE"), _loss_in("error"), _loss_in("f1"), _loss_in("neg_log_loss")
    ('RMSE', 'error', None, None)
    """
    name = _OF_A_SEARCH.sub("", header.strip().lower())
    if name in METRICS and METRICS[name].greater_is_better is False:
        return METRICS[name].label
    return name if name in LOSSES else None


def alike_in_tasks(sample: Sample) -> list[WarningRecord]:
    """Warn of models on whose primary metric all examples of some tasks are alike, where these tasks count much."""
    tasks, units = sample.predictions.tasks, sample.units
    if tasks is None or tasks.categories is None or units.task is None or not sample.quantities:
        return []
    share = np.bincount(units.task, weights=task_weights(units, sample.rows.layout))
    found = []
    for model in sample.predictions.models:
        estimate = sample.estimates.get((model.name, sample.quantities[0]))
        if estimate is None or estimate.derivative is None or estimate.tasks is None:
            continue
        # Where nothing varies in any task there is no interval, with its reason.
        if estimate.judged is not None or not estimate.standard_error:
            continue
        spread = np.bincount(estimate.tasks, weights=np.abs(estimate.derivative), minlength=len(share))
        still = np.flatnonzero(spread <= 1e-12 * spread.max())
        if share[still].sum() >= MUCH_ALIKE - 1e-9:
            names = tuple(tasks.categories[t] for t in still)
            found.append(
                warning("alike_in_task", about=(model.name,), model=model.name, tasks=names, n=len(names))
            )
    return found
