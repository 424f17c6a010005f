"""LaTeX for a paper: the table and the paragraph, with every sign escaped."""

from __future__ import annotations

import re
from pathlib import Path

import evalreport as er
from tests.samples.labels import FOREST, TRUTH

HOSTILE = r"\x{y} $a_b$ 5% & #1~^ {"


def test_table_and_paragraph_name_the_models_and_the_test(tmp_path: Path) -> None:
    """The table has a row for each model between booktabs' rules; signs of LaTeX's own are escaped everywhere."""
    other = [1 - p if i % 3 else p for i, p in enumerate(FOREST)]
    results = er.evaluate(
        {HOSTILE: {"y_pred": FOREST}, "[tree]": {"y_pred": other}},
        truth=TRUTH,
        metrics="accuracy",
        resamples=20,
    )
    er.render(results, tmp_path, formats=["tex"])
    assert {path.name for path in tmp_path.iterdir()} == {"table.tex", "methods.tex"}
    table = (tmp_path / "table.tex").read_text(encoding="utf-8")
    lines = table.splitlines()
    assert [line for line in lines if line.startswith(("\\toprule", "\\midrule", "\\bottomrule"))] == [
        "\\toprule",
        "\\midrule",
        "\\bottomrule",
    ]
    rows = [line for line in lines if line.endswith("\\\\")]
    assert len(rows) == 3
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    assert any(row.startswith("{}[tree] & ") for row in rows)
    assert r"\textbackslash{}x\{y\} \$a\_b\$ 5\% \& \#1\textasciitilde{}\textasciicircum{} \{" in table
    methods = (tmp_path / "methods.tex").read_text(encoding="utf-8")
    assert methods.count("\n") == 1
    assert "McNemar's mid-p test" in methods
    assert f"Two models were compared on {len(TRUTH)} examples by accuracy." in methods


def test_every_metric_of_the_table_has_its_interval_and_the_paragraph_says_how(tmp_path: Path) -> None:
    """Beside accuracy the table shows F1 and MCC: a bracket in every column; events and missing answers are said."""
    given = [str(p) for p in FOREST]
    models = {"forest": {"y_pred": given}, "tree": {"y_pred": ["", *given[1:]]}}
    results = er.evaluate(
        models, truth=TRUTH, positive="1", metrics=["accuracy", "f1"], missing="wrong", resamples=50
    )
    er.render(results, tmp_path, formats=["tex"])
    rows = [
        line for line in (tmp_path / "table.tex").read_text("utf-8").splitlines() if line.endswith("\\\\")
    ]
    assert len(rows) == 3
    for row in rows[1:]:
        value, *_, f1 = row.split(" & ")[1:]
        assert re.search(r"0\.\d+ \[0\.\d+, [01]\.\d+\]", value)
        assert re.search(r"0\.\d+ \[0\.\d+, [01]\.\d+\]", f1)
    methods = (tmp_path / "methods.tex").read_text("utf-8")
    assert f"{sum(map(int, TRUTH))} are" in methods
    assert "A missing answer counts as wrong." in methods
    assert "F1: 95 " in methods or "F1 (" in methods


def test_a_run_without_a_leaderboard_says_so(tmp_path: Path) -> None:
    """A single model without anything to compare it with has a comment in place of a table, or a table of one row."""
    results = er.evaluate({"forest": {"y_pred": FOREST}}, truth=TRUTH, metrics="accuracy", resamples=20)
    er.render(results, tmp_path, formats=["tex"])
    assert (tmp_path / "table.tex").read_text(encoding="utf-8").startswith("% ")
