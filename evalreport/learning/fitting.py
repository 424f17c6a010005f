"""One task: fit an estimator on its training rows and write down what it says of the others.

This runs in the worker, whatever that is; it sees the examples and one job, and nothing else decides its result.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.learning.building import build, said
from evalreport.learning.examples import Examples
from evalreport.learning.parameters import count_parameters, vc_dimension
from evalreport.learning.plans import Estimator
from evalreport.learning.search import Search, search
from evalreport.learning.surroundings import listen_for_good, messages, one_thread

Indices = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one task is about.

    Attributes
    ----------
    chosen
        The value of the complexity, by its parameter; empty where nothing is varied.
    train, test
        Rows of the examples.
    seed
        The task's own.
    train_predictions
        Whether the training rows are predicted as well.
    """

    estimator: Estimator
    chosen: Mapping[str, Any]
    train: Indices
    test: Indices
    part: str
    seed: int
    search: Search
    train_predictions: bool
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a fitted model says of some rows.

    Attributes
    ----------
    rows
        (m,) rows of the examples.
    y_pred
        (m,) float64 values, or int64 positions in the classes.
    proba
        (m, classes) float64, where the model gives probabilities.
    score
        (m,) float64, greater = more positive, where it gives a decision function and no probabilities.
    """

    part: str
    inner_fold: int
    rows: Indices
    y_pred: npt.NDArray[Any]
    proba: Floats | None
    score: Floats | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What came of one task."""

    blocks: tuple[Said, ...]
    params: str | None = None
    n_parameters: float | None = None
    vc_dimension: float | None = None
    messages: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Failure:
    """A fit that raised: the exception in one line, and its traceback."""

    error: str
    traceback: str


def perform(examples: Examples, job: Job) -> Fitted | Failure:
    """Do one task; what the user's code raises is returned, so that it does not lose the others."""
    one_thread()
    try:
        with messages() as heard:
            fitted = _fitted(examples, job)
        return replace(fitted, messages=tuple(dict.fromkeys(heard)))
    except Exception as error:  # noqa: BLE001 - the user's own code can raise anything
        return Failure(said(error), "".join(traceback.format_exception(error)))


Done = tuple[int, Fitted | Failure]
"""The place of a task among the others, and its result."""


def in_worker(place: int, examples: Examples, job: Job) -> Done:
    """Do one task in a process that does nothing else."""
    listen_for_good()
    return place, perform(examples, job)


def _fitted(examples: Examples, job: Job) -> Fitted:
    chosen: dict[str, Any] = dict(job.chosen)
    inner: tuple[tuple[Any, Indices], ...] = ()
    if job.estimator.grid:
        best, inner = search(
            examples, job.search, job.train, lambda c, rows: _model(examples, job, {**chosen, **c}, rows)
        )
        chosen |= best
    model = _model(examples, job, chosen, job.train)
    blocks = [
        _says(validated, examples, rows, part="validation", inner_fold=fold)
        for fold, (validated, rows) in enumerate(inner, start=1)
    ]
    if job.train_predictions:
        blocks.append(_says(model, examples, np.unique(job.train), part="train"))
    blocks.append(_says(model, examples, job.test, part=job.part))
    return Fitted(
        blocks=tuple(blocks),
        params=json.dumps(chosen, sort_keys=True, ensure_ascii=False, default=str) if chosen else None,
        n_parameters=count_parameters(model, examples.features, job.train, len(examples.classes)),
        vc_dimension=vc_dimension(model) if examples.classes else None,
    )


def _model(examples: Examples, job: Job, chosen: Mapping[str, Any], rows: Indices) -> Any:
    """Build and fit on some rows."""
    model = build(job.estimator, job.folder, chosen=chosen, seed=job.seed)
    fitted = model.fit(rows_of(examples.features, rows), examples.target[rows])
    return model if fitted is None else fitted


def rows_of(features: Any, rows: Indices) -> Any:
    """Return a copy of some rows of a matrix or a data frame."""
    return features[rows] if isinstance(features, np.ndarray) else features.iloc[rows]


def _says(model: Any, examples: Examples, rows: Indices, *, part: str, inner_fold: int = 0) -> Said:
    features = rows_of(examples.features, rows)
    predicted = _one_column(model.predict(features), len(rows), "predict")
    if examples.values is None:
        numbers = predicted.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError("predict returned a value that is no finite number")
        return Said(part=part, inner_fold=inner_fold, rows=rows, y_pred=numbers, proba=None, score=None)
    codes = _codes(predicted, examples)
    proba = _probabilities(model, features, examples, len(rows))
    score = None if proba is not None else _decision(model, features, examples, len(rows))
    return Said(part=part, inner_fold=inner_fold, rows=rows, y_pred=codes, proba=proba, score=score)


def _one_column(values: Any, n: int, method: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.shape == (n, 1):
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(f"{method} returned an array of shape {array.shape} for {n} examples")
    return array


def _codes(labels: npt.NDArray[Any], examples: Examples) -> Indices:
    """Return each label's place among the classes.

    Raises
    ------
    ValueError
        A label that the target does not hold.
    """
    assert examples.values is not None
    place = {value: code for code, value in enumerate(examples.values.tolist())}
    for label in np.unique(labels).tolist():
        if label not in place:
            raise ValueError(f"predict returned the label {label!r}, which the target does not hold")
    return np.array([place[label] for label in labels.tolist()], dtype=np.int64)


def _probabilities(model: Any, features: Any, examples: Examples, n: int) -> Floats | None:
    """Return the probabilities of every class; a class that the training rows lack has probability 0."""
    if not hasattr(model, "predict_proba"):
        return None
    given = np.asarray(model.predict_proba(features), dtype=np.float64)
    known = _columns(model, examples, given.shape)
    if given.shape != (n, len(known)):
        raise ValueError(f"predict_proba returned an array of shape {given.shape} for {n} examples")
    if not np.isfinite(given).all() or given.min(initial=0.0) < 0 or given.max(initial=0.0) > 1 + 1e-9:
        raise ValueError("predict_proba returned a value that is no probability")
    proba = np.zeros((n, len(examples.classes)))
    proba[:, known] = np.minimum(given, 1.0)
    return proba


def _columns(model: Any, examples: Examples, shape: Sequence[int]) -> Indices:
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return _codes(np.asarray(classes), examples)
    if len(shape) == 2 and shape[1] == len(examples.classes):
        return np.arange(len(examples.classes))
    raise ValueError("the estimator gives probabilities but does not say of which classes (classes_)")


def _decision(model: Any, features: Any, examples: Examples, n: int) -> Floats | None:
    """Return a binary decision function, turned so that greater means the positive class."""
    if examples.positive is None or not hasattr(model, "decision_function"):
        return None
    given = np.asarray(model.decision_function(features), dtype=np.float64)
    if given.shape not in ((n,), (n, 1)) or not np.isfinite(given).all():
        raise ValueError(f"decision_function returned no {n} finite numbers")
    classes = getattr(model, "classes_", None)
    last = (
        examples.classes[-1]
        if classes is None
        else examples.classes[_codes(np.asarray(classes), examples)[-1]]
    )
    return given.reshape(n) if last == examples.positive else -given.reshape(n)
