"""What people would have said on average, from a judge's outcomes of all answers and people's of a few (PPI++)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.metrics.estimate import Estimate, Judged, undefined, value_range
from evalreport.metrics.registry import Quantity, definition, judged
from evalreport.metrics.row_estimates import TOO_LARGE
from evalreport.metrics.units import Units
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]
Key = tuple[str, Quantity]

LEAST_GOLD = 10
"""With fewer rows that a person judged there is no estimate."""


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


@judged(
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
    >>> found = mean_gold(judge, gold)
    >>> found.value, round(found.weight, 4)
    (0.5, 0.4875)
    """
    given = ~np.isnan(gold)
    told, said, rest = gold[given], judge[given], judge[~given]
    n, others = len(told), len(rest)
    spread = float(judge.var(ddof=1)) if others else 0.0
    shared = float(((told - told.mean()) * (said - said.mean())).mean())
    weight = min(max(shared / ((1 + n / others) * spread), 0.0), 1.0) if spread > 0 else 0.0
    residual = told - weight * said
    derivative = np.empty(len(judge))
    derivative[given] = (residual - residual.mean()) / n
    of_rest = float(rest.mean()) if others else 0.0
    derivative[~given] = weight * (rest - of_rest) / max(others, 1)
    return Rectified(weight * of_rest + float(residual.mean()), weight, derivative)


def judged_estimates(
    predictions: Predictions, units: Units, quantities: Sequence[Quantity]
) -> dict[Key, Estimate]:
    """Estimate the quantities of the family ``judged`` of every model that people judged answers of."""
    found = {}
    for quantity in quantities:
        for model in predictions.models:
            if definition(quantity).family == "judged" and model.gold is not None:
                found[model.name, quantity] = _estimate(predictions, units, (model.name, quantity), model)
    return found


def _estimate(predictions: Predictions, units: Units, key: Key, model: ModelOutputs) -> Estimate:
    assert model.gold is not None
    assert model.outcome is not None
    n = int(np.count_nonzero(~np.isnan(model.gold)))
    if predictions.design == "datasets":
        return undefined(predictions, key, Message("undefined.gold_of_datasets"))
    if n < LEAST_GOLD:
        return undefined(predictions, key, Message("undefined.few_gold", n=n, least=LEAST_GOLD))
    plain = Estimate(
        model=key[0],
        quantity=key[1],
        value=np.nan,
        n=predictions.n_examples,
        range=value_range(definition(key[1]), predictions),
        sizes=units.sizes,
    )
    found = _filled(plain, units, model.outcome, model.gold)
    return found if found.defined else undefined(predictions, key, TOO_LARGE)


def _filled(estimate: Estimate, units: Units, judge: Floats, gold: Floats) -> Estimate:
    """Return an estimate with value, derivative and sizes from the judge's outcomes and people's."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: Rectified = estimate.metric.function(judge, gold)
        by_unit = units.influence(found.derivative)
    n = int(np.count_nonzero(~np.isnan(gold)))
    return replace(
        estimate,
        value=found.value if np.isfinite(by_unit).all() and np.isfinite(found.value) else np.nan,
        derivative=by_unit,
        counts=np.ones(len(by_unit)),
        judged=Judged(n, len(gold) - n, found.weight),
    )


def common_gold(first: ModelOutputs, second: ModelOutputs) -> Floats:
    """Return people's outcomes of one model less those of another, (n,), nan where not both were judged."""
    assert first.gold is not None
    assert second.gold is not None
    return np.asarray(first.gold - second.gold)


def judged_difference(delta: Estimate, predictions: Predictions, units: Units) -> Estimate | Message:
    """Return the difference of two models on the same rows as one estimate of the rows' differences.

    It has a weight λ of its own, so that it is not the difference of the two values.

    Returns
    -------
    Estimate or Message
        The reason where people judged too few of the same rows of both.
    """
    assert delta.sides is not None
    models = {model.name: model for model in predictions.models}
    first, second = (models[side.model] for side in delta.sides)
    assert first.outcome is not None
    assert second.outcome is not None
    gold = common_gold(first, second)
    n = int(np.count_nonzero(~np.isnan(gold)))
    if n < LEAST_GOLD:
        return Message("undefined.few_common_gold", a=first.name, b=second.name, n=n, least=LEAST_GOLD)
    return _filled(delta, units, first.outcome - second.outcome, gold)
