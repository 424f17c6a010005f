"""Trap W: rows matched by order, or by a silent inner join."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

import evalreport
from evalreport.errors import InputError
from evalreport.schema.results import Results

Row = tuple[str, str, str]
HEADER = ("id", "y_true", "y_pred")
GOOD: tuple[Row, ...] = tuple((f"e{i:02d}", str(i % 2), str((i // 2) % 2)) for i in range(40))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write one model's prediction file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])


def folder_of(folder: Path, **models: Sequence[Row]) -> Path:
    """Write one file for each model."""
    folder.mkdir()
    for name, rows in models.items():
        write(folder / f"{name}.csv", rows)
    return folder


def evaluate(folder: Path, **fields: object) -> Results:
    """Evaluate with few replicates."""
    return evalreport.evaluate(folder, resamples=200, **fields)


def test_w_rows_are_joined_on_id(tmp_path: Path) -> None:
    """W: the order of rows within a file changes no figure."""
    other = tuple((i, t, t) for i, t, _ in GOOD)
    straight = evaluate(folder_of(tmp_path / "straight", a=GOOD, b=other))
    turned = evaluate(folder_of(tmp_path / "turned", a=GOOD, b=other[::-1]))
    left, right = (
        {f.name: getattr(r, f.name) for f in dataclasses.fields(r) if f.name not in {"inputs", "signature"}}
        for r in (straight, turned)
    )
    assert left == right


def test_w_duplicate_id(tmp_path: Path) -> None:
    """W: the same id twice in one model is an error that names the file, the row and the id."""
    folder = folder_of(tmp_path / "models", a=GOOD, b=(*GOOD, GOOD[3]))
    with pytest.raises(InputError) as caught:
        evaluate(folder)
    message = str(caught.value)
    assert "b.csv" in message
    assert "e03" in message
    assert re_line(message) in {5, 42}  # header is line 1: the first e03 is on line 5, the second on line 42


def re_line(message: str) -> int:
    """Return the line that a message names."""
    import re

    found = re.search(r"line (\d+)", message)
    assert found, message
    return int(found.group(1))


def test_w_missing_id(tmp_path: Path) -> None:
    """W: an id that one model lacks is an error that names the model and the id, unless --join is given."""
    folder = folder_of(tmp_path / "models", a=GOOD, b=GOOD[:-1])
    with pytest.raises(InputError) as caught:
        evaluate(folder)
    assert "e39" in str(caught.value)
    assert "b" in str(caught.value)
    assert "join" in str(caught.value)
    assert evaluate(folder, join="intersect").n == 39


def test_w_truths_that_disagree(tmp_path: Path) -> None:
    """W: two files that give one id different truths are an error that names the row."""
    wrong = list(GOOD)
    wrong[7] = ("e07", str(1 - int(GOOD[7][1])), GOOD[7][2])
    folder = folder_of(tmp_path / "models", a=GOOD, b=wrong)
    with pytest.raises(InputError) as caught:
        evaluate(folder)
    message = str(caught.value)
    assert "e07" in message
    assert ".csv" in message


def test_w_ids_are_text(tmp_path: Path) -> None:
    """W: `001` is not `1`: ids that differ only by leading zeros are different examples."""
    padded = tuple((f"{int(i[1:]):03d}", t, p) for i, t, p in GOOD)
    bare = tuple((f"{int(i[1:])}", t, p) for i, t, p in GOOD)
    with pytest.raises(InputError):
        evaluate(folder_of(tmp_path / "models", a=padded, b=bare))
