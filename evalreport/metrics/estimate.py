"""One model's value of a quantity, with the statistics for its intervals and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from evalreport.metrics.evidence import (
    EffectiveProportion,
    EqualErrors,
    Evidence,
    OverDatasets,
    PairedRanking,
    Proportion,
    RankedClasses,
    Ranking,
    Rows,
    Table,
    Undefined,
    WeightedF1,
    rescaled,
)
from evalreport.metrics.metric import Affine, Metric
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Examples, Fits, Influence, Sampling, StudentError
from evalreport.samplings.seeds import Crossed, over_seeds
from evalreport.texts import Text


@dataclass(frozen=True, slots=True)
class ClassSpread:
    """Derivatives by the examples of one class: the sum of their squares, and the largest size of one.

    Of sums of scores the largest is not known: infinite.
    """

    squares: float
    largest: float

    @classmethod
    def of(cls, derivative: Floats) -> ClassSpread:
        """Take the derivatives (m,)."""
        return cls(float((derivative**2).sum()), float(np.abs(derivative).max(initial=0.0)))


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A number taken from drawn examples, and its standard errors.

    Attributes
    ----------
    value
        nan where it is undefined and no convention gives it a value.
    range
        Smallest and largest possible value.
    evidence
        What closed-form intervals and tests are functions of.
    influence
        None where the metric is not smooth or the value is undefined.
    replicates
        (B,) values under the bootstrap weights, nan where undefined; None where none were drawn.
    fits
        The values on single fits, where the design has several. None for a difference of models trained with different
        seeds.
    """

    value: float
    range: tuple[float, float]
    sampling: Sampling
    evidence: Evidence
    influence: Influence | None = None
    replicates: Floats | None = None
    fits: Fits | None = None

    @property
    def derivative(self) -> Floats | None:
        """The influence values over n, (u,); None where there are none."""
        return None if self.influence is None else self.influence.values

    @property
    def of_folds(self) -> bool:
        """Whether the single fits are folds or repeated hold-outs of one data set."""
        return self.fits is not None and self.fits.kind == "folds"

    @property
    def over_datasets(self) -> bool:
        """Whether the value is a mean over data sets, which are then the units."""
        return self.fits is not None and self.fits.kind == "datasets"

    @cached_property
    def of_seeds(self) -> bool:
        """Whether the value is a mean over training seeds, or a difference of such means."""
        trained: tuple[Sampled, ...] = (self,) if self.fits is not None else self.sides
        return all(side.fits is not None and side.fits.kind == "seeds" for side in trained)

    @property
    def sides(self) -> tuple[Sampled, ...]:
        """The two values of a difference, else the value itself."""
        return (self,)

    @cached_property
    def crossed(self) -> Crossed | None:
        """The error over examples and training seeds; None in other designs, and where it cannot be had."""
        return over_seeds(self)

    @property
    def standard_error(self) -> float | None:
        """Influence values with divisor n; where units are not alike that of Student's t.

        With training seeds the error over examples and seeds.
        """
        return self.sampling.standard_error(self) if self.crossed is None else self.crossed.error

    @property
    def corrected_error(self) -> float | None:
        """The error of Student's t; None where there is none."""
        return None if self.student is None else self.student.error

    @property
    def df(self) -> float | None:
        """Degrees of freedom of ``corrected_error``; None where there is no such error."""
        return None if self.student is None else self.student.df

    @cached_property
    def student(self) -> StudentError | None:
        """The error of Student's t, as the sampling gives it."""
        return self.sampling.error(self)

    @cached_property
    def robust(self) -> StudentError | None:
        """The error from influence values alone: of clusters CR2; None where there is none."""
        return self.sampling.robust(self)

    @property
    def examples_known(self) -> bool:
        """Whether the influence of the single examples of each cluster is known."""
        return self.influence is not None and self.influence.by_example is not None

    def error_by(self, factors: Floats | float) -> float | None:
        """Return the root of the summed squared derivatives, each times its factor; None where there are none."""
        return None if self.influence is None else self.rounded(self.influence.error(factors))

    def rounded(self, error: float) -> float:
        """Return an error, 0 where derivatives cancel up to rounding, which is no spread."""
        scale = abs(self.value) if np.isinf(self.range[1]) else 1.0
        return error if error > 1e-13 * scale else 0.0

    @cached_property
    def acceleration(self) -> float | None:
        """Skewness of the influence values over 6 (Efron 1987); None where they are 0, dependent, or sums alone."""
        sampling = self.sampling
        one_by_one = not sampling.only_sums and "any_order" in sampling.meets
        if self.influence is None or not one_by_one or not self.error_by(1.0):
            return None
        _, squares, cubes, _ = self.influence.powers
        return float(cubes / squares**1.5) / 6

    @cached_property
    def kurtosis(self) -> float | None:
        """Kurtosis of the influence values (divisor n), at least 1; None where all are 0, or known by sums alone."""
        if self.influence is None or self.sampling.only_sums or not self.error_by(1.0):
            return None
        return self.influence.kurtosis(self.sampling.n_units)

    @property
    def ranking(self) -> Ranking | None:
        """The ranking of the examples, of a difference the first model's; None of other values."""
        evidence = self.evidence.a if isinstance(self.evidence, PairedRanking) else self.evidence
        return evidence if isinstance(evidence, Ranking) else None

    @cached_property
    def delong_error(self) -> float | None:
        """DeLong's standard error: variances of the placements with divisors P - 1 and N - 1."""
        if self.spread_by_class is None or self.ranking is None or min(self.ranking.class_sizes) < 2:
            return None
        by_class = zip(self.spread_by_class, self.ranking.class_sizes, strict=True)
        return math.sqrt(sum(spread.squares * m / (m - 1) for spread, m in by_class))

    @cached_property
    def spread_by_class(self) -> tuple[ClassSpread, ClassSpread] | None:
        """The derivatives of positives and of negatives; None unless examples are ranked and alike."""
        if self.ranking is None or self.influence is None or not self.sampling.alike:
            return None
        derivative, positive = self.influence.values, self.ranking.positive
        spreads = ClassSpread.of(derivative[positive]), ClassSpread.of(derivative[~positive])
        if self.sampling.only_sums:
            return replace(spreads[0], largest=math.inf), replace(spreads[1], largest=math.inf)
        return spreads

    @cached_property
    def replicates_used(self) -> Floats:
        """The replicates in which the value is defined."""
        assert self.replicates is not None
        return self.replicates[~np.isnan(self.replicates)]

    def _back(self, scale: Affine) -> Self:
        """Return the same numbers on the scale of the base metric."""
        low, high = (scale.back(limit) for limit in self.range)
        fits = self.fits
        return replace(
            self,
            value=scale.back(self.value),
            range=(min(low, high), max(low, high)),
            influence=None if self.influence is None else self.influence.scaled(1 / scale.slope),
            replicates=None if self.replicates is None else scale.back(self.replicates),
            fits=None if fits is None else replace(fits, values=scale.back(fits.values)),
        )

    @property
    def undefined_share(self) -> float:
        """Share of the replicates that were left out because the value is 0/0 there."""
        if self.replicates is None or not len(self.replicates):
            return 0.0
        return float(np.isnan(self.replicates).mean())


@dataclass(frozen=True, kw_only=True)
class Estimate(Sampled):
    """One model's value of one quantity.

    Attributes
    ----------
    reason
        Why the value is undefined or stands by convention.
    """

    model: str
    quantity: Quantity
    reason: Text | None = None

    @cached_property
    def metric(self) -> Metric:
        """The registered metric."""
        return definition(self.quantity)

    @property
    def defined(self) -> bool:
        """Whether there is a value that intervals may be built around."""
        return not np.isnan(self.value) and self.reason is None

    @property
    def comparable(self) -> bool:
        """Whether a difference from it can be tested: 0/0 of labels is 0 by convention, with influence 0."""
        return self.defined or (self.table is not None and not np.isnan(self.value))

    @property
    def swappable(self) -> bool:
        """Whether there is a value to compare, and examples whose outputs may change sides."""
        return self.comparable and not self.sampling.only_sums

    @property
    def table(self) -> Table | None:
        """The table of counts of a label metric, else None."""
        evidence = self.evidence
        if isinstance(evidence, Proportion | EffectiveProportion | WeightedF1 | OverDatasets):
            return evidence.table
        return evidence if isinstance(evidence, Table) else None

    @property
    def rarest(self) -> float | None:
        """Examples of the rarest class in the truth, for metrics of all rows that have classes."""
        return (
            self.evidence.rarest
            if isinstance(self.evidence, Proportion | Ranking | RankedClasses | Rows | EqualErrors)
            else None
        )

    @property
    def of_base(self) -> Estimate:
        """The same on the scale of the metric that this one's is another scale of (``affine_of``), else itself."""
        # What holds itself is not freed when the last of its users goes.
        return self if self.metric.scale.affine_of is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Estimate:
        scale = required(self.metric.scale.affine_of)
        evidence, of_base = (
            rescaled(self.evidence, scale.back, scale.slope),
            replace(self.quantity, metric=scale.of),
        )
        return replace(self._back(scale), quantity=of_base, evidence=evidence).of_base


def value_range(metric: Metric, predictions: Predictions) -> tuple[float, float]:
    """Return the range of a metric on these data."""
    if metric.scale.share_of_right and metric.needs == "outcomes":
        return (0.0, 1.0) if all(m.passes is not None for m in predictions.models) else metric.scale.range
    if metric.scale.share_of_right and metric.needs == "gold":
        return (
            (0.0, 1.0) if all(_judged_right_or_wrong(m) for m in predictions.models) else metric.scale.range
        )
    return metric.scale.range_of(predictions.task)


def _judged_right_or_wrong(model: ModelOutputs) -> bool:
    """Whether the grader and people called each attempt of a model right or wrong."""
    if model.outcome is None:
        return True
    times = np.ones(len(model.outcome)) if model.attempts is None else model.attempts.count
    for values in (model.outcome, model.gold):
        if values is None:
            continue
        given = values[~np.isnan(values)]
        right = given * times[~np.isnan(values)]
        if values is model.gold and model.by_people is not None:
            of_people = model.by_people[
                ~np.isnan(model.by_people)
            ]  # of some of the attempts at each question
            if ((of_people >= 0) & (of_people <= 1)).all():
                continue
        if not ((given >= 0) & (given <= 1) & (np.abs(right - np.round(right)) < 1e-9 * times.max())).all():
            return False
    return True


def undefined(predictions: Predictions, key: tuple[str, Quantity], reason: Text | None) -> Estimate:
    """Return the estimate of a quantity that a model does not have, with the reason."""
    value_limits = value_range(definition(key[1]), predictions)
    return Estimate(
        model=key[0],
        quantity=key[1],
        value=np.nan,
        reason=reason,
        range=value_limits,
        sampling=Examples(predictions.n_examples),
        evidence=Undefined(),
    )
