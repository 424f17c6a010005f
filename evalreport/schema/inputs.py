"""Input files, and the properties that were found in them: task, design, positive class ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalreport.texts import Text

JsonObject = Mapping[str, Any]
"""An object as JSON has it: results that were written, or a part of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRecord:
    """One input file: its path relative to MODELS, SHA-256 of its bytes, rows used, and model (null: several)."""

    path: str
    sha256: str
    rows: int
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """One thing that was found in the files: task, design, positive class, threshold ...; ``why`` says from what."""

    what: str
    value: Text
    why: Text
    details: Mapping[str, float] = field(default_factory=dict)
    """Numbers by name: of ``attempts`` the ``least`` and the ``most`` at one question."""
