"""Records of constant answers, which need no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecord:
    """The value that a metric reaches without a model, by one constant answer or by guessing.

    ``name``: majority_class, random_prevalence, random_even or mean_truth. ``text`` says what it does; ``reason``
    why a value is a convention.
    """

    name: str
    metric: str
    average: str | None
    label: str | None
    value: float
    text: Message
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstRuleRecord:
    """A model against the rule that needs none, as a pair of models on one metric; ``difference`` is model - rule.

    ``rule`` is majority_class, mean_truth or chance (the same score for every example), ``answer`` the class that is
    always predicted, ``value`` the rule's value. ``p_adjusted`` is Holm's over the models, ``low`` and ``high`` are
    simultaneous over them; ``verdict`` says whether the model is better than the rule.
    """

    model: str
    rule: str
    answer: str | None
    metric: str
    average: str | None
    label: str | None
    value: float
    difference: float | None
    test: str
    p_value: float | None
    p_adjusted: float | None
    level: float | None
    low: float | None
    high: float | None
    method: str | None
    verdict: Literal["better", "worse", "undecided"]
    reason: Message | None = None


@dataclass(frozen=True, kw_only=True)
class BaselineLists:
    """The lists of results.json about constant answers."""

    baselines: Sequence[BaselineRecord] = ()
    against_rule: Sequence[AgainstRuleRecord] = ()
