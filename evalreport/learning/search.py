"""Choosing an estimator's parameters within the training rows of one fit; held-out rows are never seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.learning.examples import Examples
from evalreport.learning.plans import Selection
from evalreport.learning.splits import inner_folds

Indices = npt.NDArray[np.integer]
Train = Callable[[Mapping[str, Any], Indices], Any]
_SMALLEST = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How candidates are compared: the inner folds, and what the lower the better is computed on them.

    Attributes
    ----------
    grid
        Parameter -> candidates.
    seed
        Of the inner folds: the same for every estimator, so that they are searched on the same folds.
    """

    grid: Mapping[str, tuple[Any, ...]]
    folds: int
    select: Selection
    stratify: bool
    seed: int


def candidates(grid: Mapping[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of a grid, the last parameter varying fastest.

    Examples
    --------
    >>> list(candidates({"a": (1, 2), "b": (3,)}))
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def search(
    examples: Examples, how: Search, rows: Indices, train: Train
) -> tuple[dict[str, Any], tuple[tuple[Any, Indices], ...]]:
    """Return the best candidate, and its fitted models with the rows that each was validated on.

    Parameters
    ----------
    rows
        (m,) training rows of the fit.
    train
        Fits a candidate on rows.

    Returns
    -------
    chosen, inner
        Of candidates with the same loss the first. A loss is the mean over all validation rows.
    """
    folds = inner_folds(examples, rows, folds=how.folds, seed=how.seed, stratify=how.stratify)
    best: tuple[float, dict[str, Any], tuple[tuple[Any, Indices], ...]] | None = None
    for candidate in candidates(how.grid):
        inner = tuple((train(candidate, rows[kept]), np.unique(rows[out])) for kept, out in folds)
        losses = np.concatenate([_losses(model, examples, out, how.select) for model, out in inner])
        loss = float(losses.mean())
        if best is None or loss < best[0]:
            best = (loss, candidate, inner)
    assert best is not None
    return best[1], best[2]


def _losses(model: Any, examples: Examples, rows: Indices, select: Selection) -> npt.NDArray[np.float64]:
    """Return the loss of each row."""
    features = examples.features
    features = features[rows] if isinstance(features, np.ndarray) else features.iloc[rows]
    return np.asarray(_LOSSES[select](model, features, examples.target[rows]), dtype=np.float64)


def _log_losses(model: Any, features: Any, target: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    proba = np.asarray(model.predict_proba(features), dtype=np.float64)
    place = {label: column for column, label in enumerate(np.asarray(model.classes_).tolist())}
    own = [proba[row, place[label]] if label in place else 0.0 for row, label in enumerate(target.tolist())]
    return np.asarray(-np.log(np.maximum(own, _SMALLEST)))


def _predicted(model: Any, features: Any, target: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(model.predict(features)).reshape(len(target))


def _wrong(model: Any, features: Any, target: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(_predicted(model, features, target) != target)


def _absolute_errors(model: Any, features: Any, target: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(np.abs(_predicted(model, features, target).astype(np.float64) - target))


def _squared_errors(model: Any, features: Any, target: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(_absolute_errors(model, features, target) ** 2)


_LOSSES: Mapping[Selection, Callable[[Any, Any, npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "accuracy": _wrong,
    "log_loss": _log_losses,
    "mse": _squared_errors,
    "mae": _absolute_errors,
}
