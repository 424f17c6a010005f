"""What the per-example functions of a metric are given: one model's outputs beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.registry import Metric
from evalreport.texts import Text

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ModelView:
    """One model's rows: ``true`` (n,) codes or values, ``y_pred`` alike, ``proba`` (n, K), ``outcome`` (n,)."""

    true: npt.NDArray[Any] | None
    y_pred: npt.NDArray[Any] | None
    proba: Floats | None
    outcome: Floats | None
    positive_code: int | None
    score: Floats | None = None

    def of(self, rows: npt.NDArray[np.int64]) -> ModelView:
        """Return the view of some rows."""
        given = (self.true, self.y_pred, self.proba, self.outcome, self.score)
        true, y_pred, proba, outcome, score = (None if v is None else v[rows] for v in given)
        return ModelView(true, y_pred, proba, outcome, self.positive_code, score)

    @property
    def p_true(self) -> Floats:
        """Probability given to the true class, (n,)."""
        assert self.proba is not None
        assert self.true is not None
        return np.asarray(np.take_along_axis(self.proba, self.true[:, None].astype(np.intp), axis=1)[:, 0])

    @property
    def errors(self) -> Floats:
        """Prediction minus truth, (n,), in the target's units."""
        assert self.y_pred is not None
        assert self.true is not None
        return np.asarray(self.y_pred - self.true, dtype=np.float64)


def view(predictions: Predictions, outputs: ModelOutputs) -> ModelView:
    """Put one model's outputs beside the truth."""
    code = (
        predictions.positive_code
        if predictions.task == "binary" and predictions.positive is not None
        else None
    )
    return ModelView(predictions.y_true, outputs.y_pred, outputs.proba, outputs.outcome, code, outputs.score)


def value_range(metric: Metric, predictions: Predictions) -> tuple[float, float]:
    """Return the range of a metric on these data."""
    if metric.share_of_right and metric.needs == "outcomes":
        outcomes = [m.outcome for m in predictions.models if m.outcome is not None]
        return (0.0, 1.0) if all(np.isin(o, (0, 1)).all() for o in outcomes) else metric.range
    return metric.binary_range if metric.binary_range and predictions.task == "binary" else metric.range


def undefined(predictions: Predictions, key: tuple[str, Quantity], reason: Text) -> Estimate:
    """Return the estimate of a quantity that a model does not have, with the reason."""
    value_limits = value_range(definition(key[1]), predictions)
    return Estimate(key[0], key[1], np.nan, reason, predictions.n_examples, value_limits)
