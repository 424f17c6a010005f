"""What no model would have: the majority class, guessing, the mean; always beside the models, without intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evalreport.data.predictions import Predictions
from evalreport.engine.counts import margins_of
from evalreport.engine.distributions import column_totals, dot
from evalreport.metrics.estimate import Estimate, Floats, ModelView
from evalreport.metrics.label_estimates import table_function
from evalreport.metrics.registry import Chosen, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.units import Units
from evalreport.records import BaselineRecord
from evalreport.texts import Message, Text


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule that needs no model.

    Attributes
    ----------
    name, text
        What it is called and what it does.
    shares
        (K,) how often it answers each class, and the probability that it gives each; None for regression.
    certain
        Whether it always answers the same class: then it ranks nothing and forecasts nothing.
    """

    name: str
    text: Message
    shares: Floats | None
    certain: bool = False


def baseline_records(sample: Sample) -> tuple[BaselineRecord, ...]:
    """Return the expected values of the rules that need no model, for every quantity with a direction.

    Labels: the metric of the expected table of counts (true class shares times answer shares), which for a random
    guess is where its value settles on a large test set. Rankings: all examples tied. Probabilities: the same
    forecast for every example. Regression: the mean of this test set's truth; the training mean is not in the
    files, and would do no better here.

    Parameters
    ----------
    sample
        Its test rows, its quantities, and its units with the example weights.

    Examples
    --------
    A coin on 1,000 examples, 100 of them positive: expected TP = 50, FP = 450, FN = 50, TN = 450.

    >>> table = expected_table(np.array([900.0, 100.0]), np.array([0.5, 0.5]))
    >>> table.tolist()
    [[450.0, 450.0], [50.0, 50.0]]
    """
    predictions, units = sample.predictions, sample.units
    found = []
    judged = [q for q in sample.quantities if definition(q).greater_is_better is not None]
    for baseline in _rules(predictions, units):
        for quantity in judged:
            value, reason = _value(baseline, quantity, predictions, units)
            if np.isfinite(value):
                found.append(
                    BaselineRecord(
                        name=baseline.name,
                        metric=quantity.metric,
                        average=quantity.average,
                        label=quantity.label,
                        value=value,
                        text=baseline.text,
                        reason=reason,
                    )
                )
    return tuple(found)


def expected_table(true: Floats, shares: Floats) -> Floats:
    """Return the expected table of counts, rows true (K, K), of answering classes with these shares, blindly."""
    return np.outer(true, shares)


def _class_weights(predictions: Predictions, units: Units) -> Floats:
    assert predictions.y_true is not None
    k = len(predictions.classes)
    return np.bincount(predictions.y_true, weights=units.base, minlength=k).astype(np.float64)


def _rules(predictions: Predictions, units: Units) -> Iterator[Baseline]:
    if predictions.y_true is None or not len(predictions.y_true) or predictions.task == "clustering":
        return
    if predictions.task == "regression":
        yield Baseline("mean_truth", Message("baseline.mean"), None)
        return
    totals, k = _class_weights(predictions, units), len(predictions.classes)
    largest = int(totals.argmax())
    most = predictions.classes[largest]
    one = (np.arange(k) == largest).astype(np.float64)
    yield Baseline("majority_class", Message("baseline.majority", name=most), one, certain=True)
    yield Baseline("random_prevalence", Message("baseline.prevalence"), totals / totals.sum())
    text = Message("baseline.coin") if k == 2 else Message("baseline.even", classes=k)
    yield Baseline("random_even", text, np.full(k, 1 / k))


def _value(
    baseline: Baseline, quantity: Quantity, predictions: Predictions, units: Units
) -> tuple[float, Text | None]:
    metric = definition(quantity)
    if metric.family in ("table", "binary_table"):
        assert baseline.shares is not None
        table = expected_table(_class_weights(predictions, units), baseline.shares)
        value = float(table_function(quantity, predictions)(margins_of(table)))
        return (0.0, metric.undefined) if np.isnan(value) else (value, None)
    if baseline.certain:
        return np.nan, None
    return _of_one_answer(baseline, quantity, predictions, units), None


def _of_one_answer(baseline: Baseline, quantity: Quantity, predictions: Predictions, units: Units) -> float:
    """Evaluate a metric of rows on a model that says the same of every example; nan where it is undefined.

    The examples of a class are alike then, so one of each class stands for them, with their weight.
    """
    metric, (view, weight) = definition(quantity), _one_answer(baseline, predictions, units)
    with np.errstate(over="ignore", invalid="ignore"):
        if metric.family == "ranking":
            # All examples are tied: one group.
            positive = view.true == view.positive_code
            groups = (np.array([weight[held].sum()]) for held in (positive, ~positive))
            return float(metric.function(*groups))
        if metric.family == "moments":
            assert metric.columns is not None
            each = units.weight if baseline.shares is None else weight
            return float(metric.function(column_totals(each, metric.columns(view))))
        assert metric.prepare is not None
        state = metric.prepare(view)
        if metric.averages:
            code = None if quantity.label is None else predictions.classes.index(quantity.label)
            state = Chosen(state, quantity.average, code)
        return float(metric.function(state, weight[None, :])[0])


def _one_answer(baseline: Baseline, predictions: Predictions, units: Units) -> tuple[ModelView, Floats]:
    """Return the rows of such a model, and what each weighs."""
    assert predictions.y_true is not None
    if baseline.shares is None:
        mean = dot(units.base, predictions.y_true) / float(units.base.sum())
        return ModelView(predictions.y_true, np.full(predictions.n, mean), None, None, None), units.base
    totals = _class_weights(predictions, units)
    held = np.flatnonzero(totals)
    code = predictions.positive_code if predictions.task == "binary" else None
    proba = np.tile(baseline.shares, (len(held), 1))
    return ModelView(held, None, proba, None, code, np.zeros(len(held))), totals[held]


COUNTS = ("TP", "FP", "FN", "TN")


def filled_in(estimate: Estimate, code: int | None) -> str | None:
    """Write the formula with counts, or None where the metric is no function of a few counts.

    Parameters
    ----------
    estimate
        With its table.
    code
        The class that counts as positive; None for metrics of the whole table.

    Examples
    --------
    >>> _with_counts("2 TP / (2 TP + FP + FN)", {"TP": 6, "FP": 12, "FN": 2, "TN": 130})
    '2*6 / (2*6 + 12 + 2)'
    """
    if estimate.table is None or estimate.quantity.average is not None:
        return None
    table = estimate.table
    if estimate.metric.family == "binary_table" and code is not None:
        tp, true, predicted = margins_of(table)[:, code]
        tn = table.sum() - true - predicted + tp
        counts = dict(zip(COUNTS, (tp, predicted - tp, true - tp, tn), strict=True)) | {"n": table.sum()}
    elif estimate.metric.family == "table" and estimate.metric.proportion is not None:
        right, n = np.trace(table), table.sum()
        counts = {"right": right, "wrong": n - right, "n": n}
    else:
        return None
    return _with_counts(estimate.metric.formula, counts)


def _with_counts(formula: str, counts: dict[str, float] | dict[str, int] | dict[str, Floats]) -> str:
    names = "|".join(counts)
    text = re.sub(rf"(\d) ({names})\b", r"\1*\2", formula)
    return re.sub(rf"\b({names})\b", lambda match: f"{float(counts[match[1]]):g}", text)
