"""The mean of people's judgements, estimated from a judge's of all answers and people's of a few (PPI++)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate, undefined, value_range
from evalreport.metrics.evidence import PredictionPowered, Undefined
from evalreport.metrics.layout import Layout, task_weights
from evalreport.metrics.metric import PredictionPoweredMean
from evalreport.metrics.registry import Quantity, definition, prediction_powered
from evalreport.metrics.row_estimates import TOO_LARGE
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Influence, JudgedAnswers, Sampling, StudentError, sampling_by
from evalreport.texts import Message

Key = tuple[str, Quantity]
Value = TypeVar("Value", Estimate, Difference)

LEAST_GOLD = 10
"""With fewer rows that a person judged (of a suite: in a task) there is no estimate."""


@dataclass(frozen=True, slots=True)
class Rectified:
    """A judge's mean, corrected by people's judgements.

    Attributes
    ----------
    value
        The estimate.
    weight
        lambda, how much the judge counts: 0 where it says nothing of what people say, at most 1.
    derivative
        (n,) what each row contributes to the estimate beside its expected share; the sum of the squares is the
        squared standard error.
    """

    value: float
    weight: float
    derivative: Floats


@prediction_powered(
    "Mean human outcome",
    "λ mean(judge, rows without gold) + mean(gold − λ judge, rows with gold)",
    turnable=True,
    headline=True,
    source="Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453",
)
def mean_gold(judge: Floats, gold: Floats) -> Rectified:
    """Mean outcome that people would have given, from the judge's outcomes of all answers and people's of some.

    With n rows that a person judged and N others, λ = cov(gold, judge) / ((1 + n/N) v), cut to [0, 1], where the
    covariance has divisor n and v is the variance of the judge's outcomes of all rows with divisor n + N − 1; 0 where
    the judge always says the same, and where every row has gold: that leaves the mean of gold.
    SE^2 = λ^2 var(judge, rows without) / N + var(gold − λ judge) / n, divisors N and n.

    Parameters
    ----------
    judge
        (n + N,) the judge's outcomes; of two models, their differences.
    gold
        (n + N,) people's, nan where none judged the row.

    Examples
    --------
    A judge that is right about every answer leaves the error of its own mean alone.

    >>> judge = np.array([1.0, 1.0, 0.0, 0.0] * 10)
    >>> gold = np.where(np.arange(40) < 20, judge, np.nan)
    >>> rectified = mean_gold(judge, gold)
    >>> rectified.value, round(rectified.weight, 4)
    (0.5, 0.4875)
    """
    given = ~np.isnan(gold)
    people, of_judge, rest = gold[given], judge[given], judge[~given]
    n, others = len(people), len(rest)
    weight = 0.0
    if others:
        spread = float(judge.var(ddof=1))
        shared = float(((people - people.mean()) * (of_judge - of_judge.mean())).mean())
        weight = min(max(shared / ((1 + n / others) * spread), 0.0), 1.0) if spread > 0 else 0.0
    of_rest = float(rest.mean()) if others else 0.0
    residual = people - weight * of_judge
    centre = float(residual.mean())
    derivative = np.empty(len(judge))
    derivative[given] = (residual - centre) / n
    derivative[~given] = weight * (rest - of_rest) / max(others, 1)
    return Rectified(weight * of_rest + centre, weight, derivative)


def pooled_mean(judge: Floats, gold: Floats, weights: Floats) -> Rectified:
    """Correct a judge's mean over tasks by people's judgements of all tasks together, where a task has few of them.

    λ is that of all rows as one task. Each row counts by its weight, so that rows that people judged at random stand
    for all of them: λ (weighted mean of the judge, rows without) + (weighted mean of gold − λ judge, rows with).

    Parameters
    ----------
    judge, gold
        (n,) as of ``mean_gold``.
    weights
        (n,) how much each row counts in the mean over tasks.

    Examples
    --------
    With equal weights it is ``mean_gold``.

    >>> judge, gold = np.array([1.0, 0, 1, 1, 0, 1]), np.array([1.0, 0, 0, np.nan, np.nan, np.nan])
    >>> bool(np.isclose(pooled_mean(judge, gold, np.full(6, 1 / 6)).value, mean_gold(judge, gold).value))
    True
    """
    weight = mean_gold(judge, gold).weight
    given = ~np.isnan(gold)
    derivative, value = np.empty(len(judge)), 0.0
    for rows, values in ((given, gold - weight * judge), (~given, weight * judge)):
        if rows.any():
            share = weights[rows] / weights[rows].sum()
            centre = float(share @ values[rows])
            value += centre
            derivative[rows] = share * (values[rows] - centre)
    return Rectified(value, weight, derivative)


MADE_UP = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
"""People's and the judge's outcomes of the rows made up for limits of right and wrong answers; each counts half."""


def with_made_up(judge: Floats, gold: Floats, weight: float) -> StudentError:
    """Return the estimate and its error after half a made-up row of each kind, by t with n - 1 degrees of freedom.

    The judge keeps the weight that it has on the data: made-up rows alone would give one to a judge that always says
    the same. Variances have the divisors n + 1 (the n rows that people judged and the two made up, less one) and N - 1.

    Parameters
    ----------
    judge, gold
        (N,) outcomes 0 or 1 by the judge, and by people: nan where none of the n people's is there.
    weight
        The weight λ of the judge.

    Examples
    --------
    Of ten answers that people called right, and the judge half of them, the limits lie about less than 1:

    >>> judge = np.array([1.0, 0.0] * 20)
    >>> student = with_made_up(judge, np.where(np.arange(40) < 10, 1.0, np.nan), 0.0)
    >>> round(student.centre, 4), round(student.error, 4), student.df
    (0.9167, 0.0833, 9.0)
    """
    given = ~np.isnan(gold)
    rest = judge[~given]
    times = np.append(np.ones(np.count_nonzero(given)), np.full(len(MADE_UP), 0.5))
    residual = np.append(gold[given], MADE_UP[:, 0]) - weight * np.append(judge[given], MADE_UP[:, 1])
    n = float(times.sum())
    centre = float(times @ residual) / n
    variance = float(times @ (residual - centre) ** 2) / (n - 1) / n
    if len(rest) > 1:
        variance += weight**2 * float(rest.var(ddof=1)) / len(rest)
    of_rest = float(rest.mean()) if len(rest) else 0.0
    return StudentError(variance**0.5, n - len(MADE_UP) / 2 - 1, weight * of_rest + centre)


def prediction_powered_estimates(
    predictions: Predictions, units: Sampling, layout: Layout, quantities: Sequence[Quantity]
) -> dict[Key, Estimate]:
    """Estimate the quantities of the family ``prediction_powered`` of every model that people judged answers of."""
    estimates = {}
    for quantity in quantities:
        for model in predictions.models:
            if isinstance(definition(quantity).computation, PredictionPoweredMean) and model.gold is not None:
                estimates[model.name, quantity] = _estimate(
                    predictions, units, layout, (model.name, quantity), model
                )
    return estimates


def _estimate(
    predictions: Predictions, units: Sampling, layout: Layout, key: Key, model: ModelOutputs
) -> Estimate:
    assert model.gold is not None
    if predictions.design == "datasets":
        return undefined(predictions, key, Message("undefined.gold_of_datasets"))
    few = _too_few(predictions, model.gold, lambda n: Message("undefined.few_gold", n=n, least=LEAST_GOLD))
    if few is not None:
        return undefined(predictions, key, few)
    plain = Estimate(
        model=key[0],
        quantity=key[1],
        value=np.nan,
        range=value_range(definition(key[1]), predictions),
        sampling=_judged(units, model.gold),
        evidence=Undefined(),
    )
    pooled = is_pooled(predictions, model.gold)
    rectified = _filled(plain, units, layout, required(model.outcome), model.gold, pooled=pooled)
    return rectified if rectified.defined else undefined(predictions, key, TOO_LARGE)


def _too_few(predictions: Predictions, gold: Floats, reason: Callable[[int], Message]) -> Message | None:
    """Say that people judged too few rows, of a suite in which task; None where they judged enough."""
    fewest = fewest_of_a_task(predictions, gold)
    if fewest is None:
        n = int(np.count_nonzero(~np.isnan(gold)))
        return reason(n) if n < LEAST_GOLD else None
    task, n = fewest
    if n >= LEAST_GOLD or is_pooled(predictions, gold):
        return None
    return Message("undefined.in_task", task=task, why=reason(n))


def is_pooled(predictions: Predictions, gold: Floats) -> bool:
    """Say whether people judged too few rows of some task of a suite, and enough of all tasks together."""
    fewest = fewest_of_a_task(predictions, gold)
    if fewest is None or fewest[1] >= LEAST_GOLD:
        return False
    return int(np.count_nonzero(~np.isnan(gold))) >= LEAST_GOLD


def fewest_of_a_task(predictions: Predictions, gold: Floats) -> tuple[str, int] | None:
    """Return the task of a suite with the fewest rows that people judged, and their number; None without tasks."""
    tasks = predictions.tasks
    if tasks is None or tasks.categories is None:
        return None
    counts = np.bincount(tasks.values[~np.isnan(gold)], minlength=len(tasks.categories))
    least = int(counts.argmin())
    return tasks.categories[least], int(counts[least])


def _filled(
    estimate: Value, units: Sampling, layout: Layout, judge: Floats, gold: Floats, *, pooled: bool
) -> Value:
    """Return an estimate or a difference with its value and influence from the judge's outcomes and people's.

    Of a suite it is the mean of the tasks' estimates, each with a weight λ of its own; ``pooled``: with one of all.
    """
    weights_of_rows, value, weights, derivative = task_weights(units, layout), 0.0, [], np.empty(units.n)
    drawn = sampling_by(units.n, units.cluster) if pooled else units
    share = np.bincount(drawn.stratum, weights=weights_of_rows)
    with np.errstate(over="ignore", invalid="ignore"):
        for number, part in enumerate(share):
            rows = drawn.stratum == number
            rectified: Rectified = (
                pooled_mean(judge, gold, weights_of_rows)
                if pooled
                else estimate.metric.computation.function(judge[rows], gold[rows])
            )
            value += float(part) * rectified.value
            derivative[rows] = part * rectified.derivative
            weights.append(rectified.weight)
        by_unit = drawn.influence(derivative)
    n = int(np.count_nonzero(~np.isnan(gold)))
    share_of_right = isinstance(estimate, Estimate) and estimate.range == (0.0, 1.0) and units.single
    value = min(max(value, estimate.range[0]), estimate.range[1])
    return replace(
        estimate,
        value=value if np.isfinite(by_unit).all() and np.isfinite(value) else np.nan,
        influence=Influence(by_unit, np.ones(len(by_unit))),
        sampling=replace(
            _judged(drawn, gold),
            made_up=with_made_up(judge, gold, weights[0])
            if share_of_right and np.isnan(gold).any()
            else None,
        ),
        evidence=PredictionPowered(n, len(gold) - n, weights[0] if drawn.task is None else np.nan),
    )


def _judged(units: Sampling, gold: Floats) -> JudgedAnswers:
    """Return the sampling of rows that a judge graded, with those that people judged."""
    return JudgedAnswers(
        units.n, units.cluster, task=units.task, examples=units.n_examples, people=~np.isnan(gold)
    )


def common_gold(first: ModelOutputs, second: ModelOutputs) -> Floats:
    """Return people's outcomes of one model less those of another, (n,), nan where not both were judged."""
    return np.asarray(required(first.gold) - required(second.gold))


def prediction_powered_difference(
    delta: Difference, predictions: Predictions, units: Sampling, layout: Layout
) -> Difference | Message:
    """Return the difference of two models on the same rows as one estimate of the rows' differences.

    It has a weight λ of its own (of a suite one a task), so that it is not the difference of the two values.

    Returns
    -------
    Difference or Message
        The reason where people judged too few of the same rows of both.
    """
    models = {model.name: model for model in predictions.models}
    first, second = (models[side.model] for side in (delta.a, delta.b))
    gold = common_gold(first, second)
    names = {"a": first.name, "b": second.name}
    few = _too_few(
        predictions, gold, lambda n: Message("undefined.few_common_gold", **names, n=n, least=LEAST_GOLD)
    )
    if few is not None:
        return few
    judge = required(first.outcome) - required(second.outcome)
    return _filled(delta, units, layout, judge, gold, pooled=is_pooled(predictions, gold))
