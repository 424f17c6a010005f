"""The values of constant answers and of guesses, which need no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.engine.distributions import Array, dot
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.cells import from_numpy
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.baselines.records import BaselineLists, BaselineRecord
from evalreport.questions.baselines.rule_pairs import rule_pairs
from evalreport.questions.question import Run, question
from evalreport.samplings import sampling_by
from evalreport.texts import Message


@question("baselines")
def baselines(run: Run) -> BaselineLists:
    """Return each metric's value of the constant answers on these examples, and the models' pairs with the rule."""
    constant = [baseline_records(sample) for sample in run.samples]
    rules = {(r.metric, r.average, r.label): r.value for r in constant[0] if r.name == "majority_class"}
    behind = (q for q in run.data.quantities[1:] if _falls_short(q, run.samples, rules))
    return BaselineLists(
        baselines=() if run.options.join == "independent" else constant[0],
        against_rule=rule_pairs(run.samples, constant, (run.data.primary, *behind), run.data.deciding),
    )


def _falls_short(
    quantity: Quantity,
    samples: Sequence[Sample],
    majority: Mapping[tuple[str, str | None, str | None], float],
) -> bool:
    """Say whether the headline may have to say that a model is behind the rule, on a metric that is not primary."""
    metric = definition(quantity)
    if metric.scale.affine_of is not None:
        return False
    if metric.is_auc:
        bar = metric.scale.uninformed
    elif metric.scale.share_of_right and metric.needs == "labels":
        bar = majority.get((quantity.metric, quantity.average, quantity.label))
    else:
        return False
    values = (s.estimates[m.name, quantity].value for s in samples for m in s.predictions.models)
    return bar is not None and any(value < bar for value in values)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule that needs no model.

    Attributes
    ----------
    name, text
        What it is called and what it does.
    shares
        (K,) how often it answers each class, and the probability that it gives each; None: it answers the mean.
    certain
        Whether it always answers the same class: then it ranks nothing and forecasts nothing.
    """

    name: str
    text: Message
    shares: Floats | None = None
    certain: bool = False


def baseline_records(sample: Sample) -> tuple[BaselineRecord, ...]:
    """Return the expected values of the rules that need no model, for every quantity with a direction.

    Each rule is estimated as a model is, on rows that stand for the expected numbers of examples. Labels: each class of
    the truth with each answer (true class shares times answer shares), which for a random guess is where its value
    settles on a large test set. Rankings: all examples tied. Probabilities: the same forecast for every example.
    Regression: the mean of this test set's truth; the training mean is not in the files, and would do no better here.

    Parameters
    ----------
    sample
        Its test rows, its quantities, and its units with the example weights.
    """
    predictions, base = sample.predictions, sample.units.base
    directed = [q for q in sample.quantities if definition(q).scale.greater_is_better is not None]
    of_labels = [q for q in directed if definition(q).needs == "labels"]
    others = [q for q in directed if definition(q).needs != "labels"]
    records = []
    for rule in _rules(sample):
        if rule.shares is None:
            true = np.asarray(predictions.y_true)
            mean = np.full(predictions.n, dot(base, true) / float(base.sum()))
            values = _estimates(sample, directed, true, base, ModelOutputs(rule.name, y_pred=mean))
        else:
            held, totals = _classes(sample)
            table = np.outer(totals, rule.shares)
            true, answer = np.nonzero(table)
            labels = ModelOutputs(rule.name, y_pred=answer.astype(np.int32))
            values = _estimates(sample, of_labels, held[true], table[true, answer], labels)
            if not rule.certain:
                score = np.zeros(len(held)) if predictions.task == "binary" else None
                forecast = ModelOutputs(rule.name, score=score, proba=np.tile(rule.shares, (len(held), 1)))
                values |= _estimates(sample, others, held, totals, forecast)
        records += [
            BaselineRecord(
                name=rule.name, **q.fields, value=values[q].value, text=rule.text, reason=values[q].reason
            )
            for q in directed
            if q in values and np.isfinite(values[q].value)
        ]
    return tuple(records)


def _rules(sample: Sample) -> Iterator[Baseline]:
    predictions = sample.predictions
    without = predictions.y_true is None or not sample.units.base.any()
    if without or predictions.task in ("clustering", "intervals", "sets"):
        return
    if predictions.task == "regression":
        yield Baseline("mean_truth", Message("baseline.mean"))
        return
    k, (held, totals) = len(predictions.classes), _classes(sample)
    shares = np.zeros(k)
    shares[held] = totals / totals.sum()
    largest = int(shares.argmax())
    majority = Message("baseline.majority", name=predictions.classes[largest])
    yield Baseline("majority_class", majority, np.eye(k)[largest], certain=True)
    yield Baseline("random_prevalence", Message("baseline.prevalence"), shares)
    text = Message("baseline.coin") if k == 2 else Message("baseline.even", classes=k)
    yield Baseline("random_even", text, np.full(k, 1 / k))


def _classes(sample: Sample) -> tuple[Indices, Floats]:
    """Return the classes that the truth holds, by their codes, and the weight of the examples of each."""
    totals = np.bincount(required(sample.predictions.y_true), weights=sample.units.heavy).astype(np.float64)
    held = np.flatnonzero(totals)
    return held, totals[held]


def _estimates(
    sample: Sample, quantities: Sequence[Quantity], true: Array, heavy: Floats, outputs: ModelOutputs
) -> dict[Quantity, Estimate]:
    """Estimate a rule on rows (m,) of a true value that stand for so much weight (m,), in examples of mean weight."""
    n, each = len(true), sample.units.mean_weight
    table = Predictions(
        task=sample.predictions.task,
        design="test-set",
        ids=from_numpy(np.arange(n)),
        example=np.arange(n),
        y_true=true if sample.predictions.task == "regression" else true.astype(np.int32),
        models=(outputs,),
        labels=sample.predictions.labels,
    )
    units = sampling_by(n, weight=None if each == 1 else np.full(n, each), times=heavy / each)
    estimated = estimate_all(table, quantities, units=units, n_resamples=0, seed=0, resampled=lambda _: False)
    return {q: estimated.estimates[outputs.name, q] for q in quantities}
