"""Control charts: one model's value at every audit, with its interval, the limits, and marks of what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalreport.numbers import number
from evalreport.plots.pairs import name_parts
from evalreport.plots.style import DOTTED, FAINT, GRID, INK, MUTED, NEW_AXES, PAPER, chart, mark_of
from evalreport.texts import named, say

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

TWO_SIDED = 1.96
"""Standard errors in half of a 95 % interval."""
MANY = 60
"""From this many audits on, markers are small and intervals thin."""


@dataclass(frozen=True, slots=True)
class Look:
    """One audit of one model.

    Attributes
    ----------
    value, low, high
        The metric with its interval; None where there is none.
    centre, lower, upper
        The accepted run's value and the limits around it; None without an accepted run to compare with.
    accepted
        Whether this run is, or was, an accepted one.
    failed, undecided
        Whether a gate about the model, or about the whole run, did.
    alarm, data
        Whether the audit called the model worse, or the data changed.
    """

    time: datetime
    value: float | None
    low: float | None
    high: float | None
    centre: float | None = None
    lower: float | None = None
    upper: float | None = None
    accepted: bool = False
    failed: bool = False
    undecided: bool = False
    alarm: bool = False
    data: bool = False


# Marks below the values, the gravest first: field of a look, marker.
MARKED = (("failed", "X"), ("undecided", "P"), ("alarm", "v"), ("data", "D"))


@chart
def control(
    looks: Sequence[Look], ax: Axes = NEW_AXES, *, index: int = 0, key: str = "m0", y_label: str = ""
) -> None:
    """Draw one model's value over time: intervals, the accepted value, its limits, and a strip of marks below.

    Parameters
    ----------
    looks
        In the order of time.
    """
    _draw_limits(ax, looks)
    parts = _draw_values(ax, looks, index)
    name_parts(parts, f"{key}--control")
    kinds = [kind for kind in MARKED if any(getattr(look, kind[0]) for look in looks)]
    _make_room(ax, looks, strips=len(kinds))
    for row, (field, marker) in enumerate(reversed(kinds)):
        times = _times([look for look in looks if getattr(look, field)])
        height = 0.05 + 0.075 * row
        ax.plot(
            times, [height] * len(times), marker=marker, markersize=6, color=INK, linestyle="none",
            label=named("chart", field),
            transform=ax.get_xaxis_transform(), clip_on=False,
        )  # fmt: skip
    _label_times(ax)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel(y_label, parse_math=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, handlelength=1.8, borderaxespad=0.2,
                fontsize=8)  # fmt: skip


def _times(looks: Sequence[Look]) -> Any:
    """Return the times of audits; matplotlib's types know numbers alone."""
    return [look.time for look in looks]


def _label_times(axes: Axes) -> None:
    from matplotlib import dates

    drawn: Any = dates  # its functions have no types
    locator = drawn.AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(drawn.ConciseDateFormatter(locator))


def _draw_limits(axes: Axes, looks: Sequence[Look]) -> None:
    """Draw the accepted value and its limits, anew from each acceptance on."""
    for place, part in enumerate(_stretches(looks)):
        times = _times(part)
        lower, upper, centre = (
            [getattr(look, name) for look in part] for name in ("lower", "upper", "centre")
        )
        words = (None, None) if place else (say("chart.limits"), say("chart.accepted"))
        axes.fill_between(times, lower, upper, color=FAINT, linewidth=0, zorder=0, label=words[0])
        for edge in (lower, upper):
            axes.plot(times, edge, color=GRID, linewidth=1.0, zorder=1)
        axes.plot(times, centre, color=MUTED, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1, label=words[1])


def _stretches(looks: Sequence[Look]) -> list[list[Look]]:
    """Divide the looks where the accepted value changes; those without limits are left out."""
    parts: list[list[Look]] = []
    for look in looks:
        if look.centre is None or look.lower is None or look.upper is None:
            continue
        if parts and parts[-1][-1].centre == look.centre:
            parts[-1].append(look)
        else:
            parts.append([look])
    return parts


def _draw_values(axes: Axes, looks: Sequence[Look], index: int) -> list[Artist]:
    mark, few = mark_of(index), len(looks) < MANY
    known = [look for look in looks if look.value is not None]
    parts: list[Artist] = []
    parts += axes.plot(
        _times(known), [look.value for look in known if look.value is not None], color=mark.colour,
        marker=mark.marker, linewidth=1.2 if few else 0.5,
        markersize=5 if few else 2.6, zorder=4, label=say("chart.value"),
    )  # fmt: skip
    limits = [(look.time, look.low, look.high) for look in known if None not in (look.low, look.high)]
    if limits:
        along, low, high = zip(*limits, strict=True)
        parts.append(
            axes.vlines(
                along,
                low,
                high,
                color=mark.colour,
                linewidth=1.3 if few else 0.7,
                alpha=1.0 if few else 0.4,
                zorder=3,
            )
        )
    pinned = [look for look in known if look.accepted]
    if pinned:
        parts += axes.plot(
            _times(pinned), [look.value for look in pinned if look.value is not None], marker="o", markersize=11,
            markerfacecolor="none", markeredgecolor=mark.colour, linestyle="none", zorder=5,
            label=say("chart.accepted_run"),
        )  # fmt: skip
    return parts


def _make_room(axes: Axes, looks: Sequence[Look], *, strips: int) -> None:
    """Keep the lowest part of the axes free for the strips of marks."""
    names = ("value", "low", "high", "lower", "upper")
    heights = [y for look in looks for y in (getattr(look, name) for name in names) if y is not None]
    if not heights:
        return
    low, high = min(heights), max(heights)
    span = (high - low) or max(abs(high), 1.0) * 0.1
    share = 0.06 + 0.08 * strips
    axes.set_ylim(low - span * share / (1 - share) - 0.02 * span, high + 0.06 * span)


@dataclass(frozen=True, slots=True)
class Nights:
    """One model's values of one metric: at the accepted runs, then at those since; ``index`` is its place by rank.

    ``errors`` are the standard errors of all these values, ``alarm``: whether the newest run is one.
    """

    name: str
    index: int
    accepted: tuple[float, ...]
    since: tuple[float, ...]
    alarm: bool = False
    errors: tuple[float, ...] = ()


@chart
def audited_values(models: Sequence[Nights], ax: Axes = NEW_AXES, *, metric: str) -> None:
    """Draw each model's value at the accepted runs (hollow, shaded) and at every audit since, with 95 % intervals.

    A ring marks an alarm about the newest run; dotted is the mean of that model's accepted runs.
    """
    accepted = max(len(m.accepted) for m in models)
    if accepted:
        ax.axvspan(0.5, accepted + 0.5, color=FAINT, linewidth=0, zorder=0)
    for model in models:
        if _is_ringed(model):
            _draw_alarm(ax, model)
        mark = mark_of(model.index)
        values = (*model.accepted, *model.since)
        places = list(range(1, len(values) + 1))
        ax.plot(places, values, color=mark.colour, linewidth=1.2, linestyle=mark.dash)
        if model.errors:
            reach = [TWO_SIDED * error for error in model.errors]
            ax.errorbar(places, values, reach, color=mark.colour, linestyle="none", elinewidth=1.1, alpha=0.7)
        first = len(model.accepted)
        for part, fill in ((slice(0, first), PAPER), (slice(first, None), mark.colour)):
            ax.plot(
                places[part], values[part], color=mark.colour, marker=mark.marker, linestyle="none", markersize=5,
                markerfacecolor=fill,
            )  # fmt: skip
        ax.annotate(
            model.name, (1, values[-1]), xycoords=("axes fraction", "data"), xytext=(5, 0), textcoords="offset points",
            va="center", color=mark.colour, annotation_clip=False,
        )  # fmt: skip
    low, high = ax.get_ylim()
    room = 0.17 * (high - low)  # for the words beside a ring
    ringed = [_falls(model) for model in models if _is_ringed(model)]
    ax.set_ylim(low - room * any(ringed), high + room * (not all(ringed)))
    most = max(len(m.accepted) + len(m.since) for m in models)
    ax.set_xlim(0.5, most + 0.5)
    ax.set_xticks(range(1, most + 1, max(1, most // 12)))
    ax.set_xlabel(say("chart.audit"))
    ax.set_ylabel(metric)


def _is_ringed(model: Nights) -> bool:
    return bool(model.alarm and model.accepted and model.since)


def _falls(model: Nights) -> bool:
    """Say whether the newest value is not above the one before."""
    *_, before, newest = (*model.accepted, *model.since)
    return newest <= before


def _draw_alarm(ax: Axes, model: Nights) -> None:
    """Ring the newest value, with its distance from the mean of the accepted runs, off the line that leads to it."""
    mark, last = mark_of(model.index), len(model.accepted) + len(model.since)
    mean, value = sum(model.accepted) / len(model.accepted), model.since[-1]
    ax.axhline(mean, color=mark.colour, linewidth=0.9, linestyle=DOTTED, zorder=1)
    ax.plot(
        [last], [value], marker="o", markersize=12, markerfacecolor="none", color=INK, markeredgewidth=1.4
    )
    ax.annotate(
        say("chart.fell_by", change=number(value - mean, 3, signed=True)), (last, value),
        xytext=(-9, -15 if _falls(model) else 15), textcoords="offset points", ha="right", va="center", color=INK,
        annotation_clip=False,
    )  # fmt: skip
