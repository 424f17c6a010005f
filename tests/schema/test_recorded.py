"""What reads an output folder: it finds one report whole, also where a run was killed while it moved its files in."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.errors import InputError
from evalreport.files import MOVE
from evalreport.reviews.commands import _read
from evalreport.schema.recorded import read_recorded
from evalreport.sources.files import copies_of_addresses, find_files


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A folder whose old files were put aside; the new results.json is not in its place yet."""
    folder = tmp_path / "out"
    for name, content in {"in/results.json": "{}", "in/summary.md": "new", "old/summary.md": "old"}.items():
        path = folder / MOVE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.parametrize("place", ["", "results.json"])
def test_verify_and_compare_runs_end_the_move_first(half: Path, place: str) -> None:
    """By the folder and by the file: it is read from its place, and what was put aside is gone."""
    with pytest.raises(InputError, match="has the schema"):
        read_recorded(half / place)
    assert {path.name for path in half.iterdir()} == {"results.json", "summary.md"}


def test_a_comment_is_made_of_the_new_summary(half: Path) -> None:
    """Not of the old one, nor of none."""
    assert _read(half / "summary.md") == "new"


def test_a_folder_that_cannot_be_ended_is_bad_input(half: Path) -> None:
    """One line that says what happened, instead of figures of two runs."""
    (half / "results.json").mkdir()
    with pytest.raises(InputError, match="not all in their places"):
        read_recorded(half)


def test_a_place_that_is_not_there_is_said_as_ever(tmp_path: Path) -> None:
    """Looking for a killed run hides no other error."""
    with pytest.raises(InputError, match="No such file"):
        read_recorded(tmp_path / "none" / "results.json")


@pytest.mark.parametrize("named", ["", "predictions.csv"])
def test_predictions_that_a_killed_resample_left_half_moved_are_read_whole(
    tmp_path: Path, named: str
) -> None:
    """By the folder and by the file: `run` and `check` read what the move was to bring, not what was put aside."""
    files = {"in/predictions.csv": "id,y_true,y_pred\na,0,1\n", "old/predictions.csv": "id,y_true,y_pred\n"}
    for name, content in files.items():
        path = tmp_path / MOVE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    with copies_of_addresses() as copies:
        found = find_files(tmp_path / named, None, copies)
    assert [file.path.read_text() for file in found.files] == ["id,y_true,y_pred\na,0,1\n"]
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.csv"]


def test_predictions_whose_move_cannot_be_ended_are_bad_input(half: Path) -> None:
    """A folder stands in the way of a file: one line, and nothing is read."""
    (half / "results.json").mkdir()
    with copies_of_addresses() as copies, pytest.raises(InputError, match="not all in their places"):
        find_files(half, None, copies)
