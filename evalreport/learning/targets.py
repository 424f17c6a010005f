"""The target of a plan's examples: which task it means, its classes, and what an estimator is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.columns import MOST_CLASSES
from evalreport.data.reading import Columns
from evalreport.data.task import MOST_WHOLE_CLASSES, POSITIVE_PAIRS
from evalreport.data.values import (
    dictionary_codes,
    dictionary_numbers,
    in_order,
    is_number,
    is_whole,
    spelled_alike,
    used_only,
)
from evalreport.errors import InputError, UsageError
from evalreport.learning.plans import DataSource, Task
from evalreport.texts import Message, quoted


def read_target(read: Columns, source: DataSource, name: str) -> dict[str, Any]:
    """Return the fields of ``Examples`` that the target decides, and ``why`` it is taken for that task.

    Raises
    ------
    InputError
        An empty target, one that is no number in a regression, too few or too many classes.
    UsageError
        A positive class that is none of the classes, or of a task that has none.
    """
    header = header_of(read, source.target)
    array = used_only(read.arrays[header])
    codes = dictionary_codes(array)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InputError(
            f"the target is empty ({int((codes < 0).sum())} of {read.rows} rows)",
            file=name,
            line=read.locate(row, None)[0],
            column=header,
            expected="the true label or value of every example",
            remedy="fill in the target, or remove these rows",
        )
    labels: list[str] = array.dictionary.to_pylist()
    task, why = _task(labels, source.task)
    if task == "regression":
        values = dictionary_numbers(array)
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"{quoted(labels[codes[row]])} is no finite number",
                file=name,
                line=read.locate(row, None)[0],
                column=header,
                expected="a finite number (the task is regression)",
                remedy="correct the value, or set [data] task",
            )
        _refuse_positive(source, task)
        return {"target": values, "task": task, "why": why}
    return {**_classes(labels, codes, task, source, name), "why": why}


def _task(labels: list[str], named: Task | None) -> tuple[Task, Message]:
    if named is not None:
        return named, Message("resample.as_planned")
    count = len(set(spelled_alike(labels).values()))
    several: Task = "multiclass" if count > 2 else "binary"
    if not all(map(is_number, labels)):
        return several, Message("resample.text_target", example=min(labels))
    if all(map(is_whole, labels)) and count <= MOST_WHOLE_CLASSES:
        return several, Message("resample.whole_target", n=count)
    return "regression", Message("resample.number_target")


def _classes(
    labels: list[str], codes: npt.NDArray[np.int32], task: Task, source: DataSource, name: str
) -> dict[str, Any]:
    spelling = spelled_alike(labels)
    classes = in_order(spelling.values())
    if len(classes) < 2 or len(classes) > MOST_CLASSES or (task == "binary" and len(classes) > 2):
        wanted = "two classes" if task == "binary" else f"2 to {MOST_CLASSES:,} classes"
        few = ", ".join(map(quoted, classes[:3])) + (", ..." if len(classes) > 3 else "")
        raise InputError(
            f"the target holds {len(classes)} class{'es' * (len(classes) > 1)} ({few})",
            file=name,
            column=source.target,
            expected=wanted,
            remedy="check [data] target, or set [data] task",
        )
    if task == "multiclass":
        _refuse_positive(source, task)
    place = np.array([classes.index(spelling[label]) for label in labels], dtype=np.int64)
    whole = all(map(is_whole, classes))
    values = np.array([int(float(label)) for label in classes] if whole else list(classes))
    of_rows = place[codes]
    return {
        "target": values[of_rows],
        "task": task,
        "classes": classes,
        "values": values,
        "codes": of_rows,
        "positive": _positive(classes, source.positive) if task == "binary" else None,
    }


def _refuse_positive(source: DataSource, task: Task) -> None:
    if source.positive is not None:
        raise UsageError(f"[data] positive: only a binary task has a positive class, and the task is {task}")


def _positive(classes: tuple[str, ...], named: str | None) -> str:
    """Return the positive class by the rule of ``run``, so that scores point the right way there."""
    if named is not None:
        if named not in classes:
            raise UsageError(f"[data] positive {named!r} is none of the classes {', '.join(classes)}")
        return named
    lowered = {label.lower(): label for label in classes}
    pair = next((pair for pair in POSITIVE_PAIRS if set(pair) == set(lowered)), None)
    return classes[-1] if pair is None else lowered[pair[1]]


def guessed_positive(classes: tuple[str, ...]) -> str:
    """Return the class that ``run`` would take for the positive one of two unless it is told.

    Examples
    --------
    >>> guessed_positive(("No", "Yes")), guessed_positive(("cat", "dog"))
    ('Yes', 'dog')
    """
    return _positive(classes, None)


def header_of(read: Columns, column: str) -> str:
    """Return the header of a column as the file spells it."""
    return next(header for header in read.names if header.strip() == column)
