"""The CSV tables: their columns, plain numbers, and cells that no spreadsheet computes."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.report.tables import NUMBER
from evalreport.schema.results import Results
from tests.samples.labels import FOREST, TRUTH

# The columns that output.md promises, at the beginning of each table.
COLUMNS = {
    "metrics": "model,metric,average,label,value,low,high,interval_method,n",
    "slices": "model,metric,average,label,value,low,high,interval_method,n,slice_column,slice_value",
    "pairs": "a,b,metric,difference,low,high,interval_method,test,p_value,p_adjusted,verdict",
    "gates": "gate,outcome,value,low,high",
    "curves": "model,curve,label,x,y,threshold,low,high",
    "net_benefit": "model,threshold,net_benefit,low,high,treat_all",
    "deciles": "model,grade,n,predicted,observed,low,high,p_value",
    "murphy": "a,b,threshold,difference,low,high,level",
    "findings": "finding,about,owner,due,severity,state,since_run,since,text",
}
TEXTS = {
    *(
        "model",
        "metric",
        "average",
        "label",
        "interval_method",
        "slice_column",
        "slice_value",
        "reason",
        "a",
        "grade",
        "b",
    ),
    *("finding", "about", "owner", "due", "severity", "state", "since"),
    *("test", "verdict", "gate", "outcome", "curve", "text"),
}


def test_net_benefit_and_deciles_have_tables_where_the_run_has_them(tmp_path: Path) -> None:
    """A row a model and threshold, a row a model and decile, with the numbers of results.json."""
    rng = np.random.default_rng(3)
    p = rng.random(200)
    truth = (rng.random(200) < p).astype(int)
    results = er.evaluate(
        {"m": {"p_1": p}}, truth=truth, positive="1", thresholds="0.1:0.3:0.1", resamples=50
    )
    er.render(results, tmp_path, formats=["csv"])
    benefit, deciles = (
        list(csv.DictReader(io.StringIO((tmp_path / "tables" / f"{name}.csv").read_text("utf-8"))))
        for name in ("net_benefit", "deciles")
    )
    assert [float(row["net_benefit"]) for row in benefit] == [r.net_benefit for r in results.decision_curves]
    assert [row["threshold"] for row in benefit] == ["0.1", "0.2", "0.3"]
    assert [float(row["observed"]) for row in deciles] == [r.observed for r in results.calibration_table]
    assert [row["grade"] for row in deciles] == [str(k) for k in range(1, 11)]


@pytest.fixture(scope="module")
def results() -> Results:
    """Two models, one of them named like a formula, with probabilities, a slice and gates."""
    n = len(TRUTH)
    scores = [0.1 + 0.8 * (i % 7) / 7 for i in range(n)]
    models = {
        '=HYPERLINK("a,b")': {"p_1": scores, "ward": ["east", "-west"] * (n // 2) + ["east"] * (n % 2)},
        "tree": {"p_1": [1 - s for s in scores], "ward": ["east", "-west"] * (n // 2) + ["east"] * (n % 2)},
    }
    return er.evaluate(models, truth=TRUTH, slices="ward", gates=["tree.accuracy >= 0.5"], resamples=50)


@pytest.fixture(scope="module")
def tables(results: Results, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """The tables as a reader of CSV gets them."""
    folder = tmp_path_factory.mktemp("out")
    er.render(results, folder, formats="csv")
    assert {str(p.relative_to(folder)) for p in folder.rglob("*.*")} == {
        f"tables/{name}.csv" for name in COLUMNS
    }
    return {name: _read(folder / "tables" / f"{name}.csv", columns) for name, columns in COLUMNS.items()}


def _read(path: Path, columns: str) -> list[dict[str, str]]:
    text = path.read_bytes().decode("utf-8")
    assert text.startswith(columns)
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert all(None not in row and None not in row.values() for row in rows), "every row has every cell"
    return rows


def test_every_number_is_one_for_a_strict_reader(tables: dict[str, list[dict[str, str]]]) -> None:
    """ASCII digits and minus, a point, no group marks: in each column that holds no text."""
    for rows in tables.values():
        for name, cell in (pair for row in rows for pair in row.items()):
            assert name in TEXTS or not cell or (NUMBER.fullmatch(cell) and math.isfinite(float(cell)))


def test_numbers_read_back_to_the_same_doubles(
    tables: dict[str, list[dict[str, str]]], results: Results
) -> None:
    """Of every value and of every point of a curve."""
    whole = [record for record in results.metrics if record.slice is None]
    assert [row["value"] for row in tables["metrics"]] != []
    for row, record in zip(tables["metrics"], whole, strict=True):
        assert (float(row["value"]) if row["value"] else None) == record.value
    points = [x for curve in results.curves for x in curve.x]
    assert [float(row["x"]) for row in tables["curves"]] == points


def test_a_cell_that_a_spreadsheet_would_compute_gets_an_apostrophe(
    tables: dict[str, list[dict[str, str]]],
) -> None:
    """Names of models and values of slices come from files."""
    assert {row["model"] for row in tables["metrics"]} == {'\'=HYPERLINK("a,b")', "tree"}
    assert {row["slice_value"] for row in tables["slices"]} == {"east", "'-west"}


def test_pairs_have_the_interval_of_the_verdict(
    tables: dict[str, list[dict[str, str]]], results: Results
) -> None:
    """On the primary metric; elsewhere there is no verdict."""
    verdict = results.verdicts[0]
    primary = [row for row in tables["pairs"] if row["metric"] == results.primary_metric]
    assert [(row["verdict"], float(row["low"]), float(row["high"])) for row in primary] == [
        (verdict.verdict, verdict.low, verdict.high)
    ]
    assert {row["verdict"] for row in tables["pairs"] if row["metric"] != results.primary_metric} == {""}


def test_tables_without_rows_have_a_header(tmp_path: Path) -> None:
    """A script finds the file whether there were gates or not."""
    found = er.evaluate({"forest": {"y_pred": FOREST}}, truth=TRUTH, metrics="accuracy", resamples=20)
    er.render(found, tmp_path, formats=["csv"])
    assert (tmp_path / "tables" / "gates.csv").read_text() == "gate,outcome,value,low,high,text\n"


def test_names_that_act_on_a_terminal_are_code_points() -> None:
    """Escape sequences and marks of direction, as on the page; commas and quotes stay."""
    from evalreport.report.tables import as_csv

    written = as_csv(["model"], [["a\x1b[2J"], ["b\u202ec"], ['d, "e"']]).decode()
    assert written.splitlines() == ["model", "aU+001B[2J", "bU+202Ec", '"d, ""e"""']
