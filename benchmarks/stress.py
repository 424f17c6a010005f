"""How far the replicates of very many rows are from those of the rows themselves, on cases that are hard for bins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from benchmarks.timing import Accuracy
from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.engine.binned import FIRST_ORDER_SHARE
from evalreport.metrics.estimate import Estimate, difference
from evalreport.metrics.registry import Quantity
from evalreport.metrics.row_estimates import shares_of_ranks
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.metrics.units import Units

Floats = npt.NDArray[np.float64]

N, REPLICATES = 210_000, 8
CASES = (
    "ordinary",
    "prevalence 0.1 %",
    "100 positives",
    "near-perfect",
    "rare and near-perfect",
    "worse than chance",
    "all tied",
    "few distinct scores",
    "heavy tails",
)
METRICS = ("roc_auc", "average_precision", "partial_auc", "pr_auc", "log_loss", "brier")


def scores(case: str, generator: np.random.Generator) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Make one of the cases: which of the examples are positive, and their scores."""
    shares = {"prevalence 0.1 %": 0.001, "rare and near-perfect": 0.002}
    positive = generator.random(N) < shares.get(case, 0.3)
    if case == "100 positives":
        positive = np.zeros(N, dtype=bool)
        positive[generator.choice(N, 100, replace=False)] = True
    noise = generator.standard_cauchy(N) if case == "heavy tails" else generator.normal(size=N)
    distance = {"near-perfect": 6.0, "rare and near-perfect": 6.0, "worse than chance": -3.0}.get(case, 1.0)
    score = noise + distance * positive
    if case == "all tied":
        score = np.zeros(N)
    if case == "few distinct scores":
        score = np.round(score)
    return positive, score


def models(case: str) -> Predictions:
    """Return a model, one that differs somewhat, and one that differs hardly: less than the bins are wide."""
    generator = np.random.default_rng(6)
    positive, score = scores(case, generator)
    spread = 0.0 if case == "all tied" else 0.3
    every = (
        score,
        score + spread * generator.normal(size=N),
        score + spread / 1000 * generator.normal(size=N),
    )
    outputs = []
    for name, one in zip(("model", "other", "twin"), every, strict=True):
        p = 1 / (1 + np.exp(-np.clip(one - 1, -30, 30)))
        outputs.append(ModelOutputs(name, score=one, proba=np.column_stack([1 - p, p])))
    return Predictions(
        task="binary",
        design="test-set",
        ids=np.arange(N),
        example=np.arange(N),
        y_true=positive.astype(np.int32),
        models=tuple(outputs),
        classes=("0", "1"),
        positive="1",
    )


@dataclass(frozen=True, slots=True)
class Found:
    """The largest error over replicates of one estimate, in standard errors.

    ``named``: the report says of this difference of two models that it holds to first order only.
    """

    metric: str
    models: str
    error: float
    named: bool = False


def errors(case: str) -> Iterator[Found]:
    """Yield what was estimated on one case, and how far its replicates are from those of the rows themselves."""
    predictions = models(case)
    quantities = [Quantity(name) for name in METRICS]
    rough, exact = (_sample(predictions, quantities, exact=exact) for exact in (False, True))
    inside = shares_of_ranks(rough.rows.bins, rough.estimates)
    names = [model.name for model in predictions.models]
    for quantity in quantities:
        found = {n: (rough.estimates[n, quantity], exact.estimates[n, quantity]) for n in names}
        for name, pair in found.items():
            yield Found(quantity.metric, name, error(*pair))
        for a, b in combinations(names, 2):
            both = zip(found[a], found[b], strict=True)
            named = inside.get((quantity, a, b), 0.0) > FIRST_ORDER_SHARE
            yield Found(quantity.metric, f"{a} - {b}", error(*(difference(*pair) for pair in both)), named)


def stress(*, quick: bool) -> Iterator[Accuracy]:
    """The worst error over all cases, but for differences of which the report says that they are not so good."""
    cases = CASES[:1] if quick else CASES
    found = [one for case in cases for one in errors(case)]
    worst = max(one.error for one in found if not one.named)
    yield Accuracy(
        f"replicates of very many rows: {len(cases)} hard cases, n = {N:,}, rank metrics and losses of three models"
        f" and all differences, {len(found):,} in all; largest error",
        "the same draws of the rows themselves",
        worst,
        most=0.02,
        remark=f"without {sum(one.named for one in found)} differences that the report names: twins, which hardly"
        " differ in rank",
    )


def _sample(predictions: Predictions, quantities: list[Quantity], *, exact: bool) -> Sample:
    units = Units(predictions.n)
    return estimate_all(predictions, quantities, units=units, n_resamples=REPLICATES, seed=5, exact=exact)


def error(rough: Estimate, exact: Estimate) -> float:
    """Return the largest difference of replicates in standard errors; rounding alone is no error."""
    assert rough.replicates is not None
    assert exact.replicates is not None
    apart = float(np.abs(rough.replicates - exact.replicates).max())
    return apart / (exact.standard_error or 1.0) if apart > 1e-12 else 0.0
