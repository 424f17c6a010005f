"""Penalised criteria: training error plus a penalty for complexity, such as AIC and BIC.

They are computed from training rows only (``part`` = train, with ``n_parameters`` or ``vc_dimension``), never from
test predictions, and have no interval. The smaller, the better, among models fitted to the same training rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from evalreport.engine.counts import Counts, margins_of, one_vs_rest, two_classes
from evalreport.engine.distributions import column_totals, dot
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import (
    Chosen,
    ClassCounts,
    Function,
    Margins,
    Moments,
    Ranks,
    RowWise,
    Training,
)
from evalreport.metrics.probabilities import log_loss
from evalreport.metrics.quantities import named_criteria
from evalreport.metrics.registry import Fields, Quantity, definition, register
from evalreport.metrics.sample import Sample
from evalreport.metrics.table_functions import TableFunctions
from evalreport.metrics.views import ModelView, view
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.baselines.records import BaselineRecord
from evalreport.samplings import Sampling
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import Message, Text

CRITERION: Fields = {
    "needs": "training",
    "greater_is_better": False,
    "smooth": False,
    "extensive": True,
    "intervals": (),
    "no_interval": Message("no_interval.criterion"),
    "range": (-math.inf, math.inf),
}
LIKELIHOOD_TASKS = ("binary", "multiclass", "regression")


@dataclass(frozen=True, slots=True)
class TrainingFit:
    """The input of the criteria: a fit to its training rows.

    Attributes
    ----------
    n, parameters, vc_dimension
        Training examples N; parameters d; VC dimension. nan where the files do not say.
    error
        e_T: mean squared error (regression), else -2 ln L / N.
    noise
        Variance of the noise: of the residuals of the run's largest model (regression), else 1.
    log_likelihood
        ln L of the training targets.
    error_rate
        Share of training examples predicted wrongly; nan in regression.
    eta
        Probability with which the VC bound may fail: 1 - confidence.
    """

    n: int
    parameters: float
    vc_dimension: float
    error: float
    noise: float
    log_likelihood: float
    error_rate: float
    eta: float


def _lacks_noise_or_parameters(fit: TrainingFit) -> Message:
    return Message("lacks.noise" if fit.noise == 0 else "lacks.parameters")


def _criterion(
    label: str, formula: str, tasks: tuple[str, ...], source: str, why_undefined: Function
) -> Callable[[Function], Function]:
    fields = {"label": label, "formula": formula, "tasks": tasks, "source": source, **CRITERION}
    return lambda function: register(Training, function, why_undefined=why_undefined, **fields)


@_criterion(
    "AIC",
    "e_T + 2 (d / N) s^2",
    LIKELIHOOD_TASKS,
    "Akaike (1974); Hastie et al. (2009), equation 7.30",
    _lacks_noise_or_parameters,
)
def aic(fit: TrainingFit) -> float:
    """Akaike's criterion per training example: training error plus twice the parameters' share of the noise.

    Examples
    --------
    >>> aic(TrainingFit(100, 5, np.nan, 0.2, 0.25, np.nan, np.nan, 0.05))
    0.225
    """
    if fit.noise == 0:
        return math.nan
    return fit.error + 2 * fit.parameters / fit.n * fit.noise


@_criterion(
    "BIC",
    "(N / s^2) (e_T + ln N (d / N) s^2)",
    LIKELIHOOD_TASKS,
    "Schwarz (1978), Ann Stat 6:461; Hastie et al. (2009), equation 7.36",
    _lacks_noise_or_parameters,
)
def bic(fit: TrainingFit) -> float:
    """Schwarz's criterion: training error and ln N for each parameter, in units of the noise."""
    if fit.noise == 0:
        return math.nan
    return fit.n / fit.noise * (fit.error + math.log(fit.n) * fit.parameters / fit.n * fit.noise)


@_criterion(
    "MDL",
    "-ln L + (d / 2) ln N",
    LIKELIHOOD_TASKS,
    "Rissanen (1978), Automatica 14:465",
    lambda _: Message("lacks.parameters"),
)
def mdl(fit: TrainingFit) -> float:
    """Description length of the training targets and of the parameters, (1/2) ln N nats a parameter."""
    return -fit.log_likelihood + fit.parameters / 2 * math.log(fit.n)


@_criterion(
    "VC bound",
    "e_T + sqrt((VC (ln(2N / VC) + 1) - ln(eta / 4)) / N)",
    ("binary", "multiclass"),
    "Vapnik (1995), The Nature of Statistical Learning Theory, section 3.4",
    lambda _: Message("lacks.vc_dimension"),
)
def vc_bound(fit: TrainingFit) -> float:
    """Error rate on new examples that is not exceeded with probability 1 - eta, from the VC dimension.

    Examples
    --------
    Training error 0, VC dimension 3, 1,000 examples, eta 0.05:

    >>> round(vc_bound(TrainingFit(1000, 3, 3, 0, 1, 0, 0.0, 0.05)), 4)
    0.164
    """
    if not fit.vc_dimension > 0:
        return math.nan
    capacity = fit.vc_dimension * (math.log(2 * fit.n / fit.vc_dimension) + 1)
    return fit.error_rate + math.sqrt((capacity - math.log(fit.eta / 4)) / fit.n)


# --- from training rows to records ----------------------------------------------------------------------------------


def criteria_records(
    predictions: Predictions, names: Sequence[str], confidence: float
) -> tuple[MetricRecord, ...]:
    """Return the criteria that the training rows allow; named ones that they do not allow, with the reason.

    Parameters
    ----------
    predictions
        With training rows, before the test rows are taken.
    names
        The metrics that were named; empty: all that the data allow.
    """
    wanted = named_criteria(names, predictions.task)
    rows = _training_rows(predictions)
    given = predictions.keys.keys() | {name for m in predictions.models for name in m.columns}
    if (names and not wanted) or (not names and not (len(rows) and given & {"n_parameters", "vc_dimension"})):
        return ()
    training = subset(predictions, rows)
    noise = _noise(training) if len(rows) else math.nan
    return tuple(
        _record(training, model, quantity, noise, 1 - confidence)
        for model in training.models
        for quantity in wanted
    )


def _training_rows(predictions: Predictions) -> Indices:
    part, replicate = predictions.keys.get("part"), predictions.keys.get("replicate")
    if part is None or part.categories is None or "train" not in part.categories:
        return np.empty(0, dtype=np.int64)
    training = part.values == part.categories.index("train")
    if replicate is not None:
        training &= replicate.values < 0
    return np.flatnonzero(training)


def _constant(training: Predictions, model: ModelOutputs, column: str) -> float:
    """Return a model's one value of a column; nan where it is not given or not one value."""
    found = model.columns.get(column) or training.keys.get(column)
    if found is None or found.categories is not None:
        return math.nan
    values = np.unique(found.values[~np.isnan(found.values)])
    return float(values[0]) if len(values) == 1 else math.nan


def _noise(training: Predictions) -> float:
    """Estimate the noise from the model with the most parameters, the one of the least bias: SSE / (N - d)."""
    if training.task != "regression":
        return 1.0
    sizes = [(_constant(training, m, "n_parameters"), m) for m in training.models]
    known = [(d, m) for d, m in sizes if not math.isnan(d) and d < training.n and m.y_pred is not None]
    if not known:
        return math.nan
    parameters, largest = max(known, key=lambda pair: pair[0])
    return float((view(training, largest).errors ** 2).sum()) / (training.n - parameters)


def _fit(training: Predictions, model: ModelOutputs, noise: float, eta: float) -> TrainingFit:
    whole, n = view(training, model), training.n
    likelihood = _constant(training, model, "log_likelihood")
    wrong = math.nan
    if training.task == "regression":
        error = float((whole.errors**2).mean()) if model.y_pred is not None else math.nan
        if math.isnan(likelihood) and error > 0:
            likelihood = -n / 2 * (math.log(2 * math.pi * error) + 1)
    else:
        if math.isnan(likelihood) and model.proba is not None:
            likelihood = -float(log_loss(whole).sum())
        error = -2 * likelihood / n
        if model.y_pred is not None:
            wrong = float(np.mean(model.y_pred != training.y_true))
    parameters, vc = (_constant(training, model, column) for column in ("n_parameters", "vc_dimension"))
    return TrainingFit(n, parameters, vc, error, noise, likelihood, wrong, eta)


def _record(
    training: Predictions, model: ModelOutputs, quantity: Quantity, noise: float, eta: float
) -> MetricRecord:
    metric = definition(quantity)
    value, reason = math.nan, Message("lacks.training")
    if training.n:
        fit = _fit(training, model, noise, eta)
        assert isinstance(metric.computation, Training)
        value, reason = float(metric.computation.function(fit)), metric.computation.why_undefined(fit)
    known = math.isfinite(value)
    return MetricRecord(
        model=model.name,
        metric=quantity.metric,
        value=value if known else None,
        n=training.n,
        reason=None if known else reason,
        formula=metric.display.formula if known else None,
    )


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
    found = []
    judged = [q for q in sample.quantities if definition(q).scale.greater_is_better is not None]
    for baseline in _rules(predictions, units):
        answers = _Answers(baseline, predictions, units)
        for quantity in judged:
            value, reason = answers.value(quantity)
            if np.isfinite(value):
                found.append(
                    BaselineRecord(
                        name=baseline.name, **quantity.fields, value=value, text=baseline.text, reason=reason
                    )
                )
    return tuple(found)


def expected_table(true: Floats, shares: Floats) -> Floats:
    """Return the expected table of counts, rows true (K, K), of answering classes with these shares, blindly."""
    return np.outer(true, shares)


def _rules(predictions: Predictions, units: Sampling) -> Iterator[Baseline]:
    if predictions.y_true is None or not len(predictions.y_true) or predictions.task == "clustering":
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
        if isinstance(metric.computation, Margins | ClassCounts):
            value = float(self.functions.value(quantity))
            return (0.0, metric.scale.undefined) if np.isnan(value) else (value, None)
        return (np.nan if self.baseline.certain else self._of_one_answer(quantity)), None

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
                groups = (np.array([weight[held].sum()]) for held in (positive, ~positive))
                return float(metric.computation.function(*groups))
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


COUNTS = ("TP", "FP", "FN", "TN")


def filled_in(estimate: Estimate) -> str | None:
    """Write the formula with counts, or None where the metric is no function of a few counts.

    Examples
    --------
    >>> _with_counts("2 TP / (2 TP + FP + FN)", {"TP": 6, "FP": 12, "FN": 2, "TN": 130})
    '2*6 / (2*6 + 12 + 2)'
    """
    if estimate.table is None or estimate.quantity.average is not None:
        return None
    code, margins, outside = estimate.table.code, estimate.table.margins, estimate.table.outside
    if isinstance(estimate.metric.computation, ClassCounts) and code is not None:
        negatives = estimate.metric.computation.negatives
        if negatives and outside and margins.shape[-1] == 3:
            of_class = two_classes(margins, code, by_answer=negatives == "answers")
        else:
            of_class = Counts(*(part[code] for part in one_vs_rest(margins)))
        counts = dict(zip(COUNTS, of_class, strict=True)) | {"n": margins[1].sum()}
    elif (
        isinstance(estimate.metric.computation, Margins)
        and estimate.metric.computation.proportion is not None
    ):
        right, n = margins[0].sum(), margins[1].sum()
        counts = {"right": right, "wrong": n - right, "n": n}
    else:
        return None
    return _with_counts(estimate.metric.display.formula, counts)


def _with_counts(formula: str, counts: dict[str, float] | dict[str, int] | dict[str, Floats]) -> str:
    names = "|".join(counts)
    text = re.sub(rf"(\d) ({names})\b", r"\1*\2", formula)
    return re.sub(rf"\b({names})\b", lambda match: f"{float(counts[match[1]]):g}", text)
