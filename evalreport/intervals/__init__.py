"""Registered intervals by family, and the choice of the one that leads."""

from evalreport.intervals import blocks, bootstrap, normal, proportions
from evalreport.intervals.choice import all_intervals, leading, limits, recommended
from evalreport.intervals.registry import INTERVALS, Bounds, IntervalMethod

__all__ = [
    "INTERVALS",
    "Bounds",
    "IntervalMethod",
    "all_intervals",
    "blocks",
    "bootstrap",
    "leading",
    "limits",
    "normal",
    "proportions",
    "recommended",
]
