"""What the report says where there is little to compare, much to name, or a close call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from evalreport.numbers import interval
from evalreport.plots.pairs import difference_rows
from evalreport.plots.style import MARKS, mark_of
from evalreport.records import GateRecord, WarningRecord
from evalreport.report.characters import distinct_names
from evalreport.report.markdown import summary_markdown
from evalreport.report.sections import curves, leaderboard, methods, metrics, pairs, verdict
from evalreport.report.view import difference_decimals, view_of
from evalreport.results import Results
from evalreport.texts import say

Simulate = Callable[..., Results]


def test_one_model_is_not_called_indistinguishable(simulate: Simulate) -> None:
    """There is nothing that a single model could be told apart from, so neither chip nor letters speak of it."""
    view = view_of(simulate({"forest": 1.85}))
    said, board = verdict.describe(view), leaderboard.describe(view)
    assert [fact.word for fact in said.facts if fact.kind != "caution"] == ["one model"]
    assert board is not None
    assert "letter" not in board.note


def test_cautions_about_the_test_of_the_verdict_come_first(simulate: Simulate) -> None:
    """Before those about the data; on another metric than the share of right answers none advises another one."""
    codes = ("majority_class", "few_of_a_class", "few_errors_of_a_class", "short_difference_interval")
    warnings = tuple(WarningRecord(code=code, text=f"About {code}.") for code in codes)
    found = dataclasses.replace(simulate({"forest": 1.85}), warnings=warnings)
    facts = [fact.text for fact in verdict.describe(view_of(found)).facts if fact.kind == "caution"]
    assert facts[:2] == ["About few_errors_of_a_class.", "About short_difference_interval."]
    assert "majority class" in facts[2]
    other = dataclasses.replace(found, primary_metric="balanced_accuracy", warnings=warnings[:2])
    facts = [fact.text for fact in verdict.describe(view_of(other)).facts if fact.kind == "caution"]
    assert facts == ["About few_of_a_class."]


def test_one_pair_is_not_spoken_of_as_several(simulate: Simulate) -> None:
    """With two models nothing is adjusted, and the interval of their difference is the only one."""
    found = simulate({"forest": 1.85, "tree": 0.6})
    alone = tuple(dataclasses.replace(v, level=0.95) for v in found.verdicts)
    view = view_of(dataclasses.replace(found, verdicts=alone))
    board, beats = leaderboard.describe(view), pairs.describe(view)
    assert board is not None
    assert board.note.endswith("(α = 0.05.)")
    assert beats is not None
    assert beats.figure is not None
    assert "simultaneous" not in beats.figure.caption


@pytest.mark.parametrize(
    "correction, said", [("none", "not adjusted"), ("holm", "Holm-adjusted over all 10")]
)
def test_the_note_says_whether_the_letters_are_adjusted(
    simulate: Simulate, correction: str, said: str
) -> None:
    """The correction of the run stands under the leaderboard."""
    found = simulate()
    view = view_of(dataclasses.replace(found, options=dict(found.options) | {"correction": correction}))
    board = leaderboard.describe(view)
    assert board is not None
    assert said in board.note


def test_an_interval_that_the_test_cuts_at_0_leaves_it_out(simulate: Simulate) -> None:
    """Where the test decides a pair a limit at 0 has a round bracket in sentence and table, and both notes say why."""
    found = simulate({"forest": 1.85, "knn": 1.0, "tree": 0.6})
    close = tuple(
        dataclasses.replace(v, verdict="better", low=0.0, high=0.2) if "forest" in v.about else v
        for v in found.verdicts
    )
    cut = view_of(dataclasses.replace(found, verdicts=close))
    board, plain = leaderboard.describe(cut), leaderboard.describe(view_of(found))
    assert board is not None
    assert plain is not None
    assert "(0.000, +0.200]" in verdict.describe(cut).facts[0].text
    assert [row.difference.beside for row in board.rows if row.difference][1] == "[−0.200, 0.000)"
    assert say("pairs.at_zero") in board.note
    assert say("pairs.at_zero") not in plain.note
    drawn = pairs.describe(cut)
    assert drawn is not None
    assert drawn.figure is not None
    assert say("pairs.at_zero") in drawn.figure.caption


def test_every_place_shows_the_one_interval_of_a_pair(simulate: Simulate) -> None:
    """Leaderboard, leading sentence, forest plot, tests table and summary give the verdict's limits and no other."""
    found = simulate({"forest": 1.85, "tree": 0.6}, n=300)
    (one,) = found.verdicts
    view = view_of(found)
    board = leaderboard.describe(view)
    assert board is not None
    (drawn,) = pairs.forest_rows(view)
    assert (drawn.low, drawn.high) == (one.low, one.high)
    (plotted,) = difference_rows(found)
    assert (plotted.low, plotted.high) == (one.low, one.high)
    decimals = difference_decimals(view, view.primary)
    shown = interval(one.low, one.high, decimals, signed=True)
    turned = interval(-one.high, -one.low, decimals, signed=True)
    assert [row.difference.beside for row in board.rows if row.difference] == ["", turned]
    assert shown in verdict.describe(view).facts[0].text
    assert [row.interval for row in metrics.tests_of(view, frozenset())[0]] == [shown, ""]
    assert turned.replace("[", "\\[").replace("]", "\\]") in summary_markdown(view)


def test_the_leading_sentence_names_the_closest_of_those_beaten(simulate: Simulate) -> None:
    """The win with the smallest difference is the closest, and it is the one whose interval is given."""
    found = simulate({"forest": 1.85, "knn": 1.0, "tree": 0.6})
    gaps = {c.b: abs(c.difference or 0.0) for c in found.comparisons if c.a == "forest" and c.recommended}
    assert gaps["knn"] < gaps["tree"]
    assert "the closest, knn, by" in verdict.describe(view_of(found)).facts[0].text


@pytest.mark.parametrize(
    ("correction", "said"),
    [
        ("holm", "95 % over all 10 pairs"),
        ("bh", "95 % over those of the 10 pairs that are decided"),
        ("none", "95 %, each pair by itself"),
    ],
)
def test_the_notes_say_for_which_pairs_the_intervals_hold(
    simulate: Simulate, correction: str, said: str
) -> None:
    """Leaderboard and forest plot say at which level the intervals hold, and over what."""
    found = simulate()
    view = view_of(dataclasses.replace(found, options=dict(found.options) | {"correction": correction}))
    board, drawn = leaderboard.describe(view), pairs.describe(view)
    assert board is not None
    assert drawn is not None
    assert drawn.figure is not None
    assert said in board.note
    assert said in drawn.figure.caption


def test_points_without_a_curve_have_no_threshold(simulate: Simulate) -> None:
    """Label-only models are points: the caption speaks of their decisions, not of a threshold that moves."""
    section = curves.describe(view_of(dataclasses.replace(simulate(), curves=())))
    assert section is not None
    (figure,) = section.figures
    assert figure.caption.startswith(say("curves.roc_points"))
    assert "threshold" not in figure.caption


def test_a_gate_in_the_summary_is_named_once(simulate: Simulate) -> None:
    """Under the heading Gates each line begins with its outcome."""
    gate = GateRecord(gate="n >= 500", outcome="pass", value=1200.0, text="n = 1200", low=None, high=None)
    text = summary_markdown(view_of(simulate(gates=(gate,))))
    assert "- **pass**: n &gt;= 500: n = 1200" in text


@pytest.mark.parametrize(
    "names",
    [
        [f"resnet-152_finetuned_imagenet21k_cosine-schedule_seed{i:02d}_final" for i in range(12)],
        [f"{i}_resnet-152_finetuned_imagenet21k_cosine-schedule_final" for i in range(12)],
        [f"resnet152finetunedimagenet21kcosine{i:02d}" for i in range(12)],
        ["a", "a" * 50, "a" * 50 + "b"],
    ],
    ids=["middle", "beginning", "no joints", "one inside the other"],
)
@pytest.mark.parametrize("limit", [18, 24, 40])
def test_what_tells_long_names_apart_is_not_cut(names: list[str], limit: int) -> None:
    """Cut to the width of a column, names stay distinct without a number behind them, and no longer than it."""
    shown = distinct_names(names, limit)
    assert len(set(shown.values())) == len(names)
    assert all(len(text) <= limit for text in shown.values())
    assert not any("(#" in text for text in shown.values())


def test_no_two_models_look_alike_before_the_sixty_fifth() -> None:
    """After eight models colours come again with another marker, so that colour and marker differ for 64."""
    marks = [mark_of(i) for i in range(len(MARKS) ** 2)]
    assert len({(mark.colour, mark.marker) for mark in marks}) == 64
    assert len({(mark.colour, mark.dash) for mark in marks}) == 64
    assert len({(mark.colour, mark.symbol) for mark in marks}) == 64


def test_metrics_without_any_value_are_one_sentence(simulate: Simulate) -> None:
    """Where no model gives probabilities, the metrics that need them are named with the reason, not tabulated."""
    found = simulate()
    without = tuple(
        dataclasses.replace(r, value=None, standard_error=None, intervals=(), reason="no probabilities")
        if r.metric == "log_loss"
        else r
        for r in found.metrics
    )
    section = metrics.describe(view_of(dataclasses.replace(found, metrics=without)))
    assert section is not None
    assert section.missing == ("Not computed for any model: Log loss; no probabilities.",)
    assert "log_loss" not in [g.name for family in section.families for g in family.groups]


@pytest.mark.parametrize(
    "design, words",
    [("test-set", "these fitted models and examples"), ("cross-validation", "about the algorithms"),
     ("datasets", "data sets drawn like these"), ("seeds", "training again"), ("bootstrap", "mean over the fits")],
)  # fmt: skip
def test_the_scope_of_the_intervals_is_that_of_the_design(
    simulate: Simulate, design: str, words: str
) -> None:
    """What an interval is about depends on what was repeated; exactly one sentence of the methods says it."""
    said = methods.describe(view_of(dataclasses.replace(simulate(), design=design))).principles
    assert sum(words in text for text in said) == 1
    assert (say("methods.conditional") in said) == (design == "test-set")


def test_independent_test_sets_are_not_said_to_share_examples(simulate: Simulate) -> None:
    """With --join independent no sentence claims that the models were asked the same questions."""
    found = simulate()
    apart = dataclasses.replace(found, options=dict(found.options) | {"join": "independent"})
    assert not any("same examples" in text for text in methods.describe(view_of(apart)).principles)
