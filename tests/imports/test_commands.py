"""`evalreport import` and then `evalreport run`: the logs of the newest tools give a report with costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalreport.cli import main
from tests.samples.cases import every

LOGS = Path(__file__).resolve().parents[1] / "data" / "imports"


@pytest.mark.parametrize(
    ("tool", "log", "words"),
    every(
        2,
        [
            ("inspect", "inspect/priced", ()),
            ("promptfoo", "promptfoo/costs.json", ("--missing", "drop")),
            ("deepeval", "deepeval_costs/cases", ()),
            ("deepeval", "deepeval_costs/traced", ()),
        ],
    ),
)
def test_costs_of_the_newest_tools_stand_in_the_report(tool, log, words, importing, tmp_path):
    """The cheap model's price is a twelfth of the dear one's, per token, so its mean cost is too: 0.25 against 3."""
    costs_stand_in_the_report(importing(tool, LOGS / log), words, tmp_path)


def test_costs_of_mlflow_stand_in_the_report(importing, mlflow_stores, tmp_path):
    """The same of a database of MLflow."""
    costs_stand_in_the_report(importing("mlflow", mlflow_stores / "costs" / "mlflow.db"), (), tmp_path)


def costs_stand_in_the_report(imported, words, tmp_path) -> None:
    """Compare what was imported, and find the ratio of the mean costs."""
    code, _, rows = imported
    assert code == 0
    given = ["run", str(tmp_path / "predictions.csv"), "-o", str(tmp_path / "out"), "--resamples", "50", "-q"]
    assert main([*given, "-f", "html", "-f", "json", *words]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert {r["column"] for r in results["costs"]} == {"cost", "latency", "tokens"}
    assert {r["n"] for r in results["costs"]} == {len({row["id"] for row in rows}) - bool(words)}
    (ratio,) = (r["ratio"] for r in results["cost_ratios"] if r["column"] == "cost")
    assert min(ratio, 1 / ratio) == pytest.approx(0.25 / 3)
    assert 'id="costs"' in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
