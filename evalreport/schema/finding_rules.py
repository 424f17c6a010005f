"""Findings: what somebody follows up, each with its severity."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.schema.findings import FindingRecord
from evalreport.schema.results import Results

GRAVE = frozenset({"worse_than_accepted", "slice_fell"})
"""Cautions that are as severe as a gate that fails."""


def findings_of(results: Results) -> tuple[FindingRecord, ...]:
    """Return the gates that do not pass, and the warnings that limit how figures may be read, the severe ones first.

    Examples
    --------
    >>> import evalreport
    >>> labels = {"a": {"y_pred": [0, 0, 0, 1]}}
    >>> results = evalreport.evaluate(labels, truth=[0, 0, 1, 1], gates=["n >= 9"], resamples=20)
    >>> [(row.code, row.about, row.severity, row.state) for row in findings_of(results)][0]
    ('gate', ('n >= 9',), 'high', 'open')
    """
    of_gates = [
        FindingRecord(
            code="gate", about=(gate.gate,), severity="high" if gate.outcome == "fail" else "medium", state="open",
            text=gate.text,
        )
        for gate in results.gates
        if gate.outcome != "pass"
    ]  # fmt: skip
    of_warnings = [
        FindingRecord(
            code=warning.code, about=warning.about, state="open", text=warning.text,
            severity="high" if warning.level == "blocker" or warning.code in GRAVE else "medium",
        )
        for warning in results.warnings
        if warning.level != "info"
    ]  # fmt: skip
    return tuple(sorted((*of_gates, *of_warnings), key=lambda row: row.severity != "high"))


def about_text(about: Sequence[str]) -> str:
    """Write what a finding is about as one cell of a table."""
    return " | ".join(about)
