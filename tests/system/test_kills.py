"""A short form of the campaign of kills: no mixture of two runs' files, and the harness sees one where there is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from campaign.kills import FAULTS, Scene, campaign, table, tried

pytestmark = pytest.mark.system


def test_forty_kills_leave_one_run_s_files_and_never_a_mixture(tmp_path: Path):
    """Of the writing of a report, of `run`, of `audit` and of `resample`: at steps and at random moments."""
    tallies = campaign(40, tmp_path)
    assert sum(tally.faults for tally in tallies) == 0, table(tallies, "here")
    assert sum(tally.killed for tally in tallies) >= 30
    assert sum(tally.counts["new"] for tally in tallies) > 0


def test_the_harness_finds_files_that_are_moved_one_by_one(tmp_path: Path):
    """What it judges by: renaming file after file, as the report was once written, is found out."""
    before = dict.fromkeys("abcdef", b"old")
    after = dict.fromkeys("abcdef", b"new")

    def one_by_one(place: Path) -> None:
        for name, content in after.items():
            (place / f".{name}").write_bytes(content)
        for name in after:
            (place / f".{name}").replace(place / name)

    tally = tried(Scene("one by one", before, after, one_by_one), 20, tmp_path / "tries", random.Random(0))  # noqa: S311
    assert tally.counts["mixed"] > 3
    assert tally.counts["lost"] == 0
    assert "mixed" in FAULTS
