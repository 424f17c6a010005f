"""Bootstrap replicates of metrics of rows: draws of units, or draws of groups of their influence values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from evalreport.engine.distributions import Columns
from evalreport.engine.draws import GROUPS, bootstrap_groups, stream
from evalreport.engine.parallel import mapped
from evalreport.engine.ranks import along
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Ranking
from evalreport.metrics.layout import Layout, Parts
from evalreport.metrics.metric import Ranks
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.row_data import RowData, mean_of_parts
from evalreport.predictions.arrays import Floats, Indices
from evalreport.samplings import Influence, Sampling

Key = tuple[str, Quantity]

MOST_DRAWN = 10_000
"""Up to this many rows the units themselves are drawn."""

LEAST_UNITS, LEAST_OF_TWO, LEAST_OF_SEVERAL = 1_000, 500, 50
"""Units, and examples of each of two or of several classes, from which on groups show what draws of units show."""

LEAST_OF_PRECISION = 2_000
"""Positives from which on they do of areas under the precision-recall curve, ..."""
MOST_OF_PRECISION = 100_000
"""... and rows beyond which draws of units would more than double the time of a run: groups are drawn there anyway."""


def drawn_in_groups(data: RowData, rarest: float | None, classes: int) -> bool:
    """Say whether replicates are draws of groups: of many rows, from one evaluation, none of them rare.

    Parameters
    ----------
    rarest
        Examples of the rarest class in the truth; None without classes.
    classes
        How many classes there are.

    References
    ----------
    The study `research/studies/groups.py` compares their limits with those of drawn rows.
    """
    units, layout = data.units, data.layout
    one_evaluation = layout.pooled.count == layout.ranked.count == 1
    alike = units.strata is None and {"one_task", "any_order"} <= units.meets
    least = LEAST_OF_TWO if classes == 2 else LEAST_OF_SEVERAL
    enough = units.count >= LEAST_UNITS and (rarest is None or rarest >= least)
    return units.n > MOST_DRAWN and one_evaluation and alike and enough


def with_replicates(
    data: RowData,
    estimates: Mapping[Key, Estimate],
    drawn: Collection[Key],
    *,
    n_resamples: int,
    seed: int,
    in_groups: bool,
    of_rows: bool = False,
) -> dict[Key, Estimate]:
    """Give some estimates their replicates, all from the same draws.

    Parameters
    ----------
    in_groups
        Whether groups of influence values are drawn (``drawn_in_groups``).
    of_rows
        Whether rows are drawn besides, for the metrics without influence values; else these have no replicates.
    """
    keys = [key for key, e in estimates.items() if key in drawn and not np.isnan(e.value)]
    bases = {key: base for key in keys if (base := _base_of(key)) != key and base in keys}
    keys = [key for key in keys if key not in bases]
    smooth = {
        key: (estimates[key], influence)
        for key in keys
        if in_groups
        and (influence := estimates[key].influence) is not None
        and serve_precision(estimates[key])
    }
    others = [
        key
        for key in keys
        if key not in smooth and (of_rows or not in_groups or estimates[key].influence is not None)
    ]
    replicates = of_groups(smooth, n_resamples, seed=seed)
    if others and n_resamples:
        replicates |= of_units(data, others, n_resamples, seed=seed)
    for key, base in bases.items():
        scale = definition(key[1]).scale.affine_of
        if scale is not None and base in replicates:
            replicates[key] = scale.forward(replicates[base])
    return {key: replace(e, replicates=replicates.get(key, e.replicates)) for key, e in estimates.items()}


def serve_precision(estimate: Estimate) -> bool:
    """Say whether groups serve an estimate: an area under the precision-recall curve takes more positives."""
    evidence, computation = estimate.evidence, estimate.metric.computation
    if not (isinstance(evidence, Ranking) and isinstance(computation, Ranks)):
        return True
    few = evidence.class_sizes[0] < LEAST_OF_PRECISION and sum(evidence.class_sizes) <= MOST_OF_PRECISION
    return computation.area != "precision_recall" or not few


def _base_of(key: Key) -> Key:
    """Return the same quantity of the metric that this one is on another scale of; the key itself of other metrics."""
    scale = definition(key[1]).scale.affine_of
    return key if scale is None else (key[0], replace(key[1], metric=scale.of))


# --- groups of influence values -------------------------------------------------------------------------------------


def of_groups(
    estimates: Mapping[Key, tuple[Estimate, Influence]], n_resamples: int, *, seed: int
) -> dict[Key, Floats]:
    """Return replicates (B,) over random groups of units: one draw for all estimates, so differences are paired.

    A replicate is the value plus the sum of its influence values by group, each as often as the group was drawn. The
    sums are scaled so that every estimate keeps its own standard error.
    """
    if not estimates or not n_resamples:
        return {}
    of_size: dict[int, Indices] = {}
    sums = {}
    for key, (_, influence) in estimates.items():
        slopes = _by_unit(influence)
        if len(slopes) not in of_size:
            of_size[len(slopes)] = groups_of(len(slopes), seed=seed)
        sums[key] = group_sums(slopes, of_size[len(slopes)])
    parts: dict[Key, list[Floats]] = {key: [] for key in estimates}
    for n_groups in {len(own) for own in sums.values()}:
        for multiplicities in bootstrap_groups(n_groups, n_resamples, seed=seed):
            for key, own in sums.items():
                if len(own) == n_groups:
                    # One product an estimate: no other one moves a digit.
                    parts[key].append(multiplicities @ own)
    return {
        key: np.clip(estimate.value + np.concatenate(parts[key]), *estimate.range)
        for key, (estimate, _) in estimates.items()
    }


def groups_of(n: int, *, seed: int) -> Indices:
    """Return the group (n,) of each of n units by its place: groups of equal size, at random."""
    return np.asarray(stream(seed, "groups", 0).permutation(n) % min(GROUPS, n))


def group_sums(slopes: Floats, groups: Indices) -> Floats:
    """Return the sums (G,) of influence values (n,) by group, centred and with the spread of the values.

    Examples
    --------
    >>> group_sums(np.array([3.0, -1.0, -2.0, 0.0]), np.array([0, 1, 0, 1])).round(3).tolist()
    [2.646, -2.646]
    """
    sums = np.bincount(groups, weights=slopes).astype(np.float64)
    sums -= sums.mean()
    spread = np.sqrt((sums**2).sum())
    return np.asarray(sums * (np.sqrt((slopes**2).sum()) / spread)) if spread > 0 else np.zeros_like(sums)


def _by_unit(influence: Influence) -> Floats:
    """Return the influence values of every unit: of cells each as often as it has examples."""
    counts = influence.counts
    return influence.values if (counts == 1).all() else np.repeat(influence.values, counts.astype(np.int64))


# --- units ----------------------------------------------------------------------------------------------------------


def of_units(data: RowData, keys: Sequence[Key], n_resamples: int, *, seed: int) -> dict[Key, Floats]:
    """Return replicates (B,) under draws of the units: every metric is a function of the weights of the rows."""
    columns = {
        key: UnitColumns.of(data.columns[key], data.units, data.layout) for key in keys if key in data.columns
    }
    by_row = [key for key in keys if key not in columns]

    def of_block(multiplicities: Floats) -> dict[Key, Floats]:
        values = {
            key: data.function(key[1])(own.sums(multiplicities)).mean(axis=1) for key, own in columns.items()
        }
        rows = by_part(data, by_row, multiplicities) if by_row else {}
        return values | {key: mean_of_parts(of_parts, data.layout) for key, of_parts in rows.items()}

    blocks = [*mapped(of_block, data.units.unit_draws(n_resamples, seed=seed))]
    return {key: np.concatenate([block[key] for block in blocks]) for key in keys}


def by_part(data: RowData, keys: Sequence[Key], multiplicities: Floats) -> dict[Key, Floats]:
    """Evaluate rank and row metrics on each part under multiplicities of units (b, units): (parts, b) each."""
    rows_of_parts = data.layout.ranked.rows()
    multiplicities = np.asfortranarray(multiplicities)
    values: dict[Key, list[Floats]] = {key: [] for key in keys}
    by_model: dict[str, list[Key]] = {}
    for key in keys:
        by_model.setdefault(key[0], []).append(key)
    for j, rows in enumerate(rows_of_parts):
        weights = data.units.expand(multiplicities, slice(None) if len(rows_of_parts) == 1 else rows)
        for name, of_model in by_model.items():
            ranked = None
            if not data.states.keys() >= set(of_model):
                ranked = along(data.orders[name][j].merged, weights, data.units.mean_weight)
            for key in of_model:
                given = (ranked,) if key not in data.states else (data.states[key][j], weights)
                values[key].append(definition(key[1]).computation.function(*given))
    return {key: np.stack(of_parts) for key, of_parts in values.items()}


@dataclass(frozen=True, slots=True)
class UnitColumns:
    """The columns of one quantity, by unit and part: vectors (units,) of one part, else sparse (units, parts p)."""

    parts: int
    columns: Columns

    @classmethod
    def of(cls, columns: Columns, units: Sampling, layout: Layout) -> UnitColumns:
        """Add the columns (n, p) up by unit and part."""
        parts = layout.pooled
        alone = units.plain and parts.count == 1 and isinstance(columns, tuple)
        return cls(parts.count, columns if alone else unit_columns(columns, units, layout))

    def sums(self, multiplicities: Floats) -> Floats:
        """Return the weighted sums (b, parts, p) under multiplicities (b, units)."""
        if isinstance(self.columns, tuple):
            return np.stack([multiplicities @ column for column in self.columns], axis=-1)[:, None, :]
        sums = np.asarray(multiplicities @ self.columns)
        return sums.reshape(len(sums), self.parts, -1)


def unit_columns(columns: Columns, units: Sampling, layout: Layout) -> sparse.csr_array:
    """Return what one draw of each unit adds to the sums of a quantity, (units, parts p): its rows' p columns."""
    table = sparse.csr_array(np.column_stack(columns) if isinstance(columns, tuple) else columns)
    single = units.plain and layout.pooled.count == 1
    return table if single else units.gather(_spread(table, layout.pooled))


def _spread(joined: sparse.csr_array, parts: Parts) -> sparse.csr_array:
    """Give every part columns of its own: (n, p) becomes (n, parts p)."""
    n, width = joined.shape
    filled = sparse.coo_array(joined)
    column = parts.codes[filled.row] * width + filled.col
    return sparse.csr_array((filled.data, (filled.row, column)), shape=(n, parts.count * width))
