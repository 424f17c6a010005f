"""Evidence of a value or of a difference: the statistics of its closed-form intervals and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.engine.counts import Cells
from evalreport.metrics.counted_rows import CountedRows
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.samplings import StudentError


class OfValue:
    """Evidence of one model's value."""

    __slots__ = ()


class OfDifference:
    """Evidence of a difference of two models."""

    __slots__ = ()


# --- one model's value ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undefined(OfValue):
    """No value, and so no evidence."""


@dataclass(frozen=True, slots=True)
class AtCounts:
    """A metric at a table of counts, and its derivatives: (K,) by what is right, by the true and by the given class.

    ``of_cell``: (K, K) further derivatives by each count, of a metric that is no function of the margins.
    """

    value: float
    of_right: Floats
    of_true: Floats
    of_label: Floats
    of_cell: Floats | float = 0.0

    def slopes(self) -> Floats:
        """Return the derivatives (K, K) by the counts."""
        found = self.of_true[:, None] + self.of_label
        found[np.diag_indices(len(found))] += self.of_right
        return found + self.of_cell


@dataclass(frozen=True, slots=True)
class Table(OfValue):
    """A label metric: a function of the model's table of counts.

    Attributes
    ----------
    counts
        (K, K) summed weights, rows true, columns predicted.
    outside
        1 where the last class holds the predictions that are missing and count as wrong, else 0.
    at
        Maps counts (K, K) to the metric there.
    rows, labels
        The classes whose examples the metric tells apart, and the labels that these may have, for made-up examples: all
        classes of the task, or of a metric of one class that one and another. A mean over the classes that the truth
        holds has these for ``rows``.
    code
        The class that a metric of one class is about, as it is numbered in this table.
    collapsed
        The code of that class among all of the task, where this table has it for the first class and all others as the
        second; else None.
    made_up
        The metric after made-up examples, by their number: the same in each of the model's pairs.
    """

    counts: Floats
    outside: int
    at: Callable[[Floats], AtCounts]
    rows: tuple[int, ...]
    labels: tuple[int, ...]
    code: int | None = None
    collapsed: int | None = None
    made_up: dict[tuple[float, float], AtCounts] = field(default_factory=dict, repr=False, compare=False)

    def with_made_up(self, *, right: float, wrong: float) -> Floats:
        """Return the counts with so many right answers more of each class, and so many of each wrong one."""
        if len(self.rows) == len(self.labels) == len(self.counts):
            return self.counts + wrong + np.diag(np.full(len(self.counts), right - wrong))
        counts = self.counts.copy()
        counts[np.ix_(self.rows, self.labels)] += wrong
        counts[self.rows, self.rows] += right - wrong
        return counts

    def at_made_up(self, *, right: float, wrong: float) -> AtCounts:
        """Return the metric at the counts of ``with_made_up``."""
        if (right, wrong) not in self.made_up:
            self.made_up[right, wrong] = self.at(self.with_made_up(right=right, wrong=wrong))
        return self.made_up[right, wrong]


@dataclass(frozen=True, slots=True)
class Proportion(OfValue):
    """A binomial proportion of examples that are independent and count the same.

    Attributes
    ----------
    table
        Of a label metric its table.
    rarest
        Metrics of all rows: examples of the rarest class in the truth.
    """

    successes: float
    trials: float
    table: Table | None = None
    rarest: float | None = None


@dataclass(frozen=True, slots=True)
class EffectiveProportion(OfValue):
    """A proportion of examples with weights, in clusters or in order of time.

    Attributes
    ----------
    trials
        Kish's effective number of weighted trials; of clusters G*, as if the examples of one were wholly alike; in
        order of time one more than there are degrees of freedom, at most the examples that it is a share of.
    """

    trials: float
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class WeightedF1(OfValue):
    """F1 of one class under weights, by its Jaccard index J = TP / (TP + FP + FN).

    Attributes
    ----------
    trials
        Effective number of examples behind J.
    units
        Kish's effective number of all examples.
    """

    jaccard: float
    trials: float
    units: float
    table: Table


@dataclass(frozen=True, slots=True)
class Mean(OfValue):
    """A mean over examples that is no proportion."""


@dataclass(frozen=True, slots=True)
class SquaredErrors(OfValue):
    """A function of the mean squared error, or of its ratio to the variance of the truth.

    Attributes
    ----------
    squares
        (n,) squared errors.
    spread
        (n,) squares of the truth about its mean, where the metric relates to them.
    """

    squares: Floats
    spread: Floats | None = None


@dataclass(frozen=True, slots=True)
class Ranking(OfValue):
    """One ranking of all examples by score.

    Attributes
    ----------
    positive
        (n,) which examples are positive.
    class_sizes
        Positive and negative examples.
    rarest
        Examples of the rarest class in the truth.
    labels
        (n,) which examples have the higher score, where all have one of two (or the same one); else None.
    steepest
        Scores that examples share (``steepest_slopes``): the largest size of the derivative by a positive and by a
        negative example at any score, also where there is no such example; else None.
    """

    positive: Mask
    class_sizes: tuple[int, int]
    rarest: float | None
    labels: Mask | None = None
    steepest: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RankedClasses(OfValue):
    """An average of areas under ROC curves of several classes, each of which the truth holds.

    Attributes
    ----------
    true
        (n,) class codes.
    sizes, parts
        (K,) examples of each class, and its part of the average; these sum to 1.
    rarest
        Examples of the rarest class.
    """

    true: Indices
    sizes: Indices
    parts: Floats
    rarest: float


@dataclass(frozen=True, slots=True)
class EqualErrors(OfValue):
    """The corners of a ROC curve: positives and negatives at or above each threshold, (g + 1,) each, from (0, 0)."""

    found: Floats
    wrong: Floats

    @property
    def rarest(self) -> float:
        """Examples of the rarer class."""
        return float(min(self.found[-1], self.wrong[-1]))


@dataclass(frozen=True, slots=True)
class Rows(OfValue):
    """A function of all rows without a closed form; also rankings of several parts.

    Attributes
    ----------
    rarest
        Metrics of classes: examples of the rarest class in the truth.
    trials
        Of a share of a part of the examples, as of the first ten, where examples weigh or vary together: how many.
    """

    rarest: float | None = None
    trials: float | None = None


@dataclass(frozen=True, slots=True)
class AtThreshold(OfValue):
    """A share of examples at the threshold that a ranking sets.

    Attributes
    ----------
    trials
        How many trials at a fixed threshold vary as much as the share does at a threshold that varies.
    scale
        The metric's value is so many times the share.
    """

    trials: float
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class AtChosen(OfValue):
    """A function of TP, FP, FN and TN at the threshold where it is best on these examples.

    Attributes
    ----------
    table
        (4,) the counts there.
    of_table
        Maps counts (..., 4) to values (...).
    optimism, on_data
        (b,) of replicates on which the threshold is chosen anew: by how much their best value exceeds that of the same
        threshold on the data, and the latter.
    alike
        Whether examples are independent and weigh the same.
    student
        Where they are not: the error of the value at a threshold that is taken as fixed; None where there is none.
    """

    table: Floats
    of_table: Callable[[Floats], Floats]
    optimism: Floats
    on_data: Floats
    alike: bool
    student: StudentError | None = None


@dataclass(frozen=True, slots=True)
class Median(OfValue):
    """The median of the numbers (n,) of many examples."""

    values: Floats


@dataclass(frozen=True, slots=True)
class Scores(OfValue):
    """Scores (n,) of one ranking or probabilities, whether each example is positive, and the declared number.

    Attributes
    ----------
    score, y
        (n,) larger ones more positive; 1 where positive, else 0.
    at
        The threshold or the rate that the metric is about.
    """

    score: Floats
    y: Floats
    at: float


@dataclass(frozen=True, slots=True)
class Ordered(OfValue):
    """A function of the whole table of counts, of classes in an order."""

    table: Table


@dataclass(frozen=True, slots=True)
class SumsByUnit(OfValue):
    """A ratio of sums over units, or a mean of such ratios."""


@dataclass(frozen=True, slots=True)
class Groups(OfValue):
    """Agreement of the model's groups of examples with the true ones."""


@dataclass(frozen=True, slots=True)
class PredictionPowered(OfValue, OfDifference):
    """The mean gold outcome, from another outcome of all rows and the gold one of some (prediction-powered inference).

    Attributes
    ----------
    gold, rest
        Rows with gold, and the others.
    weight
        lambda, how much outcomes without gold count; nan of two test sets, or a suite's tasks: each has its own.
    """

    gold: int
    rest: int
    weight: float


@dataclass(frozen=True, slots=True)
class OverDatasets(OfValue):
    """A mean of the values on several data sets; ``table`` of a label metric: over all of them."""

    table: Table | None


# --- a difference of two models -------------------------------------------------------------------------------------


E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class OfBoth(OfDifference, Generic[E]):
    """The evidence of a difference that is that of both models."""

    a: E
    b: E


@dataclass(frozen=True, slots=True)
class PairedProportion(OfDifference):
    """A difference of two proportions of the same examples.

    Attributes
    ----------
    both, only_a, only_b, neither
        Examples on which both models are right, only one of them, neither.
    differences
        a - b of each example.
    """

    both: float
    only_a: float
    only_b: float
    neither: float
    differences: CountedRows

    @property
    def table(self) -> tuple[float, float, float, float]:
        """The four counts, in the order of the fields."""
        return self.both, self.only_a, self.only_b, self.neither


def agreement(right: Floats | Mask, times: Floats | None = None) -> tuple[float, float, float, float]:
    """Count the examples on which both (first, second), only the first, only the second, neither is right: (n, 2).

    ``times``: (n,) number of examples of each row; None: one.
    """
    first, second = np.asarray(right, dtype=np.float64).T > 0.5
    kinds = (first & second, first & ~second, ~first & second, ~first & ~second)
    both, only_first, only_second, neither = (
        float(kind.sum() if times is None else times[kind].sum()) for kind in kinds
    )
    return both, only_first, only_second, neither


@dataclass(frozen=True, slots=True)
class PairedLabels(OfDifference):
    """A difference of two functions of tables of counts of the same examples.

    Attributes
    ----------
    cells
        The distinct combinations of the truth and both models' labels, with their counts.
    within_class
        Of a share of the examples of one true class (recall): those of the class on which both models are right, only
        the first, only the second, neither; else None.
    """

    cells: Cells
    within_class: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class PairedMean(OfDifference):
    """A mean of the differences a - b of the examples."""

    differences: CountedRows


class PairedRanking(OfBoth[Ranking]):
    """Two rankings of the same examples."""


class PairedClasses(OfBoth[RankedClasses]):
    """Two averages of areas of the same examples."""


@dataclass(frozen=True, slots=True)
class Paired(OfDifference):
    """Two values of the same examples that are no means over them."""


class PairedSums(OfBoth[SumsByUnit]):
    """Two ratios of sums over the same units."""


class PairedScores(OfBoth[Scores]):
    """Two models' scores of the same examples, at the same declared number."""


class PairedRisks(OfBoth[Risks]):
    """Two models' probabilities of the same events."""


class TwoProportions(OfBoth[Proportion]):
    """A difference of two proportions from independent test sets."""


@dataclass(frozen=True, slots=True)
class TwoSets(OfDifference):
    """A difference of two values from independent test sets that are no proportions."""


Evidence = OfValue | OfDifference | Risks


def scaled(evidence: Evidence, factor: float) -> Evidence:
    """Return the evidence of a difference in other units: the examples' differences times a factor."""
    if isinstance(evidence, PairedProportion | PairedMean):
        rows = evidence.differences
        scaled_rows = replace(rows, values=rows.values * factor, compared=rows.compared * abs(factor))
        return replace(evidence, differences=scaled_rows)
    return evidence


def rescaled(evidence: Evidence, back: Callable[[Floats], Floats], slope: float) -> Evidence:
    """Return the evidence of a value on another scale: ``back`` maps values there, ``slope`` divides slopes."""
    if isinstance(evidence, Table):
        of_base = evidence.at

        def at(counts: Floats) -> AtCounts:
            found = of_base(counts)
            slopes = (part / slope for part in (found.of_right, found.of_true, found.of_label))
            return AtCounts(float(back(np.array(found.value))), *slopes)

        return replace(evidence, at=at, made_up={})
    if isinstance(evidence, Proportion | EffectiveProportion | OverDatasets) and evidence.table is not None:
        table = rescaled(evidence.table, back, slope)
        assert isinstance(table, Table)
        return replace(evidence, table=table)
    return evidence
