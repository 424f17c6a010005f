"""Small test sets as the program takes them, and their counts at every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport
from evalreport.engine.ranks import descending_order
from evalreport.metrics.threshold_counts import ThresholdCounts, count_thresholds
from evalreport.schema.results import Results

Floats = npt.NDArray[np.float64]


def counts_along(scores: Any, positive: Any, weights: Floats | None = None) -> ThresholdCounts:
    """Count along a ranking."""
    order = descending_order(np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool))
    return count_thresholds(order, model="m", weights=weights)


def rows(truth: Any, **columns: Any) -> dict[str, Any]:
    """Return one model's rows; the true labels are 0 and 1."""
    given = {name: list(values) for name, values in columns.items()}
    return {"id": [f"{i:06d}" for i in range(len(truth))], "y_true": [str(int(y)) for y in truth], **given}


def evaluated(models: dict[str, dict[str, Any]], **options: Any) -> Results:
    """Evaluate models of a binary task with few replicates."""
    given: dict[str, Any] = {"task": "binary", "positive": "1", "resamples": 200, **options}
    return evalreport.evaluate(models, options=evalreport.Options(**given))


def two_normals(n: int, seed: int = 0, shift: float = 1.5) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return truth and scores: normal in both classes, the positives shifted."""
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.4
    truth[:2] = True, False
    return truth, random.normal(size=n) + shift * truth


def of_classes(n: int, seed: int = 0) -> dict[str, Any]:
    """Return one model's rows over three classes, with probabilities."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, n)
    p = random.dirichlet([1.0, 1.0, 1.0], n) + 0.8 * np.eye(3)[truth]
    p /= p.sum(axis=1, keepdims=True)
    return {
        "id": [f"{i:06d}" for i in range(n)],
        "y_true": [f"c{k}" for k in truth],
        **{f"p_c{k}": p[:, k].tolist() for k in range(3)},
    }


def two_models(n: int = 90, **options):
    """Evaluate a model with probabilities and one with bare scores."""
    truth, scores = two_normals(n)
    p = 1 / (1 + np.exp(1 - scores))
    return evaluated({"proba": rows(truth, p_1=p), "score": rows(truth, score=scores)}, **options)


HOSTILE = "<script>alert('$x^2$')</script>"


# --- drawn and said -------------------------------------------------------------------------------------------------


def named_hostile():
    """Return results in which a model bears a hostile name."""
    truth, scores = two_normals(60)
    models = {HOSTILE: rows(truth, p_1=1 / (1 + np.exp(-scores))), "b|*_": rows(truth, score=-scores)}
    return evaluated(models, cost_ratio=2.0, what_if_threshold=0.7)
