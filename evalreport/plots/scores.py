"""Charts of proper scores: Murphy curves, the difference of two, and miscalibration against discrimination."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalreport.plots.calibration import draw_advantage, odds_axis
from evalreport.plots.curves import Pen, curve_of, draw_curve, label_lines, name_of, shown_models
from evalreport.plots.style import DASHED, GREY, MUTED, NEW_AXES, PAPER, Ids, Names, chart
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES, LEAST_LINE = 8, 0.1
"""About so many lines of equal skill cross the plane; one that is shorter, as a share of its width, is left out."""
MOST_TICKS = 4
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@chart
def murphy(results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None) -> None:
    """Draw the mean elementary score of every model at each threshold; the lowest curve decides best there.

    Twice the area below a curve is the Brier score. The axis ends where hardly any probability lies above.
    """
    models = [
        model
        for model in shown_models(results, names, highlight)
        if curve_of(results, model.model, "murphy", None) is not None
    ]
    if not models:
        return
    end = _end(results)
    top = 0.0
    for model in models:
        curve = curve_of(results, model.model, "murphy", None)
        draw_curve(ax, curve, model)
        assert curve is not None
        top = max([top, *(y for x, y in zip(curve.x, curve.y, strict=True) if x <= end)])
    odds_axis(ax, (0.0, end))
    ax.set_ylim(0.0, 1.06 * (top or 1.0))
    ax.locator_params(axis="y", nbins=MOST_TICKS)
    ax.set_ylabel(say("murphy.score"))
    label_lines(ax, models, in_order=True)


def _end(results: Results) -> float:
    """Return the last threshold of the differences, past which hardly any probability lies."""
    last = max((r.threshold[-1] for r in results.murphy_differences), default=1.0)
    return 1.0 if last > 0.5 else last


@chart
def murphy_difference(
    results: Results, pair: tuple[str, str], ax: Axes = NEW_AXES, *, names: Names = None
) -> None:
    """Draw by how much the first of two models has the lower mean elementary score, in a band over all thresholds.

    A full dot where the band leaves out 0, so that one of them is ahead; a hollow one elsewhere.

    Parameters
    ----------
    pair
        The two models; above 0 the first one is ahead.
    """
    record = next((r for r in results.murphy_differences if {r.a, r.b} == set(pair)), None)
    if record is None:
        return
    sign = 1.0 if record.b == pair[0] else -1.0
    y = sign * np.array(record.difference)
    sides = np.sort(sign * np.array([record.low, record.high], dtype=float), axis=0)
    draw_advantage(ax, record.threshold, y, sides)
    odds_axis(ax, (0.0, _end(results)))
    ax.locator_params(axis="y", nbins=MOST_TICKS)
    first, second = (name_of(names, model) for model in pair)
    ax.set_ylabel(say("murphy.advantage", a=first, b=second))


@chart
def miscalibration_discrimination(
    results: Results, ax: Axes = NEW_AXES, *, names: Names = None, highlight: Ids = None
) -> None:
    """Draw what each model gains by ranking and loses to miscalibration, in percent of the uncertainty.

    The upper left is best. Lines of equal skill: gained less lost, which is 1 - Brier score / uncertainty (Dimitriadis,
    Gneiting and Jordan 2021). Of several classes it is about the largest probability.
    """
    parts = {
        r.model: (100 * r.mcb / r.unc, 100 * r.dsc / r.unc)
        for r in results.calibration
        if r.label is None and r.slice is None and r.mcb is not None and r.dsc is not None and r.unc
    }
    models = [m for m in shown_models(results, names, highlight) if m.model in parts]
    if not models:
        return
    lost, gained = (np.array([parts[m.model][side] for m in models]) for side in (0, 1))
    right = max(1.15 * float(lost.max()), 1.0)
    span = max(float(gained.max() - gained.min()), 1.0)
    ax.set(xlim=(0.0, right), ylim=(float(gained.min()) - 0.25 * span, float(gained.max()) + 0.25 * span))
    _draw_equal_skills(ax)
    for model in models:
        x, y = parts[model.model]
        look = {"markersize": 7.0} if model.highlighted else {"color": GREY, "markersize": 4.0}
        Pen(ax, model.index).points("line", [x], [y], markeredgecolor=PAPER, clip_on=False, **look)
    ax.grid(visible=False)
    ax.set_xlabel(say("calibration.plane_lost"))
    ax.set_ylabel(say("calibration.plane_gained"))
    label_lines(ax, models, in_order=True)


def _draw_equal_skills(ax: Axes) -> None:
    """Draw lines of equal skill, each with its skill where it leaves the axes."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    rough = (high - low + right - left) / LINES
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(s for s in STEPS if s * power >= rough * (1 - 1e-9))
    for number in range(int(np.ceil((low - right) / step)), int(np.floor((high - left) / step)) + 1):
        skill = number * step
        start, end = max(left, low - skill), min(right, high - skill)
        if end - start < LEAST_LINE * (right - left):
            continue
        ax.plot([start, end], [start + skill, end + skill], color=MUTED, linewidth=0.7, linestyle=DASHED)
        at_top = end < right
        ax.annotate(f"{skill:.3g}", (end, end + skill), xytext=(-6, -2) if at_top else (-2, 3),
                    textcoords="offset points", ha="right", va="top" if at_top else "bottom", fontsize=7.5,
                    color=MUTED)  # fmt: skip
