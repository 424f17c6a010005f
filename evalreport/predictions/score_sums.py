"""Scores as sums: histograms by class, and sums of products of the models' derivatives and losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.predictions.arrays import Floats, Indices

FORECAST_BINS = 10
"""Bins of equal width of the probabilities, [a, b) but for the last one."""


def forecast_key(what: str, place: int) -> str:
    """Name a total of one bin of probabilities: how many ``examples``, or the sum of the ``forecasts``."""
    return f"{what} in bin {place}"


PARTS_OF_A_BIN = 4
"""The examples in a bin of different scores are assumed to be mixed evenly, in at most this number of parts."""


@dataclass(frozen=True, slots=True)
class Bins:
    """A model's histogram: positives and negatives (b,) of each bin, best first, its lowest and highest score.

    ``probability``: whether the scores are probabilities of the positive class.
    """

    positives: Floats
    negatives: Floats
    low: Floats
    high: Floats
    probability: bool

    @property
    def tied(self) -> npt.NDArray[np.bool_]:
        """Whether all scores of a bin are equal, (b,)."""
        return np.asarray(self.low == self.high)

    @property
    def middle(self) -> Floats:
        """The middle of each bin's scores, (b,)."""
        return np.asarray(self.low / 2 + self.high / 2)


@dataclass(frozen=True)
class ScoreSums:
    """The scores of a binary task, as sums: of all examples, or of one slice.

    Attributes
    ----------
    histograms
        ``slice``, ``value`` (null: all examples; an empty cell's value is null too), ``model``, ``probability``,
        ``positive``, ``low`` and ``high`` (the lowest and highest score in the bin, of all examples), ``count``.
    products
        ``slice``, ``value``, ``metric``, ``a``, ``b``, ``positive``, ``total``: the sum over the examples of a class of
        the product of the two models' derivatives, or losses; ``b`` null: of the first one's losses alone.
    slice
        The column and the value that it is about; None: all examples.
    """

    histograms: pa.Table
    products: pa.Table
    slice: tuple[str, str | None] | None = None

    def within(self, column: str, value: str | None) -> ScoreSums:
        """Return those of one slice."""
        return replace(self, slice=(column, value))

    def agrees(self, other: ScoreSums) -> bool:
        """Whether the histograms are the same, and the sums but for the logarithms of another engine."""
        ours, theirs = self.products, other.products
        same = self.histograms.equals(other.histograms) and ours.drop(["total"]).equals(
            theirs.drop(["total"])
        )
        return same and np.allclose(ours["total"].to_numpy(), theirs["total"].to_numpy(), rtol=1e-9, atol=0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that slices were made of."""
        return tuple(c for c in self.histograms["slice"].unique().to_pylist() if c is not None)

    def values_of(self, column: str) -> tuple[str | None, ...]:
        """Return the values of a column that slices were made of."""
        table = self.histograms.filter(pc.equal(self.histograms["slice"], column))
        return tuple(table["value"].unique().to_pylist())

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that give scores, by name."""
        return tuple(sorted(self._own(self.histograms)["model"].unique().to_pylist()))

    def _own(self, table: pa.Table) -> pa.Table:
        if self.slice is None:
            return table.filter(pc.is_null(table["slice"]))
        column, value = self.slice
        same = pc.is_null(table["value"]) if value is None else pc.equal(table["value"], value)
        return table.filter(pc.and_kleene(pc.equal(table["slice"], column), same))

    @cached_property
    def groups(self) -> dict[str, tuple[Floats, Floats]]:
        """By model: the weights (g,) of positives and negatives of each group of tied scores, best first."""
        return {name: groups_of(b.positives, b.negatives, b.tied) for name, b in self.bins.items()}

    @cached_property
    def bins(self) -> dict[str, Bins]:
        """By model: its histogram."""
        own, found = self._own(self.histograms), {}
        for name in self.models:
            table = own.filter(pc.equal(own["model"], name))
            low, first, place = np.unique(table["low"].to_numpy(), return_index=True, return_inverse=True)
            counts = np.zeros((2, len(low)))
            np.add.at(
                counts, (table["positive"].to_numpy().astype(np.int64), place), table["count"].to_numpy()
            )
            high = table["high"].to_numpy()[first]
            probability = bool(table["probability"][0].as_py())
            found[name] = Bins(counts[1, ::-1], counts[0, ::-1], low[::-1], high[::-1], probability)
        return found

    @cached_property
    def class_sizes(self) -> tuple[int, int]:
        """Positives and negatives."""
        bins = self.bins[self.models[0]]
        return int(bins.positives.sum()), int(bins.negatives.sum())

    @cached_property
    def _totals(self) -> dict[tuple[str, str, str | None], Floats]:
        own = self._own(self.products)
        found: dict[tuple[str, str, str | None], Floats] = {}
        for row in own.to_pylist():
            totals = found.setdefault((row["metric"], row["a"], row["b"]), np.zeros(2))
            totals[int(row["positive"])] = row["total"]
        return found

    def holds(self, metric: str, model: str) -> bool:
        """Whether a model's products of a metric are known."""
        return (metric, model, model) in self._totals

    def gaps(self, model: str) -> Floats | None:
        """Return by bin forecasts minus outcomes (10) and examples (10); None where unknown."""
        forecasts, examples = (
            np.stack(
                [
                    self._totals.get((forecast_key(w, k), model, None), np.zeros(2))
                    for k in range(FORECAST_BINS)
                ]
            )
            for w in ("forecasts", "examples")
        )
        counts = examples.sum(axis=1)
        gaps = forecasts.sum(axis=1) - examples[:, 1]
        return np.concatenate([gaps, counts]) if counts.any() else None

    def total(self, metric: str, model: str) -> float:
        """Return the sum of a model's losses."""
        return float(self._totals[metric, model, None].sum())

    def products_of(self, metric: str, models: Sequence[str]) -> Floats:
        """Return (2, k, k) sums of products by class, negatives first."""
        products = np.empty((2, len(models), len(models)))
        for i, a in enumerate(models):
            for j, b in enumerate(models):
                products[:, i, j] = self._totals[metric, min(a, b), max(a, b)]
        return products


def groups_of(positives: Floats, negatives: Floats, tied: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the weights (g,) of groups of tied scores, from bins (b,), best first.

    Of a bin of unlike scores nothing is known of the order: up to ``PARTS_OF_A_BIN`` parts, each with a share of the
    positives amid a share of the negatives.
    """
    parts, _ = _parts_of(positives, tied)
    bin_of, middle = _places(parts, tied)
    single = tied[bin_of]
    shares = np.where(single | middle, positives[bin_of] / parts[bin_of], 0.0)
    wrong = np.where(
        single, negatives[bin_of], np.where(middle, 0.0, negatives[bin_of] / (2 * parts[bin_of]))
    )
    return shares, wrong


def by_bin(
    of_positives: Floats, of_negatives: Floats, positives: Floats, tied: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the means (b,) over each bin's groups of what holds of their positives and negatives, (g,) each."""
    parts, first = _parts_of(positives, tied)
    bin_of, middle = _places(parts, tied)
    outside = tied[bin_of] | ~middle
    inside = tied[bin_of] | middle
    sums = np.add.reduceat(np.where(inside, of_positives, 0.0), first) / parts
    wrong = np.add.reduceat(np.where(outside, of_negatives, 0.0), first) / np.where(tied, 1, 2 * parts)
    return sums, wrong


def _parts_of(positives: Floats, tied: npt.NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return how many parts each bin has, (b,), and where the groups of each begin."""
    parts = np.where(tied, 1, np.clip(positives, 1, PARTS_OF_A_BIN)).astype(np.int64)
    groups = np.where(tied, 1, 3 * parts)
    return parts, np.cumsum(groups) - groups


def _places(parts: Indices, tied: npt.NDArray[np.bool_]) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """Return the bin of each group, and whether the group holds the positives of its part."""
    groups = np.where(tied, 1, 3 * parts)
    bin_of = np.repeat(np.arange(len(parts)), groups)
    place = np.arange(len(bin_of)) - np.repeat(np.cumsum(groups) - groups, groups)
    return bin_of, place % 3 == 1
