"""Positions on the small axes of tables: a marker and a line in each row, one scale below the column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

EDGE = 4.0
"""Percent of the width that is left free at either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis, in percent of the column's width.

    Attributes
    ----------
    ticks
        Positions with their texts.
    zero
        The position of the reference; None: none.
    left, right
        What lies to either side of it.
    band
        Position and width of a shaded stretch.
    dotted
        The position of a dotted line, such as the value of all examples.
    """

    least: float
    most: float
    transform: Callable[[float], float]
    ticks: tuple[tuple[float, str], ...] = ()
    zero: float | None = None
    left: str = ""
    right: str = ""
    band: tuple[float, float] | None = None
    dotted: float | None = None

    def place(self, value: float) -> float:
        """Return the position of a value, at the edge where it lies beyond."""
        return _place(value, self.least, self.most, self.transform)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One row's marker and line.

    ``bar``: a vertical mark, such as the prediction; ``box``: a bar from the left end; ``full``: the marker is filled.
    ``tries``: a square for each attempt, filled where it passed, in place of all else.
    """

    at: float | None = None
    low: float | None = None
    width: float = 0.0
    bar: float | None = None
    box: float | None = None
    full: bool = True
    title: str = ""
    tries: tuple[bool, ...] = ()


def _place(value: float, least: float, most: float, transform: Callable[[float], float]) -> float:
    low, high = transform(least), transform(most)
    share = (transform(min(max(value, least), most)) - low) / ((high - low) or 1.0)
    return round(EDGE + (100 - 2 * EDGE) * share, 2)


def scale_of(
    values: Sequence[float | None],
    ticks: Sequence[float],
    *,
    texts: Callable[[float], str],
    transform: Callable[[float], float] = float,
    reference: float | None = None,
    left: str = "",
    right: str = "",
    band: tuple[float, float] | None = None,
    dotted: float | None = None,
) -> Scale:
    """Return a scale from the tick below the values to the tick above, with these candidates for ticks."""
    known = [v for v in (*values, reference, dotted) if v is not None and math.isfinite(v)]
    low, high = min(known, default=ticks[0]), max(known, default=ticks[-1])
    least = max((t for t in ticks if t <= low + 1e-12), default=ticks[0])
    most = min((t for t in ticks if t >= high - 1e-12), default=ticks[-1])
    if most <= least:
        least, most = ticks[0], ticks[-1]
    inside = [t for t in ticks if least - 1e-12 <= t <= most + 1e-12]
    bare = Scale(least=least, most=most, transform=transform)
    shown = _thinned(inside, bare.place, reference, texts)
    limits = None if band is None else (bare.place(band[0]), bare.place(band[1]))
    return Scale(
        least=least, most=most, transform=transform,
        ticks=tuple((bare.place(t), texts(t)) for t in shown),
        zero=None if reference is None else bare.place(reference), left=left, right=right,
        band=None if limits is None else (limits[0], round(limits[1] - limits[0], 2)),
        dotted=None if dotted is None else bare.place(dotted),
    )  # fmt: skip


APART = 20.0
"""Least percent of the width between two ticks."""
OF_A_LETTER = 5.2
"""Percent of the width that a letter of a tick's text takes, in the narrowest column."""


def _thinned(
    ticks: Sequence[float],
    place: Callable[[float], float],
    reference: float | None,
    texts: Callable[[float], str],
) -> list[float]:
    """Return ticks whose texts do not touch, from the reference (else the first) to both sides.

    Examples
    --------
    >>> _thinned([0.0, 1.0, 2.0, 20.0, 50.0, 90.0], lambda tick: tick, None, "{:g}".format)
    [0.0, 20.0, 50.0, 90.0]
    """

    def apart(lower: float, upper: float) -> bool:
        # A text is in the middle of its tick, but at an edge begins or ends there.
        after, before = (1.0 if at_edge else 0.5 for at_edge in (place(lower) < 5.0, place(upper) > 95.0))
        letters = after * len(texts(lower)) + before * len(texts(upper))
        return place(upper) - place(lower) >= max(APART, OF_A_LETTER * letters + 2.0)

    kept = [ticks[0] if reference is None or reference not in ticks else reference]
    for tick in ticks:
        if tick > kept[-1] and apart(kept[-1], tick):
            kept.append(tick)
    for tick in reversed(ticks):
        if tick < kept[0] and apart(tick, kept[0]):
            kept.insert(0, tick)
    return kept


def stroke(
    scale: Scale,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    bar: float | None = None,
    box: float | None = None,
    full: bool = True,
    title: str = "",
) -> Stroke:
    """Return a row's marker with its line; ``box``: a bar from the left end to a value."""
    start = None if low is None else scale.place(low)
    end = None if high is None else scale.place(high)
    if start is not None and end is None:
        end = 100.0 - EDGE
    if end is not None and start is None:
        start = EDGE
    return Stroke(
        at=None if value is None else scale.place(value), low=start,
        width=0.0 if start is None or end is None else round(end - start, 2),
        bar=None if bar is None else scale.place(bar), box=None if box is None else scale.place(box), full=full,
        title=title,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of numbers or texts; with a ``scale`` one of markers and lines, whose axis is the table's foot."""

    head: str
    scale: Scale | None = None
    kind: str = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinedRow:
    """A row headed by a model (with its symbol and colour) or a label; ``cells`` are texts or strokes by column.

    ``strong``: the places of the cells that are the finding. ``off``: the row is in grey.
    """

    label: str
    cells: tuple[str | Stroke, ...]
    index: int | None = None
    symbol: str = ""
    key: str = ""
    strong: frozenset[int] = frozenset()
    off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinedTable:
    """A table with small axes in its cells."""

    title: str
    first: str
    columns: tuple[Column, ...]
    rows: tuple[LinedRow, ...]
    note: str = ""
    look: str = "lined"
