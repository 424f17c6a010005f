"""Bootstrap replicates of the metrics of rows: from the rows themselves, or from histograms of the scores."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse

from evalreport.engine.distributions import (
    Columns,
    Pieces,
    Whole,
    dot,
    piece_sums,
    piece_sums_of_tiles,
    sparse_rows,
    weighted_sums,
    whole_numbers,
)
from evalreport.engine.draws import MANY_ROWS, Tile, in_floats, of_row_bytes, weights_of_rows
from evalreport.engine.histograms import (
    NEGLIGIBLE_SHARE,
    Bins,
    BinWeights,
    RowSamples,
    Slopes,
    bin_weights,
    by_row,
    of_row_samples,
    shares,
    slopes_of,
)
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import group_weights
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.first_order import FirstOrder, held_to_first_order
from evalreport.metrics.layout import Layout, Parts
from evalreport.metrics.metric import Middle, Moments, Ranks, RowWise
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_data import Key, RowData, mean_of_parts
from evalreport.predictions.arrays import Floats
from evalreport.samplings import Sampling


def with_replicates(
    data: RowData, estimates: Mapping[Key, Estimate], drawn: Collection[Key], *, n_resamples: int, seed: int
) -> dict[Key, Estimate]:
    """Give some estimates their replicates, all from the same draws; a histogram needs no states for them."""
    keys = [
        key
        for key, e in estimates.items()
        if key in drawn and not np.isnan(e.value) and data.is_resampled(key)
    ]
    if not keys:
        return dict(estimates)
    bases = {key: base for key in keys if (base := _base_of(key)) != key and base in keys}
    keys = [key for key in keys if key not in bases]
    source = (
        FromHistogram.of(data, estimates, keys)
        if data.one_by_one and (data.bins or data.source == "histograms alone")
        else FromRows.of(data, estimates, keys)
    )
    parts: dict[Key, list[Floats]] = {key: [] for key in keys}
    for values in source.blocks(n_resamples, seed=seed):
        for key, part in values.items():
            parts[key].append(part)
    found = {key: np.concatenate(own) for key, own in parts.items() if own}
    for key, base in bases.items():
        scale = definition(key[1]).scale.affine_of
        if scale is not None and base in found:
            found[key] = scale.forward(found[base])
    return {key: replace(e, replicates=found.get(key, e.replicates)) for key, e in estimates.items()}


def _base_of(key: Key) -> Key:
    """Return the same quantity of the metric that this one is on another scale of; the key itself of other metrics."""
    scale = definition(key[1]).scale.affine_of
    return key if scale is None else (key[0], replace(key[1], metric=scale.of))


_WEIGHTS_AT_ONCE, _LEAST_AT_ONCE = 1 << 20, 16
"""Weights of the rows of one part that are ranked at once (8 MB): many replicates side by side, in the cache still."""


@dataclass(frozen=True, slots=True)
class FromRows:
    """Replicates from draws of units: every metric is a function of the weights of the rows.

    Of very many rows that are clustered, or weigh differently, rank metrics are functions of their bins.

    Attributes
    ----------
    columns
        What is summed.
    middle
        Functions of rows that are given sums of columns and the weights of few rows, where draws come in tiles.
    first_order
        Means over pairs of rows whose first order is all that matters; None where there are none.
    by_row
        The quantities that need the weights of all rows.
    """

    data: RowData
    columns: ColumnBlock
    middle: Mapping[Key, Middle]
    first_order: FirstOrder | None
    by_row: Sequence[Key]

    @classmethod
    def of(cls, data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> FromRows:
        """Prepare the replicates of quantities."""
        middle = {key: found for key in keys if _in_tiles(data) and (found := _middle(key)) is not None}
        columns = {key: data.columns[key] for key in keys if key in data.columns}
        columns |= {key: one.columns(data.states[key][0]) for key, one in middle.items()}
        block = ColumnBlock.of(columns, data.units, data.layout)
        paired = held_to_first_order(data, estimates, keys)
        first = FirstOrder.of(data, estimates, [*paired]) if paired else None
        return cls(data, block, middle, first, [key for key in keys if key not in {*columns, *paired}])

    def blocks(self, n_resamples: int, *, seed: int) -> Iterator[dict[Key, Floats]]:
        """Yield each quantity's values (b,) under one block of draws after the other."""
        if _in_tiles(self.data):
            n = self.data.units.n
            yield from of_row_bytes(
                lambda _, drawn: self.of_tiles([*drawn]), n, n_resamples, seed=seed, kept=True
            )
        else:
            yield from mapped(self._values, self.data.units.unit_draws(n_resamples, seed=seed))

    def _values(self, multiplicities: Floats) -> dict[Key, Floats]:
        """Return each quantity's values (b,) under multiplicities of units (b, units)."""
        found = _of_sums(self.columns.sums(multiplicities))
        if self.first_order is not None:
            found |= self.first_order.replicates([(slice(0, self.data.units.n), multiplicities.T)])
        if self.by_row:
            found |= self._by_row(self.by_row, multiplicities)
        return found

    def of_tiles(self, drawn: Sequence[Tile]) -> dict[Key, Floats]:
        """Return each quantity's values (b,) under draws of rows that come in tiles."""
        sums = self.columns.sums_of_tiles(drawn)
        found = _of_sums({key: s for key, s in sums.items() if key not in self.middle})
        for key, one in self.middle.items():
            found[key] = self._of_middle(key, one, sums[key][:, 0], drawn)
        if self.first_order is not None:
            found |= self.first_order.replicates(drawn)
        if self.by_row:
            blocks = [self._by_row(self.by_row, weights) for weights in in_floats(drawn)]
            found |= {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}
        return found

    def _of_middle(self, key: Key, middle: Middle, sums: Floats, tiles: Sequence[Tile]) -> Floats:
        """Return values (b,) from sums (b, p) and the weights of few rows; of all rows where these do not do."""
        state, values = self.data.states[key][0], np.empty(len(sums))
        done = 0
        for weights in weights_of_rows(tiles, middle.rows(state)):
            some = slice(done, done + len(weights))
            values[some] = middle.function(state, sums[some], weights)
            done = some.stop
        for lacking in np.flatnonzero(np.isnan(values)).tolist():
            own = [(rows, counts[:, lacking : lacking + 1]) for rows, counts in tiles]
            values[lacking] = self._by_row([key], next(in_floats(own)))[key][0]
        return values

    def _by_row(self, keys: Sequence[Key], multiplicities: Floats) -> dict[Key, Floats]:
        """Evaluate rank and row metrics under multiplicities of units (b, units), a few at a time."""
        largest = max(len(rows) for rows in self.data.layout.ranked.rows())
        pieces = -(-len(multiplicities) // max(_LEAST_AT_ONCE, _WEIGHTS_AT_ONCE // largest))
        blocks = [self._few_by_row(keys, few) for few in np.array_split(multiplicities, pieces)]
        return {key: np.concatenate([block[key] for block in blocks]) for key in keys}

    def _few_by_row(self, keys: Sequence[Key], multiplicities: Floats) -> dict[Key, Floats]:
        """Take the mean over the parts in which a metric is defined."""
        data = self.data
        rows_of_parts = data.layout.ranked.rows()
        multiplicities = np.asfortranarray(multiplicities)
        found: dict[Key, list[Floats]] = {key: [] for key in keys}
        exact = {
            key[0]
            for key in keys
            if isinstance(definition(key[1]).computation, Ranks) and not data.is_binned(key)
        }
        for j, rows in enumerate(rows_of_parts):
            part = data.units.expand(multiplicities, slice(None) if len(rows_of_parts) == 1 else rows)
            groups = {
                name: group_weights(part, orders[j].merged)
                for name, orders in data.orders.items()
                if name in exact
            }
            rows_first = by_row(part) if data.bins else None
            by_bin = {
                name: bin_weights(rows_first, bins[j])
                for name, bins in data.bins.items()
                if rows_first is not None
            }
            for key, values in found.items():
                metric = definition(key[1])
                if data.is_binned(key):
                    assert metric.binned is not None
                    values.append(metric.binned(by_bin[key[0]]))
                elif isinstance(metric.computation, Ranks):
                    values.append(metric.computation.function(*groups[key[0]]))
                else:
                    values.append(metric.computation.function(data.states[key][j], part))
        return {key: mean_of_parts(np.stack(values), data.layout) for key, values in found.items()}


def _in_tiles(data: RowData) -> bool:
    """Say whether draws come in tiles: of many rows that are drawn one by one."""
    return data.one_by_one and data.units.n >= MANY_ROWS


def _middle(key: Key) -> Middle | None:
    computation = definition(key[1]).computation
    found = computation.many_rows if isinstance(computation, RowWise) else None
    return found if isinstance(found, Middle) else None


def _of_sums(sums: Mapping[Key, Floats]) -> dict[Key, Floats]:
    """Return functions (b,) of sums (b, parts, p): the mean over the parts."""
    return {key: definition(key[1]).computation.function(s).mean(axis=1) for key, s in sums.items()}


@dataclass(frozen=True, slots=True)
class FromHistogram:
    """Replicates of rows that are drawn one by one, from what the draws add to each bin of the scores.

    Rank metrics are functions of the bins. A mean of losses is its value plus the sum of its derivatives, which are the
    same all over a bin but for what lies inside; so is what a bin leaves out of a rank metric. Where that part
    matters, it is added up row by row. Quantities that bins cannot give come from the rows of the same draws.

    Attributes
    ----------
    bins
        By model, of those models that have such a quantity; of rank metrics alone neighbouring bins without a positive
        are one.
    ranked
        Rank metrics that are functions of the bins.
    losses
        Means of losses: the value, and each code's mean derivative (2 G,); None where the model has no bins.
    inside
        By key, where the derivative's part inside bins is added: that part as whole numbers, and their unit.
    others
        The quantities that come from rows; None where there are none.
    """

    n: int
    bins: Mapping[str, Bins]
    ranked: Sequence[Key]
    losses: Mapping[Key, tuple[float, Floats | None]]
    inside: Mapping[Key, tuple[Whole, float]]
    others: FromRows | None

    @classmethod
    def of(cls, data: RowData, estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> FromHistogram:
        """Prepare the replicates of quantities."""
        bins = {name: parts[0] for name, parts in data.bins.items()}
        means = [key for key in keys if _is_mean(key)]
        ranked = [key for key in keys if data.is_binned(key)]
        if data.source != "histograms alone":
            unsafe = _nearly_alike(estimates, ranked)
            ranked = [key for key in ranked if key not in unsafe]
        losses: dict[Key, tuple[float, Floats | None]] = {}
        added: dict[Key, Floats] = {}
        smooth: dict[Quantity, list[Key]] = {}
        for key in (*means, *ranked):
            if estimates[key].derivative is not None:
                smooth.setdefault(key[1], []).append(key)

        def of_quantity(own: Sequence[Key]) -> tuple[Sequence[Floats | None], Sequence[Floats]]:
            slopes = slopes_of_keys(bins, estimates, own)
            matters = max(shares(slopes).values()) > NEGLIGIBLE_SHARE
            return slopes.means, [slopes.inside(j) for j in range(len(own))] if matters else []

        for own, (of_codes, inside) in zip(
            smooth.values(), mapped(of_quantity, [*smooth.values()]), strict=True
        ):
            losses |= {
                key: (estimates[key].value, mean)
                for key, mean in zip(own, of_codes, strict=True)
                if key in means
            }
            added |= dict(zip(own, inside, strict=bool(inside)))
        whole = {key: whole_numbers(part) for key, part in added.items()}
        with_losses, with_ranks = ({key[0] for key in own} for own in (losses, ranked))
        used = {
            model: one if model in with_losses else one.by_positives
            for model, one in bins.items()
            if model in with_losses | with_ranks
        }
        rest = [key for key in keys if key not in {*ranked, *losses}]
        others = FromRows.of(replace(data, bins={}), estimates, rest) if rest else None
        return cls(data.units.n, used, ranked, losses, whole, others)

    def blocks(self, n_resamples: int, *, seed: int) -> Iterator[dict[Key, Floats]]:
        """Yield each quantity's values (b,) under one block of draws after the other."""
        bins, columns = [*self.bins.values()], [column for column, _ in self.inside.values()]
        with_tiles = self.others is not None
        yield from of_row_samples(
            self._values, bins, columns, self.n, n_resamples, seed=seed, with_tiles=with_tiles
        )

    def _values(self, drawn: RowSamples) -> dict[Key, Floats]:
        found = {
            key: np.full(drawn.size, value) for key, (value, slope) in self.losses.items() if slope is None
        }
        for j, model in enumerate(self.bins):
            parts = [self._of_model(model, part) for part in drawn.histograms(j)]
            found |= {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        for (key, (_, unit)), of_column in zip(self.inside.items(), drawn.columns, strict=True):
            found[key] = found[key] + unit * of_column
        if self.others is not None:
            found |= self.others.of_tiles(drawn.tiles)
        return found

    def _of_model(self, model: str, by_bin: BinWeights) -> dict[Key, Floats]:
        found: dict[Key, Floats] = {}
        exact: Floats | None = None
        for key in self.ranked:
            if key[0] == model:
                binned = definition(key[1]).binned
                assert binned is not None
                found[key] = binned(by_bin.by_positives)
        for key, (value, slopes) in self.losses.items():
            if key[0] == model and slopes is not None:
                exact = by_bin.by_code.astype(np.float64) if exact is None else exact
                found[key] = value + weighted_sums(exact.T, slopes)
        return found


def _is_mean(key: Key) -> bool:
    metric = definition(key[1])
    return isinstance(metric.computation, Moments) and metric.is_mean


ALIKE = 0.04
"""Of a model's variance: where that of a difference is less, what bins leave out of each model may matter in it."""


def _nearly_alike(estimates: Mapping[Key, Estimate], keys: Sequence[Key]) -> set[Key]:
    """Return the rank metrics of models that hardly differ in them, so that their rows themselves are resampled."""
    found: set[Key] = set()
    slopes = {key: d for key in keys if (d := estimates[key].derivative) is not None}
    for one, other in combinations(slopes, 2):
        if one[1] == other[1]:
            a, b = slopes[one], slopes[other]
            apart = a - b
            square = dot(apart, apart)
            if 0 < square < ALIKE * max(dot(a, a), dot(b, b)):
                found |= {one, other}
    return found


def slopes_of_keys(
    bins: Mapping[str, Bins], estimates: Mapping[Key, Estimate], keys: Sequence[Key]
) -> Slopes:
    """Put the derivatives of one quantity beside the models' bins; without bins all of the variance is inside."""
    return slopes_of([_derivative(estimates[key]) for key in keys], [bins.get(key[0]) for key in keys])


def _derivative(estimate: Estimate) -> Floats:
    assert estimate.derivative is not None
    return estimate.derivative


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """The columns of many quantities, by unit and part; no sum's last digit depends on the others.

    Dense columns are taken apart into whole numbers, whose one product for all of them is exact; a sparse product
    adds the columns one by one.

    Attributes
    ----------
    pieces, dense
        The distinct dense columns, and by key which of them are its own.
    table, joined
        The sparse columns side by side, and by key where its own begin and end.
    """

    parts: int
    pieces: tuple[Pieces, ...]
    dense: Mapping[Key, list[int]]
    table: sparse.csr_array | None
    joined: Mapping[Key, tuple[int, int]]

    @classmethod
    def of(cls, columns: Mapping[Key, Columns], units: Sampling, layout: Layout) -> ColumnBlock:
        """Add the columns up by unit and part."""
        parts = layout.pooled
        single = units.plain and parts.count == 1
        pieces: dict[bytes, Pieces] = {}
        dense: dict[Key, list[int]] = {}
        for key, table in columns.items():
            if single and isinstance(table, tuple):
                own = [hashlib.blake2b(np.ascontiguousarray(column).data).digest() for column in table]
                pieces |= {d: Pieces.of(c) for d, c in zip(own, table, strict=True) if d not in pieces}
                dense[key] = [list(pieces).index(digest) for digest in own]
        rest = {key: table for key, table in columns.items() if key not in dense}
        if not rest:
            return cls(parts.count, tuple(pieces.values()), dense, None, {})
        by_unit = [unit_columns(table, units, layout) for table in rest.values()]
        edges = np.cumsum([0, *(table.shape[1] for table in by_unit)]).tolist()
        joined = sparse.csr_array(sparse.hstack(by_unit))
        spans = dict(zip(rest, pairwise(edges), strict=True))
        return cls(parts.count, tuple(pieces.values()), dense, joined, spans)

    def sums(self, multiplicities: Floats) -> dict[Key, Floats]:
        """Return the weighted sums (b, parts, p) of each quantity under multiplicities (b, units), whole numbers."""
        dense = piece_sums(self.pieces, multiplicities) if self.pieces else None
        return self._by_key(dense, None if self.table is None else np.asarray(multiplicities @ self.table))

    def sums_of_tiles(self, tiles: Sequence[Tile]) -> dict[Key, Floats]:
        """Return the same under draws of rows that come in tiles."""
        dense = piece_sums_of_tiles(self.pieces, tiles) if self.pieces else None
        table = self.table
        if table is None:
            return self._by_key(dense, None)
        return self._by_key(dense, np.concatenate([np.asarray(w @ table) for w in in_floats(tiles)]))

    def _by_key(self, dense: Floats | None, sparse_sums: Floats | None) -> dict[Key, Floats]:
        found: dict[Key, Floats] = {}
        if dense is not None:
            found |= {key: dense[:, None, own] for key, own in self.dense.items()}
        if sparse_sums is not None:
            shape = (len(sparse_sums), self.parts, -1)
            found |= {key: sparse_sums[:, a:b].reshape(shape) for key, (a, b) in self.joined.items()}
        return found


def unit_columns(columns: Columns, units: Sampling, layout: Layout) -> sparse.csr_array:
    """Return what one draw of each unit adds to the sums of a quantity, (units, parts p): its rows' p columns."""
    table = sparse_rows(np.column_stack(columns)) if isinstance(columns, tuple) else sparse.csr_array(columns)
    single = units.plain and layout.pooled.count == 1
    return table if single else units.gather(_spread(table, layout.pooled))


def _spread(joined: sparse.csr_array, parts: Parts) -> sparse.csr_array:
    """Give every part columns of its own: (n, p) becomes (n, parts p)."""
    n, width = joined.shape
    filled = sparse.coo_array(joined)
    column = parts.codes[filled.row] * width + filled.col
    return sparse.csr_array((filled.data, (filled.row, column)), shape=(n, parts.count * width))
