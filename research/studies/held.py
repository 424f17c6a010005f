"""How often the one interval that a reader sees holds the true value.

Of a value it is the leading one; of a pair that of the verdict, cut or stretched at 0 where interval and test disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from evalreport.intervals import leading
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from evalreport.schema.metrics import Interval
from research.studies.designs import Design, Kind, binary_designs, predictions_on, several_designs
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Line, at_least
from research.studies.numeric_designs import probability_design, regression_designs
from research.studies.pair_decision import decide_pair
from research.studies.simulation import LEVEL


@dataclass(frozen=True)
class Held(Cell):
    """A metric's value (of model a) or the difference (a - b) of one pair; ``resamples`` where its test draws them."""

    design: str
    n: int
    kind: Kind
    metric: str
    average: str | None = None
    resamples: int = 2

    @property
    def quantity(self) -> Quantity:
        """The metric with its average."""
        return Quantity(self.metric, average=self.average)  # type: ignore[arg-type]


HEAVY, EVEN, RARE, SEVERAL = "errors t3", "scores, even", "scores, rare", "three classes, one rare"
LABELS, REAL = "prevalence 0.1, TPR 0.7, FPR 0.05", "normal errors"
CELLS = (
    *(Held(f"RMSE under t3 errors, n = {n}", HEAVY, n, "value", "rmse") for n in (200, 1000)),
    Held("macro-F1 with a rare class, n = 100", SEVERAL, 100, "value", "f1", "macro"),
    Held("balanced accuracy with a rare class, n = 100", SEVERAL, 100, "value", "balanced_accuracy"),
    Held("average precision, n = 1,000", RARE, 1000, "value", "average_precision"),
    *(
        Held(f"difference of {metric.replace('_', ' ')}, a tenth positive, n = {n}", LABELS, n, "difference", metric)
        for metric in ("f1", "balanced_accuracy", "mcc")
        for n in (30, 100)
    ),
    Held("difference of macro-F1 with a rare class, n = 100", SEVERAL, 100, "difference", "f1", "macro"),
    *(
        Held(f"difference of {metric.replace('_', ' ')}, n = 100", design, 100, "difference", metric)
        for metric, design in (
            ("roc_auc", RARE), ("brier", EVEN), ("log_loss", EVEN), ("rmse", REAL), ("mse", REAL), ("r2", REAL),
        )
    ),
    Held("difference of average precision, n = 100", RARE, 100, "difference", "average_precision", resamples=399),
)  # fmt: skip


@cache
def population(name: str) -> Design:
    """Return the population of a cell; its true values cost an integral each."""
    if name in (EVEN, RARE):
        return probability_design(0.5 if name == EVEN else 0.1, 0.85, (100, 1000))
    return next(
        design
        for design in (*binary_designs(), *several_designs(), *regression_designs())
        if design.name == name
    )


def counted(cell: Held, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the interval holds the true value."""
    if cell.design == HEAVY:
        predictions, units, truth = heavy(generator, cell.n), sampling_by(cell.n), float(np.sqrt(3.0))
    else:
        design = population(cell.design)
        predictions, units = design.draw(generator, cell.n)
        truth = design.truths[cell.kind, "a", cell.quantity]
    quantity, options = cell.quantity, Options(resamples=cell.resamples, seed=number)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=options.resamples, seed=number)
    found: Interval | None
    if cell.kind == "difference":
        found = decide_pair(sample, quantity, options)[0].limits
    else:
        found = leading(sample.estimates["a", quantity], LEVEL)
    low, high = (None, None) if found is None else (found.low, found.high)
    return {"held": low is not None and high is not None and low <= truth <= high}


def heavy(generator: np.random.Generator, n: int) -> Predictions:
    """Draw one model with errors of Student's t with 3 degrees of freedom, whose variance is 3."""
    true = generator.normal(size=n)
    return predictions_on("regression", true, (ModelOutputs("a", y_pred=true - generator.standard_t(3, n)),))


def promised(result: Result) -> Iterator[Line]:
    """Promise the interval that a reader sees, of a value or of a verdict."""
    whose = "the leading interval" if result.cell.kind == "value" else "the verdict's interval"
    yield at_least(f"{result.cell.name}: {whose}", result["held"], LEAST, result.data_sets)


STUDY = Study("Intervals that a reader sees", CELLS, counted, promised)
