"""Two models of one value of a metric at unlike operating points.

Given the class, the two models answer independently. The swap test stands beside the test that leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.studies.designs import predictions_on
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import Line, at_least, at_most
from research.studies.pair_decision import decide_pair

ALPHA = 0.05
Rates = tuple[float, float]
"""Recall and false positive rate."""


@dataclass(frozen=True)
class Point(Cell):
    """Two models' operating points.

    Attributes
    ----------
    kind
        ``unlike``, ``alike`` (exchangeable models), ``scores`` or ``power`` (one model is better).
    a, b
        Recall and false positive rate; of ``scores`` the standard deviations of positives and negatives.
    limit
        How often the models may be told apart; under ``power`` how often they should.
    """

    kind: str
    metric: str
    n: int
    prevalence: float
    a: Rates
    b: Rates
    limit: float
    data_sets: int = field(default=500, kw_only=True)


LIMIT = 0.07
"""Of tests at a level of 0.05."""


def of_precision(n: int, flagged: Rates, precision: float) -> Point:
    """Return models that flag these shares of the examples at one precision; the classes are even."""
    a, b = ((2 * share * precision, 2 * share * (1 - precision)) for share in flagged)
    name = f"precision {precision:g}, n = {n}, flagging {flagged[0]:g} and {flagged[1]:g}"
    return Point(name, "unlike", "precision", n, 0.5, a, b, LIMIT)


def of_f1(n: int, limit: float) -> Point:
    """Return models of F1 = 0.3 where a tenth is positive: one finds nearly all of it, the other a fifth."""
    share, value = 0.1, 0.3
    # F1 = 2 r s / (r s + f (1 - s) + s), solved for the false positive rate f.
    a, b = ((r, (2 * r * share / value - r * share - share) / (1 - share)) for r in (0.95, 0.197))
    return Point(f"f1 {value:g}, n = {n}", "unlike", "f1", n, share, a, b, limit)


def of_balance(
    name: str, a: Rates, b: Rates, limit: float, metric: str = "balanced_accuracy", kind: str = "unlike"
) -> Point:
    """Return models of 200 examples with even classes; MCC and kappa too are equal where b mirrors a."""
    return Point(f"{metric.replace('_', ' ')}, {name}", kind, metric, 200, 0.5, a, b, limit)


RARE: tuple[Rates, Rates] = ((0.98, 0.02), (0.96, 0.0))
CELLS = (
    of_precision(200, (0.58, 0.05), 0.6),
    of_precision(1000, (0.58, 0.05), 0.6),
    of_precision(1000, (0.58, 0.05), 0.8),
    of_precision(200, (0.58, 0.05), 0.8),
    of_precision(1000, (0.5, 0.05), 0.96),
    of_f1(200, LIMIT),
    of_f1(1000, 0.065),
    of_balance("sensitivity .95 and .44", (0.95, 0.56), (0.44, 0.05), 0.065),
    of_balance("sensitivity .92 and .50", (0.92, 0.50), (0.50, 0.08), 0.065),
    Point("balanced accuracy, 35 of 350 positive", "unlike", "balanced_accuracy", 350, 0.1, *RARE, 0.065),
    *(
        of_balance("sensitivity .95 and .44", (0.95, 0.56), (0.44, 0.05), LIMIT, metric)
        for metric in ("mcc", "cohen_kappa")
    ),
    *(
        Point(f"area .85, n = {n}, sd 1 and 2", "scores", "roc_auc", n, 0.3, (1.0, 1.0), (2.0, 1.0), 0.075)
        for n in (60, 200)
    ),
    of_balance("one better by .09", (0.92, 0.59), (0.59, 0.08), 0.58, kind="power"),
    *(
        Point(f"exchangeable, {metric}", "alike", metric, 200, 0.3, (0.8, 0.1), (0.8, 0.1), 0.06)
        for metric in ("precision", "f1", "balanced_accuracy")
    ),
)


def draw(generator: np.random.Generator, cell: Point) -> Predictions:
    """Draw a test set of both models."""
    true = generator.random(cell.n) < cell.prevalence
    models = []
    for name, (first, second) in (("a", cell.a), ("b", cell.b)):
        if cell.kind == "scores":
            # Of normal scores the area is Phi(shift / sqrt(s1^2 + s2^2)).
            shift = np.hypot(first, second) * stats.norm.ppf(0.85)
            noise = generator.normal(size=cell.n)
            models.append(ModelOutputs(name, score=np.where(true, shift + first * noise, second * noise)))
        else:
            flagged = generator.random(cell.n) < np.where(true, first, second)
            models.append(ModelOutputs(name, y_pred=flagged.astype(np.int32)))
    return predictions_on("binary", true.astype(np.int32), tuple(models), 2)


def counted(
    cell: Point, generator: np.random.Generator, number: int, *, beside: str = "permutation"
) -> Mapping[str, float]:
    """Say whether the tests reject at 0.05."""
    quantity = Quantity(cell.metric)
    sample = estimate_all(
        draw(generator, cell), [quantity], units=sampling_by(cell.n), n_resamples=2, seed=number
    )
    _, p_values = decide_pair(sample, quantity, Options(resamples=2, seed=number), beside=beside)
    return {test: p is not None and p <= ALPHA for test, p in p_values.items()}


def leading_alone(cell: Point, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the test that leads rejects at 0.05."""
    return counted(cell, generator, number, beside="")


def promised(result: Result) -> Iterator[Line]:
    """Promise that equal metrics at unlike operating points are told apart rarely, and that better ones are found."""
    cell, n, rate = result.cell, result.data_sets, result["leading"]
    if cell.kind == "power":
        yield at_least(f"power, {cell.name}", rate, cell.limit, n)
        return
    yield at_most(f"equal {cell.name}: decided", rate, cell.limit, n)
    if cell.metric == "balanced_accuracy" and cell.kind == "unlike" and cell.n == 200:
        yield at_least(f"equal {cell.name}: decided", rate, 0.04, n)


STUDY = Study("Tests of equal metrics", CELLS, leading_alone, promised)
