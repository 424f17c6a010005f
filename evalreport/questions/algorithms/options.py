"""The options of bias and variance."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class AlgorithmOptions:
    """The options about algorithms."""

    noise: float | None = option(None, "X", "0.09", group="Analysis")
    kohavi_wolpert: bool = option(False, "", "false", group="Analysis")

    def check_ranges(self) -> None:
        """Refuse a noise that is no variance."""
        if self.noise is not None and self.noise < 0:
            raise UsageError(f"noise is a variance and must be at least 0, not {self.noise:g}")
