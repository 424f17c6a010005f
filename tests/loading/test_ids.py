"""Ids in order: whatever they are made of, and whoever sorts them, the order is that of code points."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalreport.loading import ids as ordering
from evalreport.loading.ids import code_ids
from tests.samples.cases import every

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("a\0\x01\x7f\u0080\uffff\U00010000"),
    max_size=40,
)
# Few different parts, so that ids are often equal, or equal for many bytes before they differ.
ALIKE = st.lists(st.sampled_from(["x" * 8, "y" * 8, "\0", "ab", "日本", "7"]), max_size=6).map("".join)
IDS = st.lists(TEXT | ALIKE, min_size=1, max_size=30)


def coded(tables: Sequence[Sequence[str]], memory_limit: int | None = None) -> tuple[list[str], list[int]]:
    """Code the ids of some tables, each in two chunks."""
    pieces = [
        pa.chunked_array([ids[: len(ids) // 2], ids[len(ids) // 2 :]], type=pa.string()) for ids in tables
    ]
    distinct, codes = code_ids(pieces, memory_limit=memory_limit)
    return distinct.to_pylist(), codes.tolist()


def expected(tables: Sequence[Sequence[str]]) -> tuple[list[str], list[int]]:
    """What Python makes of them: it sorts text by code point."""
    rows = [id_ for ids in tables for id_ in ids]
    distinct = sorted(set(rows))
    return distinct, [distinct.index(id_) for id_ in rows]


@settings(deadline=None)  # the first one imports
@given(st.lists(IDS, min_size=1, max_size=3))
def test_ids_are_sorted_by_code_point_and_coded_by_their_place(tables: list[list[str]]) -> None:
    """Any text, NUL included: the distinct ids are Python's sorted set, and each code is a row's index in it."""
    numbers = re.compile(r"[+-]?\d+\.?\d*", re.ASCII)
    assume(not all(numbers.fullmatch(one) for ids in tables for one in ids))  # equal numbers are one id
    assert coded(tables) == expected(tables)


@pytest.mark.parametrize(
    "ids",
    every(
        3,
        [
            [f"{i * 7919 % 1000}" for i in range(1000)],
            [f"example_{i * 7919 % 1000:012d}.png" for i in range(1000)],
            [
                f"{(i * 2654435761) % 2**32:08x}-{(i * 40503) % 2**16:04x}-4000-8000-{i:012x}"
                for i in range(1000)
            ],
            ["x" * 20 + str(i % 3) + "y" * 20 + str(i * 7919 % 1000) for i in range(1000)],
            ["".join(chr(33 + (i * 31 + j * 17) % 90) for j in range(70)) for i in range(300)],
            ["a" * (4090 + i % 10) for i in range(30)],
            ["the same"] * 10,
        ],
    ),
    ids=["numbers", "files", "uuids", "one-prefix-in-three", "many-words", "longer-than-a-page", "one-id"],
)
def test_every_way_of_sorting_gives_the_same_order(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By Arrow or by DuckDB (where memory is short): the same ids and codes, as Python has them."""
    tables = [ids, ids[::-1], ids]
    assert coded(tables) == expected(tables)
    # A row is said to need more than the limit holds.
    monkeypatch.setattr(ordering, "BYTES_A_ROW", 10**8)
    monkeypatch.setattr(ordering, "_ROWS_A_BATCH", 100)
    assert coded(tables, 10**8) == expected(tables)
