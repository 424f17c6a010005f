"""Single numbers of curves: areas of parts, the area under the hull, risk where doubtful answers are withheld."""

from __future__ import annotations

import numpy as np

from evalreport.curve_records import CurveSummaryRecord
from evalreport.engine.portable import log
from evalreport.metrics.curves.ladder import Floats, Ladder

AT = (0.9, 0.8)
"""Partial areas are taken where specificity, or sensitivity, is at least this."""

FIRST = (0.1, 0.2)
"""Shares of the examples at which gain and lift are stated."""


def ranking_summaries(ladder: Ladder) -> tuple[CurveSummaryRecord, ...]:
    """Return the numbers of a ranking's curves."""
    fpr, tpr = ladder.fpr, ladder.tpr
    found: list[CurveSummaryRecord] = []

    def add(curve: str, quantity: str, at: float | None, value: float) -> None:
        found.append(CurveSummaryRecord(ladder.model, curve, ladder.label, quantity, at, value))

    for at in AT if ladder.label is None else ():
        # For sensitivity the classes change places: the curve is read from its other end.
        for side, x, y in (("specificity", fpr, tpr), ("sensitivity", 1 - tpr[::-1], 1 - fpr[::-1])):
            area = partial_area(x, y, 1 - at)
            add("roc", f"partial_area_{side}", at, area)
            add("roc", f"partial_auc_{side}", at, standardised(area, 1 - at))
    corners = ladder.hull
    add("roc_hull", "area", None, float(np.trapezoid(tpr[corners], fpr[corners])))
    add("pr", "area_interpolated", None, interpolated_area(ladder))
    if ladder.label is None:
        called = (ladder.found + ladder.wrong) / (ladder.positives + ladder.negatives)
        for share in FIRST:
            caught = float(np.interp(share, called, tpr))
            add("gain", "found", share, caught)
            add("lift", "lift", share, caught / share)
    return tuple(found)


def partial_area(x: Floats, y: Floats, limit: float) -> float:
    """Return the area under a polygon from x = 0 to ``limit``; straight lines join the points."""
    inside = int(np.searchsorted(x, limit, side="right"))
    end = float(np.interp(limit, x, y))
    xs, ys = np.concatenate([x[:inside], [limit]]), np.concatenate([y[:inside], [end]])
    return float(np.trapezoid(ys, xs))


def standardised(area: float, width: float) -> float:
    """Put a partial area on McClish's (1989) scale: 1/2 for guessing, 1 at best."""
    least, most = width * width / 2, width
    return (1 + (area - least) / (most - least)) / 2


def interpolated_area(ladder: Ladder) -> float:
    """Return the area under the precision-recall curve with false positives rising in line between thresholds.

    Between two thresholds with h = change of FP by change of TP, precision at TP = x is x / (x (1 + h) + c), c = FP - h
    TP: its integral is closed (Davis and Goadrich 2006; Keilwagen, Grosse and Grau 2014).
    """
    tp0, tp1 = ladder.found[:-1], ladder.found[1:]
    fp0, fp1 = ladder.wrong[:-1], ladder.wrong[1:]
    rising = tp1 > tp0
    tp0, tp1, fp0, fp1 = tp0[rising], tp1[rising], fp0[rising], fp1[rising]
    h = (fp1 - fp0) / (tp1 - tp0)
    c = fp0 - h * tp0
    slope = 1 + h
    # The first piece begins at 0 with c = 0: precision is 1 / (1 + h) along it.
    logs = log((slope * tp1 + c) / np.where(slope * tp0 + c > 0, slope * tp0 + c, 1))
    logs = np.where((tp0 == 0) & (fp0 == 0), 0.0, logs)
    pieces = (tp1 - tp0) / slope - c / slope**2 * logs
    return float(pieces.sum() / ladder.positives)
