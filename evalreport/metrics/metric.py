"""The record of a metric: how it is computed, on which scale, how it is inferred, how it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from evalreport.engine.distributions import Array
from evalreport.options import Task
from evalreport.schema.metrics import Average as Average
from evalreport.texts import Text
from evalreport.texts.labels import in_sentence

Needs = Literal[
    "labels",
    "scores",
    "probabilities",
    "values",
    "outcomes",
    "passes",
    "gold",
    "groups",
    "training",
    "sums",
    "intervals",
    "sets",
    "quantiles",
]
Area = Literal["", "roc", "partial_roc", "precision_recall"]
IsoSlope = Literal["", "counts", "rates"]
Infinite = Literal["", "zero_probability", "zero_truth"]
Function = Callable[..., Any]
Number = TypeVar("Number", float, Array)
Family = TypeVar("Family")

BOOTSTRAP_INTERVALS = ("bootstrap_percentile", "bootstrap_basic", "bootstrap_normal")
SMOOTH_INTERVALS = ("bootstrap_bca", "normal", *BOOTSTRAP_INTERVALS)
TABLE_INTERVALS = ("plus_four", *SMOOTH_INTERVALS)
MEAN_INTERVALS = ("hall", "t", *SMOOTH_INTERVALS)
PROPORTION_INTERVALS = ("wilson", "agresti_coull", "clopper_pearson", "jeffreys")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCounts:
    """A function of the counts TP, FP, FN and TN of one class against the rest.

    Attributes
    ----------
    function
        Maps ``Counts``, each (...), to values (...); nan where undefined.
    averages
        The averages that are computed for several classes; the first is what the bare name means.
    proportion
        Maps ``Counts`` to (successes, trials) where the value is a binomial proportion.
    monotone_of
        The name of a proportion of this family, and the increasing function that maps its value to this one's.
    recall_slope
        How much the value changes with the mean of the class recalls, where that is a straight line.
    negatives
        Which negatives are counted, where true negatives are: those by the ``truth`` or by the model's ``answers``.
        It matters for an example without an answer, which counts as wrong.
    micro_is_accuracy
        Whether the micro average is the share of right answers.
    one_sided
        Whether it counts one kind of error only: another threshold then always buys a better value, so none is best.
    iso_slope
        Straight lines of the ROC square along which it does not change: of slope N/P (``counts``) or 1 (``rates``).
    criterion
        The name in the results of the threshold where its value is best, which is then always looked for.
    """

    function: Function
    averages: tuple[Average, ...] = ()
    proportion: Function | None = None
    monotone_of: tuple[str, Function] | None = None
    recall_slope: float = 0.0
    negatives: Literal["", "truth", "answers"] = ""
    micro_is_accuracy: bool = False
    one_sided: bool = False
    iso_slope: IsoSlope = ""
    criterion: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """A function of the margins of the confusion table.

    Attributes
    ----------
    function
        Maps margins (..., 3, K), the diagonal, the totals by true class and by predicted class, to values (...).
    of_counts
        The same for two classes as a function of ``Counts``, where that is faster.
    proportion
        Maps (right, n) to (successes, trials) where the value is a binomial proportion.
    per_example
        Maps a ``ModelView`` to the numbers (n,) whose mean the value is, where it is one.
    recall_slope
        How much the value changes with the mean of the class recalls, where that is a straight line.
    iso_slope
        Straight lines of the ROC square along which it does not change: of slope N/P (``counts``) or 1 (``rates``).
    """

    function: Function
    of_counts: Function | None = None
    proportion: Function | None = None
    per_example: Function | None = None
    recall_slope: float = 0.0
    iso_slope: IsoSlope = ""


WHOLE = re.compile("[1-9][0-9]{0,5}")
FRACTION = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


@dataclass(frozen=True, slots=True)
class Parameter:
    """The number of a metric, which is a part of its name: of ``recall[at_fpr=0.1]``, of ``pass@5``.

    One in brackets is needed. Without a whole one, k, the bare name means k = 1 and the smallest number of attempts.

    Attributes
    ----------
    begins, name
        How the spelling begins, and the name of the number: ``recall``, ``at_fpr``; ``pass@`` and nothing.
    label
        The metric's label with its number, ``{x}``.
    value
        The number, in (0, 1) or whole, where it is given.
    example
        A number as messages show it.
    rate
        Maps the number and n to the rate that limits are of; None: the number itself.
    """

    begins: str
    name: str
    label: str
    value: float | None = None
    example: str = "0.1"
    rate: Callable[[float, int], float] | None = None

    def spelled(self, x: float | str) -> str:
        """Return the spelling with a number."""
        number = x if isinstance(x, str) else f"{x:.12g}"
        return f"{self.begins}[{self.name}={number}]" if self.name else f"{self.begins}{number}"

    def read(self, text: str) -> float | None:
        """Return the number of a spelling; None: it is another metric's, or none."""
        if not text.startswith(self.begins):
            return None
        rest = text.removeprefix(self.begins)
        if not self.name:
            return int(rest) if WHOLE.fullmatch(rest) else None
        match = re.fullmatch(rf"\[{self.name}=\s*({FRACTION})\s*\]", rest)
        return float(match[1]) if match is not None and 0 < float(match[1]) < 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """A function of weighted sums of columns with one number for each example.

    Attributes
    ----------
    function
        Maps the sums (..., p) to values (...).
    columns
        Maps a ``ModelView`` to (n, p), dense or sparse; the first column is ones.
    per_example
        Maps a ``ModelView`` to the numbers (n,) whose mean the value is, where it is one.
    mean_over_pairs
        Maps a ``ModelView`` to the mean of that number over every truth with every prediction.
    of_probability
        Two classes: the loss from the positive class's probability, the truth (1 or 0) and a function that takes
        logarithms. Engines can add it up.
    of_gaps
        Whether the columns are gaps and ones by bin, which engines can add up.
    numbered
        The number that it has, which ``per_example`` takes as ``at``.
    losses
        What the second column holds, where these are losses of 0 or more.
    less_moved
        The name of the metric that single large losses move less.
    root_of
        The name of the mean of squares whose root it is.
    from_squares
        Maps the mean squared error, relative to the variance of the truth where there are columns of it, to the value.
    infinite_at
        What makes the term of a single example infinite: a probability of 0 of the true class, or a true value of 0.
    """

    function: Function
    columns: Function
    per_example: Function | None = None
    mean_over_pairs: Function | None = None
    of_probability: Function | None = None
    of_gaps: bool = False
    numbered: Parameter | None = None
    losses: Text | None = None
    less_moved: str = ""
    root_of: str = ""
    from_squares: Callable[[float], float] | None = None
    infinite_at: Infinite = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """A function of the weights of positives and negatives along the sorted scores.

    Attributes
    ----------
    function
        Maps ``RankedWeights``, (g, ...) of each group of ties, best first, to values (...). One without a derivative is
        given the corners of the ROC curve, neighbouring groups without a positive being one.
    derivative
        Its closed form by group: maps the weights of positives and of negatives to (by a positive, by a negative), each
        (g, ...). None where there is none.
    area
        Under which curve it is the area. DeLong's error and Newcombe's interval are those of ``roc``, the whole area.
    mean_over_positives
        Whether it is a mean of one number for each positive example.
    most_false_positives
        Where the range of false positive rates ends over which the area is taken. None of other areas.
    closed
        Maps the weights of the data, (g, 1), to the evidence of its closed limits, where examples are drawn one by one.
    proportion
        Maps them to (successes, trials) where the value is a binomial proportion.
    best_of
        The label metric of which it is the best value over all thresholds.
    """

    function: Function
    derivative: Function | None = None
    area: Area = ""
    mean_over_positives: bool = False
    most_false_positives: float | None = None
    closed: Function | None = None
    proportion: Function | None = None
    best_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWise:
    """A function of a prepared state and the weights of the rows, for metrics outside the other families.

    Attributes
    ----------
    function
        Maps the state and weights (b, n) to values (b,). With ``averages`` it is given ``Chosen`` for the state.
    prepare
        Maps a ``ModelView`` to the state (sorted once, binned once); metrics that name the same one share it.
    derivative
        Its closed form by example: maps the state and weights (b, n) to (b, n). None where there is none.
    averages
        The averages that are computed for several classes; the first is what the bare name means.
    by_ranks
        Whether it is a function of the order of the scores.
    closed
        Maps the state to the evidence of its closed limits, where examples are drawn one by one.
    why_undefined
        Maps the state to the reason, where there is more than one.
    of_risks
        Whether the state are ``Risks``, from which the metric's own interval is computed. Such a metric may be asked of
        one class of several, as ``NAME[class=3]``: ``prepare`` is then given that class as the positive one.
    scored
        Maps the state to scores and whether each example is positive, (n,) each, for the same purpose.
    parameter
        The number that it needs in brackets.
    """

    function: Function
    prepare: Function
    derivative: Function | None = None
    averages: tuple[Average, ...] = ()
    by_ranks: bool = False
    closed: Function | None = None
    why_undefined: Function | None = None
    of_risks: bool = False
    scored: Function | None = None
    parameter: Parameter | None = None

    @property
    def at(self) -> float | None:
        """The number in brackets, where it is given."""
        return None if self.parameter is None else self.parameter.value

    def rate_of(self, n: int) -> float | None:
        """Return the rate that limits on n examples are of; None without a number in brackets."""
        rate = None if self.parameter is None else self.parameter.rate
        return self.at if self.at is None or rate is None else rate(self.at, n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contingency:
    """A function of sums over the table of true groups by the model's groups.

    Attributes
    ----------
    function
        Maps ``clustering.Overlap`` to values (...).
    filled
        Whether intervals ask for enough examples in the ``groups`` or in the ``cells`` of the table.
    """

    function: Function
    filled: Literal["groups", "cells"] = "cells"


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPoweredMean:
    """The mean of a gold outcome over all rows, from another outcome of all rows and the gold one of some.

    Attributes
    ----------
    function
        Maps the outcomes and gold, (n,) each, to ``prediction_powered.Rectified``.
    """

    function: Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A criterion of a model's training rows, no function of test predictions.

    Attributes
    ----------
    function
        Maps a ``criteria.TrainingFit`` to the value.
    why_undefined
        Maps it to the reason where the value is undefined.
    """

    function: Function
    why_undefined: Function


Computation = (
    ClassCounts | Margins | Moments | Ranks | RowWise | Contingency | PredictionPoweredMean | Training
)


@dataclass(frozen=True, slots=True)
class Affine:
    """A metric that is another one on another scale: slope times that one's value plus offset.

    Attributes
    ----------
    of
        The name of the other metric, the base.
    slope
        Not 0; below 0 the direction turns round.
    """

    of: str
    slope: float
    offset: float

    def forward(self, value: Number) -> Number:
        """Return the values on this scale of values of the base, a number or an array."""
        return self.slope * value + self.offset

    def back(self, value: Number) -> Number:
        """Return the values of the base from values on this scale, a number or an array."""
        return (value - self.offset) / self.slope

    def limits(self, low: float, high: float) -> tuple[float, float]:
        """Return limits of the base on this scale, in ascending order."""
        first, second = self.forward(low), self.forward(high)
        return (first, second) if self.slope > 0 else (second, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Which values a metric can have and what they mean.

    Attributes
    ----------
    range, binary_range
        Smallest and largest possible value (may be infinite); another one on two classes, where it differs.
    greater_is_better
        None where neither direction is better.
    turnable
        Whether only the user knows the direction: ``--lower-is-better`` turns it round.
    uninformed
        Value of a model that tells no example from another (a random order, the mean of the truth); None
        where it depends on the data.
    undefined
        When 0/0 occurs, in words; the value is then 0 by the field's convention, with this as the reason.
    extensive
        True where the value depends on how many examples there are, not only on their distribution.
    share_of_right
        Whether it is the share of right answers: of predicted labels, or of outcomes where all are 0 or 1.
    affine_of
        Where it is another metric on another scale: intervals are then that one's, mapped (decorator ``affine``).
    traded
        Whether it is bought with another metric, as coverage is with width, so that it speaks for no model alone.
    """

    range: tuple[float, float] = (0.0, 1.0)
    binary_range: tuple[float, float] | None = None
    greater_is_better: bool | None = True
    turnable: bool = False
    uninformed: float | None = None
    undefined: Text | None = None
    extensive: bool = False
    share_of_right: bool = False
    affine_of: Affine | None = None
    traded: bool = False

    def range_of(self, task: str) -> tuple[float, float]:
        """Return the smallest and the largest possible value in a task."""
        return self.binary_range if self.binary_range and task == "binary" else self.range


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """Which intervals and tests of a metric are honest, and which lead.

    Attributes
    ----------
    intervals
        Names of the honest intervals, the recommended one first.
    difference_interval, test
        The recommended interval and test of a paired difference on one test set; no interval where empty.
    of_squares
        Whether a difference is that of the squares.
    smooth
        False where influence values do not exist, so that there is no ``normal`` and no BCa interval.
    resampled
        False where a replicate takes too long, so that there are no bootstrap intervals.
    no_interval
        Why no interval of one model's value is honest; empty where ``intervals`` are.
    no_test
        Why no test tests that two models have the same value; empty where ``test`` does. It is that of
        ``no_interval`` unless it is given.
    least_of_a_class
        With fewer examples of the rarest class its bootstrap intervals do not hold.
    """

    intervals: tuple[str, ...] = SMOOTH_INTERVALS
    difference_interval: str = "bootstrap_bca"
    of_squares: bool = False
    test: str = "interval"
    smooth: bool = True
    resampled: bool = True
    no_interval: Text | None = None
    no_test: Text | None = None
    least_of_a_class: int = 0

    @property
    def may_be_proportion(self) -> bool:
        """Whether some interval of a binomial proportion is honest for it, on data where it is one."""
        return not {*PROPORTION_INTERVALS}.isdisjoint(self.intervals)

    @property
    def replicates_hold(self) -> bool:
        """Whether bootstrap replicates show how far the value, or a difference of two, may be off."""
        return self.resampled and not self.no_interval and bool({*BOOTSTRAP_INTERVALS} & {*self.intervals})


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How a metric is shown.

    Attributes
    ----------
    label
        Its name in a report (``ROC AUC``).
    formula
        The definition in one line of text.
    summary
        One plain sentence.
    source
        Paper, equation or page.
    headline
        Whether the report shows it open; the others are folded unless the user names them.
    shown_with
        The heading of the report that it is listed under, where that is not the model's output that it needs.
    figures
        Names of the pictures that explain it in the report's methods.
    of_calibration
        Whether a run that names it describes how well probabilities are calibrated.
    between_groups
        Whether its spread between the groups of a column is described.
    """

    label: str
    formula: str
    summary: str
    source: str = ""
    headline: bool = False
    shown_with: Needs | None = None
    figures: tuple[str, ...] = ()
    of_calibration: bool = False
    between_groups: bool = False

    @property
    def phrase(self) -> str:
        """The label inside a sentence: ``accuracy``, but ``ROC AUC`` and ``Brier score``."""
        return in_sentence(self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One registered metric; the rest of the program asks for its properties, never for its name.

    Attributes
    ----------
    name
        The name of the command line and of the results (``roc_auc``).
    tasks, needs
        Where it is defined; which output of the model it needs.
    least_classes
        With fewer classes it says nothing, so a run that does not name it leaves it out.
    sums
        The sums by unit that it may be computed from, in the task ``sums``.
    ordered
        Whether it needs an order of the classes.
    only_named
        Whether a run that does not name it leaves it out.
    computation
        How it is computed: the record of its family.
    scale, inference
        What holds for its values, and for its intervals and tests.
    display
        How it is shown.
    """

    name: str
    tasks: tuple[Task, ...]
    needs: Needs
    least_classes: int = 0
    sums: tuple[str, ...] = ()
    ordered: bool = False
    only_named: bool = False
    computation: Computation
    scale: Scale
    inference: Inference
    display: Display

    def of(self, family: type[Family]) -> Family:
        """Return how it is computed, where its family is known."""
        assert isinstance(self.computation, family)
        return self.computation

    @property
    def averages(self) -> tuple[Average, ...]:
        """The averages that are computed for several classes; the first is what the bare name means."""
        computation = self.computation
        return computation.averages if isinstance(computation, ClassCounts | RowWise) else ()

    @property
    def by_ranks(self) -> bool:
        """Whether it is a function of the order of the scores."""
        return isinstance(self.computation, Ranks) or (
            isinstance(self.computation, RowWise) and self.computation.by_ranks
        )

    @property
    def by_class(self) -> bool:
        """Whether a single class of several is computed where it is named, though not by itself."""
        of_risks = isinstance(self.computation, RowWise) and self.computation.of_risks
        return of_risks or self.needs == "sets"

    @property
    def per_example(self) -> Function | None:
        """Maps a ``ModelView`` to the numbers (n,) whose mean the value is; None where it is no such mean."""
        return self.computation.per_example if isinstance(self.computation, Margins | Moments) else None

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean of one number for each example, so that it has a value on a single one."""
        return self.per_example is not None

    @property
    def is_auc(self) -> bool:
        """Whether it is the whole area under the ROC curve, or that area on another scale."""
        return isinstance(self.computation, Ranks) and self.computation.area == "roc"

    @property
    def numbered(self) -> Parameter | None:
        """The whole number k that its name may have, where it has none."""
        number = self._number
        return None if number is None or number.name or number.value is not None else number

    @property
    def parameter(self) -> Parameter | None:
        """The number in brackets that it needs."""
        number = self._number
        return number if number is not None and number.name else None

    @property
    def _number(self) -> Parameter | None:
        if isinstance(self.computation, Moments):
            return self.computation.numbered
        return self.computation.parameter if isinstance(self.computation, RowWise) else None

    @property
    def chosen_here(self) -> bool:
        """Whether it is the value at a threshold that is chosen on the examples that measure it."""
        return isinstance(self.computation, Ranks) and bool(self.computation.best_of)

    @property
    def lacks_parameter(self) -> bool:
        """Whether it needs a number in brackets and has none."""
        return self.parameter is not None and self.parameter.value is None

    @property
    def infinite_at(self) -> Infinite:
        """The cause of an infinite term of a single example; empty where there is none."""
        return self.computation.infinite_at if isinstance(self.computation, Moments) else ""

    @property
    def losses(self) -> Text | None:
        """The losses whose mean, or a function of it, it is, in words; None where there are none of 0 or more."""
        return self.computation.losses if isinstance(self.computation, Moments) else None

    @property
    def root_of(self) -> str:
        """The name of the mean of squares whose root it is; empty where it is none."""
        return self.computation.root_of if isinstance(self.computation, Moments) else ""

    @property
    def from_squares(self) -> Callable[[float], float] | None:
        """Maps the mean squared error, or its share of the variance, to the value; None where it is not one."""
        return self.computation.from_squares if isinstance(self.computation, Moments) else None

    @property
    def heading(self) -> str:
        """The heading of the report that it is listed under."""
        return self.display.shown_with or self.needs

    @property
    def untested(self) -> Text | None:
        """Why no test tests that two models have the same value; None where one does."""
        return self.inference.no_test or self.inference.no_interval


@dataclass(frozen=True, slots=True)
class Chosen:
    """The input of a ``RowWise`` metric with averages: the prepared state, and the average or the class."""

    state: Any
    average: Average | None
    code: int | None
