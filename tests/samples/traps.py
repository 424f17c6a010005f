"""Small made-up test sets for the traps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import evalreport
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results

Source = dict[str, dict[str, Any]]

# Enough for the tests that do not look at the replicates, and the smallest number that is.
FEW = 200


def evaluate(source: Source, **options: Any) -> Results:
    """Evaluate with few replicates unless told otherwise."""
    return evalreport.evaluate(source, options=evalreport.Options(**{"resamples": FEW, **options}))


def labelled(truth: Sequence[object], said: Mapping[str, Sequence[object]]) -> Source:
    """Return label-only models on one truth."""
    ids = [f"{i:06d}" for i in range(len(truth))]
    return {name: {"id": ids, "y_true": list(truth), "y_pred": list(y)} for name, y in said.items()}


def scored(truth: Sequence[object], probabilities: Mapping[str, Sequence[float]]) -> Source:
    """Return binary models with the probability of class 1."""
    ids = [f"{i:06d}" for i in range(len(truth))]
    return {
        name: {"id": ids, "y_true": [str(t) for t in truth], "p_1": [float(p) for p in values]}
        for name, values in probabilities.items()
    }


def right_or_wrong(rights: Mapping[str, Sequence[int]]) -> Source:
    """Return label models that are right or wrong as told, over two equally frequent classes in turn."""
    n = len(next(iter(rights.values())))
    truth = [i % 2 for i in range(n)]
    said = {
        m: [str(t if r else 1 - t) for t, r in zip(truth, right, strict=True)] for m, right in rights.items()
    }
    return labelled([str(t) for t in truth], said)


def paired_counts(both: int, a_only: int, b_only: int, neither: int) -> Source:
    """Return models A and B with these numbers of examples right by both, by A alone, by B alone, by none."""
    a = [1] * both + [1] * a_only + [0] * b_only + [0] * neither
    b = [1] * both + [0] * a_only + [1] * b_only + [0] * neither
    return right_or_wrong({"A": a, "B": b})


def noisy_scores(seed: int, n: int = 120, models: Sequence[str] = ("a", "b")) -> Source:
    """Return binary models with independent noise around the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n)
    return scored(
        truth.tolist(),
        {m: (1 / (1 + np.exp(-(truth * 1.5 - 0.75 + random.normal(size=n))))).tolist() for m in models},
    )


def noisy_classes(seed: int, n: int = 150, classes: int = 3, models: Sequence[str] = ("a", "b")) -> Source:
    """Return label models over several classes, right about 70 % of the time."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, n)
    said = {
        m: [f"c{t}" for t in np.where(random.random(n) < 0.7, truth, random.integers(0, classes, n))]
        for m in models
    }
    return labelled([f"c{t}" for t in truth], said)


def noisy_values(seed: int, n: int = 100, models: Sequence[str] = ("a", "b")) -> Source:
    """Return regression models with independent errors."""
    random = np.random.default_rng(seed)
    truth = random.normal(10, 3, n)
    ids = [f"{i:06d}" for i in range(n)]
    return {
        m: {"id": ids, "y_true": truth.tolist(), "y_pred": (truth + random.normal(size=n)).tolist()}
        for m in models
    }


def metric(results: Results, model: str, name: str, average: str | None = None) -> MetricRecord:
    """Return one model's record of a metric."""
    (record,) = (
        r
        for r in results.metrics
        if (r.model, r.metric, r.average, r.label, r.slice) == (model, name, average, None, None)
    )
    return record


def interval(record: MetricRecord, method: str) -> Interval:
    """Return one interval of a metric."""
    (one,) = (i for i in record.intervals if i.method == method)
    return one


def row_of(results: Results, test: str, name: str, average: str | None = None) -> ComparisonRecord:
    """Return the only comparison by a test on a metric."""
    (row,) = (
        r
        for r in results.comparisons
        if (r.test, r.metric, r.average, r.label, r.slice) == (test, name, average, None, None)
        and r.b is not None
    )
    return row
