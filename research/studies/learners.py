"""Four small learning algorithms, trained on many subsets of one data set at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.bool_]
Learner = Callable[[Floats, npt.NDArray[np.int64], Masks, Masks], Floats]
"""From features (n, p), classes (n,), training rows (J, n) and test rows (J, n) to predicted classes (J, n);
what stands outside the test rows means nothing."""


def naive_bayes(x: Floats, y: npt.NDArray[np.int64], train: Masks, _test: Masks) -> Floats:
    """Gaussian naive Bayes: means and variances by class from weighted sums, all fits in one product."""
    score = np.zeros((2, len(train), len(x)))
    for label in (0, 1):
        weight = (train & (y == label)).astype(np.float64)
        count = weight.sum(axis=1)
        mean = weight @ x / count[:, None]
        variance = np.maximum(weight @ x**2 / count[:, None] - mean**2, 1e-9)
        # sum over features of (x - mean)^2 / variance, expanded so that it is three products.
        squares = (
            (1 / variance) @ (x**2).T
            - 2 * (mean / variance) @ x.T
            + (mean**2 / variance).sum(axis=1)[:, None]
        )
        score[label] = np.log(count)[:, None] - 0.5 * np.log(variance).sum(axis=1)[:, None] - 0.5 * squares
    return np.asarray(score[1] > score[0], dtype=np.float64)


def nearest_neighbour(x: Floats, y: npt.NDArray[np.int64], train: Masks, test: Masks) -> Floats:
    """One nearest neighbour by Euclidean distance."""
    squares = (x**2).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * x @ x.T
    found = np.zeros(train.shape)
    for j, rows in enumerate(train):
        known, asked = np.flatnonzero(rows), np.flatnonzero(test[j])
        found[j, asked] = y[known[distance[np.ix_(asked, known)].argmin(axis=1)]]
    return found


def tree(x: Floats, y: npt.NDArray[np.int64], train: Masks, test: Masks) -> Floats:
    """A full classification tree (CART by Gini's impurity)."""
    from sklearn.tree import DecisionTreeClassifier

    found = np.zeros(train.shape)
    for j, rows in enumerate(train):
        model = DecisionTreeClassifier(random_state=0).fit(x[rows], y[rows])
        found[j, test[j]] = model.predict(x[test[j]])
    return found


def stump(x: Floats, y: npt.NDArray[np.int64], train: Masks, _test: Masks) -> Floats:
    """A tree with one split, by Gini's impurity: which feature it takes changes from fit to fit."""
    n, best = len(x), np.full(len(train), np.inf)
    found = np.zeros(train.shape)
    for values in x.T:
        order = np.argsort(values)
        weight = train[:, order].astype(np.float64)
        left, ones = np.cumsum(weight, axis=1)[:, :-1], np.cumsum(weight * y[order], axis=1)
        total, all_ones = weight.sum(axis=1, keepdims=True), ones[:, -1:]
        ones = ones[:, :-1]
        right, others = total - left, all_ones - ones
        # A split between two rows that are not trained on is the one before them: its impurity is the same.
        impurity = 2 * (
            ones * (left - ones) / np.maximum(left, 1) + others * (right - others) / np.maximum(right, 1)
        )
        impurity[(left == 0) | (right == 0)] = np.inf
        place = impurity.argmin(axis=1)
        row = np.arange(len(train))
        better = impurity[row, place] < best
        best[better] = impurity[row, place][better]
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        low = 2 * ones[row, place] > left[row, place]
        high = 2 * others[row, place] > right[row, place]
        side = np.where(rank[None, :] <= place[:, None], low[:, None], high[:, None])
        found[better] = side[better]
    return found


LEARNERS: dict[str, Learner] = {
    "naive Bayes": naive_bayes,
    "tree": tree,
    "1-NN": nearest_neighbour,
    "stump": stump,
}
