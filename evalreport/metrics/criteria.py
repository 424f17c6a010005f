"""Penalised criteria: training error plus a penalty for complexity, such as AIC and BIC.

They are computed from training rows only (``part`` = train, with ``n_parameters`` or ``vc_dimension``), never from
test predictions, and have no interval. The smaller, the better, among models fitted to the same training rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.engine.counts import Counts, margins_of, one_vs_rest, two_classes
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.metric import ClassCounts, Function, Margins, Training
from evalreport.metrics.probabilities import log_loss
from evalreport.metrics.quantities import named_criteria
from evalreport.metrics.registry import Fields, Quantity, definition, register
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import Message

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
    setting = model.columns.get(column) or training.keys.get(column)
    if setting is None or setting.categories is not None:
        return math.nan
    values = np.unique(setting.values[~np.isnan(setting.values)])
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
        fit, computation = _fit(training, model, noise, eta), metric.of(Training)
        value, reason = float(computation.function(fit)), computation.why_undefined(fit)
    known = math.isfinite(value)
    return MetricRecord(
        model=model.name,
        metric=quantity.metric,
        value=value if known else None,
        n=training.n,
        reason=None if known else reason,
        formula=metric.display.formula if known else None,
    )


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
    code, outside = estimate.table.code, estimate.table.outside
    margins = margins_of(estimate.table.counts)
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
