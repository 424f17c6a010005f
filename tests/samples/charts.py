"""Results of every kind that charts are drawn of, from small simulated predictions, under hostile names."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import evalreport
from evalreport.schema.results import Results

HOSTILE = "<script>alert('$x_1^2$')</script> " + "long" * 20
NAMES = (HOSTILE, "_hidden", "模型", "نموذج\u202e", "tree\n\x07", "plain")


def ids(n: int) -> list[str]:
    """Name n examples."""
    return [f"{i:05d}" for i in range(n)]


def evaluated(rows: dict[str, Any], **options: Any) -> Results:
    """Evaluate with few replicates."""
    return evalreport.evaluate(rows, resamples=60, **options)


@cache
def binary(models: int = 3, n: int = 160) -> Results:
    """Evaluate models with probabilities; the last of three gives bare scores."""
    random = np.random.default_rng(models)
    truth = (random.random(n) < 0.4).astype(int)
    rows: dict[str, Any] = {}
    for i in range(models):
        logit = truth * (2.5 - 0.15 * i) - 1 + random.normal(size=n)
        name = NAMES[i] if models <= len(NAMES) else f"model {i:02d}"
        rows[name] = {
            "id": ids(n),
            "y_true": truth.astype(str).tolist(),
            "part of town": ["a <b>", "c"] * (n // 2),
        }
        if models == 3 and i == 2:
            rows[name] |= {"score": (10 * logit).tolist()}
        else:
            rows[name] |= {"p_1": (1 / (1 + np.exp(-logit))).tolist()}
    if models == 3:
        return evaluated(rows, slices=["part of town"])
    return evaluated(rows, metrics=["accuracy", "roc_auc"])


@cache
def classes(n: int = 120) -> Results:
    """Evaluate two models of three classes."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, n)
    labels = np.array(["a", "<i>b</i>", "c" * 40])
    rows = {}
    for name in NAMES[:2]:
        p = random.dirichlet([1.0] * 3, n) + 0.8 * np.eye(3)[truth]
        p /= p.sum(axis=1, keepdims=True)
        columns = {f"p_{label}": p[:, k].tolist() for k, label in enumerate(labels)}
        rows[name] = {"id": ids(n), "y_true": labels[truth].tolist(), **columns}
    return evaluated(rows)


@cache
def regression(models: int = 2, n: int = 300) -> Results:
    """Evaluate models of a number."""
    random = np.random.default_rng(2)
    truth = random.gamma(3, 10, size=n)
    rows = {
        NAMES[i]: {
            "id": ids(n), "y_true": truth.tolist(), "y_pred": (truth + (i + 1) * random.normal(size=n)).tolist()
        }
        for i in range(models)
    }  # fmt: skip
    return evaluated(rows, task="regression")


@cache
def folds(n: int = 90) -> Results:
    """Evaluate two models on nine folds."""
    random = np.random.default_rng(3)
    truth = (random.random(n) < 0.5).astype(int)
    rows = {}
    for i, name in enumerate(NAMES[:2]):
        wrong = random.random(n) < 0.1 + 0.1 * i
        rows[name] = {
            "id": ids(n), "y_true": truth.astype(str).tolist(), "fold": [k % 9 for k in range(n)],
            "y_pred": np.where(wrong, 1 - truth, truth).astype(str).tolist(),
        }  # fmt: skip
    return evaluated(rows)


@cache
def data_sets(sets: int = 10) -> Results:
    """Evaluate scores of three algorithms on data sets."""
    random = np.random.default_rng(4)
    rows = {
        name: {
            "dataset": [f"s{k}" for k in range(sets)],
            "value": (0.8 - 0.02 * i + 0.02 * random.normal(size=sets)).tolist(),
        }
        for i, name in enumerate(NAMES[:3])
    }
    return evaluated(rows)


@cache
def sizes(n: int = 60) -> Results:
    """Evaluate two models by training size."""
    random = np.random.default_rng(5)
    truth = (random.random(n) < 0.5).astype(int)
    rows: dict[str, Any] = {}
    for name in NAMES[:2]:
        own: dict[str, list[Any]] = {key: [] for key in ("id", "y_true", "y_pred", "train_size")}
        for size in (50, 100, 200, 400):
            wrong = random.random(n) < 0.05 + 2 / size**0.5
            own["id"] += ids(n)
            own["y_true"] += truth.astype(str).tolist()
            own["y_pred"] += np.where(wrong, 1 - truth, truth).astype(str).tolist()
            own["train_size"] += [size] * n
        rows[name] = own
    return evaluated(rows, task="binary")


@cache
def replicates(n: int = 40, k: int = 12) -> Results:
    """Evaluate two models fitted on bootstrap replicates, at two complexities, against a one-dimensional input."""
    random = np.random.default_rng(6)
    x = np.linspace(0, 3, n)
    truth = np.sin(x) + 0.2 * random.normal(size=n)
    rows: dict[str, Any] = {}
    for i, name in enumerate(NAMES[:2]):
        own: dict[str, list[Any]] = {key: [] for key in ("id", "y_true", "y_pred", "replicate", "x")}
        for replicate in range(k):
            own["id"] += ids(n)
            own["y_true"] += truth.tolist()
            own["x"] += x.tolist()
            own["y_pred"] += (np.sin(x) + (0.1 + 0.2 * i) * random.normal(size=n)).tolist()
            own["replicate"] += [replicate] * n
        rows[name] = own
    return evaluated(rows, task="regression")


@cache
def outcomes(n: int = 80) -> Results:
    """Evaluate three models whose answers were judged elsewhere."""
    random = np.random.default_rng(7)
    rows = {
        name: {"id": ids(n), "outcome": (random.random(n) < 0.6 + 0.1 * i).astype(int).tolist()}
        for i, name in enumerate(NAMES[:3])
    }
    return evaluated(rows)


KINDS = {
    "binary": binary, "classes": classes, "regression": regression, "folds": folds, "data sets": data_sets,
    "sizes": sizes, "replicates": replicates, "outcomes": outcomes,
}  # fmt: skip
