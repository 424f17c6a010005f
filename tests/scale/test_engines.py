"""Engines: DuckDB and Dask count alike, and one that cannot be had is one message."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import evalreport.metrics  # noqa: F401 - registers what is added up of scores
from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.scale.aggregates import counts_of
from tests.samples.cases import every
from tests.samples.systems import needs_locks

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

ENGINES = ("duckdb", "dask")
TOOLS = Path(__file__).resolve().parents[1] / "data" / "tools"


@pytest.mark.slow
@needs_locks
def test_engines_give_the_same_table(folder: Path) -> None:
    """Cells are in canonical order, so that the tables are equal and not only their counts."""
    tables = [counts_of(folder, Options(slices=("place",)), engine=engine)[0].table for engine in ENGINES]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    "engine, said",
    [
        ("ray", "unknown engine 'ray'"),
        ("duckdb=3", "expected duckdb, dask, dask=ADDRESS"),
        pytest.param(
            "dask=tcp://127.0.0.1:9",
            "no Dask scheduler answers at tcp://127.0.0.1:9",
            marks=[needs_locks, pytest.mark.slow],
        ),
    ],
)
def test_an_engine_that_cannot_be_had_is_one_message(
    engine: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt engine, and a cluster that does not answer."""
    monkeypatch.setattr("evalreport.scale.engines.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(UsageError, match=said):
        counts_of(folder, Options(), engine=engine)


@pytest.mark.slow
@needs_locks
def test_other_engines_read_parquet_alone(tmp_path: Path) -> None:
    """The message says what to do with text."""
    (tmp_path / "tree.csv").write_text("id,y_true,y_pred\na,1,1\n")
    with pytest.raises(InputError, match="the engine dask reads Parquet alone"):
        counts_of(tmp_path, Options(), engine="dask")


READ_ALIKE = (
    *("pandas/index.csv", "pandas/index.parquet", "polars/enum.arrow", "duckdb/plain.csv"),
    *("r/csv.csv", "r/table_commas.csv", "r/table_tabs.tsv", "hugging_face/class_label.parquet"),
)


@pytest.mark.parametrize("name", every(7, READ_ALIKE))
def test_text_and_codes_mean_what_they_mean_in_a_run(name: str) -> None:
    """Indexes and row names without a name are ids, and class labels have their names."""
    counts = counts_of(TOOLS / name, Options())[0].table
    read = load(TOOLS / name)
    (model,) = read.models
    assert read.y_true is not None
    assert model.y_pred is not None
    pairs = Counter(
        (read.classes[true], read.classes[said]) for true, said in zip(read.y_true, model.y_pred, strict=True)
    )
    answers = next(header for header in counts.column_names if header.startswith("y_pred."))
    found = zip(*(counts.column(header).to_pylist() for header in ("y_true", answers, "count")), strict=True)
    assert {(str(true), str(said)): n for true, said, n in found} == dict(pairs)


def test_semicolons_are_read_and_decimal_commas_refused(tmp_path: Path) -> None:
    """The remedy is what a run needs not."""
    (tmp_path / "m.csv").write_text("id;y_true;y_pred\na;x;x\nb;z;x\n")
    assert counts_of(tmp_path / "m.csv", Options())[0].table.num_rows == 2
    with pytest.raises(InputError, match="decimal comma.*decimal points.*evalreport run reads it"):
        counts_of(TOOLS / "pandas/europe.csv", Options())


@needs_locks
def test_what_counting_cannot_check_is_refused(tmp_path: Path) -> None:
    """A score that may be the confidence in the label; names of class labels beyond DuckDB."""
    table = pl.read_ndjson(TOOLS / "hugging_face/y_pred.jsonl").with_row_index("id")
    table.write_parquet(tmp_path / "bert.parquet")
    with pytest.raises(InputError, match="as the confidence in a predicted label.*evalreport run compares"):
        counts_of(tmp_path / "bert.parquet", Options())
    with pytest.raises(InputError, match="--engine duckdb"):
        counts_of(TOOLS / "hugging_face/class_label.parquet", Options(), engine="dask")
