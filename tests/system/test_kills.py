"""A short form of the campaign of kills: no mixture of two runs' files, and the harness sees one where there is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from research.campaign.kills import FAULTS, campaign, tried
from research.campaign.records import Row
from research.campaign.scenes import Scene, is_true

pytestmark = pytest.mark.system


def test_two_dozen_kills_leave_one_run_s_files_and_never_a_mixture(tmp_path: Path):
    """Of the writing of a report, of `run`, of `audit` and of `resample`: at steps and at random moments."""
    part = campaign("kills", 24, tmp_path)
    assert part.findings == []
    assert sum(row.counts["killed"] for row in part.rows) == 24
    assert sum(row.counts["new"] for row in part.rows) > 0
    assert {"run", "run with looks", "audit", "resample"} <= {row.what for row in part.rows}


def test_the_harness_finds_files_that_are_moved_one_by_one(tmp_path: Path):
    """What it judges by: renaming file after file, as the report was once written, is found out."""
    before = dict.fromkeys("abcdef", b"old")
    after = dict.fromkeys("abcdef", b"new")

    def one_by_one(place: Path) -> None:
        for name, content in after.items():
            (place / f".{name}").write_bytes(content)
        for name in after:
            (place / f".{name}").replace(place / name)

    row = Row("one by one")
    tried(Scene("one by one", before, after, one_by_one), 20, tmp_path / "tries", random.Random(0), row)  # noqa: S311
    assert row.counts["mixed"] > 3
    assert row.counts["lost"] == 0
    assert "mixed" in FAULTS


def test_the_harness_finds_a_message_that_is_untrue(tmp_path: Path):
    """What was said of the files is compared with the files, and of the run with the history."""
    before, after = {"a": b"old"}, {"a": b"new"}
    scene = Scene("interrupted", before, after, lambda _place: None, recorded=lambda _base: 1)
    there, gone = "the report had been written: out", "nothing was written"
    assert is_true(f"interrupted; {gone}\n", scene, before, tmp_path)
    assert not is_true(f"interrupted; {gone}\n", scene, after, tmp_path)
    assert is_true(f"line\ninterrupted; {there}\n", scene, after, tmp_path)
    assert not is_true(f"interrupted; {there}\n", scene, before, tmp_path)
    assert not is_true(f"interrupted; {there}; the run is recorded\n", scene, after, tmp_path)
    assert not is_true("Traceback\n", scene, before, tmp_path)
    (tmp_path / ".out.evalreport-report").mkdir()
    assert not is_true(f"interrupted; {gone}\n", scene, before, tmp_path)
