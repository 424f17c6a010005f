"""The column attempt: several answers of one model to one question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

ROWS = """id,attempt,outcome,topic,seconds
q1,1,1,sums,3
q1,2,0,sums,4
q2,1,1,words,5
q2,2,1,words,6
"""


def written(folder: Path, **models: str) -> Path:
    """Write a file for each model."""
    for name, text in models.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def outcomes(predictions: Predictions) -> list[list[float]]:
    """Return each model's outcomes by question."""
    return [np.asarray(model.outcome).tolist() for model in predictions.models]


def test_outcomes_are_averaged_by_question(tmp_path: Path) -> None:
    """One row a question; what differs between its attempts is left out and said, what does not stays."""
    found = load(written(tmp_path, a=ROWS))
    assert (found.design, found.n, found.ids.to_pylist()) == ("test-set", 2, ["q1", "q2"])
    assert outcomes(found) == [[0.5, 1.0]]
    assert found.models[0].attempts is not None
    assert found.models[0].attempts.count.tolist() == [2, 2]
    assert found.models[0].attempts.passed.tolist() == [1, 2]
    assert found.models[0].attempts.spread.tolist() == [0.5, 0]
    assert set(found.metadata) == {"topic"}
    assert [w.about for w in found.warnings if w.code == "column_differs_between_attempts"] == [("seconds",)]
    assert "2 at each question" in [str(r.value) for r in found.found if r.what == "attempts"]


def test_epoch_is_attempt(tmp_path: Path) -> None:
    """The alias, in one file of all models whose rows are shuffled."""
    lines = ["system,doc_id,epoch,correct"]
    lines += ["b,q2,1,0", "a,q1,2,0", "b,q1,1,1", "a,q2,1,1", "a,q1,1,1", "b,q1,2,1", "a,q2,2,1", "b,q2,2,0"]
    path = written(tmp_path, all="\n".join(lines) + "\n")
    assert outcomes(load(path)) == [[0.5, 1.0], [1.0, 0.0]]


def test_attempts_may_stand_in_files_of_their_own(tmp_path: Path) -> None:
    """One run a file, with the model in a column."""
    one, two = ("model,id,attempt,outcome\n" + "".join(f"a,q{q},{n},{v}\n" for q, v in enumerate(values))
                for n, values in ((1, (1, 0)), (2, (1, 1))))  # fmt: skip
    assert outcomes(load(written(tmp_path, first=one, second=two))) == [[1.0, 0.5]]


FRAME = pd.DataFrame(
    {"id": ["q1", "q1", "q2", "q2"], "attempt": [1, 2, 1, 2], "outcome": [1.0, 0.0, 1.0, 1.0]}
)


@pytest.mark.parametrize(
    "source",
    [
        {"a": FRAME},
        {"a": FRAME.set_index(["id", "attempt"])},
        {"a": pl.from_pandas(FRAME)},
        {"a": pa.Table.from_pandas(FRAME)},
        {"a": {name: FRAME[name].to_numpy() for name in FRAME}},
        FRAME.assign(model="a"),
    ],
    ids=["pandas", "index", "polars", "pyarrow", "arrays", "model column"],
)
def test_frames_and_arrays_of_every_kind(source: Any) -> None:
    """The column means the same wherever it stands."""
    assert outcomes(load(source)) == [[0.5, 1.0]]


def test_data_in_memory_are_told_apart_by_their_attempts() -> None:
    """One of two passed, or two of four: the same outcome, other data, and so another digest."""
    two = {"id": ["q"] * 2 + ["r"], "attempt": [1, 2, 1], "outcome": [1, 0, 1]}
    four = {"id": ["q"] * 4 + ["r"], "attempt": [1, 2, 3, 4, 1], "outcome": [1, 0, 1, 0, 1]}
    first, second = load({"a": two}), load({"a": four})
    assert outcomes(first) == outcomes(second)
    assert first.inputs[0].sha256 != second.inputs[0].sha256


def test_attempts_of_one_question_only_is_metadata(tmp_path: Path) -> None:
    """Where nothing is answered twice the column is one like any other, under its own name."""
    found = load(
        written(tmp_path, a="id,epoch,outcome\nq1,3,1\nq2,3,0\nq3,4,0\n"), options=Options(slices=("epoch",))
    )
    assert found.models[0].attempts is None
    assert "epoch" in found.metadata
    assert not any(r.what == "attempts" for r in found.found)


def test_models_with_and_without_attempts_stand_beside_each_other(tmp_path: Path) -> None:
    """A model that answered once has one attempt; that they differ is said."""
    found = load(written(tmp_path, a=ROWS, b="id,outcome\nq2,0\nq1,1\n"))
    assert outcomes(found) == [[0.5, 1.0], [1.0, 0.0]]
    assert [m.attempts.count.tolist() for m in found.models if m.attempts is not None] == [[2, 2], [1, 1]]
    assert [w.level for w in found.warnings if w.code == "unlike_attempts"] == ["info"]


def test_questions_that_only_some_models_have(tmp_path: Path) -> None:
    """Refused, or left out by --join intersect, as examples are."""
    folder = written(tmp_path, a=ROWS, b="id,attempt,outcome\nq1,1,0\nq1,2,0\n")
    with pytest.raises(InputError, match="lacks 1 of 2 ids"):
        load(folder)
    found = load(folder, options=Options(join="intersect"))
    assert outcomes(found) == [[0.5], [0.0]]
    assert [m.attempts.count.tolist() for m in found.models if m.attempts is not None] == [[2], [2]]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ("q1,1,1,x\nq1,1,0,x\n", {}, "line 3, column 'attempt': the id 'q1' appears twice for the model 'a'"),
        ("q1,,1,x\nq1,,0,x\n", {}, "line 3, column 'attempt': .* with the same attempt"),
        (
            "q1,1,1,x\nq1,2,0,y\n",
            {"cluster": "topic"},
            "line 3, column 'topic': 'y' is not what another attempt",
        ),
        (
            "q1,1,1,x\nq1,2,0,y\n",
            {"slices": ("topic",)},
            "line 3, column 'topic': 'y' is not what another attempt",
        ),
        ("q1,1,1,x\nq1,2,,x\n", {}, "line 3, column 'outcome': the cell is empty"),
        ("q1,1,1,x\nq1,2,so-so,x\n", {}, "line 3, column 'outcome': 'so-so' is no outcome"),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, rows: str, options: dict[str, Any], said: str) -> None:
    """Rows that are merged still know their lines."""
    rows = rows + "q2,1,1,x\nq2,2,1,x\n"
    folder = written(tmp_path, a=f"id,attempt,outcome,topic\n{rows}")
    with pytest.raises(InputError, match=said):
        load(folder, options=Options(**options))


def test_clusters_must_agree_between_models(tmp_path: Path) -> None:
    """As without attempts."""
    folder = written(tmp_path, a=ROWS, b=ROWS.replace("words", "rhymes"))
    with pytest.raises(UsageError, match="topic"):
        load(folder, options=Options(cluster="topic"))


GAPS = """id,attempt,outcome
q1,1,1
q1,2,
q2,1,0
q2,2,1
q3,1,
q3,2,
"""


def test_missing_attempts_are_left_out_or_wrong(tmp_path: Path) -> None:
    """drop: the attempt, and for every model a question without any; wrong: 0. Each is said with how many."""
    folder = written(tmp_path, a=GAPS, b="id,attempt,outcome\nq1,1,1\nq2,1,1\nq3,1,1\n")
    with pytest.raises(InputError, match="line 3, column 'outcome': the cell is empty"):
        load(folder)
    dropped = load(folder, options=Options(missing="drop"))
    assert outcomes(dropped) == [[1.0, 0.5], [1.0, 1.0]]
    assert [m.attempts.count.tolist() for m in dropped.models if m.attempts is not None] == [[1, 2], [1, 1]]
    texts = {w.code: str(w.text) for w in dropped.warnings}
    assert texts["attempts_left_out"].startswith("3 of 9 attempts have no outcome")
    assert texts["missing_left_out"].startswith("One of 3 examples is left out for every model")
    wrong = load(folder, options=Options(missing="wrong"))
    assert outcomes(wrong) == [[0.5, 0.5, 0.0], [1.0, 1.0, 1.0]]
    assert "a: 3" in {w.code: str(w.text) for w in wrong.warnings}["missing_is_wrong"]
    graded = written(tmp_path, a=GAPS.replace("q2,2,1", "q2,2,1.5"))
    with pytest.raises(UsageError, match="--missing wrong: the outcomes go beyond 0 and 1"):
        load(graded, options=Options(missing="wrong"))


def test_labels_keep_a_row_an_answer(tmp_path: Path) -> None:
    """Labels are not averaged: rows, told apart by the number of the attempt; the truth must agree by question."""
    head = "id,attempt,y_true,y_pred\n"
    folder = written(tmp_path, a=head + "q1,7,x,x\nq1,3,x,y\nq2,1,y,y\nq2,2,y,y\n",
                     b=head + "q1,1,x,x\nq1,2,x,x\nq2,1,y,x\nq2,2,y,x\n")  # fmt: skip
    found = load(folder)
    assert (found.design, found.n, found.n_examples) == ("test-set", 4, 2)
    assert found.keys["attempt"].categories == ("1", "2")
    assert found.models[0].y_pred is not None
    assert found.models[0].y_pred.tolist() == [1, 0, 1, 1]  # attempt 3 of q1 stands before 7
    with pytest.raises(InputError, match="the true values of the id 'q1' disagree"):
        load(written(tmp_path, b=head + "q1,1,x,x\nq1,2,y,x\nq2,1,y,x\nq2,2,y,x\n"))
