"""The distinct ids of many millions of rows in order, and each row's position among them.

Sorting finds both at once. Ids are text, yet they are compared as numbers made of their bytes, which sort many times
as fast; bits that are the same in every id (a common prefix, the upper half of digits) are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalreport.engine.blocks import ROWS_AT_ONCE, looked_up
from evalreport.engine.sorting import Places, Words, rows_by_digits
from evalreport.predictions.arrays import Mask
from evalreport.predictions.cells import flags, from_numpy, one_text_array
from evalreport.predictions.spelling import is_instant, one_instant
from evalreport.sources.database import database, usable_memory

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
    """Rows in the order of their ids (equal ones as they came), and which of them is the first with its id."""

    order: Places
    begins: Mask


def code_ids(
    pieces: Sequence[pa.ChunkedArray], *, memory_limit: int | None = None
) -> tuple[pa.Array, Places]:
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
        The distinct ids sorted by code point (Arrow strings), and (rows,) the position of each row's id in them, of
        32 bits where that is enough.
        Where every id is a plain number, or an instant, equal ones are one id.

    Raises
    ------
    UsageError
        Where even DuckDB cannot sort them within the limit.
    """
    import pyarrow.compute as pc

    different, place = _different(pieces)
    ids, codes = _coded(different, usable_memory() if memory_limit is None else memory_limit)
    spelled = _spelled_once(ids)
    if spelled is not None:
        encoded = spelled.dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary)
        rank = np.empty(len(order), dtype=codes.dtype)
        rank[order.to_numpy()] = np.arange(len(order))
        ids, codes = encoded.dictionary.take(order), looked_up(rank[encoded.indices.to_numpy()], codes)
    if len(different) == len(pieces):
        return ids, codes
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in different])])
    return ids, np.concatenate([codes[starts[p] : starts[p + 1]] for p in place])


_PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?", re.ASCII)
"""A number without an exponent and without leading zeros."""


_NEEDLESS = r"^(\+.*|-0(\.0*)?|[^.]*\.0*)$"
"""A plain number with a sign, zeros or a point that say nothing."""


_PLAIN_INSTANT = r"^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d*[1-9])?Z?)?$"
"""An instant as ``one_instant`` spells it, but for a midnight without a zone."""


def _spelled_once(ids: pa.Array) -> pa.Array | None:
    """Spell equal numbers alike where every id is a plain one, and equal instants; None where nothing changes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first, last = (ids[place].as_py() for place in (0, -1)) if len(ids) else ("", "")
    if _PLAIN_NUMBER.fullmatch(first) and _PLAIN_NUMBER.fullmatch(last):
        numbers = pc.all(pc.match_substring_regex(ids, f"^({_PLAIN_NUMBER.pattern})$")).as_py()
        if not numbers or not pc.any(pc.match_substring_regex(ids, _NEEDLESS)).as_py():
            return None
        plain = pc.replace_substring_regex(ids, r"\.0*$", "")
        return pc.replace_substring_regex(pc.replace_substring_regex(plain, r"^\+", ""), "^-0$", "0")
    if not is_instant(first) or not is_instant(last):
        return None
    midnight = pc.ends_with(ids, " 00:00:00")
    if pc.all(pc.and_not(pc.match_substring_regex(ids, _PLAIN_INSTANT), midnight)).as_py():
        return None
    try:
        return pa.array([one_instant(text) for text in ids.to_pylist()], ids.type)
    except ValueError:
        return None


Seen = dict[tuple[int, object, object], list["pa.ChunkedArray"]]
"""Lists of ids, by their length and their first and last id."""


def seen_before(ids: pa.ChunkedArray, seen: Seen) -> pa.ChunkedArray:
    """Return the same ids in the same order where they are among those seen, else remember these and return them.

    Models' files often hold the same ids in the same order: they are then in memory once.
    """
    if not len(ids):
        return ids
    alike = seen.setdefault((len(ids), ids[0].as_py(), ids[-1].as_py()), [])
    known = next((other for other in alike if other.equals(ids)), None)
    if known is None:
        alike.append(ids)
    return ids if known is None else known


def _different(pieces: Sequence[pa.ChunkedArray]) -> tuple[list[pa.ChunkedArray], list[int]]:
    """Return the different ones of some lists of ids, and which of them each list is."""
    seen: Seen = {}
    every = [seen_before(piece, seen) for piece in pieces]
    different = list({id(piece): piece for piece in every}.values())
    place = {id(piece): number for number, piece in enumerate(different)}
    return different, [place[id(piece)] for piece in every]


def _coded(pieces: Sequence[pa.ChunkedArray], memory_limit: int) -> tuple[pa.Array, Places]:
    import pyarrow as pa

    rows = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pieces[0].type)
    words = _words(rows, memory_limit)
    found = _by_database(rows, memory_limit) if words is None else _by_words(words)
    del words
    codes = _numbered(found)
    first = found.order if found.begins.all() else found.order[found.begins]
    # Where the first table holds every id, the others need not be put beside it.
    source = pieces[0] if first.max(initial=0) < len(pieces[0]) else rows
    return _taken(source, first), codes


def _taken(source: pa.ChunkedArray, places: Places) -> pa.Array:
    """Return some ids as one array, with offsets that are wide enough for its bytes."""
    import pyarrow as pa

    whole = one_text_array(source.chunks)
    if whole is not None:
        return whole.take(from_numpy(places))
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
    for start in range(1, len(order), ROWS_AT_ONCE):
        own = order[start - 1 : start + ROWS_AT_ONCE]
        for word in words:
            ranked = word[own]
            begins[start : start + ROWS_AT_ONCE] |= ranked[1:] != ranked[:-1]
    return _Sorted(order, begins)


def _numbered(found: _Sorted) -> Places:
    """Return the number of each row's id in the order of the ids, from 0."""
    codes, before = np.empty_like(found.order), -1
    for start in range(0, len(codes), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        number = np.cumsum(found.begins[some]) + before
        codes[found.order[some]] = number
        before = int(number[-1])
    return codes


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
    return _Sorted(order, begins)


def _other_than_before(ids: pa.Array, previous: str | None) -> Mask:
    """Return for each id whether it differs from the one before it."""
    import pyarrow.compute as pc

    begins = np.ones(len(ids), dtype=np.bool_)
    begins[1:] = flags(pc.not_equal(ids[1:], ids[:-1]))
    begins[:1] = [ids[0].as_py() != previous] if len(ids) else []
    return begins


def _words(rows: pa.ChunkedArray, memory_limit: int) -> list[Words] | None:
    """Turn ids into numbers in the same order, the highest digit first; None where that takes too much.

    The memory needed includes the sorted positions of the rows.
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
