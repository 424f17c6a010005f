"""Large data: what is kept, what lies on disk meanwhile, and that neither changes a figure."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from typing import Any

import duckdb
import pytest

import evalreport
from evalreport.cli import main
from evalreport.errors import UsageError
from evalreport.loading import ids as ordering
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.sources import binary, formats, reading
from evalreport.sources import database as database_module
from evalreport.sources.database import database, usable_memory

MEGABYTE = 10**6


def write(path: Path, cells: str, n: int) -> None:
    """Write n rows of SQL expressions of their number i, in the format that the file's name says."""
    said = "(FORMAT JSON)" if path.suffix == ".jsonl" else ""
    with duckdb.connect() as connection:
        rows = f"SELECT {cells} FROM range({n}) t(i)"  # noqa: S608 - our own expressions
        connection.execute(f"COPY ({rows}) TO '{path}' {said}")


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models' CSV files of 500,000 rows each, in different orders; ids are too long to be cheap."""
    folder = tmp_path_factory.mktemp("large")
    for name, step in (("first", 7919), ("second", 104_729)):
        # Multiplying by a prime modulo n is a shuffle.
        number = f"((i * {step}) % 500000)"
        cells = (
            f"repeat(md5({number}::VARCHAR), 2) AS id, ({number} % 3 = 0)::INT AS y_true,"
            " (hash(i) % 1001) / 1000 AS p_1"
        )
        write(folder / f"{name}.csv", cells, 500_000)
    return folder


@pytest.mark.slow
def test_a_memory_limit_makes_duckdb_sort_on_disk_and_changes_no_byte(
    two_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,000,000 rows under 50 MB: the rest lies on disk, and every array is the same."""
    watched: list[tuple[int, int]] = []
    taken = ordering.as_numpy

    def watching(batch: Any, missing: float) -> Any:
        with contextlib.suppress(duckdb.ConnectionException):  # after the sort its connection is closed
            watched.append(used_by(opened[-1]))
        return taken(batch, missing)

    opened = record_connections(monkeypatch)
    monkeypatch.setattr(ordering, "as_numpy", watching)
    # In a context of its own, without the database that the tests of this process share.
    within = Context().run(load, two_models, memory_limit=50 * MEGABYTE)
    assert watched, "the ids were not sorted by DuckDB"
    held = max(memory for memory, _ in watched)
    assert max(spilled for _, spilled in watched) > 25 * MEGABYTE
    # DuckDB asks for room before a block is taken, but not for every small buffer of each of its threads:
    # how far it goes beyond depends on what the threads happen to do (1.8 MB were seen).
    assert held <= 55 * MEGABYTE
    whole = load(two_models)
    assert within.ids.equals(whole.ids)
    for left, right in zip(values_of(within), values_of(whole), strict=True):
        assert left.tobytes() == right.tobytes()
    assert within.inputs == whole.inputs


def values_of(predictions: Predictions) -> list[Any]:
    """Every array of a binary test set with probabilities."""
    arrays = [predictions.example, predictions.y_true]
    for model in predictions.models:
        arrays += [model.y_pred, model.score, model.proba]
    return arrays


def record_connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Remember every connection that is opened."""
    opened: list[Any] = []
    connect = duckdb.connect

    def connecting(*args: Any, **kwargs: Any) -> Any:
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(duckdb, "connect", connecting)
    return opened


def used_by(connection: Any) -> tuple[int, int]:
    """The bytes that a DuckDB holds in memory and on disk, by its own account."""
    question = "SELECT sum(memory_usage_bytes), sum(temporary_storage_bytes) FROM duckdb_memory()"
    memory, disk = connection.cursor().execute(question).fetchone()
    return int(memory), int(disk)


def test_every_command_takes_the_limit_and_results_do_not_hold_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes of results.json with and without; it is no option that changes results."""

    def printed(*words: str) -> str:
        # In a context of its own, without the database that the tests of this process share.
        assert Context().run(main, [*words]) == 0
        return capsys.readouterr().out

    rows = "".join(f"{i},{i % 2},{i % 3 % 2}\n" for i in range(60))
    (tmp_path / "m.csv").write_text("id,y_true,y_pred\n" + rows)
    outputs = [
        printed("run", str(tmp_path / "m.csv"), "-f", "json", "-o", "-", "-q", "--resamples", "50", *limit)
        for limit in ([], ["--memory-limit", "200MB"])
    ]
    assert outputs[0] == outputs[1]
    assert "memory_limit" not in json.loads(outputs[0])["options"]
    assert "examples: 60" in printed("check", str(tmp_path / "m.csv"), "--memory-limit", "1GiB")
    assert evalreport.load(tmp_path / "m.csv", memory_limit="0.5 GB").n == 60


def test_a_limit_without_room_is_said_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorting 200,000 long ids in 2 MB cannot be done: one clear message, and the folder on disk is gone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    (tmp_path / "spill").mkdir()
    write(tmp_path / "m.parquet", "md5(i::VARCHAR) AS id, i % 2 AS y_true, i % 3 % 2 AS y_pred", 200_000)
    with pytest.raises(UsageError, match=r"memory limit of 2 MB leaves no room .* --memory-limit"):
        load(tmp_path / "m.parquet", memory_limit=2 * MEGABYTE)
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever DuckDB could not write for want of room is a matter of the limit or of the folder, not a defect."""
    with pytest.raises(UsageError, match="folder for temporary files has room"), database(10**9):
        raise OSError('IO Error: Could not write file "x": No space left on device')
    with pytest.raises(OSError, match="something else"), database(10**9):
        raise OSError("something else")


@pytest.mark.parametrize("given, share", [("1000000000\n", 800_000_000), ("max\n", None), ("", None)])
def test_the_usual_limit_is_a_share_of_the_containers_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, share: int | None
) -> None:
    """80 % of what the container is given where it is given less than the machine has."""
    monkeypatch.setattr(database_module, "_CGROUP_LIMITS", (str(tmp_path / "absent"),))
    machine = usable_memory()
    (tmp_path / "memory.max").write_text(given)
    monkeypatch.setattr(database_module, "_CGROUP_LIMITS", (str(tmp_path / "memory.max"),))
    assert usable_memory() == (machine if share is None else share)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_text_of_very_many_kinds_is_left_out_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """A prompt beside a prediction is no group: it is not kept, and said; many numbers are, and so is what is named."""
    for module in (reading, binary):
        monkeypatch.setattr(module, "MOST_TEXTS", 5)
    path = tmp_path / f"m.{suffix}"
    numbers, texts = "i * 1.5 AS height", "'prompt ' || i AS prompt, 'p' || i % 3 AS part_of"
    write(path, f"i AS id, i % 2 AS y_true, i % 3 % 2 AS y_pred, {numbers}, {texts}", 8)
    left = load(path)
    assert set(left.metadata) == {"height", "part_of"}
    said = [warning.text for warning in left.warnings if warning.code == "unused_column"]
    assert len(said) == 1
    assert "'prompt' of" in said[0]
    assert "different texts, and no option names it" in said[0]
    named = load(path, options=Options(cluster="prompt"))
    assert named.metadata["prompt"].categories == tuple(f"prompt {i}" for i in range(8))


def test_a_file_that_is_read_slowly_is_read_some_rows_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Callable[[Predictions], dict[str, Any]]
) -> None:
    """Lines that end in different ways need the slow reader; in batches it gives what DuckDB gives of even lines."""
    rows = [f"e{i},{i % 2},0.{i % 7}" for i in range(25)]
    (tmp_path / "even").mkdir()
    (tmp_path / "even" / "m.csv").write_text("\n".join(["id,y_true,p_1", *rows]) + "\n")
    mixed = "".join(f"{row}{(chr(10), chr(13), chr(13) + chr(10))[i % 3]}" for i, row in enumerate(rows))
    (tmp_path / "m.csv").write_bytes(b"id,y_true,p_1\n" + mixed.encode())
    monkeypatch.setattr(formats, "_ROWS_A_SLOW_BATCH", 4)
    assert content(load(tmp_path / "m.csv")) == content(load(tmp_path / "even" / "m.csv"))
