"""True values from a file of their own, joined by id; and each example's one true value."""

from __future__ import annotations

import dataclasses
from typing import NoReturn

import numpy as np
import pyarrow as pa

from evalreport.engine.blocks import Places, looked_up
from evalreport.errors import InputError
from evalreport.loading.alignment import Alignment
from evalreport.loading.ids import code_ids
from evalreport.loading.loaded import Loaded
from evalreport.loading.parsing import label_numbers
from evalreport.loading.rows import Rows, fault, ids_by_table, location_of
from evalreport.loading.tables import Table
from evalreport.loading.task import FoundTask
from evalreport.predictions.arrays import Arrow, Indices, Values
from evalreport.predictions.cells import category_column, combined, in_chunks, positions, recode
from evalreport.predictions.column_names import TASK
from evalreport.predictions.spelling import alikes, in_order, shown_apart
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import warning
from evalreport.texts import Message, Value, plain, quoted


def attach_truth(rows: Rows, table: Table, *, memory_limit: int | None) -> tuple[Rows, Notes]:
    """Give each row the true value (and the other columns) that a table apart holds for its id.

    Raises
    ------
    InputError
        Where the table has no id or no y_true, an empty id, or an id twice.
    UsageError
        Where the memory limit leaves no room to sort the ids.
    """
    header = table.roles.columns.get("y_true")
    if header is None:
        raise _lacks(table, "y_true", "the true label or value of each example")
    if rows.ids is None:
        raise _lacks(table, "id", "no true values: the files hold one score a row, not examples")
    if "id" in table.roles.columns:
        ids = in_chunks(table.read.arrays[table.roles.columns["id"]])
    elif table.positional and rows.tables[0].positional:
        ids = _same_length(rows, table)
    else:
        raise _lacks(table, "id", "the id of each example, as in the prediction files")
    rows, place = _matched(rows, table, ids, memory_limit)
    metadata, columns = dict(rows.metadata), dict(rows.columns)
    if TASK in table.roles.columns and TASK not in columns:
        columns[TASK] = _truth_taken(table.read.arrays[table.roles.columns[TASK]], place)
    for other in table.roles.metadata:
        if other.strip() not in metadata:
            metadata[other.strip()] = _truth_taken(table.read.arrays[other], place)
    unused = len(ids) - int(np.count_nonzero(np.bincount(place[place >= 0], minlength=1)))
    file = table.shown_name
    lost = warning("truth_without_prediction", about=(file,), file=file, n=unused, total=len(ids))
    found = FoundRecord(what="truth", value=plain(file), why=Message("found.truth"))
    truth = _truth_taken(table.read.arrays[header], place)
    rows = dataclasses.replace(rows, truth=truth, columns=columns, metadata=metadata)
    rows = dataclasses.replace(rows, truth_table=table, truth_place=place)
    return rows, Notes((found,), (lost,) if unused else ())


def _matched(
    rows: Rows, table: Table, ids: pa.ChunkedArray, memory_limit: int | None
) -> tuple[Rows, Indices]:
    """Find each row's position in the table of true values, -1 where its id is missing."""
    if ids.null_count:
        empty = int(np.argmax(ids.is_null().to_numpy()))
        raise table.fault(empty, "id", "empty_id")
    distinct, codes = code_ids([*ids_by_table(rows), ids], memory_limit=memory_limit)
    code = codes[: rows.n]
    wanted, own = told_apart(rows, table, code, codes[rows.n :])
    if np.bincount(own).max(initial=0) > 1:
        raise _twice(table, ids, own)
    place = np.full(int(max(wanted.max(initial=0), own.max(initial=0))) + 1, -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    return dataclasses.replace(rows, coded=(distinct, code)), place[wanted]


def _truth_taken(array: Arrow, place: Indices) -> pa.Array:
    """Return some cells of a column, empty where the position is -1."""
    return combined(array).take(pa.array(place, mask=place < 0))


def with_true_values(loaded: Loaded) -> Loaded:
    """Find each cell's true value, -1 or nan where no row gives one; every model's files must agree about it.

    Raises
    ------
    InputError
        Where two rows give the same example different true values.
    """
    rows, alignment, task = loaded.rows, loaded.alignment, loaded.task
    if task.task in ("outcome", "scores", "sums"):
        return loaded
    given = [(c, v) for c in ("y_true", "truth") if (v := _values(rows, c, task)) is not None]
    if not given:
        return loaded  # the task is that of an earlier run
    by_cell = _all_agreed([values for _, values in given], rows, alignment)
    if by_cell is None:
        by_cell = _by_group(rows, alignment, given)
    return dataclasses.replace(loaded, y_true=by_cell)


def _all_agreed(given: list[Values], rows: Rows, alignment: Alignment) -> Values | None:
    """Return the true values where each row is given its own and all agree: the common case, in little memory."""
    n_cells = alignment.rows.shape[1]
    if int(alignment.group.max()) + 1 != n_cells or rows.n != alignment.rows.size:
        return None
    agreed = looked_up(given[0], alignment.rows[0])
    for place, values in enumerate(given):
        for index in alignment.rows if place else alignment.rows[1:]:
            if not np.array_equal(looked_up(values, index), agreed):
                return None
    return agreed


def _by_group(rows: Rows, alignment: Alignment, given_by: list[tuple[str, Values]]) -> Values:
    """Return each cell's true value from whichever rows of its example give one."""
    by_group: Values | None = None
    witness = np.full(int(alignment.group.max()) + 1, -1, dtype=np.int64)
    for column, values in given_by:
        given = np.flatnonzero(values >= 0 if values.dtype.kind == "i" else ~np.isnan(values))
        if by_group is None:
            by_group = np.full(len(witness), -1 if values.dtype.kind == "i" else np.nan, dtype=values.dtype)
        # The first row that speaks about an example is the one that later rows are held against.
        unheard = given[witness[alignment.group[given]] < 0][::-1]
        by_group[alignment.group[unheard]] = values[unheard]
        witness[alignment.group[unheard]] = unheard
        wrong = given[values[given] != by_group[alignment.group[given]]]
        if len(wrong):
            before = int(witness[alignment.group[wrong[0]]])
            first = given_by[0][0]
            source = column if _cell(rows, before, first) is None else first
            _refuse_disagreement(rows, (int(wrong[0]), column), (before, source), len(wrong))
    assert by_group is not None
    by_cell: Values = by_group[alignment.group[alignment.rows.max(axis=0)]]
    return by_cell


def _values(rows: Rows, column: str, task: FoundTask) -> Values | None:
    if task.task in ("regression", "intervals"):
        return label_numbers(rows, column)
    array = rows.labels(column)
    if array is None:
        return None
    assert task.spelling is not None
    return recode(array, task.classes or task.groups, task.spelling)


def _cell(rows: Rows, row: int, column: str) -> str | None:
    array = rows.labels(column)
    return None if array is None else array[row].as_py()


def _refuse_disagreement(rows: Rows, later: tuple[int, str], before: tuple[int, str], count: int) -> NoReturn:
    cells = (_cell(rows, *later) or "", _cell(rows, *before) or "")
    _, differ = alikes(cells[:1], cells[1:]).get(cells[0], ("", None))
    here, there = (quoted(cell) if differ is None else shown_apart(cell, differ) for cell in cells)
    said: dict[str, Value] = {"here": here, "before": location_of(rows, *before), "there": there}
    if differ is None:
        raise fault(rows, *later, "truths_disagree", count=count, **said)
    how = Message(f"found.differ.{differ}")
    raise fault(rows, *later, "truths_spelled_unlike", count=count, how=how, **said)


def _same_length(rows: Rows, table: Table) -> pa.ChunkedArray:
    examples = max(predicted.read.rows for predicted in rows.tables)
    if table.read.rows != examples:
        raise InputError.of(
            "unlike_number_of_truths", file=table.name, total=table.read.rows, examples=examples
        )
    return in_chunks(positions(examples))


def _lacks(table: Table, column: str, expected: str) -> InputError:
    line, said = None if table.positional else 1, {"header": repr(column), "expected": expected}
    names = table.read.names[:8]
    return InputError.of("no_column_of_truth", file=table.name, line=line, column=column, names=names, **said)


def _twice(table: Table, ids: pa.ChunkedArray, codes: Places) -> InputError:
    _, first = np.unique(codes, return_index=True)
    row = int(np.setdiff1d(np.arange(len(codes)), first)[0])
    return table.fault(row, "id", "truth_twice", id=ids[row].as_py())


def told_apart(rows: Rows, table: Table, code: Places, own: Places) -> tuple[Places, Places]:
    """Return which example each row and each true value is of: by task and id where both name tasks, else by id.

    Parameters
    ----------
    code, own
        Codes of the ids of the rows (n,) and of the table of true values (m,).

    Raises
    ------
    InputError
        Where one id occurs in several tasks and the true values name no task.
    """
    if TASK not in rows.columns:
        return code, own
    header = table.roles.columns.get(TASK)
    array = rows.columns[TASK]
    if header is None:
        _refuse_ambiguous(rows, table, code, own)
        return code, own
    given = combined(table.read.arrays[header])
    names = in_order({*array.dictionary.to_pylist(), *given.dictionary.to_pylist()})
    spelling = {name: name for name in names}
    tasks = np.concatenate([recode(column, names, spelling) for column in (array, given)]).astype(np.int64)
    pairs = np.concatenate([code, own]).astype(np.int64) * (len(names) + 1) + tasks + 1
    numbers = np.unique(pairs, return_inverse=True)[1].ravel().astype(np.int64)
    return numbers[: len(code)], numbers[len(code) :]


def _refuse_ambiguous(rows: Rows, table: Table, code: Places, own: Places) -> None:
    task = category_column(rows.columns[TASK]).values.astype(np.int64) + 1
    first = np.full(int(max(code.max(), own.max(initial=0))) + 1, -1, dtype=np.int64)
    first[code[::-1]] = task[::-1]
    several = np.flatnonzero((first[code] != task) & np.isin(code, own))
    if len(several):
        row = int(several[0])
        raise fault(rows, row, "id", "truth_of_several_tasks", count=len(several), truth=table.shown_name)
