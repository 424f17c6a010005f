"""Bias and variance drawn from results: bars of all models, the course of one, what its single replicates predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalreport.algorithm_records import DecompositionRecord
from evalreport.plots.curves import name_of
from evalreport.plots.decomposition import (
    Bar,
    Course,
    Predicted,
    course,
    replicate_predictions,
    stacked_parts,
)
from evalreport.plots.primary import ranked
from evalreport.plots.style import axes_or_new
from evalreport.registry import words
from evalreport.results import Results
from evalreport.texts import say


def bias_variance(
    results: Results,
    ax: Any | None = None,
    *,
    loss: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Draw every model's expected loss as a bar of bias and variance, one for each complexity or training size.

    Parameters
    ----------
    ax
        Matplotlib axes; new ones if None.
    loss
        ``squared``, ``brier``, ``0-1`` or ``kohavi_wolpert``; the first of the results if None.
    names
        What is said for a model; its name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    records = _of(results, loss)
    shown = records[0].loss if records else (loss or "")
    several = len(records) > len({record.model for record in records})
    bars = []
    for r in records:
        label = name_of(names, r.model) + (f", {place_of(r):g}" if several else "")
        key = f"m{results.models.index(r.model)}"
        bars.append(Bar(label, *leading_parts(r), r.noise or 0.0, r.expected_loss, r.low, r.high, key))
    terms = (
        (say("chart.bias"), say("chart.net_variance"))
        if shown == "0-1"
        else (say("chart.bias_squared"), say("chart.variance"))
    )
    return stacked_parts(
        bars,
        ax,
        axis_label=say("chart.expected_loss_in", metric=words(shown)),
        names=terms,
    )


def bias_variance_course(
    results: Results, model: str, ax: Any | None = None, *, loss: str | None = None, name: str | None = None
) -> Any:
    """Draw bias, variance and expected loss of one model against its complexity or training size.

    Parameters
    ----------
    model
        The model's name in the results.
    ax
        Matplotlib axes; new ones if None.
    loss
        As in `bias_variance`.
    name
        What stands above; the model's name if None.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    own = [r for r in _of(results, loss) if r.model == model and place_of(r) is not None]
    records = sorted(own, key=lambda r: place_of(r) or 0.0)
    if records:
        by_size = records[0].complexity is None
        course(
            course_of(records), axes, axis_label=say("chart.training_size" if by_size else "chart.complexity")
        )
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    return axes


def replicates(results: Results, model: str, ax: Any | None = None, *, name: str | None = None) -> Any:
    """Draw what single replicates of one model predict against a one-dimensional input, their mean and the truth.

    The parameters are those of `bias_variance_course`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.
    """
    axes = axes_or_new(ax)
    own = [c for c in results.replicate_predictions if c.model == model]
    lines = {kind: [(c.x, c.y) for c in own if c.curve == kind] for kind in ("replicate", "mean", "truth")}
    if lines["mean"] and lines["truth"]:
        index = results.models.index(model)
        drawn = Predicted(tuple(lines["replicate"]), lines["mean"][0], lines["truth"][0], index, f"m{index}")
        replicate_predictions(drawn, axes)
    axes.set_title(name if name is not None else name_of(None, model), fontsize=9, parse_math=False)
    return axes


def leading_parts(record: DecompositionRecord) -> tuple[float, float]:
    """Give the bias and the variance that are drawn: their unbiased estimates, which add up to the loss as well.

    0-1 loss: the bias, and the unbiased less the biased variance. With one prediction an example: what there is.
    """
    if record.variance_unbiased is None:
        return record.bias, record.variance
    if record.variance_biased is not None:
        return record.bias, record.variance_unbiased - record.variance_biased
    return (record.bias if record.bias_unbiased is None else record.bias_unbiased), record.variance_unbiased


def course_of(records: Sequence[DecompositionRecord]) -> Course:
    """Give what is drawn along complexity or training size, from records in rising order of it."""
    bias, variance = zip(*(leading_parts(r) for r in records), strict=True)
    x = tuple(place_of(r) or 0.0 for r in records)
    return Course(x, bias, variance, tuple(r.expected_loss for r in records))


def place_of(record: DecompositionRecord) -> float | None:
    """Give the complexity of a record, else its training size."""
    return record.complexity if record.complexity is not None else record.train_size


def _of(results: Results, loss: str | None) -> list[DecompositionRecord]:
    losses = [record.loss for record in results.decomposition]
    wanted = loss if loss is not None else (losses[0] if losses else "")
    order = {model: i for i, model in enumerate(ranked(results))}
    found = [record for record in results.decomposition if record.loss == wanted]
    return sorted(found, key=lambda record: order[record.model])
