"""Charts of calibration and of decisions: the curve without bins in its band; net benefit over thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalreport.plots.curves import Pen, curve_of, label_lines, limits_of, name_of, shown_models
from evalreport.plots.style import DASHED, DOTTED, GREY, GRID, INK, MUTED, NEW_AXES, PAPER, Look, Names, chart
from evalreport.questions.calibration.records import CalibrationRecord
from evalreport.questions.thresholds.records import CurveRecord, DecisionCurveRecord
from evalreport.schema.lookups import place_of_model
from evalreport.schema.pairs import seen_from
from evalreport.schema.results import Results
from evalreport.texts import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

ENDS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)
"""Where the axis of risks may end."""
LEFT_OUT, MOST_LOW, LOW = 0.005, 0.9, 0.2
"""The share of examples beyond the end at most; from which share below ``LOW`` on the axes are square roots."""
DEPTH, BARS = 0.24, 20
"""Height of the strip of bars below, as a share of the axis, and how many bars it has."""
TICKS, FAR_TICKS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2), (0.0, 0.02, 0.1, 0.4, 0.7, 1.0)
"""On axes of square roots that end at 0.2 or before, and beyond."""


def calibration_curves(results: Results, shown: Sequence[tuple[str, str | None]]) -> list[CurveRecord]:
    """Return the curves of some models and classes, those that there are."""
    curves = (curve_of(results, model, "corp", label) for model, label in shown)
    return [curve for curve in curves if curve is not None]


def end_of_axis(curves: Sequence[CurveRecord]) -> float:
    """Return the first end that leaves out at most 0.5 % of the examples of every curve."""
    for end in ENDS:
        if all(share_above(curve, end) <= LEFT_OUT for curve in curves):
            return end
    return ENDS[-1]


def share_above(curve: CurveRecord, end: float) -> float:
    """Return the share of examples whose probability lies above a value."""
    count, x = np.array(curve.count or ()), np.array(curve.x)
    total = float(count.sum())
    return float(count[x > end + 1e-12].sum()) / total if total else 0.0


def mostly_low(curves: Sequence[CurveRecord]) -> bool:
    """Say whether nine tenths of the probabilities of every curve lie below 0.2, so that axes are square roots."""
    return all(1 - share_above(curve, LOW) >= MOST_LOW for curve in curves)


@chart
def calibration_curve(
    results: Results,
    model: str,
    ax: Axes = NEW_AXES,
    *,
    label: str | None = None,
    name: str | None = None,
    end: float | None = None,
    root: bool | None = None,
    level: bool = False,
) -> None:
    """Draw the isotonic fit of outcomes on one model's probabilities in the band of calibrated ones, and how many.

    The curve is thick where it leaves the band, which holds at each probability by itself.

    Parameters
    ----------
    label
        The class of several; None of a binary task, or for the largest probability.
    name
        The title above the axes; the model's name if None.
    end
        Where the axes end; at 1 or before by the probabilities if None.
    root
        Whether the axes are square roots; by the probabilities if None.
    level
        Whether the mean prediction and the observed share are marked.
    """
    curves = calibration_curves(results, [(model, label)])
    ax.set_title(name if name is not None else name_of(None, model), fontsize=9, loc="left", parse_math=False)
    if not curves:
        ax.text(0.5, 0.5, say("calibration.no_curve"), ha="center", va="center", transform=ax.transAxes)
        return
    curve, index = curves[0], place_of_model(results, model)
    end = end_of_axis(curves) if end is None else end
    root = mostly_low(curves) if root is None else root
    scale: Callable[[np.ndarray], np.ndarray] = np.sqrt if root else np.asarray
    top = float(scale(np.array(end)))
    ax.plot([0, top], [0, top], color=MUTED, linewidth=0.9, linestyle=DASHED)
    x, y = scale(np.array(curve.x)), scale(np.array(curve.y))
    held = np.array(curve.x) <= end + 1e-12
    limits = limits_of(curve)
    pen, outside = Pen(ax, index), np.zeros(len(x), dtype=bool)
    if limits is not None:
        low, high = (scale(limit) for limit in limits)
        pen.band("band", x[held], low[held], np.minimum(high[held], top), color=GREY, alpha=0.25)
        outside = (y < low - 1e-12) | (y > high + 1e-12)
    shown = np.minimum(y, top)
    pen.line("line", x[held], shown[held], linewidth=1.2)
    thick: dict[str, Look] = {"linestyle": "solid", "linewidth": 2.8, "solid_capstyle": "butt"}
    pen.line("beyond", x, np.where(outside & held, shown, np.nan), marker=".", markersize=3, **thick)
    _draw_bars(ax, curve, scale, end, top)
    own = (model, label, None)
    record = next((r for r in results.calibration if (r.model, r.label, r.slice) == own), None)
    if level and record is not None:
        _draw_level(pen, record, scale, end)
    ticks = [t for t in (TICKS if end <= TICKS[-1] else FAR_TICKS) if t <= end + 1e-12]
    if not root:
        ticks = [end * i / 4 for i in range(5)]
    places = [float(scale(np.array(t))) for t in ticks]
    texts = [f"{100 * t:.3g}" for t in ticks]
    texts[-1] += " %"
    ax.set_xticks(places, texts)
    ax.set_yticks(places, texts)
    ax.set(xlim=(-0.02 * top, 1.03 * top), ylim=(-DEPTH * top, 1.03 * top))
    ax.grid(visible=False, axis="x")
    ax.set_xlabel(say("calibration.axis_root" if root else "calibration.axis"))
    ax.set_ylabel(say("calibration.observed_axis"), y=0.62)


def _draw_bars(
    ax: Axes, curve: CurveRecord, scale: Callable[[np.ndarray], np.ndarray], end: float, top: float
) -> None:
    """Draw how many examples have each probability, in equal steps of the axis."""
    counts, _ = np.histogram(
        scale(np.minimum(np.array(curve.x), end)), bins=BARS, range=(0.0, top), weights=np.array(curve.count)
    )
    most = float(counts.max()) or 1.0
    width = top / BARS
    floor = -DEPTH * top
    for place, count in enumerate(counts.tolist()):
        if count:
            left = place * width
            ax.fill_between(
                [left + 0.06 * width, left + 0.94 * width], floor, floor + 0.8 * DEPTH * top * count / most,
                color=GRID, linewidth=0,
            )  # fmt: skip
    ax.axhline(0.0, color=MUTED, linewidth=0.6)


def _draw_level(
    pen: Pen, record: CalibrationRecord, scale: Callable[[np.ndarray], np.ndarray], end: float
) -> None:
    predicted, observed = record.expected / record.n_weighed, record.observed / record.n_weighed
    if predicted > end:
        return
    x, y = (float(scale(np.array(v))) for v in (predicted, observed))
    pen.line("drop", [x, x], [x, y], linewidth=1.0, linestyle=DASHED)
    pen.points("mean", [x], [y], marker="s", markersize=6.5, markeredgecolor=PAPER)


# --- decisions --------------------------------------------------------------------------------------------------------


def _of(results: Results, model: str) -> list[DecisionCurveRecord]:
    return [r for r in results.decision_curves if r.model == model]


def odds_axis(ax: Axes, thresholds: Sequence[float]) -> None:
    """Label thresholds by their percent and by the false alarms accepted for each case found."""
    low, high = thresholds[0], thresholds[-1]
    step = next((s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if (high - low) / s <= 6), 0.2)
    places = [
        p
        for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        if 0 < (p := k * step) < 1
    ]
    texts = [f"{100 * p:.3g}\n{(1 - p) / p:.2g}" for p in places]
    if places:
        texts[-1] = f"{100 * places[-1]:.3g} %\n{(1 - places[-1]) / places[-1]:.2g}"
    ax.set_xticks(places, texts)
    ax.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    ax.grid(visible=False, axis="x")
    ax.set_xlabel(say("decision_curve.axis"))


def _lines(
    ax: Axes,
    results: Results,
    names: Names,
    banded: Sequence[str],
    value: Callable[[DecisionCurveRecord], tuple[float, float | None, float | None]],
) -> None:
    known = {r.model for r in results.decision_curves}
    models = [m for m in shown_models(results, names, banded) if m.model in known]
    for model in models:
        points, pen = _of(results, model.model), Pen(ax, model.index)
        x = [p.threshold for p in points]
        y, low, high = (np.array(v, dtype=float) for v in zip(*map(value, points), strict=True))
        if model.highlighted:
            pen.band("band", x, low, high, alpha=0.14)
        look = {"linewidth": 1.7} if model.highlighted else {"color": GREY, "linewidth": 0.8}
        pen.line("line", x, y, **look)
    label_lines(ax, models)


@chart
def net_benefit(
    results: Results, ax: Axes = NEW_AXES, *, names: Names = None, banded: Sequence[str] = ()
) -> None:
    """Draw the net benefit over the declared thresholds, with treat all and treat none.

    Parameters
    ----------
    banded
        The models with a band and a name; the others are thin lines.
    """
    if not results.decision_curves:
        return
    points = _of(results, results.decision_curves[0].model)
    thresholds = [p.threshold for p in points]
    everyone = np.array([p.treat_all for p in points])
    best = max(max(r.net_benefit, r.high or 0.0) for r in results.decision_curves)
    least = max(min(min(r.net_benefit, r.low or 0.0) for r in results.decision_curves), -0.02)
    ax.set_ylim(min(least, -0.02), 1.08 * max(best, float(everyone.max())))
    ax.axhline(0.0, color=MUTED, linewidth=0.9)
    ax.plot(thresholds, everyone, color=INK, linewidth=1.1, linestyle=DOTTED)
    place = max((i for i, v in enumerate(everyone) if v >= ax.get_ylim()[0]), default=0)
    for key, at, side in (("all", place, "right"), ("none", 0, "left")):
        ax.annotate(
            say(f"decision_curve.treat_{key}"), (thresholds[at], everyone[at] if key == "all" else 0.0),
            xytext=(-4 if side == "right" else 4, 4), ha=side, textcoords="offset points", fontsize=8, color=MUTED,
        )  # fmt: skip
    _lines(ax, results, names, banded, lambda r: (r.net_benefit, r.low, r.high))
    odds_axis(ax, thresholds)


@chart
def net_benefit_difference(results: Results, pair: tuple[str, str], ax: Axes = NEW_AXES) -> None:
    """Draw the difference of two models' net benefits with pointwise limits: a full dot where they leave 0 out.

    Parameters
    ----------
    pair
        The two models; the first minus the second is drawn.
    """
    points = [seen_from(pair[0], r) for r in results.decision_curve_differences if {r.a, r.b} == set(pair)]
    if not points:
        return
    x, y = [r.threshold for r in points], np.array([r.difference for r in points])
    limits = np.array([[r.low for r in points], [r.high for r in points]], dtype=float)
    draw_advantage(ax, x, y, limits)
    odds_axis(ax, x)


def draw_advantage(ax: Axes, x: Sequence[float], y: NDArray[np.float64], limits: NDArray[np.float64]) -> None:
    """Draw a difference in its band, with a full dot where the limits leave 0 out and a hollow one elsewhere."""
    if np.isfinite(limits).all():
        ax.fill_between(x, *limits, color=GREY, alpha=0.25, linewidth=0)
    ax.axhline(0.0, color=MUTED, linewidth=0.9)
    ax.plot(x, y, color=INK, linewidth=1.2)
    decided = (limits[0] > 0) | (limits[1] < 0)
    for at, value, full in zip(x, y, decided, strict=True):
        ax.plot([at], [value], marker="o", markersize=4, color=INK, markerfacecolor=INK if full else PAPER)


@chart
def interventions_avoided(
    results: Results, ax: Axes = NEW_AXES, *, names: Names = None, banded: Sequence[str] = ()
) -> None:
    """Draw the interventions avoided for each 100 examples, compared with treating all."""
    if not results.decision_curves:
        return
    values = [r.avoided for r in results.decision_curves] + [
        r.avoided_high or r.avoided for r in results.decision_curves
    ]
    ax.set_ylim(
        100 * min(0.0, *(max(r.avoided_low or 0.0, -0.1) for r in results.decision_curves)), 108 * max(values)
    )
    ax.axhline(0.0, color=MUTED, linewidth=0.9)

    def hundredfold(r: DecisionCurveRecord) -> tuple[float, float | None, float | None]:
        low, high = (None if v is None else 100 * v for v in (r.avoided_low, r.avoided_high))
        return 100 * r.avoided, low, high

    _lines(ax, results, names, banded, hundredfold)
    odds_axis(ax, [p.threshold for p in _of(results, results.decision_curves[0].model)])
