"""What the tests of imports share."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from evalreport.cli import main

MLFLOW = Path(__file__).resolve().parents[1] / "data" / "imports" / "mlflow" / "3"


@pytest.fixture
def importing(tmp_path, capsys):
    """Import into a CSV file; return exit code, messages and rows."""

    def call(tool: str, *words: object) -> tuple[int, str, list[dict[str, str]]]:
        file = tmp_path / "predictions.csv"
        file.unlink(missing_ok=True)
        code = main(["import", tool, *map(str, words), "-o", str(file)])
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines())) if file.is_file() else []
        return code, capsys.readouterr().err, rows

    return call


@pytest.fixture(scope="session")
def mlflow_stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stores that MLflow wrote, with the tables that only MLflow itself needs made anew by its client."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow = pytest.importorskip("mlflow", reason="MLflow's client is not installed (make test-machines)")
        folder = tmp_path_factory.mktemp("mlflow") / "3"
        shutil.copytree(MLFLOW, folder)
        empty = folder / "empty.db"
        mlflow.MlflowClient(f"sqlite:///{empty}").search_experiments()
    for name in ("store", "ways", "costs"):
        path = folder / name / "mlflow.db"
        shutil.copy(empty, path)
        fill(path, MLFLOW / name / "mlflow.db")
    return folder


def fill(path: Path, kept: Path) -> None:
    """Fill an empty store with the rows that were kept of another."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("ATTACH ? AS kept", (str(kept),))
        tables = database.execute("SELECT name FROM kept.sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            columns = ", ".join(
                row[1] for row in database.execute(f"PRAGMA kept.table_info({name})").fetchall()
            )
            database.execute(f"DELETE FROM {name}")  # noqa: S608
            database.execute(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM kept.{name}")  # noqa: S608
        # Of these the kept rows have no more than that they were there.
        database.execute(
            'UPDATE assessments SET error = \'{"error_code": "ValueError"}\' WHERE error IS NOT NULL'
        )
        database.execute(
            "INSERT INTO trace_tags (key, value, request_id)"
            " SELECT DISTINCT 'mlflow.trace.spansLocation', 'TRACKING_STORE', trace_id FROM spans"
        )
        database.commit()
