"""The clause on costs: how many times as much one of two models costs."""

from __future__ import annotations

from evalreport.headline.facts import Facts, Limited, amount
from evalreport.headline.lead import OF_RUNS, Lead
from evalreport.texts import Message
from evalreport.texts.visible import visible


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say how many times as much one of two models costs, where the ratio is decided.

    The one that is not worse by more than the margin; else the cheaper one.
    """
    if lead.code not in OF_RUNS or lead.first is None or lead.second is None:
        return None
    pair = {lead.first, lead.second}
    rows = [r for r in facts.results.cost_ratios if r.slice is None and {r.a, r.b} == pair]
    if not rows:
        return None
    row = rows[0]
    if row.ratio is None or row.low is None or row.high is None or row.low <= 1 <= row.high:
        return None
    about = lead.first
    if lead.code != "non_inferior":
        about = row.a if row.ratio <= 1 else row.b
    ratio = Limited(row.ratio, row.low, row.high)
    if about == row.b:
        ratio = Limited(1 / row.ratio, 1 / row.high, 1 / row.low)
    kind = row.column if row.column in ("cost", "latency", "tokens") else "other"
    return Message(
        f"headline.costs_{kind}", model=facts.name(about), ratio=amount(ratio), column=visible(row.column)
    )
