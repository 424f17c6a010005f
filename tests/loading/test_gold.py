"""The column gold: from files, frames and arrays, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options


def told(content: str, folder: Path, **options: str) -> str:
    """Return what loading a file of this content is refused with."""
    path = folder / "judged.csv"
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        load(path, options=Options(**options))  # type: ignore[arg-type]
    return str(refused.value)


def test_files_frames_and_arrays_give_the_same(tmp_path: Path) -> None:
    """Empty cells, None and NaN are rows that nobody judged; true and false are 1 and 0; human is another name."""
    (tmp_path / "a.csv").write_text("id,outcome,human\nx,1,true\ny,0,\nz,1,False\n")
    frame = pd.DataFrame({"outcome": [1, 0, 1], "gold": [1.0, None, 0.0]}, index=["x", "y", "z"])
    arrays = {"id": ["x", "y", "z"], "outcome": np.array([1, 0, 1]), "gold": [1, None, 0]}
    for source in (tmp_path / "a.csv", {"a": frame}, {"a": arrays}):
        (model,) = load(source).models
        np.testing.assert_array_equal(model.gold, [1.0, np.nan, 0.0])
        np.testing.assert_array_equal(model.outcome, [1.0, 0.0, 1.0])


def test_a_model_without_gold_stands_beside_others(tmp_path: Path) -> None:
    """One file has the column, the other has not, or leaves it empty: that model has no human outcomes."""
    (tmp_path / "a.csv").write_text("id,outcome,gold\nx,1,1\ny,0,\n")
    (tmp_path / "b.csv").write_text("id,outcome\nx,1\ny,0\n")
    assert [model.gold is None for model in load(tmp_path).models] == [False, True]


def test_a_cell_of_gold_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """With file, line and column, and that an empty cell means nobody judged it."""
    said = told("id,outcome,gold\nx,1,1\ny,0,maybe\n", tmp_path)
    assert "line 3, column 'gold': 'maybe' is not a finite number" in said
    assert "leave the cell empty where no person judged" in said


@pytest.mark.parametrize("content", ["id,y_true,y_pred,gold\nx,1,1,1\n", "id,gold\nx,1\n"])
def test_gold_without_outcome_is_refused(content: str, tmp_path: Path) -> None:
    """Whether it holds true labels or human judgements, the message says what to do."""
    said = told(content, tmp_path)
    assert "stands without outcome" in said
    assert "rename gold to y_true" in said


def test_human_without_outcome_is_metadata(tmp_path: Path) -> None:
    """The other name counts only beside a judge's outcome."""
    path = tmp_path / "a.csv"
    path.write_text("id,y_true,y_pred,human\nx,1,1,yes\ny,0,1,no\n")
    assert "human" in load(path).metadata


def test_a_label_on_one_attempt_counts_for_that_attempt(tmp_path: Path) -> None:
    """By hand: the judge's mean over all attempts, plus the label less the judge's outcome of its attempt."""
    rows = [
        "a,1,1,0",
        "a,2,1,",
        "a,3,0,",
        "b,1,1,1",
        "b,2,0,",
        "b,3,0,",
        "c,1,1,",
        "c,2,1,",
        "c,3,1,",
        "d,1,0,0",
        "d,2,1,1",
        "d,3,1,1",
    ]
    path = tmp_path / "m.csv"
    path.write_text("id,attempt,outcome,gold\n" + "\n".join(rows) + "\n")
    read = load(path)
    (model,) = read.models
    np.testing.assert_allclose(model.outcome, [2 / 3, 1 / 3, 1, 2 / 3])
    np.testing.assert_allclose(model.gold, [2 / 3 + 0 - 1, 1 / 3 + 1 - 1, np.nan, 2 / 3])
    np.testing.assert_allclose(model.by_people, [0, 1, np.nan, 2 / 3])
    np.testing.assert_allclose(model.by_judge, [1, 1, np.nan, 2 / 3])
    assert [str(r.value) for r in read.found if r.what == "gold"] == [
        "2 questions of which people judged some attempts"
    ]


def test_labels_on_one_of_three_attempts_give_what_people_would_say(tmp_path: Path) -> None:
    """Agreement is that of the attempts with a label, by hand; the interval of PPI++ holds the mean that was drawn."""
    import evalreport as er

    rng = np.random.default_rng(3)
    lines, both = ["id,attempt,outcome,gold"], []
    for question in range(200):
        chance = rng.random()
        for attempt in range(3):
            right = rng.random() < chance
            judged = right if rng.random() < 0.85 else not right
            labelled = attempt == 1 and question < 60
            both += [(judged, right)] if labelled else []
            lines.append(f"q{question:03d},{attempt},{int(judged)},{int(right) if labelled else ''}")
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n")
    results = er.evaluate(tmp_path / "m.csv", resamples=50)
    (agreement,) = results.judge_agreement
    assert agreement.n_gold == 60
    assert agreement.agreement == pytest.approx(np.mean([a == b for a, b in both]), abs=1e-12)
    (estimate,) = results.judge_estimates
    assert estimate.human == pytest.approx(np.mean([b for _, b in both]), abs=1e-12)
    assert estimate.low < 0.5 < estimate.high
