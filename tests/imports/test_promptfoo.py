"""`evalreport import promptfoo`: on results that promptfoo 0.119.14 wrote, and what it must refuse."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "data" / "imports" / "promptfoo"
REPEATED, PROMPTS = FOLDER / "repeated.json", FOLDER / "prompts.json"


@pytest.fixture
def imported(importing):
    """Import what promptfoo wrote."""
    return partial(importing, "promptfoo")


def own_counts(path: Path) -> list[tuple[int, int, int]]:
    """What promptfoo itself counts for each provider and prompt: passed, failed, errors."""
    prompts = json.loads(path.read_text(encoding="utf-8"))["results"]["prompts"]
    names = ("testPassCount", "testFailCount", "testErrorCount")
    return sorted(tuple(prompt["metrics"][name] for name in names) for prompt in prompts)


def counts(rows: list[dict[str, str]]) -> list[tuple[int, int, int]]:
    """The same of the imported rows."""
    found = []
    for model in {row["model"] for row in rows}:
        outcomes = [row["outcome"] for row in rows if row["model"] == model]
        found.append((outcomes.count("1.0"), outcomes.count("0.0"), outcomes.count("")))
    return sorted(found)


def test_repeats_are_attempts_and_counts_are_promptfoo_s_own(imported):
    """--repeat leaves no field: equal variables are one question; an error of the provider is a gap."""
    code, said, rows = imported(REPEATED)
    assert code == 0
    assert counts(rows) == own_counts(REPEATED)
    assert {row["model"] for row in rows} == {"large", "small"}
    assert len({row["id"] for row in rows}) == 8
    assert {row["attempt"] for row in rows} == {"1", "2"}
    assert {row["topic"] for row in rows} == {"topic 0", "topic 1", "topic 2"}
    assert "2 answers have no judgement" in said


def test_each_prompt_makes_a_model_of_its_own(imported):
    """Two prompts and two providers are four systems; the questions are the same."""
    code, _, rows = imported(PROMPTS)
    assert code == 0
    assert counts(rows) == own_counts(PROMPTS)
    assert "small: Sum: {{question}}" in {row["model"] for row in rows}
    assert "attempt" not in rows[0]


def test_a_named_metric_can_be_the_outcome(imported):
    """The named metric sums to promptfoo's own; one that is not there is refused with those that are."""
    own = {
        prompt["provider"]: prompt["metrics"]["namedScores"]
        for prompt in json.loads(REPEATED.read_text(encoding="utf-8"))["results"]["prompts"]
    }
    _, _, rows = imported(REPEATED, "--metric", "brief")
    for model, scores in own.items():
        found = sum(float(row["outcome"]) for row in rows if row["model"] == model and row["outcome"])
        assert found == scores["brief"]
    code, said, _ = imported(REPEATED, "--metric", "brevity")
    assert code == 2
    assert "expected score, or one of brief, exact" in said


def test_the_same_provider_in_two_files_needs_two_names(imported):
    """One model twice is no model with twice the attempts."""
    code, said, _ = imported(REPEATED, REPEATED, "--model", "small")
    assert code == 2
    assert "are both of the model 'small'" in said


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"results": {"results": [1]}}', '{"results": {"results": [{}]}}']
)
def test_what_is_no_result_is_refused(imported, tmp_path, text):
    """One message that names the file, exit code 2."""
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    code, said, _ = imported(tmp_path / "r.json")
    assert code == 2
    assert "r.json: no results" in said
