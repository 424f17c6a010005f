"""Hypothesis strategies: small test sets of every task, degenerate ones included."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

import evalreport
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results

Source = dict[str, dict[str, Any]]
FEW = 100

# Scores on a coarse grid, so that ties are the rule; both ends included.
GRID = [i / 8 for i in range(9)]


def ids(n: int) -> list[str]:
    """Return n distinct ids."""
    return [f"{i:05d}" for i in range(n)]


@st.composite
def binary(draw: st.DrawFn, *, models: int = 2, least: int = 1, most: int = 30) -> Source:
    """Draw binary models with probabilities, often tied, sometimes constant."""
    n = draw(st.integers(least, most))
    truth = draw(st.lists(st.sampled_from(["0", "1"]), min_size=n, max_size=n))
    return {
        f"m{k}": {
            "id": ids(n),
            "y_true": truth,
            "p_1": draw(st.lists(st.sampled_from(GRID), min_size=n, max_size=n)),
        }
        for k in range(models)
    }


@st.composite
def multiclass(draw: st.DrawFn, *, models: int = 2, least: int = 1, most: int = 30) -> Source:
    """Draw label-only models over up to four classes."""
    n = draw(st.integers(least, most))
    labels = ["ant", "bee", "cat", "dog"][: draw(st.integers(3, 4))]
    column = st.lists(st.sampled_from(labels), min_size=n, max_size=n)
    truth = draw(column)
    return {f"m{k}": {"id": ids(n), "y_true": truth, "y_pred": draw(column)} for k in range(models)}


@st.composite
def regression(draw: st.DrawFn, *, models: int = 2, least: int = 1, most: int = 30) -> Source:
    """Draw regression models, sometimes exact or constant."""
    n = draw(st.integers(least, most))
    values = st.floats(-1e3, 1e3, allow_nan=False, allow_subnormal=False)
    column = st.lists(values.map(lambda x: round(x, 3)), min_size=n, max_size=n)
    truth = draw(column)
    return {f"m{k}": {"id": ids(n), "y_true": truth, "y_pred": draw(column)} for k in range(models)}


@st.composite
def clustering(draw: st.DrawFn, *, models: int = 2, least: int = 1, most: int = 40) -> Source:
    """Draw groupings of examples: one group, each its own, or up to three groups of any names."""
    n = draw(st.integers(least, most))
    some = st.lists(st.sampled_from(["0", "1", "noise"]), min_size=n, max_size=n)
    column = some | st.just(["0"] * n) | st.just(ids(n))
    truth = draw(column)
    return {f"m{k}": {"id": ids(n), "y_true": truth, "y_pred": draw(column)} for k in range(models)}


TASKS = {"binary": binary, "multiclass": multiclass, "regression": regression}
WITH_GROUPS = {**TASKS, "clustering": clustering}
"""Those that take no weights, too."""


def options(task: str, **fields: Any) -> evalreport.Options:
    """Return options that settle the task, so that drawn data cannot change it."""
    positive = {"positive": "1"} if task == "binary" else {}
    return evalreport.Options(**{"task": task, "resamples": FEW, **positive, **fields})


def evaluate(source: Source, task: str, **fields: Any) -> Results:
    """Evaluate a drawn source."""
    return evalreport.evaluate(source, options=options(task, **fields))


def values(results: Results) -> dict[tuple[str, str, str | None, str | None], float | None]:
    """Return every metric's value by model, metric, average and label."""
    return {key(record): record.value for record in results.metrics}


def key(record: MetricRecord) -> tuple[str, str, str | None, str | None]:
    """Return what a metric record is about."""
    return record.model, record.metric, record.average, record.label


def same(first: float | None, second: float | None) -> bool:
    """Tell whether two numbers are equal to rounding, or both missing."""
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-11)


def not_finite(value: Any) -> list[str]:
    """Return the path to every NaN and infinity inside a record."""
    if value is None or isinstance(value, (str, int)):
        return []
    if isinstance(value, float):
        return [] if math.isfinite(value) else [f" = {value}"]
    parts: Iterable[tuple[object, Any]] = ()
    if dataclasses.is_dataclass(value):
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, Sequence):
        parts = enumerate(value)
    return [f".{name}{path}" for name, part in parts for path in not_finite(part)]
