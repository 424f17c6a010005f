"""Verdicts on single questions that were answered several times."""

from __future__ import annotations

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
