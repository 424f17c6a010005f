"""Learning curves of models that err on a share of the examples that falls with the training size."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.questions.algorithms.learning_curves import PointLosses
from evalreport.schema.results import Results


def curve(
    points: dict[str, dict[float, float]], axis: str = "train_size", *, n: int = 60, repeats: int = 1
) -> dict[str, list[Any]]:
    """Write rows in which each model errs on the given share of the examples at each point."""
    rows: dict[str, list[Any]] = {name: [] for name in ("id", "model", "repeat", axis, "y_true", "y_pred")}
    for model, shares in points.items():
        for x, share in shares.items():
            for r in range(repeats):
                wrong = round(share * n)
                for i in range(n):
                    truth = i % 2
                    values = (f"{i:03d}", model, str(r), x, truth, 1 - truth if i < wrong else truth)
                    for column, value in zip(rows.values(), values, strict=True):
                        column.append(value)
    return rows


def errors_on_test(results: Results, model: str) -> dict[float, float | None]:
    """Return a model's errors on test rows by place."""
    return {p.x: p.value for p in results.learning_curves if p.model == model and p.part == "test"}


# --- extrapolation ----------------------------------------------------------------------------------------------------

SIZES = (50, 100, 200, 400, 800, 1600)


def points(errors: list[float], *, seed: int = 0, n: int = 2000) -> list[PointLosses]:
    """Draw losses of 0 and 1 whose shares are the errors, on the same examples at every size."""
    threshold = np.random.default_rng(seed).random(n)
    none = np.zeros(n, dtype=np.int64)
    return [
        PointLosses(float(x), (threshold < e).astype(float), np.arange(n), none, 1)
        for x, e in zip(SIZES, errors, strict=False)
    ]
