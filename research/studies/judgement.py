"""Strict judgement of promised rates: the draws have to show that a rate keeps to its limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from scipy import stats

CONFIDENCE = 0.95
LEAST = 0.93
"""What a 95 % interval has to hold at least."""

Side = Literal["at most", "at least"]
Verdict = Literal["yes", "no", "not shown"]
"""``not shown``: the rate keeps to its limit, but its confidence limit does not: the draws are too few. Not held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A promised rate and what was counted.

    Attributes
    ----------
    side, limit
        Whether the rate may be at most or has to be at least the limit.
    count, data_sets
        In how many of the data sets drawn it happened.
    """

    promise: str
    side: Side
    limit: float
    count: int
    data_sets: int

    @property
    def rate(self) -> float:
        """Share of the data sets."""
        return self.count / self.data_sets

    @property
    def bound(self) -> float:
        """Clopper and Pearson's one-sided 95 % confidence limit of the rate, on the side of the limit.

        Examples
        --------
        The rule of three, exactly: 1 - 0.05^(1/n).

        >>> line = Rate(promise="alarm", side="at most", limit=0.05, count=0, data_sets=100)
        >>> round(line.bound, 4), line.verdict
        (0.0295, 'yes')
        """
        return limit(self.side, self.count, self.data_sets)

    @property
    def verdict(self) -> Verdict:
        """``yes`` only where the confidence limit keeps to the limit."""
        if _keeps(self.bound, self):
            return "yes"
        return "not shown" if _keeps(self.rate, self) else "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A promise that is no rate of draws: enumerated, tried, or about every single data set."""

    promise: str
    asked: str
    found: str
    holds: bool

    @property
    def verdict(self) -> Verdict:
        """Held or not: nothing is estimated."""
        return "yes" if self.holds else "no"


Line = Rate | Fact


def limit(side: Side, count: float, of: float, confidence: float = CONFIDENCE) -> float:
    """Return Clopper and Pearson's one-sided confidence limit of a share: how much it is at most, or at least."""
    if side == "at most":
        return 1.0 if count == of else float(stats.beta.ppf(confidence, count + 1, of - count))
    return 0.0 if count == 0 else float(stats.beta.ppf(1 - confidence, count, of - count + 1))


def judged(promise: str, side: Side, limit: float, rate: float, data_sets: int) -> Rate:
    """Promise that a rate keeps to a limit, and say how often it happened."""
    return Rate(promise=promise, side=side, limit=limit, count=round(rate * data_sets), data_sets=data_sets)


def at_most(promise: str, rate: float, limit: float, data_sets: int) -> Rate:
    """Promise a rate below a limit."""
    return judged(promise, "at most", limit, rate, data_sets)


def at_least(promise: str, rate: float, limit: float, data_sets: int) -> Rate:
    """Promise a rate above a limit."""
    return judged(promise, "at least", limit, rate, data_sets)


def never(promise: str, rate: float, data_sets: int) -> Fact:
    """Promise that something happens in no data set: one counterexample breaks it."""
    count = round(rate * data_sets)
    return Fact(promise=promise, asked="never", found=f"in {count:,} of {data_sets:,}", holds=count == 0)


def _keeps(rate: float, line: Rate) -> bool:
    return rate < line.limit if line.side == "at most" else rate > line.limit


COLUMNS = (
    "heading", "promise", "side", "limit", "count", "data_sets", "bound", "asked", "found", "seed", "verdict",
)  # fmt: skip
"""The columns of docs/promises.csv."""


def written(heading: str, line: Line, seed: int) -> dict[str, str]:
    """Return a line as docs/promises.csv has it, with its confidence limit and its verdict."""
    values: dict[str, Any] = {**asdict(line), "heading": heading, "seed": seed, "verdict": line.verdict}
    if isinstance(line, Rate):
        values["bound"] = f"{line.bound:.6f}"
    return {name: str(values.get(name, "")) for name in COLUMNS}


def read(row: Mapping[str, str]) -> Line:
    """Return the line of a row."""
    if row["side"]:
        side: Any = row["side"]
        return Rate(
            promise=row["promise"], side=side, limit=float(row["limit"]), count=int(row["count"]),
            data_sets=int(row["data_sets"]),
        )  # fmt: skip
    return Fact(promise=row["promise"], asked=row["asked"], found=row["found"], holds=row["verdict"] == "yes")
