"""Forest plot of values: every model's value of a metric with its interval, in rank order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.numbers import decimals_of, interval, number
from evalreport.plots.curves import name_of, own_id
from evalreport.plots.primary import ranked, values_of
from evalreport.plots.style import INK, MUTED, axes_or_new, mark_of
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say


def values(
    results: Results,
    ax: Any | None = None,
    *,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw every model's value with its recommended interval, the model that ranks first on top.

    Intervals that overlap are no test: for which of two models is better, draw `forest`.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    metric
        As the command line spells it (``f1_macro``, ``recall[class=3]``); the primary metric if None.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.values(results, metric="f1").get_xlabel()
    'F1'
    """
    axes = axes_or_new(ax)
    wanted = metric if metric is not None else results.primary_metric
    found = values_of(results, wanted)
    decimals = decimals_of(record.standard_error for record in found.values())
    models = [model for model in ranked(results) if model in found]
    for place, model in enumerate(models):
        record, index = found[model], results.models.index(model)
        mark, parts = mark_of(index), []
        first = record.intervals[0] if record.intervals else None
        low, high = (None, None) if first is None else (first.low, first.high)
        if low is not None and high is not None:
            parts += axes.plot(
                [low, high], [place] * 2, color=mark.colour, linewidth=2.0, solid_capstyle="butt"
            )
        text = say("chart.no_value")
        if record.value is not None:
            parts += axes.plot(
                [record.value],
                [place],
                marker=mark.marker,
                color=mark.colour,
                markersize=6.5,
                linestyle="none",
            )
            text = f"{number(record.value, decimals)} {interval(low, high, decimals)}"
        side = {
            "va": "center",
            "clip_on": False,
            "parse_math": False,
            "transform": axes.get_yaxis_transform(),
        }
        parts.append(axes.text(-0.02, place, name_of(names, model), ha="right", color=INK, **side))
        parts.append(axes.text(1.02, place, text, ha="left", color=MUTED, **side))
        for number_of_part, part in enumerate(parts):
            part.set_gid(own_id(axes, index, f"value-{number_of_part}"))
    axes.set_yticks([])
    axes.set_ylim(max(len(models), 1) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(words(wanted), parse_math=False)
    return axes
