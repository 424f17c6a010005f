"""A judge's outcomes beside those that people gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.texts import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimateRecord:
    """One model's mean outcome, or a pair's difference a - b: by the judge, by people, and by both.

    ``judge`` is over all n examples, ``human`` over the ``n_gold`` that people judged (of both models), ``value`` is
    the estimate from both (PPI++), in which the judge counts ``lam`` (0 to 1). Limits are at ``level``; those of a
    pair's value are its one interval. ``gold_effective`` is how many examples people alone would have had to judge for
    as small an error. ``correlation`` is that of judge and people on these examples, ``sd`` the standard deviation of
    what people say there: `evalreport plan` goes by both. Of a suite ``fewest_task`` is the task of which people judged
    least answers, ``fewest_gold`` how many.
    """

    a: str
    b: str | None
    judge: float
    human: float | None = None
    human_low: float | None = None
    human_high: float | None = None
    human_method: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    level: float
    lam: float | None = None
    n_gold: int
    n: int
    gold_effective: float | None = None
    correlation: float | None = None
    sd: float | None = None
    fewest_task: str | None = None
    fewest_gold: int | None = None
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreementRecord:
    """The agreement of judge and people on the answers that people judged; ``model`` null: of all models.

    Of outcomes of 0 and 1: on how many both say 1, only the judge, only people, neither; Cohen's kappa. ``bias`` is the
    mean of the judge's outcome less people's, null where both are on two scales. ``clusters``: how many hold such
    answers, where whole clusters are drawn.
    """

    model: str | None
    n_gold: int
    clusters: int | None
    agreement: float | None
    both: int | None
    judge_only: int | None
    human_only: int | None
    neither: int | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    kappa_method: str | None
    bias: float | None
    bias_low: float | None
    bias_high: float | None
    level: float
    reason: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBiasRecord:
    """The judge's bias on a less that on b: on the same examples, or on each model's own where few are the same.

    ``p_adjusted`` is over all pairs; ``flagged``: it is at or below 1 - confidence, so the judge favours one of them.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    level: float
    p_value: float | None
    p_adjusted: float | None
    correction: str
    n_gold: int
    flagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSamplingRecord:
    """A test of whether people judged a random part of the answers.

    ``about``: ``outcome`` (the judge's mean outcome of a model's answers with ``gold`` and of the ``rest``), ``model``
    or ``task`` (largest and smallest share with gold, and whose these are: ``most``, ``least``).
    """

    about: str
    model: str | None
    test: str
    gold: float | None
    rest: float | None
    p_value: float
    p_adjusted: float
    most: str | None = None
    least: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScaleRecord:
    """The range of the judge's outcomes and of people's; ``same``: both may be on one scale, or ``declared`` to be.

    ``declared`` is by ``--judge-scale``, which maps the judge's outcomes onto people's scale where it names two.
    """

    judge_low: float
    judge_high: float
    human_low: float
    human_high: float
    same: bool
    declared: bool


@dataclass(frozen=True, kw_only=True)
class JudgeLists:
    """The lists of results.json about an automatic judge."""

    judge_estimates: Sequence[JudgeEstimateRecord] = ()
    judge_agreement: Sequence[JudgeAgreementRecord] = ()
    judge_bias: Sequence[JudgeBiasRecord] = ()
    gold_sampling: Sequence[GoldSamplingRecord] = ()
    judge_scales: Sequence[JudgeScaleRecord] = ()
