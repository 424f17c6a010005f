"""Made-up predictions with columns to slice by, and what is looked up in their results."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.questions.slices.records import DisparityRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results

Columns = dict[str, Any]

Source = dict[str, Columns]


def run(source: Source, **options: Any) -> Results:
    """Analyse with few replicates unless told otherwise."""
    return evalreport.evaluate(source, **{"resamples": 200, **options})


def answers(right: dict[str, Any], **columns: Any) -> Source:
    """Return models that are right (1) or wrong (0) example by example, as the task outcome."""
    return {name: {"outcome": list(map(int, marks)), **columns} for name, marks in right.items()}


def rows_of(source: Source, keep: Any) -> Source:
    """Return the same predictions of some rows only."""
    chosen = np.flatnonzero(keep)
    return {
        name: {column: [values[i] for i in chosen] for column, values in columns.items()}
        for name, columns in source.items()
    }


def within(results: Results, column: str, value: str) -> list[MetricRecord]:
    """Return the metrics of one slice."""
    return [
        r
        for r in results.metrics
        if r.slice is not None and (r.slice.column, r.slice.value) == (column, value)
    ]


def disparity(
    results: Results, value: str, reference: str, *, model: str = "a", metric: str | None = None
) -> DisparityRecord:
    """Return one row of the disparities; the primary metric's unless another is named."""
    name = metric or results.primary_metric
    (found,) = [
        r
        for r in results.disparities
        if (r.slice.value, r.reference, r.model, r.metric) == (value, reference, model, name)
    ]
    return found


def comparisons_in(results: Results, value: str) -> list[ComparisonRecord]:
    """Return the tests of pairs in one slice."""
    return [r for r in results.comparisons if r.slice is not None and r.slice.value == value]


def values_of(results: Results, column: str) -> list[str]:
    """Return the slices of one column in the order of the results."""
    return list(dict.fromkeys(r.slice.value for r in results.metrics if r.slice and r.slice.column == column))


def score(metric, truth, p):
    """One metric by scikit-learn."""
    from sklearn import metrics

    by_labels = {"f1": "f1_score", "mcc": "matthews_corrcoef", "balanced_accuracy": "balanced_accuracy_score"}
    if metric in by_labels:
        return getattr(metrics, by_labels[metric])(truth, p >= 0.5)
    names = {
        "roc_auc": "roc_auc_score",
        "log_loss": "log_loss",
        "average_precision": "average_precision_score",
    }
    return getattr(metrics, names[metric])(truth, p)
