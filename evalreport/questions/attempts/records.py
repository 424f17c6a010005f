"""Verdicts on single questions that were answered several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Message

QuestionVerdict = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """One question, and how two models answered it; ``b`` null where there is one model.

    ``n_a``, ``n_b``: attempts. ``passes_a``, ``passes_b``: those that passed, null where outcomes are not 0 or 1.
    ``difference``: mean outcome of a minus that of b. ``p_value``: Fisher's two-sided mid-p, of other outcomes that of
    the permutation test; ``p_adjusted`` over the questions of the pair. ``verdict``: better, worse or undecided, a seen
    from b. ``reason``: why there is none.
    """

    id: str
    task: str | None = None
    text: str | None = None
    a: str
    b: str | None
    n_a: int
    n_b: int | None
    passes_a: int | None = None
    passes_b: int | None = None
    difference: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    verdict: QuestionVerdict | None = None
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptVarianceRecord:
    """The variance of an estimate, split into that between questions and that between attempts at one question.

    The estimate is one model's mean, or with ``b`` the difference ``model`` - ``b`` by question.
    ``attempts`` is their mean number. ``share_within`` = within / (between + within), of a single attempt's outcome.
    ``se_now`` is the standard error of the mean over questions, ``se_more_attempts`` the standard error with twice
    the attempts, ``se_more_questions`` with twice the questions. ``within`` and what follows from it is null
    where each question was answered once.
    """

    model: str
    metric: str
    n_questions: int
    attempts: float
    between: float
    within: float | None
    share_within: float | None
    se_now: float
    se_more_attempts: float | None
    se_more_questions: float
    b: str | None = None
    reason: Message | None = None


@dataclass(frozen=True, kw_only=True)
class AttemptLists:
    """The lists of results.json about repeated answers."""

    questions: Sequence[QuestionRecord] = ()
    attempt_variance: Sequence[AttemptVarianceRecord] = ()
