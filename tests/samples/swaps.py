"""The distribution of a difference by every way to swap two models' rows, the plain way."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

Value = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
"""A metric of truth, predictions and the weights of the examples."""


def enumerated(
    truth: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    value: Value,
    unit: np.ndarray,
    *,
    mean: bool = False,
    weight: np.ndarray | float = 1.0,
) -> float:
    """Return the share of all 2^units swaps whose studentised difference is as large as the observed one.

    The standard error of each swap comes from numerical derivatives by the weights of the units, each square over one
    less the unit's share of the examples (CR2); of a mean over examples (``mean``) the differences are compared.
    Units with the same predictions of both models are left as they are: a swap changes nothing there. Nor is the first
    of the others swapped: where all the rest are swapped instead, the statistic is the same but for its sign.
    ``weight``: of each example.
    """
    units, ones = int(unit.max()) + 1, weight * np.ones(len(truth))
    rest = 1 - np.bincount(unit) / len(truth)

    def statistic(first: np.ndarray, second: np.ndarray) -> float:
        def delta(w: np.ndarray) -> float:
            return value(truth, first, w) - value(truth, second, w)

        if mean:
            return delta(ones)
        step = 1e-5
        slopes = [
            (delta(ones * (1 + step * (unit == u))) - delta(ones * (1 - step * (unit == u)))) / (2 * step)
            for u in range(units)
        ]
        error = np.sqrt(np.sum(np.square(slopes) / rest))
        if error < 1e-9:
            return 0.0 if abs(delta(ones)) < 1e-12 else np.inf
        return float(delta(ones) / error)

    observed = abs(statistic(a, b))
    swapped, extreme = np.unique(unit[a != b])[1:], 0
    for bits in product([False, True], repeat=len(swapped)):
        swap = np.isin(unit, swapped[np.array(bits, dtype=bool)])
        found = abs(statistic(np.where(swap, b, a), np.where(swap, a, b)))
        extreme += found >= observed * (1 - 1e-7) - 1e-12
    return float(extreme / 2 ** len(swapped))


def share(above: float, below: float) -> float:
    """Divide; 0/0 is 0, as the field has it."""
    return above / below if below > 0 else 0.0


def counts(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> tuple[float, float, float, float]:
    """Return the weighted TP, FP, FN, TN of class 1."""
    return tuple(float(w[(t == i) & (p == j)].sum()) for i, j in ((1, 1), (0, 1), (1, 0), (0, 0)))  # type: ignore[return-value]


def f1(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return 2 TP / (2 TP + FP + FN)."""
    tp, fp, fn, _ = counts(t, p, w)
    return share(2 * tp, 2 * tp + fp + fn)


def precision(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return TP / (TP + FP)."""
    tp, fp, _, _ = counts(t, p, w)
    return share(tp, tp + fp)


def balanced_accuracy(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return the mean of both recalls."""
    tp, fp, fn, tn = counts(t, p, w)
    return (share(tp, tp + fn) + share(tn, tn + fp)) / 2


def mcc(t: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
    """Return Matthews' correlation."""
    tp, fp, fn, tn = counts(t, p, w)
    return share(tp * tn - fp * fn, float(np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))))


def auc(t: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Return the share of (weighted) pairs that are ranked rightly, ties one half."""
    above = (s[t == 1][:, None] > s[t == 0]) + (s[t == 1][:, None] == s[t == 0]) / 2
    return float(w[t == 1] @ above @ w[t == 0] / (w[t == 1].sum() * w[t == 0].sum()))
