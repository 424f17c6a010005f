"""Engines: DuckDB and Dask count alike, and one that cannot be had is one message."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalreport.metrics  # noqa: F401 - registers what is added up of scores
from evalreport.errors import InputError, UsageError
from evalreport.options import Options
from evalreport.scale.aggregates import counts_of

# Of Dask's own code, by the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

ENGINES = ("duckdb", "dask")


def test_engines_give_the_same_table(folder: Path) -> None:
    """Cells are in canonical order, so that the tables are equal and not only their counts."""
    tables = [counts_of(folder, Options(slices=("place",)), engine=engine)[0].table for engine in ENGINES]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    "engine, said",
    [
        ("ray", "unknown engine 'ray'"),
        ("duckdb=3", "expected duckdb, dask, dask=ADDRESS"),
        ("dask=tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_an_engine_that_cannot_be_had_is_one_message(
    engine: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt engine, and a cluster that does not answer."""
    monkeypatch.setattr("evalreport.scale.engines.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(UsageError, match=said):
        counts_of(folder, Options(), engine=engine)


def test_other_engines_read_parquet_alone(tmp_path: Path) -> None:
    """The message says what to do with text."""
    (tmp_path / "tree.csv").write_text("id,y_true,y_pred\na,1,1\n")
    with pytest.raises(InputError, match="the engine dask reads Parquet alone"):
        counts_of(tmp_path, Options(), engine="dask")
