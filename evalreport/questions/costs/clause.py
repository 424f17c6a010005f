"""The clause on costs: how many times as much one of two models costs that are alike in quality."""

from __future__ import annotations

from evalreport.headline.facts import Facts, Limited, amount
from evalreport.headline.rules import Lead
from evalreport.texts import Message
from evalreport.texts.visible import visible

COSTED = ("equivalent", "equivalent_by", "non_inferior", "non_inferior_by")
"""Sentences on two models' quality to which the ratio of their costs may be added."""


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say how many times as much one of two models costs, where the lead says that quality does not speak against it.

    The cheaper of two that are equivalent; the one that is not worse by more than the margin.
    """
    if lead.text.code.removeprefix("headline.") not in COSTED or lead.first is None or lead.second is None:
        return None
    pair = {lead.first, lead.second}
    rows = [r for r in facts.results.cost_ratios if r.slice is None and {r.a, r.b} == pair]
    if not rows:
        return None
    row = rows[0]
    if row.ratio is None or row.low is None or row.high is None:
        return None
    about = lead.first
    if lead.code == "equivalent":
        about = row.a if row.ratio <= 1 else row.b
    ratio = Limited(row.ratio, row.low, row.high)
    if about == row.b:
        ratio = Limited(1 / row.ratio, 1 / row.high, 1 / row.low)
    kind = row.column if row.column in ("cost", "latency", "tokens") else "other"
    return Message(
        f"headline.costs_{kind}", model=facts.name(about), ratio=amount(ratio), column=visible(row.column)
    )
