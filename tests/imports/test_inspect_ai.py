"""`evalreport import inspect`: on logs that Inspect AI 0.3.285 wrote, and what it must refuse."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import fmean

import pytest

from evalreport.cli import main
from evalreport.imports import inspect_ai

LOGS = Path(__file__).resolve().parents[1] / "data" / "imports" / "inspect"
# What Inspect itself says of these logs: the mean over the samples of the mean over their epochs.
FIGURES = json.loads((LOGS / "figures.json").read_text(encoding="utf-8"))
EVALS = (LOGS / "large.eval", LOGS / "small.eval")


@pytest.fixture
def imported(importing):
    """Import what Inspect wrote."""
    return partial(importing, "inspect")


def log(name: str) -> dict:
    """A log as JSON, to be changed."""
    return json.loads((LOGS / "json" / f"{name}.json").read_text(encoding="utf-8"))


def written(path: Path, content: dict) -> Path:
    """Write a log as JSON."""
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def zipped(path: Path, parts: dict[str, object]) -> Path:
    """Write an archive as older versions of Inspect did, by deflation."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("scorer", "figure"),
    [
        ("match", "match/accuracy"),
        ("closeness", "closeness/mean"),
        ("graded", "graded/accuracy"),
        ("several/exact", "exact/mean"),
    ],
)
def test_outcomes_average_to_what_inspect_says(imported, scorer, figure):
    """C, P, I, N, numbers, and one of several values: samples are units, an answer that failed is a gap."""
    code, said, rows = imported(*EVALS, "--scorer", scorer)
    assert code == 0
    assert f"model mockllm/large: {EVALS[0]}" in said
    assert len(rows) == 2 * 12 * 2
    for model in ("large", "small"):
        samples = defaultdict(list)
        for row in rows:
            if row["model"] == f"mockllm/{model}" and row["outcome"]:
                samples[row["id"]].append(float(row["outcome"]))
        mean = fmean(map(fmean, samples.values()))
        assert mean == pytest.approx(FIGURES[model][figure], abs=1e-12)


def test_epochs_are_attempts_and_what_failed_is_empty(imported):
    """The second answer to s4 failed in both runs: empty cells, which are counted; metadata keeps its names."""
    _, said, rows = imported(*EVALS, "--scorer", "match")
    assert "2 answers have no judgement" in said
    assert [(row["id"], row["attempt"]) for row in rows if not row["outcome"]] == [("s4", "2")] * 2
    assert {row["attempt"] for row in rows} == {"1", "2"}
    assert {row["topic"] for row in rows} == {f"topic {n}" for n in range(4)}
    assert {row["task"] for row in rows} == {"sums"}


def test_two_logs_with_epochs_are_compared(imported, tmp_path):
    """Straight from the import: the mean over samples of the mean over epochs is Inspect's own, with pass@2 beside."""
    assert imported(*EVALS, "--scorer", "match")[0] == 0
    words = ["run", str(tmp_path / "predictions.csv"), "-o", str(tmp_path / "out"), "-f", "json", "-q"]
    assert main([*words, "--missing", "drop", "-m", "mean_outcome", "--cluster", "topic"]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    values = {m["model"]: m["value"] for m in results["metrics"]}
    assert results["n"] == 12
    for model in ("large", "small"):
        assert values[f"mockllm/{model}"] == pytest.approx(FIGURES[model]["match/accuracy"], abs=1e-12)
    assert main([*words, "--missing", "wrong", "-m", "pass@2"]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["primary_metric"] == "pass@2"
    assert all(m["value"] is not None for m in results["metrics"])


def test_both_formats_hold_the_same(imported):
    """An archive with Zstandard, which Python's zipfile does not read, and JSON."""
    with zipfile.ZipFile(EVALS[0]) as archive:
        assert {info.compress_type for info in archive.infolist()} == {inspect_ai.ZSTANDARD}
    _, _, one = imported(*EVALS, "--scorer", "graded")
    _, _, other = imported(LOGS / "json", "--scorer", "graded")
    assert one == other


def test_several_scorers_must_be_chosen_from(imported):
    """None is taken by itself, and a misspelt one is empty nowhere: it is refused."""
    code, said, _ = imported(*EVALS)
    assert code == 2
    assert "scored by match, closeness, graded, several/brief, several/exact: name one with --scorer" in said
    code, said, _ = imported(*EVALS, "--scorer", "machine")
    assert code == 2
    assert "there is no scorer 'machine'" in said


def test_what_was_kept_serves_as_a_cluster(imported, tmp_path):
    """One epoch of two runs, compared with topics as clusters."""
    for name in ("large", "small"):
        content = log(name)
        content["samples"] = [sample for sample in content["samples"] if sample["epoch"] == 1]
        content["eval"]["config"]["epochs"] = 1
        written(tmp_path / f"{name}.json", content)
    paths = tmp_path / "large.json", tmp_path / "small.json"
    code, _, rows = imported(*paths, "--scorer", "match")
    assert (code, "attempt" in rows[0]) == (0, False)
    words = ["run", str(tmp_path / "predictions.csv"), "-o", str(tmp_path / "out"), "-f", "json", "-q"]
    assert main([*words, "--cluster", "topic", "--slice", "level", "--resamples", "50"]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (results["n"], results["options"]["cluster"]) == (12, "topic")


def test_two_runs_of_one_model_are_named_in_order(imported, tmp_path):
    """Two prompts for one model: refused until each path has a name of its own."""
    again = Path(shutil.copy(EVALS[1], tmp_path / "again.eval"))
    code, said, _ = imported(EVALS[1], again, "--scorer", "match")
    assert code == 2
    assert "are both of the model 'mockllm/small' and the task 'sums'" in said
    code, said, rows = imported(again, EVALS[1], "--scorer", "match", "--model", "new", "--model", "old")
    assert (code, {row["model"] for row in rows}) == (0, {"new", "old"})
    assert f"model new: {again}" in said


def test_a_person_s_scores_become_gold(imported, tmp_path):
    """A scorer of a person, on some samples only."""
    content = log("small")
    for sample in content["samples"][:5]:
        sample["scores"]["reader"] = {"value": "I"}
    path = written(tmp_path / "small.json", content)
    _, _, rows = imported(path, "--scorer", "match", "--gold", "reader")
    assert sorted(row["gold"] for row in rows) == [""] * 19 + ["0.0"] * 5


def test_another_target_is_refused(imported, tmp_path):
    """The same id in another version of the data set."""
    content = log("small")
    content["samples"][0]["target"] = "99"
    code, said, _ = imported(EVALS[0], written(tmp_path / "s.json", content), "--scorer", "match")
    assert code == 2
    assert "the sample s0 has another target than in" in said


def test_equal_ids_of_two_tasks_are_two_questions(imported, tmp_path):
    """Another task may use the same ids for other questions: they stay as they are, and the tasks make a suite."""
    content = log("small")
    content["eval"]["task"] = "more sums"
    for sample in content["samples"]:
        sample["target"] = "another"
    code, _, rows = imported(
        LOGS / "json" / "small.json", written(tmp_path / "more.json", content), "--scorer", "match"
    )
    assert code == 0
    ids = [{row["id"] for row in rows if row["task"] == task} for task in ("sums", "more sums")]
    assert ids[0] == ids[1]
    assert "s0" in ids[0]
    out = tmp_path / "out"
    words = [
        "run",
        str(tmp_path / "predictions.csv"),
        "-o",
        str(out),
        "-f",
        "json",
        "-q",
        "--missing",
        "wrong",
    ]
    assert main(words) == 0
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["n"] == 2 * len(ids[0])


def test_archives_of_older_versions_are_read(imported, tmp_path):
    """Deflated; summaries without metadata send us to the samples; metadata that were cut do too."""
    content = log("small")
    samples = content.pop("samples")
    parts = {f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples}
    _, _, expected = imported(LOGS / "json" / "small.json", "--scorer", "match")
    bare = [{name: sample[name] for name in ("id", "epoch", "target", "scores")} for sample in samples]
    cut = [own | {"metadata": {"topic": "Key removed from summary (> 1k)"}} for own in bare]
    for summaries in (bare, cut):
        path = zipped(tmp_path / "old.eval", {"header.json": content, "summaries.json": summaries, **parts})
        assert imported(path, "--scorer", "match")[2] == expected


def test_a_log_without_scores_is_refused_with_its_status(imported, tmp_path):
    """Every sample failed before it was scored: what to do about it is said."""
    content = log("small") | {"status": "error"}
    for sample in content["samples"]:
        del sample["scores"]
    code, said, _ = imported(written(tmp_path / "failed.json", content))
    assert code == 2
    assert "status of this one: error" in said
    assert "inspect score" in said


def test_an_unfinished_log_is_read_and_said(imported, tmp_path):
    """No header yet: what the journal has, and how much is missing."""
    content = log("small")
    samples = content.pop("samples")
    parts = {"_journal/start.json": {"eval": content["eval"]}}
    parts |= {f"_journal/summaries/{n}.json": samples[5 * n : 5 * n + 5] for n in range(2)}
    code, said, rows = imported(zipped(tmp_path / "half.eval", parts), "--scorer", "match")
    assert (code, len(rows)) == (0, 10)
    assert "of status started, with 10 of 24 samples" in said


def test_an_archive_that_unpacks_without_end_is_refused(imported, tmp_path, monkeypatch):
    """The limit counts what is unpacked, whatever the archive says of itself; deflated or Zstandard."""
    monkeypatch.setattr(inspect_ai, "MOST_UNPACKED", 3_000)
    bomb = zipped(tmp_path / "bomb.eval", {"header.json": b" " * 3_000_000})
    for path in (bomb, EVALS[0]):
        code, said, _ = imported(path, "--scorer", "match")
        assert code == 2
        assert "its parts have more than" in said


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("not", "a broken zip"),
        ("cut", "a broken zip"),
        ("damaged", "a broken zip"),
        ("empty", "it has no part _journal/start.json"),
        ("list", "no header"),
        ("text", "no JSON"),
        ("other", "no log with samples"),
        ("missing", "cannot be read"),
    ],
)
def test_broken_archives_are_named(imported, tmp_path, name, problem):
    """One message with the file, exit code 2."""
    path = tmp_path / "log.eval"
    whole = bytearray(EVALS[0].read_bytes())
    if name == "not":
        path.write_bytes(b"PK no zip")
    elif name == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif name == "damaged":
        with zipfile.ZipFile(EVALS[0]) as archive:
            place = archive.getinfo("summaries.json").header_offset
        whole[place + 80 : place + 120] = bytes(40)
        path.write_bytes(whole)
    elif name != "missing":
        parts = {"empty": {}, "list": {"header.json": []}, "text": {"header.json": "{"}}
        zipped(path, parts.get(name, {"header.json": {"eval": 1}}))
    code, said, _ = imported(path, "--scorer", "match")
    assert code == 2
    assert "log.eval" in said
    assert problem in said


def test_what_is_no_score_is_refused(imported, tmp_path):
    """A text that is no grade; a sample without an id."""
    content = log("small")
    content["samples"][0]["scores"]["match"]["value"] = "perhaps"
    code, said, _ = imported(written(tmp_path / "s.json", content), "--scorer", "match")
    assert code == 2
    assert "'perhaps' as the score of the sample s0 is no number" in said
    del content["samples"][1]["id"]
    assert "sample 2 has no id" in imported(written(tmp_path / "s.json", content), "--scorer", "match")[1]


def test_costs_are_those_that_inspect_reckons_without_the_grader(imported):
    """By hand: 3 dollars for a million tokens of the question (100 + 10 n), 12 for one of the 20 of an answer."""
    code, said, rows = imported(LOGS / "priced")
    assert code == 0
    assert "costs of each answer: cost, latency, tokens" in said
    assert len(rows) == 24
    price = {"mockllm/large": 3.0, "mockllm/small": 0.25}
    for row in rows:
        tokens = 100 + 10 * int(row["id"][1:])
        assert float(row["tokens"]) == tokens + 20
        assert float(row["cost"]) == pytest.approx(price[row["model"]] * (tokens + 4 * 20) / 1e6, rel=1e-12)
        assert float(row["latency"]) > 0
        assert row["question"] == f"{row['id'][1:]} + {int(row['id'][1:]) ** 2 % 7}"


def test_costs_that_are_not_known_of_every_model_are_empty(imported, tmp_path):
    """A model without a price, and a grader without one."""
    content = log("small")
    for sample in content["samples"]:
        sample["model_usage"] = {"a": {"total_tokens": 7, "total_cost": 0.5}, "b": {"total_tokens": 9}}
        sample["role_usage"] = {"grader": {"total_tokens": 9}}
    _, said, rows = imported(written(tmp_path / "s.json", content), "--scorer", "match")
    assert "costs of each answer: latency, tokens" in said
    assert {row["tokens"] for row in rows if row["outcome"]} == {"7.0"}


def test_of_a_retry_the_last_log_is_taken_by_the_option_that_the_message_names(imported, tmp_path):
    """The broken-off log beside the one that went on: by the time in the logs, whatever the files are called."""
    content = log("small")
    early, late = json.loads(json.dumps(content)), json.loads(json.dumps(content))
    early["eval"]["created"], late["eval"]["created"] = "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"
    early["samples"], early["status"] = early["samples"][:5], "error"
    paths = [written(tmp_path / "z.json", early), written(tmp_path / "a.json", late)]
    code, said, _ = imported(*paths, "--scorer", "match")
    assert code == 2
    assert "pass --runs last" in said
    code, _, rows = imported(*paths, "--scorer", "match", "--runs", "last")
    assert (code, len(rows)) == (0, len(late["samples"]))
