"""Options of two compared runs."""

from __future__ import annotations

import json

METRICS = ("-m", "accuracy", "-m", "roc_auc", "--slice", "sex")

GATE = ("--gate", "forest.accuracy >= 0.7")


def judged(said: str) -> dict[str, dict]:
    """The changes of the primary metric over all examples, by model."""
    values = json.loads(said)["values"]
    return {v["model"]: v for v in values if v["primary"] and v["within"] is None}
