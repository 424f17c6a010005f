"""Each model against the rule that needs none, compared as two models are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypedDict

import numpy as np

from evalreport.comparisons.decisions import Decision, decided_by_replicates, decisions_of
from evalreport.comparisons.pairs import Comparison, compare, leading_record
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.label_estimates import everything
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.baselines.records import AgainstRuleRecord, BaselineRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import limit_fields


class Rule(TypedDict):
    """The answer that is the same for every example: its code, and the class where it is one."""

    rule: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class RulePair:
    """A model and the rule on one quantity, with the outcome of the test that leads."""

    rule: Rule
    comparison: Comparison
    row: ComparisonRecord
    value: float


def rule_pairs(
    samples: Sequence[Sample],
    baselines: Sequence[Sequence[BaselineRecord]],
    quantities: Sequence[Quantity],
    options: Options,
) -> tuple[AgainstRuleRecord, ...]:
    """Compare every model with the rule; Holm's correction is over the models, of each quantity by itself.

    Parameters
    ----------
    samples
        One of all models, or one a model.
    baselines
        The values of constant answers on the examples of each sample.
    quantities
        Those that the models are compared on.
    options
        With the level of decisions as ``confidence``.
    """
    plain = replace(options, correction="holm", margin=None, tests=(), intervals=(), gates=(), slices=())
    by_sample = zip(samples, baselines, strict=True)
    pairs = [pair for sample, records in by_sample for pair in _of_sample(sample, quantities, records, plain)]
    pairs.sort(key=lambda pair: quantities.index(pair.comparison.quantity))
    written: list[AgainstRuleRecord] = []
    for _, family in groupby(pairs, key=lambda pair: pair.comparison.quantity):
        of_quantity = list(family)
        decisions = decisions_of(
            [pair.comparison for pair in of_quantity], [pair.row.p_value for pair in of_quantity], plain
        )
        written += [_record(pair, decision) for pair, decision in zip(of_quantity, decisions, strict=True)]
    return tuple(written)


def rule_of(
    quantity: Quantity, predictions: Predictions, weight: Floats, baselines: Sequence[BaselineRecord]
) -> Rule | None:
    """Return the rule that a quantity is compared with; None where a constant answer has no value, or by convention.

    Always the mean, or always the most frequent class; the same score for every example where only the order counts.
    """
    names = {
        r.name for r in baselines
        if (r.metric, r.average, r.label) == (quantity.metric, quantity.average, quantity.label) and r.reason is None
    }  # fmt: skip
    if "mean_truth" in names:
        return Rule(rule="mean_truth", answer=None)
    if definition(quantity).scale.uninformed is not None and predictions.task in ("binary", "multiclass"):
        return Rule(rule="chance", answer=None)
    if "majority_class" not in names:
        return None
    return Rule(rule="majority_class", answer=predictions.classes[most_frequent(predictions, weight)])


def most_frequent(predictions: Predictions, weight: Floats) -> int:
    """Return the code of the most frequent class, on ties the first in order."""
    return int(np.bincount(required(predictions.y_true), weights=weight).argmax())


def answers(predictions: Predictions, weight: Floats, name: str) -> ModelOutputs:
    """Return the outputs of a model that gives every example the same class, score and probabilities, or the mean.

    Examples
    --------
    A majority of two in three of class "1" (code 1):

    >>> import pyarrow as pa
    >>> from evalreport.predictions.table import Labels
    >>> truth = np.array([0, 1, 1], dtype=np.int32)
    >>> table = Predictions(task="binary", design="test-set", ids=pa.array(["a", "b", "c"]), example=np.arange(3),
    ...     y_true=truth, models=(), labels=Labels(classes=("0", "1"), positive="1"))
    >>> answers(table, np.ones(3), "rule").y_pred.tolist()
    [1, 1, 1]
    """
    assert predictions.y_true is not None
    n = len(predictions.y_true)
    if not predictions.classes:
        mean = float(weight @ predictions.y_true / weight.sum())
        return ModelOutputs(name, y_pred=np.broadcast_to(mean, n))
    totals = np.bincount(predictions.y_true, weights=weight, minlength=len(predictions.classes))
    return ModelOutputs(
        name,
        y_pred=np.broadcast_to(np.int32(most_frequent(predictions, weight)), n),
        score=np.broadcast_to(0.0, n) if predictions.task == "binary" else None,
        proba=np.broadcast_to(totals / totals.sum(), (n, len(totals))),
    )


def _of_sample(
    sample: Sample, quantities: Sequence[Quantity], baselines: Sequence[BaselineRecord], options: Options
) -> Iterator[RulePair]:
    predictions = sample.predictions
    if predictions.y_true is None or predictions.scores is not None or not sample.units.base.any():
        return
    rules = {
        q: rule
        for q in quantities
        if (rule := rule_of(q, predictions, sample.units.base, baselines)) is not None
    }
    if not rules:
        return
    name = _unused(m.name for m in predictions.models)
    outputs = answers(predictions, sample.units.base, name)
    against = replace(options, baseline=name)
    both = replace(predictions, models=(*predictions.models, outputs))
    for resampled in (lambda _: False, everything):
        estimated = estimate_table(both, tuple(rules), options, resampled, seed=options.seed)
        compared = compare(estimated, tuple(rules), against)
        if not any(decided_by_replicates(comparison) for comparison in compared):
            break
    for comparison in compared:
        value = estimated.estimates[name, comparison.quantity].value
        if comparison.pair is not None:
            yield RulePair(rules[comparison.quantity], comparison, leading_record(comparison, against), value)


def _record(pair: RulePair, decision: Decision) -> AgainstRuleRecord:
    row, limits = pair.row, decision.limits
    favours = decision.favours if decision.decided else 0
    return AgainstRuleRecord(
        model=row.a,
        **pair.rule,
        **pair.comparison.quantity.fields,
        value=pair.value,
        difference=row.difference,
        test=pair.comparison.recommended_test,
        p_value=row.p_value,
        p_adjusted=decision.p_adjusted,
        level=None if limits is None else limits.level,
        **limit_fields(limits),
        method=None if limits is None else limits.method,
        verdict="better" if favours > 0 else "worse" if favours < 0 else "undecided",
        reason=row.reason,
    )


def _unused(names: Iterable[str]) -> str:
    taken, name = set(names), "rule"
    while name in taken:
        name += "'"
    return name
