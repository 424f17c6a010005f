"""What must hold between the counts, histograms and sums of products of one aggregate, whoever wrote it.

Everything is checked that follows from something else in the folder. What does not, such as the truth of a label, can
be checked against the predictions alone (``evalreport verify``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from evalreport.engine.distributions import log
from evalreport.errors import UsageError
from evalreport.metrics.registry import losses_of_probability, slopes_of_ranks
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.score_sums import FORECAST_BINS, by_bin, forecast_key, groups_of
from evalreport.predictions.slicing import read_slicing
from evalreport.scale.label_sources import COUNT, PREDICTION, TRUTH
from evalreport.scale.manifest import HISTOGRAMS, PRODUCTS, Manifest
from evalreport.scale.scores import BITS
from evalreport.sources.files import COUNTS
from evalreport.texts import Message

Group = tuple[str | None, str | None]
"""A column of slices and one of its values; both None: all examples."""
ROUNDING = 1e-9
"""Sums agree to this share of them, whatever the engine that added them up."""
ROUNDING_OF_RANKS = 1e-6
"""The same of sums of squared derivatives, which are computed from the bins."""
UNIT = 2.0 ** (3 - BITS)
"""Of n examples each product is rounded to a multiple of at most this, times n and the largest product."""
EDGE = 1e-11
"""So far from an edge between bins a probability may lie and count as the edge itself."""
SUMMED = ("slice", "value", "metric", "a", "b", "positive", "total")
IN_BINS = ("examples", "forecasts")


class Contradiction(Exception):  # noqa: N818 - it says what is at fault
    """Two figures of an aggregate that cannot both be right: the file of the second one, and why."""

    def __init__(self, file: str, code: str, **values: object) -> None:
        super().__init__(code)
        self.file, self.why = file, Message(f"contradiction.{code}", **values)


def check_counts(counts: pa.Table, manifest: Manifest) -> None:
    """Check the counts alone.

    Raises
    ------
    Contradiction
        Other columns than those of the manifest's models and options, a count below 1, another total.
    """
    names = counts.column_names
    answers = [PREDICTION + model for model in manifest.models]
    known = {name for name in names if name not in (COUNT, TRUTH, *answers)}
    options = manifest.options
    try:
        columns = {part.column for text in options.slices for part in read_slicing(text, known)}
    except UsageError:
        raise Contradiction(COUNTS, "columns") from None
    columns |= {named.strip() for named in (options.cluster, options.weight) if named is not None}
    if len(names) != len(set(names)) or set(names) != {COUNT, TRUTH, *answers, *columns}:
        raise Contradiction(COUNTS, "columns")
    column = counts[COUNT]
    if column.null_count or not counts.num_rows or min(numbers := column.to_pylist()) < 1:
        raise Contradiction(COUNTS, "count_below_one")
    if sum(numbers) != manifest.n:
        raise Contradiction(COUNTS, "total", n=manifest.n, found=sum(numbers))


def check_sums(histograms: pa.Table, products: pa.Table, counts: pa.Table, manifest: Manifest) -> None:
    """Check the sums of scores, among themselves and against the counts.

    Raises
    ------
    Contradiction
        Bins that overlap, totals by model, class and slice that differ, products that no examples can have.
    """
    sizes = _class_sizes(counts, manifest)
    bins = _Histograms(histograms)
    bins.check(sizes)
    _check_cuts(bins, counts, manifest)
    _Products(products, bins, sizes).check()


# --- class sizes ------------------------------------------------------------------------------------------------------


def _class_sizes(counts: pa.Table, manifest: Manifest) -> dict[Group, tuple[int, int]]:
    """Return the negatives and positives of every group, by the counts."""
    labels = counts[TRUTH].unique().to_pylist()
    if len(labels) != 2 or manifest.positive not in labels or counts[TRUTH].null_count:
        raise Contradiction(COUNTS, "no_two_classes")
    answers = {PREDICTION + model for model in manifest.models}
    columns = [None, *(name for name in counts.column_names if name not in (COUNT, TRUTH, *answers))]
    sizes: dict[Group, tuple[int, int]] = {}
    for column in columns:
        keys = [TRUTH] if column is None else [column, TRUTH]
        for row in counts.group_by(keys).aggregate([(COUNT, "sum")]).to_pylist():
            group = (column, None if column is None else row[column])
            negatives, positives = sizes.get(group, (0, 0))
            own = row[f"{COUNT}_sum"]
            is_positive = row[TRUTH] == manifest.positive
            sizes[group] = (negatives, positives + own) if is_positive else (negatives + own, positives)
    return sizes


# --- histograms -------------------------------------------------------------------------------------------------------


class _Histograms:
    """The rows of the table of histograms as arrays (r,): positions of group and model, class, bin and count.

    Bins are numbered by model and score: ``first[m]`` is the first of model m, ``low`` and ``high`` are (b,).
    ``probability`` says of which models these are probabilities.
    """

    def __init__(self, table: pa.Table) -> None:
        """Check each row and each bin."""
        required = ("model", "probability", "positive", "low", "high", "count")
        if not table.num_rows or any(table[name].null_count for name in required):
            raise Contradiction(HISTOGRAMS, "empty_cell")
        self.group, self.groups = _groups(table)
        self.model, models = _coded(table["model"])
        self.models: tuple[str, ...] = tuple(models)
        flags = (table[name].to_numpy() for name in ("positive", "probability"))
        self.positive, probability = (column.astype(np.int64) for column in flags)
        low, high, self.count = (table[name].to_numpy() for name in ("low", "high", "count"))
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
            raise Contradiction(HISTOGRAMS, "limits")
        if (self.count < 1).any():
            raise Contradiction(HISTOGRAMS, "count_below_one")
        of_probability = np.zeros(len(models), np.int64)
        of_probability[self.model] = probability
        inside = (low >= 0) & (high <= 1)
        if (of_probability[self.model] != probability).any() or not inside[probability == 1].all():
            raise Contradiction(HISTOGRAMS, "limits")
        self.probability = tuple(map(bool, of_probability))
        lows, place = np.unique(low, return_inverse=True)
        bins = self.model * len(lows) + place.ravel()
        keys, first_row, number = np.unique(bins, return_index=True, return_inverse=True)
        self.bin, self.low, self.high = number.ravel(), low[first_row], high[first_row]
        of_model = keys // len(lows)
        same = of_model[1:] == of_model[:-1]
        if (self.high[self.bin] != high).any() or (self.high[:-1][same] >= self.low[1:][same]).any():
            raise Contradiction(HISTOGRAMS, "overlap")
        self.first = np.searchsorted(of_model, np.arange(len(models) + 1))
        rows = (self.group * len(keys) + self.bin) * 2 + self.positive
        if len(np.unique(rows)) < len(rows):
            raise Contradiction(HISTOGRAMS, "row_twice")

    def check(self, sizes: dict[Group, tuple[int, int]]) -> None:
        """Check the totals: of every model by group and class, and of every bin by column of slices."""
        if set(self.groups) != set(sizes):
            raise Contradiction(HISTOGRAMS, "groups")
        bins = np.zeros((len(self.groups), len(self.models), 2), dtype=np.int64)
        np.add.at(bins, (self.group, self.model, self.positive), self.count)
        expected = np.array([sizes[group] for group in self.groups])
        wrong = np.argwhere((bins != expected[:, None, :]).any(axis=2))
        if len(wrong):
            raise Contradiction(HISTOGRAMS, "class_sizes", model=self.models[wrong[0, 1]])
        columns = [column for column, _ in self.groups]
        number = {column: place for place, column in enumerate(dict.fromkeys(columns))}
        of_group = np.array([number[column] for column in columns])
        totals = np.zeros((len(number), len(self.low), 2), dtype=np.int64)
        np.add.at(totals, (of_group[self.group], self.bin, self.positive), self.count)
        if (totals != totals[number[None]]).any():
            raise Contradiction(HISTOGRAMS, "slices")

    def by_class(self) -> Iterator[dict[str, _Bins]]:
        """Yield for each group, by model, the bins that hold examples of it."""
        order = np.lexsort((self.bin, self.group))
        ends = np.searchsorted(self.group[order], np.arange(len(self.groups) + 1))
        for start, end in pairwise(ends):
            rows = order[start:end]
            used, place = np.unique(self.bin[rows], return_inverse=True)
            counts = np.zeros((2, len(used)))
            counts[self.positive[rows], place.ravel()] = self.count[rows]
            limits = np.searchsorted(used, self.first)
            bins = {}
            for m, model in enumerate(self.models):
                own = slice(limits[m], limits[m + 1])
                low, high = self.low[used[own]], self.high[used[own]]
                bins[model] = _Bins(counts[:, own], low, high, self.probability[m])
            yield bins


@dataclass(frozen=True, slots=True)
class _Bins:
    """A model's bins that hold examples of a group: counts (2, b) of negatives and positives, and limits, ascending."""

    counts: Floats
    low: Floats
    high: Floats
    probability: bool


def _groups(table: pa.Table) -> tuple[Indices, tuple[Group, ...]]:
    """Return the position of each row's group, and the groups."""
    column, columns = _coded(table["slice"])
    value, values = _coded(table["value"])
    keys, place = np.unique(column * len(values) + value, return_inverse=True)
    return place.ravel(), tuple((columns[key // len(values)], values[key % len(values)]) for key in keys)


def _coded(column: pa.ChunkedArray) -> tuple[Indices, Sequence[Any]]:
    """Return the codes of a column of text, and its texts; None is one of them where it is there."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    encoded = encoded.combine_chunks() if hasattr(encoded, "combine_chunks") else encoded
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()


def _check_cuts(bins: _Histograms, counts: pa.Table, manifest: Manifest) -> None:
    """Check the labels that were cut from the probabilities that also rank."""
    threshold = 0.5 if manifest.options.threshold is None else manifest.options.threshold
    whole = dict(zip(bins.groups, bins.by_class(), strict=True))[None, None]
    for model in manifest.cut:
        if model not in whole or not whole[model].probability:
            continue
        rows = counts.group_by([TRUTH, PREDICTION + model]).aggregate([(COUNT, "sum")]).to_pylist()
        called = [0, 0]
        for row in rows:
            if row[PREDICTION + model] == manifest.positive:
                called[row[TRUTH] == manifest.positive] += row[f"{COUNT}_sum"]
        own = whole[model]
        least, most = (own.counts[:, ends >= threshold].sum(axis=1) for ends in (own.low, own.high))
        if (called < least).any() or (called > most).any():
            raise Contradiction(COUNTS, "cut", model=model, threshold=threshold)


# --- sums of products -------------------------------------------------------------------------------------------------

Key = tuple[str, str, str | None]
"""A metric, a model, and a second one (the same: of its squares; None: of its losses alone)."""


class _Products:
    """The table of products beside the histograms, group by group."""

    def __init__(
        self, table: pa.Table, histograms: _Histograms, sizes: Mapping[Group, tuple[int, int]]
    ) -> None:
        self.histograms, self.sizes = histograms, sizes
        self.ranks, self.losses = slopes_of_ranks(), losses_of_probability()
        self.n = sum(sizes[None, None])
        models = len(histograms.models)
        pairs = models * (models + 1) // 2
        a_class = len(self.ranks) * pairs + len(self.losses) * (pairs + models) + 2 * FORECAST_BINS * models
        if table.num_rows > 2 * len(sizes) * a_class:
            raise Contradiction(PRODUCTS, "rows")
        if any(table[name].null_count for name in ("metric", "a", "positive", "total")):
            raise Contradiction(PRODUCTS, "empty_cell")
        if not np.isfinite(table["total"].to_numpy()).all():
            raise Contradiction(PRODUCTS, "not_finite")
        self.found: dict[Group, dict[Key, dict[bool, float]]] = {}
        for column, value, metric, a, b, positive, total in zip(
            *(table[name].to_pylist() for name in SUMMED), strict=True
        ):
            own = self.found.setdefault((column, value), {}).setdefault((metric, a, b), {})
            if positive in own:
                raise Contradiction(PRODUCTS, "row_twice")
            own[positive] = total

    def check(self) -> None:
        """Check every group: which sums it has, and their values."""
        if not set(self.found) <= set(self.histograms.groups):
            raise Contradiction(PRODUCTS, "groups")
        models = self.histograms.models
        whole = self.found.get((None, None), {})
        forecasting = sorted({a for metric, a, _ in whole if metric not in self.ranks})
        needed = {m for m, own in zip(models, self.histograms.probability, strict=True) if own}
        if not needed <= set(forecasting) <= set(models):
            raise Contradiction(PRODUCTS, "rows")
        for group, bins in zip(self.histograms.groups, self.histograms.by_class(), strict=True):
            self._check_group(self.found.get(group, {}), bins, self.sizes[group], forecasting)

    def _check_group(
        self,
        found: Mapping[Key, Mapping[bool, float]],
        bins: Mapping[str, _Bins],
        sizes: tuple[int, int],
        forecasting: Sequence[str],
    ) -> None:
        classes = {positive for positive in (False, True) if sizes[positive]}
        expected: set[Key] = set()
        if len(classes) == 2:
            expected = {(metric, *pair) for metric in self.ranks for pair in _pairs(bins)}
        for metric in self.losses:
            expected |= {(metric, *pair) for pair in _pairs(forecasting)}
            expected |= {(metric, a, None) for a in forecasting}
        keys = [forecast_key(what, k) for what in IN_BINS for k in range(FORECAST_BINS)]
        in_bins = {(key, a, None) for key in keys for a in forecasting}
        there = expected <= set(found) <= expected | in_bins and all(
            set(found[k]) == classes for k in expected
        )
        if not there or any(not set(own) <= classes for own in found.values()):
            raise Contradiction(PRODUCTS, "rows")
        for positive in classes:
            own = {key: values[positive] for key, values in found.items() if positive in values}
            if len(classes) == 2:
                for metric, slopes in self.ranks.items():
                    self._check_sums(metric, own, {m: _of_ranks(slopes, bins[m], positive) for m in bins})
            for metric, loss in self.losses.items():
                self._check_sums(metric, own, {m: _of_losses(loss, bins[m], positive) for m in forecasting})
            for model in forecasting:
                self._check_forecasts(own, model, bins[model], positive)

    def _check_sums(self, metric: str, own: Mapping[Key, float], bounds: Mapping[str, _Bounds]) -> None:
        """Check squares and sums, which lie within bounds by the histograms, and products by Cauchy and Schwarz."""
        rounding = ROUNDING_OF_RANKS if metric in self.ranks else ROUNDING
        errors = {m: one.size * self.n * one.largest * UNIT for m, one in bounds.items()}
        for a, b in _pairs(bounds):
            squares = [own[metric, m, m] + errors[m] * bounds[m].largest for m in (a, b)]
            most = math.sqrt(max(squares[0], 0.0) * max(squares[1], 0.0))
            error = errors[a] * bounds[b].largest
            holds = abs(own[metric, a, b]) <= (1 + rounding) * most + error
            if holds and a == b:
                holds = _within(own[metric, a, a], bounds[a].of_squares, error, rounding)
            of_losses = bounds[a].of_losses
            if holds and a == b and of_losses is not None:
                total, largest = own[metric, a, None], (1 + ROUNDING) * math.sqrt(bounds[a].size * most)
                holds = _within(total, of_losses, errors[a]) and abs(total) <= largest + errors[a]
            if not holds:
                raise Contradiction(PRODUCTS, "product", metric=metric, a=a, b=b)

    def _check_forecasts(self, own: Mapping[Key, float], model: str, bins: _Bins, positive: bool) -> None:
        """Check the bins of probabilities: whole numbers of examples that add up, and sums that lie in their bins."""
        places = range(FORECAST_BINS)
        given = [{k for k in places if (forecast_key(what, k), model, None) in own} for what in IN_BINS]
        keys = ([(forecast_key(what, k), model, None) for k in places] for what in IN_BINS)
        number, sums = (np.array([own.get(key, 0.0) for key in some]) for some in keys)
        counts = bins.counts[int(positive)]
        n = counts.sum()
        error = n * (self.n * UNIT + ROUNDING)
        edges = np.arange(FORECAST_BINS + 1) / FORECAST_BINS
        inside = (sums >= number * edges[:-1] - error) & (sums <= number * edges[1:] + error)
        holds = (
            given[0] == given[1] == set(np.flatnonzero(number).tolist())
            and bool((number == np.floor(number)).all() and (number >= 0).all() and number.sum() == n)
            and bool(inside.all())
        )
        if holds and bins.probability:
            below, inner = np.cumsum(number)[:-1], edges[1:-1, None]
            least = np.where(bins.high < inner - EDGE, counts, 0.0).sum(axis=1)
            most = np.where(bins.low < inner + EDGE, counts, 0.0).sum(axis=1)
            ends = (float((counts * bins.low).sum()), float((counts * bins.high).sum()))
            fits = bool((least <= below).all() and (below <= most).all())
            holds = fits and _within(float(sums.sum()), ends, error)
        if not holds:
            raise Contradiction(PRODUCTS, "forecasts", model=model)


def _pairs(models: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield every pair of models as the table has it, the first by name first; also each model with itself."""
    return combinations_with_replacement(sorted(models), 2)


def _within(value: float, limits: tuple[float, float], error: float, rounding: float = ROUNDING) -> bool:
    low, high = limits
    return low - rounding * abs(low) - error <= value <= high + rounding * abs(high) + error


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The least and the most that a class's squares (and losses, of these alone) add up to.

    ``largest`` is the largest loss, or the largest derivative of both classes; ``size`` the number of examples.
    """

    of_squares: tuple[float, float]
    largest: float
    size: int
    of_losses: tuple[float, float] | None = None


def _of_ranks(slopes: Callable[..., Floats], bins: _Bins, positive: bool) -> _Bounds:
    """Return the sum of a class's squared derivatives, which follows from the histogram, as both bounds."""
    negatives, positives = bins.counts[:, ::-1]
    tied = (bins.low == bins.high)[::-1]
    of_positives, of_negatives = slopes(*groups_of(positives, negatives, tied))
    of_positives, of_negatives = by_bin(of_positives, of_negatives, positives, tied)
    used = np.concatenate([of_positives[positives > 0], of_negatives[negatives > 0]])
    counts, derivative = (positives, of_positives) if positive else (negatives, of_negatives)
    total = float((counts * derivative**2).sum())
    return _Bounds((total, total), float(np.abs(used).max()), int(counts.sum()))


def _of_losses(loss: Callable[..., Floats], bins: _Bins, positive: bool) -> _Bounds:
    """Bound the losses of a class by the ends of its bins: a loss grows with the distance from the truth.

    Where a score ranks, nothing is known of the probabilities but that they are some.
    """
    counts = bins.counts[int(positive)]
    low, high = (bins.low, bins.high) if bins.probability else (np.zeros_like(counts), np.ones_like(counts))
    ends = np.stack([loss(side, float(positive), log) for side in (low, high)])
    least, most = (ends.min(axis=0), ends.max(axis=0))
    largest = max(float(np.abs(loss(np.array([0.0, 1.0]), true, log)).max()) for true in (0.0, 1.0))
    of_losses = (float((counts * least).sum()), float((counts * most).sum()))
    of_squares = (float((counts * least**2).sum()), float((counts * most**2).sum()))
    return _Bounds(of_squares, largest, int(counts.sum()), of_losses)
