"""The clause that the automatic judge favours a model."""

from __future__ import annotations

from evalreport.headline.facts import Facts
from evalreport.headline.lead import OF_RUNS, Lead
from evalreport.texts import Message, coded, joined


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say that the automatic judge favours a model."""
    if lead.code not in OF_RUNS:
        return None
    for warning in facts.results.warnings:
        if warning.code == "judge_favours":
            params = coded(joined(warning.text)[0])[1]
            return Message("headline.judge_favours", model=facts.name(str(params["model"])))
    return None
