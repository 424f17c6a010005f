"""load(): prediction files or data frames become one validated table, ``Predictions``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from evalreport import extensions
from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.alignment import align
from evalreport.loading.attempts import Answers, settle_attempts, with_attempts
from evalreport.loading.checks import checked, with_training_rows
from evalreport.loading.counts import (
    CountedElsewhere,
    counts_found,
    distinct,
    refuse_options,
    refuse_parts,
    rows_of_counts,
    with_scores,
)
from evalreport.loading.covariates import covariates
from evalreport.loading.ids import Seen, seen_before
from evalreport.loading.loaded import Loaded
from evalreport.loading.missing import settle_missing
from evalreport.loading.numbers import by_unit, refuse_unlike_truths
from evalreport.loading.outputs import model_outputs
from evalreport.loading.parsing import Parsed, on_scale_of_people, parse_costs, parse_outputs
from evalreport.loading.probabilities import name_probabilities
from evalreport.loading.rows import Rows, fault, gather, headers_of, with_coded_ids
from evalreport.loading.suites import divide_by_task
from evalreport.loading.tables import Table, table_of
from evalreport.loading.task import FoundTask, KnownTask, find_task, without_true_values
from evalreport.loading.truth import attach_truth, with_true_values
from evalreport.loading.values import columns_found, with_values_settled
from evalreport.loading.wide import tables_of
from evalreport.options import Options, Task, with_fields
from evalreport.predictions.arrays import Values
from evalreport.predictions.cells import in_chunks
from evalreport.predictions.design import Cells, FoundDesign, design_of, with_seeds_as_repeats
from evalreport.predictions.digest import memory_record
from evalreport.predictions.direction import directed, direction_found
from evalreport.predictions.subsets import weighing_rows
from evalreport.predictions.table import Column, Counts, Labels, Notes, Origin, Predictions
from evalreport.schema.inputs import LONGEST_NAME, FoundRecord, InputRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.database import one_database
from evalreport.sources.encodings import in_utf_8
from evalreport.sources.files import (
    Copies,
    File,
    Found,
    aggregate_in,
    copies_of_addresses,
    digest,
    find_files,
    is_path,
)
from evalreport.sources.folders import named_by
from evalreport.sources.formats import source_of
from evalreport.sources.frames import are_lazy
from evalreport.sources.memory import memory_sources, truth_source
from evalreport.sources.reading import Columns, NoRowError, Source
from evalreport.sources.scikit_learn import as_fold_scores, score_arrays
from evalreport.sources.workbooks import read_workbook  # noqa: F401 - it registers itself
from evalreport.texts import Message, parts, plain
from evalreport.texts.units import PLAIN_UNIT, unit_of

_DEFAULTS = Options()
JUDGED_IN = {"outcome": "outcome", "scores": "value"}
"""Task -> the standard column that holds its numbers."""


def load(
    source: object,
    *,
    options: Options = _DEFAULTS,
    truth: object = None,
    classes: Sequence[object] | None = None,
    memory_limit: int | None = None,
    engine: str | None = None,
    known: KnownTask | None = None,
) -> Predictions:
    """Read, align and validate the predictions of one or more models.

    Parameters
    ----------
    source
        A folder, a file, a pattern, an address or a list of these; a data frame (pandas, polars, pyarrow) with a
        column ``model``; or a mapping of model name to data frame or to columns; or a mapping of column name to array.
        ``Predictions`` were loaded before, and are returned as they are.
    options
        Truth, task, positive class, threshold, join, columns to slice or cluster by.
    truth
        True values that are not in ``source``: an array in the order of the rows, a mapping of id to value,
        or a data frame with the columns id and y_true. A file is named by ``options.truth``.
    classes
        The labels of the columns of (n, K) probabilities in memory; None: the sorted labels of the truth.
    memory_limit
        Bytes that reading and sorting may take beside the columns themselves; None: a share of this machine's memory.
    engine
        The engine that counts the labels of files, so that no row is read here; None: rows are read.
    known
        The task of an earlier run: true values may then be lacking altogether, and ``y_true`` is None.

    Returns
    -------
    Predictions
        Rows and models in canonical order: neither the order of files nor of rows changes anything.

    Raises
    ------
    InputError
        Input that cannot be used; with file, line, column and what to do.
    UsageError
        Where an option names a class or a column that is not there, or the memory limit leaves no room.
    """
    if isinstance(source, Predictions):
        refuse_options(source.inputs[0].path if source.multiplicity is not None else None, options)
        return source
    if isinstance(truth, (str, Path)):
        options, truth = replace(options, truth=str(truth)), None
    with copies_of_addresses() as copies, one_database():
        counted = _counted_elsewhere(source, truth, options, engine, memory_limit)
        if counted is not None:
            source, options = counted.table, counted.options
        read = _read(source, truth, options, classes=classes, memory_limit=memory_limit, copies=copies)
        if counted is None:
            refuse_parts([table for table in (*read.tables, read.truth) if table is not None])
        predictions = distinct(_widened(_loaded(read, options, memory_limit, known)))
        inputs = read.inputs
        if counted is not None:
            predictions = with_scores(predictions, counted)
            inputs = (*inputs, *counted.inputs)
        if not (is_path(source) or (counted is not None and counted.inputs)):
            inputs = (memory_record(predictions), *inputs)
        predictions = replace(predictions, origin=replace(predictions.origin, inputs=inputs))
        return checked(with_training_rows(weighing_rows(predictions, options.weight)), options)


def settled_options(
    options: Options | None, truth: Any, fields: Mapping[str, object], models: object
) -> tuple[Options, Any]:
    """Return the validated options, under an aggregate's manifest where MODELS are one; and a truth given as values."""
    given = dict(fields)
    if isinstance(truth, (str, PathLike)):
        given, truth = {**given, "truth": fspath(truth)}, None
    base = Options() if options is None else options
    path = given.get("criteria", base.criteria)
    if path is not None:
        given = extensions.load("options with criteria")({**given, "criteria": path}, given)
    return under_manifest(models, with_fields(base, given)), truth


def under_manifest(source: object, options: Options) -> Options:
    """Return the options of a run, with those that its aggregate was made under where the run names none.

    Raises
    ------
    UsageError
        The run asks for what the aggregate was not made for; the message has the line that aggregates anew.
    """
    if aggregate_in(source) is None:
        return options
    settled: Options = extensions.load("options of an aggregate")(source, options)
    return settled


def _counted_elsewhere(
    source: object, truth: object, options: Options, engine: str | None, memory_limit: int | None
) -> CountedElsewhere | None:
    """Return the counts of an aggregate's folder, or of rows that an engine counts; None: rows are read here."""
    if engine is None and aggregate_in(source) is None and not are_lazy(source):
        return None
    counted: CountedElsewhere | None = extensions.load("counts of a source")(
        source, truth, options, engine=engine, memory_limit=memory_limit
    )
    return counted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The tables of predictions and of true values, and the files that they come from.

    ``naming`` says how the models of files came by their names.
    """

    tables: list[Table]
    truth: Table | None
    inputs: tuple[InputRecord, ...] = ()
    notes: Notes = field(default_factory=Notes)
    naming: frozenset[str] = frozenset()


def _read(
    source: object,
    truth: object,
    options: Options,
    *,
    classes: Sequence[object] | None,
    memory_limit: int | None,
    copies: Copies,
) -> _Read:
    """Read every source of predictions and of true values.

    Raises
    ------
    InputError
        The errors of all sources together.
    """
    if is_path(source):
        files = source if isinstance(source, Found) else find_files(source, options.truth, copies)
        read = _read_files(files, options, memory_limit, copies)
        return read if truth is None else replace(read, truth=_true_values(truth_source(truth), options))
    source, scorer, of_search = as_fold_scores(source, options.value)
    own = options if scorer is None else replace(options, value=scorer)
    if truth is None and options.truth is None and not options.wide:
        source = score_arrays(source) or source
    named = {name for name in (own.outcome, own.value) if name is not None}
    sources, apart = memory_sources(source, truth, classes=classes, named=named, wide=options.wide)
    errors: list[InputError] = []
    tables: list[Table] = []
    for one in sources:
        with together(errors):
            tables += tables_of(one, own)
    table = None
    if apart is not None:
        with together(errors):
            table = _true_values(apart, own)
    refuse_all(errors)
    if options.truth is None or truth is not None:
        return _Read(tables=tables, truth=table, notes=Notes(of_search))
    file = find_files(options.truth, None, copies).files[0]
    table = _true_values(_source(file, options, memory_limit, copies), options)
    inputs = (_record(file, table.read, None),)
    return _Read(tables=tables, truth=table, inputs=inputs, notes=Notes(of_search))


def _source(file: File, options: Options, memory_limit: int | None, copies: Copies) -> Source:
    return source_of(in_utf_8(file, options.encoding, copies), memory_limit=memory_limit)


def _read_files(files: Found, options: Options, memory_limit: int | None, copies: Copies) -> _Read:
    errors: list[InputError] = []
    tables: list[Table] = []
    inputs: list[InputRecord] = []
    truth, seen = None, Seen()
    parts_without_rows: list[tuple[File, NoRowError]] = []
    for file in files.files:
        with together(errors):
            source = _source(file, options, memory_limit, copies)
            try:
                own = [_sharing_ids(t, seen) for t in tables_of(source, options)]
            except NoRowError as error:
                if not file.belongs.part:
                    raise
                parts_without_rows.append((file, error))
                continue
            tables += own
            table = own[0]
            of_several = "model" in table.roles.columns or table.roles.answers or options.wide
            inputs.append(_record(file, table.read, None if of_several else table.model))
    models = {table.model for table in tables}
    errors += [error for file, error in parts_without_rows if file.belongs.model not in models]
    naming = frozenset(named_by(r.path, r.model) if r.model is not None else "column" for r in inputs)
    if files.truth is not None:
        with together(errors):
            truth = _true_values(_source(files.truth, options, memory_limit, copies), options)
            inputs.append(_record(files.truth, truth.read, None))
    refuse_all(errors)
    ordered = tuple(sorted(inputs, key=lambda record: record.path))
    notes = Notes(_empty_parts(len(parts_without_rows)), files.warnings)
    return _Read(tables=tables, truth=truth, inputs=ordered, notes=notes, naming=naming)


def _empty_parts(n: int) -> tuple[FoundRecord, ...]:
    """Say how many parts of models hold no row, as Spark writes them."""
    if n == 0:
        return ()
    value = Message("found.empty_parts.value", n=n)
    return (FoundRecord(what="empty parts", value=value, why=Message("found.empty_parts.why")),)


def _sharing_ids(table: Table, seen: Seen) -> Table:
    """Let a table hold the ids of an earlier one where they are the same."""
    header = table.roles.columns.get("id")
    if header is None:
        return table
    ids = seen_before(in_chunks(table.read.arrays[header]), seen)
    return table.with_arrays({header: ids})


def _true_values(source: Source, options: Options) -> Table:
    return table_of(source, options, predictions=False)


def _record(file: File, read: Columns, model: str | None) -> InputRecord:
    return InputRecord(path=file.relative, sha256=digest(file.path), rows=read.rows, model=model)


def _loaded(read: _Read, options: Options, memory_limit: int | None, known: KnownTask | None) -> Predictions:
    """Bring tables into one aligned table.

    Rows of all tables; their task; their cells parsed and matched; true values and empty cells settled; the models'
    outputs, keys and metadata in canonical order; the design.
    """
    rows, of_rows = _gathered(read, options, memory_limit, known)
    task = without_true_values(rows, known) or find_task(rows, options)
    unused = tuple(_unused(rows, task.task))
    matched = _matched(rows, task, options)
    options = directed(options, matched.notes.found)
    loaded = settle_missing(with_true_values(matched), options)
    models, of_models = model_outputs(loaded, options)
    loaded = _without_outputs(loaded)
    rows = loaded.rows
    described = covariates(loaded, models, options)
    design = find_design(loaded, apart=options.join == "independent")
    alignment, in_order = loaded.alignment, bool(options.class_order)
    labels = Labels(classes=task.classes, positive=task.positive, outside=loaded.outside, in_order=in_order)
    found = Notes((*task.notes.found, _design_found(design, loaded)))
    notes = found + of_rows + Notes((), (*unused, *task.notes.warnings))
    return Predictions(
        task=task.task,
        design=design.design,
        ids=alignment.ids,
        example=alignment.example,
        y_true=loaded.y_true,
        models=with_attempts(described.models, loaded),
        labels=labels,
        keys=with_seeds_as_repeats(described.keys) if design.seeds_are_repeats else described.keys,
        metadata=described.metadata,
        counts=None if rows.times is None else Counts(rows.times[alignment.rows[0]]),
        origin=Origin((), _judged_in(rows, task, options), _unit(rows, task.task)),
        notes=notes + loaded.notes + of_models + Notes((), described.warnings),
    )


def _unit(rows: Rows, task: Task) -> str | None:
    """Name what sums are added up over: as the columns of ids are called, where all are called the same."""
    if task != "sums":
        return None
    names = {unit_of(header) for header in headers_of(rows, "id")}
    return (names.pop() if len(names) == 1 else None) or PLAIN_UNIT


def _widened(predictions: Predictions) -> Predictions:
    """Give codes the types of the table: they are small ones as long as the rows are in memory beside the cells."""

    def wide(values: Values | None) -> Values | None:
        if values is None or values.dtype.kind != "i":
            return values
        return values.astype(np.int32, copy=False)

    example = predictions.example.astype(np.int64, copy=False)
    models = tuple(replace(model, y_pred=wide(model.y_pred)) for model in predictions.models)
    return replace(predictions, example=example, y_true=wide(predictions.y_true), models=models)


def _without_outputs(loaded: Loaded) -> Loaded:
    """Let go of the columns of labels, which the models' outputs in canonical order replace."""
    columns = {n: c for n, c in loaded.rows.columns.items() if n not in ("y_true", "y_pred")}
    rows = replace(loaded.rows, columns=columns, probabilities={}, truth=None)
    return replace(loaded, rows=rows, parsed=Parsed(proba={}))


def _gathered(
    read: _Read, options: Options, memory_limit: int | None, known: KnownTask | None
) -> tuple[Rows, Notes]:
    """Put the rows of all tables below one another, with the true values of a file of their own."""
    tables, truth, of_values = with_values_settled(
        read.tables, read.truth, options, may_lack_truth=known is not None
    )
    read.tables.clear()
    read = replace(read, tables=tables, truth=truth, notes=read.notes + of_values)
    of_tables = _once(table.notes for table in (*read.tables, read.truth) if table is not None)
    rows = rows_of_counts(read.tables, read.truth, options)
    if rows is not None:
        notes = read.notes + of_tables + counts_found(rows)
    else:
        rows, of_names = _rows_of_predictions(read, options)
        notes = read.notes + Notes(_sources_found(rows, read.naming)) + of_tables + of_names
    _refuse_names(rows.models)
    if read.truth is not None:
        rows, of_truth = attach_truth(rows, read.truth, memory_limit=memory_limit)
        notes += of_truth
    rows, of_tasks = divide_by_task(with_coded_ids(rows, memory_limit=memory_limit), options)
    return rows, notes + of_tasks


def _rows_of_predictions(read: _Read, options: Options) -> tuple[Rows, Notes]:
    """Put the tables below one another, whose own columns are not kept."""
    tables, notes = name_probabilities(read.tables, read.truth, options)
    read.tables.clear()
    return gather(tables), notes + Notes(
        tuple(columns_found(tables, read.truth, (options.outcome, options.value)))
    )


def _once(notes: Iterable[Notes]) -> Notes:
    """Put notes together, each once."""
    every = sum(notes, Notes())
    return Notes(
        tuple(r for k, r in enumerate(every.found) if r not in every.found[:k]),
        tuple(w for k, w in enumerate(every.warnings) if w not in every.warnings[:k]),
    )


def _matched(rows: Rows, task: FoundTask, options: Options) -> Loaded:
    """Parse the cells and match the rows: neither needs the other, so their errors are reported together.

    Where questions are answered several times, questions are matched, with the outcomes of their attempts.
    """
    errors: list[InputError] = []
    directions: tuple[FoundRecord, ...] = ()
    with together(errors):
        parsed, of_cells = parse_outputs(rows, task, options)
        if task.task == "sums" and task.classes:
            rows, numbers = by_unit(rows, parsed.numbers, options)
            parsed = replace(parsed, numbers=numbers)
        answers = Answers(rows, on_scale_of_people(rows, parsed, options), notes=of_cells)
    with together(errors):
        costs = parse_costs(rows, options)
    if not errors:
        directions = _direction_found(rows, task, answers.parsed, options)
        options = directed(options, directions)
        answers = replace(answers, parsed=replace(answers.parsed, costs=costs))
        settled = settle_attempts(rows, task, answers.parsed, options)
        answers = replace(settled, notes=answers.notes + settled.notes)
        rows = answers.rows
    with together(errors):
        alignment = align(rows, join=options.join)
    if not errors and task.task == "sums":
        with together(errors):
            refuse_unlike_truths(rows, answers.parsed.numbers, alignment, task.classes)
    refuse_all(errors)
    notes, parsed = Notes(directions) + answers.notes + alignment.notes, answers.parsed
    loaded = Loaded(rows=rows, task=task, parsed=parsed, attempts=answers.attempts, alignment=alignment)
    return replace(loaded, answers=answers.single, notes=notes)


def _direction_found(
    rows: Rows, task: FoundTask, parsed: Parsed, options: Options
) -> tuple[FoundRecord, ...]:
    """Return the direction that the columns of outcomes or values have by name."""
    if parsed.outcome is None:
        return ()
    values = [parsed.outcome] if parsed.gold is None else [parsed.outcome, parsed.gold]
    return direction_found(_judged_in(rows, task, options), values, options)


def _judged_in(rows: Rows, task: FoundTask, options: Options) -> tuple[str, ...]:
    """Return the headers of outcomes or values; those of a wide table are models, whose values ``--value`` names."""
    if options.wide:
        return () if options.value is None or task.task != "scores" else (options.value,)
    return headers_of(rows, JUDGED_IN.get(task.task))


def _refuse_names(models: Sequence[str]) -> None:
    for name in models:
        if len(name) > LONGEST_NAME:
            raise InputError(
                f"the model {name[:40]!r}... has a name of {len(name):,} characters",
                expected=f"at most {LONGEST_NAME:,}",
                remedy="shorten it in the column model, or rename the file",
            )
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(
                f"the model {name[:40]!a} has a name with half of a character (a surrogate)",
                expected="a name that can be written in UTF-8",
                remedy="correct the name",
            )


def _design_found(design: FoundDesign, loaded: Loaded) -> FoundRecord:
    """Return the design that was found; on one test set, that questions are answered several times."""
    repeated = design.design == "test-set" and any(r.what == "attempts" for r in loaded.notes.found)
    why = Message("found.design.attempts") if repeated else design.why
    return FoundRecord(what="design", value=plain(design.design), why=why)


def _sources_found(rows: Rows, naming: frozenset[str]) -> tuple[FoundRecord, ...]:
    files = len(rows.tables)
    n = len(rows.models)
    if rows.tables[0].name.startswith("<"):
        why = Message("found.models.in_memory", n=n)
    elif naming != {"file"}:
        how = parts(*(Message(f"found.models.by_{name}") for name in sorted(naming)))
        why = Message("found.models.read", n=n, files=Message("found.models.of_files", n=files), how=how)
    elif files == n:
        why = Message("found.models.one_a_file", n=n)
    else:
        why = Message("found.models.files", n=n, files=files)
    notes = [FoundRecord(what="models", value=plain(", ".join(rows.models)), why=why)]
    if rows.ids is not None and not any("id" in table.roles.columns for table in rows.tables):
        notes.append(FoundRecord(what="ids", value=plain("row numbers"), why=Message("found.no_id")))
    return tuple(notes)


def _unused(rows: Rows, task: Task) -> list[WarningRecord]:
    """Say which columns play no part, by their headers or by the task."""
    judged = ("y_true", "y_pred", "score")
    idle = judged if task in ("outcome", "scores") else ("score",) if task == "multiclass" else ()
    return [
        warning("unused_column", "of_task", about=(name,), column=name, task=task)
        for name in idle
        if name in rows.columns
    ] + [
        warning("unused_column", "of_file", about=(header,), column=header, file=table.shown_name, why=why)
        for table in rows.tables
        for header, why in table.roles.unused.items()
    ]


def find_design(loaded: Loaded, *, apart: bool) -> FoundDesign:
    """Find the design from the columns that tell one fit from another.

    Parameters
    ----------
    apart
        Whether every model has its own test set.

    Returns
    -------
    FoundDesign
        ``datasets`` before ``bootstrap`` before folds before repeats before ``seeds``; else ``test-set``.

    Raises
    ------
    InputError
        Where a few ids are in two folds of a repeat, or in none.
    """
    rows, alignment = loaded.rows, loaded.alignment
    any_row = alignment.rows.max(axis=0)
    keys = {name: Column(c.values[any_row], c.categories) for name, c in alignment.keys.items()}
    owner = rows.model[any_row].astype(np.int64) if apart else None
    example = None if rows.ids is None else alignment.example

    def blame(cell: int, code: str, /, *, ids: str, repeat: str = "") -> InputError:
        return fault(rows, int(any_row[cell]), "id", code, ids=ids, repeat=repeat)

    return design_of(Cells(keys, example, len(any_row), alignment.ids, owner), blame)
