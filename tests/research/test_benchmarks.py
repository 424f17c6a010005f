"""The benchmarks say honestly what was measured: ratios, goals, what was scaled. No time is asserted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

pytest.importorskip("resource", reason="the benchmarks measure memory with it")

from research.benchmarks import page, programs
from research.benchmarks.data import binary_models, labels, truth
from research.benchmarks.labels import f1_along, packed_codes
from research.benchmarks.runs import cost
from research.benchmarks.timing import Accuracy, Cost, Course, Exponent, Memory, Row, Timed, scaled


def test_ratio_and_goal() -> None:
    """The ratio is the peer's time over ours; the goal is met from the goal on."""
    row = Row("work", "peer", Timed(0.5), Timed(100.0), least_ratio=200)
    assert row.ratio == 200
    assert row.met is True
    assert Row("work", "peer", Timed(0.5), Timed(99.0), least_ratio=200).met is False
    assert Row("work", "none", Timed(0.5), None).met is None
    timed = Row("work", "python", Timed(0.1), Timed(0.01), most_seconds=0.15)
    assert timed.met is True
    assert timed.ratio is None


@pytest.mark.slow
def test_scaled_time_is_said() -> None:
    """A loop of which few replicates ran is scaled by their number, and the page says so."""
    calls = []
    timed = scaled(lambda: calls.append(sum(range(100_000))), 4, 1000)
    assert len(calls) == 5  # one to warm up
    assert timed.note == "scaled from 4 of 1,000 replicates"
    assert timed.seconds > 0
    row = Row("work", "peer", Timed(0.5), timed)
    assert "scaled from 4 of 1,000 replicates" in page.line(row)


def test_missed_goals_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missed goal stands in bold on the page; the day comes from SOURCE_DATE_EPOCH where it is set."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text = page.page([Row("slow work", "peer", Timed(1.0), Timed(3.0), least_ratio=1000)])
    assert "| slow work | peer | 1 s | 3 s | 3 | ≥ 1,000 | **no** |" in text
    assert "1970-01-02;" in text


def test_an_error_has_a_goal_and_no_ratio() -> None:
    """A row about an error shows it in standard errors beside the largest that is allowed."""
    row = Accuracy("hard cases", "the rows themselves", 0.0132, most=0.02)
    assert page.line(row) == "hard cases  the rows themselves  0.013 standard errors  ≤ 0.02  yes"
    assert Accuracy("hard cases", "the rows themselves", 0.03, most=0.02).met is False


def test_memory_is_shown_in_bytes() -> None:
    """The ratio is the peer's memory over ours; a row with a goal and no peer has none."""
    beside = Memory("a run", "pandas", 400_000_000, 1_000_000_000)
    assert page.line(beside) == "a run (largest memory)  pandas  400 MB  1 GB  2.5"
    alone = Memory("a run", "", 1_430_000_000, None, most=1_500_000_000)
    assert page.line(alone) == "a run (largest memory)  1.43 GB  ≤ 1.5 GB  yes"
    assert Memory("a run", "", 1_600_000_000, None, most=1_500_000_000).met is False


def test_peers_compute_the_same() -> None:
    """The vectorised F1 given to scipy is scikit-learn's, and the packed code holds truth and every label."""
    predictions = binary_models(500)
    true, said = truth(predictions), labels(predictions)
    assert f1_along(true, said[0], -1) == pytest.approx(f1_score(true, said[0]), rel=1e-12)
    packed = packed_codes(true, said)
    for bit, column in enumerate([true, *said]):
        assert np.array_equal((packed >> bit) & 1, column)


@pytest.mark.slow
def test_cost_by_stage_is_written() -> None:
    """The stages of a run are those it tells, each row of the table ends with their sum, and the picture is named."""
    found = cost(300)
    assert list(found.stages)[-1] == "writing results.json"
    assert {"resampling", "comparing"} <= set(found.stages)
    text = page.page([Cost(1000, 3, {"resampling": 1.5, "comparing": 0.25})])
    assert (
        "| n | resampling | comparing | in all |\n| --- | --- | --- | --- |\n| 1,000 | 1.5 | 0.25 | 1.75 |"
        in text
    )
    assert "](benchmarks.svg)" in text


@pytest.mark.slow
def test_the_stages_of_the_program_add_up() -> None:
    """Each stage of a run that writes the JSON has its seconds."""
    (found,) = programs.by_stage(quick=True)
    assert list(found.stages) == [
        *(
            "start of Python",
            "imports",
            "reading and checking",
            "resampling",
            "comparing",
            "questions",
            "putting together",
        ),
        "writing",
    ]
    assert min(found.stages.values()) > 0
    assert found.total == pytest.approx(sum(found.stages.values()))
    text = page.page([found, Course("html, json", {"imports": 0.25, "writing": 0.5})])
    assert "| html, json | 0 | 0.25 | 0 | 0 | 0 | 0 | 0 | 0.5 | 0.75 |" in text
    assert "| json | " in text


def test_a_cost_that_grows_too_fast_is_shown() -> None:
    """The power stands beside its goal, missed ones in bold."""
    text = page.page([Exponent("classes", ((10, 0.5), (1_000, 80.0)), 1.1, 1.15)])
    assert "| classes | 10: 500 ms; 1,000: 80 s | 1.10 | ≤ 1.15 | yes |" in text
    missed = Exponent("rows", ((10, 0.5), (1_000, 200.0)), 1.3, 1.15)
    assert not missed.met
    assert "**no**" in page.page([missed])
