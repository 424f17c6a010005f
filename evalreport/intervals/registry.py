"""The registry of intervals: one documented function of an estimate and a level each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evalreport.metrics.estimate import Estimate
from evalreport.registry import Registry, summary_of

Kind = Literal[
    "proportion",
    "weighted_proportion",
    "f1",
    "auc",
    "mean",
    "losses",
    "class_recalls",
    "class_f1",
    "smooth",
    "clusters",
    "weights",
    "bootstrap",
    "fits",
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
    reason: str | None = None


Function = Callable[[Estimate, float], Bounds]


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """One registered interval: what it needs of an estimate is its ``kind``."""

    name: str
    label: str
    summary: str
    kind: Kind
    function: Function
    source: str


UNLIKE = ("seeds", "clusters", "weights")
"""Kinds of examples after several trainings, in clusters or with weights; the test of the same name goes with each."""

INTERVALS: Registry[IntervalMethod] = Registry("interval")


def interval(label: str, kind: Kind, *, source: str = "") -> Callable[[Function], Function]:
    """Register a function of (estimate, level) that returns ``Bounds``."""

    def decorate(function: Function) -> Function:
        INTERVALS.add(IntervalMethod(function.__name__, label, summary_of(function), kind, function, source))
        return function

    return decorate
