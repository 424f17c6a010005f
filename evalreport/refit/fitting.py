"""One task: fitting an estimator on its training rows and predicting the other rows.

It runs in the worker, and its result depends on the examples and one task alone.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.predictions.arrays import Floats, Values
from evalreport.refit.building import build, in_one_line
from evalreport.refit.examples import Examples, Features, Rows, rows_of
from evalreport.refit.model_sizes import count_parameters, vc_dimension
from evalreport.refit.plans import Model, Selection, Table
from evalreport.refit.splits import inner_folds
from evalreport.refit.tasks import Task


@dataclass(frozen=True, slots=True)
class Failure:
    """A fit that raised: its model and numbers, the exception in one line, and its traceback."""

    model: str
    fit: Mapping[str, float]
    error: str
    traceback: str


Outcome: TypeAlias = pa.Table | Failure
"""The result of a task: its predictions, with the estimator's warnings (``messages_of``), or why there are none.

Columns ``row`` (of the examples), ``part``, ``y_pred`` (a number, or a label as written); ``inner_fold`` of validation;
``p_<label>`` or else ``score``; ``params``, ``n_parameters`` and ``vc_dimension`` where they are needed and known.
"""
Done: TypeAlias = tuple[int, Outcome]
"""The position of a task among the others, and its result."""


def perform(place: int, examples: Examples, task: Task) -> Done:
    """Do one task; an exception of the user's code is returned as a failure, so that the other tasks continue."""
    _one_thread()
    listen()
    try:
        with _messages() as texts:
            table = _predictions(examples, task)
        return place, table.replace_schema_metadata({MESSAGES: json.dumps(list(dict.fromkeys(texts)))})
    except Exception as error:  # noqa: BLE001 - the user's own code can raise anything
        lines = "".join(traceback.format_exception(error))
        return place, Failure(task.variant.model, task.numbers, in_one_line(error), lines)


MESSAGES = b"messages"


def messages_of(table: pa.Table) -> list[str]:
    """Return the warnings of the estimator that made some predictions."""
    messages: list[str] = json.loads(table.schema.metadata[MESSAGES])
    return messages


_here = threading.local()


def _one_thread() -> None:
    """Limit BLAS and OpenMP to one thread, since the last bits of a sum depend on the number of threads.

    OpenMP keeps the limit for each thread, and newly imported libraries need it again. It takes 20 ms.
    """
    from threadpoolctl import threadpool_limits

    if getattr(_here, "modules", 0) != len(sys.modules):
        threadpool_limits(1)
        _here.modules = len(sys.modules)


@contextmanager
def _messages() -> Iterator[list[str]]:
    """Yield a list that collects the warnings of this thread as texts."""
    _here.texts = []
    try:
        yield _here.texts
    finally:
        _here.texts = None


def listen() -> None:
    """Collect warnings by thread from now on, which ``warnings.catch_warnings`` alone does not."""
    usual = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        texts = getattr(_here, "texts", None)
        if texts is None:
            usual(message, category, *rest, **named)
        else:
            first = (str(message).strip().splitlines() or [""])[0]
            texts.append(f"{category.__name__}: {first[:200]}")

    if not getattr(usual, "hears_fits", False):
        hear.hears_fits = True  # type: ignore[attr-defined]
        warnings.simplefilter("always")
        warnings.showwarning = hear


def _predictions(examples: Examples, task: Task) -> pa.Table:
    """Fit the estimator of a task, after a search if it has a grid, and predict."""
    chosen, fit = dict(task.variant.chosen), task.fit
    tables = []
    if task.estimator.grid:
        best, validated = _search(examples, task)
        chosen |= best
        for fold, (model, rows) in enumerate(validated, start=1):
            tables.append(_predicted(model, examples, rows, part="validation", inner_fold=fold))
    model = _model(examples, task, chosen, fit.train)
    if task.scheme.train_predictions:
        tables.append(_predicted(model, examples, np.unique(fit.train), part="train"))
    tables.append(_predicted(model, examples, fit.test, part=fit.part))
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    facts: dict[str, str | float | None] = {}
    if chosen:
        facts["params"] = json.dumps(chosen, sort_keys=True, ensure_ascii=False, default=str)
    # Criteria need the training error beside these; the number of parameters is also an axis of complexity.
    with_training = task.scheme.train_predictions or fit.part == "train"
    if with_training or task.variant.chosen:
        n_classes = len(examples.classes)
        facts["n_parameters"] = count_parameters(model, examples.features, fit.train, n_classes)
    if with_training and examples.classes:
        facts["vc_dimension"] = vc_dimension(model)
    for name, value in facts.items():
        if value is not None:
            table = table.append_column(name, pa.repeat(value, len(table)))
    return table


Validated: TypeAlias = tuple[tuple[Model, Rows], ...]
"""Fitted models, each with the rows that it was validated on."""


def _search(examples: Examples, task: Task) -> tuple[dict[str, object], Validated]:
    """Return the candidate with the least mean loss over all validation rows, the first of equals; its models."""
    scheme, train = task.scheme, task.fit.train
    assert scheme.inner_folds is not None
    assert scheme.select is not None
    seed, stratify = task.search_seed, bool(scheme.stratify)
    folds = inner_folds(examples, train, folds=scheme.inner_folds, seed=seed, stratify=stratify)
    best: tuple[float, dict[str, object], Validated] | None = None
    for candidate in candidates(task.estimator.grid):
        chosen = {**task.variant.chosen, **candidate}
        sides = ((train[kept], np.unique(train[out])) for kept, out in folds)
        inner = tuple((_model(examples, task, chosen, rows), test) for rows, test in sides)
        pieces = ((m, rows_of(examples.features, rows), examples.target[rows]) for m, rows in inner)
        losses = [_LOSSES[scheme.select](*piece) for piece in pieces]
        loss = float(np.concatenate(losses).mean())
        if best is None or loss < best[0]:
            best = (loss, candidate, inner)
    assert best is not None
    return best[1], best[2]


def candidates(grid: Mapping[str, Sequence[object]]) -> Iterator[dict[str, object]]:
    """Yield every combination of a grid, the last parameter varying fastest.

    Examples
    --------
    >>> list(candidates({"a": (1, 2), "b": (3,)}))
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _log_losses(model: Model, features: Features, target: Values) -> Floats:
    proba = np.asarray(model.predict_proba(features), dtype=np.float64)
    place = {label: column for column, label in enumerate(np.asarray(model.classes_).tolist())}
    rows = enumerate(target.tolist())
    return -np.log([max(proba[row, place[label]] if label in place else 0.0, 1e-15) for row, label in rows])


def _errors(model: Model, features: Features, target: Values) -> Floats:
    return np.asarray(model.predict(features), dtype=np.float64).reshape(len(target)) - target


_LOSSES: Mapping[Selection, Callable[[Model, Features, Values], Values]] = {
    "accuracy": lambda model, features, target: np.asarray(model.predict(features)).ravel() != target,
    "log_loss": _log_losses,
    "mse": lambda model, features, target: _errors(model, features, target) ** 2,
    "mae": lambda model, features, target: np.abs(_errors(model, features, target)),
}
"""The loss of each row."""


def _model(examples: Examples, task: Task, chosen: Table, rows: Rows) -> Model:
    """Build an estimator and fit it on some rows."""
    model = build(task.estimator, task.folder, chosen=chosen, seed=task.seed)
    fitted = model.fit(rows_of(examples.features, rows), examples.target[rows])
    return model if fitted is None else fitted


def _predicted(model: Model, examples: Examples, rows: Rows, *, part: str, inner_fold: int = 0) -> pa.Table:
    """Return a model's predictions of some rows."""
    n, features = len(rows), rows_of(examples.features, rows)
    columns = {"row": pa.array(rows, pa.int32()), "part": pa.repeat(part, n)}
    if inner_fold:
        columns["inner_fold"] = pa.repeat(pa.scalar(inner_fold, pa.int32()), n)
    predicted = _one_column(model.predict(features), n)
    if examples.labels is None:
        numbers = predicted.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError("predict returned a value that is not a finite number")
        return pa.table({**columns, "y_pred": numbers})
    columns["y_pred"] = pa.array(examples.classes, pa.string()).take(pa.array(_codes(predicted, examples)))
    if hasattr(model, "predict_proba"):
        proba = _probabilities(model, features, examples, n)
        columns |= {f"p_{label}": pa.array(proba[:, code]) for code, label in enumerate(examples.classes)}
    elif examples.positive is not None and hasattr(model, "decision_function"):
        columns["score"] = pa.array(_decision(model, features, examples, n))
    return pa.table(columns)


def _one_column(values: npt.ArrayLike, n: int) -> Values:
    array = np.asarray(values)
    if array.shape not in ((n,), (n, 1)):
        raise ValueError(f"predict returned an array of shape {array.shape} for {n} examples")
    return array.reshape(n)


def _codes(labels: npt.ArrayLike, examples: Examples) -> Rows:
    """Return each label's position among the classes.

    Raises
    ------
    ValueError
        The target does not hold the label.
    """
    assert examples.labels is not None
    place = {value: code for code, value in enumerate(examples.labels.values.tolist())}
    texts = np.asarray(labels).tolist()
    for label in texts:
        if label not in place:
            raise ValueError(f"predict returned the label {label!r}, which the target does not hold")
    return np.array([place[label] for label in texts], dtype=np.int64)


def _probabilities(model: Model, features: Features, examples: Examples, n: int) -> Floats:
    """Return the probabilities of all classes, 0 for classes that the training rows lack."""
    stated = np.asarray(model.predict_proba(features), dtype=np.float64)
    if hasattr(model, "classes_"):
        codes = _codes(model.classes_, examples)
    elif stated.shape[1:] == (len(examples.classes),):
        codes = np.arange(len(examples.classes))
    else:
        raise ValueError("the estimator gives probabilities but does not say of which classes (classes_)")
    if stated.shape != (n, len(codes)):
        raise ValueError(f"predict_proba returned an array of shape {stated.shape} for {n} examples")
    if not np.isfinite(stated).all() or stated.min(initial=0.0) < 0 or stated.max(initial=0.0) > 1 + 1e-9:
        raise ValueError("predict_proba returned a value that is not a probability")
    proba = np.zeros((n, len(examples.classes)))
    proba[:, codes] = np.minimum(stated, 1.0)
    return proba


def _decision(model: Model, features: Features, examples: Examples, n: int) -> Floats:
    """Return a binary decision function with the sign for which greater means the positive class."""
    values = np.asarray(model.decision_function(features), dtype=np.float64)
    if values.shape not in ((n,), (n, 1)) or not np.isfinite(values).all():
        raise ValueError(f"decision_function returned no {n} finite numbers")
    last = _codes(model.classes_, examples)[-1] if hasattr(model, "classes_") else -1
    return values.reshape(n) if examples.classes[last] == examples.positive else -values.reshape(n)
