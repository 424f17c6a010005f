"""How far the replicates of very many rows are from those of the rows themselves, on cases that are hard for bins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.metrics.estimate import Estimate, difference
from evalreport.metrics.quantities import Quantity
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


def errors(case: str) -> Iterator[tuple[str, float]]:
    """Yield what was estimated and its largest error over replicates, in standard errors, on one case."""
    predictions = models(case)
    quantities = [Quantity(name) for name in METRICS]
    rough, exact = (_sample(predictions, quantities, exact=exact) for exact in (False, True))
    names = [model.name for model in predictions.models]
    for quantity in quantities:
        found = {n: (rough.estimates[n, quantity], exact.estimates[n, quantity]) for n in names}
        for name, pair in found.items():
            yield f"{quantity.spelled} of {name}", error(*pair)
        for a, b in combinations(names, 2):
            both = zip(found[a], found[b], strict=True)
            yield f"{quantity.spelled} of {a} - {b}", error(*(difference(*pair) for pair in both))


def _sample(predictions: Predictions, quantities: list[Quantity], *, exact: bool) -> Sample:
    units = Units(predictions.n)
    return estimate_all(predictions, quantities, units=units, n_resamples=REPLICATES, seed=5, exact=exact)


def error(rough: Estimate, exact: Estimate) -> float:
    """Return the largest difference of replicates in standard errors; rounding alone is no error."""
    assert rough.replicates is not None
    assert exact.replicates is not None
    apart = float(np.abs(rough.replicates - exact.replicates).max())
    return apart / (exact.standard_error or 1.0) if apart > 1e-12 else 0.0
