"""Columns of replicates, learning curves and nested searches, under hostile names, and the sections about them."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.report.sections import describe
from evalreport.report.view import view_of
from evalreport.schema.results import Results

HOSTILE = "<script>alert(1)</script>"


def table(rows: list[tuple[Any, ...]], names: str) -> dict[str, list[Any]]:
    """Turn rows into columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


def evaluated(source: dict[str, list[Any]], **options: Any) -> Results:
    """Evaluate columns with few replicates."""
    return evalreport.evaluate(source, options=evalreport.Options(resamples=20, **options))


def sections(results: Results) -> dict[str, Any]:
    """Return the described sections by name."""
    return {section.name: section.content for section in describe(view_of(results))}


def replicated() -> dict[str, list[Any]]:
    """Return bootstrap replicates of two regressions with in-bag counts, training rows and an input x."""
    generator = np.random.default_rng(0)
    rows: list[tuple[Any, ...]] = []
    truth = generator.normal(size=12)
    for k in range(31):
        inbag = generator.multinomial(12, np.full(12, 1 / 12))
        for model, spread in (("rigid", 0.1), (HOSTILE, 1.0)):
            for i in range(12):
                said = float(truth[i] + spread * generator.normal())
                rows.append(
                    (f"{HOSTILE}{i:02d}", model, k, int(inbag[i]), "test", float(truth[i]), said, i / 7)
                )
    for model in ("rigid", HOSTILE):
        rows += [
            (f"{HOSTILE}{i:02d}", model, None, None, "train", float(truth[i]), float(truth[i]) + 0.2, i / 7)
            for i in range(12)
        ]
    return table(rows, "id model replicate inbag part y_true y_pred x")
