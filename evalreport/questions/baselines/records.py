"""Records of constant answers, which need no model."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, kw_only=True)
class BaselineLists:
    """The lists of results.json about constant answers."""

    baselines: tuple[BaselineRecord, ...] = ()
