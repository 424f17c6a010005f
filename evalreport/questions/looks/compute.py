"""The look of a run, among those that were declared for the comparison."""

from __future__ import annotations

from evalreport.questions.looks.records import LookLists
from evalreport.questions.question import Run, question


@question("looks", applies=lambda run: run.data.look is not None)
def looks(run: Run) -> LookLists:
    """Return this look, by whose level the pairs were decided."""
    assert run.data.look is not None
    return LookLists(looks=run.data.look.record)
