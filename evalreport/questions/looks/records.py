"""Looks at a comparison that may be repeated, and criteria that were declared before the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from evalreport.schema.decisions import CUT, Verdict
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message

Rule = Literal["added", "other"]
"""``added``: the same models saw more examples; ``other``: anything else, and every look counts alike."""


class KeptVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict of an earlier look (``decided_at``, with ``n`` examples), which stays; ``difference`` is a - b then."""

    about: tuple[str, str]
    verdict: Verdict
    level: float
    low: float | None
    high: float | None
    method: str | None
    difference: float
    decided_at: int
    n: int

    @property
    def decided(self) -> bool:
        """Whether the test decided the pair then; an equivalent pair may differ by less than the margin."""
        if self.low is None or self.high is None or (self.method or "").endswith(CUT):
            return self.verdict in ("better", "worse") or self.low is not None
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierLook:
    """An earlier look: ``n`` examples, its level, the error spent by then, and how many pairs were decided by then.

    ``examples``, ``facts`` and ``digests`` are those that it had, ``verdicts`` what it and looks before it decided, and
    ``before`` the digest of the look before it: a chain.
    """

    look: int
    rule: Rule
    n: int
    level: float
    spent: float
    decided: int
    examples: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    verdicts: tuple[KeptVerdict, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLook:
    """A look that is still to come, with its level and what is spent by then, if it is taken at ``n`` examples."""

    look: int
    n: int
    level: float
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRecord:
    """The look that this run is, at a comparison that may be repeated ``looks`` times.

    ``level`` takes the place of alpha in verdicts, comparisons, equivalence and gates; ``spent`` is the error spent by
    all looks so far. ``n`` are the examples (clusters where they are clustered). ``digests``: SHA-256 of each model's
    answers, ``examples`` of the ids and the facts about them, ``facts`` of each fact, ``before`` of the look before (at
    the first one of what was declared); ``hypothesis`` is what the series is about.
    """

    look: int
    looks: int
    rule: Rule
    level: float
    spent: float
    n: int
    digests: Mapping[str, str] = field(default_factory=dict)
    examples: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    before: str | None = None
    hypothesis: JsonObject = field(default_factory=dict)
    n_max: int | None = None
    pushes: bool = False
    earlier: tuple[EarlierLook, ...] = ()
    planned: tuple[PlannedLook, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRecord:
    """Criteria that were declared before the run, with their digest, and what was ``changed`` since.

    ``criteria`` are their keys, of which the digest is one: the file again.
    """

    declared: str
    digest: str
    changed: tuple[Message, ...] = ()
    criteria: JsonObject = field(default_factory=dict)

    @property
    def date(self) -> str:
        """The day on which they were declared."""
        return self.declared[:10]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a run is told about its look: the record, and what earlier looks decided."""

    record: LookRecord
    kept: tuple[KeptVerdict, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LookLists:
    """What results.json says of looks: this one, and the criteria that were declared before the run."""

    looks: LookRecord | None = None
    declared: DeclaredRecord | None = None
