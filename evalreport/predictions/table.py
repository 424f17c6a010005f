"""The one validated table that everything after loading stands on, and of scores of any size their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.options import Task
from evalreport.schema.inputs import FoundRecord, InputRecord
from evalreport.schema.warnings import WarningRecord

if TYPE_CHECKING:
    import pyarrow as pa


Design = Literal[
    "test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"
]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]
"""Codes of classes or categories, or numbers: whichever the task or the column has."""
Arrow: TypeAlias = "pa.Array | pa.ChunkedArray"


TASK = "task"
"""The column that names the benchmark of a suite which an example belongs to."""

MISSING = "(missing)"
"""What a prediction that is missing, and counted as wrong, is called: it is outside all classes."""


@dataclass(frozen=True, slots=True)
class Column:
    """One metadata or key column.

    ``categories`` given: ``values`` are int32 codes into it, -1 where the cell is empty.
    ``categories`` None: ``values`` are float64, nan where the cell is empty.
    """

    values: Values
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often one model answered each question, where its ``outcome`` is the mean over these attempts.

    Attributes
    ----------
    count
        (n,) attempts.
    spread
        (n,) sum of the squared distances of the attempts' outcomes from their mean.
    passed
        (n,) attempts whose outcome is 1; None where some outcome is neither 0 nor 1.
    """

    count: Floats
    spread: Floats
    passed: Floats | None = None

    def of(self, rows: Indices) -> Attempts:
        """Return those of some rows."""
        return Attempts(
            self.count[rows], self.spread[rows], None if self.passed is None else self.passed[rows]
        )

    def with_none(self) -> Attempts:
        """Add a question without an attempt at the end, for the rows that a model lacks."""
        none = np.zeros(1)
        passed = None if self.passed is None else np.append(self.passed, none)
        return Attempts(np.append(self.count, none), np.append(self.spread, none), passed)


@dataclass(frozen=True, slots=True)
class ModelOutputs:
    """What one model said, row by row of ``Predictions``; None where the model gives no such output.

    Attributes
    ----------
    name
        The model's name as the files spell it.
    y_pred
        Classes: (n,) int32 codes into ``Predictions.classes``, -1 where not given, and one beyond the classes where it
        is missing and counts as wrong. Regression: (n,) float64. Clustering: int32 codes, as those of ``y_true``.
        Already thresholded (binary) or arg-maxed (several classes) where only probabilities were given.
    score
        (n,) float64, binary only; greater = more positive. From ``score``, else p(positive).
    proba
        (n, K) float64 in the order of ``Predictions.classes``; None unless all are known.
    outcome
        (n,) float64: the tasks ``outcome`` and ``scores``.
    attempts
        How often each question was answered; None: once.
    gold
        (n,) float64, beside the outcome that a judge gave: the one that a person gave, nan where none did.
    present
        (n,) bool: the rows this model has; None = all. Under ``join='error'`` and ``'intersect'`` models lack rows
        only where their training seeds have other names.
    columns
        Key and metadata columns on which the models differ (n_parameters, latency ...): this model's own.
    """

    name: str
    y_pred: Values | None = None
    score: Floats | None = None
    proba: Floats | None = None
    outcome: Floats | None = None
    attempts: Attempts | None = None
    gold: Floats | None = None
    present: npt.NDArray[np.bool_] | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)

    @property
    def passes(self) -> tuple[Floats, Floats] | None:
        """Attempts at each question, and how many of them passed; None where outcomes are not all 0 or 1."""
        if self.outcome is None:
            return None
        if self.attempts is not None:
            passed = self.attempts.passed
            return None if passed is None else (self.attempts.count, passed)
        return (np.ones_like(self.outcome), self.outcome) if np.isin(self.outcome, (0, 1)).all() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Predictions of several models, aligned by id, validated, in canonical order.

    Rows are sorted by (id, dataset, repeat, fold, replicate, seed), ids as text by code point; models by
    name; classes by value where all are numbers, else as text. So neither the order of files nor of rows
    changes a figure.

    Attributes
    ----------
    ids
        The distinct ids, sorted; ``example`` (n,) int64 points into it. On one test set it is 0..n-1.
    y_true
        (n,) int32 codes into ``classes`` (classes) or float64 (regression); None for outcome and scores.
    outside
        1 where predicted labels that are missing count as wrong: their code is one beyond the classes. Else 0.
    keys
        Columns that say which fit a row belongs to: repeat, fold, replicate, seed, dataset, inbag, part,
        inner_fold, params, train_size, complexity, time ... only those that the files hold.
    metadata
        Every other column, for slices, clusters and weights.
    multiplicity
        (n,) int64: how many examples each row stands for, of a table of counts; its ids are the places of the rows and
        no examples. None: one.
    scores
        Sums of the scores of a table of counts that an engine made; None where there are none.
    judged_in
        The headers of the columns of outcomes or values, as the files spell them; none of other tasks.
    found, warnings
        What was found and is to be said; what was odd but not fatal.
    """

    task: Task
    design: Design
    ids: pa.Array
    example: Indices
    y_true: Values | None
    models: tuple[ModelOutputs, ...]
    classes: tuple[str, ...] = ()
    outside: int = 0
    positive: str | None = None
    keys: Mapping[str, Column] = field(default_factory=dict)
    metadata: Mapping[str, Column] = field(default_factory=dict)
    multiplicity: Indices | None = None
    scores: ScoreSums | None = None
    judged_in: tuple[str, ...] = ()
    inputs: tuple[InputRecord, ...] = ()
    found: tuple[FoundRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.example)

    @property
    def apart(self) -> bool:
        """Whether the models have rows of their own: test sets of their own, or training seeds of other names."""
        return any(model.present is not None for model in self.models)

    @property
    def n_examples(self) -> int:
        """Number of examples: an id that is predicted repeatedly (folds of repeats, replicates, seeds) counts once."""
        if self.multiplicity is not None:
            return int(self.multiplicity.sum())
        if self.design == "datasets" or (self.apart and self.design != "seeds"):
            return self.n
        if self.design == "test-set" and len(self.ids) == self.n:
            return self.n  # each id stands once: nothing to count, however many rows there are
        return int(np.count_nonzero(np.bincount(self.example)))

    @property
    def tasks(self) -> Column | None:
        """The tasks of a suite, numbered without gaps; None where the rows are of one task or of none."""
        column = self.keys.get(TASK)
        if column is None or column.categories is None:
            return None
        used, codes = np.unique(column.values, return_inverse=True)
        names = tuple(column.categories[code] for code in used if code >= 0)
        return Column(codes.ravel().astype(np.int32), names) if len(names) == len(used) > 1 else None

    @property
    def judged(self) -> bool:
        """Whether the outcomes are a judge's, and people gave theirs of some rows."""
        return any(model.gold is not None for model in self.models)

    def number(self, rows: npt.NDArray[np.bool_]) -> int:
        """Count some rows (n,), each as often as it stands for an example."""
        return int(rows.sum() if self.multiplicity is None else self.multiplicity[rows].sum())

    @property
    def class_counts(self) -> Indices:
        """How many predictions (K,) are about examples of each class."""
        assert self.y_true is not None
        counts = np.bincount(self.y_true, weights=self.multiplicity, minlength=len(self.classes))
        return counts.astype(np.int64)

    @property
    def answers(self) -> tuple[str, ...]:
        """What predicted labels are called by their codes: the classes, and a missing one that counts as wrong."""
        return (*self.classes, MISSING) if self.outside else self.classes

    @property
    def positive_code(self) -> int:
        """Code of the positive class of a binary task."""
        assert self.positive is not None
        return self.classes.index(self.positive)


FORECAST_BINS = 10
"""Bins of equal width of the probabilities, [a, b) but for the last one."""


def forecast_key(what: str, place: int) -> str:
    """Name a total of one bin of probabilities: how many ``examples``, or the sum of the ``forecasts``."""
    return f"{what} in bin {place}"


PARTS_OF_A_BIN = 4
"""What lies in a bin of unlike scores is taken to be mixed evenly, in at most so many parts."""


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
        import pyarrow.compute as pc

        table = self.histograms.filter(pc.equal(self.histograms["slice"], column))
        return tuple(table["value"].unique().to_pylist())

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that give scores, by name."""
        return tuple(sorted(self._own(self.histograms)["model"].unique().to_pylist()))

    def _own(self, table: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

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
        import pyarrow.compute as pc

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
        found = np.empty((2, len(models), len(models)))
        for i, a in enumerate(models):
            for j, b in enumerate(models):
                found[:, i, j] = self._totals[metric, min(a, b), max(a, b)]
        return found


def groups_of(positives: Floats, negatives: Floats, tied: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the weights (g,) of groups of tied scores, from bins (b,), best first.

    Of a bin of unlike scores nothing is known of the order: up to ``PARTS_OF_A_BIN`` parts, each with a share of the
    positives amid a share of the negatives.
    """
    parts, _ = _parts_of(positives, tied)
    bin_of, middle = _places(parts, tied)
    single = tied[bin_of]
    found = np.where(single | middle, positives[bin_of] / parts[bin_of], 0.0)
    wrong = np.where(
        single, negatives[bin_of], np.where(middle, 0.0, negatives[bin_of] / (2 * parts[bin_of]))
    )
    return found, wrong


def by_bin(
    of_positives: Floats, of_negatives: Floats, positives: Floats, tied: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the means (b,) over each bin's groups of what holds of their positives and negatives, (g,) each."""
    parts, first = _parts_of(positives, tied)
    bin_of, middle = _places(parts, tied)
    outside = tied[bin_of] | ~middle
    inside = tied[bin_of] | middle
    found = np.add.reduceat(np.where(inside, of_positives, 0.0), first) / parts
    wrong = np.add.reduceat(np.where(outside, of_negatives, 0.0), first) / np.where(tied, 1, 2 * parts)
    return found, wrong


def _parts_of(positives: Floats, tied: npt.NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return how many parts each bin has, (b,), and where the groups of each begin."""
    parts = np.where(tied, 1, np.clip(positives, 1, PARTS_OF_A_BIN)).astype(np.int64)
    groups = np.where(tied, 1, 3 * parts)
    return parts, np.cumsum(groups) - groups


def _places(parts: Indices, tied: npt.NDArray[np.bool_]) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """Return the bin of each group, and whether it is the positives' amid the negatives of its part."""
    groups = np.where(tied, 1, 3 * parts)
    bin_of = np.repeat(np.arange(len(parts)), groups)
    place = np.arange(len(bin_of)) - np.repeat(np.cumsum(groups) - groups, groups)
    return bin_of, place % 3 == 1


def as_numpy(array: Arrow, missing: float) -> Values:
    """Return an array of numbers as numpy, with something else for what is missing."""
    import pyarrow as pa

    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not len(array):
        return np.empty(0)
    values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    found = np.from_dlpack(values)
    return np.where(flags(array.is_null()), missing, found) if array.null_count else found


def flags(array: Arrow) -> Mask:
    """Return an array of truths, none of them missing, as numpy."""
    import pyarrow as pa

    return as_numpy(array.cast(pa.uint8()), 0).astype(np.bool_)


def from_numpy(numbers: npt.NDArray[Any], present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers or truths as an Arrow array; ``present``: which are not missing, None where none is."""
    import pyarrow as pa

    bits = None if present is None else np.packbits(present, bitorder="little")
    values = (
        np.packbits(numbers, bitorder="little") if numbers.dtype == bool else np.ascontiguousarray(numbers)
    )
    buffers = [None if part is None else pa.py_buffer(part) for part in (bits, values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def from_texts(texts: Sequence[str]) -> pa.StringArray:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def missing(kind: pa.DataType) -> pa.Scalar:
    """Return the missing value of a type."""
    import pyarrow as pa

    return pa.nulls(1, kind)[0]
