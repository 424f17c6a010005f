"""Findings carried on from the accepted run, the report that was signed, and what else changed since it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from evalreport.audit.past import Past
from evalreport.history.changes import changes
from evalreport.history.run_differences import Reference
from evalreport.schema.finding_rules import GRAVE
from evalreport.schema.findings import ChangeRecord, FindingRecord
from evalreport.schema.inputs import JsonObject

Key = tuple[str, tuple[str, ...]]
"""The code of a finding, and what it is about."""

KINDS = ("data", "option", "input", "version")
"""Facts that are listed; values have tables of their own, gates and warnings are findings."""


def carried(findings: Iterable[FindingRecord], past: Past) -> tuple[FindingRecord, ...]:
    """Return findings with their states against the accepted run, and those that only that run had.

    One that the accepted run did not have is known since the last run that passed, where that one had it.
    """
    accepted, last = (past.references.get(name) for name in ("accepted", "last"))
    if accepted is None:
        return tuple(findings)
    then = {_key(row): row for row in _earlier(accepted)}
    later = {} if last is None else {_key(row): row for row in _earlier(last)}
    rows = []
    for finding in findings:
        key = _key(finding)
        before = then.get(key) or later.get(key) or finding
        state: Literal["open", "new"] = "open" if key in then else "new"
        rows.append(replace(finding, state=state, since_run=before.since_run, since=before.since))
    now = {_key(row) for row in rows}
    return (*rows, *(replace(row, state="closed") for key, row in then.items() if key not in now))


def changes_since(accepted: Reference | None, now: JsonObject) -> tuple[ChangeRecord, ...]:
    """Return the facts of the run that differ from the accepted run."""
    if accepted is None:
        return ()
    return tuple(
        ChangeRecord(
            kind=change.kind, what=change.what, before=_text(change.before), after=_text(change.after)
        )
        for change in changes(accepted.results, now)
        if change.kind in KINDS
    )


def _text(value: str | float | None) -> str | None:
    return None if value is None else str(value)


def _key(finding: FindingRecord) -> Key:
    return finding.code, finding.about


def _earlier(reference: Reference) -> Iterator[FindingRecord]:
    """Yield the findings of an earlier run, since when each is known; one of before kept none but had the facts."""
    results, run = reference.results, reference.run
    since = {
        (row["code"], tuple(row["about"])): (row["since_run"], row["since"])
        for row in results.get("findings", ())
        if row["state"] != "closed" and row["since_run"] is not None
    }
    gates = [
        ("gate", (row["gate"],), row["outcome"] == "fail", row["text"])
        for row in results.get("gates", ())
        if row["outcome"] != "pass"
    ]
    warnings = [
        (row["code"], tuple(row["about"]), row["level"] == "blocker" or row["code"] in GRAVE, row["text"])
        for row in results.get("warnings", ())
        if row["level"] != "info"
    ]
    for code, about, severe, text in (*gates, *warnings):
        number, time = since.get((code, about), (run.id, run.time))
        yield FindingRecord(
            code=code, about=about, severity="high" if severe else "medium", state="open", text=text,
            since_run=number, since=time,
        )  # fmt: skip
