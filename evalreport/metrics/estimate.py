"""An estimate: a value with all that an interval or a test may need about it, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.engine.counts import Freedom, freedom, freedom_of_clusters, freedom_within
from evalreport.engine.distributions import Array, in_parts, parts_of, powers
from evalreport.engine.ranks import Order, descending_order
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.metric import Metric
from evalreport.metrics.registry import Quantity, definition
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.texts import Text

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


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


@dataclass(frozen=True, slots=True)
class Judged:
    """On how many rows an estimate of what people say rests.

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


@dataclass(frozen=True, kw_only=True)
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
        value is n times it. What is 0/0 and counts 0 has none.
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
    outside
        1 where the last class of the table holds the predictions that are missing and count as wrong, else 0.
    agreement
        Differences of paired proportions: examples on which both models are right, only the first, only the
        second, neither.
    paired
        Differences by example, fold or data set, where the value is their mean.
    independent
        Differences of proportions from independent test sets: (successes, trials) of both.
    fits
        The values on single fits, where the design has several. None for a difference of models trained with unlike
        seeds: those of the ``sides`` have no pairs.
    by_fit
        Seeds: makes the derivatives (u, J) by the multiplicity of a unit in one fit; its rows sum to ``derivative``.
    is_difference, is_unpaired
        Whether it is a - b; whether from test sets of their own.
    sides
        Of a difference: the two estimates that it was taken of.
    value_of
        Of a difference of label metrics: the quantity as a function of tables (m, K, K).
    sizes
        (G,) summed weights of each cluster's examples where whole clusters are drawn; 0: it does not enter.
    tasks
        (u,) task of each unit of a suite, within which units are drawn; of what people say the rows with gold and those
        without apart. None: no suite.
    n_effective
        Kish's effective number of examples where they weigh differently.
    trials_effective
        Of a proportion: Kish's effective number of weighted trials; all right or all wrong in clusters: G*.
    judged
        Where it is of what people say, of whom only some rows are known.
    summed
        Where it follows from sums of scores, and derivatives stand for those of all examples: positives and negatives.
    """

    model: str
    quantity: Quantity
    value: float
    reason: Text | None = None
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
    outside: int = 0
    agreement: tuple[float, float, float, float] | None = None
    paired: CountedRows | None = None
    independent: tuple[tuple[float, float], tuple[float, float]] | None = None
    fits: Fits | None = None
    by_fit: Callable[[], Floats] | None = None
    sides: tuple[Estimate, Estimate] | None = None
    value_of: Callable[[Array], Array] | None = None
    sizes: Floats | None = None
    tasks: Indices | None = None
    n_effective: float | None = None
    trials_effective: float | None = None
    judged: Judged | None = None
    summed: tuple[int, int] | None = None
    is_difference: bool = False
    is_unpaired: bool = False

    @property
    def metric(self) -> Metric:
        """The registered metric."""
        return definition(self.quantity)

    @property
    def of_base(self) -> Estimate:
        """The same on the scale of the metric that this one's is another scale of (``affine_of``), else itself."""
        # What holds itself is not freed when the last of its users goes.
        return self if self.metric.scale.affine_of is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Estimate:
        scale = self.metric.scale.affine_of
        assert scale is not None
        if self.is_difference:
            scale = replace(scale, offset=0.0)
        low, high = (scale.back(limit) for limit in self.range)
        fits, sides, by_fit, paired = self.fits, self.sides, self.by_fit, self.paired
        found = replace(
            self,
            quantity=replace(self.quantity, metric=scale.of),
            value=scale.back(self.value),
            range=(min(low, high), max(low, high)),
            derivative=None if self.derivative is None else self.derivative / scale.slope,
            replicates=None if self.replicates is None else scale.back(self.replicates),
            paired=None if paired is None else replace(paired, values=paired.values / scale.slope),
            fits=None if fits is None else replace(fits, values=scale.back(fits.values)),
            by_fit=None if by_fit is None else lambda: by_fit() / scale.slope,
            sides=None if sides is None else (sides[0].of_base, sides[1].of_base),
            value_of=None,
        )
        return found.of_base

    @property
    def of_folds(self) -> bool:
        """Whether the single fits are folds or repeated hold-outs of one data set."""
        return self.fits is not None and self.fits.kind == "folds"

    @property
    def over_datasets(self) -> bool:
        """Whether the value is a mean over data sets, which are then the units."""
        return self.fits is not None and self.fits.kind == "datasets"

    @property
    def of_seeds(self) -> bool:
        """Whether the value is a mean over training seeds, or a difference of such means."""
        return all(side.fits is not None and side.fits.kind == "seeds" for side in self._seeded)

    @property
    def _seeded(self) -> tuple[Estimate, ...]:
        """The estimates whose seeds vary by themselves: a difference with common seeds is one."""
        return (self,) if self.fits is not None or self.sides is None else self.sides

    @cached_property
    def crossed(self) -> Crossed | None:
        """The error over examples and training seeds; None in other designs, and where it cannot be had.

        A model with one seed adds no term: what training it again would change is then not included.
        """
        of_examples, df = self.corrected_error, self.df
        if not self.of_seeds or of_examples is None or df is None:
            return None
        terms: list[SeedTerm | None] = []
        for side in self._seeded:
            assert side.fits is not None
            if side.by_fit is None or np.isnan(side.fits.values).any():
                return None
            several = len(side.fits.values) > 1
            terms.append(seed_term(side.fits.values, side.by_fit()) if several else None)
        return crossed(of_examples**2, df, terms)

    @property
    def defined(self) -> bool:
        """Whether there is a value that intervals may be built around."""
        return not np.isnan(self.value) and (self.reason is None or self.is_difference)

    @property
    def comparable(self) -> bool:
        """Whether a difference from it can be tested: 0/0 of labels is 0 by convention, with influence 0."""
        return self.defined or (self.table is not None and not np.isnan(self.value))

    @property
    def swappable(self) -> bool:
        """Whether there is a value to compare, and examples whose outputs may change sides."""
        return self.comparable and self.summed is None

    @cached_property
    def clusters(self) -> int | None:
        """Number of clusters where whole clusters are drawn."""
        return None if self.sizes is None else int((self.sizes > 0).sum())

    @property
    def judged_by_t(self) -> bool:
        """Whether what people say is known with degrees of freedom: where they judged all, of clusters and suites."""
        unlike = self.sizes is not None or self.tasks is not None
        return self.judged is not None and (unlike or not self.judged.rest)

    @property
    def weighted(self) -> bool:
        """Whether examples weigh differently."""
        return self.n_effective is not None

    @property
    def n_units(self) -> int:
        """Resampling units: examples, or clusters."""
        return self.n if self.clusters is None else self.clusters

    @property
    def n_blocks(self) -> int:
        """How many examples, folds or data sets the value is the mean of."""
        assert self.paired is not None
        return self.paired.n

    @property
    def standard_error(self) -> float | None:
        """Influence values with divisor n; of clusters CR2, under weights with the factor u / (u - 1) of the units.

        With training seeds the error over examples and seeds; of a suite over the examples within its tasks.
        """
        if self.crossed is not None:
            return self.crossed.error
        plain = self.sizes is None and not self.weighted and self.tasks is None
        return self._error(1.0) if plain else self.corrected_error

    @cached_property
    def corrected_error(self) -> float | None:
        """The error of Student's t: influence values with divisor n - 1, of clusters CR2 (``engine.effective``)."""
        if self._by_side:
            first, second = (side.corrected_error for side in self.sides or ())
            return None if first is None or second is None else float(np.hypot(first, second))
        return None if self._freedom is None else self._error(self._freedom.factors)

    @cached_property
    def df(self) -> float | None:
        """Degrees of freedom of ``corrected_error``: Satterthwaite's of clusters and tasks, n_eff - 1 under weights.

        Else n - 1, of weighted clusters G - 1; of two test sets Welch's. None where there is no such error.
        """
        if self.corrected_error is None or not self._by_side:
            return None if self._freedom is None else self._freedom.df
        parts = [((side.corrected_error or 0.0) ** 2, side.df or 1.0) for side in self.sides or ()]
        total = sum(variance for variance, _ in parts)
        if total == 0:
            return min(df for _, df in parts)
        return total**2 / sum(variance**2 / df for variance, df in parts)

    @property
    def _by_side(self) -> bool:
        """Whether the error is that of two test sets whose units are unlike: their variances add."""
        return self.is_unpaired and (self.sizes is not None or self.weighted)

    @cached_property
    def _freedom(self) -> Freedom | None:
        if self.tasks is not None:
            # What people judged or not of a cluster does not make its size: contributions add up by cluster.
            sizes = self.sizes if self.judged is None else None
            return None if self.derivative is None else freedom_within(self.tasks, self.derivative, sizes)
        if self.sizes is not None and not self.weighted and self.judged is None:
            return freedom_of_clusters(self.sizes)
        by_weight = self.n_effective is not None and self.sizes is None
        return freedom(self.n_units, self.n_effective - 1 if by_weight and self.n_effective else None)

    def _error(self, factors: Floats | float) -> float | None:
        """Return the square root of the sum of squared derivatives, each times its factor."""
        if self.derivative is None or self.counts is None:
            return None
        largest, squares, _ = self._powers
        if isinstance(factors, np.ndarray):
            squares = float((factors * self.counts * (self.derivative / largest) ** 2).sum())
        else:
            squares *= factors
        error = float(largest * np.sqrt(squares))
        # Derivatives that cancel up to rounding are no spread.
        scale = abs(self.value) if np.isinf(self.range[1]) else 1.0
        return error if error > 1e-13 * scale else 0.0

    @cached_property
    def _powers(self) -> tuple[float, float, float]:
        assert self.derivative is not None
        assert self.counts is not None
        return powers(self.derivative, self.counts)

    @cached_property
    def acceleration(self) -> float | None:
        """Skewness of the influence values over 6 (Efron 1987); None where they are all 0, or known by sums alone."""
        if self.summed is not None or not self._error(1.0):
            return None
        _, squares, cubes = self._powers
        return float(cubes / squares**1.5) / 6

    @cached_property
    def delong_error(self) -> float | None:
        """DeLong's standard error: variances of the placements with divisors P - 1 and N - 1."""
        if self.derivative is None or self.positive is None or self.clusters is not None or self.weighted:
            return None
        if self.tasks is not None:
            return None
        p, n = self.class_sizes
        if min(p, n) < 2:
            return None
        of_positives = of_negatives = 0.0
        for part in parts_of(self.derivative):
            squares, positive = self.derivative[part] ** 2, self.positive[part]
            of_negatives += float((squares * ~positive).sum())
            of_positives += float((squares * positive).sum())
        return float(np.sqrt(of_positives * p / (p - 1) + of_negatives * n / (n - 1)))

    @property
    def class_sizes(self) -> tuple[int, int]:
        """Positive and negative examples of a rank metric."""
        assert self.positive is not None
        if self.summed is not None:
            return self.summed
        positives = int(np.count_nonzero(self.positive))
        return positives, len(self.positive) - positives

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


@dataclass(frozen=True)
class ModelView:
    """One model's rows: ``true`` (n,) codes or values, ``y_pred`` alike, ``proba`` (n, K), ``outcome`` (n,).

    ``passes``: attempts at each question and how many of them passed, (n,) each.
    """

    true: Array | None
    y_pred: Array | None
    proba: Floats | None
    outcome: Floats | None
    positive_code: int | None
    score: Floats | None = None
    passes: tuple[Floats, Floats] | None = None

    def of(self, rows: Indices) -> ModelView:
        """Return the view of some rows."""
        given = (self.true, self.y_pred, self.proba, self.outcome, self.score)
        true, y_pred, proba, outcome, score = (None if v is None else v[rows] for v in given)
        passes = None if self.passes is None else (self.passes[0][rows], self.passes[1][rows])
        return ModelView(true, y_pred, proba, outcome, self.positive_code, score, passes)

    @cached_property
    def order(self) -> Order:
        """The ranking by score."""
        assert self.score is not None
        positive = np.asarray(self.true == self.positive_code)
        return descending_order(self.score, positive)

    @property
    def p_true(self) -> Floats:
        """Probability given to the true class, (n,)."""
        assert self.proba is not None
        assert self.true is not None

        def of_part(true: Indices, proba: Floats) -> Floats:
            return np.asarray(np.take_along_axis(proba, true[:, None].astype(np.intp), axis=1)[:, 0])

        return in_parts(of_part, self.true, self.proba)

    @property
    def errors(self) -> Floats:
        """Prediction minus truth, (n,), in the target's units."""
        assert self.y_pred is not None
        assert self.true is not None
        return np.asarray(self.y_pred - self.true, dtype=np.float64)


def view(predictions: Predictions, outputs: ModelOutputs) -> ModelView:
    """Put one model's outputs beside the truth."""
    code = (
        predictions.positive_code
        if predictions.task == "binary" and predictions.positive is not None
        else None
    )
    given = (predictions.y_true, outputs.y_pred, outputs.proba, outputs.outcome)
    return ModelView(*given, code, outputs.score, outputs.passes)


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
    """Whether the judge and people said right or wrong of each attempt of a model."""
    if model.outcome is None:
        return True
    times = np.ones(len(model.outcome)) if model.attempts is None else model.attempts.count
    for values in (model.outcome, model.gold):
        if values is None:
            continue
        given = values[~np.isnan(values)]
        right = given * times[~np.isnan(values)]
        if not ((given >= 0) & (given <= 1) & (np.abs(right - np.round(right)) < 1e-9 * times.max())).all():
            return False
    return True


def undefined(predictions: Predictions, key: tuple[str, Quantity], reason: Text) -> Estimate:
    """Return the estimate of a quantity that a model does not have, with the reason."""
    value_limits = value_range(definition(key[1]), predictions)
    return Estimate(
        model=key[0],
        quantity=key[1],
        value=np.nan,
        reason=reason,
        n=predictions.n_examples,
        range=value_limits,
    )
