"""Sums by unit in files: which columns they are, labels, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError, UsageError

HEAD = "id,model,tp,fp,fn\n"


def loaded(tmp_path: Path, text: str, **options: Any) -> Any:
    """Loaded."""
    path = tmp_path / "sums.csv"
    path.write_text(text)
    return er.load(path, **options)


def refused(tmp_path: Path, text: str, **options: Any) -> str:
    """Refused."""
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, text, **options)
    return str(caught.value)


def test_columns_of_counts_are_the_task_sums_in_any_case(tmp_path: Path) -> None:
    """Columns of counts are the task sums in any case."""
    found = loaded(tmp_path, "id,TP,FP,FN,TN,source\na,1,0,2,5,web\nb,0.5,1,0,3,news\n")
    assert found.task == "sums"
    (model,) = found.models
    assert sorted(model.numbers) == ["fn", "fp", "tn", "tp"]
    assert list(model.numbers["tp"]) == [1.0, 0.5]
    assert list(found.metadata) == ["source"]


def test_errors_in_a_total_are_sums_too(tmp_path: Path) -> None:
    """Errors in a total are sums too."""
    found = loaded(tmp_path, "id,errors,total\na,1,10\nb,12,10\n")
    assert (found.task, sorted(found.models[0].numbers)) == ("sums", ["errors", "total"])


def test_counts_beside_predictions_are_metadata_unless_the_task_is_named(tmp_path: Path) -> None:
    """Counts beside predictions are metadata unless the task is named."""
    text = "id,y_true,y_pred,tp,fp,fn\na,x,x,1,0,0\nb,y,x,0,1,1\n"
    assert loaded(tmp_path, text).task == "binary"
    assert loaded(tmp_path, text, task="sums").task == "sums"


def test_labels_of_a_unit_become_one_row_and_absent_ones_count_0(tmp_path: Path) -> None:
    """Labels of a unit become one row and absent ones count 0."""
    text = "id,label,tp,fp,fn\nd2,ORG,1,0,0\nd1,PER,2,1,0\nd1,ORG,3,0,1\n"
    found = loaded(tmp_path, text)
    assert found.classes == ("ORG", "PER")
    assert list(found.ids.to_pylist()) == ["d1", "d2"]
    numbers = found.models[0].numbers
    assert list(numbers["tp@0"]) == [3.0, 1.0]
    assert list(numbers["tp@1"]) == [2.0, 0.0]


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    """The order of rows changes nothing."""
    text = "id,model,label,tp,fp,fn\n"
    lines = [
        f"d{unit},{model},{label},{unit + len(label)},{unit},0"
        for unit in range(4)
        for label in ("A", "BB")
        for model in ("m", "n")
    ]
    one = loaded(tmp_path, text + "\n".join(lines) + "\n")
    other = loaded(tmp_path, text + "\n".join(reversed(lines)) + "\n")
    for a, b in zip(one.models, other.models, strict=True):
        for name in a.numbers:
            assert np.array_equal(a.numbers[name], b.numbers[name])


def test_a_negative_sum_is_refused_with_its_line_and_column(tmp_path: Path) -> None:
    """A negative sum is refused with its line and column."""
    message = refused(tmp_path, f"{HEAD}a,m,1,0,1\nb,m,-1,0,1\n")
    assert "sums.csv, line 3, column 'tp': " in message
    assert "is below 0" in message


def test_unlike_sums_of_the_truth_are_refused_with_both_lines(tmp_path: Path) -> None:
    """Unlike sums of the truth are refused with both lines."""
    message = refused(tmp_path, f"{HEAD}a,m,1,0,1\na,n,1,0,2\n")
    assert "line 3" in message
    assert "line 2" in message
    assert "tp + fn" in message
    assert "'n'" in message


def test_a_label_that_one_model_lacks_must_not_be_in_the_truth(tmp_path: Path) -> None:
    """A label that one model lacks must not be in the truth."""
    head = "id,model,label,tp,fp,fn\n"
    assert loaded(tmp_path, f"{head}a,m,X,1,0,1\na,m,Y,0,2,0\na,n,X,2,0,0\n").task == "sums"
    assert "tp + fn" in refused(tmp_path, f"{head}a,m,X,1,0,1\na,m,Y,1,2,0\na,n,X,2,0,0\n")


def test_a_unit_in_one_model_only_is_refused(tmp_path: Path) -> None:
    """A unit in one model only is refused."""
    assert "b" in refused(tmp_path, f"{HEAD}a,m,1,0,1\nb,m,1,0,1\na,n,1,0,1\n")


def test_a_label_twice_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    """A label twice and an empty one are refused."""
    head = "id,label,tp,fp,fn\n"
    assert "line 3" in refused(tmp_path, f"{head}a,X,1,0,1\na,X,1,0,1\n")
    assert "the label is empty" in refused(tmp_path, f"{head}a,X,1,0,1\na,,1,0,1\n")


def test_a_column_of_slices_that_differs_within_a_unit_is_refused_where_it_is_named(tmp_path: Path) -> None:
    """A column of slices that differs within a unit is refused where it is named."""
    text = "id,label,tp,fp,fn,page\na,X,1,0,1,1\na,Y,1,0,1,2\nb,X,1,0,1,1\n"
    assert "page" not in loaded(tmp_path, text).metadata
    assert "line 3" in refused(tmp_path, text, slices=["page"])


def test_an_empty_cell_is_refused_or_dropped(tmp_path: Path) -> None:
    """An empty cell is refused or dropped."""
    text = f"{HEAD}a,m,1,0,1\nb,m,,0,1\nc,m,2,1,0\n"
    assert "line 3, column 'tp'" in refused(tmp_path, text)
    assert loaded(tmp_path, text, missing="drop").n == 2


def test_a_wide_table_of_sums_is_refused_with_the_reason(tmp_path: Path) -> None:
    """A wide table of sums is refused with the reason."""
    assert "--wide" in refused(tmp_path, "id,tp,fp,fn\na,1,0,1\n", wide=True)


def test_files_with_unlike_sums_are_refused(tmp_path: Path) -> None:
    """Files with unlike sums are refused."""
    (tmp_path / "m.csv").write_text("id,tp,fp,fn\na,1,0,1\n")
    (tmp_path / "n.csv").write_text("id,tp,fp,fn,tn\na,1,0,1,3\n")
    with pytest.raises(InputError, match="there is no column 'tn'"):
        er.load(tmp_path)


def test_the_task_sums_without_its_columns_is_refused(tmp_path: Path) -> None:
    """The task sums without its columns is refused."""
    assert "tp, fp, fn" in refused(tmp_path, "id,y_true,y_pred\na,1,0\n", task="sums")


def test_a_macro_average_needs_labels(tmp_path: Path) -> None:
    """A macro average needs labels."""
    loaded(tmp_path, f"{HEAD}a,m,1,0,1\nb,m,1,0,1\n")
    with pytest.raises(UsageError, match="column label"):
        er.evaluate(tmp_path / "sums.csv", metrics=["f1_macro"])
