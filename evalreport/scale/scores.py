"""Scores of any size -> histograms by class and sums of products (``ScoreSums``), by group-bys of an engine.

What is summed are whole numbers, so that neither the order of rows nor the number of workers changes a digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.metrics.registry import losses_of_probability, slopes_of_ranks
from evalreport.predictions.arrays import Values
from evalreport.predictions.score_sums import FORECAST_BINS, ScoreSums, by_bin, forecast_key, groups_of
from evalreport.scale.engines import Engine, Frame
from evalreport.scale.label_sources import collected, whole_numbers

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

FIRST_CELLS = 1 << 14
"""Cells of equal width into which scores are cut first."""
OF_A_CLASS = 1 / (1 << 14)
"""A cell with more than this share of a class is cut again, unless all its scores are equal."""
MOST_CUTS = 8
BITS = 61
"""Sums of whole numbers stay below 2 to this power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Examples with the scores of all models that give any.

    Attributes
    ----------
    frame
        One row an example: ``y`` (1 or 0), ``s<k>`` and, of models that give probabilities, ``p<k>``, and ``g<i>``, the
        position of the value of slice column i.
    models
        By name, in order; k is the position.
    with_probabilities, on_probabilities
        Which of them give probabilities; and of these, which are ranked by them.
    limits
        (models, 2) the smallest and largest ``s<k>``.
    probabilities
        (models, 2) the same of ``p<k>``.
    slices
        By column: its values by position.
    n
        Examples.
    classes
        Negatives and positives.
    """

    frame: Frame
    models: tuple[str, ...]
    with_probabilities: frozenset[int]
    on_probabilities: frozenset[int]
    limits: Floats
    probabilities: Floats
    slices: Mapping[str, tuple[str | None, ...]]
    classes: tuple[int, int]

    @property
    def n(self) -> int:
        """Number of examples."""
        return sum(self.classes)


def score_sums(scored: Scored, engine: Engine) -> ScoreSums:
    """Let an engine make the histograms, and then the sums of products."""
    cuts = [_cuts(scored, k, engine) for k in range(len(scored.models))]
    frame = scored.frame
    for k, cut in enumerate(cuts):
        frame = cut.placed(frame, f"s{k}", f"c{k}", engine)
    frame = engine.keep(frame)
    histograms: list[pa.Table] = []
    products: list[dict[str, object]] = []
    for place, column in enumerate((None, *scored.slices)):
        group = "g" if column is None else f"g{place - 1}"
        whole = frame.with_columns(nw.lit(0).cast(nw.Int64).alias(group)) if column is None else frame
        values = (None,) if column is None else scored.slices[column]
        by = _Slicing(whole, group, column, values)
        counted = [_histogram(by, k) for k in range(len(cuts))]
        histograms += [
            _as_table(by, scored.models[k], k in scored.on_probabilities, cut, *counted[k])
            for k, cut in enumerate(cuts)
        ]
        products += _products(scored, by, cuts, counted, engine)
        for k in sorted(scored.with_probabilities):
            products += _forecasts(scored, by, k)
    return ScoreSums(pa.concat_tables(histograms), pa.Table.from_pylist(products, schema=products_schema()))


@dataclass(frozen=True, slots=True)
class _Slicing:
    """All examples by the values of a column of slices, whose positions stand in ``group``; None: not divided."""

    frame: Frame
    group: str
    column: str | None
    values: Sequence[str | None]

    def row(
        self, at: Mapping[str, int], metric: str, a: str, b: str | None, total: float
    ) -> dict[str, object]:
        """Return a row of the table of products: a sum over the class and the value of ``at``."""
        return {
            "slice": self.column, "value": self.values[at[self.group]], "metric": metric, "a": a, "b": b,
            "positive": bool(at["y"]), "total": total,
        }  # fmt: skip


def histograms_schema() -> pa.Schema:
    """Return the columns of the table of histograms."""
    texts = [(name, pa.string()) for name in ("slice", "value", "model")]
    numbers = [("low", pa.float64()), ("high", pa.float64()), ("count", pa.int64())]
    return pa.schema([*texts, ("probability", pa.bool_()), ("positive", pa.bool_()), *numbers])


def products_schema() -> pa.Schema:
    """Return the columns of the table of sums of products."""
    texts = [(name, pa.string()) for name in ("slice", "value", "metric", "a", "b")]
    return pa.schema([*texts, ("positive", pa.bool_()), ("total", pa.float64())])


# --- bins -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Level:
    """How cells are cut: cell ``code`` into ``parts`` of equal width from ``low`` on, the first of which is ``first``.

    ``low`` and widths are of halves of scores, whose span no two doubles exceed.
    """

    code: Numbers
    first: Numbers
    parts: Numbers
    low: Floats
    by_width: Floats


@dataclass(frozen=True, slots=True)
class _Cut:
    """The bins of one model's scores: how they are found, and the lowest and highest score in each."""

    levels: tuple[_Level, ...]
    code: Numbers
    low: Floats
    high: Floats

    @property
    def size(self) -> int:
        """One more than the largest number of a bin."""
        return int(self.code[-1]) + 1

    def placed(self, frame: Frame, score: str, name: str, engine: Engine) -> Frame:
        """Add the number of each row's bin."""
        for level in self.levels:
            frame = _placed(frame, score, name, level, engine)
        return frame


def _placed(frame: Frame, score: str, name: str, level: _Level, engine: Engine) -> Frame:
    """Add the number of each row's cell, or replace it by that of its part."""
    half = nw.col(score) / 2
    if len(level.code) == 1:
        low, by_width, last, first = (
            float(v[0]) for v in (level.low, level.by_width, level.parts - 1, level.first)
        )
        place = ((half - low) * by_width).floor().clip(0.0, last) + first
        return frame.with_columns(place.cast(nw.Int64).alias(name))
    columns = {"low": level.low, "by": level.by_width, "last": level.parts - 1.0, "first": level.first}
    table = pa.table({name: level.code, **columns})
    place = ((half - nw.col("low")) * nw.col("by")).floor()
    within = nw.when(place < nw.col("last")).then(place).otherwise(nw.col("last"))
    kept = [column for column in frame.collect_schema().names() if column != name]
    placed = frame.join(engine.small(table), on=name, how="left")
    return placed.select(*kept, (within.cast(nw.Int64) + nw.col("first")).alias(name))


def _cuts(scored: Scored, k: int, engine: Engine) -> _Cut:
    """Cut a model's scores into bins that hold a small share of each class, or one score."""
    low, high = scored.limits[k]
    span = high / 2 - low / 2
    by_width = FIRST_CELLS / span if span > 0 and math.isfinite(FIRST_CELLS / span) else 0.0
    zero = np.zeros(1, dtype=np.int64)
    levels = [_Level(zero, zero, zero + FIRST_CELLS, np.array([low / 2]), np.array([by_width]))]
    most = np.maximum(1.0, OF_A_CLASS * np.array(scored.classes))
    frame = scored.frame.select("y", f"s{k}")
    while True:
        frame = _placed(frame, f"s{k}", "code", levels[-1], engine)
        cells = frame.group_by("code").agg(
            nw.len().alias("n"), nw.col("y").sum().alias("positives"),
            nw.col(f"s{k}").min().alias("low"), nw.col(f"s{k}").max().alias("high"),
        )  # fmt: skip
        table = collected(cells).sort_by("code")
        code, n, positives = (whole_numbers(table, name) for name in ("code", "n", "positives"))
        lows, highs = (table[name].to_numpy() for name in ("low", "high"))
        crowd = np.maximum((n - positives) / most[0], positives / most[1])
        spans = highs / 2 - lows / 2
        parts = np.where((crowd > 1) & (spans > 0), 2 * np.ceil(crowd), 1).astype(np.int64)
        with np.errstate(divide="ignore", over="ignore"):
            widths = np.where(parts > 1, parts / np.where(spans > 0, spans, 1), 0.0)
        parts[~np.isfinite(widths)], widths[~np.isfinite(widths)] = 1, 0.0
        if len(levels) == MOST_CUTS or not (parts > 1).any():
            return _Cut(tuple(levels), code, lows, highs)
        levels.append(_Level(code, np.cumsum(parts) - parts, parts, lows / 2, widths))


Counted = tuple[Numbers, Numbers, Numbers, Numbers]
"""Of a histogram's rows: the position of the slice, the class, the number of the bin, and the count."""


def _histogram(by: _Slicing, k: int) -> Counted:
    names = [by.group, "y", f"c{k}"]
    table = collected(by.frame.group_by(*names).agg(nw.len().alias("count")))
    table = table.sort_by([(name, "ascending") for name in names])
    place, y, code, counts = (whole_numbers(table, name) for name in (*names, "count"))
    return place, y, code, counts


def _as_table(
    by: _Slicing, model: str, probability: bool, cut: _Cut, group: Numbers, y: Numbers, code: Numbers, count: Numbers
) -> pa.Table:  # fmt: skip

    place = np.searchsorted(cut.code, code)
    rows = len(code)
    return pa.table(
        {
            "slice": pa.array([by.column] * rows, pa.string()),
            "value": pa.array(by.values, pa.string()).take(pa.array(group)),
            "model": pa.array([model] * rows, pa.string()),
            "probability": pa.array([probability] * rows, pa.bool_()),
            "positive": y == 1,
            "low": cut.low[place],
            "high": cut.high[place],
            "count": count,
        }
    )


# --- sums of products -------------------------------------------------------------------------------------------------


def _products(
    scored: Scored, by: _Slicing, cuts: Sequence[_Cut], counted: Sequence[Counted], engine: Engine
) -> Iterator[dict[str, object]]:
    """Yield the rows of the table of products: of derivatives of rank metrics, and of losses of probabilities."""
    slopes_by_name, losses_by_name = slopes_of_ranks(), losses_of_probability()
    frame, group = by.frame, by.group
    scales: dict[str, Floats] = {}
    for k, cut in enumerate(cuts):
        table = _slopes(slopes_by_name.values(), cut, counted[k], len(by.values), scales, k)
        key = (nw.col(group) * 2 + nw.col("y")) * cut.size + nw.col(f"c{k}")
        frame = frame.with_columns(key.alias(f"k{k}")).join(engine.small(table), on=f"k{k}", how="left")
    losses: list[nw.Expr] = []
    for k in sorted(scored.with_probabilities):
        for place, loss in enumerate(losses_by_name.values()):
            scale = _scale_of_loss(loss, scored.probabilities[k], scored.n)
            name = f"l{place}_{k}"
            losses.append((loss(nw.col(f"p{k}"), nw.col("y"), _log) * scale).alias(name))
            scales[name] = np.full(len(by.values), scale)
    frame = frame.select(group, "y", *(name for name in scales if name.startswith("d")), *losses)
    sums: dict[str, tuple[str, str, str | None, Floats]] = {}
    asked: list[nw.Expr] = []

    def ask(metric: str, a: int, b: int | None, product: nw.Expr, scale: Floats) -> None:
        name = f"t{len(sums)}"
        sums[name] = (metric, scored.models[a], None if b is None else scored.models[b], scale)
        asked.append((product + 0.5).floor().cast(nw.Int64).alias(name))

    more = _power_below(math.sqrt(2.0**BITS / scored.n))
    prefixes = [(f"d{m}_", name) for m, name in enumerate(slopes_by_name)]
    prefixes += [(f"l{place}_", name) for place, name in enumerate(losses_by_name)]
    for prefix, metric in prefixes:
        own = [k for k in range(len(cuts)) if f"{prefix}{k}" in scales]
        for a, b in combinations_with_replacement(own, 2):
            first, second = f"{prefix}{a}", f"{prefix}{b}"
            ask(metric, a, b, nw.col(first) * nw.col(second), scales[first] * scales[second])
        for a in own if metric in losses_by_name else ():
            ask(metric, a, None, nw.col(f"{prefix}{a}") * more, scales[f"{prefix}{a}"] * more)
    # Rounded row by row, then added.
    rounded = frame.select(group, "y", *asked)
    table = collected(rounded.group_by(group, "y").agg(nw.col(name).sum() for name in sums))
    for row in table.sort_by([(group, "ascending"), ("y", "ascending")]).to_pylist():
        for name, (metric, one, other, scales_of) in sums.items():
            scale = float(scales_of[row[group]])
            if scale:
                yield by.row(row, metric, one, other, int(row[name]) / scale)


def _forecasts(scored: Scored, by: _Slicing, k: int) -> Iterator[dict[str, object]]:
    """Yield how many examples a model's probabilities put into each of ten bins, and the sums of the probabilities."""
    p, scale = nw.col(f"p{k}"), _power_below(2.0**BITS / scored.n)
    place = (p * FORECAST_BINS).round(12).floor().clip(0, FORECAST_BINS - 1).cast(nw.Int64)
    scaled = (p * scale + 0.5).floor().cast(nw.Int64)
    whole = by.frame.select(by.group, "y", place.alias("bin"), scaled.alias("sum"))
    keys = [by.group, "y", "bin"]
    table = collected(whole.group_by(*keys).agg(nw.len().alias("count"), nw.col("sum").sum()))
    for row in table.sort_by([(key, "ascending") for key in keys]).to_pylist():
        for name, total in (("examples", float(row["count"])), ("forecasts", int(row["sum"]) / scale)):
            yield by.row(row, forecast_key(name, row["bin"]), scored.models[k], None, total)


def _log(column: nw.Expr) -> nw.Expr:
    return column.log()


def _power_below(value: float) -> float:
    return 2.0 ** math.floor(math.log2(value))


def _scale_of_loss(loss: Callable[..., Any], limits: Floats, n: int) -> float:
    """Return a power of 2 that makes the largest square of a loss so large that n of them stay below 2^61."""
    largest = max(abs(float(loss(p, true, math.log))) for p in limits for true in (0.0, 1.0))
    return _power_below(math.sqrt(2.0**BITS / n) / max(largest, 1e-300) / 2)


def _slopes(
    metrics: Iterable[Callable[..., Any]], cut: _Cut, counted: Counted, groups: int, scales: dict[str, Floats], k: int
) -> pa.Table:  # fmt: skip
    """Return the derivatives of every rank metric by slice, class and bin, scaled to be added as whole numbers."""
    group, y, code, count = counted
    place, size = np.searchsorted(cut.code, code), len(cut.code)
    tied = (cut.low == cut.high)[::-1]
    columns: dict[str, Values] = {f"k{k}": (group * 2 + y) * cut.size + code}
    for m, slopes in enumerate(metrics):
        values, scale = np.zeros(len(code)), np.zeros(groups)
        for g in range(groups):
            own = np.flatnonzero(group == g)
            counts = np.zeros((2, size))
            counts[y[own], place[own]] = count[own]
            if not counts.any(axis=1).all():
                continue
            positives, negatives = counts[1, ::-1], counts[0, ::-1]
            of_positives, of_negatives = slopes(*groups_of(positives, negatives, tied))
            of_bins = by_bin(of_positives, of_negatives, positives, tied)
            of_row = np.stack(of_bins[::-1])[y[own], size - 1 - place[own]]
            largest = float(np.abs(of_row).max())
            scale[g] = _power_below(math.sqrt(2.0**BITS / count[own].sum()) / largest / 2) if largest else 1.0
            values[own] = of_row * scale[g]
        columns[f"d{m}_{k}"], scales[f"d{m}_{k}"] = values, scale
    return pa.table(columns)
