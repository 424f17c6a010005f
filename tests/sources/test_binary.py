"""Broken archives and binary files are refused: they are neither shorter test sets nor trusted."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.sources.binary import whole as read_whole


def test_a_truncated_gzip_is_refused(tmp_path: Path) -> None:
    """A download that broke off is no shorter test set."""
    whole = gzip.compress(b"id,y_true,y_pred\n" + b"".join(b"%d,1,%d\n" % (i, i % 2) for i in range(20_000)))
    path = tmp_path / "m.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read") as caught:
        load(path)
    assert "again" in (caught.value.remedy or "")


def test_a_gzip_that_is_none_is_refused(tmp_path: Path) -> None:
    """Plain text named .csv.gz is foreign."""
    path = tmp_path / "m.csv.gz"
    path.write_text("id,y_true,y_pred\na,1,1\n")
    with pytest.raises(InputError, match="cannot be read"):
        load(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npz"])
def test_a_truncated_binary_file_is_refused(tmp_path: Path, suffix: str) -> None:
    """Half a file is refused whatever its format."""
    path = tmp_path / f"m.{suffix}"
    table = pa.table(
        {"id": [str(i) for i in range(999)], "y_true": [0, 1, 1] * 333, "y_pred": [0, 1, 0] * 333}
    )
    if suffix == "parquet":
        pq.write_table(table, path)
    elif suffix == "arrow":
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        np.savez(path, **{name: table.column(name).to_numpy() for name in ("y_true", "y_pred")})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=f"cannot be read as {suffix}") as caught:
        load(path)
    assert caught.value.remedy


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_column_whose_name_is_no_text_is_refused(tmp_path: Path, suffix: str) -> None:
    """A damaged header that is no UTF-8 any more is bad input, not a defect of the program."""
    path = tmp_path / f"m.{suffix}"
    table = pa.table({"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, 0], "zzzz": [1, 2]})
    if suffix == "parquet":
        pq.write_table(table, path, store_schema=False)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\x80z"))
    with pytest.raises(InputError, match=f"cannot be read as {suffix}"):
        load(path)


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    """An npz whose members are marked as encrypted cannot be read, and says so."""
    path = tmp_path / "m.npz"
    np.savez(path, y_true=np.array([0, 1]), y_pred=np.array([0, 1]))
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1  # bit 0 of the general flags of the first entry
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as npz"):
        load(path)


def test_a_parquet_file_names_the_row(tmp_path: Path) -> None:
    """A binary file has no lines: the row is named in the problem."""
    path = tmp_path / "m.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "y_true": [1, 0], "p_1": [0.5, 1.5]}), path)
    with pytest.raises(InputError, match=r"row 2: the probability '1.5' is outside") as caught:
        load(path)
    assert (caught.value.line, caught.value.column) == (None, "p_1")


def test_objects_in_npz_are_refused(tmp_path: Path) -> None:
    """Python objects could run code when they are loaded."""
    path = tmp_path / "m.npz"
    np.savez(path, id=np.array(["a", "b"], dtype=object), y_pred=np.array([0, 1]))
    with pytest.raises(InputError, match="Python objects") as caught:
        load(path)
    assert "dtype=str" in (caught.value.remedy or "")


def test_two_dimensions_in_npz_are_refused(tmp_path: Path) -> None:
    """A matrix of probabilities does not say which column is which class."""
    path = tmp_path / "m.npz"
    np.savez(path, id=np.array(["a", "b"]), p_1=np.zeros((2, 2)))
    with pytest.raises(InputError, match="2 dimensions") as caught:
        load(path)
    assert caught.value.column == "p_1"


def test_unequal_lengths_in_npz_are_refused(tmp_path: Path) -> None:
    """Arrays of different lengths are no table."""
    path = tmp_path / "m.npz"
    np.savez(path, id=np.array(["a", "b"]), y_pred=np.array([1]))
    with pytest.raises(InputError, match="different lengths"):
        load(path)


def test_a_hostile_arrow_file_is_checked_before_it_is_believed(tmp_path: Path) -> None:
    """Offsets that point outside the file's data are refused, not followed."""
    sink = io.BytesIO()
    table = pa.table({"id": ["a", "b"], "y_true": ["x", "y"], "y_pred": ["x", "y"]})
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content = bytearray(sink.getvalue())
    offsets = np.array([0, 1, 2], dtype=np.int32).tobytes()
    place = content.index(offsets)
    content[place + 8 : place + 12] = np.int32(2**30).tobytes()
    path = tmp_path / "m.arrow"
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as arrow"):
        load(path)


@pytest.mark.parametrize("column", ["id", "y_true", "y_pred"])
def test_text_of_a_parquet_file_that_is_no_utf8_is_refused(tmp_path: Path, column: str) -> None:
    """Parquet does not check it when it is read; whoever looked at the text first would fail."""
    texts = {"id": ["a", "é"], "y_true": ["x", "y"], "y_pred": ["x", "y"]}
    broken = pa.StringArray.from_buffers(2, *pa.array([b"x", b"j\xb2"]).buffers()[1:])
    path = tmp_path / "m.parquet"
    pq.write_table(pa.table({**texts, column: broken}), path)
    with pytest.raises(InputError, match="UTF8") as caught:
        load(path)
    assert caught.value.column == column


def test_too_little_memory_says_nothing_of_the_file() -> None:
    """Arrow's own error is a MemoryError, too, and stays one."""
    with pytest.raises(MemoryError), read_whole("m.parquet", "parquet"):
        raise pa.ArrowMemoryError("malloc of size 80000000 failed")
