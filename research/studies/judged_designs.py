"""Answers of two models that a judge graded, people a few of them: what people say on average is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import norm

from evalreport.metrics.registry import JUDGED, Quantity
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Sampling, sampling_by
from research.studies.designs import Design, Floats, Truth, predictions_on

SIZES = (10, 20, 30, 50, 100, 200, 500)
"""Answers of each model that people judged, at the same questions."""
LEAST_ANSWERS, BY_PEOPLE = 2000, 0.25
"""Answers of each model; of many judged ones so many that people judged this share."""
RIGHT = {"a": 0.8, "b": 0.7}
FAVOUR = 0.1
"""How much more often the judge accepts wrong answers of b."""
JUDGES = ((0.7, 0.7), (0.8, 0.8), (0.9, 0.85), (0.95, 0.9))
"""Sensitivity and specificity (for a)."""


def judge_designs() -> list[Design]:
    """Return judges from nearly useless to nearly right."""
    return [_design(sensitivity, specificity) for sensitivity, specificity in JUDGES]


def outcomes_of(
    generator: np.random.Generator, gold: int, judge: tuple[float, float], right: Mapping[str, float] = RIGHT
) -> dict[str, tuple[Floats, Floats]]:
    """Draw by model what the judge says of each answer, and people of the first ``gold`` (else nan).

    ``judge``: sensitivity and specificity; it accepts wrong answers of b more often.
    """
    n = max(LEAST_ANSWERS, round(gold / BY_PEOPLE))
    hard = generator.normal(size=n)
    found = {}
    for name, share in right.items():
        # The sum of two standard normals: right answers of both models go together.
        truly = hard + generator.normal(size=n) < np.sqrt(2) * norm.ppf(share)
        passes = 1 - judge[1] + (FAVOUR if name == "b" else 0.0)
        said = generator.random(n) < np.where(truly, judge[0], passes)
        found[name] = said.astype(np.float64), np.where(np.arange(n) < gold, truly, np.nan)
    return found


def _design(sensitivity: float, specificity: float) -> Design:
    def draw(generator: np.random.Generator, gold: int) -> tuple[Predictions, Sampling]:
        drawn = outcomes_of(generator, gold, (sensitivity, specificity))
        models = (ModelOutputs(name, outcome=said, gold=known) for name, (said, known) in drawn.items())
        return predictions_on("outcome", None, tuple(models)), sampling_by(len(drawn["a"][0]))

    quantity = Quantity(JUDGED)
    truths: dict[Truth, float] = {
        ("value", "a", quantity): RIGHT["a"],
        ("difference", "a", quantity): RIGHT["a"] - RIGHT["b"],
    }
    text = (
        f"n of {LEAST_ANSWERS:,} answers (of 4 n, if more) judged by people too;"
        f" right a {RIGHT['a']:g}, b {RIGHT['b']:g};"
        f" judge with sensitivity {sensitivity:g}, specificity {specificity:g} (for b {specificity - FAVOUR:g})"
    )
    return Design(f"judge, sensitivity {sensitivity:g}", text, SIZES, draw, truths)
