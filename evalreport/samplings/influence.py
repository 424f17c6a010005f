"""Influence values of a value, and its values on single fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalreport.engine.distributions import powers
from evalreport.predictions.arrays import Floats, Indices


@dataclass(frozen=True)
class Influence:
    """Derivative of a value by the multiplicity of each resampling unit; n times it is the influence function.

    Attributes
    ----------
    made
        (u,) derivatives, by atom: distinct cell, row or cluster. What is 0/0 and counts 0 has none. Or a function that
        makes them, where they are many or seldom needed.
    counts
        (u,) units in each atom.
    by_fit
        Training seeds: makes the derivatives (u, J) by the multiplicity of a unit in one fit; rows sum to ``values``.
    by_example
        Clusters of examples: makes the derivatives (n,) by the weight of one example of each row. None of other units,
        and of questions with attempts.
    by_outcome
        Makes the few distinct derivatives and how many units have each, where these are known.
    """

    made: Floats | Callable[[], Floats]
    counts: Floats
    by_fit: Callable[[], Floats] | None = None
    by_example: Callable[[], Floats] | None = None
    by_outcome: Callable[[], tuple[Floats, Floats]] | None = None

    @property
    def values(self) -> Floats:
        """The derivatives (u,) by atom."""
        return self.made() if callable(self.made) else self.made

    @cached_property
    def powers(self) -> tuple[float, float, float, float]:
        """The largest absolute value, and the sums of squares, cubes and fourth powers relative to it."""
        return powers(self.values, self.counts) if self.by_outcome is None else powers(*self.by_outcome())

    def error(self, factors: Floats | float) -> float:
        """Return the square root of the sum of squared derivatives, each times its factor."""
        largest, squares, _, _ = self.powers
        if isinstance(factors, np.ndarray):
            squares = float((factors * self.counts * (self.values / largest) ** 2).sum())
        else:
            squares *= factors
        return float(largest * np.sqrt(squares))

    def kurtosis(self, units: int) -> float:
        """Return the kurtosis of the derivatives (divisor n) of so many units, at least 1; they are not all 0."""
        _, squares, _, fourths = self.powers
        return max(units * fourths / squares**2, 1.0)

    def scaled(self, factor: float) -> Influence:
        """Return the influence on the value in other units."""
        by_fit, by_example = self.by_fit, self.by_example
        return Influence(
            self.values * factor,
            self.counts,
            None if by_fit is None else lambda: by_fit() * factor,
            None if by_example is None else lambda: by_example() * factor,
        )


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
    names
        Seeds: (J,) the files' names, which say whether two models' seeds are the same.
    """

    values: Floats
    repeat: Indices
    fold: Indices
    n_test: Floats
    n_train: Floats
    kind: str = "folds"
    by_convention: int = 0
    names: tuple[str, ...] = ()

    @property
    def test_train_ratio(self) -> float:
        """Mean over the fits of test examples by training examples; nan where the files do not say."""
        return float((self.n_test / self.n_train).mean())

    @property
    def of_one_example(self) -> bool:
        """Whether these are folds of one example each, on which the metric has no value."""
        return self.kind == "folds" and bool(self.n_test.max() <= 1 and np.isnan(self.values).any())
