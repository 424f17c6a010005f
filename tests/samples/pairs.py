"""Small test sets for the statistical tests, and the run that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results

Source = dict[str, dict[str, Any]]


def ids(n: int) -> list[str]:
    """Return n distinct ids."""
    return [f"{i:06d}" for i in range(n)]


def labels(truth: npt.ArrayLike, **models: npt.ArrayLike) -> Source:
    """Return label models by name."""
    true = [str(t) for t in np.asarray(truth)]
    return {
        name: {"id": ids(len(true)), "y_true": true, "y_pred": [str(p) for p in np.asarray(said)]}
        for name, said in models.items()
    }


def scores(truth: npt.ArrayLike, **models: npt.ArrayLike) -> Source:
    """Return models of bare scores by name; the positive class is 1."""
    true = [str(t) for t in np.asarray(truth)]
    return {
        name: {"id": ids(len(true)), "y_true": true, "score": np.asarray(said, dtype=float).tolist()}
        for name, said in models.items()
    }


def values(truth: npt.ArrayLike, **models: npt.ArrayLike) -> Source:
    """Return regression models by name."""
    true = np.asarray(truth, dtype=float).tolist()
    return {
        name: {"id": ids(len(true)), "y_true": true, "y_pred": np.asarray(said, dtype=float).tolist()}
        for name, said in models.items()
    }


def outcomes(**models: npt.ArrayLike) -> Source:
    """Return outcomes judged elsewhere, by name."""
    return {
        name: {"id": ids(len(np.asarray(got))), "outcome": np.asarray(got, dtype=float).tolist()}
        for name, got in models.items()
    }


def run(source: Source, **options: Any) -> Results:
    """Evaluate with few replicates unless told otherwise."""
    return evalreport.evaluate(source, options=evalreport.Options(**{"resamples": 200, **options}))


def row(results: Results, test: str, a: str = "a", b: str = "b") -> ComparisonRecord:
    """Return the comparison of two models by a test on the primary metric."""
    metric = results.primary_metric
    (found,) = (
        c
        for c in results.comparisons
        if (c.a, c.b, c.test) == (a, b, test)
        and metric in (c.metric, f"{c.metric}_{c.average}", f"{c.metric}[class={c.label}]")
    )
    return found
