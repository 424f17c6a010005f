"""The clause that an earlier look decided the pair, and on how many examples."""

from __future__ import annotations

from evalreport.headline.facts import Facts
from evalreport.headline.lead import Lead
from evalreport.texts import Message


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say that an earlier look decided the pair of the sentence, and on how many examples."""
    look = facts.results.looks
    if look is None or lead.code not in ("ahead", "equivalent", "non_inferior"):
        return None
    for record in facts.results.verdicts:
        then = record.decided_at
        if set(record.about) == {lead.first, lead.second} and then is not None and then < look.look:
            return Message("headline.decided_at", look=then, n=record.n or 0, now=facts.results.n)
    return None
