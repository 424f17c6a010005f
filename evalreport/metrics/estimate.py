"""An estimate: a value with all that an interval or a test may need about it, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.registry import Metric

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fits:
    """A quantity's values on single fits (folds, repeats ...), one of each a fit.

    Attributes
    ----------
    values
        (J,); nan where undefined, as of all but means over examples on folds of one. Label metrics: 0 by convention.
    repeat, fold
        (J,) codes in the order of the files' names.
    n_test, n_train
        (J,) examples tested on and trained on; the latter nan where the files do not say.
    kind
        ``folds`` (folds or repeated hold-out: training sets overlap), ``replicates``, ``seeds`` or ``datasets``.
    by_convention
        On how many fits a label metric is 0/0 and counts 0.
    """

    values: Floats
    repeat: npt.NDArray[np.int64]
    fold: npt.NDArray[np.int64]
    n_test: Floats
    n_train: Floats
    kind: str = "folds"
    by_convention: int = 0

    @property
    def test_train_ratio(self) -> float:
        """Mean over the fits of test examples by training examples; nan where the files do not say."""
        return float((self.n_test / self.n_train).mean())


@dataclass(frozen=True)
class Estimate:
    """One model's value of one quantity (or the difference of two models').

    Attributes
    ----------
    value
        nan where it is undefined and no convention gives it a value.
    reason
        Why the value is undefined or stands by convention.
    n
        Examples.
    range
        Smallest and largest possible value.
    derivative
        (u,) derivative of the value with respect to the multiplicity of one resampling unit, by atom: distinct
        cell, row or cluster; None where the metric is not smooth or the value is undefined. The influence
        value is n times it.
    counts
        (u,) units in each atom.
    replicates
        (B,) values under the bootstrap weights, nan where undefined; None where none were drawn.
    successes, trials
        Where the value is a binomial proportion.
    jaccard
        F1 of two classes: (TP, TP + FP + FN).
    positive
        Rank metrics: (n,) which rows are positive.
    rarest
        Rank and row metrics of classes: examples of the rarest class in the truth.
    table
        Label metrics: the model's K x K table of counts, rows true.
    agreement
        Differences of paired proportions: examples on which both models are right, only the first, only the
        second, neither.
    paired
        Differences: (m,) by example, fold or data set, where the value is their mean.
    independent
        Differences of proportions from independent test sets: (successes, trials) of both.
    fits
        The values on single fits, where the design has several.
    is_difference, is_unpaired
        Whether it is a - b; whether from test sets of their own.
    sides
        Of a difference: the two estimates that it was taken of.
    value_of
        Of a difference of label metrics: the quantity as a function of tables (m, K, K).
    clusters, weighted
        Number of clusters where whole clusters are drawn; whether examples weigh differently.
    """

    model: str
    quantity: Quantity
    value: float
    reason: str | None
    n: int
    range: tuple[float, float]
    derivative: Floats | None = None
    counts: Floats | None = None
    replicates: Floats | None = None
    successes: float | None = None
    trials: float | None = None
    jaccard: tuple[float, float] | None = None
    positive: npt.NDArray[np.bool_] | None = None
    rarest: float | None = None
    table: Floats | None = None
    agreement: tuple[float, float, float, float] | None = None
    paired: Floats | None = None
    independent: tuple[tuple[float, float], tuple[float, float]] | None = None
    fits: Fits | None = None
    sides: tuple[Estimate, Estimate] | None = None
    value_of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None
    clusters: int | None = None
    weighted: bool = False
    is_difference: bool = False
    is_unpaired: bool = False

    @property
    def metric(self) -> Metric:
        """The registered metric."""
        return definition(self.quantity)

    @property
    def of_folds(self) -> bool:
        """Whether the single fits are folds or repeated hold-outs of one data set."""
        return self.fits is not None and self.fits.kind == "folds"

    @property
    def over_datasets(self) -> bool:
        """Whether the value is a mean over data sets, which are then the units."""
        return self.fits is not None and self.fits.kind == "datasets"

    @property
    def defined(self) -> bool:
        """Whether there is a value that intervals may be built around."""
        return not np.isnan(self.value) and (self.reason is None or self.is_difference)

    @property
    def n_units(self) -> int:
        """Resampling units: examples, or clusters."""
        return self.n if self.clusters is None else self.clusters

    @property
    def standard_error(self) -> float | None:
        """Influence values with divisor n; with clusters the robust error, with the factor G / (G - 1)."""
        return self._spread if self.clusters is None else self.corrected_error

    @property
    def corrected_error(self) -> float | None:
        """Influence values with divisor n - 1 (G - 1): the error of Student's t."""
        if self._spread is None or self.n_units < 2:
            return None
        return self._spread * float(np.sqrt(self.n_units / (self.n_units - 1)))

    @cached_property
    def _spread(self) -> float | None:
        """Square root of the sum of squared derivatives."""
        if self.derivative is None or self.counts is None:
            return None
        # Scaled first, so that the squares of huge or tiny units neither overflow nor vanish.
        largest = float(np.abs(self.derivative).max(initial=0.0)) or 1.0
        error = largest * float(np.sqrt((self.counts * (self.derivative / largest) ** 2).sum()))
        # Derivatives that cancel up to rounding are no spread.
        scale = abs(self.value) if np.isinf(self.range[1]) else 1.0
        return error if error > 1e-13 * scale else 0.0

    @cached_property
    def acceleration(self) -> float | None:
        """Skewness of the influence values over 6 (Efron 1987); None where they are all 0."""
        if self.derivative is None or self.counts is None or not self._spread:
            return None
        return float((self.counts * (self.derivative / self._spread) ** 3).sum()) / 6

    @cached_property
    def delong_error(self) -> float | None:
        """DeLong's standard error: variances of the placements with divisors P - 1 and N - 1."""
        if self.derivative is None or self.positive is None or self.clusters is not None or self.weighted:
            return None
        p, n = int(self.positive.sum()), int((~self.positive).sum())
        if min(p, n) < 2:
            return None
        squares = self.derivative**2
        of_negatives = (squares * ~self.positive).sum()
        squares *= self.positive
        variance = squares.sum() * p / (p - 1) + of_negatives * n / (n - 1)
        return float(np.sqrt(variance))

    @cached_property
    def replicates_used(self) -> Floats:
        """The replicates in which the value is defined."""
        assert self.replicates is not None
        return self.replicates[~np.isnan(self.replicates)]

    @property
    def undefined_share(self) -> float:
        """Share of the replicates that were left out because the value is 0/0 there."""
        if self.replicates is None or not len(self.replicates):
            return 0.0
        return float(np.isnan(self.replicates).mean())


def difference(a: Estimate, b: Estimate) -> Estimate:
    """Return a - b on the same examples under the same draws: that is the pairing."""
    low, high = a.range
    derivative = None
    if a.derivative is not None and b.derivative is not None:
        derivative = _subtracted(a.derivative, b.derivative)
    replicates = None if a.replicates is None or b.replicates is None else a.replicates - b.replicates
    fits = None
    if a.fits is not None and b.fits is not None:
        fits = replace(a.fits, values=a.fits.values - b.fits.values)
    reasons = [f"{e.model}: {e.reason}" for e in (a, b) if e.reason]
    return replace(
        a,
        value=a.value - b.value,
        reason="; ".join(reasons) or None,
        range=(low - high, high - low),
        derivative=derivative,
        replicates=replicates,
        successes=None,
        trials=None,
        jaccard=None,
        fits=fits,
        table=None,
        sides=(a, b),
        is_difference=True,
    )


def _subtracted(a: Floats, b: Floats) -> Floats:
    """Return a - b; influences that cancel up to rounding cancel: a model against itself has no error at all."""
    apart = np.empty_like(a)
    step = 1 << 14
    for start in range(0, len(a), step):
        one, other, found = (values[start : start + step] for values in (a, b, apart))
        np.subtract(one, other, out=found)
        np.copyto(found, 0.0, where=np.abs(found) <= 1e-12 * np.abs(one))
    return apart


def unpaired_difference(a: Estimate, b: Estimate) -> Estimate:
    """Return a - b on two independent test sets: variances add, and the replicates must come from separate draws."""
    paired = difference(replace(a, derivative=None, fits=None), replace(b, derivative=None, fits=None))
    derivative = counts = None
    if not (a.derivative is None or b.derivative is None or a.counts is None or b.counts is None):
        derivative = np.concatenate([a.derivative, -b.derivative])
        counts = np.concatenate([a.counts, b.counts])
    proportions = None
    if a.trials and b.trials and a.successes is not None and b.successes is not None:
        proportions = ((a.successes, a.trials), (b.successes, b.trials))
    both = (a.clusters, b.clusters)
    return replace(
        paired,
        n=a.n + b.n,
        derivative=derivative,
        counts=counts,
        independent=proportions,
        clusters=None if None in both else sum(c for c in both if c is not None),
        positive=None,
        sides=(a, b),
        weighted=a.weighted or b.weighted,
        is_unpaired=True,
    )
