"""Small seeded test sets as ``Predictions``, and one model's estimates of all quantities, straight from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import evalreport
from evalreport.loading.load import load
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.quantities import available
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample, estimate_all
from evalreport.predictions.table import Predictions
from evalreport.samplings import sampling_by

Rows = dict[str, Any]


def ids(n: int) -> list[str]:
    """Return n distinct ids."""
    return [f"{i:05d}" for i in range(n)]


def binary_rows(seed: int = 0, n: int = 60, *, decimals: int = 2) -> Rows:
    """Return one binary model's rows with probabilities inside (0, 1), tied where they are rounded."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2, n)
    codes[:2] = 0, 1
    p = np.clip(np.round(random.normal(0.35 + 0.3 * codes, 0.25), decimals), 0.01, 0.99)
    return {"id": ids(n), "y_true": codes.astype(str).tolist(), "p_1": p.tolist()}


def several_rows(seed: int = 0, n: int = 80, *, classes: int = 4) -> Rows:
    """Return one model's rows over several classes, with probabilities in steps of 1/16, so that some tie."""
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), random.integers(0, classes, n - classes)])
    counts = random.multinomial(16, np.full(classes, 1 / classes), size=n)
    moved = np.minimum(4, counts[np.arange(n), (codes + 1) % classes])
    counts[np.arange(n), (codes + 1) % classes] -= moved
    counts[np.arange(n), codes] += moved
    rows = {"id": ids(n), "y_true": [f"c{c}" for c in codes]}
    return rows | {f"p_c{k}": (counts[:, k] / 16).tolist() for k in range(classes)}


def value_rows(seed: int = 0, n: int = 60) -> Rows:
    """Return one regression model's rows, truth away from 0."""
    random = np.random.default_rng(seed)
    truth = random.normal(10, 2, n)
    said = truth + random.normal(0.3, 1, n)
    return {"id": ids(n), "y_true": truth.tolist(), "y_pred": said.tolist()}


ROWS = {"binary": binary_rows, "multiclass": several_rows, "regression": value_rows}


def options(task: str, **fields: Any) -> evalreport.Options:
    """Return options that settle the task."""
    positive = {"positive": "1"} if task == "binary" else {}
    return evalreport.Options(**{"task": task, **positive, **fields})


def predictions_of(task: str, rows: Rows, **fields: Any) -> Predictions:
    """Load one model's rows."""
    return load({"m": rows}, options=options(task, **fields), truth=None)


def weighted(
    predictions: Predictions,
    weights: np.ndarray,
    *,
    resamples: int = 1,
    quantities: Sequence[Quantity] | None = None,
) -> Sample:
    """Estimate every quantity, or those given, under example weights."""
    units = sampling_by(predictions.n, None, np.asarray(weights, dtype=np.float64))
    chosen = available(predictions) if quantities is None else quantities
    return estimate_all(predictions, chosen, units=units, n_resamples=resamples, seed=0)


def estimates_of(task: str, rows: Rows) -> Mapping[Quantity, Estimate]:
    """Return one model's estimates by quantity, every example counting one."""
    predictions = predictions_of(task, rows)
    units = sampling_by(predictions.n)
    sample = estimate_all(predictions, available(predictions), units=units, n_resamples=2, seed=0)
    return by_quantity(sample)


def by_quantity(sample: Sample) -> Mapping[Quantity, Estimate]:
    """Return the only model's estimates."""
    return {quantity: e for (_, quantity), e in sample.estimates.items()}


def value(task: str, rows: Rows, name: str, average: str | None = None, label: str | None = None) -> float:
    """Return one value."""
    return estimates_of(task, rows)[Quantity(name, average, label)].value  # type: ignore[arg-type]


def truth_and_scores(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return which examples are positive, and the probabilities."""
    return np.array(rows["y_true"]) == "1", np.array(rows["p_1"])
