"""Suites of benchmarks: ids by task, and the checks of the tasks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.engine.blocks import Places
from evalreport.errors import InputError, UsageError, refuse_all
from evalreport.loading.rows import Rows, as_metadata, file_of, first_of, refuse_where
from evalreport.options import Options
from evalreport.predictions.arrays import Indices, Mask
from evalreport.predictions.cells import (
    as_numpy,
    category_column,
    dictionary_codes,
    from_numpy,
    from_texts,
    used_only,
)
from evalreport.predictions.column_names import TASK
from evalreport.predictions.table import Notes, Predictions
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, quoted

LEAST_CLASSES = 3
"""Of fewer there are no averages over classes."""


def divide_by_task(rows: Rows, options: Options) -> tuple[Rows, Notes]:
    """Tell the ids of two or more tasks apart; one task, and scores without examples, make the column metadata.

    Returns
    -------
    rows, notes
        Of a suite, ``rows.coded`` holds ids such as ``gsm8k:17``: an id may occur in several tasks.

    Raises
    ------
    InputError
        Where a row of a suite has no task, or (join ``error``) a model lacks one.
    UsageError
        Where an option has no honest meaning for a suite.
    """
    if TASK not in rows.columns:
        return rows, Notes()
    array = used_only(rows.columns[TASK])
    names = array.dictionary.to_pylist()
    if rows.coded is None or len(names) < 2:
        return as_metadata(rows, TASK), Notes()
    _refuse_options(options)
    refuse_where(dictionary_codes(array) < 0, rows, TASK, "no_task")
    column = category_column(array)
    assert column.categories is not None
    tasks, held = column.categories, _tasks_of_models(rows, column.values, len(column.categories))
    notes = [_suite_found(tasks, held)]
    if not held.all():
        notes += _tasks_left_out(rows, tasks, held, options)
    coded = _within_tasks(rows.coded, column.values.astype(np.int64), tasks)
    return replace(rows, coded=coded), Notes(tuple(notes))


def require_sizes(predictions: Predictions, cluster: str | None) -> None:
    """Refuse a suite in which a task has a single example, or (``--cluster``) a single cluster.

    Raises
    ------
    InputError
        Such a task, by its name.
    """
    tasks = predictions.tasks
    if tasks is None or tasks.categories is None:
        return
    units, word = predictions.example, "example"
    if cluster is not None:
        column = predictions.column(cluster)
        units, word = np.unique(column.values, return_inverse=True)[1].ravel(), "cluster"
    pairs = np.unique(np.stack([tasks.values.astype(np.int64), units]), axis=1)
    counts = np.bincount(pairs[0], minlength=len(tasks.categories))
    alone = [tasks.categories[t] for t in np.flatnonzero(counts == 1)]
    if not alone:
        return
    code, of = "small_task" if len(alone) == 1 else "small_tasks", "" if cluster is None else f" of {cluster}"
    raise InputError.of(code, column=TASK, names=first_of(map(quoted, alone), 5), word=word, of=of)


def unlike_classes(predictions: Predictions) -> list[WarningRecord]:
    """Warn where a task of several classes has no example of some of them, which macro averages count as 0 there."""
    tasks = predictions.tasks
    n = len(predictions.classes)
    if tasks is None or tasks.categories is None or predictions.y_true is None or n < LEAST_CLASSES:
        return []
    pairs = np.unique(np.stack([tasks.values.astype(np.int64), predictions.y_true.astype(np.int64)]), axis=1)
    held = np.bincount(pairs[0][pairs[1] >= 0], minlength=len(tasks.categories))
    least = int(held.argmin())
    if held[least] == n:
        return []
    task = tasks.categories[least]
    return [warning("classes_differ_by_task", about=(task,), n=n, task=task, held=int(held[least]))]


def clusters_across_tasks(predictions: Predictions, cluster: str | None) -> list[WarningRecord]:
    """Warn of clusters with examples in several tasks, which are drawn within each task as if they were others."""
    tasks = predictions.tasks
    if tasks is None or cluster is None:
        return []
    column = predictions.column(cluster)
    codes = np.unique(column.values, return_inverse=True)[1].ravel()
    pairs = np.unique(np.stack([codes, tasks.values.astype(np.int64)]), axis=1)
    several = int((np.bincount(pairs[0]) > 1).sum())
    if not several:
        return []
    return [warning("clusters_across_tasks", about=(cluster,), n=several, column=cluster)]


def _refuse_options(options: Options) -> None:
    if options.weight is not None:
        raise UsageError(
            f"--weight {options.weight}: the tasks of a suite (column task) count the same, and within a task its"
            " examples do: leave the weights out, or pass --average examples to let every example count the same"
        )
    if options.cluster == TASK:
        raise UsageError(
            "--cluster task: the tasks of a suite are fixed, not drawn. Leave it out; if the tasks are a sample from"
            " which you generalise to others, rename the column to dataset"
        )
    if options.join == "independent":
        raise UsageError(
            "--join independent is for one test set a model; these files are a suite (column task), whose tasks are"
            " compared example by example: leave it out, or compare one task at a time"
        )
    if options.fixed_class_counts:
        raise UsageError("--fixed-class-counts is not for suites (column task): leave it out")


def _tasks_of_models(rows: Rows, task: npt.NDArray[np.int32], n_tasks: int) -> Mask:
    """Say which model (rows) has examples of which task (columns)."""
    counts = np.bincount(rows.model.astype(np.int64) * n_tasks + task, minlength=len(rows.models) * n_tasks)
    return np.asarray(counts.reshape(len(rows.models), n_tasks) > 0)


def _suite_found(tasks: tuple[str, ...], held: Mask) -> FoundRecord:
    shared = tuple(name for t, name in enumerate(tasks) if held[:, t].all())
    value = Message("found.suite.value", names=shared, n=len(shared))
    return FoundRecord(what="suite", value=value, why=Message("found.suite.why"))


def _tasks_left_out(rows: Rows, tasks: tuple[str, ...], held: Mask, options: Options) -> list[FoundRecord]:
    """Refuse models that lack a task; under ``--join intersect`` say which tasks are left out for all.

    Raises
    ------
    InputError
        A model that lacks a task; the one that lacks most first.
    """
    lacking = [model for model in np.argsort(held.sum(axis=1), kind="stable") if not held[model].all()]
    dropped = tuple(tasks[t] for t in np.flatnonzero(~held.all(axis=0)))
    kept = len(tasks) - len(dropped)
    if options.join == "intersect" and kept:
        names_of = {m: tuple(np.array(tasks)[~held[m]].tolist()) for m in sorted(lacking)}
        of = tuple(Message("found.suite.lacks", model=rows.models[m], names=n) for m, n in names_of.items())
        value = Message("found.suite.names", names=dropped)
        why = Message("found.suite.left_out", n=kept, of=of)
        return [FoundRecord(what="tasks left out", value=value, why=why)]
    refuse_all([_lacks_task(rows, int(model), tasks, held, kept) for model in lacking])
    return []


def _lacks_task(rows: Rows, model: int, tasks: tuple[str, ...], held: Mask, kept: int) -> InputError:
    names = [quoted(tasks[t]) for t in np.flatnonzero(~held[model])]
    word = "task" if len(names) == 1 else f"{len(names)} tasks"
    remedy = "predict the missing examples"
    if kept:
        common = "one task" if kept == 1 else f"{kept} tasks"
        remedy += f", or pass --join intersect to compare on the {common} that all models have"
    refused = partial(InputError.of, "task_lacking", file=file_of(rows, model), column=TASK)
    return refused(model=rows.models[model], word=word, names=first_of(names, 5), remedy=remedy)


def _within_tasks(
    coded: tuple[pa.Array, Places], task: Indices, tasks: tuple[str, ...]
) -> tuple[pa.Array, Places]:
    """Return the distinct (task, id) as text, sorted, and each row's position among them."""
    ids, code = coded
    pairs, place = np.unique(task * len(ids) + code, return_inverse=True)
    prefixes = from_texts(_id_prefixes(tasks))
    names = pc.binary_join_element_wise(
        prefixes.take(from_numpy(pairs // len(ids))),
        ids.take(from_numpy(pairs % len(ids))),
        from_texts([""])[0],
    )
    order = as_numpy(pc.sort_indices(names), 0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return names.take(from_numpy(order)), ranks[place.ravel()]


def _id_prefixes(tasks: tuple[str, ...]) -> list[str]:
    """Return the prefixes of ids: the task and a colon, tasks in quotes where one of them holds a colon."""
    unlike = any(":" in name for name in tasks)
    return [f"{name!r}:" if unlike else f"{name}:" for name in tasks]
