"""Registered intervals by family, and the choice of the one that leads."""

from evalreport.intervals import (  # isort: skip - the order in which they are listed
    at_rates,
    calibration,
    clusters,
    losses,
    label_tables,
    normal,
    order_statistics,
    proportions,
    rankings,
    student,
    sums,
    two_sets,
    chosen_thresholds,
    class_areas,
    weighted,
)
from evalreport.intervals.choice import all_intervals, leading, leads_as_proportion, limits, resolved
from evalreport.intervals.leaders import recommended
from evalreport.intervals.registry import INTERVALS, Bounds, IntervalMethod
from evalreport.questions.costs import interval as costs

__all__ = [
    "INTERVALS", "Bounds", "IntervalMethod", "all_intervals", "leading", "leads_as_proportion", "limits", "recommended",
    "resolved",
]  # fmt: skip
