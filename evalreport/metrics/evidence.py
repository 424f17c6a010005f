"""Evidence of a value or of a difference: the statistics of its closed-form intervals and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from evalreport.calibration.risks import Risks
from evalreport.metrics.counted_rows import CountedRows
from evalreport.predictions.arrays import Floats, Mask

# --- one model's value ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undefined:
    """No value, and so no evidence."""


@dataclass(frozen=True, slots=True)
class Table:
    """A label metric: a function of the model's table of counts.

    Attributes
    ----------
    counts
        (K, K) summed weights, rows true, columns predicted.
    outside
        1 where the last class holds the predictions that are missing and count as wrong, else 0.
    value_of
        The metric as a function of tables (m, K, K) -> (m,).
    """

    counts: Floats
    outside: int
    value_of: Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Proportion:
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
class EffectiveProportion:
    """A proportion of examples with weights, in clusters or in order of time.

    Attributes
    ----------
    trials
        Kish's effective number of weighted trials; of clusters G*, as if the examples of one were wholly alike; in
        order of time one more than there are degrees of freedom.
    """

    trials: float
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class F1Counts:
    """F1 of one class: TP of TP + FP + FN examples, whose share is the Jaccard index."""

    true_positives: float
    total: float
    table: Table


@dataclass(frozen=True, slots=True)
class WeightedF1:
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
class Mean:
    """A mean over examples that is no proportion."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One ranking of all examples by score.

    Attributes
    ----------
    positive
        (n,) which examples are positive.
    class_sizes
        Positive and negative examples.
    rarest
        Examples of the rarest class in the truth.
    """

    positive: Mask
    class_sizes: tuple[int, int]
    rarest: float | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A function of all rows without a closed form; also rankings of several parts.

    Attributes
    ----------
    rarest
        Metrics of classes: examples of the rarest class in the truth.
    """

    rarest: float | None = None


@dataclass(frozen=True, slots=True)
class Scores:
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
class Groups:
    """Agreement of the model's groups of examples with the true ones."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What people say on average, by a judge of all rows and people's judgements of some.

    Attributes
    ----------
    gold, rest
        Rows that people judged, and the others.
    weight
        lambda, how much the judge counts; nan of two test sets, or the tasks of a suite, each of which has its own.
    """

    gold: int
    rest: int
    weight: float


@dataclass(frozen=True, slots=True)
class OverDatasets:
    """A mean of the values on several data sets; ``table`` of a label metric: over all of them."""

    table: Table | None = None


# --- a difference of two models -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairedProportion:
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


@dataclass(frozen=True, slots=True)
class PairedMean:
    """A mean of the differences a - b of the examples."""

    differences: CountedRows


@dataclass(frozen=True, slots=True)
class PairedRanking:
    """Two rankings of the same examples; fields as of ``Ranking``."""

    positive: Mask
    class_sizes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two values of the same examples that are no means over them."""


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Two models' scores of the same examples, at the same declared number."""

    a: Scores
    b: Scores


@dataclass(frozen=True, slots=True)
class PairedRisks:
    """Two models' probabilities of the same events."""

    a: Risks
    b: Risks


@dataclass(frozen=True, slots=True)
class TwoProportions:
    """A difference of two proportions from independent test sets."""

    a: Proportion
    b: Proportion


@dataclass(frozen=True, slots=True)
class TwoSets:
    """A difference of two values from independent test sets that are no proportions."""


OfValue = (
    Undefined
    | Table
    | Proportion
    | EffectiveProportion
    | F1Counts
    | WeightedF1
    | Mean
    | Ranking
    | Rows
    | Risks
    | Scores
    | Groups
    | Judged
    | OverDatasets
)
OfDifference = (
    PairedProportion
    | PairedMean
    | PairedRanking
    | Paired
    | PairedRisks
    | PairedScores
    | TwoProportions
    | TwoSets
    | Judged
)
Evidence = OfValue | OfDifference


def scaled(evidence: Evidence, factor: float) -> Evidence:
    """Return the evidence of a difference in other units: the examples' differences times a factor."""
    if isinstance(evidence, PairedProportion | PairedMean):
        rows = evidence.differences
        scaled_rows = replace(rows, values=rows.values * factor, compared=rows.compared * abs(factor))
        return replace(evidence, differences=scaled_rows)
    return evidence
