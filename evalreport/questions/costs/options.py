"""The option that names the columns of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """The options about costs."""

    costs: tuple[str, ...] = option(
        (), "COLUMN[:UNIT]", '["cost:USD", "latency:s"]', name="cost", loading=True, group="Analysis"
    )

    def check_ranges(self) -> None:
        """Refuse a column that is named twice."""
        names = [cost_name(text) for text in self.costs]
        if len(set(names)) < len(names) or "" in names:
            raise UsageError(
                f"cost must name each column once, as COLUMN or COLUMN:UNIT, not {', '.join(self.costs)}"
            )


def cost_name(text: str) -> str:
    """Return the column that one ``--cost`` names, without its unit.

    Examples
    --------
    >>> cost_name("cost:USD"), cost_name("tokens")
    ('cost', 'tokens')
    """
    return text.rpartition(":")[0] or text


def cost_unit(name: str, costs: Sequence[str]) -> str | None:
    """Return the unit that ``--cost`` gives a column; None where none is given."""
    return next((text[len(name) + 1 :] or None for text in costs if cost_name(text) == name), None)
