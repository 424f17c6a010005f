"""The options of a comparison that may be repeated."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class LookOptions:
    """The options about looks."""

    looks: int | None = option(None, "L", "5", group="Analysis")
    looks_file: str | None = option(None, "FILE", '"looks.json"', group="Analysis")
    n_max: int | None = option(None, "N", "5000", group="Analysis")
    pushes: bool = option(False, "", "false", group="Analysis")
    look: int | None = option(None, "K", "2", group="Analysis")
    criteria: str | None = option(None, "FILE", '"criteria.toml"', group="Analysis")

    def check(self) -> None:
        """Refuse an option that is missing, out of its range, or contradicts another."""
        looks, look = self.looks, self.look
        if looks is None:
            named = [
                n for n in ("looks_file", "n_max", "pushes", "look") if getattr(self, n) not in (None, False)
            ]
            if named:
                raise UsageError(
                    f"{named[0]} is about a comparison that may be repeated: add --looks L, or leave it out"
                )
            return
        if not 1 <= looks <= MOST_LOOKS:
            raise UsageError(f"looks must be a whole number from 1 to {MOST_LOOKS}, not {looks}")
        if look is None and self.looks_file is None:
            raise UsageError(
                "looks are remembered or counted: add --looks-file FILE, or count them yourself with --look K"
            )
        if look is not None and self.looks_file is not None:
            raise UsageError("look and looks_file contradict each other: the file counts the looks")
        if look is not None and (self.n_max is not None or self.pushes):
            other = "n_max" if self.n_max is not None else "pushes"
            raise UsageError(
                f"look and {other} contradict each other: without a file every look has alpha / looks"
            )
        if look is not None and look > looks:
            raise UsageError(SPENT.format(looks=f"look {look} of {looks}"))
        if look is not None and look < 1:
            raise UsageError(f"look must be a whole number from 1 to {looks}, not {look}")
        if self.n_max is not None and self.pushes:
            raise UsageError(
                "n_max and pushes contradict each other: with pushes the models change, and every look counts alike"
            )
        if self.n_max is not None and not 1 <= self.n_max <= MOST_EXAMPLES:
            raise UsageError(f"n_max must be a whole number from 1 to {MOST_EXAMPLES}, not {self.n_max}")


MOST_EXAMPLES = 10**15
"""The most examples that can be planned."""
MOST_LOOKS = 100
"""The most looks that can be declared."""

SPENT = "{looks}: declared looks are spent; declare a new series before new examples"
"""Why a run after the last look is refused."""
