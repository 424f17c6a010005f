"""The record of what is estimated."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimandRecord:
    """What intervals and tests of the primary metric are about.

    ``population``: what the sample stands for; ``unit``: what is drawn; ``fixed`` and ``varies``: what another sample
    would share with this one, and what it would not; ``missing``: what became of missing answers; ``family``: the
    pairs that are decided together; ``declared``: whether the criteria were declared before the run.
    """

    population: Message
    unit: Message
    metric: str | None
    fixed: Message
    varies: Message
    missing: Message
    family: Message
    declared: Message


@dataclass(frozen=True, kw_only=True)
class EstimandLists:
    """What results.json says of the estimand."""

    estimand: EstimandRecord | None = None
