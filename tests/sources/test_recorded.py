"""Inputs that a results.json records: below the folder that stands for them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.sources.recorded import places, recorded_files, stays_below


@pytest.mark.parametrize(
    "place", ["../m.csv", "a/../../m.csv", "/etc/passwd", "", "a\0b.csv", "..\\m.csv", "a/.."]
)
def test_a_recorded_path_does_not_lead_out_of_the_folder(place: str) -> None:
    """A results.json is handed in by others: absolute paths and steps upwards are no inputs."""
    assert not stays_below(place)


@pytest.mark.parametrize("place", ["m.csv", "forest/part-0.csv", "fold=1/m..csv", "...csv"])
def test_a_path_below_the_folder_is_one(place: str) -> None:
    """Dots inside a name lead nowhere."""
    assert stays_below(place)


def test_addresses_lie_below_what_they_have_in_common() -> None:
    """Folders that are columns (``fold=1``) are kept; a path of a file system is its own place."""
    inputs = [{"path": f"s3://bucket/preds/fold=1/{name}.csv"} for name in ("a", "b")]
    assert list(places(inputs).values()) == ["fold=1/a.csv", "fold=1/b.csv"]
    assert places([{"path": "models/a.csv"}]) == {"models/a.csv": "models/a.csv"}


def test_recorded_files_have_the_models_that_were_recorded(tmp_path: Path) -> None:
    """Names of files count for nothing, and two files of one model are its parts."""
    inputs = [{"path": f"{name}.csv", "model": model} for name, model in (("x", "a"), ("y", "a"), ("z", "b"))]
    found = recorded_files(inputs, tmp_path, None)
    assert [(file.belongs.model, file.path) for file in found.files] == [
        ("a", tmp_path / "x.csv"),
        ("a", tmp_path / "y.csv"),
        ("b", tmp_path / "z.csv"),
    ]
