"""The registry of intervals, and the shares that they were measured to hold."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

from evalreport.metrics.estimate import Estimate
from evalreport.registry import Registry, summary_of
from evalreport.texts import Text

Kind = Literal[
    "proportion",
    "weighted_proportion",
    "f1",
    "auc",
    "auc_or_difference",
    "mean",
    "losses",
    "class_recalls",
    "class_f1",
    "smooth",
    "clusters",
    "weights",
    "suite",
    "bootstrap",
    "fits",
    "trained_fits",
    "seeds",
    "judged",
    "blocks",
    "paired_proportion",
    "independent_proportion",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of an interval; None with a reason where they cannot be had honestly."""

    low: float | None
    high: float | None
    reason: Text | None = None


Function = Callable[[Estimate, float], Bounds]


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """One registered interval: what it needs of an estimate is its ``kind`` (``choice.NEEDS_OF_KIND``)."""

    name: str
    label: str
    summary: str
    kind: Kind
    function: Function
    source: str

    @property
    def over_fits(self) -> bool:
        """Whether it is of the mean over folds or repeats."""
        return self.kind in ("fits", "trained_fits")

    @property
    def of_one_metric(self) -> bool:
        """Whether it is made for one metric's single value, and stands first there where it stands at all."""
        return self.kind in ("f1", "auc_or_difference")

    @property
    def of_one_value(self) -> bool:
        """Whether it may be of one model's value; the others are of a difference of two proportions alone."""
        return self.kind not in ("paired_proportion", "independent_proportion")


UNLIKE = ("judged", "seeds", "suite", "clusters", "weights")
"""Kinds of examples of which people judged some, after several trainings, in tasks, in clusters or with weights; the
test of the same name goes with each."""

INTERVALS: Registry[IntervalMethod] = Registry("interval")


def interval(label: str, kind: Kind, *, source: str = "") -> Callable[[Function], Function]:
    """Register a function of (estimate, level) that returns ``Bounds``."""

    def _decorate(function: Function) -> Function:
        INTERVALS.add(IntervalMethod(function.__name__, label, summary_of(function), kind, function, source))
        return function

    return _decorate


TABLE = Path(__file__).with_name("measured.csv")

By = Literal["n", "rarest", "losses"]


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
        What the situation goes by: ``n`` examples, examples of the ``rarest`` class, or ``losses`` of which few carry
        the sum (warning ``few_large_losses``).
    most
        Up to how many of them; 0 where it goes by losses.
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
    found: dict[Situation, Shortfall] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = Shortfall(**{f.name: numbers.get(f.name, str)(line[f.name]) for f in fields(Shortfall)})
            found[row.kind, row.metric, row.method, row.by] = row
    return found


def shortfall_of(
    kind: str, metric: str, method: str, *, n: int, rarest: int | None = None
) -> Shortfall | None:
    """Return what was measured of an interval on so few examples, or so few of a class; None where it holds.

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
    found = table.get((kind, metric, method, by)) or table.get((kind, "*", method, by))
    return found if found is not None and size <= found.most else None
