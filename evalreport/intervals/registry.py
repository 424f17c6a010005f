"""The registry of intervals: one documented function of an estimate and a level each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    "bootstrap",
    "fits",
    "trained_fits",
    "seeds",
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


UNLIKE = ("seeds", "clusters", "weights")
"""Kinds of examples after several trainings, in clusters or with weights; the test of the same name goes with each."""

INTERVALS: Registry[IntervalMethod] = Registry("interval")


def interval(label: str, kind: Kind, *, source: str = "") -> Callable[[Function], Function]:
    """Register a function of (estimate, level) that returns ``Bounds``."""

    def _decorate(function: Function) -> Function:
        INTERVALS.add(IntervalMethod(function.__name__, label, summary_of(function), kind, function, source))
        return function

    return _decorate
