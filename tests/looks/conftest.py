"""Predictions of two or three models that grow from look to look."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Table = dict[str, dict[str, list[object]]]


def models(n: int, *, accuracies: dict[str, float], seed: int = 1, most: int = 3000) -> Table:
    """Return the first n examples of models with these accuracies; more examples keep the old ones."""
    rng = np.random.default_rng(seed)
    truth = rng.random(most) < 0.4
    found: Table = {}
    for name, accuracy in accuracies.items():
        right = rng.random(most) < accuracy
        answers = np.where(right, truth, ~truth).astype(int)
        found[name] = {
            "id": [f"q{i:05}" for i in range(n)],
            "y_true": truth[:n].astype(int).tolist(),
            "y_pred": answers[:n].tolist(),
        }
    return found


@pytest.fixture(scope="session")
def grown() -> Callable[[int], Table]:
    """Two models, one of them clearly better, with so many examples."""
    return lambda n: models(n, accuracies={"good": 0.9, "poor": 0.7})


@pytest.fixture(scope="session")
def alike() -> Callable[[int], Table]:
    """Two models of the same accuracy, with so many examples."""
    return lambda n: models(n, accuracies={"one": 0.8, "two": 0.8})
