"""Findings of an audit: who follows them up, which are carried on from the accepted run, and what else changed since.

Owners and due dates come from a CSV file that people fill in, else from the newest run of the series.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal

from evalreport.audit.past import Past
from evalreport.errors import InputError
from evalreport.history.changes import changes
from evalreport.history.run_differences import Reference
from evalreport.predictions.cells import Kind
from evalreport.schema.finding_rules import about_text
from evalreport.schema.findings import ChangeRecord, FindingRecord
from evalreport.schema.results import Results, to_dict
from evalreport.sources.formats import read_file
from evalreport.sources.reading import file_format

COLUMNS, OPTIONAL = ("finding", "owner", "due"), ("about",)
"""Columns of the file; without ``about``, or where its cell is empty, a row fits every finding of its code."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who follows up a finding, until when (an ISO 8601 date); ``about`` is None for all findings of a code."""

    code: str
    about: str | None
    owner: str | None
    due: str | None


def read_assignments(path: Path) -> tuple[Assignment, ...]:
    """Read a table such as ``tables/findings.csv`` with its owners and due dates filled in.

    Raises
    ------
    InputError
        A column is missing, a date is none, a finding has no code, or two rows are about the same one.
    """
    name = str(path)
    if file_format(path) is None:
        raise InputError.of("findings_format", file=name)

    def choose(headers: tuple[str, ...]) -> Mapping[str, Kind]:
        missing = [column for column in COLUMNS if column not in headers]
        if missing:
            raise InputError.of("findings_columns", file=name, line=1, missing=missing, columns=COLUMNS)
        return {column: "text" for column in (*COLUMNS, *OPTIONAL) if column in headers}

    read = read_file(path, name, choose)
    columns = {header: array.to_pylist() for header, array in read.arrays.items()}
    rows: dict[tuple[str, str | None], Assignment] = {}
    for place in range(read.rows):
        line, _ = read.locate(place, None)
        code, about, owner, due = (
            (columns[header][place] or "").strip() if header in columns else ""
            for header in ("finding", "about", "owner", "due")
        )
        if not code:
            raise InputError.of("findings_no_code", file=name, line=line, column="finding")
        key = (code, about or None)
        if key in rows:
            raise InputError.of("findings_twice", file=name, line=line, column="finding", what=code)
        rows[key] = Assignment(*key, owner or None, _date(due, name, line))
    return tuple(rows.values())


def _date(text: str, file: str, line: int | None) -> str | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError.of("findings_date", file=file, line=line, column="due", value=text) from None


def recorded_assignments(results: Results) -> tuple[Assignment, ...]:
    """Return the owners and due dates in the results of an earlier run."""
    return tuple(
        Assignment(row.code, about_text(row.about), row.owner, row.due)
        for row in results.findings
        if row.owner or row.due
    )


def assigned(
    findings: Sequence[FindingRecord], earlier: Sequence[Assignment], filled_in: Sequence[Assignment]
) -> tuple[FindingRecord, ...]:
    """Return findings with their owners and due dates; a row that was filled in counts before the earlier run's."""
    return tuple(
        replace(finding, owner=row.owner, due=row.due)
        if (row := _fitting(finding, filled_in) or _fitting(finding, earlier)) is not None
        else finding
        for finding in findings
    )


def without_a_finding(
    filled_in: Sequence[Assignment], findings: Sequence[FindingRecord]
) -> tuple[Assignment, ...]:
    """Return the rows that no finding of the run fits."""
    return tuple(row for row in filled_in if not any(_fitting(finding, [row]) for finding in findings))


def _fitting(finding: FindingRecord, rows: Sequence[Assignment]) -> Assignment | None:
    """Return the row of a finding, else that of all findings of its code."""
    about = about_text(finding.about)
    # A spreadsheet's formula has an apostrophe before it in our tables.
    exact = (r for r in rows if r.code == finding.code and r.about in (about or None, f"'{about}"))
    every = (r for r in rows if r.code == finding.code and r.about is None)
    return next(exact, None) or next(every, None)


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


def changes_since(accepted: Reference | None, now: Results) -> tuple[ChangeRecord, ...]:
    """Return the facts of the run that differ from the accepted run."""
    if accepted is None:
        return ()
    rows = []
    for change in changes(to_dict(accepted.results), to_dict(now)):
        if change.kind in KINDS:
            before, after = (None if v is None else str(v) for v in (change.before, change.after))
            rows.append(ChangeRecord(kind=change.kind, what=change.what, before=before, after=after))
    return tuple(rows)


def _key(finding: FindingRecord) -> Key:
    return finding.code, finding.about


def _earlier(reference: Reference) -> Iterator[FindingRecord]:
    """Yield the findings that an earlier run had, since when each is known."""
    run = reference.run
    for row in reference.results.findings:
        if row.state != "closed":
            number, time = (run.id, run.time) if row.since_run is None else (row.since_run, row.since)
            yield replace(row, state="open", owner=None, due=None, since_run=number, since=time)
