"""The registry of tests: one documented function of a pair each, with its null hypothesis and assumptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from evalreport.comparisons.label_pairs import LabelPairs, PairedRecalls, PairedTrials
from evalreport.intervals import INTERVALS, recommended, resolved
from evalreport.intervals.registry import missing
from evalreport.metrics.counted_rows import MOST_EXPANDED, CountedRows, TooManyRowsError
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.predictions.arrays import Floats, required
from evalreport.registry import Registered, Registry, summary_of
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import Interval
from evalreport.texts import Message, Text

OfExamples = Literal[
    "agreement",
    "losses",
    "mean_losses",
    "labels",
    "trials",
    "overlap",
    "recalls",
    "student",
    "horizon",
    "placements",
    "replicates",
    "interval",
    "swaps",
    "blocks",
    "independent",
    "one_model",
    "all_right",
]
Needs = Literal[
    OfExamples, "few_blocks", "folds", "trained_folds", "halves", "seeds", "ranked", "margin", "all_ranks"
]
"""What a test is a function of; ``test_needs.lacks`` says in words what each one takes."""

OF_ALL: tuple[Needs, ...] = ("all_right", "all_ranks")
"""All models at once: who is right where (n, k), or their ranks on the same blocks (``Ranked``)."""
OF_LABELS: tuple[Needs, ...] = ("agreement", "labels", "trials", "overlap", "recalls")
"""About right and wrong answers, or labels, of single examples."""
OF_UNITS: tuple[Needs, ...] = ("student", "seeds")
"""The t of the sampling: weights, tasks, clusters, an order in time, rows of which people saw a part, trainings."""
OF_EXAMPLES: tuple[Needs, ...] = get_args(OfExamples)
"""On one test set these are about its examples, or clusters of them, which are taken as independent."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The models' values on the same blocks (data sets, folds, examples), all models at once.

    Attributes
    ----------
    models
        Names, (k,).
    ranks
        (m, k) rank of each model within its block, 1 the best, ties sharing their mean.
    by
        What a block is: ``examples``, ``folds`` or ``datasets``.
    counts
        (m,) number of blocks of each row; None: one.
    """

    models: tuple[str, ...]
    ranks: Floats
    by: str
    counts: Floats | None = None

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.ranks) if self.counts is None else int(self.counts.sum())

    @property
    def mean_ranks(self) -> Floats:
        """Average rank of each model, (k,)."""
        if self.counts is None:
            return np.asarray(self.ranks.mean(axis=0))
        return np.asarray(self.by_blocks(self.ranks).sum(axis=0) / self.blocks)

    def by_blocks(self, values: Floats) -> Floats:
        """Return values (m, k) times the number of blocks of each row."""
        return values if self.counts is None else values * self.counts[:, None]


MOST_UNITS = 10_000
"""No more examples (clusters, data sets) are swapped."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """The differences after swaps.

    Attributes
    ----------
    differences
        (m,) a - b after each swap.
    errors
        (m,) the standard error of each; None where the difference itself is the statistic (a mean over examples, or
        a metric without influence values).
    probabilities
        (m,) probabilities of the swaps; None: equally likely draws of a Monte Carlo sample.
    discordant
        How many units change the difference when they are swapped.
    """

    differences: Floats
    errors: Floats | None
    probabilities: Floats | None
    discordant: int


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two models on one quantity, on the same examples.

    Attributes
    ----------
    a, b, difference
        The estimates and a - b.
    by_example
        Both models' values where the quantity is their mean, (m, 2); examples that are alike share a row, with their
        count. ``losses`` has one row an example.
    labels
        Of a metric of labels: the counts of both models' answers, with the trials of a share of one class and the
        recalls of a metric that is a function of their mean. None where examples weigh differently, come in clusters
        or were predicted by several fits.
    swapped
        Computes the differences after whole rows were swapped between the models; None where they cannot be.
    design
        How the predictions were made.
    ranking
        Ranks all models on the same blocks, which only few tests need.
    greater_is_better
        The direction of the quantity, as the user may have turned it.
    margin, seed
        The smallest difference that matters (None: not declared); the seed of the draws.
    horizon
        How many steps ahead forecasts are, for examples in order of time.
    """

    a: Estimate
    b: Estimate
    difference: Difference
    by_example: CountedRows | None = None
    labels: LabelPairs | None = None
    swapped: Callable[[], Swapped | None] | None = None
    design: str = "test-set"
    ranking: Callable[[], Ranked | None] = lambda: None
    greater_is_better: bool = True
    margin: float | None = None
    seed: int = 0
    horizon: int = 1

    @property
    def independent(self) -> bool:
        """Whether each model has a test set of its own."""
        return self.difference.sampling.two_sets

    @property
    def trials(self) -> PairedTrials | None:
        """The trials of a share of one class; None for other metrics."""
        return None if self.labels is None else self.labels.trials

    @property
    def recalls(self) -> PairedRecalls | None:
        """The recalls by class of a metric that is a function of their mean; None for others."""
        return None if self.labels is None else self.labels.recalls

    @cached_property
    def of_examples(self) -> Difference:
        """The difference over the examples; single folds of one example have no value of the metric."""
        return replace(self.difference, fits=None) if self.difference.of_folds else self.difference

    @cached_property
    def recommended_interval(self) -> str:
        """The name of the interval of the difference that leads; with a margin that of a paired share is Tango's."""
        tango = INTERVALS["tango"]
        if self.margin is not None and missing(tango, self.of_examples) is None:
            return tango.name
        return recommended(self.difference)

    @property
    def decided_by_replicates(self) -> bool:
        """Whether the interval that leads is made of replicates."""
        return INTERVALS[self.recommended_interval].by_resampling

    def limits(self, level: float) -> Interval:
        """Compute the interval that leads over the examples."""
        name = self.recommended_interval
        if self.of_examples is not self.difference and name != "tango":
            name = recommended(self.of_examples)
        return resolved(self.of_examples, name, level)

    @property
    def agreement(self) -> tuple[float, float, float, float] | None:
        """Of right or wrong answers, among all examples or those of a class: both right, only a, only b, neither."""
        of_class = None if self.trials is None else self.trials.agreement
        return self.difference.agreement or of_class

    @property
    def losses(self) -> Floats:
        """Both models' values, (n, 2): one row an example, however often a value occurs."""
        return required(self.by_example).expanded()

    @property
    def blocks(self) -> Floats:
        """Differences a - b, (m,): one an example, fold or data set."""
        return required(self.difference.rows).expanded()

    @property
    def ranked(self) -> Ranked | None:
        """All models on the same blocks; None where they cannot be ranked, or one of these two lacks a value."""
        ranked = self.ranking()
        both = ranked is not None and {self.a.model, self.b.model} <= set(ranked.models)
        return ranked if both else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test's result; ``p_value`` is None with a reason where the data lack what it needs.

    ``details`` holds further named numbers: second degrees of freedom, rank sums, posterior probabilities.
    """

    statistic: float | None
    p_value: float | None
    df: float | None = None
    effect: str | None = None
    effect_size: float | None = None
    reason: Text | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def fields(self) -> JsonObject:
        """What a record of it says, beside the reason."""
        names = ("statistic", "df", "p_value", "effect", "effect_size", "details")
        return {name: getattr(self, name) for name in names}


Function = Callable[..., Outcome]


@dataclass(frozen=True, slots=True)
class Test(Registered):
    """One registered test: a function of a ``Pair``, of one model or of all of them (as ``needs`` says).

    Attributes
    ----------
    needs
        What it is a function of.
    beside
        The tests that are shown beside it where it leads, unless others are named.
    inverse
        The interval that inverts it, shown beside it over folds or data sets, and where it is asked for.
    large_samples
        Whether it is an approximation that counts few discordant examples ill.
    bayesian
        Whether it gives posterior probabilities and no p-value.
    """

    null_hypothesis: Text
    assumptions: Text
    needs: Needs
    function: Function
    source: Text
    beside: tuple[str, ...] = ()
    inverse: str = ""
    large_samples: bool = False
    bayesian: bool = False

    def run(self, subject: object) -> Outcome:
        """Test a pair, one model or all of them; refused where counts hold too many examples to write out."""
        try:
            return self.function(subject)
        except TooManyRowsError as error:
            why = Message("test_lacks.fewer_examples", n=error.n, most=MOST_EXPANDED)
            return Outcome(None, None, reason=Message("reason.refused", why=why))

    @property
    def of_a_pair(self) -> bool:
        """Whether it compares two models, and not all at once or one with a stated value."""
        return self.needs not in ("one_model", *OF_ALL)

    @property
    def of_examples(self) -> bool:
        """Whether on one test set it takes the examples, or clusters of them, as independent."""
        return self.needs in OF_EXAMPLES

    @property
    def by_example(self) -> bool:
        """Whether it is a function of one number for each example and model: right or wrong, or a loss."""
        return self.needs in ("agreement", "losses", "mean_losses")

    @property
    def by_resampling(self) -> bool:
        """Whether its p-value is only as fine as the replicates or swaps are many."""
        return self.needs in ("replicates", "swaps")

    @property
    def knows_folds(self) -> bool:
        """Whether it was made for fits that share training data; others take their input as independent."""
        return self.needs in ("trained_folds", "halves")


TESTS: Registry[Test] = Registry("test")


def comparison_test(
    label: str, needs: Needs, *, name: str | None = None, **fields: Any
) -> Callable[[Function], Function]:
    """Register a function that returns an ``Outcome``; ``name`` only where no function can be called so.

    Null hypothesis, assumptions and source are in the catalogue of texts by the test's name, unless they are given;
    ``fields`` are further properties of ``Test``.
    """

    def _decorate(function: Function) -> Function:
        register(function, name or function.__name__, label, summary_of(function), needs, **fields)
        return function

    return _decorate


def register(function: Function, name: str, label: str, summary: str, needs: Needs, **fields: Any) -> None:
    """Register a test; null hypothesis, assumptions and source are in the catalogue by its name unless given."""
    keys = ("null_hypothesis", "assumptions", "source")
    texts = {key: Message(f"test.{key}.{name}") for key in keys if key not in fields}
    TESTS.add(Test(name, label, summary, needs=needs, function=function, **{**texts, **fields}))


def tests_that_need(*needs: Needs) -> tuple[str, ...]:
    """Return the names of the tests that are functions of these, in the order of the registry."""
    return tuple(test.name for test in TESTS.values() if test.needs in needs)


SMALLEST = float(np.finfo(np.float64).tiny)


def probability(p: float) -> float:
    """Keep a p-value in (0, 1]: one that underflows is tiny, never 0."""
    return min(max(float(p), SMALLEST), 1.0)
