"""The benchmarks say honestly what was measured: ratios, goals, what was scaled. No time is asserted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

pytest.importorskip("resource", reason="the benchmarks measure memory with it")

from research.benchmarks import programs
from research.benchmarks.__main__ import GROUPS, circumstances
from research.benchmarks.data import binary_models, labels, truth
from research.benchmarks.labels import f1_along, packed_codes
from research.benchmarks.runs import cost
from research.benchmarks.timing import Timed, by_stage, memory, scaled, timed
from research.studies import tables


def test_ratio_and_goal() -> None:
    """The ratio is the peer's time over ours; the goal is met from the goal on, and a missed one is bold."""
    row = timed("work", "peer", Timed(0.5), Timed(100.0), least_ratio=200)
    assert (row.ratio, row.goal, row.met) == (200, "≥ 200", True)
    missed = timed("work", "peer", Timed(0.5), Timed(99.0), least_ratio=200)
    assert missed.met is False
    assert missed.cells["met"] == "**no**"
    assert timed("work", "none", Timed(0.5)).met is None
    of_ours = timed("work", "python", Timed(0.1), Timed(0.01), most_seconds=0.15)
    assert (of_ours.ratio, of_ours.goal, of_ours.met) == (None, "< 150 ms", True)


@pytest.mark.slow
def test_scaled_time_is_said() -> None:
    """A loop of which few replicates ran is scaled by their number, and the row says so."""
    calls = []
    found = scaled(lambda: calls.append(sum(range(100_000))), 4, 1000)
    assert len(calls) == 5  # one to warm up
    assert found.note == "scaled from 4 of 1,000 replicates"
    assert found.seconds > 0
    assert "(scaled from 4 of 1,000 replicates)" in timed("work", "peer", Timed(0.5), found).peer


def test_the_day_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of SOURCE_DATE_EPOCH where that is set."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert circumstances().startswith("1970-01-02;")


def test_memory_is_shown_in_bytes() -> None:
    """The ratio is the peer's memory over ours; a row with a goal and no peer has none."""
    beside = memory("a run", "pandas", 400_000_000, 1_000_000_000)
    assert (beside.work, beside.evalreport, beside.peer) == ("a run (largest memory)", "400 MB", "1 GB")
    assert beside.ratio == 2.5
    alone = memory("a run", "", 1_430_000_000, None, 1_500_000_000)
    assert (alone.evalreport, alone.ratio, alone.goal, alone.met) == ("1.43 GB", None, "≤ 1.5 GB", True)
    assert memory("a run", "", 1_600_000_000, None, 1_500_000_000).met is False


def test_peers_compute_the_same() -> None:
    """The vectorised F1 given to scipy is scikit-learn's, and the packed code holds truth and every label."""
    predictions = binary_models(500)
    true, said = truth(predictions), labels(predictions)
    assert f1_along(true, said[0], -1) == pytest.approx(f1_score(true, said[0]), rel=1e-12)
    packed = packed_codes(true, said)
    for bit, column in enumerate([true, *said]):
        assert np.array_equal((packed >> bit) & 1, column)


@pytest.mark.slow
def test_stages_are_those_that_a_run_tells() -> None:
    """The row names each with its seconds, and ends with their sum."""
    found = cost(300)
    assert list(found)[-1] == "writing results.json"
    assert {"resampling", "comparing"} <= set(found)
    row = by_stage("a run", {"resampling": 1.5, "comparing": 0.25})
    assert (row.against, row.evalreport) == ("resampling 1.5 s, comparing 250 ms", "1.75 s")


@pytest.mark.slow
def test_the_stages_of_the_program_are_timed() -> None:
    """Each stage of a run that writes the JSON has its seconds."""
    (found,) = programs.in_stages(quick=True)
    stages = [part.rpartition(" ")[0].rpartition(" ")[0] for part in found.against.split(", ")]
    assert stages == [
        *("start of Python", "imports", "reading and checking", "resampling", "comparing", "questions"),
        *("putting together", "writing"),
    ]


def test_every_group_has_committed_rows_that_are_told_apart() -> None:
    """No group is without a row, and no two rows are about the same work beside the same peer."""
    rows = tables.read(tables.DOCS / "benchmarks.csv")
    assert {row["group"] for row in rows} == set(GROUPS)
    assert len({(row["work"], row["against"]) for row in rows}) == len(rows)
