"""The values of constant answers and of guesses, which need no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from evalreport.engine.counts import margins_of
from evalreport.engine.distributions import column_totals, dot
from evalreport.engine.ranks import RankedWeights
from evalreport.metrics.metric import Chosen, ClassCounts, Function, Margins, Metric, Moments, Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.table_functions import TableFunctions
from evalreport.metrics.views import ModelView
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions
from evalreport.questions.baselines.records import BaselineLists, BaselineRecord
from evalreport.questions.baselines.rule_pairs import rule_pairs
from evalreport.questions.question import Run, question
from evalreport.samplings import Sampling
from evalreport.texts import Message, Text


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
        (K,) how often it answers each class, and the probability that it gives each; None for regression.
    certain
        Whether it always answers the same class: then it ranks nothing and forecasts nothing.
    totals
        (K,) weight of the examples of each class; None for regression.
    """

    name: str
    text: Message
    shares: Floats | None
    certain: bool = False
    totals: Floats | None = None


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
    records = []
    directed = [q for q in sample.quantities if definition(q).scale.greater_is_better is not None]
    for baseline in _rules(predictions, units):
        answers = _Answers(baseline, predictions, units)
        for quantity in directed:
            value, reason = answers.value(quantity)
            if np.isfinite(value):
                records.append(
                    BaselineRecord(
                        name=baseline.name, **quantity.fields, value=value, text=baseline.text, reason=reason
                    )
                )
    return tuple(records)


def expected_table(true: Floats, shares: Floats) -> Floats:
    """Return the expected table of counts, rows true (K, K), of answering classes with these shares, blindly."""
    return np.outer(true, shares)


def _rules(predictions: Predictions, units: Sampling) -> Iterator[Baseline]:
    if (
        predictions.y_true is None
        or not len(predictions.y_true)
        or predictions.task in ("clustering", "intervals", "sets")
    ):
        return
    if predictions.task == "regression":
        yield Baseline("mean_truth", Message("baseline.mean"), None)
        return
    k = len(predictions.classes)
    totals = np.bincount(predictions.y_true, weights=units.heavy, minlength=k).astype(np.float64)
    largest = int(totals.argmax())
    most = predictions.classes[largest]
    one = (np.arange(k) == largest).astype(np.float64)
    yield Baseline(
        "majority_class", Message("baseline.majority", name=most), one, certain=True, totals=totals
    )
    yield Baseline("random_prevalence", Message("baseline.prevalence"), totals / totals.sum(), totals=totals)
    text = Message("baseline.coin") if k == 2 else Message("baseline.even", classes=k)
    yield Baseline("random_even", text, np.full(k, 1 / k), totals=totals)


@dataclass(frozen=True)
class _Answers:
    """The answers of a rule that needs no model; what its metrics share is prepared once."""

    baseline: Baseline
    predictions: Predictions
    units: Sampling
    _states: dict[Function, object] = field(default_factory=dict)

    def value(self, quantity: Quantity) -> tuple[float, Text | None]:
        """Return the rule's value of a quantity, nan where it has none, and the reason of one by convention."""
        metric = definition(quantity)
        if metric.ordered:
            return self._of_cells(metric), None
        if isinstance(metric.computation, Margins | ClassCounts):
            value = float(self.functions.value(quantity))
            return (0.0, metric.scale.undefined) if np.isnan(value) else (value, None)
        return (np.nan if self.baseline.certain else self._of_one_answer(quantity)), None

    def _of_cells(self, metric: Metric) -> float:
        """Evaluate a metric of ordered classes at the expected table, a row a cell."""
        assert self.baseline.shares is not None
        assert self.baseline.totals is not None
        assert isinstance(metric.computation, Moments)
        table = expected_table(self.baseline.totals, self.baseline.shares)
        true, given = np.indices(table.shape).reshape(2, -1)
        view = ModelView(true, given, None, None, None, n_classes=len(table))
        with np.errstate(all="ignore"):
            sums = column_totals(table.ravel(), metric.computation.columns(view))
            return float(metric.computation.function(sums))

    @cached_property
    def functions(self) -> TableFunctions:
        """Label quantities at the expected table."""
        assert self.baseline.shares is not None
        assert self.baseline.totals is not None
        table = expected_table(self.baseline.totals, self.baseline.shares)
        return TableFunctions(margins_of(table), self.predictions)

    def _of_one_answer(self, quantity: Quantity) -> float:
        """Evaluate a metric of rows on a model with one answer for every example; nan where it is undefined.

        The examples of a class are alike then, so one of each class represents them, with their weight.
        """
        metric, (view, weight) = definition(quantity), self.one_answer
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(metric.computation, Ranks):
                # All examples are tied: one group.
                positive = view.true == view.positive_code
                positives, negatives = (np.array([[weight[held].sum()]]) for held in (positive, ~positive))
                group = RankedWeights(positives, negatives, self.units.mean_weight)
                return float(metric.computation.function(group)[0])
            if isinstance(metric.computation, Moments):
                each = self.units.weight if self.baseline.shares is None else weight
                sums = column_totals(each, metric.computation.columns(view))
                return float(metric.computation.function(sums))
            assert isinstance(metric.computation, RowWise)
            prepare = metric.computation.prepare
            code = None if quantity.label is None else self.predictions.labels.codes[quantity.label]
            of_class = metric.by_class and code is not None
            if of_class:
                view = replace(view, positive_code=code)
            if of_class or prepare not in self._states:
                self._states[prepare] = prepare(view)
            state = self._states[prepare]
            if metric.averages:
                state = Chosen(state, quantity.average, code)
            return float(metric.computation.function(state, self.row_of_weights)[0])

    @cached_property
    def row_of_weights(self) -> Floats:
        """The weights (1, n), always the same array: what they give is remembered by it."""
        return self.one_answer[1][None, :]

    @cached_property
    def one_answer(self) -> tuple[ModelView, Floats]:
        """The rows of such a model, and their weights."""
        baseline, predictions, units = self.baseline, self.predictions, self.units
        assert predictions.y_true is not None
        if baseline.shares is None:
            mean = dot(units.base, predictions.y_true) / float(units.base.sum())
            return ModelView(predictions.y_true, np.full(predictions.n, mean), None, None, None), units.base
        assert baseline.totals is not None
        held = np.flatnonzero(baseline.totals)
        code = predictions.positive_code if predictions.task == "binary" else None
        proba = np.tile(baseline.shares, (len(held), 1))
        tied = ModelView(held, None, proba, None, code, np.zeros(len(held)), mean_weight=units.mean_weight)
        return tied, baseline.totals[held]
