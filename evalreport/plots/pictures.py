"""Pictures of what F1 is: how it falls with precision at a fixed recall, and the sets that its counts come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evalreport.numbers import count
from evalreport.plots.style import INK, MUTED, SOLID, axes_or_new, mark_of
from evalreport.results import Results


def f1_at_recall(ax: Any | None = None, *, recalls: Sequence[float] = (0.9, 0.6, 0.3)) -> Any:
    """Draw F1 against precision at fixed recalls: the smaller of the two pulls it down.

    F1 = 2 P R / (P + R); the dotted diagonal is the arithmetic mean's rival, F1 = P, which holds where P = R.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    recalls
        In (0, 1], one curve each.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Examples
    --------
    >>> from evalreport import plots
    >>> plots.f1_at_recall(recalls=[0.5]).get_ylabel()
    'F1'
    """
    axes = axes_or_new(ax)
    precisions = [i / 50 for i in range(51)]
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
    for place, recall in enumerate(recalls):
        mark = mark_of(place)
        f1 = [2 * p * recall / (p + recall) for p in precisions]
        dash: Any = SOLID if place == 0 else mark.dash
        axes.plot(precisions, f1, color=mark.colour, linestyle=dash, linewidth=1.6, markevery=10, marker=mark.marker,
                  markersize=4)  # fmt: skip
        axes.annotate(f"recall {recall:g}", (1, f1[-1]), xytext=(5, 0), textcoords="offset points", va="center",
                      fontsize=8, color=INK, annotation_clip=False)  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="Precision", ylabel="F1")
    return axes


def count_sets(
    results: Results, model: str, ax: Any | None = None, *, label: str | None = None, name: str | None = None
) -> Any:
    """Draw the truly positive and the predicted positive examples of one model as two sets, true to area.

    Where they overlap are the true positives; F1 is twice the overlap over the sum of both sets.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    label
        The class that is positive; that of a binary task if None.
    name
        What stands above; nothing if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    from matplotlib.patches import Circle

    axes = axes_or_new(ax)
    tp, fp, fn, tn = _counts(results, model, label if label is not None else results.positive)
    whole = max(tp + fn, tp + fp, 1.0)
    radii = [math.sqrt((tp + other) / whole) for other in (fn, fp)]
    apart = _distance(radii[0], radii[1], math.pi * tp / whole)
    colours = (mark_of(0).colour, mark_of(1).colour)
    for x, radius, colour, hatch in zip((0.0, apart), radii, colours, ("", "////"), strict=True):
        axes.add_patch(Circle((x, 0), radius, facecolor=colour, alpha=0.22, linewidth=0, hatch=hatch))
        axes.add_patch(Circle((x, 0), radius, fill=False, edgecolor=colour, linewidth=1.4))
    left, right = min(-radii[0], apart - radii[1]), max(radii[0], apart + radii[1])
    middle = (max(-radii[0], apart - radii[1]) + min(radii[0], apart + radii[1])) / 2
    tall = max(radii) or 1.0
    rows = (
        (middle, 0.0, f"TP {count(tp)}\nfound", "center"),
        (left - 0.08, 0.5 * tall, f"FN {count(fn)}\nmissed", "right"),
        (right + 0.08, 0.5 * tall, f"FP {count(fp)}\nfalse alarms", "left"),
        (right + 0.08, -0.7 * tall, f"TN {count(tn)}\nneither", "left"),
    )
    for x, y, text, side in rows:
        axes.text(x, y, text, ha=side, va="center", color=INK, fontsize=9, linespacing=1.3, parse_math=False)
    axes.set(xlim=(left - 0.04, right + 0.04), ylim=(-1.05 * tall, 1.05 * tall), aspect="equal")
    axes.set_axis_off()
    if name is not None:
        axes.set_title(name, fontsize=9, parse_math=False)
    return axes


def _counts(results: Results, model: str, positive: str | None) -> tuple[float, float, float, float]:
    cells = [cell for cell in results.confusion if cell.model == model]
    kinds = [(cell.true == positive, cell.predicted == positive, cell.count) for cell in cells]
    tp, fp, fn, tn = (
        sum(number for t, p, number in kinds if (t, p) == kind)
        for kind in ((True, True), (False, True), (True, False), (False, False))
    )
    return tp, fp, fn, tn


def _distance(first: float, second: float, overlap: float) -> float:
    """Find how far apart the centres of two circles are whose overlap has that area, by halving."""
    low, high = abs(first - second), first + second
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _lens(first, second, middle) > overlap else (low, middle)
    return (low + high) / 2


def _lens(a: float, b: float, d: float) -> float:
    """Return the area that two circles of radius a and b share, their centres d apart."""
    if d >= a + b:
        return 0.0
    if d <= abs(a - b) or not d:
        return math.pi * min(a, b) ** 2
    x = (d * d + a * a - b * b) / (2 * d)
    height = math.sqrt(max(a * a - x * x, 0.0))
    angles = a * a * math.acos(max(-1.0, min(1.0, x / a))) + b * b * math.acos(
        max(-1.0, min(1.0, (d - x) / b))
    )
    return angles - d * height
