"""Headings and first-screen sentences that speak of a difference: how often they do where there is none.

Each cell is a population without a difference; ``counted`` says whether the sentence would be printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evalreport.loading.load import load
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.questions.baselines.compute import baseline_records
from evalreport.questions.baselines.rule_pairs import rule_pairs
from research.studies.harness import Cell, Study, limits

LIMIT = 0.06
"""Most of the data sets without a difference in which a sentence speaks of one."""

Draw = Callable[[np.random.Generator], bool]


@dataclass(frozen=True)
class Heading(Cell):
    """A sentence, and a draw of one data set without a difference that says whether it is printed."""

    printed: Draw


def beats_the_rule(metric: str, n: int, models: int) -> Draw:
    """Say whether any of some models, all as good as the rule that needs none, is said to beat it."""
    options = Options(task="regression" if metric == "rmse" else "binary", metrics=(metric,), resamples=2)
    quantities, ids = (Quantity(metric),), [f"{i:06d}" for i in range(n)]

    def printed(generator: np.random.Generator) -> bool:
        source = {
            f"m{j}": {"id": ids, **columns}
            for j, columns in enumerate(as_good_as_the_rule(metric, n, models, generator))
        }
        samples = estimate_models(load(source, options=options), quantities, options)
        constant = [baseline_records(sample) for sample in samples]
        return any(r.verdict == "better" for r in rule_pairs(samples, constant, quantities, options))

    return printed


def as_good_as_the_rule(
    metric: str, n: int, models: int, generator: np.random.Generator
) -> list[dict[str, np.ndarray]]:
    """Draw models whose true value is the rule's: 20 % of class 1 and of errors; R2 = 0; scores that know nothing."""
    if metric == "rmse":
        # y = 0.3 x + e, predicted by 0.6 x: the error 0.3 x - 0.6 x + e varies as y does.
        x = generator.normal(size=n)
        truth = 0.3 * x + generator.normal(size=n)
        return [{"y_true": truth, "y_pred": 0.6 * x + 1e-6 * generator.normal(size=n)} for _ in range(models)]
    positive = generator.random(n) < 0.2
    truth = positive.astype(int)
    if metric == "roc_auc":
        return [{"y_true": truth, "score": generator.normal(size=n)} for _ in range(models)]
    return [
        {"y_true": truth, "y_pred": (positive ^ (generator.random(n) < 0.2)).astype(int)}
        for _ in range(models)
    ]


CELLS = (
    Heading("beats always the most frequent class, n = 200", beats_the_rule("accuracy", 200, 1)),
    Heading("one of five beats always the most frequent class, n = 200", beats_the_rule("accuracy", 200, 5)),
    Heading("beats always the mean, n = 200", beats_the_rule("rmse", 200, 1)),
    Heading("one of five ranks better than guessing, n = 200", beats_the_rule("roc_auc", 200, 5)),
)


def counted(cell: Heading, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the sentence is printed."""
    del number
    return {"printed": cell.printed(generator)}


STUDY = Study("Headings", CELLS, counted, limits({"printed": ("at most", LIMIT)}))
