"""Warnings that people did not judge a random part of the answers."""

from __future__ import annotations

from tests.samples.judges import rejected, run, warned


def test_gold_chosen_by_the_judge_s_outcome_blocks_the_verdict() -> None:
    """The numbers stay; every pair is undecided for that reason, no letter tells models apart, and no gate passes."""
    results = run(rejected(), gates=["plain.mean_gold >= 0.01"])
    ((level, text),) = warned(results)
    assert level == "blocker"
    assert "Fisher's exact test" in text
    assert "The answers of 3 models" in text
    assert [(v.verdict, v.low, v.high) for v in results.verdicts] == [("undecided", None, None)] * 3
    assert all("no random part" in str(v.text) for v in results.verdicts)
    assert [g.outcome for g in results.gates] == ["undecided"]
    assert {r.letters for r in results.ranking} == {""}
    assert all(m.value is not None for m in results.metrics)


def test_a_declared_sampling_is_taken_as_fair() -> None:
    """--gold-sampled: the same test is told as information, and pairs are decided."""
    results = run(rejected(), gold_sampled=True)
    assert [level for level, _ in warned(results)] == ["info"]
    assert all(v.low is not None for v in results.verdicts)


def test_a_verdict_about_the_judge_s_mean_is_not_blocked() -> None:
    """Where mean_outcome is named, chosen gold is a caution: that verdict does not rest on it."""
    results = run(rejected(), metrics=["mean_outcome", "mean_gold"])
    assert [level for level, _ in warned(results)] == ["caution"]
    assert {v.verdict for v in results.verdicts} != {"undecided"}
