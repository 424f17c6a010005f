"""Coverage measured in studies, where a leading interval holds less often than it says."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

TABLE = Path(__file__).with_name("measured.csv")

By = Literal["n", "rarest", "losses", "tails"]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One situation in which a leading interval holds less often than it says.

    Attributes
    ----------
    kind
        ``value`` of one model, or ``difference`` of two.
    metric
        As the command line spells it; ``*``: any metric whose differences have this interval.
    method
        The interval that leads.
    by
        What the situation goes by: ``n`` examples, examples of the ``rarest`` class, ``losses`` of which few carry
        the sum (warning ``few_large_losses``), or scores whose ``tails`` are heavy (``warnings/score_tails.py``).
    most
        Up to how many of them; 0 where it goes by losses or tails.
    lowest, highest
        Share of the 95 % intervals that held the true value: least and most over the populations of the study there.
    """

    kind: str
    metric: str
    method: str
    by: By
    most: int
    lowest: float
    highest: float


Situation = tuple[str, str, str, str]
"""Kind, metric, method, by."""


@cache
def shortfalls() -> dict[Situation, Shortfall]:
    """Return the table by (kind, metric, method, by)."""
    numbers = {"most": int, "lowest": float, "highest": float}
    shortfalls_of: dict[Situation, Shortfall] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Shortfall(**{f.name: numbers.get(f.name, str)(line[f.name]) for f in fields(Shortfall)})
            shortfalls_of[row.kind, row.metric, row.method, row.by] = row
    return shortfalls_of


def shortfall_of(
    kind: str, metric: str, method: str, *, n: int, rarest: int | None = None
) -> Shortfall | None:
    """Return the measured shortfall of an interval at this number of examples or of a class; None where it holds.

    Parameters
    ----------
    n
        Examples.
    rarest
        Of the rarest class; None where there are no classes.

    Examples
    --------
    >>> shortfall_of("value", "accuracy", "wilson", n=1000, rarest=500) is None
    True
    """
    by, size = ("n", n) if rarest is None else ("rarest", rarest)
    table = shortfalls()
    shortfall = table.get((kind, metric, method, by)) or table.get((kind, "*", method, by))
    return shortfall if shortfall is not None and size <= shortfall.most else None
