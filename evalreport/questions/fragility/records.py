"""The record of how fragile a verdict is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class FragilityRecord:
    """How many of ``of`` examples turned round undo the verdict on one decided pair.

    An example is turned round where the two models' answers to it are exchanged. ``method``: ``exact``, the least
    number (McNemar's test); ``greedy``: the examples of the largest influence first, tested anew: an upper bound. None
    where neither can be had, which ``reason`` explains.
    """

    a: str
    b: str
    metric: str
    turned: int | None
    of: int
    method: Literal["exact", "greedy"] | None = None
    reason: Message | None = None


@dataclass(frozen=True, kw_only=True)
class FragilityLists:
    """The lists of results.json about fragility."""

    fragility: Sequence[FragilityRecord] = ()
