"""What the per-example functions of a metric are given: one model's outputs beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ModelView:
    """One model's rows: ``true`` (n,) codes or values, ``y_pred`` alike, ``proba`` (n, K), ``outcome`` (n,)."""

    true: npt.NDArray[Any] | None
    y_pred: npt.NDArray[Any] | None
    proba: Floats | None
    outcome: Floats | None
    positive_code: int | None

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
    return ModelView(predictions.y_true, outputs.y_pred, outputs.proba, outputs.outcome, code)
