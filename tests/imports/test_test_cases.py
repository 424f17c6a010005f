"""Test cases of DeepEval 4.3.1 and promptfoo 0.119.14, as those wrote them, and what is refused."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

PROMPTFOO = Path(__file__).resolve().parents[1] / "data" / "imports" / "promptfoo"

REPEATED, PROMPTS = PROMPTFOO / "repeated.json", PROMPTFOO / "prompts.json"


@pytest.fixture
def from_promptfoo(importing):
    """Import what promptfoo wrote."""
    return partial(importing, "promptfoo")


def own_counts(path: Path) -> list[tuple[int, int, int]]:
    """What promptfoo itself counts for each provider and prompt: passed, failed, errors."""
    prompts = json.loads(path.read_text(encoding="utf-8"))["results"]["prompts"]
    names = ("testPassCount", "testFailCount", "testErrorCount")
    return sorted(tuple(prompt["metrics"][name] for name in names) for prompt in prompts)


def counts(rows: list[dict[str, str]]) -> list[tuple[int, int, int]]:
    """The same of the from_promptfoo rows."""
    found = []
    for model in {row["model"] for row in rows}:
        outcomes = [row["outcome"] for row in rows if row["model"] == model]
        found.append((outcomes.count("1.0"), outcomes.count("0.0"), outcomes.count("")))
    return sorted(found)


def test_repeats_are_attempts_and_counts_are_promptfoo_s_own(from_promptfoo):
    """--repeat leaves no field: equal variables are one question; an error of the provider is a gap."""
    code, said, rows = from_promptfoo(REPEATED)
    assert code == 0
    assert counts(rows) == own_counts(REPEATED)
    assert {row["model"] for row in rows} == {"large", "small"}
    assert len({row["id"] for row in rows}) == 8
    assert {row["attempt"] for row in rows} == {"1", "2"}
    assert {row["topic"] for row in rows} == {"topic 0", "topic 1", "topic 2"}
    assert "2 answers have no judgement" in said


def test_each_prompt_makes_a_model_of_its_own(from_promptfoo):
    """Two prompts and two providers are four systems; the questions are the same."""
    code, _, rows = from_promptfoo(PROMPTS)
    assert code == 0
    assert counts(rows) == own_counts(PROMPTS)
    assert "small: Sum: {{question}}" in {row["model"] for row in rows}
    assert "attempt" not in rows[0]


def test_a_named_metric_can_be_the_outcome(from_promptfoo):
    """The named metric sums to promptfoo's own; one that is not there is refused with those that are."""
    own = {
        prompt["provider"]: prompt["metrics"]["namedScores"]
        for prompt in json.loads(REPEATED.read_text(encoding="utf-8"))["results"]["prompts"]
    }
    _, _, rows = from_promptfoo(REPEATED, "--metric", "brief")
    for model, scores in own.items():
        found = sum(float(row["outcome"]) for row in rows if row["model"] == model and row["outcome"])
        assert found == scores["brief"]
    code, said, _ = from_promptfoo(REPEATED, "--metric", "brevity")
    assert code == 2
    assert "expected score, or one of brief, exact" in said


def test_the_same_provider_in_two_files_needs_two_names(from_promptfoo):
    """One model twice is no model with twice the attempts."""
    code, said, _ = from_promptfoo(REPEATED, REPEATED, "--model", "small")
    assert code == 2
    assert "are both of the model 'small'" in said


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"results": {"results": [1]}}', '{"results": {"results": [{}]}}']
)
def test_what_is_no_result_is_refused(from_promptfoo, tmp_path, text):
    """One message that names the file, exit code 2."""
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    code, said, _ = from_promptfoo(tmp_path / "r.json")
    assert code == 2
    assert "r.json: no results" in said


def test_a_folder_of_results_is_read_and_other_json_passed_over(from_promptfoo, tmp_path):
    """`run FOLDER` answers with `import promptfoo FOLDER`, so that line reads it; a folder without any is refused."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "package.json").write_text("{}", encoding="utf-8")
    code, said, _ = from_promptfoo(logs)
    assert (code, "logs: there are no results" in said) == (2, True)
    shutil.copy(REPEATED, logs / "results.json")
    code, _, rows = from_promptfoo(logs)
    assert (code, rows) == (0, from_promptfoo(REPEATED)[2])


DEEPEVAL = Path(__file__).resolve().parents[1] / "data" / "imports" / "deepeval"


@pytest.fixture
def from_deepeval(importing):
    """Import what DeepEval wrote."""
    return partial(importing, "deepeval")


@pytest.mark.parametrize("metric", ["Exact", "Closeness"])
def test_scores_are_deepeval_s_own(from_deepeval, metric):
    """By the model of the run's hyperparameters; where the judge failed there is a gap."""
    code, said, rows = from_deepeval(DEEPEVAL, "--metric", metric)
    assert code == 0
    assert "1 answer has no judgement" in said
    for model in ("large", "small"):
        run = json.loads((DEEPEVAL / f"{model}.json").read_text(encoding="utf-8"))
        (own,) = (scores["scores"] for scores in run["metricsScores"] if scores["metric"] == metric)
        found = [float(row["outcome"]) for row in rows if row["model"] == model and row["outcome"]]
        assert found == own


def test_without_a_metric_the_outcome_says_who_passed(from_deepeval):
    """As many passed as DeepEval counts; metadata and tags keep their names; tests match by what was asked."""
    _, _, rows = from_deepeval(DEEPEVAL)
    for model in ("large", "small"):
        run = json.loads((DEEPEVAL / f"{model}.json").read_text(encoding="utf-8"))
        assert [row["outcome"] for row in rows if row["model"] == model].count("1.0") == run["testPassed"]
    assert len({row["id"] for row in rows}) == 12
    assert {row["topic"] for row in rows} == {f"topic {n}" for n in range(4)}
    assert {row["tags"] for row in rows} == {"sums"}


def test_names_follow_the_paths(from_deepeval):
    """One name for each file, in order; a metric that is not there is refused."""
    files = DEEPEVAL / "small.json", DEEPEVAL / "large.json"
    code, said, rows = from_deepeval(*files, "--model", "a", "--model", "b")
    assert (code, rows[0]["model"]) == (0, "a")
    assert f"model a: {files[0]}" in said
    code, said, _ = from_deepeval(*files, "--metric", "Tone")
    assert code == 2
    assert "expected one of Closeness, Exact" in said


PRICES = {"large": 3e-6, "small": 0.25e-6}
"""Dollars for a token of the question in make_deepeval.py and make_promptfoo.py; one of the answer costs four times."""


@pytest.mark.parametrize("kind", ["cases", "traced"])
def test_costs_are_those_of_the_test_cases_or_of_their_traces(from_deepeval, kind):
    """By hand: 100 + 10 n tokens of the question and 20 of the answer; the judge's 0.75 dollars are not in it."""
    code, said, rows = from_deepeval(DEEPEVAL.with_name("deepeval_costs") / kind)
    assert code == 0
    assert "costs of each answer: cost, latency, tokens" in said
    assert len(rows) == 22
    assert len({row["id"] for row in rows}) == 11
    assert {row["outcome"] for row in rows} == {"0.0", "1.0"}
    for row in rows:
        n = int(row["question"].split()[0])
        assert float(row["tokens"]) == 120 + 10 * n
        assert float(row["cost"]) == pytest.approx(PRICES[row["model"]] * (180 + 10 * n), rel=1e-9)
        # The traced program sleeps for n + 1 hundredths of a second.
        least = (n + 1) / 10 if kind == "cases" else (n + 1) / 100
        assert least - 0.002 <= float(row["latency"]) <= (least if kind == "cases" else 10)


def test_costs_that_deepeval_does_not_know_are_empty(from_deepeval, tmp_path):
    """A call without a price or without tokens, instants that are none."""
    run = json.loads((DEEPEVAL.with_name("deepeval_costs") / "traced" / "large.json").read_text("utf-8"))
    first, second, third = (case["trace"] for case in run["testCases"][:3])
    del first["llmSpans"][0]["costPerInputToken"]
    del second["llmSpans"][1]["outputTokenCount"]
    third["endTime"], third["llmSpans"] = "later", None
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    found = {row["question"].split()[0]: row for row in from_deepeval(path)[2]}
    assert (found["0"]["cost"], found["0"]["tokens"]) == ("", "120.0")
    assert (found["1"]["cost"], found["1"]["tokens"]) == ("", "")
    assert (found["2"]["cost"], found["2"]["tokens"], found["2"]["latency"]) == ("", "", "")


@pytest.mark.parametrize("text", ["[]", "{}", '{"testCases": [1]}'])
def test_what_is_no_test_run_is_refused(from_deepeval, tmp_path, text):
    """One message that names the file, exit code 2."""
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    code, said, _ = from_deepeval(tmp_path / "r.json")
    assert code == 2
    assert "r.json: no test run" in said


def test_one_provider_with_two_configurations_is_two_models(from_promptfoo, tmp_path):
    """Promptfoo shows a column of each; its first passes six of nine tests, its second all."""
    rows = [
        {
            "provider": {"id": "openai:chat:gpt-5-mini"},
            "prompt": {"raw": "{{x}}", "label": "{{x}}"},
            "promptIdx": column,
            "success": bool(column or test % 3),
            "failureReason": 0 if column or test % 3 else 1,
            "testCase": {"vars": {"x": f"v{test}"}, "assert": [{"type": "contains", "value": "y"}]},
        }
        for test in range(9)
        for column in range(2)
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": rows}}))
    _, said, found = from_promptfoo(path)
    names = [f"openai:chat:gpt-5-mini #{place}" for place in (1, 2)]
    assert [sum(float(row["outcome"]) for row in found if row["model"] == name) for name in names] == [6, 9]
    assert all(name in said for name in names)


def test_costs_are_those_of_the_log_and_seconds(from_promptfoo, tmp_path):
    """Milliseconds become seconds; an answer that failed has none; a price of 0 throughout is no price."""
    content = json.loads(REPEATED.read_text(encoding="utf-8"))
    for place, row in enumerate(content["results"]["results"]):
        row["cost"], row["latencyMs"], row["tokenUsage"] = 0.001 * (place + 1), 250, {"total": 40}
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    code, said, rows = from_promptfoo(path)
    assert code == 0
    assert "costs of each answer: cost, latency, tokens" in said
    assert "2 answers are errors of the provider" in said
    assert {(row["latency"], row["tokens"]) for row in rows if row["outcome"]} == {("0.25", "40.0")}
    assert {row["cost"] for row in rows if not row["outcome"]} == {""}
    assert "cost" not in from_promptfoo(REPEATED)[2][0]


def test_what_a_cached_answer_costs_is_not_known(from_promptfoo, tmp_path):
    """Promptfoo writes 0 for it, and the time that the cache took."""
    content = json.loads((PROMPTFOO / "costs.json").read_text(encoding="utf-8"))
    for row in content["results"]["results"]:
        if row["vars"]["question"] == "1 + 1":
            row["response"]["cached"], row["cost"], row["latencyMs"] = True, 0, 1
    path = tmp_path / "cached.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    _, _, rows = from_promptfoo(path)
    found = [row for row in rows if row["question"] == "1 + 1"]
    assert {(row["cost"], row["latency"], row["tokens"]) for row in found} == {("", "", "")}
    assert all(row["outcome"] for row in found)


def test_costs_are_what_the_provider_says_without_the_graders(from_promptfoo):
    """By hand: 100 + 10 n tokens of the question and 20 of the answer; the grader's 5,100 are not in them.

    One provider with two configurations and no label: promptfoo 0.123.1 writes the label as an empty text.
    """
    code, said, rows = from_promptfoo(PROMPTFOO / "costs.json")
    assert code == 0
    assert "costs of each answer: cost, latency, tokens" in said
    assert "1 answer is an error of the provider" in said
    assert {row["model"] for row in rows} == {"scripted:sums #1", "scripted:sums #2"}
    assert counts(rows) == own_counts(PROMPTFOO / "costs.json")
    for row in rows:
        n = int(row["question"].split()[0])
        if row["model"].endswith("2") and n == 3:
            assert (row["outcome"], row["cost"], row["latency"], row["tokens"]) == ("", "", "", "")
            continue
        price = PRICES["large" if row["model"].endswith("1") else "small"]
        assert float(row["cost"]) == pytest.approx(price * (180 + 10 * n), rel=1e-9)
        assert float(row["tokens"]) == 120 + 10 * n
        # The provider sleeps for n + 1 fiftieths of a second.
        assert float(row["latency"]) >= (n + 1) / 50 - 0.005


def test_errors_of_old_files_have_no_outcome(from_promptfoo, tmp_path):
    """Without failureReason an error with no grading is one of the provider; a failed assertion is none."""
    content = json.loads(REPEATED.read_text(encoding="utf-8"))
    for row in content["results"]["results"]:
        if row.pop("failureReason") == 2:
            row["gradingResult"] = None
            row["error"] = "429 Too many requests"
    path = tmp_path / "old.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    code, said, rows = from_promptfoo(path)
    assert code == 0
    assert counts(rows) == own_counts(REPEATED)
    assert "2 answers are errors of the provider" in said


def test_conversations_of_deepeval_are_cases(from_deepeval, tmp_path):
    """Matched by their scenario; the score is the metric's; of two runs of one model the last by name is taken."""
    for name, scores in {"20260101_100000": [0.0, 0.0], "20260102_100000": [0.25, 0.75]}.items():
        cases = [
            {
                "name": f"conversational_test_case_{place}",
                "success": score > 0.5,
                "metricsData": [{"name": "Role Adherence", "score": score, "success": score > 0.5}],
                "scenario": f"refund {place}",
                "turns": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}],
            }
            for place, score in enumerate(scores)
        ]
        run = {"testCases": [], "conversationalTestCases": cases, "hyperparameters": {"model": "large"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(run), encoding="utf-8")
    code, said, _ = from_deepeval(tmp_path)
    assert code == 2
    assert "pass --runs last" in said
    code, said, rows = from_deepeval(tmp_path, "--runs", "last", "--metric", "Role Adherence")
    assert code == 0
    assert [row["outcome"] for row in rows] == ["0.25", "0.75"]
    assert "scenario" in said
    assert rows[0]["question"] == "refund 0"
