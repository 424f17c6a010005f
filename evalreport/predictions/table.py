"""The validated table of predictions that everything after loading reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.options import Task
from evalreport.predictions.arrays import Floats, Indices, Values, required
from evalreport.predictions.column_names import TASK
from evalreport.predictions.score_sums import ScoreSums
from evalreport.schema.inputs import FlowRecord, FoundRecord, InputRecord
from evalreport.schema.warnings import WarningRecord

Design = Literal[
    "test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"
]


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

    def wide(self) -> Column:
        """Return the column with codes of the type that the table has, where it is one of smaller codes."""
        return (
            self
            if self.categories is None
            else replace(self, values=self.values.astype(np.int32, copy=False))
        )


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
class SingleAnswers:
    """The answers of one model one by one, where rows are questions answered several times, or answers have costs.

    Attributes
    ----------
    row
        (A,) the row of each answer, ascending; within a row in an order that the input's does not change.
    outcome
        (A,) how well each answer did; None where the rows' own outputs say it.
    costs
        (A,) by the name of the cost, nan where it is not known; only those that the model gives.
    """

    row: Indices
    outcome: Floats | None = None
    costs: Mapping[str, Floats] = field(default_factory=dict)

    def of(self, rows: Indices) -> SingleAnswers:
        """Return those of some rows, in their order; none of a row that is not there."""
        start, end = (np.searchsorted(self.row, rows, side=side) for side in ("left", "right"))
        count = end - start
        within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        place = np.repeat(start, count) + within
        return SingleAnswers(
            np.repeat(np.arange(len(rows)), count),
            None if self.outcome is None else self.outcome[place],
            {name: values[place] for name, values in self.costs.items()},
        )

    def given(self) -> SingleAnswers:
        """Leave out the costs that are nowhere known."""
        return replace(self, costs={n: v for n, v in self.costs.items() if not np.isnan(v).all()})


@dataclass(frozen=True, slots=True)
class ModelOutputs:
    """The outputs of one model, by row of ``Predictions``; None for an output that the model does not give.

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
    answers
        The single answers, where there are attempts or costs.
    gold
        (n,) float64, beside the outcome that a judge gave: the one that a person gave, nan where none did. Where people
        judged some of the attempts at a question: the judge's mean over all, plus people's less the judge's over these.
    by_people, by_judge
        (n,) people's outcomes and the judge's of the attempts that people judged; None: these are gold and outcome.
    present
        (n,) bool: the rows this model has; None = all. Under ``join='error'`` and ``'intersect'`` models lack rows
        only where their training seeds have other names.
    columns
        Key and metadata columns on which the models differ (n_parameters, latency ...): this model's own.
    cut_at_half
        Whether ``y_pred`` are its probabilities cut at 0.5, a threshold that nobody chose.
    numbers
        (n,) by name (``predictions/numbers.py``): sums by unit, limits and quantiles, members of prediction sets.
    """

    name: str
    y_pred: Values | None = None
    score: Floats | None = None
    proba: Floats | None = None
    outcome: Floats | None = None
    attempts: Attempts | None = None
    answers: SingleAnswers | None = None
    gold: Floats | None = None
    by_people: Floats | None = None
    by_judge: Floats | None = None
    present: npt.NDArray[np.bool_] | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    cut_at_half: bool = False
    numbers: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def passes(self) -> tuple[Floats, Floats] | None:
        """Attempts at each question, and how many of them passed; None where outcomes are not all 0 or 1."""
        if self.outcome is None:
            return None
        if self.attempts is not None:
            passed = self.attempts.passed
            return None if passed is None else (self.attempts.count, passed)
        return (np.ones_like(self.outcome), self.outcome) if np.isin(self.outcome, (0, 1)).all() else None


@dataclass(frozen=True, slots=True)
class Notes:
    """Facts that were found in the input, warnings about it, and the steps from the cases read to those used."""

    found: tuple[FoundRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    flow: tuple[FlowRecord, ...] = ()

    def __add__(self, other: Notes) -> Notes:
        """Put other notes behind these."""
        return Notes(
            (*self.found, *other.found), (*self.warnings, *other.warnings), (*self.flow, *other.flow)
        )


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The classes of a task, in the order of their codes.

    Attributes
    ----------
    classes
        In canonical order; empty where the task has none.
    positive
        The positive class of a binary task.
    outside
        1 where predicted labels that are missing count as wrong: their code is one beyond the classes. Else 0.
    in_order
        Whether the classes were put in an order by ``--class-order``.
    """

    classes: tuple[str, ...] = ()
    positive: str | None = None
    outside: int = 0
    in_order: bool = False

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The code of each class."""
        return {label: code for code, label in enumerate(self.classes)}


@dataclass(frozen=True, slots=True)
class Counts:
    """How many examples each row of a table of counts represents, and the sums of their scores.

    Attributes
    ----------
    multiplicity
        (n,) int64: examples of each row. The ids of a table of counts are the positions of its rows.
    scores
        Sums of the scores, where an engine made them.
    """

    multiplicity: Indices
    scores: ScoreSums | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The files, the headers of the columns of outcomes or values as they spell them, and what sums are added up over.

    The last two are empty, and None, of other tasks.
    """

    inputs: tuple[InputRecord, ...] = ()
    judged_in: tuple[str, ...] = ()
    unit: str | None = None


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
    labels
        The classes.
    keys
        Columns that say which fit a row belongs to: repeat, fold, replicate, seed, dataset, inbag, part,
        inner_fold, params, train_size, complexity, time ... only those that the files hold.
    metadata
        Every other column, for slices, clusters and weights.
    counts
        Of a table of counts; None: each row is one example.
    origin
        The files.
    notes
        What was found, and warnings.
    """

    task: Task
    design: Design
    ids: pa.Array
    example: Indices
    y_true: Values | None
    models: tuple[ModelOutputs, ...]
    labels: Labels = field(default_factory=Labels)
    keys: Mapping[str, Column] = field(default_factory=dict)
    metadata: Mapping[str, Column] = field(default_factory=dict)
    counts: Counts | None = None
    origin: Origin = field(default_factory=Origin)
    notes: Notes = field(default_factory=Notes)

    def noted(
        self, *, found: Iterable[FoundRecord] = (), warnings: Iterable[WarningRecord] = ()
    ) -> Predictions:
        """Return the same predictions with further notes."""
        return replace(self, notes=self.notes + Notes(tuple(found), tuple(warnings)))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in canonical order; none of a task without classes."""
        return self.labels.classes

    @property
    def positive(self) -> str | None:
        """The positive class of a binary task."""
        return self.labels.positive

    @property
    def outside(self) -> int:
        """How many codes of predicted labels there are beyond the classes: 1 where missing labels count as wrong."""
        return self.labels.outside

    @property
    def multiplicity(self) -> Indices | None:
        """How many examples (n,) each row represents; None: one."""
        return None if self.counts is None else self.counts.multiplicity

    @property
    def scores(self) -> ScoreSums | None:
        """Sums of the scores of a table of counts, where an engine made them."""
        return None if self.counts is None else self.counts.scores

    @property
    def inputs(self) -> tuple[InputRecord, ...]:
        """The files that were read."""
        return self.origin.inputs

    @property
    def found(self) -> tuple[FoundRecord, ...]:
        """Facts that were found in the input."""
        return self.notes.found

    @property
    def warnings(self) -> tuple[WarningRecord, ...]:
        """Warnings about the input."""
        return self.notes.warnings

    def column(self, name: str) -> Column:
        """Return a column of the metadata, else of the keys."""
        return self.metadata.get(name) or self.keys[name]

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
    def has_gold(self) -> bool:
        """Whether people gave their outcome of some rows, beside another of all."""
        return any(model.gold is not None for model in self.models)

    def number(self, rows: npt.NDArray[np.bool_]) -> int:
        """Count the examples of some rows, given as a mask (n,)."""
        return int(rows.sum() if self.multiplicity is None else self.multiplicity[rows].sum())

    @property
    def class_counts(self) -> Indices:
        """How many predictions (K,) are about examples of each class."""
        counts = np.bincount(required(self.y_true), weights=self.multiplicity, minlength=len(self.classes))
        return counts.astype(np.int64)

    @property
    def answers(self) -> tuple[str, ...]:
        """What predicted labels are called by their codes: the classes, and a missing one that counts as wrong."""
        return (*self.classes, MISSING) if self.outside else self.classes

    @property
    def positive_code(self) -> int:
        """Code of the positive class of a binary task."""
        return self.classes.index(required(self.positive))
