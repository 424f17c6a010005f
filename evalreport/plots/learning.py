"""Learning and complexity curves: error on test rows with its band, on training rows, and what a fit foretells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.plots.curves import name_of
from evalreport.plots.decomposition import logarithmic
from evalreport.plots.primary import ranked
from evalreport.plots.style import PAPER, axes_or_new, mark_of
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say

AXES = {"train_size": "chart.training_examples", "complexity": "chart.complexity"}
LEAST_POINTS = 2


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
    source: Results | Sequence[LearningCurve],
    ax: Any | None = None,
    *,
    x_label: str = "",
    y_label: str = "",
    names: Mapping[str, str] | None = None,
    legend: bool = True,
) -> Any:
    """Draw errors against training size or complexity: test solid with its band, training thin and dotted.

    A ring marks the point that the models are compared at; what lies beyond the data is dashed.

    Parameters
    ----------
    source
        Results with learning curves, of which the metric that was asked for (else the main loss) is drawn; or curves.
    ax
        Matplotlib axes; new ones if None.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    if isinstance(source, Results):
        curves: Sequence[LearningCurve] = learning_rows(source, names)
        of_curves = source.learning_curves
        x_label = x_label or (say(AXES[of_curves[0].axis]) if of_curves else "")
        y_label = y_label or (words(of_curves[-1].metric) if of_curves else "")
        legend = legend and bool(curves)
    else:
        curves = source
    axes = axes_or_new(ax)
    for curve in curves:
        _draw(axes, curve, both=any(c.train for c in curves))
    if curves:
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
        linestyle="solid", linewidth=1.5, markersize=4, label=_named(curve.label, say("chart.test"), both),
    )  # fmt: skip
    if curve.train:
        parts += axes.plot(
            [p[0] for p in curve.train], [p[1] for p in curve.train], color=mark.colour, marker=mark.marker,
            markerfacecolor=PAPER, linestyle=(0, (1.2, 1.4)), linewidth=1.1, markersize=3.6,
            label=_named(curve.label, say("chart.training"), both),
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


def learning_rows(results: Results, names: Mapping[str, str] | None = None) -> list[LearningCurve]:
    """Give each model's curve in the metric that stands last in the results: what was asked for, if anything was."""
    if not results.learning_curves:
        return []
    metric = results.learning_curves[-1].metric
    found = []
    for model in ranked(results):
        own = [p for p in results.learning_curves if (p.model, p.metric) == (model, metric)]
        test, train = (
            tuple(
                sorted((p.x, p.value, p.low, p.high) for p in own if p.part == part and p.value is not None)
            )
            for part in ("test", "train")
        )
        if len(test) >= LEAST_POINTS:
            used = next((p.x for p in own if p.used and p.part == "test"), None)
            index = results.models.index(model)
            found.append(LearningCurve(name_of(names, model), test, train, used, index, f"m{index}"))
    return found
