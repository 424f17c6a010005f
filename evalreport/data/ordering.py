"""Ids of many millions of rows -> the distinct ones in order, and each row's place among them.

Sorting finds both at once. Ids are text, yet they are compared as numbers made of their bytes, which sort many times
as fast; bits that are the same in every id (a common prefix, the upper half of digits) are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.database import database, usable_memory
from evalreport.data.predictions import Indices

Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

MOST_WORDS = 4
LONGEST_ID = 4096
"""Ids that differ in more bits than these words of 64 bits hold, or that are longer (bytes), are left to DuckDB."""
BYTES_A_ROW = 40
"""Working memory of sorting one row here, beside 8 bytes a word."""
_BYTES_A_BLOCK = 1 << 22
_ROWS_A_BATCH = 500_000


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows in the order of their ids, and where in that order another id begins."""

    order: Indices
    begins: Flags


def code_ids(pieces: Sequence[Any], *, memory_limit: int | None = None) -> tuple[Any, Indices]:
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


def _different(pieces: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Keep each list of ids once: models' files often hold the same ids in the same order."""
    different: list[Any] = []
    place: list[int] = []
    for piece in pieces:
        alike = next((i for i, other in enumerate(different) if other.equals(piece)), len(different))
        if alike == len(different):
            different.append(piece)
        place.append(alike)
    return different, place


def _coded(pieces: Sequence[Any], memory_limit: int) -> tuple[Any, Indices]:
    import pyarrow as pa

    rows = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pieces[0].type)
    words = _words(rows, memory_limit)
    found = _by_database(rows, memory_limit) if words is None else _by_words(words)
    codes = np.empty(len(rows), dtype=np.int64)
    codes[found.order] = np.cumsum(found.begins) - 1
    # The first row that holds an id stands for it: it is written last, from the last row to the first.
    first = np.empty(int(np.count_nonzero(found.begins)), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    # Where the first table holds every id, the others need not be put beside it.
    source = pieces[0] if first.max(initial=0) < len(pieces[0]) else rows
    return _taken(source, first), codes


def _taken(source: Any, places: Indices) -> Any:
    """Return some ids as one array, with offsets that are wide enough for its bytes."""
    import pyarrow as pa

    wide = source.nbytes >= 2**31
    whole = pa.concat_arrays((source.cast(pa.large_string()) if wide else source).chunks)
    return whole.take(pa.array(places))


def _by_words(words: Sequence[Words]) -> _Sorted:
    """Sort by the first word, and by the later ones where it settles nothing."""
    order = np.argsort(words[0])
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = _changes(words[:1], order)
    if len(words) == 1:
        return _Sorted(order, begins)
    differs = ~begins
    differs[1:] &= _changes(words[1:], order)
    if differs.any():
        group = np.cumsum(begins)
        mixed = np.zeros(int(group[-1]) + 1, dtype=np.bool_)
        mixed[group[differs]] = True
        places = np.flatnonzero(mixed[group])
        rows = order[places]
        order[places] = rows[np.lexsort((*(word[rows] for word in words[:0:-1]), group[places]))]
        begins[1:] |= _changes(words[1:], order)
    return _Sorted(order, begins)


def _changes(words: Sequence[Words], order: Indices) -> Flags:
    """Say of each row but the first whether one of its words differs from that of the row before."""
    changed = np.zeros(max(len(order) - 1, 0), dtype=np.bool_)
    for word in words:
        sorted_word = word[order]
        changed |= sorted_word[1:] != sorted_word[:-1]
    return changed


def _by_database(rows: Any, memory_limit: int) -> _Sorted:
    """Sort by DuckDB, which keeps on disk what the limit has no room for."""
    import pyarrow as pa

    order = np.empty(len(rows), dtype=np.int64)
    begins = np.ones(len(rows), dtype=np.bool_)
    numbered = pa.table({"id": rows, "place": np.arange(len(rows))})
    done, previous = 0, None
    with database(memory_limit) as connection:
        connection.register("numbered", numbered)
        query = connection.sql("SELECT id, place FROM numbered ORDER BY id")
        for batch in query.to_arrow_reader(_ROWS_A_BATCH):
            end = done + batch.num_rows
            order[done:end] = batch.column(1).to_numpy()
            begins[done:end] = _other_than_before(batch.column(0), previous)
            done, previous = end, batch.column(0)[-1].as_py() if batch.num_rows else previous
    return _Sorted(order, begins)


def _other_than_before(ids: Any, previous: str | None) -> Flags:
    """Say of each id whether it is another one than that before it."""
    import pyarrow.compute as pc

    begins = np.ones(len(ids), dtype=np.bool_)
    begins[1:] = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    begins[:1] = [ids[0].as_py() != previous] if len(ids) else []
    return begins


def _words(rows: Any, memory_limit: int) -> list[Words] | None:
    """Turn ids into numbers in the same order, the most significant word first; None where that takes too much."""
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(rows)).as_py() or 0
    width = max(-(-longest // 8), 1)
    if longest > LONGEST_ID:
        return None
    varying = _varying(rows, width) if width > 1 else [2**64 - 1]
    layout = list(_layout(varying)) or [[(0, 0, 1)]]
    holds_nul = any(_holds_nul(chunk) for chunk in rows.chunks)
    needed = len(rows) * (BYTES_A_ROW + 8 * (len(layout) + holds_nul))
    if len(layout) > MOST_WORDS or needed > memory_limit:
        return None
    words = [np.empty(len(rows), dtype=np.uint64) for _ in layout]
    done = 0
    for block in _blocks(rows, width):
        for word, runs in zip(words, layout, strict=True):
            word[done : done + len(block)] = _packed(block, runs)
        done += len(block)
    if holds_nul:
        # "a" and "a\0" differ by their lengths alone once they are padded.
        words.append(pc.binary_length(rows).to_numpy().astype(np.uint64))
    return words


def _blocks(rows: Any, width: int) -> Iterator[Words]:
    """Yield some rows at a time as (rows, width) numbers, each made of 8 bytes; shorter ids are padded with NUL."""
    import pyarrow.compute as pc

    at_once = max(_BYTES_A_BLOCK // (8 * width), 1)
    for chunk in rows.chunks:
        for start in range(0, len(chunk), at_once):
            block = chunk.slice(start, at_once)
            padded = pc.ascii_rpad(block, 8 * width, padding="\0").buffers()[2]
            numbers = np.frombuffer(padded, dtype=">u8", count=len(block) * width)
            yield numbers.astype(np.uint64).reshape(len(block), width)


def _varying(rows: Any, width: int) -> list[int]:
    """Return the bits in which the ids differ, by word."""
    ones = np.full(width, 2**64 - 1, dtype=np.uint64)
    any_one = np.zeros(width, dtype=np.uint64)
    for block in _blocks(rows, width):
        ones &= np.bitwise_and.reduce(block, axis=0)
        any_one |= np.bitwise_or.reduce(block, axis=0)
    return [int(bits) for bits in ones ^ any_one]


def _layout(varying: Sequence[int]) -> Iterator[list[tuple[int, int, int]]]:
    """Share the varying bits out to as few words as hold them, in order: each a list of (word, shift, length)."""
    runs: list[tuple[int, int, int]] = []
    free = 64
    for word, bits in enumerate(varying):
        for shift, length in _runs(bits):
            if length > free:
                yield runs
                runs, free = [], 64
            runs.append((word, shift, length))
            free -= length
    if runs:
        yield runs


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of set bits from the highest: how many bits lie below it, and its length."""
    while bits:
        end = bits.bit_length()
        # The bits below the highest run of ones are those that adding its lowest bit leaves alone.
        inverted = ~bits & ((1 << end) - 1)
        shift = inverted.bit_length()
        yield shift, end - shift
        bits &= (1 << shift) - 1


def _packed(block: Words, runs: Sequence[tuple[int, int, int]]) -> Words:
    """Put the runs of bits of each row beside one another in one number."""
    packed: Words | None = None
    for word, shift, length in runs:
        bits = block[:, word]
        if length < 64:
            bits = (bits >> np.uint64(shift)) & np.uint64((1 << length) - 1)
        packed = bits if packed is None else packed << np.uint64(length) | bits
    assert packed is not None
    return packed


def _holds_nul(chunk: Any) -> bool:
    """Say whether an id holds a NUL (neighbouring rows of the same buffer count too)."""
    text = chunk.buffers()[2]
    return text is not None and text.size > 0 and int(np.frombuffer(text, dtype=np.uint8).min()) == 0
