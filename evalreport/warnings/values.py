"""Warnings about classes, values and scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.intervals.leaders import recommended
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Groups, Proportion
from evalreport.metrics.metric import Contingency
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.rejection import Confidences
from evalreport.metrics.sample import Sample
from evalreport.metrics.sums import labels_without_denominator
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions
from evalreport.schema.metrics import BESIDE_MAPE
from evalreport.schema.warnings import FEW_OF_A_CLASS, WarningRecord, warning
from evalreport.texts import Message, Text
from evalreport.warnings.checks import check


@check("few_of_a_class", needs=("classes",))
def class_sizes(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of classes with few examples."""
    predictions = sample.predictions
    scored = any(m.score is not None or m.proba is not None for m in predictions.models)
    text = "sets" if predictions.task == "sets" else "scores" if scored else "labels"
    for label, n in zip(predictions.classes, examples_of_classes(predictions), strict=True):
        if 0 < n < FEW_OF_A_CLASS:
            yield warning("few_of_a_class", text, about=(label,), n=int(n), label=label)


@check("labels_left_out", needs=("sums",))
def labels_left_out(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of labels that a macro average of sums leaves out, since their denominator is 0."""
    metrics: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for place, model in enumerate(sample.predictions.models):
        for quantity in sample.quantities:
            if quantity.average == "macro" and sample.estimates[model.name, quantity].defined:
                lost = tuple(labels_without_denominator(sample.predictions, quantity, place))
                if lost:
                    metrics.setdefault((model.name, lost), []).append(definition(quantity).display.phrase)
    for (name, lost), phrases in metrics.items():
        yield warning("labels_left_out", about=(name,), model=name, labels=lost[:6], metrics=phrases)


HELD_OF_WRONG = ((3, 39, 60), (10, 72, 87), (40, 86, 89), (100, 92, 94))
"""Below how many wrong answers Student's t of areas under the risk-coverage curve held in how many percent.

Least and most over `aurc` and `e_aurc` where about so many are expected (docs/coverage.md).
"""


@check("few_wrong_answers", needs=("probabilities",), of_models=True)
def few_wrong_answers(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of areas under the risk-coverage curve of few wrong answers, where not the metric's own interval leads."""
    counted: dict[str, int] = {}
    for (model, quantity), states in sample.rows.states.items():
        states_shown = [state for state in states if isinstance(state, Confidences)]
        inference = definition(quantity).inference
        led = recommended(sample.estimates[model, quantity]) in inference.intervals[:1]
        if states_shown and inference.smooth and not led:
            counted[model] = int(sum(np.nansum(state.wrong) for state in states_shown))
    for model, n in counted.items():
        held = next(((low, high) for most, low, high in HELD_OF_WRONG if n < most), None)
        if held is not None:
            yield warning("few_wrong_answers", about=(model,), model=model, n=n, low=held[0], high=held[1])


def examples_of_classes(predictions: Predictions) -> Floats:
    """Return the number of examples of each class (K,); one that is predicted repeatedly is one example."""
    if predictions.multiplicity is None and predictions.n_examples < predictions.n:
        first = np.unique(predictions.example, return_index=True)[1]
        assert predictions.y_true is not None
        return np.bincount(predictions.y_true[first], minlength=len(predictions.classes)).astype(np.float64)
    return np.asarray(predictions.class_counts, dtype=np.float64)


def _metrics_to_read(sample: Sample) -> tuple[str, str | Message]:
    """Name the metrics to read beside MAPE, and the key of the text: ``beside`` them, or ``alone`` without any."""
    known = {
        quantity.metric: definition(quantity).display.phrase
        for (_, quantity), estimate in sample.estimates.items()
        if quantity.label is None and estimate.defined
    }
    names = [known[name] for name in BESIDE_MAPE if name in known]
    if len(names) < len(BESIDE_MAPE):
        return ("beside", names[0]) if names else ("alone", "")
    return "beside", Message("list.or", names=names[0], last=names[1])


@check("undefined_value", of_models=True)
@check("few_successes_or_failures", needs=("labels", "right_labels"), of_models=True)
def undefined_values(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of values that are set by convention, and of accuracies with few right or few wrong answers."""
    for (model, quantity), estimate in sample.estimates.items():
        if estimate.reason and not np.isnan(estimate.value) and not isinstance(estimate.evidence, Groups):
            about, why = (model, quantity.spelled), estimate.reason
            yield warning("undefined_value", about=about, model=model, metric=_headed(quantity), why=why)
        share = estimate.evidence
        few = isinstance(share, Proportion) and min(share.successes, share.trials - share.successes) < 10
        if few and _is_share_of_right_labels(quantity) and quantity.label is None:
            yield warning("few_successes_or_failures", about=(model,), model=model)


def _headed(quantity: Quantity) -> str | Message:
    """Name a metric at the head of a sentence, with its average or class."""
    label = definition(quantity).display.label + (f" ({quantity.average})" if quantity.average else "")
    if quantity.label is None:
        return label
    return Message("undefined_share.of_a_class", metric=label, label=quantity.label)


@check("groups_without_interval", needs=("clustering",), of_models=True)
def groups_without_interval(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of agreements of groups that have a value but no interval, once for each model and reason."""
    groups: dict[tuple[str, Text], list[str]] = {}
    for (model, _), estimate in sample.estimates.items():
        if isinstance(estimate.metric.computation, Contingency) and estimate.reason is not None:
            groups.setdefault((model, estimate.reason), []).append(estimate.metric.display.phrase)
    for (model, why), metrics in groups.items():
        yield warning("groups_without_interval", about=(model,), model=model, metrics=tuple(metrics), why=why)


def _is_share_of_right_labels(quantity: Quantity) -> bool:
    metric = definition(quantity)
    return metric.scale.share_of_right and metric.needs == "labels"


@check("constant_scores", "tied_scores", needs=("one_scale",), of_models=True)
@check("worse_than_random", needs=("area",), of_models=True)
@check("certain_and_wrong", needs=("probabilities", "log_loss"), of_models=True)
def scores(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of constant or tied scores, of areas worse than chance, and of probability 0 for the true class."""
    n = sample.predictions.n
    for model, orders in sample.rows.orders.items():
        if len(orders) > 1 or n == 1:
            continue  # each fit has a scale of its own; one example has one score
        distinct = len(orders[0].starts)
        if distinct == 1:
            yield warning("constant_scores", about=(model,), model=model)
        elif 1 - distinct / n > 0.1:
            yield warning("tied_scores", about=(model,), model=model, examples=n, distinct=distinct)
    areas = {
        model: _worse_than_uninformed(estimate)
        for (model, quantity), estimate in sample.estimates.items()
        if definition(quantity).is_auc and estimate.defined
    }
    if len(areas) > 1 and all(areas.values()):
        yield warning("worse_than_random", "of_all", about=tuple(areas), models=tuple(areas))
    else:
        for model in filter(areas.get, areas):
            yield warning("worse_than_random", "of_a_model", about=(model,), model=model)
    for outputs in sample.predictions.models:
        if outputs.proba is None or sample.predictions.y_true is None:
            continue
        p = np.take_along_axis(outputs.proba, sample.predictions.y_true[:, None].astype(np.intp), axis=1)
        wrong = int((p <= 1e-15).sum())
        if wrong:
            yield warning("certain_and_wrong", about=(outputs.name,), model=outputs.name, n=wrong)


@check("worse_than_mean", needs=("values",), of_models=True)
@check("truth_zero", "truth_near_zero", needs=("values", "relative_errors"), of_models=True)
def regression(sample: Sample) -> Iterator[WarningRecord]:
    """Warn of predictions worse than the mean, and of percentage errors where the truth is 0 or nearly 0."""
    for (model, quantity), estimate in sample.estimates.items():
        metric = definition(quantity)
        if metric.needs == "values" and estimate.defined and _worse_than_uninformed(estimate):
            yield warning("worse_than_mean", about=(model,), model=model)
        if metric.infinite_at == "zero_truth" and np.isnan(estimate.value) and estimate.reason:
            yield warning("truth_zero", about=(model,), model=model, why=estimate.reason)
        elif metric.infinite_at == "zero_truth" and estimate.defined:
            yield from _near_zero(sample, model)


def _worse_than_uninformed(estimate: Estimate) -> bool:
    """Say whether a value is worse than that of a model that tells no example from another."""
    uninformed = estimate.metric.scale.uninformed
    if uninformed is None:
        return False
    return (
        estimate.value < uninformed
        if estimate.metric.scale.greater_is_better
        else estimate.value > uninformed
    )


def _near_zero(sample: Sample, model: str) -> Iterator[WarningRecord]:
    """Warn where most of a MAPE comes from examples whose true value is nearly 0."""
    true = np.abs(np.asarray(sample.predictions.y_true, dtype=np.float64))
    outputs = next(m for m in sample.predictions.models if m.name == model)
    if outputs.y_pred is None or outputs.present is not None:
        return
    relative = np.abs(outputs.y_pred - sample.predictions.y_true) / true
    small = true < 0.01 * np.median(true)
    if relative[small].sum() > 0.5 * relative.sum():
        text, others = _metrics_to_read(sample)
        yield warning("truth_near_zero", text, about=(model,), model=model, n=int(small.sum()), others=others)
