"""Twelve equally good models: how often any verdict calls one of two better, measured through the public API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Study, limits

MODELS, N = 12, 500
NAMES = [f"m{k:02d}" for k in range(MODELS)]
IDS = [f"{i:03d}" for i in range(N)]


@dataclass(frozen=True)
class Family(Cell):
    """Models with a recall and a specificity of 0.8 on 500 examples with even classes, some harder than others."""

    metric: str


CELLS = tuple(
    Family(f"twelve models, {name}", metric, data_sets=500)  # 66 pairs in each
    for name, metric in (("accuracy", "accuracy"), ("F1", "f1"))
)


def counted(cell: Family, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether any of the 66 verdicts is for one of the two models."""
    true = generator.random(N) < 0.5
    # Beta(3.2, 0.8): chances of a mean of 0.8 that all models have in common make their errors alike.
    right = generator.random((MODELS, N)) < generator.beta(3.2, 0.8, N)
    labels = true.astype(int).tolist()
    source = {
        name: {"id": IDS, "y_true": labels, "y_pred": (row == true).astype(int).tolist()}
        for name, row in zip(NAMES, right, strict=True)
    }
    results = er.evaluate(
        source, metrics=[cell.metric], intervals=["normal"], resamples=2, seed=number,
        tests=["sign"],
    )  # fmt: skip
    return {"any called better": any(row.verdict in ("better", "worse") for row in results.verdicts)}


STUDY = Study("Many models", CELLS, counted, limits({"any called better": ("at most", 0.05)}))
