"""Learning and complexity curves: error on test rows with its band, on training rows, and what a fit foretells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.decomposition import logarithmic
from evalreport.plots.style import PAPER, axes_or_new, mark_of


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """One model's curve: ``test`` and ``train`` hold (x, value, low, high) in rising order of x.

    ``label`` is empty where the axes have but this one.
    ``ahead``: (x, value, low, high) of the fitted law beyond the data, from the last point on; empty without one.
    """

    label: str
    test: tuple[tuple[float, float, float | None, float | None], ...]
    train: tuple[tuple[float, float, float | None, float | None], ...]
    used: float | None
    index: int
    key: str
    ahead: tuple[tuple[float, float, float | None, float | None], ...] = ()


def learning(
    curves: Sequence[LearningCurve],
    ax: Any | None = None,
    *,
    x_label: str = "",
    y_label: str = "",
    legend: bool = True,
) -> Any:
    """Draw errors against training size or complexity: test solid with its band, training thin and dotted.

    A ring marks the point that the models are compared at; what lies beyond the data is dashed.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    for curve in curves:
        _draw(axes, curve, both=any(c.train for c in curves))
    logarithmic(axes, [x for curve in curves for x, *_ in (*curve.test, *curve.ahead[-1:])])
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(x_label, parse_math=False)
    axes.set_ylabel(y_label, parse_math=False)
    if legend:
        found = axes.legend(loc="best", handlelength=2.6, frameon=True, framealpha=0.85, facecolor=PAPER,
                            edgecolor="none")  # fmt: skip
        for text in found.get_texts():
            text.set(parse_math=False)
    return axes


def _named(label: str, part: str, both: bool) -> str:
    """Name a line: by the model, the part where there are two, or both."""
    return ", ".join([text for text in (label, part if both or not label else "") if text])


def _draw(axes: Any, curve: LearningCurve, *, both: bool) -> None:
    mark = mark_of(curve.index)
    parts = []
    banded = [(x, low, high) for x, _, low, high in curve.test if low is not None and high is not None]
    if len(banded) > 1:
        along, bottom, top = zip(*banded, strict=True)
        parts.append(axes.fill_between(along, bottom, top, color=mark.colour, alpha=0.13, linewidth=0))
    parts += axes.plot(
        [p[0] for p in curve.test], [p[1] for p in curve.test], color=mark.colour, marker=mark.marker,
        linestyle="solid", linewidth=1.5, markersize=4, label=_named(curve.label, "test", both),
    )  # fmt: skip
    if curve.train:
        parts += axes.plot(
            [p[0] for p in curve.train], [p[1] for p in curve.train], color=mark.colour, marker=mark.marker,
            markerfacecolor=PAPER, linestyle=(0, (1.2, 1.4)), linewidth=1.1, markersize=3.6,
            label=_named(curve.label, "training", both),
        )  # fmt: skip
    for x, value, *_ in curve.test:
        if curve.used is not None and x == curve.used and len(curve.test) > 1:
            parts += axes.plot(
                [x], [value], marker="o", markersize=10, markerfacecolor="none", markeredgecolor=mark.colour,
                linestyle="none",
            )  # fmt: skip
    if curve.ahead:
        parts += axes.plot(
            [p[0] for p in curve.ahead], [p[1] for p in curve.ahead], color=mark.colour, linestyle=(0, (4, 3)),
            linewidth=1.1,
        )  # fmt: skip
        x, _, low, high = curve.ahead[-1]
        if low is not None and high is not None:
            parts += axes.plot([x, x], [low, high], color=mark.colour, linewidth=1.1)
    for number, part in enumerate(parts):
        part.set_gid(f"{curve.key}--learning-{number}")
