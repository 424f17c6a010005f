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
