"""A short form of the fuzzer: five hundred tries of everything that is handed in, none of which ends as a defect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.system


def test_five_hundred_wrong_inputs_end_in_words(tmp_path: Path) -> None:
    """Exit codes 0 to 4, no traceback, no warning of a library, no secret; what is found is saved and named."""
    done = subprocess.run(
        [sys.executable, "-m", "campaign.fuzz", "--tries", "500", "--seed", "1", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "500 tries, 0 findings" in done.stdout
    assert len((tmp_path / "log").read_text().splitlines()) == 500


def test_the_fuzzer_finds_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that is broken on purpose: a defect, told apart by where it is, and an input made smaller."""
    from campaign import fuzz
    from campaign.answers import host
    from campaign.targets import Case
    from evalreport.data import reading

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(reading, "empty_file", broken)
    case = Case(("check", "m.csv", "-q"), {"m.csv": b"id,y_true,y_pred\n", "other.txt": b"not needed"})
    with host() as (address, answers):
        outcome = fuzz.tried(case, tmp_path / "try", address, answers)
        assert (outcome.code, outcome.kind) == (70, "defect")
        assert outcome.what == "ZeroDivisionError in reading.py:read_file"
        small = fuzz.reduced(case, outcome, tmp_path / "try", address, answers)
    assert "other.txt" not in small.files
    assert len(small.files["m.csv"]) < len(case.files["m.csv"])
    assert (fuzz.saved(small, outcome, "delimited", "by hand", tmp_path) / "case.json").is_file()


def test_a_try_can_be_made_again() -> None:
    """The same seed and number are the same case: a finding in a report can be looked at."""
    from campaign import fuzz

    targets = ["delimited", "configuration", "review", "npz"]
    for number in range(20):
        assert fuzz.drawn(5, number, targets) == fuzz.drawn(5, number, targets)
