"""How far the replicates of very many rows are from those of the rows themselves, on cases that are hard for bins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.engine.histograms import FIRST_ORDER_SHARE
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.histogram_records import shares_of_ranks
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.benchmarks.timing import Accuracy

Floats = npt.NDArray[np.float64]

N, FEW, REPLICATES = 210_000, (2_500, 20_000, 50_000), 8
"""Rows beyond which twins are named; rows at which bins begin, at which draws are made otherwise, and more."""

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
AT_CUTS = ("eer", "precision_at_10", "recall_at_10", "f1_at_10", "r_precision")


def scores(case: str, generator: np.random.Generator, n: int = N) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Make one of the cases: which of the examples are positive, and their scores."""
    shares = {"prevalence 0.1 %": 0.001, "rare and near-perfect": 0.002}
    positive = generator.random(n) < shares.get(case, 0.3)
    if case == "100 positives":
        positive = np.zeros(n, dtype=bool)
        positive[generator.choice(n, 100, replace=False)] = True
    noise = generator.standard_cauchy(n) if case == "heavy tails" else generator.normal(size=n)
    distance = {"near-perfect": 6.0, "rare and near-perfect": 6.0, "worse than chance": -3.0}.get(case, 1.0)
    score = noise + distance * positive
    if case == "all tied":
        score = np.zeros(n)
    if case == "few distinct scores":
        score = np.round(score)
    return positive, score


def models(case: str, n: int = N) -> Predictions:
    """Return a model, one that differs somewhat, and one that differs hardly: less than the bins are wide."""
    generator = np.random.default_rng(6)
    positive, score = scores(case, generator, n)
    spread = 0.0 if case == "all tied" else 0.3
    every = (
        score,
        score + spread * generator.normal(size=n),
        score + spread / 1000 * generator.normal(size=n),
    )
    outputs = []
    for name, one in zip(("model", "other", "twin"), every, strict=True):
        p = 1 / (1 + np.exp(-np.clip(one - 1, -30, 30)))
        outputs.append(ModelOutputs(name, score=one, proba=np.column_stack([1 - p, p])))
    return Predictions(
        task="binary",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=positive.astype(np.int32),
        models=tuple(outputs),
        labels=Labels(classes=("0", "1"), positive="1"),
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


def errors(
    case: str, n: int = N, metrics: Sequence[str] = METRICS, *, differences: bool = True
) -> Iterator[Found]:
    """Yield what was estimated on one case, and how far its replicates are from those of the rows themselves.

    Without ``differences`` values alone are estimated, from fewer bins.
    """
    predictions = models(case, n)
    quantities = [Quantity(name) for name in metrics]
    rough, exact = (
        _sample(predictions, quantities, exact=exact, differences=differences) for exact in (False, True)
    )
    inside = (
        shares_of_ranks(rough.rows.bins, rough.estimates) if rough.rows.source == "histograms alone" else {}
    )
    quantities = [q for q in quantities if exact.estimates["model", q].defined]
    names = [model.name for model in predictions.models]
    for quantity in quantities:
        found = {n: (rough.estimates[n, quantity], exact.estimates[n, quantity]) for n in names}
        for name, pair in found.items():
            yield Found(quantity.metric, name, error(*pair))
        for a, b in combinations(names, 2) if differences else ():
            both = zip(found[a], found[b], strict=True)
            named = inside.get((quantity, a, b), 0.0) > FIRST_ORDER_SHARE
            yield Found(
                quantity.metric, f"{a} - {b}", error(*(paired_difference(*pair) for pair in both)), named
            )


def stress(*, quick: bool) -> Iterator[Accuracy]:
    """The worst error over all cases, but for differences of which the report says that they are not so good."""
    cases = CASES[:1] if quick else CASES
    few = [one for case in cases for n in FEW for one in errors(case, n, METRICS + AT_CUTS)]
    yield Accuracy(
        f"replicates from bins where they begin: {len(cases)} hard cases, n = {' and '.join(map(str, FEW))},"
        " rank metrics and losses of three models and all differences, twins included,"
        f" {len(few):,} in all; largest error",
        "the same draws of the rows themselves",
        max(one.error for one in few),
        most=0.02,
    )
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


def _sample(
    predictions: Predictions, quantities: list[Quantity], *, exact: bool, differences: bool
) -> Sample:
    units = sampling_by(predictions.n)
    return estimate_all(
        predictions, quantities, units=units, n_resamples=REPLICATES, seed=5, exact=exact,
        differences=differences,
    )  # fmt: skip


def error(rough: Estimate | Difference, exact: Estimate | Difference) -> float:
    """Return the largest difference of replicates in standard errors; rounding alone is no error."""
    assert rough.replicates is not None
    assert exact.replicates is not None
    np.testing.assert_array_equal(np.isnan(rough.replicates), np.isnan(exact.replicates))
    apart = np.nan_to_num(np.abs(rough.replicates - exact.replicates)).max()
    return float(apart / (exact.standard_error or np.nanstd(exact.replicates))) if apart > 1e-12 else 0.0
