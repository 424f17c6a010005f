"""A small file that unpacks to a large one is refused by its numbers; limits are made small here, files stay small."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.errors import InputError, UsageError
from evalreport.loading import task
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.sources import binary, formats, reading, unpacking
from tests.samples.prediction_files import Write

ROWS = 50_000
MEGABYTE = 10**6


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is larger than 10,000 bytes must be no more than 200 times its file."""
    monkeypatch.setattr(unpacking, "ALWAYS", 10_000)


def npz(path: Path, **arrays: np.ndarray) -> Path:
    """Write compressed arrays."""
    np.savez_compressed(path, **arrays)
    return path


def arrow(path: Path, table: pa.Table, *, compression: str | None = "zstd", stream: bool = False) -> Path:
    """Write a table as an Arrow file or stream."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=20_000)
    return path


def constant(rows: int = ROWS) -> dict[str, np.ndarray]:
    """One model that always says the same, without ids: nothing compresses better."""
    return {name: np.zeros(rows, dtype=np.int8) for name in ("y_true", "y_pred")}


@pytest.mark.parametrize("suffix", ["npz", "parquet", "arrow", "csv.gz", "tsv.gz", "jsonl.gz"])
def test_what_unpacks_to_far_more_is_refused_before_it_is_read(
    tmp_path: Path, tight: None, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Two columns of one value each in every format: the message says both sizes and what to do."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was unpacked")

    path = tmp_path / f"m.{suffix}"
    if suffix == "npz":
        npz(path, **constant())
        monkeypatch.setattr(np, "load", never)
    elif suffix == "parquet":
        pq.write_table(pa.table(constant()), path)
        monkeypatch.setattr(binary, "_in_pieces", never)
    elif suffix == "arrow":
        arrow(path, pa.table({name: pa.nulls(ROWS) for name in ("y_true", "y_pred", "score")}))
        monkeypatch.setattr(binary, "read_table", never)
    else:
        monkeypatch.setattr(formats, "_read_fast", never)
        monkeypatch.setattr(formats, "database", never)
        mark = "\t" if suffix.startswith("tsv") else ","
        head, row = f"y_true{mark}y_pred\n", f"1{mark}1\n"
        if suffix.startswith("jsonl"):
            head, row = "", '{"y_true": 1, "y_pred": 1}\n'
        path.write_bytes(gzip.compress((head + row * 4 * ROWS).encode()))
    with pytest.raises(InputError, match=r"it unpacks to (about|more than) .*; expected at most") as caught:
        load(path)
    assert "--memory-limit" in (caught.value.remedy or "")


@pytest.mark.parametrize("suffix", ["npz", "parquet", "csv.gz"])
def test_a_memory_limit_gives_room(tmp_path: Path, tight: None, suffix: str) -> None:
    """Who says how much memory there is may read a file however well it was compressed."""
    path = tmp_path / f"m.{suffix}"
    if suffix == "npz":
        npz(path, **constant())
    elif suffix == "parquet":
        pq.write_table(pa.table(constant()), path)
    else:
        path.write_bytes(gzip.compress(b"y_true,y_pred\n" + b"1,1\n" * ROWS))
    assert load(path, memory_limit=500 * MEGABYTE).n == ROWS


@pytest.mark.parametrize("suffix", ["npz", "parquet", "arrow"])
def test_a_memory_limit_is_one(tmp_path: Path, suffix: str) -> None:
    """Ids that do not compress, 3 MB of them: a limit of 1 MB has no room, although the file is as large."""
    rng = np.random.default_rng(1)
    table = {**constant(100_000), "id": [f"{number:030d}" for number in rng.permutation(100_000)]}
    path = tmp_path / f"m.{suffix}"
    if suffix == "npz":
        np.savez(path, **{name: np.asarray(values) for name, values in table.items()})
    elif suffix == "parquet":
        pq.write_table(pa.table(table), path)
    else:
        arrow(path, pa.table(table), compression=None)
    with pytest.raises(UsageError, match=r"memory limit of 1 MB leaves no room .* --memory-limit"):
        load(path, memory_limit=MEGABYTE)
    assert load(path, memory_limit=100 * MEGABYTE).n == 100_000


def test_a_text_that_is_read_a_little_at_a_time_may_be_larger_than_the_memory(tmp_path: Path) -> None:
    """DuckDB reads on disk what the limit has no room for: only a growth that no predictions have is refused."""
    rng = np.random.default_rng(1)
    rows = "".join(f"{number},1,1\n" for number in rng.permutation(20_000))
    path = tmp_path / "m.csv.gz"
    path.write_bytes(gzip.compress(f"id,y_true,y_pred\n{rows}".encode()))
    assert unpacking.room_of(path, "m", 1000, streamed=True).bytes_ >= len(rows)


def test_an_archive_that_holds_a_name_twice_is_refused(tmp_path: Path) -> None:
    """Which of the two is meant? As in Parquet and in a header of CSV."""
    path = npz(tmp_path / "m.npz", y_true=np.array([0, 1]), y_pred=np.array([0, 1]))
    other = io.BytesIO()
    np.save(other, np.array([1, 0]))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("y_pred.npy", other.getvalue())
    with pytest.raises(InputError, match="holds this array twice") as caught:
        load(path)
    assert caught.value.column == "y_pred"


def test_an_array_that_promises_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    """The header says a million values, the member holds two."""
    content = io.BytesIO()
    np.save(content, np.array([0, 1], dtype=np.int8))
    lying = content.getvalue().replace(b"(2,), }      ", b"(1000000,), }")
    assert len(lying) == len(content.getvalue())
    path = tmp_path / "m.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("y_true.npy", "y_pred.npy"):
            archive.writestr(name, lying)
    with pytest.raises(InputError, match="fewer values than it says"):
        load(path)


@pytest.mark.parametrize("suffix, coded", [("parquet", False), ("parquet", True), ("arrow", True)])
def test_a_long_text_that_is_stored_once_is_counted_as_often_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, coded: bool
) -> None:
    """One id of 10,000 letters in 10,000 rows: one entry of a dictionary in the file, 100 MB as text.

    (Plain text of Arrow is stored as often as it stands: its declared size says it.)
    """
    monkeypatch.setattr(unpacking, "ALWAYS", 50 * MEGABYTE)
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(10_000, dtype=np.int32)), pa.array(["x" * 10_000])
    )
    table = pa.table({"id": text if coded else text.dictionary_decode(), **constant(10_000)})
    path = tmp_path / f"m.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        arrow(path, table)
    assert path.stat().st_size < MEGABYTE / 10
    with pytest.raises(InputError, match="it unpacks to"):
        load(path)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", ["zstd", "lz4", None])
def test_the_declared_size_of_an_arrow_file_is_that_of_its_buffers(
    tmp_path: Path, compression: str | None, stream: bool
) -> None:
    """Beside Arrow's own count of what it read: batches, dictionaries, file and stream; padding is all that differs."""
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "id": [f"{number:09d}" for number in rng.permutation(30_000)],
            "y_true": pa.array(rng.integers(0, 9, 30_000)).cast(pa.string()).dictionary_encode(),
            "score": rng.normal(size=30_000),
        }
    )
    path = arrow(tmp_path / "m.arrow", table, compression=compression, stream=stream)
    with pa.OSFile(str(path)) as file:
        declared = unpacking.declared_by_arrow(file)
    assert declared == pytest.approx(table.nbytes, rel=0.01)


@pytest.mark.parametrize(("size", "error"), [(89_060_441_849_920, InputError), (1, MemoryError)])
def test_memory_that_a_damaged_file_asks_for_is_its_fault(
    size: int, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terabytes of a file of a kilobyte are damage; where little was asked for, the memory is short."""
    arrow(tmp_path / "m.arrow", pa.table({"id": ["a"], "y_true": ["x"], "y_pred": ["x"]}))

    def without_memory(*_: object) -> None:
        raise pa.ArrowMemoryError(f"malloc of size {size} failed")

    monkeypatch.setattr(pa.ipc, "open_file", without_memory)
    with pytest.raises(error):
        load(tmp_path / "m.arrow")


@given(data=st.data())
def test_a_damaged_arrow_file_declares_a_number_or_is_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any bytes changed at any place: a count, or one of the errors that are turned into a message."""
    table = pa.table({"id": ["a", "b"], "y_true": pa.array(["x", "y"]).dictionary_encode(), "p": [0.5, 0.25]})
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(arrow(folder / "m.arrow", table).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + 4] = data.draw(st.binary(min_size=4, max_size=4))
    (folder / "m.arrow").write_bytes(content)
    with contextlib.suppress(InputError):
        load(folder / "m.arrow")


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("m.csv.gz", b"\n" * 3 * MEGABYTE, "the first line is empty"),
        (
            "m.csv.gz",
            b"id,y_true,y_pred\na,1,1\n" + b"\r\n" * 2 * MEGABYTE + b"b,0\n",
            "1 million empty lines",
        ),
        ("m.jsonl.gz", b"\n" * 3 * MEGABYTE, "1 million empty lines"),
        ("m.csv", b"x" * 3000, "line is longer than"),
        ("m.csv.gz", b"id,y_true,y_pred\n" + b"x" * 3000, "line is longer than"),
    ],
)
def test_a_flood_of_lines_or_one_line_without_end_is_said_as_what_it_is(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, said: str
) -> None:
    """Not "the file is empty" after a minute: what is wrong, after the first block that shows it."""
    monkeypatch.setattr(formats, "_LONGEST_LINE", 2000)
    monkeypatch.setattr(formats, "_LONGEST_JSON_LINE", 2000)
    with pytest.raises(InputError, match=said):
        load(write(name, content))


def test_a_line_of_json_that_is_too_long_is_said(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that DuckDB refuses is found again, and no more of it is read than says so."""
    monkeypatch.setattr(formats, "_LONGEST_JSON_LINE", 100)
    row = json.dumps({"id": "a", "y_true": 1, "y_pred": 1})
    with pytest.raises(InputError, match="longer than") as caught:
        load(write("m.jsonl", f"{row}\n{row[:-1]}, {json.dumps({'note': 'x' * 200})[1:]}\n"))
    assert caught.value.line == 2


@given(
    pieces=st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"long"]), max_size=14),
    size=st.integers(1, 6),
)
def test_lines_are_split_alike_however_the_blocks_fall(pieces: list[bytes], size: int) -> None:
    """Against a split of the whole text at once: at line feeds, and at carriage returns that stand alone."""
    content = b"".join(pieces)
    whole = content.replace(b"\r\n", b"\0").replace(b"\r", b"\r\1").replace(b"\n", b"\n\1")
    expected = [line for line in whole.replace(b"\0", b"\r\n\1").split(b"\1") if line]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "BYTES_A_BLOCK", size)
        assert list(formats._split(io.BytesIO(content))) == expected


def test_more_columns_than_predictions_have_are_refused(write: Write) -> None:
    """A table that lies on its side, or features beside the predictions: said from the header alone."""
    many = ",".join(f"c{number}" for number in range(reading.MOST_COLUMNS))
    with pytest.raises(InputError, match="5,003 columns"):
        load(write("m.csv", f"id,y_true,y_pred,{many}\n"))
    many = ",".join(f"p_{number}" for number in range(1001))
    with pytest.raises(InputError, match="1,001 probabilities"):
        load(write("m.csv", f"id,y_true,{many}\n"))


def test_numbers_as_classes_are_refused_by_the_first_of_them(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--task multiclass` on measurements: 20,000 of them say enough, and the rest is not looked at."""
    seen: list[str] = []
    monkeypatch.setattr(task, "MOST_SPELLINGS", 2000)
    monkeypatch.setattr(task, "one_number", lambda label: (seen.append(label), label)[1])
    rows = "".join(f"{i},{i / 7},{i / 9}\n" for i in range(10_000))
    with pytest.raises(InputError, match="at least 2000 classes"):
        load(write("m.csv", f"id,y_true,y_pred\n{rows}"), options=Options(task="multiclass"))
    assert len(seen) == 2000


def test_many_spellings_of_few_classes_are_read(
    loaded: Callable[..., Predictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    """1, 1.0 and 1.00 are one class however many such spellings there are."""
    monkeypatch.setattr(task, "MOST_SPELLINGS", 10)
    rows = "".join(f"{i},{i % 2}.{'0' * (i % 20)},{i % 2}\n" for i in range(40))
    assert loaded(f"id,y_true,y_pred\n{rows}", task="multiclass").classes == ("0", "1")


DAMAGE = """
import sys
from pathlib import Path
from evalreport import evaluate
from evalreport.errors import InputError

path, whole = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
refused = 0
for place in range(footer, footer + 60):
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    try:
        evaluate(path, metrics=("accuracy",), resamples=2)
    except InputError:
        refused += 1
print(refused)
"""


@pytest.mark.slow
def test_damaged_metadata_of_a_parquet_file_end_no_process(tmp_path: Path) -> None:
    """Any bit of the first sixty bytes of the footer turned: read or refused. pyarrow aborts where six of them are."""
    labels = ["a", "b"] * 15
    table = pa.table({"id": [f"e{i}" for i in range(30)], "y_true": labels, "y_pred": labels})
    pq.write_table(table, tmp_path / "m.parquet", row_group_size=10)
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, str(tmp_path / "m.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) > 10


@pytest.mark.parametrize("name", ["m.jsonl.gz", "m.csv.gz"])
def test_an_archive_whose_check_sum_is_wrong_is_refused(tmp_path: Path, name: str) -> None:
    """Every line can be read, and some of them may be others than were written."""
    lines = {
        "m.jsonl.gz": [json.dumps({"id": i, "y_true": i % 2, "y_pred": i % 2}) for i in range(2000)],
        "m.csv.gz": ["id,y_true,y_pred", *(f"{i},{i % 2},{i % 2}" for i in range(2000))],
    }[name]
    packed = bytearray(gzip.compress("\n".join([*lines, ""]).encode()))
    packed[-8:-4] = bytes(4)
    (tmp_path / name).write_bytes(packed)
    with pytest.raises(InputError, match="CRC"):
        load(tmp_path / name)
