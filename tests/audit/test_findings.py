"""Findings carried on from the accepted run: new, open since a run, closed; and what else changed since it."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import evalreport
from evalreport.audit.auditing import audit, record
from evalreport.audit.findings import Assignment, read_assignments, without_a_finding
from evalreport.errors import InputError
from evalreport.history.store import accept
from evalreport.report.sections.cautions import describe_cautions
from evalreport.report.tables import tables
from evalreport.report.view import view_of
from tests.samples.audits import audited, options, right, share

GATE, COUNT = "forest.accuracy >= 0.8", "n >= 300"


def test_findings_are_carried_on_from_the_accepted_run(history):
    """A gate that failed when accepted is open since then, or closed; one that fails only now is new."""
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3)]
    first = audited(history, right(share(100, 200)), time=days[0], gates=(GATE, COUNT), exit_code=1)[0]
    states = [(row.about, row.severity, row.state) for row in first.results.findings if row.code == "gate"]
    assert states == [((GATE,), "high", "open"), ((COUNT,), "high", "open")]
    assert first.results.changes == []
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


def test_an_owner_and_a_due_date_are_kept_by_the_later_runs(history, tmp_path: Path):
    """They are filled in into the table that a run wrote, by name or by code, and kept by runs without the file."""
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3, 4)]
    gates = (GATE, COUNT)
    first = audited(history, right(share(100, 200)), time=days[0], gates=gates, exit_code=1)[0]
    table = tables(view_of(first.results))["findings"].decode()
    head, *lines = table.splitlines()
    assert head == "finding,about,owner,due,severity,state,since_run,since,text"
    assert [line.startswith(f"gate,{gate},,,high,open,,,") for gate, line in zip(gates, lines, strict=False)]
    filled = table.replace(f"gate,{GATE},,", f"gate,{GATE},Ana <b>Kos</b>,2026-12-15")
    (tmp_path / "findings.csv").write_text(filled, encoding="utf-8")
    rows = read_assignments(tmp_path / "findings.csv")
    given = {"gates": gates, "exit_code": 1}
    second = _audited(history, right(share(101, 200), first=300), days[1], rows, gates=gates)
    third = audited(history, right(share(102, 200), first=600), time=days[2], **given)[0]
    for results in (second, third.results):
        owners = {r.about[0]: (r.owner, r.due) for r in results.findings if r.code == "gate"}
        assert owners == {GATE: ("Ana <b>Kos</b>", "2026-12-15"), COUNT: (None, None)}
    # A row without `about` is about every finding of its code; one for this very finding counts before it.
    (tmp_path / "all.csv").write_text(
        f"finding;owner;due;about\ngate;Bo;2027-01-31;\ngate;;;{COUNT}\n", encoding="utf-8"
    )
    rows = read_assignments(tmp_path / "all.csv")
    fourth = _audited(history, right(share(103, 200), first=900), days[3], rows, gates=gates)
    owners = {r.about[0]: (r.owner, r.due) for r in fourth.findings if r.code == "gate"}
    assert owners == {GATE: ("Bo", "2027-01-31"), COUNT: (None, None)}
    evalreport.render(third.results, tmp_path / "out", formats=["html", "md"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Ana &lt;b&gt;Kos&lt;/b&gt;" in page
    assert "2026-12-15" in page
    assert "<b>Kos" not in page


def _audited(history, source, day, rows, **given):
    found = audit(source, options=options(**given), history=history, time=day, filled_in=rows)
    record(found, history=history, time=day, exit_code=1)
    return found.results


def test_a_row_that_fits_no_finding_is_told(history):
    """A finding that was closed, or a slip of the pen, is not passed over in silence."""
    results = audited(history, right(share(100, 200)), gates=(COUNT,), exit_code=1)[0].results
    rows = [Assignment("gate", COUNT, "Bo", None), Assignment("gate", "n >= 5", "Bo", None)]
    assert without_a_finding(rows, results.findings) == (rows[1],)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("finding,owner\ngate,Bo\n", "findings.csv, line 1: there is no column due; expected the columns"),
        ("finding,owner,due\ngate,Bo,15.12.2026\n", "line 2, column 'due': '15.12.2026' is no date; expected a date"),
        ("finding,owner,due\n,Bo,\n", "line 2, column 'finding': the cell is empty; expected the code"),
        ("finding,owner,due\ngate,Bo,\ngate,Al,\n", "line 3, column 'finding': a second row is about the same"),
    ],
)  # fmt: skip
def test_a_bad_file_of_findings_is_refused_with_its_place(tmp_path: Path, content: str, message: str):
    """One message that names file, line and column."""
    (tmp_path / "findings.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_assignments(tmp_path / "findings.csv")
    assert message in str(error.value)
