"""Bootstrap replicates of an algorithm: out-of-bag values, the no-information rate, optimism and standard errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evalreport.engine.counts import Freedom, effective_clusters, freedom, freedom_of_clusters
from evalreport.engine.distributions import t_quantile
from evalreport.intervals.proportions import wilson_limits
from evalreport.metrics.metric import Moments
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.views import ModelView, view
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.predictions.table import ModelOutputs, Predictions

NEGLIGIBLE = 1e-13
"""A spread or an error that is smaller than this share of the value is rounding."""
ANOTHER_SIZE = 0.1
"""Samples whose mean size differs from the number of examples by more than this share are of another size."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """The rows that hold the predictions of each replicate.

    Attributes
    ----------
    rows
        (K, n) row of each replicate's prediction of each example; -1 where there is none.
    inbag
        (K, n) how often the example was in the replicate's sample; None where the files do not say.
    apparent
        (n,) row of the prediction by the fit to all the data (training rows without a replicate); None where
        it is not given for every one of these examples.
    examples
        (n,) positions of the examples in ``Predictions.ids``.
    """

    rows: Indices
    inbag: Floats | None
    apparent: Indices | None
    examples: Indices

    def of(self, some: Mask) -> Replicates:
        """Return the replicates of some examples (n,)."""
        inbag = None if self.inbag is None else self.inbag[:, some]
        apparent = None if self.apparent is None else self.apparent[some]
        return Replicates(self.rows[:, some], inbag, apparent, self.examples[some])

    @property
    def first(self) -> Indices:
        """One row (n,) of each example, for columns that do not depend on the fit: truth, cluster."""
        any_row = self.rows.max(axis=0)
        return any_row if self.apparent is None else np.where(any_row >= 0, any_row, self.apparent)

    @property
    def count(self) -> int:
        """Number of replicates K."""
        return len(self.rows)

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.examples)

    @property
    def given(self) -> Mask:
        """Which (K, n) predictions there are."""
        return np.asarray(self.rows >= 0)

    @property
    def out(self) -> Mask:
        """Which (K, n) predictions are of examples that the replicate was not trained on."""
        return self.given if self.inbag is None else np.asarray(self.given & ~(self.inbag > 0))

    @property
    def holds_whole_samples(self) -> bool:
        """Whether every replicate predicts all examples, and its counts add up to a sample of that size."""
        return (
            self.inbag is not None
            and bool(self.given.all())
            and bool((self.inbag.sum(axis=1) == self.n).all())
        )

    @property
    def of_another_size(self) -> bool:
        """Whether samples are clearly larger or smaller than the data; False where in-bag rows are not all given.

        Samples of whole clusters are as large on average only.
        """
        if self.inbag is None or not bool(self.given.all()):
            return False
        return abs(float(self.inbag.sum(axis=1).mean()) / self.n - 1) > ANOTHER_SIZE


def replicates_of(predictions: Predictions) -> Replicates | None:
    """Arrange the rows by replicate and example; None where the files hold no replicates.

    Parameters
    ----------
    predictions
        With training rows and rows in the bag, before the test rows are taken.
    """
    column = predictions.keys.get("replicate")
    if column is None or not bool((column.values >= 0).any()):
        return None
    train = part_is(predictions, "train")
    kept = np.flatnonzero((column.values >= 0) & ~train & ~part_is(predictions, "validation"))
    if not len(kept):
        return None
    whole = np.flatnonzero(train & (column.values < 0))
    # Where only rows out of the bag are written, an example may occur in the apparent fit alone.
    examples, codes = np.unique(predictions.example[np.concatenate([kept, whole])], return_inverse=True)
    example = codes[: len(kept)]
    names, replicate = np.unique(column.values[kept], return_inverse=True)
    rows = np.full((len(names), len(examples)), -1, dtype=np.int64)
    rows[replicate, example] = kept
    inbag = None
    counts = predictions.keys.get("inbag")
    if counts is not None:
        inbag = np.where(rows >= 0, np.nan_to_num(np.asarray(counts.values, dtype=np.float64))[rows], 0.0)
    return Replicates(rows, inbag, _placed(predictions.example[whole], whole, examples), examples)


def part_is(predictions: Predictions, part: str) -> Mask:
    """Say which rows are of a part; an empty cell is none of train and validation."""
    column = predictions.keys.get("part")
    if column is None or column.categories is None or part not in column.categories:
        return np.zeros(predictions.n, dtype=np.bool_)
    return np.asarray(column.values == column.categories.index(part))


def clusters_of(predictions: Predictions, rows: Indices, options: Options) -> Indices | None:
    """Return the cluster of each of some rows, numbered from 0; None without clusters."""
    if options.cluster is None:
        return None
    column = predictions.column(options.cluster)
    return np.unique(column.values[rows], return_inverse=True)[1].astype(np.int64)


def _placed(example: Indices, rows: Indices, examples: Indices) -> Indices | None:
    """Return the row of each of the examples; None where one is missing or appears twice."""
    order = np.argsort(example, kind="stable")
    if not np.array_equal(example[order], examples):
        return None
    return rows[order]


def example_losses(view_of_model: ModelView, quantity: Quantity) -> Floats:
    """Return the number of each row that the quantity is the mean of, (rows,).

    Parameters
    ----------
    quantity
        A mean of one number for each example, which the model's outputs allow.
    """
    numbers_of = required(definition(quantity).per_example)
    return np.asarray(numbers_of(view_of_model), dtype=np.float64)


def model_losses(predictions: Predictions, model: ModelOutputs, quantity: Quantity) -> Floats:
    """Return one model's losses by row of the table, (rows,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return example_losses(view(predictions, model), quantity)


MOST_PAIRED = 4_000
"""Up to this many examples every truth is compared with every prediction; above, only by a formula."""


def no_information_rate(apparent: ModelView, quantity: Quantity) -> float | None:
    """Return gamma, the mean loss over all pairs of a true value and a prediction of the fit to all the data.

    Parameters
    ----------
    apparent
        The examples with the predictions of the fit to all of them.
    quantity
        A mean of losses, or the area under the ROC curve; others have no such rate.

    Returns
    -------
    float or None
        None where the quantity has no such rate, or there are too many pairs.

    References
    ----------
    Efron and Tibshirani (1997), J Am Stat Assoc 92:548, equation 27.
    """
    metric = definition(quantity)
    if metric.is_auc:
        return metric.scale.uninformed
    if not metric.is_mean or apparent.true is None:
        return None  # outcomes that were decided elsewhere have no truth to pair with
    computation = metric.computation
    if isinstance(computation, Moments) and computation.mean_over_pairs is not None:
        return float(computation.mean_over_pairs(apparent))
    if apparent.true.dtype.kind != "i" and len(apparent.true) > MOST_PAIRED:
        return None
    values, counts = np.unique(apparent.true, return_counts=True)
    means = [
        example_losses(replace(apparent, true=np.full_like(apparent.true, y)), quantity).mean()
        for y in values
    ]
    return float((counts / counts.sum() * np.array(means)).sum())


@dataclass(frozen=True, slots=True)
class Precision:
    """A standard error and limits with the method's name; None where there is no spread to take them from."""

    standard_error: float | None
    low: float | None
    high: float | None
    method: str


def over_examples(
    contributions: Floats,
    cluster: Indices | None,
    level: float,
    limits: tuple[float, float],
    centre: float | None = None,
) -> Precision:
    """Return the precision of the mean of contributions (n,), nan left out, by Student's t.

    It holds for these fits on other examples; how the fits themselves vary with their training data is in it only as
    far as it differs from example to example.

    Parameters
    ----------
    cluster
        (n,) codes; their sums are then the independent units, with the factors and degrees of freedom of CR2.
    limits
        The range of the quantity, to which the interval is cut.
    centre
        The estimate, where it is not the mean of the contributions (a cap).
    """
    spread = spread_of(contributions, cluster)
    if spread is None:
        return Precision(None, None, None, "none")
    return limited(spread, spread.mean if centre is None else centre, level, limits)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the independent units of a mean deviate from it.

    Attributes
    ----------
    mean, error
        The mean of the contributions, and its standard error.
    deviations
        (units,) of single examples from the mean, or their sums by cluster.
    units
        How many there are; of clusters their effective number.
    by
        Factors and degrees of freedom of their variance.
    clustered
        Whether the units are clusters.
    """

    mean: float
    error: float
    deviations: Floats
    units: float
    by: Freedom
    clustered: bool


def spread_of(contributions: Floats, cluster: Indices | None) -> Spread | None:
    """Return the spread of contributions (n,), nan left out; None with fewer than two units."""
    defined = ~np.isnan(contributions)
    values = contributions[defined]
    n = len(values)
    if n == 0:
        return None
    mean = float(values.mean())
    deviations, units, by = values - mean, float(n), freedom(n)
    if cluster is not None:
        codes = np.unique(cluster[defined], return_inverse=True)[1]
        deviations = np.bincount(codes, weights=deviations).astype(np.float64)
        sizes = np.bincount(codes).astype(np.float64)
        units, by = effective_clusters(sizes), freedom_of_clusters(sizes)
    if by is None:
        return None
    error = float(np.sqrt((by.factors * deviations**2).sum())) / n
    return Spread(mean, error, deviations, units, by, cluster is not None)


def limited(spread: Spread, centre: float, level: float, limits: tuple[float, float]) -> Precision:
    """Return limits around the centre by Student's t; Wilson's where there is no spread."""
    if spread.error <= NEGLIGIBLE * abs(spread.mean):
        low, high = without_spread(centre, spread.units, level, limits)
        return Precision(0.0, low, high, "none" if low is None else "wilson")
    half = t_quantile((1 + level) / 2, spread.by.df) * spread.error
    low, high = (float(np.clip(limit, *limits)) for limit in (centre - half, centre + half))
    return Precision(spread.error, low, high, "cr2_t" if spread.clustered else "t")


def without_spread(
    centre: float, units: float, level: float, limits: tuple[float, float]
) -> tuple[float, float] | tuple[None, None]:
    """Return limits where all examples have one value: at an end of [0, 1], Wilson's limits of 0 (or all) of n.

    Of clusters n is their effective number G*.
    """
    if limits == (0.0, 1.0) and centre in limits:
        return wilson_limits(centre * units, units, level)
    return None, None


WEIGHT = 0.632
"""About 1 - 1/e, the share of distinct examples in a bootstrap sample."""


@dataclass(frozen=True, slots=True)
class OutOfBag:
    """The out-of-bag error in its three averages.

    Attributes
    ----------
    by_example
        (n,) mean loss of the replicates that were not trained on the example; nan where there is none.
    value
        e_1: the mean of ``by_example`` over the examples that have one (Efron and Tibshirani 1997, equation 17).
    by_replicate
        (K,) mean out-of-bag loss of each replicate; nan where all examples were in its sample.
    pooled
        The mean over all out-of-bag predictions.
    never_out
        Examples that were in every sample.
    """

    by_example: Floats
    value: float
    by_replicate: Floats
    pooled: float
    never_out: int


@dataclass(frozen=True, slots=True)
class Plus:
    """The .632+ estimate with its parts: relative overfitting R in [0, 1], weight omega, and e' = min(e_1, gamma)."""

    value: float
    gamma: float
    relative_overfitting: float
    omega: float


def out_of_bag(losses: Floats, out: Mask) -> OutOfBag:
    """Average the losses (K, n) over the out-of-bag predictions (K, n): by example, by replicate and pooled.

    Examples
    --------
    Two replicates, three examples; the third was in both samples:

    >>> found = out_of_bag(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([[1, 1, 0], [1, 0, 0]]) > 0)
    >>> found.value, [float(e) for e in found.by_example[:2]], found.never_out
    (0.25, [0.5, 0.0], 1)
    """
    counted = np.where(out, losses, 0.0)
    by_example = _divided(counted.sum(axis=0), out.sum(axis=0))
    by_replicate = _divided(counted.sum(axis=1), out.sum(axis=1))
    never = np.isnan(by_example)
    value = float(by_example[~never].mean()) if not never.all() else float("nan")
    pooled = float(counted.sum() / out.sum()) if out.any() else float("nan")
    return OutOfBag(by_example, value, by_replicate, pooled, int(never.sum()))


def _divided(sums: Floats, counts: Indices) -> Floats:
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def optimism_by_example(losses: Floats, inbag: Floats) -> Floats:
    """Return (n,) whose mean is the optimism: mean over b of [mean_i L(b, i) - sum_i N(b, i)/n L(b, i)].

    In-bag examples count as often as they were drawn (Efron 1983); counted once, the difference would not vanish
    as n grows.

    Examples
    --------
    One replicate that drew the first of two examples twice, and errs on the other alone: 1/2 - 0.

    >>> float(optimism_by_example(np.array([[0.0, 1.0]]), np.array([[2.0, 0.0]])).mean())
    0.5
    """
    return np.asarray(((1.0 - inbag) * losses).mean(axis=0))


def bootstrap_632(apparent: float, out_of_bag_error: float) -> float:
    """Return .368 e_R + .632 e_1 (Efron 1983).

    Examples
    --------
    >>> round(bootstrap_632(0.1, 0.3), 4)
    0.2264
    """
    return (1 - WEIGHT) * apparent + WEIGHT * out_of_bag_error


def bootstrap_632plus(
    apparent: float, out_of_bag_error: float, gamma: float, *, greater_is_better: bool = False
) -> Plus:
    """Return the .632+ estimate (Efron and Tibshirani 1997, section 3), also of a quantity where greater is better.

    e' = min(e_1, gamma); R = (e' - e_R) / (gamma - e_R) where e' > e_R, else 0; omega = .632 / (1 - .368 R); the
    estimate is (1 - omega) e_R + omega e'. All of it is linear in the error, so 1 - error gives 1 - the estimate.

    Examples
    --------
    >>> plus = bootstrap_632plus(0.1, 0.3, 0.5)
    >>> round(plus.relative_overfitting, 4), round(plus.omega, 4), round(plus.value, 4)
    (0.5, 0.7745, 0.2549)
    """
    capped = (max if greater_is_better else min)(out_of_bag_error, gamma)
    worse = capped < apparent if greater_is_better else capped > apparent
    relative = (capped - apparent) / (gamma - apparent) if worse else 0.0
    omega = WEIGHT / (1 - (1 - WEIGHT) * relative)
    return Plus((1 - omega) * apparent + omega * capped, gamma, relative, omega)
