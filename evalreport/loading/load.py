"""load(): prediction files or data frames -> one validated, canonical ``Predictions``, and what is odd about it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeAlias, TypeGuard

import numpy as np

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.alignment import Alignment, align
from evalreport.loading.attempts import Answers, settle_attempts
from evalreport.loading.counts import counts_found, distinct, refuse_options, rows_of_counts, with_scores
from evalreport.loading.design import find_design, with_seeds_as_repeats
from evalreport.loading.ids import clusters_across_tasks, divide_by_task, require_sizes, unlike_classes
from evalreport.loading.joined_files import attach_truth, covariates, true_values
from evalreport.loading.outputs import model_outputs, parse_outputs
from evalreport.loading.probabilities import name_probabilities, settle_missing
from evalreport.loading.rows import Rows, Table, gather, headers_of
from evalreport.loading.task import FoundTask, find_task
from evalreport.options import Options, Task
from evalreport.predictions.selection import marked_as_test
from evalreport.predictions.table import Codes, Column, Mask, ModelOutputs, Predictions, ScoreSums
from evalreport.scale.aggregates import aggregate_in, counted_frames, counts_of, opened
from evalreport.schema.inputs import FoundRecord, InputRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.files import (
    Copies,
    File,
    Found,
    copies_of_addresses,
    digest,
    find_files,
    memory_record,
    read_with_folders,
    table_of,
)
from evalreport.sources.formats import read_file
from evalreport.sources.frames import memory_tables, truth_from_memory
from evalreport.sources.reading import Columns, named_by
from evalreport.sources.unpacking import one_database
from evalreport.texts import Message, parts

_DEFAULTS = Options()

Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]


def load(
    source: object,
    *,
    options: Options = _DEFAULTS,
    truth: object = None,
    classes: Sequence[object] | None = None,
    memory_limit: int | None = None,
    engine: str | None = None,
) -> Predictions:
    """Read, align and validate the predictions of one or more models.

    Parameters
    ----------
    source
        A folder, a file, a pattern, an address or a list of these; a data frame (pandas, polars, pyarrow) with a
        column ``model``; or a mapping of model name to data frame or to columns; or a mapping of column name to array.
        ``Predictions`` were loaded before, and are returned as they are.
    options
        What was asked for: truth, task, positive class, threshold, join, columns to slice or cluster by.
    truth
        True values that are not in ``source``: an array in the order of the rows, a mapping of id to value,
        or a data frame with the columns id and y_true. A file is named by ``options.truth``.
    classes
        The labels of the columns of (n, K) probabilities in memory; None: the sorted labels of the truth.
    memory_limit
        Bytes that reading and sorting may take beside the columns themselves; None: a share of what is there.
    engine
        Which engine counts the labels of files, so that no row is read here; None: rows are read.

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
        refuse_options(source.inputs[0].path if source.multiplicity is not None else None, options)
        return source
    if isinstance(truth, (str, Path)):
        options, truth = dataclasses.replace(options, truth=str(truth)), None
    with copies_of_addresses() as copies, one_database():
        return _loaded(source, options, truth, classes, memory_limit, engine, copies)


def _loaded(
    source: object,
    options: Options,
    truth: object,
    classes: Sequence[object] | None,
    memory_limit: int | None,
    engine: str | None,
    copies: Copies,
) -> Predictions:
    instead = _counts_instead(source, truth, options, engine, memory_limit)
    source, options = instead.source, instead.options
    rows, inputs, found, warnings = _gathered(source, options, truth, classes, memory_limit, copies)
    task = find_task(rows, options)
    answers, whole = _parsed_and_aligned(rows, task, options, memory_limit)
    rows = answers.rows
    settled = settle_missing(rows, whole, task, answers.parsed, true_values(rows, whole, task), options)
    alignment = settled.alignment
    models, said_of_models, odd_of_models = model_outputs(rows, alignment, task, settled.parsed, options)
    described = covariates(rows, alignment, options, models)
    design = find_design(rows, alignment, apart=options.join == "independent")
    predictions = Predictions(
        task=task.task,
        design=design.design,
        ids=alignment.ids,
        example=alignment.example,
        y_true=settled.y_true,
        models=answers.of_models(described.models, alignment),
        classes=task.classes,
        outside=settled.outside,
        positive=task.positive,
        keys=with_seeds_as_repeats(described.keys) if design.seeds_are_repeats else described.keys,
        metadata=described.metadata,
        judged_in=headers_of(rows, {"outcome": "outcome", "scores": "value"}.get(task.task)),
        multiplicity=None if rows.times is None else rows.times[alignment.rows[0]],
        inputs=inputs,
        found=(
            *task.found,
            answers.design(design),
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
    predictions = with_scores(distinct(predictions), instead.scores)
    if not (isinstance(source, Found) or _is_path(source)):
        inputs = instead.inputs or (memory_record(predictions), *inputs)
        predictions = dataclasses.replace(predictions, inputs=inputs)
    elif instead.inputs:
        predictions = dataclasses.replace(predictions, inputs=(*inputs, *instead.inputs))
    return oddities(with_training_rows(predictions), options)


def _gathered(
    source: object,
    options: Options,
    truth: object,
    classes: Sequence[object] | None,
    memory_limit: int | None,
    copies: Copies,
) -> tuple[Rows, tuple[InputRecord, ...], tuple[FoundRecord, ...], tuple[WarningRecord, ...]]:
    """Read every table and put their rows below one another, with the true values that stand apart."""
    tables, truth_table, inputs, warnings, naming = _tables(
        source, options, truth, classes, memory_limit, copies
    )
    rows = rows_of_counts(tables, truth_table, options)
    if rows is not None:
        found = counts_found(rows)
    else:
        named = name_probabilities(tables, truth_table, options)
        tables.clear()  # their columns are in rows soon
        rows = gather(named.tables)
        found, warnings = (*_sources_found(rows, naming), *named.found), (*warnings, *named.warnings)
    if truth_table is not None:
        rows, said, odd = attach_truth(rows, truth_table, memory_limit=memory_limit)
        found, warnings = found + said, warnings + odd
    rows, of_tasks = divide_by_task(rows, options, memory_limit=memory_limit)
    return rows, inputs, (*found, *of_tasks), warnings


@dataclasses.dataclass(frozen=True, slots=True)
class _Instead:
    """What is loaded: the source itself, or counts in its place with the sums of scores; and the files of these."""

    source: object
    options: Options
    inputs: tuple[InputRecord, ...] = ()
    scores: ScoreSums | None = None


def _counts_instead(
    source: object, truth: object, options: Options, engine: str | None, memory_limit: int | None
) -> _Instead:
    """Return counts in the place of an aggregate's folder, or of rows that an engine counts.

    Raises
    ------
    InputError
        Where files hold scores of more than two classes, which a run on an engine would miss.
    """
    folder = aggregate_in(source)
    if folder is not None:
        found = opened(folder)
        return _Instead(found.counts, options, found.files, found.scores)
    if engine is None or not (isinstance(source, Found) or _is_path(source)):
        counts = counted_frames(source, options) if truth is None and options.truth is None else None
        if counts is None:
            return _Instead(source, options)
        return _Instead(counts.table, options, (), counts.scores)
    counted, inputs = counts_of(source, options, engine=engine, memory_limit=memory_limit)
    if counted.left_out:
        raise InputError(
            f"the files hold scores or probabilities ({', '.join(counted.left_out[:3])}) that"
            f" {engine.partition('=')[0]} does not count",
            expected="labels (id, y_true, y_pred), and of two classes a score or a probability",
            remedy="leave out --engine to read them here; or aggregate the labels, which says what it leaves out",
        )
    return _Instead(counted.table, dataclasses.replace(options, truth=None), inputs, counted.scores)


def _parsed_and_aligned(
    rows: Rows, task: FoundTask, options: Options, memory_limit: int | None
) -> tuple[Answers, Alignment]:
    """Parse the cells and match the rows: neither needs the other, so their errors are said together.

    Where questions are answered several times, what is matched are questions, with what the cells say of them.
    """
    errors: list[InputError] = []
    with together(errors):
        answers = Answers(rows, parse_outputs(rows, task))
    if not errors:
        answers = settle_attempts(rows, task, answers.parsed, options, memory_limit=memory_limit)
        rows = answers.rows
    with together(errors):
        alignment = align(rows, join=options.join, memory_limit=memory_limit)
    refuse_all(errors)
    found, warnings = (*answers.found, *alignment.found), (*answers.warnings, *alignment.warnings)
    return answers, dataclasses.replace(alignment, found=found, warnings=warnings)


def _tables(
    source: object,
    options: Options,
    truth: object,
    classes: Sequence[object] | None,
    memory_limit: int | None,
    copies: Copies,
) -> tuple[list[Table], Table | None, tuple[InputRecord, ...], tuple[WarningRecord, ...], set[str]]:
    if isinstance(source, Found) or _is_path(source):
        files = source if isinstance(source, Found) else find_files(source, options.truth, copies)
        tables, truth_table, inputs = _from_files(files, options, memory_limit)
        if truth is not None:
            truth_table = truth_from_memory(truth, options)
        own = files.truth.relative if files.truth is not None else None
        how = {
            named_by(row.path, row.model) if row.model is not None else "column"
            for row in inputs
            if row.path != own
        }
        return tables, truth_table, inputs, files.warnings, how
    tables, truth_table = memory_tables(source, truth, options, classes)
    if options.truth is None or truth is not None:
        return tables, truth_table, (), (), set()
    file = find_files(options.truth, None, copies).files[0]
    truth_table = _read(file, options, memory_limit, predictions=False)
    return tables, truth_table, (_record(file, truth_table.read, None),), (), set()


def _is_path(source: object) -> TypeGuard[Paths]:
    if isinstance(source, (list, tuple)):
        return all(isinstance(item, (str, PathLike)) for item in source)
    return isinstance(source, (str, PathLike))


def _from_files(
    files: Found, options: Options, memory_limit: int | None
) -> tuple[list[Table], Table | None, tuple[InputRecord, ...]]:
    errors: list[InputError] = []
    tables: list[Table] = []
    inputs: list[InputRecord] = []
    truth_table = None
    for file in files.files:
        with together(errors):
            table = _read(file, options, memory_limit, predictions=True)
            tables.append(table)
            of_several = "model" in table.roles.columns or table.roles.answers
            inputs.append(_record(file, table.read, None if of_several else table.model))
    if files.truth is not None:
        with together(errors):
            truth_table = _read(files.truth, options, memory_limit, predictions=False)
            inputs.append(_record(files.truth, truth_table.read, None))
    refuse_all(errors)
    return tables, truth_table, tuple(sorted(inputs, key=lambda record: record.path))


def _read(file: File, options: Options, memory_limit: int | None, *, predictions: bool) -> Table:
    read = partial(
        read_with_folders, partial(read_file, file.path, file.name, memory_limit=memory_limit), file
    )
    table = table_of(read, file.name, file.belongs.model, options, predictions=predictions)
    return dataclasses.replace(table, part=file.belongs.part)


def _record(file: File, read: Columns, model: str | None) -> InputRecord:
    return InputRecord(path=file.relative, sha256=digest(file.path), rows=read.rows, model=model)


def _sources_found(rows: Rows, naming: set[str]) -> tuple[FoundRecord, ...]:
    files = len(rows.tables)
    n = len(rows.models)
    if rows.tables[0].name.startswith("<"):
        why = Message("found.models.in_memory", n=n)
    elif naming != {"file"}:
        how = (Message(f"found.models.by_{name}") for name in sorted(naming))
        why = Message(
            "found.models.read", n=n, files=Message("found.models.of_files", n=files), how=parts(*how)
        )
    elif files == n:
        why = Message("found.models.one_a_file", n=n)
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


# --- what is odd about the predictions: leaks, constant models, rows of the training set ----------------------------


FITS = ("repeat", "fold", "replicate", "seed", "dataset", "train_size", "complexity")
"""The columns that tell one fitted model from another."""


def leaks(predictions: Predictions) -> Iterator[WarningRecord]:
    """Yield a blocker where a fit's training rows (part = train) and its test rows hold the same example.

    Training rows of a fit on all the data (no fold, no replicate) are another fit's: resubstitution is no leak.
    """
    part = predictions.keys.get("part")
    if part is None or part.categories is None or "train" not in part.categories:
        return
    train = part.values == part.categories.index("train")
    tested = _tested(predictions)
    columns = [predictions.keys[name].values for name in FITS if name in predictions.keys]
    rows = np.stack(
        [predictions.example.astype(np.float64), *(np.asarray(c, dtype=np.float64) for c in columns)]
    )
    _, fit = np.unique(np.nan_to_num(rows, nan=-1.0), axis=1, return_inverse=True)
    both = np.intersect1d(fit.ravel()[train], fit.ravel()[tested])
    if not len(both):
        return
    first = int(np.flatnonzero(tested & np.isin(fit.ravel(), both))[0])
    example = str(predictions.ids[int(predictions.example[first])])
    yield warning("trained_on_test", n=len(both), example=example)


def _tested(predictions: Predictions) -> Mask:
    """Say which rows are test rows: marked so or not marked, and out of the bag."""
    tested, inbag = marked_as_test(predictions.keys["part"]), predictions.keys.get("inbag")
    return tested if inbag is None else tested & ~np.asarray(inbag.values > 0)


def with_training_rows(predictions: Predictions) -> Predictions:
    """Mark rows without a replicate as training rows where replicates were drawn from the same examples.

    A file of replicates with ``inbag`` beside a file of resubstitution predictions needs no column ``part``: a fit to
    all the data has no test rows among the examples that it was fitted to.

    Parameters
    ----------
    predictions
        Any design.

    Returns
    -------
    Predictions
        The same object unless there are such rows; else with ``part`` = train in them, and with that said.
    """
    replicate, inbag = predictions.keys.get("replicate"), predictions.keys.get("inbag")
    if replicate is None or inbag is None:
        return predictions
    part = predictions.keys.get("part")
    unmarked = np.ones(predictions.n, dtype=bool) if part is None else np.asarray(part.values < 0, dtype=bool)
    drawn = np.unique(predictions.example[np.asarray(inbag.values > 0)])
    training = unmarked & (replicate.values < 0) & np.isin(predictions.example, drawn)
    if not training.any():
        return predictions
    categories = () if part is None else part.categories or ()
    names = categories if "train" in categories else (*categories, "train")
    values = np.full(predictions.n, -1, dtype=np.int32) if part is None else part.values.copy()
    values[training] = names.index("train")
    value = Message("found.training_rows.value", n=int(training.sum()))
    said = FoundRecord(what="training rows", value=value, why=Message("found.training_rows.why"))
    return dataclasses.replace(
        predictions,
        keys={**predictions.keys, "part": Column(values, names)},
        found=(*predictions.found, said),
    )


FEW_EXAMPLES = 30
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def oddities(predictions: Predictions, options: Options) -> Predictions:
    """Add the warnings that the aligned predictions give reason for; refuse tasks that are too small."""
    require_sizes(predictions, options.cluster)
    warnings = [*predictions.warnings, *leaks(predictions), *_size(predictions)]
    warnings += [*clusters_across_tasks(predictions, options.cluster), *unlike_classes(predictions)]
    warnings += [*_decimal_comma(predictions), *_truth(predictions), *_fold_sizes(predictions)]
    for model in predictions.models:
        warnings += _constant(model, predictions.n_examples)
        if predictions.classes:
            warnings += _labels(predictions, model)
    return dataclasses.replace(predictions, warnings=tuple(warnings))


def _size(predictions: Predictions) -> list[WarningRecord]:
    n = len(predictions.ids) if predictions.multiplicity is None else predictions.n_examples
    if n == 1:
        return [warning("one_example", "of_scores" if predictions.task == "scores" else "of_predictions")]
    if n < FEW_EXAMPLES and predictions.task != "scores":
        return [warning("few_examples", n=n, enough=FEW_EXAMPLES)]
    return []


def _fold_sizes(predictions: Predictions) -> list[WarningRecord]:
    """Warn where values of folds are taken for those of a division, since nothing says how large the folds were."""
    folds = predictions.task == "scores" and predictions.design == "cross-validation"
    return [warning("fold_sizes_assumed")] if folds and "train_size" not in predictions.keys else []


def _decimal_comma(predictions: Predictions) -> list[WarningRecord]:
    """Warn of labels that are numbers as a spreadsheet with a decimal comma writes them."""
    if not predictions.classes or not all(DECIMAL_COMMA.fullmatch(label) for label in predictions.classes):
        return []
    return [warning("decimal_comma", label=predictions.classes[0])]


def _truth(predictions: Predictions) -> list[WarningRecord]:
    if not predictions.classes or predictions.y_true is None:
        return []
    seen = _codes_in(predictions.y_true)
    if len(seen) > 1:
        return []
    label = predictions.classes[seen[0]]
    return [warning("one_class", about=(label,), label=label)]


def _constant(model: ModelOutputs, n: int) -> list[WarningRecord]:
    """Warn of a model that says the same whatever the example (one example does not tell)."""
    for what, values in (("score", model.score), ("prediction", model.y_pred), ("outcome", model.outcome)):
        if values is None:
            continue
        given = values if model.present is None else values[model.present]
        if max(len(given), n) > 1 and (given == given[0]).all():
            return [warning("constant_model", what, about=(model.name,), model=model.name)]
        return []
    return []


def _labels(predictions: Predictions, model: ModelOutputs) -> list[WarningRecord]:
    assert predictions.y_true is not None
    if model.y_pred is None:
        return []
    true = predictions.y_true if model.present is None else predictions.y_true[model.present]
    said = model.y_pred if model.present is None else model.y_pred[model.present]
    truths = set(_codes_in(true))
    predictions_made = {code for code in _codes_in(said) if code < len(predictions.classes)}
    warnings = []
    for code in sorted(truths - predictions_made):
        label = predictions.classes[code]
        warnings.append(
            warning("class_never_predicted", about=(model.name, label), model=model.name, label=label)
        )
    for code in sorted(predictions_made - truths):
        label = predictions.classes[code]
        alike = _misspelt(label, [predictions.classes[code] for code in _codes_in(predictions.y_true)])
        about = (model.name, label)
        warnings.append(
            warning("label_never_true", "misspelt", about=about, model=model.name, label=label, alike=alike)
            if alike is not None
            else warning("label_never_true", "new", about=about, model=model.name, label=label)
        )
    return warnings


def _codes_in(codes: Codes) -> list[int]:
    """Return the distinct codes, sorted: they are few, so counting them beats sorting or hashing."""
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def _misspelt(label: str, true: Sequence[str]) -> str | None:
    """Give the true label that a predicted one differs from by capitals or outer spaces alone."""
    plain = label.strip().casefold()
    return next((other for other in true if other != label and other.strip().casefold() == plain), None)
