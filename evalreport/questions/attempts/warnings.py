"""Warnings about repeated answers: so few attempts that no question can be decided, shares near 0 or 1."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.questions.attempts.compute import Attempts
from evalreport.schema.warnings import WarningRecord
from evalreport.warnings.checks import check


@check("few_attempts")
def undecidable(attempts: Attempts) -> Iterator[WarningRecord]:
    """Warn of pairs with so few attempts that none of their questions could be decided."""
    yield from attempts.few
