"""Properties found in the files, findings to follow up, other warnings, and the state of every check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.numbers import MISSING
from evalreport.report.cautions import one_of_a_code
from evalreport.report.table import Row, Table, headings
from evalreport.report.view import View, n_cautions
from evalreport.schema.finding_rules import findings_of
from evalreport.schema.findings import FindingRecord
from evalreport.schema.warnings import CheckRecord, recorded_warning
from evalreport.texts import named, say
from evalreport.texts.visible import shorten, visible

STATES = ("fired", "passed", "not_applicable")
"""In the order of the table."""
MOST_NAMES = 6
"""Models named in a row of the table."""
SAID_ELSEWHERE = frozenset({"overlap_is_no_test"})
"""Information that is the first sentence above the definitions, too."""
MOST_CHANGES, LONGEST = 40, 60
"""Rows of what changed, and letters of a text in them."""


@dataclass(frozen=True, slots=True)
class Cautions:
    """Properties found in the files, findings with lines to fill in, and warnings that are for information."""

    found: tuple[tuple[str, str, str], ...]
    findings: Table | None
    warnings: tuple[tuple[str, str], ...]
    all_cautions: int
    checked: str = ""
    checks: Table | None = None
    changes: Table | None = None

    @property
    def in_brief(self) -> bool:
        """Whether anything is left in a brief report, which has no information."""
        return self.findings is not None


def describe_cautions(view: View) -> Cautions | None:
    """Lay out the properties found in the files, and the warnings."""
    properties = tuple(
        (named("found_what", f.what.replace(" ", "_"), f.what), view.text(f.value), view.text(f.why))
        for f in view.results.found
    )
    findings, warnings, checks = _findings(view), _warnings(view), view.results.checks
    if not (properties or findings or warnings or checks):
        return None
    n_all, table = n_cautions(view.results.warnings), _table(view, checks) if checks else None
    return Cautions(properties, findings, warnings, n_all, _counted(checks), table, _changes(view))


def _findings(view: View) -> Table | None:
    """Lay out the findings, those of a code, state and owner in one row; empty owners and dates are for people."""
    findings = view.results.findings or findings_of(view.results)
    by_state: dict[tuple[str | None, ...], list[FindingRecord]] = {}
    for r in findings:
        by_state.setdefault((r.severity, r.state, r.since, r.owner, r.due), []).append(r)
    rows = [row for group in by_state.values() for row in _rows_of(view, group)]
    if not rows:
        return None
    columns, first = ("text", "severity", "owner", "due", "state"), say("findings.finding")
    heads = headings((say(f"findings.{column}") for column in columns), "text,text,text,text,text")
    return Table(say("findings.box"), heads, tuple(rows), look="lined findings", first=first)


def _rows_of(view: View, group: Sequence[FindingRecord]) -> list[Row]:
    """Return the rows of findings of one severity, state, age and owner: one for each gate and code of a warning."""
    severity, state = named("findings.severities", group[0].severity), _state(group[0])
    texts = [(visible(record.about[0]), view.text(record.text)) for record in group if record.code == "gate"]
    raised = [
        recorded_warning(record.code, record.text, record.about) for record in group if record.code != "gate"
    ]
    joined = one_of_a_code(raised, lambda warning: view.text(warning.text))
    texts += [(named("caution_head", w.code, w.code.replace("_", " ")), str(w.text)) for w in joined]
    owner, due = (visible(text or "") for text in (group[0].owner, group[0].due))
    return [Row(None, (text, severity, owner, due, state), label) for label, text in texts]


def _state(record: FindingRecord) -> str:
    word = named("findings.states", record.state)
    if record.since_run is None or record.since is None:
        return word
    return say("findings.since", state=word, run=record.since_run, day=record.since[:10])


def _changes(view: View) -> Table | None:
    """Lay out what changed since the accepted run; nothing where nothing did."""
    changes = view.results.changes
    accepted = next((r for r in view.results.history if r.reference == "accepted"), None)
    if not changes or accepted is None:
        return None

    def short(text: str | None) -> str:
        return shorten(visible(text or MISSING), LONGEST)

    rows = tuple(
        Row(None, (short(c.what), short(c.before), short(c.after)), named("findings.kinds", c.kind))
        for c in changes[:MOST_CHANGES]
    )
    more = len(changes) - len(rows)
    title = say("findings.changed", run=accepted.run, day=accepted.time[:10])
    heads = headings(map(say, ("findings.what", "findings.then", "findings.now")), "text,text,text")
    note = say("findings.more_changes", n=more) if more else ""
    return Table(title, heads, rows, note, first=say("findings.kind"))


def _counted(checks: Sequence[CheckRecord]) -> str:
    """Count the checks by their states; one that is about models fired if it fired for any of them."""
    states: dict[str, set[str]] = {}
    for record in checks:
        states.setdefault(record.code, set()).add(record.state)
    counts = Counter(next(state for state in STATES if state in held) for held in states.values())
    fired, passed, others = (counts[state] for state in STATES)
    return say("checks.counted", passed=passed, fired=fired, others=others) if checks else ""


def _table(view: View, checks: Sequence[CheckRecord]) -> Table:
    """Lay out the checks that had something to look at: a row for each that fired, with the models it is about.

    Those that passed are in one row. Those that do not apply are counted above; results.json has each with its reason.
    """
    checks = [record for record in checks if record.state != "not_applicable"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for record in checks:
        why = "" if record.reason is None else view.text(record.reason)
        rows.setdefault((str(record.title), record.state, why), []).extend(record.about)
    order = {state: place for place, state in enumerate(STATES)}
    in_order = sorted(rows.items(), key=lambda item: (order[item[0][1]], item[0][0]))
    passed = [
        title
        for (title, state, why), about in in_order
        if state == "passed" and not (why or _about(view, about, state))
    ]
    shown = [
        Row(None, (named("checks.state", state), why or _about(view, about, state)), label=title)
        for (title, state, why), about in in_order
        if title not in passed or state != "passed"
    ]
    if passed:
        label = say("checks.others", n=len(passed))
        shown.append(Row(None, (named("checks.state", "passed"), ", ".join(passed)), label=label))
    heads = headings((say("checks.state_head"), say("checks.why")), "text,text")
    return Table(say("checks.box"), heads, tuple(shown), first=say("checks.check"))


def _about(view: View, about: Sequence[str], state: str) -> str:
    """Name the models that a check fired for, or that passed where others did not."""
    names = [model.name for model in view.models if model.id in about]
    if state == "passed" and len(names) == len(view.models):
        return ""
    return ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")


def _warnings(view: View) -> tuple[tuple[str, str], ...]:
    """Return the heads and texts of the warnings that are for information, one of each code."""
    informing = [w for w in view.results.warnings if w.level == "info" and w.code not in SAID_ELSEWHERE]
    records = one_of_a_code(informing, lambda warning: view.text(warning.text))
    return tuple((named("caution_head", w.code, w.code.replace("_", " ")), str(w.text)) for w in records)
