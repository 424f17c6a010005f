"""What the report says where there is little to compare, much to name, or a close call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from evalreport.plots.style import MARKS, mark_of
from evalreport.report.markdown import summary_markdown
from evalreport.report.sections import curves, methods, metrics
from evalreport.report.view import view_of
from evalreport.report.visible import distinct_names
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts import say

Simulate = Callable[..., Results]


def test_labels_alone_have_no_section_of_curves(simulate: Simulate) -> None:
    """Three points are no curve: where no model gives scores there is nothing to draw, and no section."""
    without = dataclasses.replace(simulate(), curves=(), score_histograms=())
    assert curves.describe(view_of(without)) is None


def test_a_gate_in_the_summary_is_named_once(simulate: Simulate) -> None:
    """Each line begins with its outcome, then says what was asked and what was found."""
    gate = GateRecord(gate="n >= 500", outcome="pass", value=1200.0, text="n = 1200", low=None, high=None)
    text = summary_markdown(view_of(simulate(gates=(gate,))))
    assert "- **pass**: n ≥ 500 (n = 1200)" in text


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


def test_no_two_models_look_alike_before_the_fiftieth() -> None:
    """After seven models colours come again with another marker, so that colour and marker differ for 49."""
    marks = [mark_of(i) for i in range(len(MARKS) ** 2)]
    assert len({(mark.colour, mark.marker) for mark in marks}) == 49
    assert len({(mark.colour, mark.dash) for mark in marks}) == 49
    assert len({(mark.colour, mark.symbol) for mark in marks}) == 49


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
    assert "Log loss ↓" not in [row.label for family in section.families for row in family.rows]


@pytest.mark.parametrize(
    "design, words",
    [("test-set", "these fitted models on examples like these"), ("cross-validation", "about the algorithms"),
     ("datasets", "data sets like these"), ("seeds", "retraining"), ("bootstrap", "mean over the fits")],
)  # fmt: skip
def test_the_scope_of_the_intervals_is_that_of_the_design(
    simulate: Simulate, design: str, words: str
) -> None:
    """What an interval is about depends on what was repeated; exactly one sentence of the methods says it."""
    said = methods.describe(view_of(dataclasses.replace(simulate(), design=design))).text
    assert said.count(words) == 1
    assert (say("methods.conditional", n=5) in said) == (design == "test-set")


def test_independent_test_sets_are_not_said_to_share_examples(simulate: Simulate) -> None:
    """With --join independent no sentence claims that the models were asked the same questions."""
    found = simulate()
    apart = dataclasses.replace(found, options=dict(found.options) | {"join": "independent"})
    assert not any("same examples" in text for text in methods.describe_glossary(view_of(apart)).principles)
