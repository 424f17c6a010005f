"""`evalreport import lm-eval`: on logs that lm-evaluation-harness 0.4.13 wrote, and what it must refuse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from evalreport.cli import main

LOGS = Path(__file__).resolve().parents[1] / "data" / "imports" / "lm_eval"
# What the harness itself says of these samples.
AGGREGATES = json.loads((LOGS / "aggregates.json").read_text(encoding="utf-8"))


@pytest.fixture
def imported(importing):
    """Import what the harness wrote."""
    return partial(importing, "lm-eval")


@pytest.fixture
def logs(tmp_path) -> Path:
    """A copy of the logs, to be changed."""
    return Path(shutil.copytree(LOGS, tmp_path / "logs"))


def log(folder: Path, model: str, task: str) -> Path:
    """The log of a model and task."""
    return next((folder / model).glob(f"samples_{task}_*.jsonl"))


def change(path: Path, edit: Callable[[dict], object], *, line: int = 0) -> None:
    """Change one sample of a log."""
    lines = path.read_text(encoding="utf-8").splitlines()
    sample = json.loads(lines[line])
    edit(sample)
    lines[line] = json.dumps(sample)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def mean(rows: list[dict[str, str]], model: str, column: str = "outcome") -> float:
    """The mean of a model's column."""
    values = [float(row[column]) for row in rows if row["model"] == model]
    return sum(values) / len(values)


def test_multiple_choice_gives_outcomes_that_average_to_the_harness_own(imported):
    """Accuracy by its acc, matched by the digests of the documents."""
    code, said, rows = imported(LOGS, "--task", "capitals")
    assert code == 0
    assert "outcome: acc" in said
    for model in ("careful", "hasty"):
        assert mean(rows, model) == pytest.approx(AGGREGATES[model]["capitals"]["acc,none"], abs=1e-12)
    ids = [{row["id"] for row in rows if row["model"] == model} for model in ("careful", "hasty")]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 10
    assert all(len(name) == 16 for name in ids[0])  # the task stands in a column of its own


def test_repeated_answers_to_a_question_are_attempts(imported):
    """Three answers to each sum are three rows of one id; the mean is the harness's own over all of them."""
    code, said, rows = imported(LOGS, "--task", "sums", "--filter", "each")
    assert code == 0
    assert "up to 3 answers to one question: numbered in the column attempt" in said
    assert len(rows) == 2 * 8 * 3
    assert {row["attempt"] for row in rows} == {"1", "2", "3"}
    for model in ("careful", "hasty"):
        assert mean(rows, model) == pytest.approx(AGGREGATES[model]["sums"]["right,each"], abs=1e-12)


def test_what_a_document_says_of_itself_is_kept(imported, logs, tmp_path):
    """Topics and passages stand in columns of their own names, for slices and clusters; `label` would be a truth."""
    for model in ("careful", "hasty"):
        path = log(logs, model, "even")
        for line in range(24):
            kept = {"passage": f"p{line // 4}", "label": line}
            change(path, lambda sample, kept=kept: sample["doc"].update(kept), line=line)
    _, said, rows = imported(logs, "--task", "even")
    assert {row["passage"] for row in rows} == {f"p{n}" for n in range(6)}
    assert {row["task"] for row in rows} == {"even"}
    assert "label -> metadata_label" in said
    words = ["run", str(tmp_path / "predictions.csv"), "-o", str(tmp_path / "out"), "-f", "json", "-q"]
    assert main([*words, "--cluster", "passage", "--resamples", "50"]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["n"] == 24
    assert results["options"]["cluster"] == "passage"


def test_several_filters_must_be_chosen_from(imported):
    """Strict or lenient extraction gives other answers: none is taken by itself."""
    code, said, _ = imported(LOGS, "--task", "sums")
    assert code == 2
    assert "add --filter with one of first, each" in said
    code, _, rows = imported(LOGS, "--task", "sums", "--filter", "first")
    assert code == 0
    assert mean(rows, "hasty") == pytest.approx(AGGREGATES["hasty"]["sums"]["right,first"], abs=1e-12)
    assert "attempt" not in rows[0]


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("doc_hash", "has another document than in"),
        ("target_hash", "has another target than in"),
        ("prompt_hash", "has another prompt than in"),
    ],
)
def test_models_that_were_asked_different_things_are_refused(imported, logs, field, problem):
    """Another document, target or prompt under one number; another prompt may be meant."""
    change(log(logs, "hasty", "even"), lambda sample: sample.update({field: "0" * 64}), line=4)
    code, said, _ = imported(logs, "--task", "even")
    assert code == 2
    assert problem in said
    assert "line 5" in said
    assert imported(logs, "--task", "even", "--prompts-differ")[0] == (0 if field == "prompt_hash" else 2)


def test_logs_without_digests_are_matched_by_their_documents(imported, logs):
    """Versions before the digests: the document itself is digested, and a difference is found all the same."""
    for model in ("careful", "hasty"):
        path = log(logs, model, "even")
        samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for sample in samples:
            for name in ("doc_hash", "prompt_hash", "target_hash", "filter", "metrics"):
                del sample[name]
        path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    code, said, rows = imported(logs, "--task", "even")
    assert (code, len(rows)) == (0, 48)
    assert "outcome: acc" in said
    change(log(logs, "hasty", "even"), lambda sample: sample["doc"].update(number=99), line=2)
    assert imported(logs, "--task", "even")[0] == 2


def test_several_runs_of_a_model_are_chosen_from_or_taken_as_samples(imported, logs):
    """The harness keeps every run: none is taken silently, and all together are clusters by question."""
    first = log(logs, "hasty", "capitals")
    later = first.with_name("samples_capitals_2027-01-01T00-00-00.000001.jsonl")
    shutil.copy(first, later)
    change(later, lambda sample: sample.update(acc=1.0 - sample["acc"]))
    code, said, _ = imported(logs / "hasty", "--task", "capitals")
    assert code == 2
    assert "are both of the model 'hasty' and the task 'capitals'" in said
    _, _, last = imported(logs / "hasty", "--task", "capitals", "--runs", "last")
    assert (len(last), last[0]["outcome"]) == (
        10,
        str(1.0 - json.loads(first.read_text().splitlines()[0])["acc"]),
    )
    _, _, both = imported(logs / "hasty", "--task", "capitals", "--runs", "all")
    assert [row["attempt"] for row in both].count("2") == 10


def test_equal_documents_of_a_task_stay_apart(imported, logs):
    """A question that appears twice in a data set is two examples, in both models' logs."""
    for model in ("careful", "hasty"):
        path = log(logs, model, "even")
        twin = json.loads(path.read_text(encoding="utf-8").splitlines()[0]) | {"doc_id": 24}
        path.write_text(path.read_text(encoding="utf-8") + json.dumps(twin) + "\n", encoding="utf-8")
    code, _, rows = imported(logs, "--task", "even")
    assert code == 0
    assert sum(row["id"].endswith("-2") for row in rows) == 2


def test_equal_documents_of_two_tasks_are_no_attempts(imported, logs):
    """One document in two tasks has one id in both, and is a question of each."""
    for model in ("careful", "hasty"):
        path = log(logs, model, "even")
        shutil.copy(path, path.with_name(path.name.replace("_even_", "_odd_")))
    code, _, rows = imported(logs, "--task", "even", "--task", "odd")
    assert code == 0
    assert "attempt" not in rows[0]
    ids = [{row["id"] for row in rows if row["task"] == task} for task in ("even", "odd")]
    assert ids[0] == ids[1]


def test_what_is_no_judgement_is_refused(imported, logs):
    """A metric that is not there, one that is no number; the message names the file, the line and the others."""
    code, said, _ = imported(LOGS, "--task", "capitals", "--metric", "exact_match")
    assert code == 2
    assert "this log has acc, acc_norm" in said
    change(log(logs, "careful", "capitals"), lambda sample: sample.update(acc="perhaps"))
    assert "line 1" in imported(logs, "--task", "capitals")[1]


def test_a_sample_without_its_judgement_has_an_empty_outcome(imported, logs):
    """NaN and null are gaps, which are counted; what they count as, `run --missing` says."""
    change(log(logs, "careful", "capitals"), lambda sample: sample.update(acc=float("nan")))
    change(log(logs, "hasty", "capitals"), lambda sample: sample.update(acc=None))
    code, said, rows = imported(logs, "--task", "capitals")
    assert code == 0
    assert "2 answers have no judgement" in said
    assert [row["model"] for row in rows if not row["outcome"]] == ["careful", "hasty"]


def test_names_follow_the_paths_or_the_models(imported):
    """The first name is that of the first path, whatever order the folders sort in; or names choose among the found."""
    _, said, rows = imported(
        LOGS / "hasty", LOGS / "careful", "--task", "even", "--model", "one", "--model", "two"
    )
    assert mean(rows, "one") == pytest.approx(AGGREGATES["hasty"]["even"]["acc,none"], abs=1e-12)
    assert f"model one: {log(LOGS, 'hasty', 'even')}" in said
    _, _, rows = imported(LOGS, "--task", "even", "--model", "hasty=quick")
    assert mean(rows, "quick") == pytest.approx(AGGREGATES["hasty"]["even"]["acc,none"], abs=1e-12)
    for names in (["one"], ["one", "two"]):
        code, said, _ = imported(LOGS, *(word for name in names for word in ("--model", name)))
        assert code == 2
        assert "holds 2 models: careful, hasty" in said


@pytest.mark.parametrize("text", ["{", "[1]", '{"doc": 1}', "\x00", "[" * 100_000])
def test_broken_lines_are_named(imported, tmp_path, text):
    """File and line, exit code 2."""
    (tmp_path / "samples_x.jsonl").write_text(f"\n{text}\n", encoding="utf-8")
    code, said, _ = imported(tmp_path / "samples_x.jsonl")
    assert code == 2
    assert "samples_x.jsonl, line 2: no " in said


def test_nothing_to_import_is_said(imported, tmp_path):
    """No file, no log, no such task."""
    assert "there is no such file or folder" in imported(tmp_path / "none")[1]
    assert "there is no file samples_TASK_DATE.jsonl" in imported(tmp_path)[1]
    assert "of the tasks hellaswag" in imported(LOGS, "--task", "hellaswag")[1]


def written(folder: Path, model: str, task: str, samples: list[dict]) -> None:
    """Write a log of samples, with the keys that every one has."""
    path = folder / model / f"samples_{task}_2026-03-05T10-00-00.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    shared = {"target": "A", "arguments": {}, "resps": [["x"]], "filter": "none"}
    lines = [
        json.dumps({"doc_id": place, "doc": {"q": f"{task} {place}"}, **shared, **sample})
        for place, sample in enumerate(samples)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_pair_of_mcc_is_the_true_label_and_the_prediction(importing, tmp_path):
    """Not two attempts: by their mean a model that always says yes would lead. The value is scikit-learn's."""
    from sklearn.metrics import matthews_corrcoef

    import evalreport as er

    truth = [1] * 8 + [0] * 4
    answers = {"always-yes": [1] * 12, "tuned": [1] * 7 + [0] * 4 + [1]}
    for model, given in answers.items():
        pairs = [{"metrics": ["mcc"], "mcc": list(pair)} for pair in zip(truth, given, strict=True)]
        written(tmp_path / "logs", model, "cola", pairs)
    code, said, rows = importing("lm-eval", tmp_path / "logs")
    assert code == 0
    assert "the value of mcc is the true label and the prediction" in said
    assert len(rows) == 24
    results = er.evaluate(tmp_path / "predictions.csv", metrics=["mcc"], resamples=100)
    values = {row.model: row.value for row in results.metrics if row.metric == "mcc"}
    assert values["tuned"] == pytest.approx(matthews_corrcoef(truth, answers["tuned"]), abs=1e-12)
    assert values["always-yes"] == 0


def test_a_pair_of_perplexity_is_a_log_likelihood_and_its_length(importing, tmp_path, capsys):
    """exp(-sum of log likelihoods / sum of words), by the command that the import names."""
    import math
    import shlex

    logs = {"a": [(-30.0, 10), (-90.0, 20)], "b": [(-20.0, 10), (-50.0, 20)]}
    for model, pairs in logs.items():
        samples = [{"metrics": ["word_perplexity"], "word_perplexity": list(pair)} for pair in pairs]
        written(tmp_path / "logs", model, "wikitext", samples)
    code, said, _ = importing("lm-eval", tmp_path / "logs")
    assert code == 0
    command = shlex.split(said.partition("next: evalreport ")[2].splitlines()[0])
    assert main([*command, "-f", "json", "-o", str(tmp_path / "report")]) == 0
    results = json.loads((tmp_path / "report/results.json").read_text(encoding="utf-8"))
    for model, pairs in logs.items():
        expected = -sum(p[0] for p in pairs) / sum(p[1] for p in pairs)
        row = next(row for row in results["metrics"] if row["model"] == model)
        assert row["value"] == pytest.approx(expected, rel=1e-12)
        assert math.exp(row["value"]) == pytest.approx(math.exp(expected), rel=1e-12)


def test_a_pair_of_a_metric_that_may_be_anything_is_refused(importing, tmp_path):
    """Two numbers of one answer are not two answers."""
    written(tmp_path / "logs", "a", "own", [{"metrics": ["closeness"], "closeness": [0.5, 1.0]}])
    code, said, _ = importing("lm-eval", tmp_path / "logs")
    assert code == 2
    assert "the value of closeness is a pair" in said
    assert "line 1, column 'closeness'" in said or "line 1" in said


def test_two_answers_to_a_sample_are_attempts(importing, tmp_path):
    """Where the harness asked twice, the two values are those of the two answers."""
    sample = {"metrics": ["exact_match"], "exact_match": [1.0, 0.0], "resps": [["x", "y"]]}
    written(tmp_path / "logs", "a", "twice", [sample])
    code, _, rows = importing("lm-eval", tmp_path / "logs")
    assert code == 0
    assert [(row["attempt"], row["outcome"]) for row in rows] == [("1", "1.0"), ("2", "0.0")]


def test_tasks_of_labels_beside_tasks_of_outcomes_are_refused(importing, tmp_path):
    """With the task to import by itself, which then works."""
    written(tmp_path / "logs", "a", "cola", [{"metrics": ["mcc"], "mcc": [1, 0]}])
    written(tmp_path / "logs", "a", "arc", [{"metrics": ["acc"], "acc": 1.0}])
    code, said, _ = importing("lm-eval", tmp_path / "logs")
    assert code == 2
    assert "--task arc" in said
    assert importing("lm-eval", tmp_path / "logs", "--task", "arc")[0] == 0
