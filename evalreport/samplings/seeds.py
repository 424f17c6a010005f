"""Training seeds: each of several trainings predicts the same examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.predictions.arrays import Floats, required
from evalreport.samplings.clusters import Clusters
from evalreport.samplings.sampling import Student, StudentError, Value

SEEDS_T = Student(
    name="seeds_t",
    drawn="training seeds",
    label="t over examples and training seeds",
    interval="Mean over training seeds plus or minus t errors that hold other examples and training again.",
    test="Difference of the means over seeds by its error over other examples and training again.",
    needs=("seeds", "seed_influence"),
    source="Searle, Casella and McCulloch (1992), Variance Components, chapter 4; Satterthwaite (1946), Biometrics"
    " Bull 2:110",
    error=lambda value: student_over_seeds(value),
    over_fits=True,
    details=lambda value: between_seeds(value),
)


class Seeds(Clusters):
    """Examples are drawn, or clusters of them, and trainings: two crossed random effects.

    The error holds for other examples and for training again. Exact in its two-way analysis of variance where the
    metric is a mean over examples, else by its influence values. Where it cannot be had, an example with its
    predictions of all trainings is a cluster.
    """

    @property
    def students(self) -> tuple[Student, ...]:
        """The t over examples and seeds, then that of clusters."""
        return (SEEDS_T, *super().students)

    @property
    def words(self) -> tuple[str, ...]:
        """Training seeds, and clusters."""
        return ("training seeds", *super().words)


def over_seeds(value: Value) -> Crossed | None:
    """Return the error over examples and training seeds; None in other designs, and where it cannot be had.

    A difference with common seeds is one series of trainings, else each side is one. A model with one seed adds no
    term: what training it again would change is then not included.
    """
    of_examples = value.sampling.robust(value)
    if of_examples is None:
        return None
    trained = (value,) if value.fits is not None else value.sides
    terms: list[SeedTerm | None] = []
    for side in trained:
        if side.fits is None or side.fits.kind != "seeds":
            return None
        if side.influence is None or side.influence.by_fit is None or np.isnan(side.fits.values).any():
            return None
        several = len(side.fits.values) > 1
        terms.append(seed_term(side.fits.values, side.influence.by_fit()) if several else None)
    return crossed(of_examples.error**2, of_examples.df, terms)


def student_over_seeds(value: Value) -> StudentError | None:
    """Return that error with its degrees of freedom."""
    both = over_seeds(value)
    return None if both is None else StudentError(both.error, both.df)


def between_seeds(value: Value) -> dict[str, float]:
    """Return the variance between the trainings of a difference, or of each side."""
    both = required(over_seeds(value))
    names = ("between_seeds",) if len(both.terms) == 1 else ("between_seeds_a", "between_seeds_b")
    return {n: term.between_seeds for n, term in zip(names, both.terms, strict=True) if term is not None}


@dataclass(frozen=True, slots=True)
class SeedTerm:
    """What training again adds to the variance of a mean over S seeds, in two parts.

    Attributes
    ----------
    observed
        s_c^2 / S, the variance of the seeds' values over their number.
    expected
        MSR / (n S), as much of it as the examples alone would make.
    df, df_expected
        S - 1 and (n - 1)(S - 1).
    """

    observed: float
    expected: float
    df: float
    df_expected: float

    @property
    def variance(self) -> float:
        """The seeds' own share, 0 where they vary no more than the examples make them."""
        return max(self.observed - self.expected, 0.0)

    @property
    def between_seeds(self) -> float:
        """Variance of the value between training seeds, on all examples there are (sigma^2 of seeds)."""
        return self.variance * (self.df + 1)


@dataclass(frozen=True, slots=True)
class Crossed:
    """A standard error over examples and seeds, with Satterthwaite's degrees of freedom.

    ``terms``: one a model (one a pair with common seeds), None of a model with one seed, whose training noise is then
    not included.
    """

    error: float
    df: float
    terms: tuple[SeedTerm | None, ...]


def seed_term(values: Floats, by_fit: Floats) -> SeedTerm:
    """Separate the spread of the seeds' values from the part that the examples alone would make.

    Parameters
    ----------
    values
        (S,) theta_s, S >= 2.
    by_fit
        (n, S) derivatives d_is, n >= 2.

    Examples
    --------
    Two seeds that differ by 2 on every example: nothing of it is due to the examples.

    >>> import numpy as np
    >>> term = seed_term(np.array([0.0, 2.0]), np.array([[0.5, 0.5], [-0.5, -0.5]]))
    >>> term.observed, term.expected, term.between_seeds
    (1.0, 0.0, 2.0)
    """
    n, s = by_fit.shape
    residuals = by_fit - by_fit.mean(axis=1, keepdims=True)
    df_expected = (n - 1.0) * (s - 1.0)
    expected = float((residuals**2).sum()) * n * s / df_expected
    return SeedTerm(float(values.var(ddof=1)) / s, expected, s - 1.0, df_expected)


def crossed(of_examples: float, df: float, terms: Sequence[SeedTerm | None]) -> Crossed:
    """Add the seeds' terms to the variance over examples.

    Var = V_examples + sum of max(s_c^2 / S - MSR / (n S), 0) and df = Var^2 / sum of term^2 / df_term. A bracket that
    is cut at 0 keeps its place in df: without it two models trained three times each were told apart in 7.4 % instead
    of 5 % where there was nothing to find (with it in 5.4 %), because the seeds' variance is there and merely unseen.

    Parameters
    ----------
    of_examples, df
        Variance of the mean over seeds over the examples alone, and its degrees of freedom (n - 1 for single examples).
    terms
        One for the seeds of each model, None where it has one seed; of two models with the same seeds one for the
        difference.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, chapter 4; Satterthwaite (1946), Biometrics Bull 2:110.
    """
    known = [term for term in terms if term is not None]
    variance = of_examples + sum(term.variance for term in known)
    spread = of_examples**2 / df
    spread += sum(t.observed**2 / t.df + t.expected**2 / t.df_expected for t in known)
    return Crossed(variance**0.5, variance**2 / spread if spread > 0 else df, tuple(terms))
