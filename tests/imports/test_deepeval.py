"""`evalreport import deepeval`: on test runs that DeepEval 4.3.1 wrote, and what it must refuse."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "data" / "imports" / "deepeval"


@pytest.fixture
def imported(importing):
    """Import what DeepEval wrote."""
    return partial(importing, "deepeval")


@pytest.mark.parametrize("metric", ["Exact", "Closeness"])
def test_scores_are_deepeval_s_own(imported, metric):
    """By the model of the run's hyperparameters; where the judge failed there is a gap."""
    code, said, rows = imported(FOLDER, "--metric", metric)
    assert code == 0
    assert "1 answer has no judgement" in said
    for model in ("large", "small"):
        run = json.loads((FOLDER / f"{model}.json").read_text(encoding="utf-8"))
        (own,) = (scores["scores"] for scores in run["metricsScores"] if scores["metric"] == metric)
        found = [float(row["outcome"]) for row in rows if row["model"] == model and row["outcome"]]
        assert found == own


def test_without_a_metric_the_outcome_says_who_passed(imported):
    """As many passed as DeepEval counts; metadata and tags keep their names; tests match by what was asked."""
    _, _, rows = imported(FOLDER)
    for model in ("large", "small"):
        run = json.loads((FOLDER / f"{model}.json").read_text(encoding="utf-8"))
        assert [row["outcome"] for row in rows if row["model"] == model].count("1.0") == run["testPassed"]
    assert len({row["id"] for row in rows}) == 12
    assert {row["topic"] for row in rows} == {f"topic {n}" for n in range(4)}
    assert {row["tags"] for row in rows} == {"sums"}


def test_names_follow_the_paths(imported):
    """One name for each file, in order; a metric that is not there is refused."""
    files = FOLDER / "small.json", FOLDER / "large.json"
    code, said, rows = imported(*files, "--model", "a", "--model", "b")
    assert (code, rows[0]["model"]) == (0, "a")
    assert f"model a: {files[0]}" in said
    code, said, _ = imported(*files, "--metric", "Tone")
    assert code == 2
    assert "expected one of Closeness, Exact" in said


@pytest.mark.parametrize("text", ["[]", "{}", '{"testCases": [1]}'])
def test_what_is_no_test_run_is_refused(imported, tmp_path, text):
    """One message that names the file, exit code 2."""
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    code, said, _ = imported(tmp_path / "r.json")
    assert code == 2
    assert "r.json: no test run" in said
