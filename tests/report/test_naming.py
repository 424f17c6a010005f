"""Numbers and names inside sentences are written as a reader writes them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import evalreport as er
from evalreport.comparisons import TESTS
from evalreport.intervals import INTERVALS
from evalreport.report import terminal
from evalreport.report.naming import PAGE
from evalreport.report.sections import decision
from evalreport.report.view import view_of
from evalreport.texts import say
from evalreport.texts.visible import distinct_names, short_names

ROOT = Path(__file__).resolve().parents[2]


def test_a_negative_number_in_a_sentence_has_a_minus_sign() -> None:
    """Scores need not be probabilities: half of a class may lie below -1.877."""
    said = say("finding.scores", model="svm", label="yes", score=0.5, other="no", below=-1.877)
    assert said.endswith("half of “no” −1.88 or less")


def test_of_several_models_the_data_do_not_show_which_is_best() -> None:
    """Of two one may be better; of four one is best."""
    rng = np.random.default_rng(2)
    models = {name: {"outcome": (rng.random(60) < 0.7).astype(float)} for name in ("a", "b", "c", "d")}
    headline = decision.describe(view_of(er.evaluate(models, resamples=50))).headline
    assert headline.startswith("60 examples do not show which of the four models is best on outcome: ")


@pytest.mark.slow
def test_warnings_name_metrics_in_words() -> None:
    """A model that never predicts a class has a precision of 0/0 there, which is said in words."""
    models = {"tree": {"y_pred": ["a", "b"] * 20}, "svm": {"y_pred": ["a", "b"] * 19 + ["c", "a"]}}
    results = er.evaluate(models, truth=["a", "b", "c", "a"] * 10, resamples=50)
    said = [str(w.text) for w in results.warnings if w.code == "undefined_value"]
    assert said
    assert not [text for text in said if "_" in text or "[class=" in text]


def test_names_lose_what_all_share_up_to_the_joint_that_leaves_enough() -> None:
    """After the last joint two characters would remain; after the one before there are enough."""
    names = [f"team/release_candidate_{i:02}" for i in range(12)]
    assert list(short_names(names).values())[:2] == ["candidate_00", "candidate_01"]


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


LONG_NAMES = (
    "gpt-4.1-mini-2025-04-14",
    "gpt-4.1-nano-2025-04-14",
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.2-8B-Instruct",
    "meta-llama/Llama-3.3-70B-Instruct",
)


def test_short_names_keep_what_tells_models_apart() -> None:
    """No number is needed where a part between joints does it; other vendors beside them change nothing."""
    assert list(short_names(LONG_NAMES).values()) == [
        *LONG_NAMES[:2],
        *(name.removeprefix("meta-llama/") for name in LONG_NAMES[2:]),
    ]
    dated = [f"us.anthropic.claude-sonnet-4-{day}-v1:0-thinking" for day in ("20250514", "20250929")]
    shown = short_names([*dated, "gpt-5"])
    assert shown[dated[0]] != shown[dated[1]]
    assert all("#" not in name and len(name) <= 24 for name in shown.values())


def test_a_key_says_what_short_names_mean_and_gates_stand_as_typed() -> None:
    """In summary.md and in a terminal; a sign within a quoted name is no comparison."""
    truth = [0, 1] * 20
    models = {name: {"y_pred": truth[k:] + truth[:k]} for k, name in enumerate(LONG_NAMES)}
    models["gpt-4o|mini <b>"] = {"y_pred": truth}
    gates = ['"gpt-4o|mini <b>".accuracy >= 0.1', '"meta-llama/Llama-3.1-8B-Instruct".accuracy >= 0.4']
    results = er.evaluate(models, truth=truth, gates=gates, metrics=["accuracy"], resamples=20)
    view = view_of(results)
    shown = {(gate.subject, gate.bar) for gate in decision.gates_of(view)}
    assert shown == {
        ('"gpt-4o|mini <b>".accuracy', "\u2265 0.1"),
        ('"meta-llama/Llama-3.1-8B-Instruct".accuracy', "\u2265 0.4"),
    }
    assert "Llama-3.3-70B-Instruct is meta-llama/Llama-3.3-70B-Instruct" in results.summary()
    assert "Llama-3.3-70B-Instruct is meta-llama" in " ".join(terminal_text(results).split())


def terminal_text(results: er.Results) -> str:
    """Return the summary as a terminal shows it."""
    stream = io.StringIO()
    Console(file=stream, width=200).print(terminal.summary(results))
    return stream.getvalue()


def test_what_is_our_own_names_the_page_that_measures_it():
    """A source that says "own" or "chosen by simulation" names a page of the documentation, and each page is there."""
    sources = {name: str(INTERVALS[name].source) for name in INTERVALS}
    sources |= {name: str(TESTS[name].source) for name in TESTS if name not in sources}
    own = {name for name, text in sources.items() if re.search(r"\bown\b|by simulation", text)}
    pages = {name: found[1] for name, text in sources.items() if (found := PAGE.search(text))}
    assert own - set(pages) == set()
    assert [page for page in pages.values() if not (ROOT / page).is_file()] == []
