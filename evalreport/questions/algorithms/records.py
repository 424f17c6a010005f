"""Learning algorithms: error estimates, bias and variance, learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.questions.thresholds.records import CurveRecord
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message

SQUARES_OF = {"squared": "values", "brier": "probabilities"}
"""Losses that are squared errors, by the quantity they are errors of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecompositionRecord:
    """One model's expected loss split into bias and variance; expected_loss = bias + net variance (+ noise).

    ``loss``: ``squared`` (numbers), ``brier`` (probabilities), ``0-1`` (labels, Domingos) or ``kohavi_wolpert``.
    ``variance`` has divisor K. ``variance_unbiased``: squared losses and Kohavi-Wolpert: with divisor K - 1; 0-1: the
    part on examples whose main prediction is right. ``variance_biased``: 0-1, the part on the other examples.
    ``bias_unbiased``: ``bias`` less the variance / K that it contains, with its limits; it may be below 0 by
    chance, and is None for 0-1. It and ``variance_unbiased`` are over the ``n_unbiased`` examples with two or more
    predictions. ``noise`` is None where it is not known: ``bias`` then holds it. ``low`` and ``high`` are limits of
    ``expected_loss``. All limits are over examples and replicates, None with fewer than ten replicates; of squared
    losses those of ``variance`` hold the variance with either divisor.
    ``aggregated_loss`` is the loss of the mean (or main) prediction, so averaging the replicates removes the rest.
    ``*_monte_carlo``: standard errors over replicates.
    """

    model: str
    loss: str
    expected_loss: float
    bias: float
    variance: float
    variance_unbiased: float | None
    variance_biased: float | None
    noise: float | None
    n_replicates: int
    low: float | None
    high: float | None
    n: int = 0
    aggregated_loss: float | None = None
    bias_low: float | None = None
    bias_high: float | None = None
    variance_low: float | None = None
    variance_high: float | None = None
    expected_loss_monte_carlo: float | None = None
    bias_monte_carlo: float | None = None
    variance_monte_carlo: float | None = None
    complexity: float | None = None
    train_size: float | None = None
    bias_unbiased: float | None = None
    bias_unbiased_low: float | None = None
    bias_unbiased_high: float | None = None
    n_unbiased: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleVarianceRecord:
    """One of the examples on which a model's replicates differ most, the most variable first.

    ``main_prediction``: mean (numbers), mean probability of the positive or true class, or mode (labels).
    """

    model: str
    id: str
    loss: str
    truth: str
    main_prediction: str
    expected_loss: float
    bias: float
    variance: float
    n_replicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEstimateRecord:
    """One resampling estimate of an algorithm's error, in units of ``metric``.

    ``value`` is null where it cannot be computed; ``reason`` says why, and which plan of fits gives it. ``details`` has
    the numbers of folds, repeats or replicates, and those of the .632+ estimator. ``low`` and ``high`` are limits by
    ``interval_method``, null where there is none.
    """

    model: str
    estimator: str
    metric: str
    value: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    details: JsonObject
    reason: Message | None = None
    interval_method: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRecord:
    """The parameters that an inner search chose for one model on one outer fold."""

    model: str
    repeat: str | None
    fold: str | None
    params: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionChoiceRecord:
    """The model with the least value of a penalised criterion among ``models``, and the runner-up's ``distance``."""

    criterion: str
    model: str
    value: float
    second: str | None
    distance: float | None
    models: tuple[str, ...]
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPointRecord:
    """One point of a learning or complexity curve: a model's error at one ``train_size`` or ``complexity`` (``axis``).

    ``part``: ``test``, or ``train`` for the error on the rows that each fit was trained on. ``used`` marks the point
    that the comparisons of the report are made at.
    """

    model: str
    axis: str
    x: float
    part: str
    metric: str
    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    n_fits: int
    used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningFitRecord:
    """A power law a + b n^-c through a model's learning curve; None with a reason where it does not fit.

    ``at`` is a training size beyond the data and ``predicted`` the error there if it goes on as a power law; ``low``
    and ``high`` include what leaving out the largest size changes, and an error that falls no further. ``needed`` is
    the size at which the error would be lower by the declared margin, where one is declared.
    """

    model: str
    metric: str
    a: float | None
    b: float | None
    c: float | None
    a_low: float | None
    a_high: float | None
    at: float | None
    predicted: float | None
    low: float | None
    high: float | None
    level: float
    needed: float | None = None
    needed_low: float | None = None
    needed_high: float | None = None
    reason: Message | None = None


@dataclass(frozen=True, kw_only=True)
class AlgorithmLists:
    """The lists of results.json about algorithms."""

    decomposition: Sequence[DecompositionRecord] = ()
    example_variance: Sequence[ExampleVarianceRecord] = ()
    replicate_predictions: Sequence[CurveRecord] = ()
    error_estimates: Sequence[ErrorEstimateRecord] = ()
    chosen_parameters: Sequence[ChosenRecord] = ()
    criterion_choices: Sequence[CriterionChoiceRecord] = ()
    learning_curves: Sequence[LearningPointRecord] = ()
    learning_fits: Sequence[LearningFitRecord] = ()
