"""Whatever bytes a file holds, loading ends with Predictions or with one error meant for a person."""

from __future__ import annotations

import contextlib
import gzip
import warnings
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
from evalreport.sources.reading import FORMATS, file_format
from tests.samples.workbook import write_workbook

TABLE = {
    "id": ["a", "b", "a", "b"],
    "model": ["k", "k", "l", "l"],
    "y_true": ["x", "y", "x", "y"],
    "y_pred": ["x", "x", "y", "y"],
    "p_x": [0.75, 0.5, 0.25, 0.125],
}


def pristine(folder: Path) -> dict[str, bytes]:
    """Return a good file of each format."""
    lines = [",".join(TABLE), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True))]
    (folder / "m.csv").write_text("\n".join(lines) + "\n")
    table = pa.table(TABLE)
    pq.write_table(table, folder / "m.parquet")
    with pa.ipc.new_file(str(folder / "m.arrow"), table.schema) as writer:
        writer.write_table(table)
    np.savez(folder / "m.npz", **{name: np.array(column) for name, column in TABLE.items()})
    kinds = {name: np.array(column).dtype for name, column in TABLE.items()}
    np.save(folder / "m.npy", np.array(list(zip(*TABLE.values(), strict=True)), dtype=list(kinds.items())))
    write_workbook(folder / "m.xlsx", [list(TABLE), *zip(*TABLE.values(), strict=True)])
    keys = list(TABLE)
    rows = [{k: TABLE[k][i] for k in keys} for i in range(4)]
    (folder / "m.jsonl").write_text("\n".join(str(row).replace("'", '"') for row in rows) + "\n")
    (folder / "m.tsv").write_text((folder / "m.csv").read_text().replace(",", "\t"))
    for suffix in ("csv", "tsv", "jsonl"):
        (folder / f"m.{suffix}.gz").write_bytes(gzip.compress((folder / f"m.{suffix}").read_bytes()))
    (folder / "m.feather").write_bytes((folder / "m.arrow").read_bytes())
    files = {str(file_format(path)): path.read_bytes() for path in folder.iterdir()}
    assert set(files) == set(FORMATS), "each registered format needs a good file here"
    return files


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A good file of each format."""
    return pristine(tmp_path_factory.mktemp("good"))


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
@settings(max_examples=60, deadline=None)
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
