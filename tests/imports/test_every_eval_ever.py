"""`evalreport import every-eval-ever`: instance files by the schema, and what must be refused."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.cli import main


@pytest.fixture
def imported(importing):
    """Import what a converter wrote."""
    return partial(importing, "every-eval-ever")


def instance(model: str, number: int, correct: bool, **more: Any) -> dict[str, Any]:
    """One line, with the keys that the schema asks for."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"gsm8k/{model}/1760000000",
        "model_id": f"lab/{model}",
        "evaluation_name": "gsm8k",
        "sample_id": f"gsm8k_{number}",
        "sample_hash": f"{number:064x}",
        "interaction_type": "single_turn",
        "input": {"raw": f"How much is {number} + 1?", "reference": [str(number + 1)]},
        "output": {"raw": ["7"]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": 0.25 + correct / 2, "is_correct": correct},
        "token_usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        "performance": {"latency_ms": 1500.0},
        "error": None,
        "metadata": {"subject": "sums"},
    } | more


def written(path: Path, instances: list[dict[str, Any]]) -> Path:
    """Write a file of instances."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in instances), encoding="utf-8")
    return path


RIGHT = {"small": [1, 0, 0, 1], "large": [1, 1, 0, 1]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models in the folders that the database has."""
    for model, given in RIGHT.items():
        lines = [instance(model, number, bool(right)) for number, right in enumerate(given)]
        written(tmp_path / "data/gsm8k/lab" / model / "u_samples.jsonl", lines)
    return tmp_path / "data"


def test_outcomes_costs_and_questions_are_those_of_the_file(imported, folder, tmp_path):
    """Means by hand; seconds of milliseconds; tokens in all."""
    code, said, rows = imported(folder)
    assert code == 0
    assert "matched by the column sample_id" in said
    found = {model: [row["outcome"] for row in rows if row["model"] == f"lab/{model}"] for model in RIGHT}
    assert found == {model: [str(float(right)) for right in given] for model, given in RIGHT.items()}
    assert {(row["latency"], row["tokens"], row["subject"]) for row in rows} == {("1.5", "15.0", "sums")}
    assert rows[0]["question"] == "How much is 0 + 1?"
    read = er.load(tmp_path / "predictions.csv")
    assert [model.outcome.mean() for model in read.models if model.outcome is not None] == [0.75, 0.5]
    scores = imported(folder, "--metric", "score")[2]
    assert {row["outcome"] for row in scores} == {"0.25", "0.75"}


def test_samples_with_other_numbers_are_matched_by_their_digests(imported, folder):
    """One converter numbers from 1: the digests are those of the questions."""
    lines = [instance("third", number, True, sample_id=f"gsm8k_{number + 1}") for number in range(4)]
    written(folder / "third_samples.jsonl", lines)
    code, said, rows = imported(folder)
    assert code == 0
    assert "matched by the column sample_hash" in said
    assert len({row["id"] for row in rows}) == 4


def test_models_that_were_asked_different_things_are_refused(imported, folder):
    """The same numbers, other questions."""
    lines = [instance("third", number, True, sample_hash=f"{number + 90:064x}") for number in range(4)]
    written(folder / "third_samples.jsonl", lines)
    code, said, _ = imported(folder)
    assert code == 2
    assert "another sample_hash" in said
    assert "line 1" in said


def test_an_error_is_an_empty_outcome(imported, folder):
    """A timeout says nothing of the answer."""
    written(
        folder / "e_samples.jsonl",
        [instance("late", n, n > 0, error=None if n else "timeout") for n in range(4)],
    )
    code, said, rows = imported(folder)
    assert code == 0
    assert [row["outcome"] for row in rows if row["model"] == "lab/late"] == ["", "1.0", "1.0", "1.0"]
    assert "1 answer has no judgement" in said


def test_two_evaluations_of_one_model_are_refused_or_the_last_is_taken(imported, folder):
    """By the option that the message names."""
    again = [instance("small", n, True, evaluation_id="gsm8k/small/1770000000") for n in range(4)]
    written(folder / "again_samples.jsonl", again)
    code, said, _ = imported(folder)
    assert code == 2
    assert "pass --runs last" in said
    code, _, rows = imported(folder, "--runs", "last")
    assert code == 0
    assert [row["outcome"] for row in rows if row["model"] == "lab/small"] == ["1.0"] * 4


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"model_id": "m"}', '{"evaluation": {"score": 1}, "model_id": "m"}']
)
def test_what_is_no_instance_is_refused_with_its_line(imported, tmp_path, text):
    """One message."""
    (tmp_path / "bad.jsonl").write_text(f"\n{text}\n", encoding="utf-8")
    code, said, _ = imported(tmp_path / "bad.jsonl")
    assert code == 2
    assert "line 2" in said
    assert len(said.splitlines()) == 1


def test_instances_among_predictions_name_the_import(folder, capsys):
    """And the command that the message names works."""
    assert main(["check", str(folder / "gsm8k/lab/small/u_samples.jsonl")]) == 2
    assert "evalreport import every-eval-ever" in capsys.readouterr().err
