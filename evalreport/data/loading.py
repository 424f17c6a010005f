"""load(): prediction files or data frames -> one validated, canonical ``Predictions``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, TypeGuard

from evalreport.config import Options, Task
from evalreport.data.alignment import align
from evalreport.data.concatenation import Rows, Table, gather
from evalreport.data.data_checks import oddities, with_training_rows
from evalreport.data.design import find_design, with_seeds_as_repeats
from evalreport.data.formats import read_file
from evalreport.data.joined_files import attach_truth, covariates, true_values
from evalreport.data.outputs import model_outputs, parse_outputs
from evalreport.data.predictions import Predictions
from evalreport.data.reading import Choose, Columns, model_name
from evalreport.data.sources import (
    File,
    digest,
    find_files,
    memory_record,
    memory_tables,
    table_of,
    truth_from_memory,
)
from evalreport.data.task import find_task
from evalreport.records import FoundRecord, InputRecord, WarningRecord, warning
from evalreport.texts import Message

_DEFAULTS = Options()

Paths: TypeAlias = str | Path | Sequence[str | Path]


def load(
    source: object, *, options: Options = _DEFAULTS, truth: object = None, memory_limit: int | None = None
) -> Predictions:
    """Read, align and validate the predictions of one or more models.

    Parameters
    ----------
    source
        A folder, a file or a list of files; a data frame (pandas, polars, pyarrow) with a column ``model``;
        or a mapping of model name to data frame or to columns; or a mapping of column name to array.
        ``Predictions`` were loaded before, and are returned as they are.
    options
        What was asked for: truth, task, positive class, threshold, join, columns to slice or cluster by.
    truth
        True values that are not in ``source``: an array in the order of the rows, a mapping of id to value,
        or a data frame with the columns id and y_true. A file is named by ``options.truth``.
    memory_limit
        Bytes that reading and sorting may take beside the columns themselves; None: a share of what is there.

    Returns
    -------
    Predictions
        Rows and models in canonical order: neither the order of files nor of rows changes anything.

    Raises
    ------
    InputError
        Wherever the input is not what it must be; with file, line, column and what to do.
    UsageError
        Where an option names a class or a column that is not there, or the memory limit leaves no room.
    """
    if isinstance(source, Predictions):
        return source
    if isinstance(truth, (str, Path)):
        options, truth = dataclasses.replace(options, truth=str(truth)), None
    tables, truth_table, inputs, warnings = _tables(source, options, truth, memory_limit)
    rows = gather(tables)
    del tables  # their columns are in rows now
    found = _sources_found(rows)
    if truth_table is not None:
        rows, said, odd = attach_truth(rows, truth_table, memory_limit=memory_limit)
        found, warnings = found + said, warnings + odd
    task = find_task(rows, options)
    parsed = parse_outputs(rows, task)
    alignment = align(rows, join=options.join, memory_limit=memory_limit)
    y_true = true_values(rows, alignment, task)
    models, said_of_models, odd_of_models = model_outputs(rows, alignment, task, parsed, options)
    described = covariates(rows, alignment, options, models)
    design = find_design(rows, alignment, apart=options.join == "independent")
    predictions = Predictions(
        task=task.task,
        design=design.design,
        ids=alignment.ids,
        example=alignment.example,
        y_true=y_true,
        models=described.models,
        classes=task.classes,
        positive=task.positive,
        keys=with_seeds_as_repeats(described.keys) if design.seeds_are_repeats else described.keys,
        metadata=described.metadata,
        inputs=inputs,
        found=(
            *task.found,
            FoundRecord(what="design", value=design.design, why=design.why),
            *found,
            *alignment.found,
            *said_of_models,
        ),
        warnings=(
            *warnings,
            *_unused(rows, task.task),
            *task.warnings,
            *alignment.warnings,
            *odd_of_models,
            *described.warnings,
        ),
    )
    if not _is_path(source):
        predictions = dataclasses.replace(predictions, inputs=(memory_record(predictions), *inputs))
    return oddities(with_training_rows(predictions))


def _tables(
    source: object, options: Options, truth: object, memory_limit: int | None
) -> tuple[list[Table], Table | None, tuple[InputRecord, ...], tuple[WarningRecord, ...]]:
    if _is_path(source):
        tables, truth_table, inputs, warnings = _from_files(source, options, memory_limit)
    else:
        tables, truth_table, inputs, warnings = memory_tables(source, options), None, (), ()
        if options.truth is not None and truth is None:
            file = find_files(options.truth, None).files[0]
            truth_table = _read(file, options, memory_limit, predictions=False)
            inputs = (_record(file, truth_table.read, None),)
    if truth is not None:
        truth_table = truth_from_memory(truth, options)
    return tables, truth_table, inputs, warnings


def _is_path(source: object) -> TypeGuard[Paths]:
    if isinstance(source, (list, tuple)):
        return all(isinstance(item, (str, Path)) for item in source)
    return isinstance(source, (str, Path))


def _from_files(
    source: Paths, options: Options, memory_limit: int | None
) -> tuple[list[Table], Table | None, tuple[InputRecord, ...], tuple[WarningRecord, ...]]:
    files = find_files(source, options.truth)
    tables = [_read(file, options, memory_limit, predictions=True) for file in files.files]
    inputs = [
        _record(file, table.read, None if "model" in table.roles.columns else table.model)
        for file, table in zip(files.files, tables, strict=True)
    ]
    truth_table = None
    if files.truth is not None:
        truth_table = _read(files.truth, options, memory_limit, predictions=False)
        inputs.append(_record(files.truth, truth_table.read, None))
    return tables, truth_table, tuple(sorted(inputs, key=lambda record: record.path)), files.warnings


def _read(file: File, options: Options, memory_limit: int | None, *, predictions: bool) -> Table:
    def read(choose: Choose) -> Columns:
        return read_file(file.path, file.name, choose, memory_limit=memory_limit)

    return table_of(read, file.name, model_name(file.path), options, predictions=predictions)


def _record(file: File, read: Columns, model: str | None) -> InputRecord:
    return InputRecord(path=file.relative, sha256=digest(file.path), rows=read.rows, model=model)


def _sources_found(rows: Rows) -> tuple[FoundRecord, ...]:
    files = len(rows.tables)
    n = len(rows.models)
    if rows.tables[0].name.startswith("<"):
        why = Message("found.models.in_memory", n=n)
    elif files == n:
        why = Message("found.models.one_a_file", n=n)
    elif files == 1:
        why = Message("found.models.one_file", n=n)
    else:
        why = Message("found.models.files", n=n, files=files)
    found = [FoundRecord(what="models", value=", ".join(rows.models), why=why)]
    if rows.ids is not None and not any("id" in table.roles.columns for table in rows.tables):
        found.append(FoundRecord(what="ids", value="row numbers", why=Message("found.no_id")))
    return tuple(found)


def _unused(rows: Rows, task: Task) -> list[WarningRecord]:
    """Say which columns play no part, by their headers or by the task."""
    idle = {
        "outcome": ("y_true", "y_pred", "score"),
        "scores": ("y_true", "y_pred", "score"),
        "multiclass": ("score",),
    }
    return [
        warning("unused_column", "of_task", about=(name,), column=name, task=task)
        for name in idle.get(task, ())
        if name in rows.columns
    ] + [
        warning("unused_column", "of_file", about=(header,), column=header, file=table.told, why=why)
        for table in rows.tables
        for header, why in table.roles.unused.items()
    ]
