"""The distinct ids of many millions of rows in order, and each row's position among them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.engine.blocks import Places, looked_up, places_type
from evalreport.predictions.cells import as_numpy
from evalreport.predictions.spelling import is_instant, one_instant
from evalreport.sources.database import database, usable_memory

BYTES_A_ROW = 160
"""Working memory of a row beside twice its text, where Arrow hashes it: 20 million distinct ids took 3.2 GB."""

_ROWS_A_BATCH = 500_000


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
    different, place = _different(pieces)
    ids, codes = _coded(different, usable_memory() if memory_limit is None else memory_limit)
    spelled = _spelled_once(ids)
    if spelled is not None:
        encoded = spelled.dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary)
        rank = np.empty(len(order), dtype=codes.dtype)
        rank[as_numpy(order, -1)] = np.arange(len(order))
        ids, codes = encoded.dictionary.take(order), looked_up(rank[as_numpy(encoded.indices, -1)], codes)
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
    """Sort the distinct ids: Arrow finds them by hashing, and DuckDB where memory is short."""
    rows = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pieces[0].type)
    if 2 * rows.nbytes + BYTES_A_ROW * len(rows) > memory_limit:
        return _by_database(rows, memory_limit)
    wide = rows.nbytes >= 2**31
    encoded = (rows.cast(pa.large_string()) if wide else rows).dictionary_encode().combine_chunks()
    order = pc.array_sort_indices(encoded.dictionary)
    rank = np.empty(len(order), dtype=places_type(len(rows)))
    rank[as_numpy(order, -1)] = np.arange(len(order))
    return encoded.dictionary.take(order), looked_up(rank, as_numpy(encoded.indices, -1))


def _by_database(rows: pa.ChunkedArray, memory_limit: int) -> tuple[pa.Array, Places]:
    """Sort by DuckDB, which keeps on disk what the limit has no room for."""
    codes = np.empty(len(rows), dtype=places_type(len(rows)))
    numbered = pa.table({"id": rows, "place": np.arange(len(rows))})
    with database(memory_limit) as connection:
        connection.register("numbered", numbered)
        ids = connection.sql("SELECT DISTINCT id FROM numbered ORDER BY id").to_arrow_table()["id"]
        ranked = connection.sql("SELECT place, dense_rank() OVER (ORDER BY id) - 1 AS code FROM numbered")
        for batch in ranked.to_arrow_reader(_ROWS_A_BATCH):
            codes[as_numpy(batch.column(0), -1)] = as_numpy(batch.column(1), -1)
    return ids.combine_chunks(), codes
