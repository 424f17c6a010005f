"""Comparisons of models: tests, effect sizes, agreement, variances and the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalreport.schema.metrics import Slice
from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """One test, or one interval, of the difference a - b of one metric.

    ``b`` null: a test of one model alone. ``df`` are the degrees of freedom of a t, F or chi-squared ``statistic``.
    ``p_value`` is two-sided and null where there is none, with a ``reason``; ``p_adjusted`` is set in the family of the
    verdicts alone, by ``correction``. ``difference``, ``low`` and ``high`` (at ``level``) are in the metric's units.
    ``effect`` names the size ``effect_size``. ``recommended``: the test that leads on this metric. ``caution``: what
    speaks against the test in this layout. ``test`` null: no test tests whether the models have equal values of the
    metric, as the ``reason`` says; the difference has an interval where one is honest. The recommended row has the
    interval that leads, other rows their test's own (McNemar's tests have Newcombe's).
    """

    a: str
    b: str | None
    metric: str
    average: str | None = None
    label: str | None = None
    slice: Slice | None = None
    test: str | None
    statistic: int | float | None
    df: int | float | None = None
    p_value: float | None
    p_adjusted: float | None = None
    correction: str | None = None
    difference: float | None = None
    level: float
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None
    effect: str | None = None
    effect_size: float | None = None
    recommended: bool
    caution: Message | None = None
    reason: Message | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    """Further numbers of a test by name: second degrees of freedom, posterior probabilities ..."""

    @property
    def leads(self) -> bool:
        """Whether it has the leading test of its metric, or the metric has no test."""
        return self.recommended or self.test is None


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceRecord:
    """The variance of a value by its ``source``: ``seeds``, ``replicates`` or ``test set``.

    Between seeds or replicates: the variance (divisor J - 1) of the values of single fits on the same test
    examples. Test set: the squared standard error of the mean value, from the examples.
    """

    model: str
    metric: str
    source: str
    value: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRecord:
    """One model's rank on the primary metric, 1 the best; pairs that share one of ``letters`` are undecided."""

    model: str
    metric: str
    value: float | None
    rank: int
    letters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """A size of the difference a - b in one of the usual measures, with its limits; ``text`` is a sentence about it.

    ``unit`` is the unit of sampling: example, fold, replicate, seed or dataset.
    """

    a: str
    b: str
    metric: str
    effect: str
    value: float | None
    low: float | None
    high: float | None
    text: Message
    unit: str = "example"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRecord:
    """On how many examples both models of a pair are right, only the first, only the second, neither."""

    a: str
    b: str
    metric: str
    both: float
    only_a: float
    only_b: float
    neither: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanimityRecord:
    """On how many examples all models are right, and on how many all are wrong; on the others they disagree.

    ``label`` is the true class, None over all examples.
    """

    label: str | None
    n: int
    all_right: int
    all_wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementRecord:
    """One model's answer to one of the examples on which the models disagree most, the widest first.

    ``spread`` is the distance between the answers, in units of ``measure``; ``correct`` is None for numbers.
    """

    id: str
    truth: str | None
    model: str
    answer: str
    correct: bool | None
    spread: float
    measure: Message
