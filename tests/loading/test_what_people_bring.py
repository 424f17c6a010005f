"""Files and objects as other programs write them: indexes, lists, wide tables, arrays, scores of folds."""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.predictions.table import Predictions
from tests.samples.cases import crossed, every
from tests.samples.prediction_files import Write
from tests.samples.same_table import FORMS, in_form
from tests.samples.workbook import write_workbook

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
Content = Callable[[Predictions], dict[str, Any]]
TABLE: dict[str, list[Any]] = {"y_true": [0, 1, 1, 0, 1, 0], "y_pred": [0, 1, 0, 0, 1, 1]}


def said(read: Predictions, what: str) -> list[str]:
    """Return what was found under a name."""
    return [str(record.value) for record in read.found if record.what == what]


def test_an_unnamed_index_is_the_id(tmp_path: Path) -> None:
    """Of pandas' ``to_csv``, read again or not, matched between files in any order, and said once."""
    frame = pd.DataFrame(TABLE, index=list("abcdef"))
    (tmp_path / "models").mkdir()
    frame.to_csv(tmp_path / "models/a.csv")
    frame.iloc[::-1].to_csv(tmp_path / "models/b.csv")
    pd.read_csv(tmp_path / "models/a.csv").to_csv(tmp_path / "models/c.csv", index=False)
    frame.reset_index(names="__index_level_0__").to_parquet(tmp_path / "models/d.parquet")
    read = er.load(tmp_path / "models")
    assert read.ids.to_pylist() == list("abcdef")
    assert said(read, "ids") == ["the column without a name"]


def test_an_unnamed_column_that_repeats_is_no_id(write: Write) -> None:
    """Two files with such a column are refused; R's users get R's remedy, too."""
    write("models/a.csv", ",y_true,y_pred\n0,1,1\n0,0,0\n")
    folder = write("models/b.csv", ",y_true,y_pred\n0,1,1\n0,0,0\n").parent
    with pytest.raises(InputError, match=r"do not tell a model's rows apart.*rename_axis.*rownames"):
        er.load(folder)


def test_rows_numbered_through_over_all_models_are_no_examples(write: Write) -> None:
    """A frame of all models with its default index."""
    path = write("all.csv", ",model,y_true,y_pred\n0,a,1,1\n1,a,0,0\n2,b,1,1\n3,b,0,0\n")
    with pytest.raises(InputError, match="do not tell a model's rows apart"):
        er.load(path)


@pytest.mark.parametrize("separator, name", [(",", "m.csv"), ("\t", "m.tsv"), (";", "m.csv")])
def test_r_leaves_out_the_name_of_its_row_names(separator: str, name: str, write: Write) -> None:
    """``write.table(frame, sep=...)``: the header is one name short."""
    rows = [["id1", "0", '"x"'], ["id2", "1", '"y"'], ["id3", "1", '"y"']]
    lines = ['"y_true"' + separator + '"site"' + separator + '"y_pred"']
    lines += [f'"{own}"{separator}{label}{separator}{site}{separator}{label}' for own, label, site in rows]
    read = er.load(write(name, "\n".join(lines) + "\n"))
    assert read.ids.to_pylist() == ["id1", "id2", "id3"]
    assert list(read.metadata) == ["site"]


def test_a_comma_at_the_end_of_each_row_names_nothing(write: Write) -> None:
    """Its rows have a cell more than the header, which is empty."""
    read = er.load(write("m.csv", "id,y_true,y_pred\na,1,1,\nb,0,0,\n"))
    assert read.ids.to_pylist() == ["a", "b"]


def test_semicolons_and_decimal_commas_are_read_and_said(write: Write) -> None:
    """As R's ``write.csv2`` and Excel in half of Europe write them; thousands in the file are no decimals."""
    path = write("m.csv", '"";"y_true";"y_pred";"age"\n"1";1,5;1,25;30\n"2";2;2,5;41,5\n"3";1234,5;1000;NA\n')
    read = er.load(path)
    assert read.task == "regression"
    assert read.y_true is not None
    assert read.y_true.tolist() == [1.5, 2, 1234.5]
    assert (said(read, "separator"), said(read, "decimal mark")) == ([";"], [","])
    with pytest.raises(InputError, match="'1,234' is not a finite number"):
        er.load(write("m.csv", 'id,y_true,score\na,1,"1,234"\nb,0,"2,345"\n'))
    points = er.load(write("m.csv", "id;y_true;y_pred\na;1.5;1.25\nb;2.5;2\n"))
    assert said(points, "decimal mark") == []


@pytest.mark.parametrize(
    ("name", "separator", "remedy"),
    [
        ("m.csv", "\t", "call the file m.tsv"),
        ("m.csv", "|", "with commas"),
        ("m.tsv", ",", "call the file m.csv"),
    ],
)
def test_a_separator_that_the_name_does_not_say_is_named(
    write: Write, name: str, separator: str, remedy: str
) -> None:
    """``to_csv`` of pandas with tabs in a .csv; a file that was renamed."""
    rows = ("id", "y_true", "y_pred"), ("a", "1", "1"), ("b", "0", "1")
    with pytest.raises(InputError, match=f"Fix: .*{remedy}"):
        er.load(write(name, "\n".join(map(separator.join, rows)) + "\n"))


def test_decimal_commas_between_commas_are_told(write: Write) -> None:
    """Excel's numbers with commas as separators: the row has a cell more for each of them."""
    with pytest.raises(InputError, match=r"line 2: the row has 5 cells.*decimal comma need semicolons"):
        er.load(write("m.csv", "id,y_true,y_pred\na,1,5,1,25\nb,2,0,2,5\n"))
    with pytest.raises(InputError, match="the row has 4 cells") as refused:
        er.load(write("m.csv", "id,y_true,y_pred\na,spam,1,ham\nb,ham,ham\n"))
    assert "decimal comma" not in str(refused.value)


@pytest.mark.parametrize("above", ["# made by me\n", "My results,,\n", "My results,,\n\n"])
def test_lines_above_the_header_are_to_be_taken_away(write: Write, above: str) -> None:
    """A remark, or the title of a spreadsheet."""
    with pytest.raises(InputError, match="take away the lines above it"):
        er.load(write("m.csv", f"{above}id,y_true,y_pred\na,1,1\nb,0,1\n"))


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ("e0,spam,spam", "the header names this column twice"),
        ("e0,0,1", "no usable column among 'e0', '0', '1'"),
        ("1,1,0.5", "no usable column among '1', '1', '0.5'"),
    ],
)
def test_a_file_without_a_header_is_told_to_begin_with_one(write: Write, first: str, problem: str) -> None:
    """Its first row stands where the names should."""
    with pytest.raises(InputError, match=rf"{problem}.*begin the file with a line of names"):
        er.load(write("m.csv", f"{first}\ne1,ham,spam\n"))


def test_a_header_that_names_a_column_twice_is_no_row(write: Write) -> None:
    """Where one of its names is known, nothing is said of a header that is missing."""
    with pytest.raises(InputError, match="names this column twice") as refused:
        er.load(write("m.csv", "id,y_true,y_pred,site,site\na,1,1,x,x\n"))
    assert "first line is" not in str(refused.value)


def test_a_first_line_that_tells_excel_the_separator(write: Write) -> None:
    """``sep=;`` is no header, and lines are counted with it."""
    read = er.load(write("m.csv", "sep=;\nid;y_true;p_1\na;1;0,75\nb;0;0,5\n"))
    assert read.ids.to_pylist() == ["a", "b"]
    with pytest.raises(InputError, match="line 4: the row has 4 cells"):
        er.load(write("m.csv", "sep=;\nid;y_true;y_pred\na;1;1\nb;0;0;9\n"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_lists_of_unlike_lengths_are_refused_as_such(suffix: str, tmp_path: Path) -> None:
    """Not as a file without predictions."""
    table = {"id": ["a", "b"], "y_true": [0, 1], "y_prob": [[0.5, 0.5], [1.0]]}
    path = tmp_path / f"m.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(table), path)
    elif suffix == "csv":
        pd.DataFrame(table).to_csv(path, index=False)
    else:
        pd.DataFrame(table).to_json(path, orient="records", lines=True)
    with pytest.raises(InputError, match="lists of probabilities, of unlike lengths"):
        er.load(path)


def test_a_semicolon_in_a_file_of_commas_is_text(write: Write) -> None:
    """Where commas separate, nothing else does."""
    read = er.load(write("m.csv", 'id,y_true,y_pred,note\n"a;1",1,1,x;y\nb,0,0,z\n'))
    assert read.ids.to_pylist() == ["a;1", "b"]


@pytest.mark.parametrize("form", every(3, FORMS))
@pytest.mark.parametrize("change", [str.upper, str.title])
def test_names_of_columns_in_capitals(
    form: str, change: Callable[[str], str], tmp_path: Path, content: Content
) -> None:
    """As databases write them."""
    table = {"id": list("abcdef"), **TABLE, "p_1": [0.25, 0.75, 0.5, 0.125, 0.875, 0.625]}
    named = {change(name): values for name, values in table.items()}
    read = er.load(in_form(form, named, tmp_path))
    assert content(read) == content(er.load({"m": table}))


def test_the_exact_name_keeps_its_meaning(write: Write) -> None:
    """A column ID beside id is metadata, as it always was."""
    read = er.load(write("m.csv", "ID,id,y_true,y_pred\nx,a,1,1\ny,b,0,0\n"))
    assert read.ids.to_pylist() == ["a", "b"]
    assert list(read.metadata) == ["ID"]


def test_tables_of_counts_in_capitals(write: Write) -> None:
    """As a GROUP BY of Oracle or Snowflake names them."""
    read = er.load(write("m.csv", "COUNT,Y_TRUE,Y_PRED.a\n3,1,1\n2,0,1\n"))
    assert read.n_examples == 5


@pytest.mark.parametrize("name", ["list.parquet", "list.jsonl", "with-labels.parquet", "with-labels.jsonl"])
def test_lists_of_probabilities(name: str) -> None:
    """One for each of the sorted true labels, as an (n, K) array has them."""
    read = er.load(CASES / "lists" / name)
    labels = np.array([1, 0, 0, 1, 0, 1, 1, 0, 1, 1])
    assert read.models[0].proba is not None
    np.testing.assert_allclose(
        read.models[0].proba, np.column_stack([0.8 - 0.6 * labels, 0.2 + 0.6 * labels])
    )


@pytest.mark.parametrize("how", ["csv", "jsonl", "parquet", "arrow", "polars", "pandas", "spark"])
def test_lists_of_three_classes(how: str, tmp_path: Path) -> None:
    """In every form in which a cell can hold several numbers; vectors of Spark ML are structs."""
    lists = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5]] * 2
    table: dict[str, Any] = {"id": list("abcdef"), "y_true": ["x", "y", "z"] * 2, "probability": lists}
    path = tmp_path / f"m.{'parquet' if how == 'spark' else how}"
    models: Any = path
    if how == "csv":
        pd.DataFrame(table).to_csv(path, index=False)
    elif how == "jsonl":
        pd.DataFrame(table).to_json(path, orient="records", lines=True)
    elif how == "spark":
        vectors = [{"type": 1, "size": None, "indices": None, "values": cell} for cell in lists]
        parts = {"type": pa.int8(), "size": pa.int32(), "indices": pa.list_(pa.int32())}
        kind = pa.struct({**parts, "values": pa.list_(pa.float64())})
        pq.write_table(pa.table({**table, "probability": pa.array(vectors, kind)}), path)
    elif how in ("parquet", "arrow"):
        written = pa.table(table)
        if how == "parquet":
            pq.write_table(written, path)
        else:
            with pa.ipc.new_file(str(path), written.schema) as writer:
                writer.write_table(written)
    else:
        models = {"m": pl.DataFrame(table) if how == "polars" else pd.DataFrame(table)}
    proba = er.load(models).models[0].proba
    assert proba is not None
    assert proba.tolist() == lists


@pytest.mark.parametrize("form", every(3, FORMS))
def test_a_wide_table_of_labels_and_of_probabilities(form: str, tmp_path: Path, content: Content) -> None:
    """One column a model: what the same models say in files of their own."""
    chances = [0.25, 0.75, 0.5, 0.125, 0.875, 0.625]
    wide = {"id": list("abcdef"), "y_true": TABLE["y_true"], "forest": TABLE["y_pred"], "logreg": chances}
    read = er.load(only(in_form(form, wide, tmp_path)), wide=True)
    apart = {
        "forest": {"id": wide["id"], **TABLE},
        "logreg": {"id": wide["id"], "y_true": TABLE["y_true"], "p_1": chances},
    }
    assert content(read) == content(er.load(apart))


def only(models: Any) -> Any:
    """Return the one frame of a mapping, or the path."""
    return next(iter(models.values())) if isinstance(models, dict) else models


@pytest.mark.parametrize("form", FORMS)
def test_a_wide_table_of_data_sets(form: str, tmp_path: Path) -> None:
    """A paper's table: without true values the cells are values."""
    values = {"ours": [0.9, 0.8, 0.7, 0.6], "theirs": [0.8, 0.75, 0.72, 0.5]}
    read = er.load(
        only(in_form(form, {"Data set": ["iris", "wine", "zoo", "digits"], **values}, tmp_path)), wide=True
    )
    assert (read.task, read.design) == ("scores", "datasets")
    assert [model.name for model in read.models] == ["ours", "theirs"]
    assert read.ids.to_pylist() == ["digits", "iris", "wine", "zoo"]


def test_a_wide_table_is_named_in_the_refusal(write: Write) -> None:
    """Where nothing else says what the columns are."""
    with pytest.raises(InputError, match="if each column is a model: --wide"):
        er.load(write("m.csv", "id,y_true,forest,logreg\na,1,1,0\n"))


def test_arrays_of_one_column(content: Content) -> None:
    """``y_test[:, None]`` and what Keras predicts."""
    truth, labels = np.array(TABLE["y_true"]), np.array(TABLE["y_pred"])
    chance = np.array([0.25, 0.75, 0.5, 0.125, 0.875, 0.625])
    flat = er.load({"a": labels, "b": {"y_prob": chance}}, truth=truth)
    assert content(
        er.load({"a": labels[:, None], "b": {"y_prob": chance[:, None]}}, truth=truth[:, None])
    ) == content(flat)


def test_npy_files_are_arrays(tmp_path: Path, content: Content) -> None:
    """Of labels, or of probabilities; by position, with the truth in an array beside them."""
    truth, labels = np.array(TABLE["y_true"]), np.array(TABLE["y_pred"])
    p = np.array([0.25, 0.75, 0.5, 0.125, 0.875, 0.625])
    np.save(tmp_path / "truth.npy", truth)
    np.save(tmp_path / "a.npy", labels)
    np.save(tmp_path / "b.npy", np.column_stack([1 - p, p]))
    wanted = er.load({"a": labels, "b": np.column_stack([1 - p, p])}, truth=truth)
    assert content(er.load(tmp_path)) == content(wanted)
    np.save(tmp_path / "c.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(InputError, match="Python objects, which can run code"):
        er.load(tmp_path)


def test_scores_of_folds_without_sizes_come_with_a_caution(
    codes_of: Callable[[Predictions], list[str]],
) -> None:
    """``cross_validate`` without indices, and ``cross_val_score``."""
    first, second = np.array([0.91, 0.89, 0.93, 0.9, 0.92]), np.array([0.88, 0.9, 0.9, 0.86, 0.9])
    timed = {"fit_time": np.ones(5), "score_time": np.ones(5)}
    searched = er.load({name: {**timed, "test_score": own} for name, own in (("a", first), ("b", second))})
    plain = er.load({"a": first, "b": second})
    for read in (searched, plain):
        assert (read.task, read.design) == ("scores", "cross-validation")
        assert "fold_sizes_assumed" in codes_of(read)
        assert [m.outcome.tolist() for m in read.models if m.outcome is not None] == [
            first.tolist(),
            second.tolist(),
        ]


class Dataset:
    """What of a ``datasets.Dataset`` of Hugging Face is used here: as of 5.2.0, compared by the test beside it."""

    __module__ = "datasets.arrow_dataset"

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.num_rows = table.num_rows
        self.features = types.SimpleNamespace(arrow_schema=table.schema)

    def with_format(self, name: str) -> Dataset:
        """Return itself: it gives Arrow tables."""
        assert name == "arrow"
        return self

    def __getitem__(self, rows: slice) -> pa.Table:
        return self.table[rows]


def test_a_data_set_of_hugging_face(content: Content) -> None:
    """As an Arrow table, with the names of class labels; one that is streamed is refused."""
    table = {"id": list("abcdef"), **TABLE}
    assert content(er.load({"m": Dataset(pa.table(table))})) == content(er.load({"m": table}))
    labels = {"names": ["ham", "spam"], "_type": "ClassLabel"}
    features = {"info": {"features": {"y_true": labels, "y_pred": labels}}}
    coded = pa.table(table).replace_schema_metadata({"huggingface": json.dumps(features)})
    wanted = {"id": table["id"]} | {name: [("ham", "spam")[code] for code in TABLE[name]] for name in TABLE}
    sources: tuple[Any, ...] = (Dataset(coded), coded)
    for source in sources:
        assert content(er.load({"m": source})) == content(er.load({"m": wanted}))
    streamed: Any = Dataset(coded)
    del streamed.num_rows
    with pytest.raises(InputError, match="without streaming=True"):
        er.load({"m": streamed})


def test_codes_without_a_name_stay_codes() -> None:
    """Class labels that do not fit their codes, or are no names; -1 is an empty cell."""
    for names, truth in ((["ham"], [0, 1]), (["ham", 7], [0, 1]), ("ham", [0, 1])):
        features = {"info": {"features": {"y_true": {"names": names, "_type": "ClassLabel"}}}}
        table = pa.table({"id": ["a", "b"], "y_true": truth, "y_pred": [0, 1]})
        read = er.load({"m": table.replace_schema_metadata({"huggingface": json.dumps(features)})})
        assert read.classes == ("0", "1")
    features = {"info": {"features": {"y_true": {"names": ["ham", "spam"], "_type": "ClassLabel"}}}}
    table = pa.table({"id": ["a", "b"], "y_true": [0, -1], "y_pred": ["ham", "ham"]})
    with pytest.raises(InputError, match="has no true value"):
        er.load({"m": table.replace_schema_metadata({"huggingface": json.dumps(features)})})


def test_the_library_of_hugging_face(content: Content) -> None:
    """A real data set, and splits of one, which are no models."""
    datasets = pytest.importorskip("datasets", reason="datasets of Hugging Face is not installed")
    label = datasets.ClassLabel(names=["ham", "spam"])
    features = datasets.Features({"id": datasets.Value("string"), "y_true": label, "y_pred": label})
    found = datasets.Dataset.from_dict({"id": list("abcdef"), **TABLE}, features=features)
    wanted = {"id": list("abcdef")} | {
        name: [("ham", "spam")[code] for code in TABLE[name]] for name in TABLE
    }
    for source in (found, found.shuffle(seed=1)):
        assert content(er.load({"m": source})) == content(er.load({"m": wanted}))
    splits = datasets.DatasetDict({"test": found, "train": found})
    for refused in (splits, {"m": splits}):
        with pytest.raises(InputError, match=r"splits of the data and no models"):
            er.load(refused)
    with pytest.raises(InputError, match="without streaming=True"):
        er.load({"m": found.to_iterable_dataset()})


@pytest.mark.parametrize(
    "form, words",
    crossed(
        FORMS, [("PASS", "FAIL"), ("yes", "No"), ("C", "I"), ("correct", "incorrect"), ("True", "false")]
    ),
)
def test_outcomes_in_words(form: str, words: tuple[str, str], tmp_path: Path) -> None:
    """In every form."""
    table = {"id": list("abcd"), "outcome": [words[0], words[1], words[0], words[0]]}
    read = er.load(in_form(form, table, tmp_path))
    assert read.models[0].outcome is not None
    assert read.models[0].outcome.tolist() == [1, 0, 1, 1]


def test_partial_credit() -> None:
    """P beside C and I is half; a gap counts as wrong where outcomes lie within [0, 1]."""
    read = er.load({"m": {"outcome": ["C", "P", "I", None]}}, missing="wrong")
    assert read.models[0].outcome is not None
    assert read.models[0].outcome.tolist() == [1, 0.5, 0, 0]
    with pytest.raises(InputError, match="'P' is no outcome"):
        er.load({"m": {"outcome": ["P", "F", "P"]}})


@pytest.mark.parametrize("name", ["words", "yes", "true"])
def test_the_cases_of_outcomes_in_words(name: str) -> None:
    """28 of 40 are right by count of the words in the file."""
    path = CASES / "outcomes" / f"{name}.csv"
    read = er.load(path)
    rights = sum(
        line.rpartition(",")[2].strip().lower() in ("pass", "yes", "true")
        for line in path.read_text().splitlines()
    )
    assert read.models[0].outcome is not None
    assert read.models[0].outcome.sum() == rights > 0


@pytest.mark.parametrize("name, accuracy", [("minus-zero", 0.875), ("plus-one", 0.75)])
def test_the_cases_of_equal_numbers(name: str, accuracy: float) -> None:
    """7 of 8 and 6 of 8 labels are right by hand."""
    results = er.evaluate(CASES / "equal-numbers" / f"{name}.csv", metrics=["accuracy"], resamples=20)
    assert results.task == "binary"
    assert results.metrics[0].value == accuracy


@pytest.mark.parametrize("name", ["ids", "zones"])
def test_the_cases_of_instants(name: str) -> None:
    """Ten examples, the same for both files."""
    read = er.load(CASES / "instants" / name)
    assert (len(read.models), len(read.ids)) == (2, 10)
    assert len(er.load(CASES / "instants" / "slices", slices=["day"]).metadata["day"].categories or ()) == 10


def test_a_workbook(tmp_path: Path, content: Content) -> None:
    """The first sheet, with the types of its cells; words for missing are as elsewhere."""
    pytest.importorskip("python_calamine")
    days = pd.date_range("2024-01-01", periods=3).to_pydatetime()
    rows: list[list[Any]] = [["ID", "y_true", "y_pred", "p_1", "day", "note"]]
    rows += map(
        list, zip(range(3), [1, 0, 1], [1, 1, 0], [0.75, 0.5, 0.25], days, ["a", None, "b"], strict=True)
    )
    write_workbook(tmp_path / "m.xlsx", rows, [["nothing"]])
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    assert content(er.load(tmp_path / "m.xlsx")) == content(er.load({"m": frame}))
    rows[2][2] = "#N/A"
    write_workbook(tmp_path / "m.xlsx", rows)
    with pytest.raises(InputError, match="'#N/A' stands for a missing value"):
        er.load(tmp_path / "m.xlsx")


def test_what_is_no_workbook_is_said(write: Write) -> None:
    """Also without the reader, which is an extra."""
    with pytest.raises(InputError, match=r"cannot be read as xlsx|the extra excel"):
        er.load(write("m.xlsx", b"PK no zip"))


def test_numbers_of_json_are_numbers(write: Write) -> None:
    """1.0 and 1e0 are the label and the id 1."""
    rows = [{"id": 1.0, "y_true": 1.0, "y_pred": 1}, {"id": 2, "y_true": 0, "y_pred": -0.0}]
    read = er.load(write("m.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert (read.ids.to_pylist(), read.classes) == (["1", "2"], ("0", "1"))
