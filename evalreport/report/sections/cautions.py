"""Properties found in the files, all warnings, and the state of every check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.report.cautions import one_of_a_code
from evalreport.report.table import Row, Table, headings
from evalreport.report.view import View, n_cautions, text_of
from evalreport.schema.warnings import CheckRecord
from evalreport.texts import named, say

STATES = ("fired", "passed", "not_applicable")
"""In the order of the table."""
MOST_NAMES = 6
"""Models named in a row of the table."""


@dataclass(frozen=True, slots=True)
class Warned:
    """All warnings of one code; ``info`` where they change no reading of the verdict."""

    code: str
    info: bool
    text: str


@dataclass(frozen=True, slots=True)
class Cautions:
    """Properties found in the files, and all warnings."""

    found: tuple[tuple[str, str, str], ...]
    warnings: tuple[Warned, ...]
    all_cautions: int
    checked: str = ""
    checks: Table | None = None

    @property
    def in_brief(self) -> bool:
        """Whether anything is left in a brief report, which has no information."""
        return any(not warned.info for warned in self.warnings)


def describe_cautions(view: View) -> Cautions | None:
    """Lay out the properties found in the files, and the warnings."""
    warned = tuple(
        (named("found_what", f.what.replace(" ", "_"), f.what), text_of(view, f.value), text_of(view, f.why))
        for f in view.results.found
    )
    warnings = _warnings(view)
    n = n_cautions(view.results.warnings)
    checks = view.results.checks
    if not (warned or warnings or checks):
        return None
    return Cautions(warned, warnings, n, _counted(checks), _table(view, checks) if checks else None)


def _counted(checks: Sequence[CheckRecord]) -> str:
    """Count the checks by their states; one that is about models fired if it fired for any of them."""
    if not checks:
        return ""
    states: dict[str, set[str]] = {}
    for record in checks:
        states.setdefault(record.code, set()).add(record.state)
    counts = Counter(next(state for state in STATES if state in found) for found in states.values())
    return say(
        "checks.counted", passed=counts["passed"], fired=counts["fired"], others=counts["not_applicable"]
    )


def _table(view: View, checks: Sequence[CheckRecord]) -> Table:
    """Lay out the checks that had something to look at: a row for each code and state, with the models it is about.

    Those that do not apply are counted above; results.json has each with its reason.
    """
    checks = [record for record in checks if record.state != "not_applicable"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for record in checks:
        why = "" if record.reason is None else text_of(view, record.reason)
        rows.setdefault((str(record.title), record.state, why), []).extend(record.about)
    order = {state: place for place, state in enumerate(STATES)}
    shown = [
        Row(None, (named("checks.state", state), why or _about(view, about, state)), label=title)
        for (title, state, why), about in sorted(
            rows.items(), key=lambda item: (order[item[0][1]], item[0][0])
        )
    ]
    heads = headings((say("checks.state_head"), say("checks.why")), "text,text")
    return Table(say("checks.box"), heads, tuple(shown), first=say("checks.check"))


def _about(view: View, about: Sequence[str], state: str) -> str:
    """Name the models that a check fired for, or that passed where others did not."""
    names = [model.name for model in view.models if model.id in about]
    if state == "passed" and len(names) == len(view.models):
        return ""
    return ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")


def _warnings(view: View) -> tuple[Warned, ...]:
    """Join the warnings of each code and level."""
    records = one_of_a_code(view.results.warnings, lambda warning: text_of(view, warning.text))
    return tuple(
        Warned(named("caution_head", w.code, w.code.replace("_", " ")), w.level == "info", str(w.text))
        for w in records
    )
