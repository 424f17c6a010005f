"""One task: fitting an estimator on its training rows and predicting the other rows.

It runs in the worker, and its result depends on the examples and one job alone.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.predictions.arrays import Floats, Mask, Values
from evalreport.refit.building import build, count_parameters, in_one_line, vc_dimension
from evalreport.refit.examples import Examples, Features, Rows, rows_of
from evalreport.refit.plans import Estimator, Model, Selection, Table
from evalreport.refit.splits import inner_folds

_here = threading.local()


@contextmanager
def messages() -> Iterator[list[str]]:
    """Yield a list that collects the warnings of this thread as texts, inside ``listening``."""
    before, _here.texts = getattr(_here, "texts", None), []
    try:
        yield _here.texts
    finally:
        _here.texts = before


@contextmanager
def listening() -> Iterator[None]:
    """Collect warnings by thread, which ``warnings.catch_warnings`` alone does not."""
    with warnings.catch_warnings():
        _listen()
        yield


def _listen() -> None:
    usual = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        texts = getattr(_here, "texts", None)
        if texts is None:
            usual(message, category, *rest, **named)
        else:
            first = (str(message).strip().splitlines() or [""])[0]
            texts.append(f"{category.__name__}: {first[:200]}")

    if getattr(usual, "hears_fits", False):
        return
    hear.hears_fits = True  # type: ignore[attr-defined]
    warnings.simplefilter("always")
    warnings.showwarning = hear


def one_thread() -> None:
    """Limit BLAS and OpenMP to one thread, since the last bits of a sum depend on the number of threads.

    OpenMP keeps the limit for each thread, and newly imported libraries need it again.
    """
    from threadpoolctl import threadpool_limits

    if getattr(_here, "modules", 0) != len(sys.modules):
        threadpool_limits(1)
        _here.modules = len(sys.modules)


Train = Callable[[Table, Rows], Model]
Validated = tuple[tuple[Model, Rows], ...]
"""Fitted models, each with the rows that it was validated on."""
_SMALLEST = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How candidates of a grid are compared: the inner folds and the loss.

    Attributes
    ----------
    grid
        Parameter -> candidates.
    seed
        The seed of the inner folds, the same for every estimator.
    """

    grid: Mapping[str, tuple[object, ...]]
    folds: int
    select: Selection
    stratify: bool
    seed: int


def candidates(grid: Mapping[str, tuple[object, ...]]) -> Iterator[dict[str, object]]:
    """Yield every combination of a grid, the last parameter varying fastest.

    Examples
    --------
    >>> list(candidates({"a": (1, 2), "b": (3,)}))
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def search(examples: Examples, how: Search, rows: Rows, train: Train) -> tuple[dict[str, object], Validated]:
    """Return the best candidate, and its fitted models with their validation rows.

    Parameters
    ----------
    rows
        (m,) training rows of the fit.
    train
        Fits a candidate on rows.

    Returns
    -------
    chosen, inner
        The candidate with the smallest mean loss over all validation rows, the first of equal ones; its models.
    """
    folds = inner_folds(examples, rows, folds=how.folds, seed=how.seed, stratify=how.stratify)
    best: tuple[float, dict[str, object], Validated] | None = None
    for candidate in candidates(how.grid):
        inner = tuple((train(candidate, rows[kept]), np.unique(rows[out])) for kept, out in folds)
        losses = np.concatenate([_losses(model, examples, out, how.select) for model, out in inner])
        loss = float(losses.mean())
        if best is None or loss < best[0]:
            best = (loss, candidate, inner)
    assert best is not None
    return best[1], best[2]


def _losses(model: Model, examples: Examples, rows: Rows, select: Selection) -> Floats:
    """Return the loss of each row."""
    features = rows_of(examples.features, rows)
    return np.asarray(_LOSSES[select](model, features, examples.target[rows]), dtype=np.float64)


def _log_losses(model: Model, features: Features, target: Values) -> Floats:
    proba = np.asarray(model.predict_proba(features), dtype=np.float64)
    place = {label: column for column, label in enumerate(np.asarray(model.classes_).tolist())}
    own = [proba[row, place[label]] if label in place else 0.0 for row, label in enumerate(target.tolist())]
    return np.asarray(-np.log(np.maximum(own, _SMALLEST)))


def _predicted(model: Model, features: Features, target: Values) -> Values:
    return np.asarray(model.predict(features)).reshape(len(target))


def _wrong(model: Model, features: Features, target: Values) -> Mask:
    return np.asarray(_predicted(model, features, target) != target)


def _absolute_errors(model: Model, features: Features, target: Values) -> Floats:
    return np.asarray(np.abs(_predicted(model, features, target).astype(np.float64) - target))


def _squared_errors(model: Model, features: Features, target: Values) -> Floats:
    return np.asarray(_absolute_errors(model, features, target) ** 2)


_LOSSES: Mapping[Selection, Callable[[Model, Features, Values], Values]] = {
    "accuracy": _wrong,
    "log_loss": _log_losses,
    "mse": _squared_errors,
    "mae": _absolute_errors,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The input of one task.

    Attributes
    ----------
    chosen
        The value of the complexity, by its parameter; empty: nothing is varied.
    train, test
        Rows of the examples.
    seed
        The seed of this task.
    train_predictions
        Whether the training rows are predicted, too.
    """

    estimator: Estimator
    chosen: Table
    train: Rows
    test: Rows
    part: str
    seed: int
    search: Search
    train_predictions: bool
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A fitted model's predictions of some rows.

    Attributes
    ----------
    rows
        (m,) rows of the examples.
    y_pred
        (m,) float64 values, or int64 positions in the classes.
    proba
        (m, classes) float64 probabilities; None: the model gives none.
    score
        (m,) float64 decision function, greater is more positive; None: there is none, or probabilities instead.
    """

    part: str
    inner_fold: int
    rows: Rows
    y_pred: Values
    proba: Floats | None
    score: Floats | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The result of one task."""

    blocks: tuple[Predicted, ...]
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
    """Do one task; an exception of the user's code is returned as a failure, so that the other tasks continue."""
    one_thread()
    try:
        with messages() as texts:
            fitted = _fitted(examples, job)
        return replace(fitted, messages=tuple(dict.fromkeys(texts)))
    except Exception as error:  # noqa: BLE001 - the user's own code can raise anything
        return Failure(in_one_line(error), "".join(traceback.format_exception(error)))


Done = tuple[int, Fitted | Failure]
"""The position of a task among the others, and its result."""


def in_worker(place: int, examples: Examples, job: Job) -> Done:
    """Do one task in a worker process."""
    _listen()
    return place, perform(examples, job)


def _fitted(examples: Examples, job: Job) -> Fitted:
    chosen = dict(job.chosen)
    inner: Validated = ()
    if job.estimator.grid:
        best, inner = search(
            examples, job.search, job.train, lambda c, rows: _model(examples, job, {**chosen, **c}, rows)
        )
        chosen |= best
    model = _model(examples, job, chosen, job.train)
    blocks = [
        _predict(validated, examples, rows, part="validation", inner_fold=fold)
        for fold, (validated, rows) in enumerate(inner, start=1)
    ]
    if job.train_predictions:
        blocks.append(_predict(model, examples, np.unique(job.train), part="train"))
    blocks.append(_predict(model, examples, job.test, part=job.part))
    return Fitted(
        blocks=tuple(blocks),
        params=json.dumps(chosen, sort_keys=True, ensure_ascii=False, default=str) if chosen else None,
        n_parameters=count_parameters(model, examples.features, job.train, len(examples.classes)),
        vc_dimension=vc_dimension(model) if examples.classes else None,
    )


def _model(examples: Examples, job: Job, chosen: Table, rows: Rows) -> Model:
    """Build an estimator and fit it on some rows."""
    model = build(job.estimator, job.folder, chosen=chosen, seed=job.seed)
    fitted = model.fit(rows_of(examples.features, rows), examples.target[rows])
    return model if fitted is None else fitted


def _predict(model: Model, examples: Examples, rows: Rows, *, part: str, inner_fold: int = 0) -> Predicted:
    features = rows_of(examples.features, rows)
    predicted = _one_column(model.predict(features), len(rows))
    if examples.labels is None:
        numbers = predicted.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError("predict returned a value that is not a finite number")
        return Predicted(part=part, inner_fold=inner_fold, rows=rows, y_pred=numbers, proba=None, score=None)
    codes = _codes(predicted, examples)
    proba = _probabilities(model, features, examples, len(rows))
    score = None if proba is not None else _decision(model, features, examples, len(rows))
    return Predicted(part=part, inner_fold=inner_fold, rows=rows, y_pred=codes, proba=proba, score=score)


def _one_column(values: npt.ArrayLike, n: int) -> Values:
    array = np.asarray(values)
    if array.shape == (n, 1):
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(f"predict returned an array of shape {array.shape} for {n} examples")
    return array


def _codes(labels: Values, examples: Examples) -> Rows:
    """Return each label's position among the classes.

    Raises
    ------
    ValueError
        The target does not hold the label.
    """
    assert examples.labels is not None
    place = {value: code for code, value in enumerate(examples.labels.values.tolist())}
    for label in np.unique(labels).tolist():
        if label not in place:
            raise ValueError(f"predict returned the label {label!r}, which the target does not hold")
    return np.array([place[label] for label in labels.tolist()], dtype=np.int64)


def _probabilities(model: Model, features: Features, examples: Examples, n: int) -> Floats | None:
    """Return the probabilities of all classes, 0 for classes that the training rows lack."""
    if not hasattr(model, "predict_proba"):
        return None
    given = np.asarray(model.predict_proba(features), dtype=np.float64)
    known = _columns(model, examples, given.shape)
    if given.shape != (n, len(known)):
        raise ValueError(f"predict_proba returned an array of shape {given.shape} for {n} examples")
    if not np.isfinite(given).all() or given.min(initial=0.0) < 0 or given.max(initial=0.0) > 1 + 1e-9:
        raise ValueError("predict_proba returned a value that is not a probability")
    proba = np.zeros((n, len(examples.classes)))
    proba[:, known] = np.minimum(given, 1.0)
    return proba


def _columns(model: Model, examples: Examples, shape: Sequence[int]) -> Rows:
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return _codes(np.asarray(classes), examples)
    if len(shape) == 2 and shape[1] == len(examples.classes):
        return np.arange(len(examples.classes))
    raise ValueError("the estimator gives probabilities but does not say of which classes (classes_)")


def _decision(model: Model, features: Features, examples: Examples, n: int) -> Floats | None:
    """Return a binary decision function with the sign for which greater means the positive class."""
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
