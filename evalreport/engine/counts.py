"""Tables of counts of labels, cumulative counts along a score, and effective numbers of examples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from evalreport.engine.blocks import ROWS_AT_ONCE
from evalreport.engine.distributions import Array

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


class Counts(NamedTuple):
    """True and false positives and negatives of a class against the rest, arrays of one shape."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array


MOST_CODES = 1 << 22
"""Packed codes up to here are counted in an array of that size; larger ones are sorted."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct combinations (true class, every model's predicted class), in canonical order, and their counts.

    Attributes
    ----------
    counts
        (u,) float64: examples in each cell.
    true
        (u,) int32 class codes.
    predicted
        (models, u) int32 class codes.
    weight
        (u,) what each example of a cell weighs, which is then part of the combination; None: all weigh 1.
    """

    counts: Floats
    true: Codes
    predicted: Codes
    weight: Floats | None = None

    @property
    def weights(self) -> Floats:
        """What each example of a cell weighs, (u,); ones where all weigh the same."""
        return np.ones(len(self.counts)) if self.weight is None else self.weight

    @property
    def weighed(self) -> Floats:
        """Summed weights of the examples in each cell, (u,)."""
        return self.counts * self.weights


EXAMPLES_A_CELL = 8
"""Up to this many examples a cell, drawing examples is faster than drawing cells."""


def few_a_cell(counts: Array) -> bool:
    """Say whether cells (c,) of so many examples are small enough to draw one by one; the same for rows and counts."""
    return bool(counts.sum() <= EXAMPLES_A_CELL * len(counts))


def distinct_cells(
    true: Codes, predicted: Sequence[Codes], times: Floats | None = None, weight: Floats | None = None
) -> Cells:
    """Count the distinct rows of (true, predictions of every model), in an order that the counts alone decide.

    Columns are packed into one integer, made dense again whenever it would outgrow ``MOST_CODES``: so no number of
    classes and models overflows (26 classes and 14 models would, in 64 bits), and small tables are counted in one
    pass without sorting.

    Parameters
    ----------
    times
        (n,) number of examples of each row, whole; None: one.
    weight
        (n,) what each example weighs: rows of unlike weights are distinct. None: all weigh 1.
    """
    packed, size = true.astype(np.int64), int(true.max(initial=0)) + 1  # a copy
    weights = () if weight is None else (np.unique(weight, return_inverse=True)[1].astype(np.int32),)
    for column in (*predicted, *weights):
        base = int(column.max(initial=0)) + 1
        if size * base > MOST_CODES:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
        packed *= base
        packed += column
        size *= base
    row, counts = _row_and_counts(packed, size, times)
    stacked = np.stack([c[row] for c in predicted]) if predicted else np.empty((0, len(row)), np.int32)
    own = None if weight is None else weight[row]
    return _in_order(Cells(counts.astype(np.float64), true[row], stacked, own))


def _row_and_counts(
    packed: npt.NDArray[np.int64], size: int, times: Floats | None
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return a row of each distinct code and its number of examples."""
    if size > MOST_CODES:
        _, row, codes = np.unique(packed, return_index=True, return_inverse=True)
        return row, np.bincount(codes, weights=times)
    counted = np.bincount(packed, weights=times, minlength=size)
    position = np.empty(size, dtype=np.int64)
    for start in range(0, len(packed), ROWS_AT_ONCE):
        some = packed[start : start + ROWS_AT_ONCE]
        position[some] = np.arange(start, start + len(some))
    held = np.flatnonzero(counted)
    return position[held], counted[held]


def _in_order(cells: Cells) -> Cells:
    """Sort cells by class and model, those in the order of their own counts, and by weight.

    So neither ids and the order of rows nor the names of classes and models move a draw: names settle ties alone.
    """
    rank = class_ranks(cells)
    k = len(rank)
    answers = rank[cells.predicted]

    def key(model: Codes) -> tuple[float, bytes]:
        table = np.bincount(rank[cells.true] * k + model, weights=cells.counts, minlength=k * k)
        return -float(np.trace(table.reshape(k, k))), hashlib.sha256(table.tobytes()).digest()

    by_model = sorted(answers, key=key)
    weight = cells.weight
    order = np.lexsort([*([] if weight is None else [weight]), *by_model[::-1], rank[cells.true]])
    own = None if weight is None else weight[order]
    return Cells(cells.counts[order], cells.true[order], cells.predicted[:, order], own)


def class_ranks(cells: Cells) -> npt.NDArray[np.int64]:
    """Return each class's rank (K,): by the number of its examples, then how many the models get right and predict."""
    k = 1 + max(int(cells.true.max(initial=0)), int(cells.predicted.max(initial=0)))

    def numbers(codes: Codes, weights: Floats) -> Floats:
        return -np.bincount(codes, weights=weights, minlength=k).astype(np.float64)

    right = [numbers(cells.true, cells.counts * (said == cells.true)) for said in cells.predicted]
    predicted = [numbers(said, cells.counts) for said in cells.predicted]
    # Sorted over the models, so that these may change places.
    keys = [numbers(cells.true, cells.counts), *np.sort(right, axis=0), *np.sort(predicted, axis=0)]
    rank = np.empty(k, dtype=np.int64)
    rank[np.lexsort(keys[::-1])] = np.arange(k)
    return rank


def margin_columns(
    true: Codes,
    predicted: Codes,
    n_classes: int,
    *,
    part: npt.NDArray[np.int64] | None = None,
    n_parts: int = 1,
    weight: Floats | None = None,
) -> sparse.csr_array:
    """Return the margins that one example of each row (or cell) adds to.

    Parameters
    ----------
    part
        (u,) which of ``n_parts`` evaluations each row belongs to.
    weight
        (u,) what an example adds; None: one.

    Returns
    -------
    (u, n_parts 3 K) sparse
        In the row's part: its weight at [0, true] where the prediction is right, at [1, true] and at [2, predicted].
    """
    u = len(true)
    rows, start = np.arange(u), np.zeros(u, np.int64) if part is None else part * (3 * n_classes)
    right = true == predicted
    row = np.concatenate([rows[right], rows, rows])
    column = [(start + true)[right], start + n_classes + true, start + 2 * n_classes + predicted]
    data = np.ones(len(row)) if weight is None else weight[row]
    return sparse.csr_array((data, (row, np.concatenate(column))), shape=(u, n_parts * 3 * n_classes))


def margins_of(table: Floats) -> Floats:
    """Return the margins (..., 3, K) of confusion tables (..., K, K) with rows true, columns predicted."""
    return np.stack([np.diagonal(table, axis1=-2, axis2=-1), table.sum(-1), table.sum(-2)], axis=-2)


def one_vs_rest(m: Array) -> Counts:
    """Return the counts of each class against the rest, each (..., K), from margins (..., 3, K)."""
    right, true, predicted = _parts(m)
    n = true.sum(-1)[..., None]
    parts = predicted - right, true - right, n - true - predicted + right
    return Counts(right, *(parts if are_whole(m) else (without_rounding(part, n) for part in parts)))


def two_classes(m: Array, code: int, *, by_answer: bool) -> Counts:
    """Return the counts of one of two classes from margins (..., 3, K) that also hold answers outside both.

    Such an answer is wrong, but it is no answer of the other class: wrong are the examples of a class that were not
    called it, or (``by_answer``) the answers of a class that are not of it. Weighed against each other are those of
    one side alone: TP with FN and TN with FP, or TP with FP and TN with FN.
    """
    (tp, tn), (true, rest), (called, other) = ((part[..., code], part[..., 1 - code]) for part in _parts(m))
    wrong = (called - tp, other - tn) if by_answer else (rest - tn, true - tp)
    n = m[..., 1, :].sum(-1)
    fp, fn = wrong if are_whole(m) else (without_rounding(part, n) for part in wrong)
    return Counts(tp, fp, fn, tn)


def _parts(m: Array) -> tuple[Array, Array, Array]:
    return m[..., 0, :], m[..., 1, :], m[..., 2, :]


def are_whole(margins: Array) -> bool:
    """Say whether margins are whole numbers, which are exact; sums of weights leave rounding where they cancel."""
    sizes = margins.real
    return bool(sizes.max(initial=0) <= _WHOLE and (sizes == np.rint(sizes)).all())


_WHOLE = 2.0**53
"""Up to here floating-point numbers are exact for every whole number."""

ROUNDING = 1e-12
"""Rounding left where sums of weights cancel is below this share of them."""


def without_rounding(part: Array, whole: Array | float) -> Array:
    """Set values that are a tiny share of the whole to 0; their derivative by the complex step stays.

    Else 0/0 would have a value: that of what rounding left of both.

    Parameters
    ----------
    part, whole
        Arrays that broadcast, in the same unit; ``part`` may be complex.
    """
    residue = np.abs(part.real) < ROUNDING * np.asarray(whole).real
    return np.where(residue, part - part.real, part) if residue.any() else part


@dataclass(frozen=True, slots=True)
class Freedom:
    """Factors (u,) of the units' squared derivatives, or one for all, and the degrees of freedom of their sum."""

    factors: Floats | float
    df: float


def freedom(units: int, df: float | None = None) -> Freedom | None:
    """Return the factor u / (u - 1) for every unit, with u - 1 or the given degrees of freedom; None for one unit."""
    if units < 2 or (df is not None and not df > 0):
        return None
    return Freedom(units / (units - 1), units - 1 if df is None else df)


def freedom_of_clusters(sizes: Floats) -> Freedom | None:
    """Return factors and degrees of freedom of the bias-reduced cluster-robust variance, CR2; None for one cluster.

    With h_g the share of cluster g in all examples the factors are 1 / (1 - h_g), and Satterthwaite's degrees of
    freedom under an identity working covariance are

        1 / (sum h^2 / (1 - h)^2 - 2 sum h^3 / (1 - h)^2 + (sum h^2 / (1 - h))^2).

    Clusters of one size have the factor G / (G - 1) and G - 1 degrees of freedom. For a mean this is the matrix form
    with (I - H_gg)^(-1/2); for other smooth metrics it holds for the linearised value, so df is approximate.

    Parameters
    ----------
    sizes
        (G,) examples of each cluster, or their summed weights; 0: the cluster does not enter.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28:169; Pustejovsky and Tipton (2018), J Bus Econ Stat 36:672.

    Examples
    --------
    Clusters of 2, 2 and 10 examples (clubSandwich 0.5.8):

    >>> round(freedom_of_clusters(np.array([2.0, 2.0, 10.0])).df, 6)
    1.384615
    """
    if int((sizes > 0).sum()) < 2:
        return None
    h = sizes / sizes.sum()
    rest = 1 - h
    pull = h * h / rest
    spread = (pull / rest).sum() - 2 * (pull * h / rest).sum() + pull.sum() ** 2
    return Freedom(1 / rest, float(1 / spread))


def freedom_within(strata: Array, derivative: Floats, sizes: Floats | None = None) -> Freedom | None:
    """Return factors and degrees of freedom of a variance whose units were drawn within fixed strata.

    The variances of the strata add, v = sum v_t, each from its own units: factor n_t / (n_t - 1), of clusters CR2's.
    The degrees of freedom are Satterthwaite's, v^2 / sum(v_t^2 / df_t); where nothing varies, the sum of the df_t.

    Parameters
    ----------
    strata
        (u,) stratum of each unit, 0 to T - 1.
    derivative
        (u,) derivatives by a unit's multiplicity, of mean 0 within each stratum (of clusters by their sizes).
    sizes
        (u,) examples of each cluster, 0: it does not enter; None: units are single examples.

    Returns
    -------
    Freedom or None
        None where a stratum has fewer than two units.

    References
    ----------
    Cochran (1977), Sampling Techniques, sections 5.4 and 5.6; Satterthwaite (1946), Biometrics Bull 2:110.

    Examples
    --------
    Two strata of 2 and 3 units that vary alike: 2 + 2 units of freedom would be too many.

    >>> found = freedom_within(np.array([0, 0, 1, 1, 1]), np.array([1.0, -1.0, 1.0, 0.0, -1.0]))
    >>> found.factors.tolist(), round(found.df, 3)
    ([2.0, 2.0, 1.5, 1.5, 1.5], 2.39)
    """
    factors, variances, df = np.empty(len(strata)), [], []
    for stratum in range(int(strata.max()) + 1):
        units = np.flatnonzero(strata == stratum)
        if sizes is not None and not sizes[units].any():
            factors[units] = 1.0  # nothing of this stratum enters
            continue
        own = freedom(len(units)) if sizes is None else freedom_of_clusters(sizes[units])
        if own is None:
            return None
        factors[units] = own.factors
        variances.append(float((factors[units] * derivative[units] ** 2).sum()))
        df.append(own.df)
    v, d = np.array(variances), np.array(df)
    spread = float((v**2 / d).sum())
    return Freedom(factors, float(v.sum()) ** 2 / spread if spread > 0 else float(d.sum()))


def by_kurtosis(df: float, units: float, kurtosis: float) -> float:
    """Return min(df, 2 u / (kurtosis - 1)): how well u units tell their own variance.

    The variance of u numbers has about the relative variance (kurtosis - 1) / u, as a chi-square with so many degrees
    of freedom has.

    References
    ----------
    Satterthwaite (1946), Biometrics Bull 2:110.

    Examples
    --------
    >>> by_kurtosis(99.0, 100, 9.0), by_kurtosis(99.0, 100, 1.0)
    (25.0, 99.0)
    """
    return df if 2 * units >= (kurtosis - 1) * df else 2 * units / (kurtosis - 1)


def kish(weights: Floats, times: Floats | float = 1.0) -> float:
    """Return Kish's effective number of examples, (sum w)^2 / sum w^2; 0 if all weights are 0.

    Parameters
    ----------
    times
        (n,) how many examples have each weight.

    References
    ----------
    Kish (1965), Survey Sampling, Wiley.

    Examples
    --------
    >>> kish(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    squares = float((times * weights**2).sum())
    return float((times * weights).sum()) ** 2 / squares if squares > 0 else 0.0


def effective_clusters(sizes: Floats) -> float:
    """Return the effective number of clusters G* where the examples of one are wholly alike (rho = 1).

    ``sizes`` (G,) are the numbers of examples n_g, or their sums of weights, in any unit.
    G* = G / (1 + mean((gamma - mean gamma)^2) / (mean gamma)^2) with gamma_g = n_g^2: Kish's number for n_g^2.

    References
    ----------
    Carter, Schnepel and Steigerwald (2017), Rev Econ Stat 99:698.

    Examples
    --------
    >>> round(effective_clusters(np.array([2.0, 2.0, 10.0])), 6)
    1.162679
    """
    return kish(sizes**2)
