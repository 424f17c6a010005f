"""How often the leading interval of a run holds the true value in situations that are hard, through the public API.

Where it does not, the run should warn: ``code`` is the warning that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er
from evalreport.metrics.registry import Quantity
from evalreport.predictions.table import Predictions
from research.studies.cells import Cell
from research.studies.designs import Design, Kind, several_designs
from research.studies.numeric_designs import probability_design

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Held(Cell):
    """A metric's value (of model a) or difference (a - b), and the warning where its interval is short."""

    design: str
    n: int
    kind: Kind
    metric: str
    code: str
    average: str | None = None

    @property
    def data_sets(self) -> int:
        """All of a thousand."""
        return 1000

    @property
    def quantity(self) -> Quantity:
        """The metric with its average."""
        return Quantity(self.metric, average=self.average)  # type: ignore[arg-type]


HEAVY, EVEN, RARE, SEVERAL = "errors t3", "scores, even", "scores, rare", "three classes, one rare"
CELLS = (
    *(Held(f"RMSE under t3 errors, n = {n}", HEAVY, n, "value", "rmse", "few_large_losses") for n in (200, 1000)),
    Held("difference of log loss, n = 100", EVEN, 100, "difference", "log_loss", "short_interval"),
    Held("macro-F1 with a rare class, n = 100", SEVERAL, 100, "value", "f1", "short_interval", "macro"),
    Held("balanced accuracy with a rare class, n = 100", SEVERAL, 100, "value", "balanced_accuracy", "short_interval"),
    Held("average precision, n = 1,000", RARE, 1000, "value", "average_precision", "short_interval"),
)  # fmt: skip


@cache
def population(name: str) -> Design:
    """Return the population of a cell; its true values cost an integral each."""
    if name == SEVERAL:
        return next(design for design in several_designs() if design.name == SEVERAL)
    return probability_design(0.5 if name == EVEN else 0.1, 0.85, (100, 1000))


def counted(cell: Held, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the leading interval holds the true value, and whether the run warns of it."""
    if cell.design == HEAVY:
        source, truth = heavy(generator, cell.n), float(np.sqrt(3.0))
    else:
        design = population(cell.design)
        source = written(design.draw(generator, cell.n)[0])
        if cell.kind == "value":
            source = {"a": source["a"]}
        truth = design.truths[cell.kind, "a", cell.quantity]
    results = er.evaluate(
        source, metrics=[cell.quantity.spelled], intervals=["normal"], tests=["bootstrap_difference"], seed=number,
        resamples=999,
    )  # fmt: skip
    if cell.kind == "difference":
        limits = results.verdicts[0]
        low, high = limits.low, limits.high
    else:
        value = next(row for row in results.metrics if row.model == "a" and row.label is None)
        low, high = value.intervals[0].low, value.intervals[0].high
    held = low is not None and high is not None and low <= truth <= high
    return {"held": held, "warned": any(warning.code == cell.code for warning in results.warnings)}


def heavy(generator: np.random.Generator, n: int) -> dict[str, dict[str, Any]]:
    """Draw one model with errors of Student's t with 3 degrees of freedom, whose variance is 3."""
    true = generator.normal(size=n)
    return {
        "a": {
            "id": [f"{i:04d}" for i in range(n)],
            "y_true": true.tolist(),
            "y_pred": (true - generator.standard_t(3, n)).tolist(),
        }
    }


def written(predictions: Predictions) -> dict[str, dict[str, Any]]:
    """Return a test set of a study as a user would write it."""
    assert predictions.y_true is not None
    source: dict[str, dict[str, Any]] = {}
    for model in predictions.models:
        source[model.name] = {"id": predictions.ids.tolist(), "y_true": predictions.y_true.tolist()}
        if model.y_pred is not None:
            source[model.name]["y_pred"] = model.y_pred.tolist()
        if model.proba is not None:
            source[model.name]["p_1"] = model.proba[:, 1].tolist()
    return source


# --- bias -----------------------------------------------------------------------------------------------------------

K, SPREAD = 30, 1.775
"""Replicates, and the standard deviation of their predictions: variance / K = 0.105 is added to the bias of 0.09."""
BIAS = 0.3


@dataclass(frozen=True)
class Biased(Cell):
    """A model that misses every true value by 0.3, a squared bias of 0.09, trained on data of their own K times."""

    n: int = 100

    @property
    def data_sets(self) -> int:
        """All of a thousand."""
        return 1000


def bias_counted(cell: Biased, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the interval of the unbiased squared bias holds it, and return both estimates."""
    true = np.sin(6 * generator.random(cell.n))
    centre = true + BIAS * generator.choice([-1.0, 1.0], cell.n)
    predicted = centre + SPREAD * generator.normal(size=(K, cell.n))
    place, replicate = np.tile(np.arange(cell.n), K), np.repeat(np.arange(K), cell.n)
    results = er.evaluate(
        {
            "a": {
                "id": [f"{i:03d}" for i in place],
                "replicate": replicate.tolist(),
                "inbag": [0] * len(place),
                "y_true": true[place].tolist(),
                "y_pred": predicted.ravel().tolist(),
            }
        },
        metrics=["mse"], intervals=["normal"], resamples=2, seed=number,
    )  # fmt: skip
    (found,) = (row for row in results.decomposition if row.loss == "squared")
    assert found.bias_unbiased is not None
    assert found.bias_unbiased_low is not None
    assert found.bias_unbiased_high is not None
    return {
        "held": found.bias_unbiased_low <= BIAS**2 <= found.bias_unbiased_high,
        "plain": found.bias,
        "unbiased": found.bias_unbiased,
        "unbiased squared": found.bias_unbiased**2,
        "identity": abs(found.expected_loss - found.bias - found.variance) < 1e-9 * found.expected_loss,
    }
