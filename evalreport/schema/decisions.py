"""Verdicts on pairs of models, and outcomes of gates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message

Verdict = Literal["better", "worse", "equivalent", "non-inferior", "undecided"]

CUT, STRETCHED = "cut at 0", "stretched to 0"
"""Endings of an interval's ``method`` where a limit was moved to 0 to agree with the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableRecord:
    """The smallest ``difference`` that an undecided pair's test detects in 80 % of samples as large as these.

    It takes this look's level, Holm's step of the pair, and the limits where these decide. ``needed`` is how many of
    ``unit`` it would take to detect the observed difference as often, ``gold`` how many of these would have to be
    judged by people, ``of_each`` how many of each of two test sets, of which ``needed`` is the sum; null where the test
    could detect the observed difference already. ``second_look``: how often two equally good models are decided by this
    look or a second one at ``needed``, both at the full level.
    """

    difference: float
    unit: Literal["examples", "clusters", "judged", "datasets"]
    needed: int | None = None
    gold: int | None = None
    of_each: tuple[int, int] | None = None
    second_look: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """The verdict on a pair of models, a seen from b, on the primary metric.

    ``low`` and ``high`` are the pair's one interval, simultaneous over the family, of which every table and chart
    speaks; ``method`` says how it was made. It excludes 0 exactly where the adjusted p-value of the recommended test
    decides the pair: a limit that was ``cut at 0`` is no part of it. With looks ``decided_at`` is the look that decided
    the pair, null while it is undecided. Of an earlier look's verdict, which stays, ``difference`` is a - b and ``n``
    the number of examples then; else they are null. ``exploratory``: the metric or
    a model was not declared in the criteria of the run.
    """

    about: tuple[str, str]
    metric: str
    verdict: Verdict
    level: float
    low: float | None
    high: float | None
    text: Message
    method: str | None = None
    detectable: DetectableRecord | None = None
    decided_at: int | None = None
    difference: float | None = None
    n: int | None = None
    exploratory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerdictRecord:
    """The verdict on a pair of models within one task of a suite, a seen from b, on the primary metric.

    The family is every pair in every task, each by its task's own recommended ``test``: p-values are adjusted and
    intervals simultaneous over all of them.
    """

    task: str
    about: tuple[str, str]
    metric: str
    verdict: Verdict
    difference: float | None
    level: float
    low: float | None
    high: float | None
    method: str | None
    test: str
    p_value: float | None
    p_adjusted: float | None
    correction: str | None
    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenLimits:
    """Limits of a value at the ``level`` of a model that was chosen ``among`` so many that may be best."""

    among: int
    level: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord:
    """The outcome of one gate, decided by the interval of its value; ``text`` says why.

    ``exploratory``: it was not declared in the criteria of the run. ``chosen``: where it is about the model that leads
    among several that may be best, the limits that allow for the choice; a gate on ``best`` is decided by them.

    ``value``, ``low`` and ``high`` are in the units of the metric or test that the gate names; null where undefined.
    """

    gate: str
    outcome: Literal["pass", "fail", "undecided"]
    value: float | None
    low: float | None
    high: float | None
    text: Message
    exploratory: bool = False
    chosen: ChosenLimits | None = None


Tone = Literal["bad", "undecided", "good", "neutral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRecord:
    """The first sentence of a report, which every output prints.

    ``code`` is the rule that leads, ``params`` name every model, metric, value and limit of the text. ``tone`` is its
    colour: bad, undecided, good (gates were asked and pass) or neutral.
    """

    text: Message
    code: str
    params: JsonObject = field(default_factory=dict)
    tone: Tone
