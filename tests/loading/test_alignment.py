"""Rows are joined on ids, never on their order; whatever does not fit is an error or is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.loading.alignment import _pack
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Predictions

Write = Callable[[str, str], Path]

HEAD = "id,y_true,y_pred\n"


@pytest.fixture
def two(write: Write) -> Callable[[str, str], Path]:
    """Write two models' files and return their folder."""

    def _two(a: str, b: str) -> Path:
        write("models/a.csv", HEAD + a)
        return write("models/b.csv", HEAD + b).parent

    return _two


def test_rows_are_matched_by_id(two: Callable[[str, str], Path]) -> None:
    """Files in different orders of rows are aligned, and ids sort by code point."""
    predictions = load(two("b,0,1\na,1,1\nB,0,0\n", "a,1,0\nB,0,1\nb,0,0\n"))
    assert predictions.ids.to_pylist() == ["B", "a", "b"]
    assert predictions.example.tolist() == [0, 1, 2]
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [0, 1, 0]
    assert [m.y_pred.tolist() for m in predictions.models if m.y_pred is not None] == [[0, 1, 1], [1, 0, 0]]
    assert all(m.present is None for m in predictions.models)


def test_missing_ids_are_an_error_that_names_file_and_counts(two: Callable[[str, str], Path]) -> None:
    """An inner join would hide that one model skipped its hard cases."""
    folder = two("1,1,1\n2,0,1\n3,1,1\n4,1,0\n5,1,1\n", "1,1,1\n")
    with pytest.raises(InputError) as caught:
        load(folder)
    error = caught.value
    assert Path(error.file or "").name == "b.csv"
    assert error.column == "id"
    assert "'b' lacks 4 of 5 ids" in error.problem
    assert "'2', '3', '4', ..." in error.problem
    assert "a.csv" in error.problem
    assert "1 are shared by all" in error.problem
    assert "--join intersect" in (error.remedy or "")


def test_missing_fits_are_named_with_the_id(write: Write) -> None:
    """In cross-validation what is missing is an id of a fold."""
    write("models/a.csv", "id,fold,y_true,y_pred\n1,1,1,1\n2,2,0,1\n")
    folder = write("models/b.csv", "id,fold,y_true,y_pred\n1,1,1,1\n2,1,0,1\n").parent
    with pytest.raises(InputError, match=r"'a' lacks 1 of 3 rows of the others, first '2' \(fold 1\)"):
        load(folder)


def test_intersect_keeps_what_all_models_have_and_says_so(two: Callable[[str, str], Path]) -> None:
    """--join intersect compares on the shared ids; the counts before and after are said."""
    predictions = load(
        two("1,1,1\n2,0,1\n3,1,1\n", "3,1,0\n2,0,0\n4,0,0\n"), options=Options(join="intersect")
    )
    assert predictions.ids.to_pylist() == ["2", "3"]
    assert predictions.n == 2
    (said,) = [record for record in predictions.found if record.what == "join"]
    assert said.value == "intersect"
    assert "2 rows that every model has, of a 3, b 3" in said.why


def test_nothing_to_intersect_is_an_error(two: Callable[[str, str], Path]) -> None:
    """Models without a single shared id cannot be paired."""
    with pytest.raises(InputError, match="0 are shared"):
        load(two("1,1,1\n", "2,0,1\n"), options=Options(join="intersect"))


def test_independent_models_have_rows_of_their_own(two: Callable[[str, str], Path]) -> None:
    """--join independent: the same id in two files is two examples, and truths may differ."""
    predictions = load(two("1,1,1\n2,0,1\n", "2,1,0\n7,0,0\n"), options=Options(join="independent"))
    assert predictions.ids.to_pylist() == ["1", "2", "7"]
    assert predictions.example.tolist() == [0, 1, 1, 2]
    a, b = predictions.models
    assert a.present is not None
    assert b.present is not None
    assert a.present.tolist() == [True, True, False, False]
    assert (a.present ^ b.present).all()
    assert a.y_pred is not None
    assert a.y_pred.tolist() == [1, 1, -1, -1]
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [1, 0, 1, 0]


def test_independent_probabilities_are_empty_where_absent(write: Write) -> None:
    """A model's arrays hold nan in the rows of the others, and thresholds do not touch them."""
    write("models/a.csv", "id,y_true,p_1\n1,1,.9\n2,0,.2\n")
    folder = write("models/b.csv", "id,y_true,p_1\n3,1,.7\n").parent
    a, b = load(folder, options=Options(join="independent")).models
    assert a.score is not None
    assert b.proba is not None
    np.testing.assert_array_equal(a.score, [0.9, 0.2, np.nan])
    np.testing.assert_array_equal(b.proba[:2], np.full((2, 2), np.nan))
    assert b.y_pred is not None
    assert b.y_pred.tolist() == [-1, -1, 1]


def test_the_same_model_in_two_files_names_both(write: Write) -> None:
    """a.csv and a.parquet, or a column model that repeats a file's name, are not merged."""
    write("models/a.csv", HEAD + "1,1,1\n")
    folder = write("models/b.csv", "id,model,y_true,y_pred\n1,a,1,1\n").parent
    with pytest.raises(InputError, match=r"'a' is in .*a\.csv and in .*b\.csv") as caught:
        load(folder)
    assert "rename" in (caught.value.remedy or "")


def test_a_row_twice_names_both_places(write: Write) -> None:
    """The message gives the line of the second row and, in it, that of the first."""
    with pytest.raises(InputError, match="line 2") as caught:
        load(write("m.csv", HEAD + "1,1,1\n2,1,1\n1,1,0\n2,1,0\n"))
    assert caught.value.line == 4
    assert "first of 2" in caught.value.problem


def test_rows_without_ids_are_numbered_only_for_one_model(write: Write) -> None:
    """One model in one file needs no join; that its rows were numbered is said."""
    predictions = load(write("m.csv", "y_true,y_pred\n" + "1,1\n" * 11))
    assert predictions.ids.to_pylist() == [f"{i:02d}" for i in range(11)]
    assert "ids" in [record.what for record in predictions.found]
    folder = write("n.csv", "y_true,y_pred\n" + "1,1\n" * 11).parent
    with pytest.raises(InputError, match="no column 'id'"):
        load(folder)


def test_models_are_ordered_by_name(write: Write) -> None:
    """Not by the order of files."""
    paths = [write(f"{name}.csv", HEAD + "1,1,1\n2,0,0\n") for name in ("b", "a", "C")]
    assert [m.name for m in load(paths).models] == ["C", "a", "b"]


def test_packing_keeps_the_order_when_codes_are_many() -> None:
    """Nine key columns of a thousand values each do not overflow 64 bits: the order stays that of the columns."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 1000, 500) for _ in range(9)]
    packed = _pack([(column.astype(np.int64), 1000) for column in columns])
    expected: Any = np.lexsort(columns[::-1])
    np.testing.assert_array_equal(np.argsort(packed, kind="stable"), expected)


def test_predictions_are_the_same_type(write: Write) -> None:
    """The documented types hold, whatever the source."""
    p: Predictions = load(write("m.csv", "id,y_true,y_pred,p_1\n1,1,1,.5\n2,0,1,.7\n"))
    model = p.models[0]
    assert p.y_true is not None
    assert model.y_pred is not None
    assert model.proba is not None
    assert model.score is not None
    assert (p.y_true.dtype, model.y_pred.dtype, p.example.dtype) == (np.int32, np.int32, np.int64)
    assert (model.score.dtype, model.proba.shape, model.score.flags.c_contiguous) == (
        np.float64,
        (2, 2),
        True,
    )
