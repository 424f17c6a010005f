"""Tables of the report: cells of texts, of values with their limits, and of strokes on the axis of a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise, repeat, starmap
from typing import Literal

from evalreport.numbers import MISSING, Digits, interval, number
from evalreport.plots.pictures import Figure
from evalreport.report.view import Model
from evalreport.schema.lookups import with_limits
from evalreport.schema.metrics import MetricRecord
from evalreport.texts import Message, say

MOST_MODELS = 6
"""Columns of models that fit beside each other on paper."""
DAGGER, MOST_DAGGERS = "\u2020", 6
"""The mark of a value that needs a word, and how many such words stand below a table on paper."""
MANY_MODELS, SHORT_MAP = 5, 12
"""From more models on letters are small on paper; a map of at most so many rows stays on one page."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below the headings of their columns, ``first`` that of the rows' own headings.

    Attributes
    ----------
    headings
        A text heads a column of numbers; a model one of its values; a `Column` says more.
    look
        The classes of the table.
    cut
        So many columns of models fit on paper, where further ones go below; 0: never cut.
    """

    title: str
    headings: tuple[str | Model | Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    look: str = "tests"
    first: str = field(default_factory=partial(say, "table.model"))
    sortable: bool = False
    cut: int = MOST_MODELS

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(head if isinstance(head, Column) else Column(head) for head in self.headings)

    @property
    def whole(self) -> tuple[int, ...]:
        """The places of all columns."""
        return tuple(range(len(self.columns)))

    @property
    def batches(self) -> tuple[tuple[int, ...], ...]:
        """The places of the columns of each part on paper: equal numbers of models, the other columns in the first.

        Examples
        --------
        >>> models = tuple(Model(name, name, name, i, "") for i, name in enumerate("abcdefg"))
        >>> Table("", (*models, "chance"), ()).batches
        ((0, 1, 2, 3, 7), (4, 5, 6))
        """
        models = [place for place, column in enumerate(self.columns) if column.model is not None]
        parts = -(-len(models) // self.cut) if self.cut else 0
        if parts < 2:
            return (self.whole,)
        most = -(-len(models) // parts)
        others = [place for place in range(len(self.columns)) if place not in models]
        first = tuple(sorted((*models[:most], *others)))
        return first, *(tuple(models[k : k + most]) for k in range(most, len(models), most))

    @property
    def has_groups(self) -> bool:
        """Whether its rows stand in groups."""
        return any(not row.cells for row in self.rows)

    @property
    def has_axes(self) -> bool:
        """Whether any column has an axis."""
        return any(column.scale is not None for column in self.columns)

    @property
    def daggers(self) -> tuple[str, ...]:
        """What the daggers of its cells say, each once, for paper; nothing where its note explains them."""
        cells = [cell for row in self.rows for cell in (row.label, *row.cells) if isinstance(cell, Cell)]
        texts = dict.fromkeys(str(cell.note) for cell in cells if cell.note)
        return () if DAGGER in self.note else tuple(texts)[:MOST_DAGGERS]

    @property
    def in_lines(self) -> bool:
        """Whether a phone shows each row as lines of its own."""
        return self.look.startswith(("lined", "triangle", "examples", "found", "cases", "slices"))

    @property
    def is_crowded(self) -> bool:
        """Whether its texts are small on paper: it has many columns, none of them a model's."""
        columns = self.columns
        return len(columns) > MOST_MODELS and not self.in_lines and all(c.model is None for c in columns)

    @property
    def without_axes(self) -> bool:
        """Whether paper has no room for its axes."""
        axes = sum(column.scale is not None for column in self.columns)
        return (axes > 1 and len(self.columns) > MOST_MODELS) or "bars" in self.look


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``kind`` is the class of its cells, ``scale`` the axis of its strokes, ``about`` explains it.

    ``beside`` heads the texts beside its values where the table is copied, and each value where rows stand in lines.
    """

    head: str | Model
    kind: str = "number"
    scale: Scale | None = None
    about: str = ""
    beside: str = ""

    @property
    def model(self) -> Model | None:
        """The model that it is about."""
        return self.head if isinstance(self.head, Model) else None


def headings(heads: Iterable[str], kinds: str) -> tuple[Column, ...]:
    """Return columns of these kinds, separated by commas; further ones hold numbers.

    Examples
    --------
    >>> [column.kind for column in headings(["Test", "p", "df"], "text")]
    ['text', 'number', 'number']
    """
    return tuple(starmap(Column, zip(heads, chain(kinds.split(","), repeat("number")), strict=False)))


@dataclass(frozen=True, slots=True)
class Row:
    """A row, headed by a model, by a label, or by a label that bears the mark of the model.

    A single text instead of several cells spans all columns; a row without cells is the heading of a group. ``key``
    says which models a row without one is about; ``about`` explains the label, not on paper; a row that is ``off`` is
    in grey.
    """

    model: Model | None
    cells: tuple[Cell | Stroke | Sketch | str, ...]
    label: str | Cell = ""
    key: str = ""
    about: str = ""
    off: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with texts ``beside`` and ``below`` it; a sortable table sorts by ``order``.

    ``note`` says what limits the value, ``about`` explains it, ``look`` is its class, and a ``strong`` one stands out.
    """

    value: str
    beside: str = ""
    order: float | None = None
    note: str | Message = ""
    below: tuple[str, ...] = ()
    about: str = ""
    look: str = ""
    strong: bool = True

    @property
    def text(self) -> str:
        """The value with the text beside it."""
        return f"{self.value} {self.beside}".strip()


@dataclass(frozen=True, slots=True)
class Tables:
    """A section of a text, figures, tables and a note, for which ``sections/tables.html.j2`` is the template.

    Several tables each have their title above them. A section that arranges its figures has a template of its own.
    """

    tables: tuple[Table, ...]
    heading: str = ""
    text: str = ""
    figures: tuple[Figure, ...] = ()
    note: str = ""


def value_cell(record: MetricRecord | None, decimals: int | Digits) -> Cell:
    """Write a value with its recommended interval; one that is missing with its reason."""
    value, low, high = with_limits(record)
    note = "" if record is None else record.reason or ""
    return Cell(MISSING, note=note) if value is None else limited_cell(value, low, high, decimals, note=note)


def limited_cell(
    value: float | None,
    low: float | None,
    high: float | None,
    decimals: int | Digits = 3,
    *,
    signed: bool = False,
    excluded: float | None = None,
    note: str | Message = "",
    strong: bool = True,
) -> Cell:
    """Write a value with its limits, by which a sortable table sorts it; a limit that is ``excluded`` is no part."""
    limits = interval(low, high, decimals, signed=signed, excluded=excluded)
    return Cell(number(value, decimals, signed=signed), limits, value, note, strong=strong)


def plain_cell(
    value: float | None,
    low: float | None,
    high: float | None,
    decimals: int | Digits,
    *,
    strong: bool = False,
) -> Cell:
    """Write a value that need not stand out, with its limits; without an upper one they reach to infinity."""
    upper = "∞" if high is None else number(high, decimals)
    limits = "" if low is None and high is None else f"[{number(low, decimals)}, {upper}]"
    return Cell(number(value, decimals), limits, strong=strong)


def pair_row(a: Model, b: Model, cells: tuple[Cell | Stroke | str, ...]) -> Row:
    """Return the row of a difference, a less b."""
    return Row(None, cells, f"{a.name} \u2212 {b.name}", f"{a.key} {b.key}")


Shaded = tuple[str, str, Sequence[tuple[str, int]]]
"""A row of a map: its name, its number of examples, and texts with how red they are; below 0 they are dimmed."""


def shaded(title: str, first: str, models: Sequence[Model], rows: Iterable[Shaded], note: str) -> Table:
    """Return a map of rows by models."""

    def cell(text: str, k: int) -> Cell:
        return Cell(text, look="muted" if k < 0 else f"miss-{k}", strong=False)

    made = tuple(Row(None, (cell(n, -1), *starmap(cell, cells)), label) for label, n, cells in rows)
    look = (
        "map" + (" many" if len(models) > MANY_MODELS else "") + (" short" if len(made) <= SHORT_MAP else "")
    )
    return Table(title, (Column("n", "number muted"), *models), made, note, look=look, first=first, cut=0)


# --- strokes on an axis -----------------------------------------------------------------------------------------------

EDGE, EDGE_OF_DIFFERENCES = 4.0, 3.0
"""Percent of the width that is left free at either side."""


Transform = Literal["linear", "log", "root"]
TRANSFORMS: Mapping[Transform, Callable[[float], float]] = {
    "linear": float,
    "log": math.log,
    "root": math.sqrt,
}
"""What is drawn in proportion: the value, its logarithm or its root; by name, since templates are given plain data."""


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
    transform: Transform
    ticks: tuple[tuple[float, str], ...] = ()
    edge: float = EDGE
    zero: float | None = None
    left: str = ""
    right: str = ""
    band: tuple[float, float] | None = None
    dotted: float | None = None

    def place(self, value: float) -> float:
        """Return the position of a value, at the edge where it lies beyond."""
        transform = TRANSFORMS[self.transform]
        low, high = transform(self.least), transform(self.most)
        within = transform(min(max(value, self.least), self.most))
        return round(self.edge + (100 - 2 * self.edge) * (within - low) / ((high - low) or 1.0), 2)

    def stretch(self, low: float, high: float) -> tuple[float, float]:
        """Return the position of the lower of two values, and how wide the stretch between them is."""
        start = self.place(low)
        return start, round(self.place(high) - start, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One row's marker and line.

    ``bar``: a vertical mark, such as the prediction; ``box``: a bar from the left end; ``full``: the marker is filled.
    ``mark``: the model whose symbol and colour it bears, or ``grey`` in place of the colour. ``tries``: a square for
    each attempt, filled where it passed, in place of all else.
    """

    at: float | None = None
    low: float | None = None
    width: float = 0.0
    bar: float | None = None
    box: float | None = None
    full: bool = True
    title: str = ""
    mark: Model | None = None
    grey: bool = False
    tries: tuple[bool, ...] = ()


SKETCH = (120, 72)
"""Width and height of a sketch, in its own units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A small curve in its band, as paths in a box of ``SKETCH``; ``beyond``: where the curve leaves the band."""

    line: str
    band: str
    beyond: str
    title: str
    mark: Model


Points = Sequence[tuple[float, float]]


def sketch(
    line: Points, band: Points, beyond: Sequence[bool], *, top: float, title: str, mark: Model
) -> Sketch:
    """Return a curve of points within 0 and ``top`` on both axes.

    Parameters
    ----------
    band
        The outline of its band, if it has one.
    beyond
        Of each point of the line whether it lies outside.
    """
    width, height = SKETCH

    def path(points: Points) -> str:
        places = (
            f"{1 + (width - 2) * x / top:.1f} {height - 1 - (height - 2) * min(y, top) / top:.1f}"
            for x, y in points
        )
        return "M" + " L".join(dict.fromkeys(places)) if points else ""

    parts: list[list[tuple[float, float]]] = []
    for place, (point, outside) in enumerate(zip(line, beyond, strict=False)):
        if outside:
            parts = parts if place and beyond[place - 1] else [*parts, []]
            parts[-1].append(point)
    thick = "".join(path(part if len(part) > 1 else part * 2) for part in parts if part)
    return Sketch(line=path(line), band=path(band), beyond=thick, title=title, mark=mark)


def scale_of(
    values: Sequence[float | None],
    ticks: Sequence[float],
    *,
    texts: Callable[[float], str],
    transform: Transform = "linear",
    reference: float | None = None,
    left: str = "",
    right: str = "",
    band: tuple[float, float] | None = None,
    dotted: float | None = None,
) -> Scale:
    """Return a scale from the tick below the values to the tick above, with these candidates for ticks.

    A linear scale ends at candidates too, but has ticks in equal steps; one that would begin near 0 begins there.
    """
    finite = [v for v in (*values, reference, dotted) if v is not None and math.isfinite(v)]
    low, high = min(finite, default=ticks[0]), max(finite, default=ticks[-1])
    least = max((t for t in ticks if t <= low + 1e-12), default=ticks[0])
    most = min((t for t in ticks if t >= high - 1e-12), default=ticks[-1])
    if most <= least:
        least, most = ticks[0], ticks[-1]
    if transform == "linear" and 0 < least < NEAR_ZERO * most:
        least = 0.0
    inside = [t for t in ticks if least - 1e-12 <= t <= most + 1e-12]
    bare = Scale(least=least, most=most, transform=transform)
    shown = (_even if transform == "linear" else _thinned)(inside, bare.place, reference, texts)
    return replace(
        bare, ticks=tuple((bare.place(t), texts(t)) for t in shown), left=left, right=right,
        zero=None if reference is None else bare.place(reference),
        band=None if band is None else bare.stretch(*band),
        dotted=None if dotted is None else bare.place(dotted),
    )  # fmt: skip


LEAST_TICKS = 3
SIDES = (30.0, 65.0)
"""Where 0 leaves room for words to its left from the first, and to its right up to the second."""


def difference_scale(
    ends: Sequence[float],
    *,
    left: str,
    right: str,
    margin: float | None = None,
    dotted: float | None = None,
    letter: float = 3.6,
    power: int = 0,
) -> Scale:
    """Return the scale of differences from 0, in the middle of which a margin is shaded.

    Its ticks are round numbers without a sign, three to six of them, 0 among them. Where their numbers would run into
    each other only every second or third has one, 0 always.

    Parameters
    ----------
    ends
        The differences and their limits; the scale goes from the least to the greatest of them, 0 and the margin.
    dotted
        The difference that a dotted line stands for, if it is on the scale.
    letter
        Percent of the width that a letter takes on the narrower medium, paper.
    power
        The ticks are written in units of ten to this power.
    """
    reach = [0.0] if margin is None else [-margin, 0.0, margin]
    least, most = min(*ends, *reach, 0.0), max(*ends, *reach, 0.0)
    bare = Scale(least=least, most=most, transform="linear", edge=EDGE_OF_DIFFERENCES)
    zero = bare.place(0.0)
    return replace(
        bare,
        ticks=_round_ticks(bare, letter, power),
        zero=zero,
        left=left if zero > SIDES[0] else "",
        right=right if zero < SIDES[1] else "",
        band=None if margin is None else bare.stretch(-margin, margin),
        dotted=bare.place(dotted) if dotted is not None and least <= dotted <= most else None,
    )


def _round_ticks(scale: Scale, letter: float, power: int = 0) -> tuple[tuple[float, str], ...]:
    width = (scale.most - scale.least) or 1.0
    tenth = 10.0 ** math.floor(math.log10(width / 3.5))
    # The widest step that leaves three ticks: a width holds three of any that is at most a third of it.
    for factor in (10, 5, 2.5, 2, 1, 0.5):
        step = tenth * factor
        first, last = math.ceil(scale.least / step - 1e-9), math.floor(scale.most / step + 1e-9)
        if last - first >= LEAST_TICKS - 1:
            break
    decimals = max(0, power - math.floor(math.log10(step) + 1e-9))
    decimals += int(factor == 2.5 and step < 20 * 10.0**power)
    digits = Digits(decimals, power)
    texts = {k: number(abs(k * step), digits) if k else "0" for k in range(first, last + 1)}
    width_of_label = letter * (max(map(len, texts.values())) + 0.5)
    every = math.ceil(width_of_label / ((100 - 2 * scale.edge) * step / width))
    return tuple((scale.place(k * step), "" if k % every else text) for k, text in texts.items())


NEAR_ZERO = 0.25
"""Up to this share of its end a linear scale that begins above 0 begins at 0."""
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
        return _are_apart(lower, upper, place, texts)

    kept = [ticks[0] if reference is None or reference not in ticks else reference]
    for tick in ticks:
        if tick > kept[-1] and apart(kept[-1], tick):
            kept.append(tick)
    for tick in reversed(ticks):
        if tick < kept[0] and apart(tick, kept[0]):
            kept.insert(0, tick)
    return kept


def _are_apart(
    lower: float, upper: float, place: Callable[[float], float], texts: Callable[[float], str]
) -> bool:
    # A text is in the middle of its tick, but at an edge begins or ends there.
    after, before = (1.0 if at_edge else 0.5 for at_edge in (place(lower) < 5.0, place(upper) > 95.0))
    letters = after * len(texts(lower)) + before * len(texts(upper))
    return place(upper) - place(lower) >= max(APART, OF_A_LETTER * letters + 2.0)


def _even(
    ticks: Sequence[float],
    place: Callable[[float], float],
    reference: float | None,
    texts: Callable[[float], str],
) -> list[float]:
    """Return ticks in the smallest round step whose texts do not touch, from the first to the last candidate.

    The reference is one of them where it is a multiple of the step; else they start from it.

    Examples
    --------
    >>> _even([0.0, 0.01, 0.2, 0.3, 0.6, 1.0], lambda tick: 100 * tick, None, "{:g}".format)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    least, most = ticks[0], ticks[-1]
    power = 10.0 ** math.floor(math.log10((most - least) / 10))
    start = 0.0 if reference is None else reference
    for step in (power * factor for factor in (1, 2, 2.5, 5, 10, 20, 25, 50)):
        first, last = math.ceil((least - start) / step - 1e-9), math.floor((most - start) / step + 1e-9)
        found = [round(start + k * step, 12) for k in range(first, last + 1)]
        if all(_are_apart(a, b, place, texts) for a, b in pairwise(found)):
            return found if len(found) > 1 else [least, most]
    return [least, most]


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
    mark: Model | None = None,
    grey: bool = False,
) -> Stroke:
    """Return a row's marker with its line; ``box``: a bar from the left end to a value."""
    start = None if low is None else scale.place(low)
    end = None if high is None else scale.place(high)
    if start is not None and end is None:
        end = 100.0 - scale.edge
    if end is not None and start is None:
        start = scale.edge
    return Stroke(
        at=None if value is None else scale.place(value), low=start,
        width=0.0 if start is None or end is None else round(end - start, 2),
        bar=None if bar is None else scale.place(bar), box=None if box is None else scale.place(box), full=full,
        title=title, mark=mark, grey=grey,
    )  # fmt: skip
