"""Small data sets that are warned of, and the warnings of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord

Columns = dict[str, list[Any]]


def evaluate(models: dict[str, Columns], **options: Any) -> Results:
    """Evaluate with few replicates: no caution here looks at them."""
    return evalreport.evaluate(models, options=evalreport.Options(**{"resamples": 1000, **options}))


def given(results: Results, code: str) -> list[WarningRecord]:
    """Return the warnings of one code."""
    return [w for w in results.warnings if w.code == code]


def answers(n: int, *, classes: int = 2, right: float = 0.8, **columns: list[Any]) -> dict[str, Columns]:
    """Return models a and b over n rows whose ids repeat as ``id`` in ``columns`` says."""
    ids = columns.pop("id", [f"{i:05d}" for i in range(n)])
    truth_of = {i: str(k % classes) for k, i in enumerate(dict.fromkeys(ids))}
    truth = [truth_of[i] for i in ids]
    random, found = np.random.default_rng(20), {}
    for name in ("a", "b"):
        said = [t if random.random() < right else str(random.integers(classes)) for t in truth]
        found[name] = {"id": ids, "y_true": truth, "y_pred": said, **columns}
    return found


def folded(n: int, folds: int, repeats: int = 1, **columns: list[Any]) -> dict[str, Columns]:
    """Return r x k cross-validation with the folds dealt out in turn."""
    ids = [f"{i:05d}" for _ in range(repeats) for i in range(n)]
    fold = [str(i % folds) for _ in range(repeats) for i in range(n)]
    repeat = [str(r) for r in range(repeats) for _ in range(n)]
    return answers(n * repeats, id=ids, fold=fold, repeat=repeat, **columns)


def probabilities(values: np.ndarray, truth: np.ndarray, **columns: list[Any]) -> Columns:
    """Return one binary model with probabilities."""
    ids = [f"{i:04d}" for i in range(len(truth))]
    return {"id": ids, "y_true": truth.astype(str).tolist(), "p_1": values.tolist(), **columns}
