"""Input files, and the properties that were found in them: task, design, positive class ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalreport.texts import Message

JsonObject = Mapping[str, Any]
"""An object as JSON has it: results that were written, or a part of them."""

LONGEST_NAME = 1_000
"""Characters of a model's name: telling names apart takes time that grows with the square of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRecord:
    """One input file: its path relative to MODELS, SHA-256 of its bytes, rows used, and model (null: several)."""

    path: str
    sha256: str
    rows: int
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """One thing that was found in the files: task, design, positive class, threshold ...; ``why`` says from what.

    ``code`` names a fact that decides how figures are read: ``less_is_better_by_name``; null of the others.
    """

    what: str
    value: Message
    why: Message
    code: Literal["less_is_better_by_name"] | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    """Numbers by name: of ``attempts`` the ``least`` and the ``most`` at one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRecord:
    """One step of the flow of cases: how many were ``read``, ``left_out`` and ``used``.

    ``reason`` of those left out: ``no_row`` (not every model has a row), ``no_truth`` (no true value), ``no_answer``
    (an empty prediction). ``model``: of which model; null: of the whole run. Several models may lack the same case.
    """

    step: Literal["read", "left_out", "used"]
    reason: Literal["no_row", "no_truth", "no_answer"] | None = None
    model: str | None = None
    n: int
