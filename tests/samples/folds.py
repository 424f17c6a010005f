"""Four folds of a label model with known errors."""

from __future__ import annotations

from typing import Any

N = 40

TRUTH = [i % 2 for i in range(N)]

SAID = [int((i * 7) % 5 < 2) if i % 4 else TRUTH[i] for i in range(N)]


def folds(fold_of: list[Any], **columns: list[Any]) -> dict[str, list[Any]]:
    """Write one row an example with its fold."""
    rows = {"id": [f"{i:02d}" for i in range(N)], "model": ["m"] * N, "fold": fold_of}
    return {**rows, "y_true": list(TRUTH), "y_pred": list(SAID), **columns}
