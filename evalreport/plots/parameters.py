"""Types of the parameters that charts share."""

from __future__ import annotations

from collections.abc import Collection, Mapping

Names = Mapping[str, str] | None
"""Names to write, by the models' own; None: their own."""
Ids = Collection[str] | None
"""Models, by their ids, that are drawn in colour; None: those that the chart chooses."""
