"""Whatever bytes a file holds, loading ends with Predictions or with one error meant for a person."""

from __future__ import annotations

import contextlib
import gzip
import json
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.errors import EvalreportError, InputError
from evalreport.loading.load import load
from evalreport.sources import unpacking
from evalreport.sources.reading import FORMATS
from tests.samples.workbook import write_workbook

Table = dict[str, list[Any]]

TABLE: Table = {
    "id": ["a", "b", "a", "b"],
    "model": ["k", "k", "l", "l"],
    "y_true": ["x", "y", "x", "y"],
    "y_pred": ["x", "x", "y", "y"],
    "p_x": [0.75, 0.5, 0.25, 0.125],
}


def write_text(path: Path, table: Table) -> None:
    """Write lines of cells, with the mark of the file's name between them; gzipped where it says so."""
    mark = "\t" if ".tsv" in path.name else ","
    lines = [mark.join(table), *(mark.join(map(str, row)) for row in zip(*table.values(), strict=True))]
    write_lines(path, lines)


def write_json(path: Path, table: Table) -> None:
    """Write an object a line; gzipped where the file's name says so."""
    rows = zip(*table.values(), strict=True)
    write_lines(path, [json.dumps(dict(zip(table, row, strict=True))) for row in rows])


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write lines of text; gzipped where the file's name says so."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_arrow(path: Path, table: Table) -> None:
    """Write an Arrow file."""
    columns = pa.table(table)
    with pa.ipc.new_file(str(path), columns.schema) as writer:
        writer.write_table(columns)


def write_npy(path: Path, table: Table) -> None:
    """Write one array of records."""
    kinds = [(name, np.array(column).dtype) for name, column in table.items()]
    np.save(path, np.array(list(zip(*table.values(), strict=True)), dtype=kinds))


WRITERS: dict[str, Callable[[Path, Table], object]] = {
    **dict.fromkeys(("csv", "tsv", "csv.gz", "tsv.gz"), write_text),
    **dict.fromkeys(("jsonl", "jsonl.gz"), write_json),
    **dict.fromkeys(("arrow", "feather"), write_arrow),
    "parquet": lambda path, table: pq.write_table(pa.table(table), path),
    "npz": lambda path, table: np.savez_compressed(path, **{n: np.array(c) for n, c in table.items()}),
    "npy": write_npy,
    "xlsx": lambda path, table: write_workbook(path, [list(table), *zip(*table.values(), strict=True)]),
}
"""How a good file of each format is written."""

AS_LARGE_AS_CONTENT = {"csv", "tsv", "jsonl", "npy", "arrow", "feather", "xlsx"}
"""The formats whose files are not compressed here; `test_unpacking.py` has compressed ones of Arrow."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A good file of each format."""
    folder, files = tmp_path_factory.mktemp("good"), {}
    for suffix, write in WRITERS.items():
        path = folder / f"m.{suffix}"
        write(path, TABLE)
        files[suffix] = path.read_bytes()
    return files


def test_every_format_has_a_writer_here() -> None:
    """Each registered format is tried below: write its file in ``WRITERS``."""
    assert set(WRITERS) == set(FORMATS)


@pytest.mark.parametrize("suffix", [s for s in FORMATS if s not in AS_LARGE_AS_CONTENT])
def test_what_unpacks_to_far_more_than_it_holds_is_refused(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two columns of 50,000 equal numbers, and room for 200 times the file: a reader without a ``room`` fails."""
    monkeypatch.setattr(unpacking, "ALWAYS", 10_000)
    path = tmp_path / f"m.{suffix}"
    WRITERS[suffix](path, dict.fromkeys(("y_true", "y_pred"), [0] * 50_000))
    with pytest.raises(InputError, match=r"it unpacks to (about|more than) .*; expected at most"):
        load(path)


def load_or_refuse(path: Path) -> None:
    """Load a file; anything but the errors that are raised on purpose fails the test."""
    with warnings.catch_warnings(), contextlib.suppress(EvalreportError):
        warnings.simplefilter("error")
        load(path)


def formats() -> list[Any]:
    """Return every format; workbooks are left out where their reader, an extra, is not installed."""
    lacking = pytest.mark.skipif(
        find_spec("python_calamine") is None, reason="the extra excel is not installed"
    )
    return [pytest.param(suffix, marks=lacking if suffix == "xlsx" else ()) for suffix in FORMATS]


@pytest.mark.parametrize("suffix", formats())
@given(data=st.data())
@settings(deadline=None)
def test_a_damaged_file_never_ends_in_a_traceback(
    suffix: str, data: st.DataObject, good: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bytes changed, cut out or put in at any place."""
    content = bytearray(good[suffix])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 4))
        content[place : place + length] = data.draw(st.binary(max_size=4))
        if not content:
            break
    path = tmp_path_factory.mktemp("damaged") / f"m.{suffix}"
    path.write_bytes(content)
    load_or_refuse(path)


@pytest.mark.parametrize("suffix", formats())
def test_every_format_is_read_and_refused_where_it_is_foreign(
    suffix: str, good: dict[str, bytes], tmp_path: Path
) -> None:
    """A format that is registered needs a good file here: it is read whole, not by half, nor when it is a picture.

    Of plain tables of text half is a table.
    """
    path = tmp_path / f"m.{suffix}"
    path.write_bytes(good[suffix])
    assert [m.name for m in load(path).models] == ["k", "l"]
    half = [] if suffix in ("csv", "tsv") else [good[suffix][: len(good[suffix]) // 2]]
    for content in (*half, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            load(path)
        assert caught.value.remedy


@pytest.mark.slow
@given(text=st.text(st.sampled_from('id,y_true"\n\r\t 01.5xnap-;_é\0'), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_loaded_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Text made of what matters to a CSV reader."""
    path = tmp_path_factory.mktemp("text") / "m.csv"
    path.write_text("id,y_true,y_pred,score\n" + text, newline="")
    load_or_refuse(path)
