"""Small tables of replicates, folds and curves, as a user would write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport
from evalreport.questions.algorithms.records import ErrorEstimateRecord
from evalreport.schema.results import Results

Fit = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Callable[[npt.NDArray[Any]], npt.NDArray[Any]]]


def evaluate(rows: dict[str, list[Any]], **options: Any) -> Results:
    """Evaluate one table that holds a column ``model``."""
    import polars as pl

    frame = pl.DataFrame({name: pl.Series(name, values, strict=False) for name, values in rows.items()})
    return evalreport.evaluate(frame, options=evalreport.Options(resamples=10, **options))


def estimates(results: Results, metric: str, model: str | None = None) -> dict[str, ErrorEstimateRecord]:
    """Return one model's estimates of a metric by estimator."""
    wanted = model or results.models[0]
    return {e.estimator: e for e in results.error_estimates if (e.model, e.metric) == (wanted, metric)}


def replicates(
    truth: Sequence[Any],
    predicted: Sequence[Sequence[Any]],
    inbag: Sequence[Sequence[int]] | None = None,
    apparent: Sequence[Any] | None = None,
    model: str = "m",
) -> dict[str, list[Any]]:
    """Write replicates (K lists of n predictions), their in-bag counts, and the fit to all rows (part = train)."""
    rows: dict[str, list[Any]] = {name: [] for name in ("id", "model", "replicate", "y_true", "y_pred")}
    if inbag is not None:
        rows |= {"inbag": [], "part": []}
    for k, said in enumerate(predicted):
        for i, (y, h) in enumerate(zip(truth, said, strict=True)):
            values = {"id": f"e{i:03d}", "model": model, "replicate": str(k + 1), "y_true": y, "y_pred": h}
            if inbag is not None:
                values |= {"inbag": inbag[k][i], "part": "test"}
            for name, column in rows.items():
                column.append(values[name])
    for i, h in enumerate(apparent or ()):
        values = {"id": f"e{i:03d}", "model": model, "replicate": None, "y_true": truth[i], "y_pred": h}
        values |= {"inbag": None, "part": "train"}
        for name, column in rows.items():
            column.append(values[name])
    return rows


def refitted(
    fit: Fit, x: npt.NDArray[Any], y: npt.NDArray[Any], n_replicates: int, seed: int
) -> dict[str, Any]:
    """Fit bootstrap replicates of a learner, and the fit to all rows; return what ``replicates`` takes."""
    generator = np.random.default_rng(seed)
    n = len(y)
    predicted, inbag = [], []
    for _ in range(n_replicates):
        drawn = generator.integers(0, n, n)
        predicted.append(fit(x[drawn], y[drawn])(x).tolist())
        inbag.append(np.bincount(drawn, minlength=n).tolist())
    return {"truth": y.tolist(), "predicted": predicted, "inbag": inbag, "apparent": fit(x, y)(x).tolist()}


def nearest(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    """Fit one nearest neighbour."""
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(1).fit(x, y)
    return lambda new: np.asarray(model.predict(new))
