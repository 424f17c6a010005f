"""Ids of many millions of rows -> the distinct ones in order, and each row's place among them; suites, with a task.

Sorting finds both at once. Ids are text, yet they are compared as numbers made of their bytes, which sort many times
as fast; bits that are the same in every id (a common prefix, the upper half of digits) are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalreport.engine.sorting import Places, Words, rows_by_digits
from evalreport.errors import InputError, InputErrors, UsageError
from evalreport.loading.columns import (
    category_column,
    combined,
    dictionary_codes,
    in_order,
    recode,
    used_only,
)
from evalreport.loading.rows import (
    Rows,
    Table,
    as_metadata,
    fault,
    first_of,
    ids_by_table,
    refuse_where,
    whence,
)
from evalreport.options import Options
from evalreport.predictions.table import (
    TASK,
    Indices,
    Mask,
    Predictions,
    as_numpy,
    flags,
    from_numpy,
    from_texts,
)
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.unpacking import database, usable_memory
from evalreport.texts import Message, quoted

if TYPE_CHECKING:
    import pyarrow as pa


MOST_WORDS = 8
LONGEST_ID = 4096
"""Ids that take more numbers than this to tell apart, or that are longer (bytes), are left to DuckDB."""
BYTES_A_ROW = 40
"""Working memory of sorting one row here, beside 8 bytes a number."""
_BYTES_A_BLOCK = 1 << 20
_ROWS_A_BATCH = 500_000
_NEIGHBOURS = 0x7F7F_7F7F_7F7F_7F7F
"""The bits of 8 bytes that have a next higher one in their own byte."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows in the order of their ids (equal ones as they came), and the number of each one's id in that order."""

    order: Places
    number: Indices


def code_ids(
    pieces: Sequence[pa.ChunkedArray], *, memory_limit: int | None = None
) -> tuple[pa.Array, Indices]:
    """Find the distinct ids, and each row's position among them.

    Parameters
    ----------
    pieces
        Arrow chunked arrays of strings without nulls, one a table; together they are the rows.
    memory_limit
        Bytes that sorting may take; where it needs more, DuckDB sorts and keeps the rest on disk. None: a share of
        what is there.

    Returns
    -------
    ids, codes
        The distinct ids sorted by code point (Arrow strings), and (rows,) the position of each row's id in them.

    Raises
    ------
    UsageError
        Where even DuckDB cannot sort them within the limit.
    """
    different, place = _different(pieces)
    ids, codes = _coded(different, usable_memory() if memory_limit is None else memory_limit)
    if len(different) == len(pieces):
        return ids, codes
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in different])])
    return ids, np.concatenate([codes[starts[p] : starts[p + 1]] for p in place])


def _different(pieces: Sequence[pa.ChunkedArray]) -> tuple[list[pa.ChunkedArray], list[int]]:
    """Keep each list of ids once: models' files often hold the same ids in the same order."""
    different: list[pa.ChunkedArray] = []
    place: list[int] = []
    for piece in pieces:
        alike = next((i for i, other in enumerate(different) if other.equals(piece)), len(different))
        if alike == len(different):
            different.append(piece)
        place.append(alike)
    return different, place


def _coded(pieces: Sequence[pa.ChunkedArray], memory_limit: int) -> tuple[pa.Array, Indices]:
    import pyarrow as pa

    rows = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pieces[0].type)
    words = _words(rows, memory_limit)
    found = _by_database(rows, memory_limit) if words is None else _by_words(words)
    del words
    codes = np.empty(len(rows), dtype=np.int64)
    codes[found.order] = found.number
    begins = np.ones(len(rows), dtype=np.bool_)
    np.not_equal(found.number[1:], found.number[:-1], out=begins[1:])
    first = found.order[begins]
    # Where the first table holds every id, the others need not be put beside it.
    source = pieces[0] if first.max(initial=0) < len(pieces[0]) else rows
    return _taken(source, first), codes


def _taken(source: pa.ChunkedArray, places: Places) -> pa.Array:
    """Return some ids as one array, with offsets that are wide enough for its bytes."""
    import pyarrow as pa

    wide = source.nbytes >= 2**31
    taken = (source.cast(pa.large_string()) if wide else source).take(from_numpy(places))
    return taken.chunk(0) if taken.num_chunks == 1 else taken.combine_chunks()


def _by_words(words: Sequence[Words]) -> _Sorted:
    """Sort by the last word first: each pass keeps the order of the one before among equal words."""
    order = None
    for word in reversed(words):
        order = rows_by_digits(word, order)
    assert order is not None
    begins = np.zeros(len(order), dtype=np.bool_)
    begins[:1] = True
    for word in words:
        ranked = word.take(order)
        begins[1:] |= ranked[1:] != ranked[:-1]
    return _Sorted(order, _counted(begins, ranked.view(np.int64)))


def _counted(begins: Mask, room: Indices) -> Indices:
    """Number the groups that begin so from 0, in the memory that is given."""
    np.cumsum(begins, out=room)
    room -= 1
    return room


def _by_database(rows: pa.ChunkedArray, memory_limit: int) -> _Sorted:
    """Sort by DuckDB, which keeps on disk what the limit has no room for."""
    import pyarrow as pa

    order = np.empty(len(rows), dtype=np.int64)
    begins = np.ones(len(rows), dtype=np.bool_)
    numbered = pa.table({"id": rows, "place": np.arange(len(rows))})
    done, previous = 0, None
    with database(memory_limit) as connection:
        connection.register("numbered", numbered)
        query = connection.sql("SELECT id, place FROM numbered ORDER BY id, place")
        for batch in query.to_arrow_reader(_ROWS_A_BATCH):
            end = done + batch.num_rows
            order[done:end] = batch.column(1).to_numpy()
            begins[done:end] = _other_than_before(batch.column(0), previous)
            done, previous = end, batch.column(0)[-1].as_py() if batch.num_rows else previous
    return _Sorted(order, _counted(begins, np.empty(len(rows), dtype=np.int64)))


def _other_than_before(ids: pa.Array, previous: str | None) -> Mask:
    """Say of each id whether it is another one than that before it."""
    import pyarrow.compute as pc

    begins = np.ones(len(ids), dtype=np.bool_)
    begins[1:] = flags(pc.not_equal(ids[1:], ids[:-1]))
    begins[:1] = [ids[0].as_py() != previous] if len(ids) else []
    return begins


def _words(rows: pa.ChunkedArray, memory_limit: int) -> list[Words] | None:
    """Turn ids into numbers in the same order, the highest digit first; None where that takes too much.

    Beside each number there is room for a row's place.
    """
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(rows)).as_py() or 0
    if longest > LONGEST_ID:
        return None
    width = max(-(-longest // 8), 1)
    layout = list(_layout(_telling_bits(rows, width), 64)) or [[(0, 0, 1)]]
    holds_nul = any(_holds_nul(chunk) for chunk in rows.chunks)
    needed = len(rows) * (BYTES_A_ROW + 8 * (len(layout) + holds_nul))
    if len(layout) > MOST_WORDS or needed > memory_limit:
        return None
    words = [np.empty(len(rows), dtype=np.uint64) for _ in layout]
    done = 0
    for block in _blocks(rows, width):
        numbers = block.byteswap() if sys.byteorder == "little" else block
        for word, runs in zip(words, layout, strict=True):
            word[done : done + len(block)] = _packed(numbers, runs)
        done += len(block)
    if holds_nul:
        # "a" and "a\0" differ by their lengths alone once they are padded.
        words.append(pc.binary_length(rows).to_numpy().astype(np.uint64))
    return words


def _blocks(rows: pa.ChunkedArray, width: int) -> Iterator[Words]:
    """Yield some ids at a time, padded with NUL, as (rows, width) numbers of 8 bytes each."""
    import pyarrow.compute as pc

    at_once = max(_BYTES_A_BLOCK // (8 * width), 1)
    for chunk in rows.chunks:
        for start in range(0, len(chunk), at_once):
            block = chunk.slice(start, at_once)
            padded = pc.ascii_rpad(block, 8 * width, padding="\0").buffers()[2]
            yield np.frombuffer(padded, np.uint64, count=len(block) * width).reshape(len(block), width)


def _telling_bits(rows: pa.ChunkedArray, width: int) -> list[int]:
    """Return by word the bits that tell ids apart: they vary, and the next higher one does not say as much."""
    varies, differs, agrees = np.zeros((3, width), dtype=np.uint64)
    before: Words | None = None
    for block in _blocks(rows, width):
        before = block[0] if before is None else before
        varies |= np.bitwise_or.reduce(block ^ before, axis=0)
        unlike_next = block ^ (block >> np.uint64(1))
        differs |= np.bitwise_or.reduce(unlike_next, axis=0)
        agrees |= ~np.bitwise_and.reduce(unlike_next, axis=0)
    if sys.byteorder == "little":
        varies, differs, agrees = varies.byteswap(), differs.byteswap(), agrees.byteswap()
    # In digits, the upper bits are all ones, or all zeros where the id has ended.
    repeats = ~(differs & agrees) & np.uint64(_NEIGHBOURS)
    return [int(bits) for bits in varies & ~repeats]


def _layout(telling: Sequence[int], room: int) -> Iterator[list[tuple[int, int, int]]]:
    """Share the bits out to as few numbers as hold them, in order: each a list of (word, shift, length)."""
    runs: list[tuple[int, int, int]] = []
    free = room
    for word, bits in enumerate(telling):
        for shift, length in _runs(bits):
            left = length
            while left:
                taken = min(left, free)
                left, free = left - taken, free - taken
                runs.append((word, shift + left, taken))
                if not free:
                    yield runs
                    runs, free = [], room
    if runs:
        yield runs


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of set bits from the highest: how many bits lie below it, and its length."""
    while bits:
        end = bits.bit_length()
        shift = (~bits & ((1 << end) - 1)).bit_length()
        yield shift, end - shift
        bits &= (1 << shift) - 1


def _packed(block: Words, runs: Sequence[tuple[int, int, int]]) -> Words:
    """Put the runs of bits of each row beside one another in one number."""
    packed = np.zeros(len(block), dtype=np.uint64)
    for word, shift, length in runs:
        packed <<= np.uint64(length)
        packed |= (block[:, word] >> np.uint64(shift)) & np.uint64((1 << length) - 1)
    return packed


def _holds_nul(chunk: pa.Array) -> bool:
    """Say whether an id holds a NUL (neighbouring rows of the same buffer count too)."""
    text = chunk.buffers()[2]
    return text is not None and text.size > 0 and int(np.frombuffer(text, dtype=np.uint8).min()) == 0


LEAST_CLASSES = 3
"""Of fewer there are no averages over classes."""


def divide_by_task(
    rows: Rows, options: Options, *, memory_limit: int | None = None
) -> tuple[Rows, tuple[FoundRecord, ...]]:
    """Tell the ids of two or more tasks apart; one task, and scores without examples, make the column metadata.

    Returns
    -------
    rows, found
        Of a suite, ``rows.coded`` holds ids such as ``gsm8k:17``: an id may stand in several tasks.

    Raises
    ------
    InputError
        Where a row of a suite has no task, or (join ``error``) a model lacks one.
    UsageError
        Where an option has no honest meaning for a suite.
    """
    if TASK not in rows.columns:
        return rows, ()
    array = used_only(rows.columns[TASK])
    names = array.dictionary.to_pylist()
    if rows.ids is None or len(names) < 2:
        return as_metadata(rows, TASK), ()
    _refuse_options(options)
    refuse_where(
        dictionary_codes(array) < 0,
        rows,
        TASK,
        "the row names no task, while others do",
        expected="the task of every row: examples of a suite are known by task and id",
        remedy="fill in the cell, or rename the column if it is no suite of benchmarks",
    )
    column = category_column(array)
    assert column.categories is not None
    tasks, held = column.categories, _held(rows, column.values, len(column.categories))
    found = [_said(tasks, held)]
    if not held.all():
        found += _lacking(rows, tasks, held, options)
    coded = rows.coded or code_ids(ids_by_table(rows), memory_limit=memory_limit)
    coded = _within_tasks(coded, column.values.astype(np.int64), tasks)
    return replace(rows, coded=coded), tuple(found)


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
        column = predictions.metadata.get(cluster) or predictions.keys[cluster]
        units, word = np.unique(column.values, return_inverse=True)[1].ravel(), "cluster"
    pairs = np.unique(np.stack([tasks.values.astype(np.int64), units]), axis=1)
    counts = np.bincount(pairs[0], minlength=len(tasks.categories))
    alone = [tasks.categories[t] for t in np.flatnonzero(counts == 1)]
    if not alone:
        return
    names = first_of(map(quoted, alone), 5)
    has = "the task {} has a single {}" if len(alone) == 1 else "the tasks {} have a single {} each"
    raise InputError(
        has.format(names, word) + ("" if cluster is None else f" of {cluster}"),
        column=TASK,
        expected=f"two or more {word}s of each task: of one nothing is known of how they vary",
        remedy=f"add {word}s, or leave the task out of every model's file",
    )


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
    column = predictions.metadata.get(cluster) or predictions.keys[cluster]
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


def _held(rows: Rows, task: npt.NDArray[np.int32], n_tasks: int) -> Mask:
    """Say which model (rows) has examples of which task (columns)."""
    counts = np.bincount(rows.model.astype(np.int64) * n_tasks + task, minlength=len(rows.models) * n_tasks)
    return np.asarray(counts.reshape(len(rows.models), n_tasks) > 0)


def _said(tasks: tuple[str, ...], held: Mask) -> FoundRecord:
    shared = tuple(name for t, name in enumerate(tasks) if held[:, t].all())
    value = Message("found.suite.value", names=shared, n=len(shared))
    return FoundRecord(what="suite", value=value, why=Message("found.suite.why"))


def _lacking(rows: Rows, tasks: tuple[str, ...], held: Mask, options: Options) -> list[FoundRecord]:
    """Refuse models that lack a task; under ``--join intersect`` say which tasks are left out for all.

    Raises
    ------
    InputError
        As said; the model that lacks most tasks first.
    """
    lacking = [model for model in np.argsort(held.sum(axis=1), kind="stable") if not held[model].all()]
    dropped = tuple(tasks[t] for t in np.flatnonzero(~held.all(axis=0)))
    kept = len(tasks) - len(dropped)
    if options.join == "intersect" and kept:
        of = tuple(
            Message(
                "found.suite.lacks",
                model=rows.models[m],
                names=tuple(tasks[t] for t in np.flatnonzero(~held[m])),
            )
            for m in sorted(lacking)
        )
        why = Message("found.suite.left_out", n=kept, of=of)
        return [
            FoundRecord(what="tasks left out", value=Message("found.suite.names", names=dropped), why=why)
        ]
    errors = [_lacks(rows, int(model), tasks, held, kept) for model in lacking]
    raise errors[0] if len(errors) == 1 else InputErrors(errors)


def _lacks(rows: Rows, model: int, tasks: tuple[str, ...], held: Mask, kept: int) -> InputError:
    table, _ = whence(rows, int(np.flatnonzero(rows.model == model)[0]))
    names = [quoted(tasks[t]) for t in np.flatnonzero(~held[model])]
    said = first_of(names, 5)
    word = "task" if len(names) == 1 else f"{len(names)} tasks"
    remedy = "predict the missing examples"
    if kept:
        common = "one task" if kept == 1 else f"{kept} tasks"
        remedy += f", or pass --join intersect to compare on the {common} that all models have"
    return InputError(
        f"the model {quoted(rows.models[model])} lacks the {word} {said} of the suite",
        file=table.name,
        column=TASK,
        expected="the same tasks for every model: a mean over other tasks is another quantity",
        remedy=remedy,
    )


def _within_tasks(
    coded: tuple[pa.Array, Indices], task: Indices, tasks: tuple[str, ...]
) -> tuple[pa.Array, Indices]:
    """Return the distinct (task, id) as text, sorted, and each row's place among them."""
    import pyarrow.compute as pc

    ids, code = coded
    pairs, place = np.unique(task * len(ids) + code, return_inverse=True)
    prefixes = from_texts(_prefixes(tasks))
    names = pc.binary_join_element_wise(
        prefixes.take(from_numpy(pairs // len(ids))),
        ids.take(from_numpy(pairs % len(ids))),
        from_texts([""])[0],
    )
    order = as_numpy(pc.sort_indices(names), 0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return names.take(from_numpy(order)), ranks[place.ravel()]


def _prefixes(tasks: tuple[str, ...]) -> list[str]:
    """Return what stands before the id: the task and a colon, tasks in quotes where one of them holds a colon."""
    unlike = any(":" in name for name in tasks)
    return [f"{name!r}:" if unlike else f"{name}:" for name in tasks]


# --- true values that stand apart -------------------------------------------------------------------------------------


def told_apart(rows: Rows, table: Table, code: Indices, own: Indices) -> tuple[Indices, Indices]:
    """Return which example each row and each true value is of: by task and id where both name tasks, else by id.

    Parameters
    ----------
    code, own
        Codes of the ids of the rows (n,) and of the table of true values (m,).

    Raises
    ------
    InputError
        Where one id stands in several tasks and the true values do not say of which they are.
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
    pairs = np.concatenate([code, own]) * (len(names) + 1) + tasks + 1
    numbers = np.unique(pairs, return_inverse=True)[1].ravel().astype(np.int64)
    return numbers[: len(code)], numbers[len(code) :]


def _refuse_ambiguous(rows: Rows, table: Table, code: Indices, own: Indices) -> None:
    task = category_column(rows.columns[TASK]).values.astype(np.int64) + 1
    first = np.full(int(max(code.max(), own.max(initial=0))) + 1, -1, dtype=np.int64)
    first[code[::-1]] = task[::-1]
    several = np.flatnonzero((first[code] != task) & np.isin(code, own))
    if len(several):
        row = int(several[0])
        raise fault(
            rows,
            row,
            "id",
            f"the id {rows.quoted_id(row)} stands in several tasks, and {table.told} holds one true value for it",
            expected="true values by task and id, as the predictions are",
            remedy=f"add the column task to {table.told}",
            count=len(several),
        )
