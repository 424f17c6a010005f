"""The clause on questions that were answered several times: those on which the model ahead is shown to be worse."""

from __future__ import annotations

from evalreport.headline.facts import Facts
from evalreport.headline.lead import OF_RUNS, Lead
from evalreport.questions.attempts.records import QuestionRecord
from evalreport.texts import Message
from evalreport.texts.visible import visible


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say on how many questions the first model is shown to be worse than the second, and how far it fell there."""
    if lead.code not in OF_RUNS or lead.first is None or lead.second is None:
        return None
    rows = [r for r in facts.results.questions if r.b is not None and {r.a, r.b} == {lead.first, lead.second}]
    worse = [r for r in rows if r.verdict == ("worse" if r.a == lead.first else "better")]
    if not worse:
        return None
    params = {"model": facts.name(lead.first), "n": len(worse), "total": len(rows)}
    passes = {_passes(r, lead.first) for r in worse}
    lost = max(worse, key=lambda r: (abs(r.difference or 0.0), r.id))
    if None in passes:
        return Message("headline.worse_on_questions", **params)
    first, of_first, second, of_second = _passes(lost, lead.first) or (0, 0, 0, 0)
    key = "headline.worse_on_questions_all" if len(passes) == 1 else "headline.worse_on_questions_most"
    counts = {"first": first, "of_first": of_first, "second": second, "of_second": of_second}
    return Message(key, question=visible(lost.id), **params, **counts)


def _passes(row: QuestionRecord, first: str) -> tuple[int, int, int, int] | None:
    """Return passes and attempts of the first model, then of the second; None where outcomes are not 0 or 1."""
    if row.passes_a is None or row.passes_b is None or row.n_b is None:
        return None
    a, b = (row.passes_a, row.n_a), (row.passes_b, row.n_b)
    return (*a, *b) if row.a == first else (*b, *a)
