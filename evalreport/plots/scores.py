"""Histograms of scores: the positives upwards, the negatives downwards, each as a share of its class."""

from __future__ import annotations

from typing import Any

from evalreport.numbers import count
from evalreport.plots.curves import name_of, own_id
from evalreport.plots.style import INK, MUTED, PAPER, axes_or_new, mark_of
from evalreport.results import Results
from evalreport.texts import say


def score_histogram(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw how one model's scores are distributed in the two classes: the positive one above, the other below.

    Bars are shares of their class, so that a rare class can be read beside a frequent one. The further apart the two
    lie, the better the model ranks.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    name
        What stands above; the model's name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Examples
    --------
    >>> import evalreport as er
    >>> from evalreport import plots
    >>> scores = {"forest": {"p_1": [0.9, 0.2, 0.7, 0.4]}}
    >>> results = er.evaluate(scores, truth=[1, 0, 1, 0], resamples=100)
    >>> plots.score_histogram(results, "forest").get_xlabel()
    'Probability of 1'
    """
    axes = axes_or_new(ax)
    index = results.models.index(model)
    mark = mark_of(index)
    highest, label = 0.0, say("chart.score")
    for record in (r for r in results.score_histograms if r.model == model):
        side = 1 if record.positive else -1
        shares = [side * number / record.n if record.n else 0.0 for number in record.counts]
        highest = max(highest, *map(abs, shares))
        area = axes.stairs(
            shares, record.edges, fill=True, facecolor=mark.colour if record.positive else MUTED, edgecolor=PAPER,
            alpha=0.75 if record.positive else 0.5, linewidth=0.6, hatch=None if record.positive else "////",
        )  # fmt: skip
        area.set_gid(own_id(axes, index, "positives" if record.positive else "negatives"))
        axes.text(
            0.99, 0.96 if record.positive else 0.04, f"{name_of(None, record.true)} (n = {count(record.n)})",
            ha="right", va="top" if record.positive else "bottom", fontsize=8, color=INK, parse_math=False,
            transform=axes.transAxes,
        )  # fmt: skip
        if record.scale == "probability" and record.positive:
            label = say("chart.probability_of", label=name_of(None, record.true))
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    room = 1.3 * highest or 1.0
    axes.set_ylim(-room, room)
    axes.yaxis.set_major_formatter(lambda share, _: f"{abs(share):.3g}")
    axes.set_xlabel(label, parse_math=False)
    axes.set_ylabel(say("chart.share_of_class"))
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    return axes
