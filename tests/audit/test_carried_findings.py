"""Findings carried on from the accepted run: new, open since a run, closed; and what else changed since it."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path

import evalreport
from evalreport.history.store import accept
from evalreport.report.sections.cautions import describe_cautions
from evalreport.report.view import view_of
from tests.samples.audits import audited, right, share

GATE, COUNT = "forest.accuracy >= 0.8", "n >= 300"


def test_findings_are_carried_on_from_the_accepted_run(history):
    """A gate that failed when accepted is open since then, or closed; one that fails only now is new."""
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3)]
    first = audited(history, right(share(100, 200)), time=days[0], gates=(GATE, COUNT), exit_code=1)[0]
    states = [(row.about, row.severity, row.state) for row in first.results.findings if row.code == "gate"]
    assert states == [((GATE,), "high", "open"), ((COUNT,), "high", "open")]
    assert first.results.changes == ()
    second = audited(
        history, right(share(150, 300), first=500), time=days[1], gates=(GATE, COUNT), exit_code=1
    )[0]
    gates = [
        (r.about, r.state, r.since_run, r.since[:10]) for r in second.results.findings if r.code == "gate"
    ]
    assert gates == [((GATE,), "open", 1, "2026-11-01"), ((COUNT,), "closed", 1, "2026-11-01")]
    assert ("data", "n", "200", "300") in [dataclasses.astuple(row) for row in second.results.changes]
    accept(history, 2, time="2026-11-02T00:00:00Z")
    third = audited(history, right(share(100, 200), first=900), time=days[2], gates=(GATE, COUNT))[0]
    by_gate = {r.about: (r.state, r.since_run) for r in third.results.findings if r.code == "gate"}
    # Open through two accepted runs: since the first; the other one failed then, passed when accepted, fails again.
    assert by_gate == {(GATE,): ("open", 1), (COUNT,): ("new", None)}
    content = describe_cautions(view_of(third.results))
    (row,) = [row for row in content.findings.rows if row.label == GATE]
    assert row.cells[1:] == ("high", "", "", "open since run 1 (2026-11-01)")
    assert content.changes.title == "What changed since run 2 (2026-11-02), which was accepted"


def test_the_findings_of_a_run_are_its_gates_and_cautions(tmp_path: Path):
    """Gates that do not pass and warnings that are no mere information, the severe first; hostile names are text."""
    name = "<b>x</b>"
    rows = {name: {"y_true": [0, 1] * 30, "y_pred": [0] * 60}}
    results = evalreport.evaluate(
        rows, gates=[f'"{name}".accuracy >= 0.9', f'"{name}".accuracy >= 0.5'], resamples=50
    )
    expected = [("gate", "high"), ("gate", "medium")]
    cautions = [w.code for w in results.warnings if w.level != "info"]
    assert [(r.code, r.severity) for r in results.findings] == [
        *expected,
        *((code, "medium") for code in cautions),
    ]
    assert {row.state for row in results.findings} == {"open"}
    evalreport.render(results, tmp_path, formats=["html", "json"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert name not in page
    assert len(json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["findings"]) == len(
        results.findings
    )
