"""One table, however it is written, gives one ``Predictions``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options, Task
from evalreport.predictions.table import Predictions

Content = Callable[[Predictions], dict[str, Any]]
CSV = "id,y_true,y_pred,p_1\n001,1,1,0.9\n1,0,1,0.75\nx,1,0,0.25\n"


def saved(table: dict[str, list[Any]], folder: Path, suffix: str) -> Path:
    """Write a table of Python values in the named format by another program's writer."""
    path = folder / f"m.{suffix}"
    arrow = pa.table(table)
    if suffix in ("csv", "tsv", "csv.gz", "tsv.gz"):
        pd.DataFrame(table).to_csv(path, index=False, sep="\t" if "tsv" in suffix else ",")
    elif suffix == "parquet":
        pq.write_table(arrow, path)
    elif suffix == "arrow":
        with pa.ipc.new_file(str(path), arrow.schema) as writer:
            writer.write_table(arrow)
    elif suffix == "feather":
        with pa.ipc.new_stream(str(path), arrow.schema) as writer:
            writer.write_table(arrow)
    elif suffix == "jsonl":
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        np.savez(path, **{name: np.array(column) for name, column in table.items()})
    return path


labels = st.sampled_from([["no", "yes"], [0, 1], [False, True], [1.0, 2.0], ["a b", "ü,'\"\n"], [-1, 1]])


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Draw a small table of one model: ids, labels of one type, a probability, a group."""
    n = draw(st.integers(2, 8))
    pair = draw(labels)
    ids = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
    unique = draw(
        st.lists(ids.filter(lambda text: text.strip() == text), min_size=n, max_size=n, unique=True)
    )
    label = st.sampled_from(pair)
    return {
        "id": unique,
        "y_true": [*pair, *draw(st.lists(label, min_size=n - 2, max_size=n - 2))],
        "y_pred": draw(st.lists(label, min_size=n, max_size=n)),
        "score": draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)),
        "group": draw(st.lists(st.sampled_from(["north", "south"]), min_size=n, max_size=n)),
    }


@pytest.mark.slow
@given(table=tables())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_format_gives_the_same_predictions(
    table: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory, content: Content
) -> None:
    """CSV, TSV, gzip, Parquet, Arrow, Feather, JSON Lines, npz and memory agree, whatever the labels' type."""
    folder = tmp_path_factory.mktemp("formats")
    expected = content(load(saved(table, folder, "csv")))
    for suffix in ("tsv", "csv.gz", "tsv.gz", "parquet", "arrow", "feather", "jsonl", "npz"):
        assert content(load(saved(table, folder, suffix))) == expected, suffix
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert content(load({"m": frame})) == expected, type(frame)
    assert content(load({"m": table})) == expected


@pytest.mark.slow
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_no_order_of_rows_or_files_changes_anything(
    table: dict[str, list[Any]], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Rows of three models, shuffled within and spread over files in any order, are one Predictions."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(table)
    several = pd.concat([frame.assign(model=name, score=frame["score"] + k) for k, name in enumerate("cab")])
    folder = tmp_path_factory.mktemp("orders")
    several.to_csv(folder / "all.csv", index=False)
    expected = load(folder / "all.csv")
    shuffled = several.sample(frac=1, random_state=int(seed))
    paths = []
    for name in rng.permutation(["a", "b", "c"]):
        paths.append(folder / f"{name}.csv")
        shuffled[shuffled["model"] == name].drop(columns="model").to_csv(paths[-1], index=False)
    shuffled.to_csv(folder / "shuffled.csv", index=False)
    for source in (folder / "shuffled.csv", paths, paths[::-1]):
        got = load(source)
        assert got.models[0].name == "a"
        for own, other in zip(got.models, expected.models, strict=True):
            np.testing.assert_array_equal(own.score, other.score)
            np.testing.assert_array_equal(own.y_pred, other.y_pred)
        np.testing.assert_array_equal(got.y_true, expected.y_true)
        assert got.ids.equals(expected.ids)
        assert got.warnings == expected.warnings


@pytest.mark.parametrize(
    "spelled",
    [
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\r"),
        CSV.replace("\n", "\r\n", 2),
        CSV + "\n\n",
        CSV.replace("\nx", "\n\nx"),
        CSV.rstrip("\n"),
        CSV.replace("y_true,", " y_true ,"),
        CSV.replace("0.75", " +7.5E-1"),
        '"' + CSV.replace(",", '","').replace("\n", '"\n"')[:-1],
    ],
    ids=["bom", "crlf", "cr", "mixed", "empty end", "empty within", "no end", "spaces", "exponent", "quoted"],
)
def test_a_csv_may_be_written_in_many_ways(
    spelled: str, write: Callable[..., Path], content: Content
) -> None:
    """Marks, line ends, empty lines, quotes and spellings of numbers that other programs write are understood."""
    assert content(load(write("other/m.csv", spelled))) == content(load(write("m.csv", CSV)))


def test_ids_are_text(loaded: Callable[..., Predictions]) -> None:
    """001 is not 1, and ids sort as text."""
    assert loaded(CSV).ids.to_pylist() == ["001", "1", "x"]


def test_whole_ids_of_typed_sources_are_their_decimal_text() -> None:
    """An integer id 7 joins with the text 7; so does the 7.0 that a table with gaps made of it."""
    for ids in ([7, 10], [7.0, 10.0], ["7", "10"]):
        assert load({"m": {"id": ids, "y_true": [0, 1], "y_pred": [1, 1]}}).ids.to_pylist() == ["10", "7"]


def test_booleans_are_spelled_as_pandas_spells_them(write: Callable[..., Path], content: Content) -> None:
    """A boolean label is True or False in CSV, Parquet, JSON and memory."""
    frame = pd.DataFrame({"id": ["a", "b"], "y_true": [True, False], "y_pred": [True, True]})
    frame.to_csv(write("m.csv", ""), index=False)
    frame.to_parquet(write("p/m.parquet", ""))
    frame.to_json(write("j/m.jsonl", ""), orient="records", lines=True)
    root = write("m.csv", frame.to_csv(index=False)).parent
    each = [load(path) for path in (root / "m.csv", root / "p/m.parquet", root / "j/m.jsonl", {"m": frame})]
    assert all(p.classes == ("False", "True") and p.positive == "True" for p in each)
    assert all(content(p) == content(each[0]) for p in each)


def test_a_text_true_in_json_stays_as_it_is(write: Callable[..., Path]) -> None:
    """Only the JSON value true becomes True; the text "true" is spelled by its file."""
    lines = '{"id":"a","y_true":"true","y_pred":"false"}\n{"id":"b","y_true":"false","y_pred":"false"}\n'
    assert load(write("m.jsonl", lines)).classes == ("false", "true")


@pytest.mark.parametrize("name", ["it's.csv", 'a"b.csv', "*.csv", "[ab]?.csv", "a;b.csv", "ü.csv", "{x}.csv"])
def test_a_file_name_is_taken_literally(name: str, write: Callable[..., Path]) -> None:
    """Quotes and pattern marks in a file name neither break out of a query nor match other files."""
    write("a.csv", CSV.replace("001", "other"))
    path = write(name, CSV)
    assert [m.name for m in load(path).models] == [name.removesuffix(".csv")]
    assert load(path).ids.to_pylist()[0] == "001"


@pytest.mark.parametrize("header", ["'; DROP TABLE x; --", 'say "no"', "a/b~c", "{}", "$.x", "\t"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_header_is_taken_literally(header: str, suffix: str, tmp_path: Path) -> None:
    """A header cannot break out of a query; it is a column of metadata like any other."""
    table = {"id": ["a", "b"], "y_true": ["x", "y"], "y_pred": ["x", "x"], header: ["g", "h"]}
    predictions = load(saved(table, tmp_path, suffix))
    if header.strip():
        assert predictions.metadata[header].categories == ("g", "h")


def test_json_lines_may_lack_keys_and_hold_empty_lines(write: Callable[..., Path]) -> None:
    """A key that a line does not have is an empty cell."""
    lines = '{"id":"a","y_true":1,"y_pred":1,"g":"x"}\n\n{"y_pred":0,"id":"b","y_true":0}\n'
    assert load(write("m.jsonl", lines)).metadata["g"].values.tolist() == [0, -1]


def test_null_and_nan_are_empty(tmp_path: Path) -> None:
    """A column of nothing but null is not given; a single nan in it is a missing value."""
    table = {
        "id": ["a", "b"],
        "y_true": [1, 0],
        "y_pred": [1, 0],
        "score": pa.array([None, None], pa.float64()),
    }
    pq.write_table(pa.table(table), tmp_path / "m.parquet")
    assert load(tmp_path / "m.parquet").models[0].score is None
    pq.write_table(pa.table(table | {"score": [1.0, float("nan")]}), tmp_path / "m.parquet")
    with pytest.raises(InputError, match="row 2: 'nan' stands for a missing value"):
        load(tmp_path / "m.parquet")


@pytest.mark.parametrize("task", [None, "multiclass", "clustering"])
def test_the_text_nan_is_no_class_of_a_parquet_file(tmp_path: Path, task: Task | None) -> None:
    """Among text labels the text nan is refused in any format, whatever task is asked for; null is empty."""
    table = {"id": ["a", "b", "c"], "y_true": ["cat", "dog", "dog"], "y_pred": ["cat", "dog", "nan"]}
    pq.write_table(pa.table(table), tmp_path / "m.parquet")
    with pytest.raises(InputError, match="row 3: 'nan' stands for a missing value.*--labels nan"):
        load(tmp_path / "m.parquet", options=Options(task=task))
    pq.write_table(pa.table(table | {"y_pred": ["cat", "dog", None]}), tmp_path / "m.parquet")
    assert len(load(tmp_path / "m.parquet", options=Options(task=task, missing="drop")).ids) == 2


def test_dictionary_columns_are_read(tmp_path: Path, content: Content) -> None:
    """Categorical columns of pandas and polars are the text that they stand for."""
    frame = pd.DataFrame({"id": ["a", "b", "c"], "y_true": ["x", "y", "x"], "y_pred": ["x", "x", "x"]})
    frame.astype("category").to_parquet(tmp_path / "m.parquet")
    assert content(load(tmp_path / "m.parquet")) == content(load({"m": frame}))
    assert content(load({"m": pl.from_pandas(frame).cast(pl.Categorical)})) == content(load({"m": frame}))


@pytest.mark.parametrize(
    ("module", "needed"), [("evalreport.cli.run", []), ("evalreport.loading.load", ["duckdb", "pyarrow"])]
)
def test_importing_loads_no_heavy_library(module: str, needed: list[str]) -> None:
    """The command line stays quick: DuckDB and Arrow, which every load needs, come with the loading; nothing else."""
    heavy = ["duckdb", "pyarrow", "pandas", "polars", "narwhals", "scipy"]
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(needed)


def test_lists_beside_predictions_are_left_out(tmp_path: Path) -> None:
    """An embedding is neither text nor number: it is not used, and that is said."""
    table = {"id": ["a", "b"], "y_true": [1, 0], "y_pred": [1, 1], "embedding": [[1.0, 2.0], [3.0, 4.0]]}
    pq.write_table(pa.table(table), tmp_path / "m.parquet")
    predictions = load(tmp_path / "m.parquet")
    assert predictions.metadata == {}
    assert [w.about for w in predictions.warnings if w.code == "unused_column"] == [("embedding",)]


def test_a_quoted_header_of_two_lines_is_read(write: Callable[..., Path]) -> None:
    """A header may hold a line end and a byte order mark before a quote."""
    path = write("m.csv", '\ufeff"id",y_true,y_pred,"two\nlines"\na,1,1,x\nb,0,1,y\n')
    assert load(path).metadata["two\nlines"].categories == ("x", "y")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
def test_a_header_may_hold_a_line_break_of_any_kind(tmp_path: Path, end: str, inside: str) -> None:
    """Spreadsheets write such headers; every row below is read."""
    rows = ['id,y_true,y_pred,"a' + inside + 'b"', "1,0,0,x", "2,1,1,y", ""]
    (tmp_path / "m.csv").write_text(end.join(rows), newline="")
    assert load(tmp_path / "m.csv").n == 2
