"""The clause that a model is right less often than the most frequent class."""

from __future__ import annotations

from evalreport.headline.degenerate import labels_are_given
from evalreport.headline.facts import Facts
from evalreport.headline.lead import Lead
from evalreport.texts import Message
from evalreport.texts.visible import visible


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say that the first model is right less often than always the most frequent class, where the lead does not."""
    accuracy, first = facts.overall("accuracy"), lead.first
    if lead.code not in ("ahead", "single") or accuracy is None or first is None:
        return None
    if lead.code == "single" and accuracy == facts.primary:
        return None
    if not labels_are_given(facts, first):
        return None
    own, pair = facts.value(first, accuracy), facts.against_rule(first, accuracy)
    if own is None or pair is None or pair.answer is None or pair.verdict != "worse":
        return None
    value, bar = (Message("headline.value", value=v, half=own.half) for v in (own.value, pair.value))
    return Message(
        "headline.less_than_constant",
        model=facts.name(first),
        value=value,
        label=visible(pair.answer),
        bar=bar,
    )
