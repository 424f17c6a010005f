"""The nightly example: its data come from its script, and its replay calls from week nine on and not before."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "nightly-audit"


def test_the_script_writes_the_committed_predictions(tmp_path: Path):
    """Byte for byte: the drop is what the script says it is, and nothing else."""
    module = runpy.run_path(str(EXAMPLE / "make_data.py"))
    module["main"].__globals__["FOLDER"] = tmp_path
    module["main"]()
    committed = sorted(
        path.relative_to(EXAMPLE / "predictions") for path in EXAMPLE.glob("predictions/*/*.csv")
    )
    assert len(committed) == 13
    for path in committed:
        assert (tmp_path / path).read_bytes() == (EXAMPLE / "predictions" / path).read_bytes()


@pytest.mark.slow
def test_the_replay_is_quiet_for_eight_weeks_and_calls_from_the_ninth_on(tmp_path: Path):
    """Exit code 0 without a word until week eight, then 1; the alarm from the first week of the failure on.

    The committed README shows the end of this very output.
    """
    done = subprocess.run(
        [EXAMPLE / "replay.sh", tmp_path / "out"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHON": sys.executable},
        cwd=EXAMPLE.parents[1],
    )  # fmt: skip
    *weeks, page = done.stdout.splitlines()
    accepted = weeks.pop(9)
    assert accepted.startswith("run 9 of 2024-10-28T02:15:00Z is the accepted run of the series default")
    assert [int(line[-1]) for line in weeks] == [0] * 9 + [1] * 4
    assert done.stderr.count("gate: fail: alarms < 1") == 4
    assert "accuracy >= 0.75: 0.667 [0.548, 0.771] by Clopper-Pearson; could be either" in done.stderr
    assert page.endswith("site/index.html: 13 audits, 13 linked to their report")
    shown = re.findall(
        r"^    (week .*)$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert shown == weeks[-5:]
    assert accepted in (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "reports" / "week-11" / "gates.xml").is_file()
