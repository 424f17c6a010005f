"""The first sentence about two runs: the worst news first, whatever else is better."""

from __future__ import annotations

from evalreport.headline.facts import Limited
from evalreport.headline.runs import GateOfRuns, RunChange, TwoRuns, headline_of_runs

WORSE = RunChange(model="b", outcome="worse", old=0.9, new=0.8, difference=Limited(-0.1, -0.15, -0.05))
BETTER = RunChange(model="a", outcome="better", old=0.7, new=0.9, difference=Limited(0.2, 0.15, 0.25))
OPEN = RunChange(model="c", outcome="not settled", old=0.8, new=0.81, difference=Limited(0.01, -0.03, 0.05))
SAME = RunChange(model="d", outcome="same predictions", old=0.8, new=0.8, difference=None)


def said(
    *models: RunChange, gates: tuple[GateOfRuns, ...] = (), gone: tuple[str, ...] = ()
) -> tuple[str, str]:
    """Return text and tone of the headline."""
    found = headline_of_runs(
        TwoRuns(old="base", metric="accuracy", n=500, models=models, gates=gates, gone=gone)
    )
    return str(found.text), found.tone


def test_a_model_that_is_worse_comes_before_one_that_is_better() -> None:
    """Also where the better one changed by more; the better one is the clause."""
    text, tone = said(BETTER, WORSE)
    assert text.startswith(
        "b is worse than in base: accuracy 0.800, was 0.900 (change −0.100 [−0.150, −0.050])"
    )
    assert "a is better" in text
    assert tone == "bad"


def test_a_gate_of_the_new_run_comes_first() -> None:
    """A failed gate leads; one that was taken out is said, too."""
    failed = GateOfRuns(gate="a.accuracy >= 0.95", old="pass", new="fail", value=Limited(0.9, 0.87, 0.93))
    assert said(BETTER, gates=(failed,))[0].startswith("A gate fails: ")
    assert said(BETTER, gates=(failed,))[1] == "bad"
    removed = GateOfRuns(gate="a.accuracy >= 0.95", old="fail", new=None)
    text, tone = said(SAME, gates=(removed,))
    assert text.startswith("The gate a.accuracy ≥ 0.95, which failed, was removed")
    assert tone == "undecided"


def test_a_model_that_is_gone_is_named() -> None:
    """Although all others give the same answers."""
    text, tone = said(SAME, gone=("e",))
    assert text.startswith("e is gone: the old run has it, the new run does not")
    assert tone == "undecided"


def test_what_is_not_settled_is_no_sameness() -> None:
    """The size and its limits are given; the same answers are another sentence."""
    text, tone = said(OPEN)
    assert (
        text
        == "500 examples do not show whether c changed: accuracy 0.810, was 0.800 (change +0.010 [−0.030, +0.050])."
    )
    assert tone == "neutral"
    assert said(SAME)[0] == "d gives the same answers as in base."
