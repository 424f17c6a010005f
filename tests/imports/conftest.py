"""What the tests of imports share."""

from __future__ import annotations

import csv

import pytest

from evalreport.cli import main


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
