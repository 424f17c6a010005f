"""The option that names the rating grades."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The options about calibration."""

    grade: str | None = option(None, "COLUMN", '"rating"', group="Analysis")
