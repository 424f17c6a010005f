"""Bias and variance of each example's predictions over replicates: squared loss, 0-1 loss, Kohavi and Wolpert's.

Symbols: h[k, i] what replicate k's fit says of example i, where it is given; y[i] the truth; K[i] the predictions of i.
Every expected loss is the sum of its parts exactly, example by example.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engine.portable import whole_product

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[Any]

MOST_AT_ONCE = 4_000_000
"""Numbers held at once while replicates are drawn again."""


@dataclass(frozen=True, slots=True)
class Split:
    """The decomposition of each example's expected loss, (n,) each.

    Attributes
    ----------
    expected_loss, bias, variance
        Squared loss: bias is (y - mean)^2, variance has divisor K, and expected_loss = bias + variance. 0-1: bias is
        [mode is wrong], variance the share that is not the mode.
    unbiased
        Squared loss and Kohavi-Wolpert: the variance with divisor K - 1 (nan for one prediction). 0-1: the variance
        of the examples whose mode is right.
    biased
        0-1: the share that is right where the mode is wrong; expected_loss = bias + unbiased - biased. Else None.
    main
        The mean prediction (n,) or (n, C), or the code of the mode.
    count
        K[i].
    """

    expected_loss: Floats
    bias: Floats
    variance: Floats
    unbiased: Floats
    biased: Floats | None
    main: npt.NDArray[Any]
    count: npt.NDArray[np.int64]

    @property
    def bias_unbiased(self) -> Floats | None:
        """The bias without the share of the variance that K predictions leave in their mean: bias - unbiased / K.

        ``bias`` has the expectation bias^2 + variance / K; this one bias^2, whatever K is, so it may be negative. It
        and ``unbiased`` sum to the expected loss exactly. nan for one prediction; None for Domingos's split, whose
        mode has no unbiased estimate.
        """
        return None if self.biased is not None else self.bias - self.unbiased / self.count


def squared(predicted: Floats, given: Mask, truth: Floats) -> Split:
    """Split squared loss: mean (h - y)^2 = (y - mean h)^2 + mean (h - mean h)^2.

    The bias holds the noise of the truth: (y - mean h)^2 estimates bias^2 + noise.

    Parameters
    ----------
    predicted, given
        (K, n), or (K, n, C) for probabilities of C classes, whose squares are added; and which (K, n) there are.
    truth
        (n,) or (n, C). Every example has at least one prediction.

    References
    ----------
    Geman, Bienenstock and Doursat (1992), Neural Comput 4:1.

    Examples
    --------
    Predictions 1 and 3 of a truth of 5: loss (16 + 4) / 2, bias (5 - 2)^2, variance 1 (with divisor K - 1: 2).

    >>> found = squared(np.array([[1.0], [3.0]]), np.ones((2, 1), bool), np.array([5.0]))
    >>> [float(part[0]) for part in (found.expected_loss, found.bias, found.variance, found.unbiased)]
    [10.0, 9.0, 1.0, 2.0]
    """
    if predicted.ndim == 2:
        predicted, truth = predicted[:, :, None], truth[:, None]
    count = given.sum(axis=0)
    # About the truth, and left out where there is no prediction.
    errors = np.where(given[:, :, None], predicted - truth, 0.0)
    mean = errors.sum(axis=0) / count[:, None]
    deviations = np.where(given[:, :, None], errors - mean, 0.0)
    variance = (deviations**2).sum(axis=(0, 2)) / count
    bias = (mean**2).sum(axis=1)
    unbiased = np.where(count > 1, variance * count / np.maximum(count - 1, 1), np.nan)
    main = (mean + truth)[:, 0] if truth.shape[1] == 1 else mean + truth
    return Split(bias + variance, bias, variance, unbiased, None, main, count)


def zero_one(counts: Floats, truth: Codes) -> Split:
    """Split 0-1 loss after Domingos (2000), for any number of classes.

    The main prediction is the mode, ties to the class first in order. On an unbiased example variance adds errors; on
    a biased one it takes some away, with more than two classes only where it strays to the right class.

    Parameters
    ----------
    counts
        (n, C) how many replicates predicted each class.
    truth
        (n,) codes.

    Examples
    --------
    Three of four replicates are right; then one of four, with the other three on the same wrong class:

    >>> found = zero_one(np.array([[3.0, 1.0], [3.0, 1.0]]), np.array([0, 1]))
    >>> found.bias.tolist(), found.unbiased.tolist(), found.biased.tolist(), found.expected_loss.tolist()
    ([0.0, 1.0], [0.25, 0.0], [0.0, 0.25], [0.25, 0.75])
    """
    count = counts.sum(axis=1)
    shares = counts / count[:, None]
    mode = counts.argmax(axis=1)
    right = np.take_along_axis(shares, truth[:, None].astype(np.intp), axis=1)[:, 0]
    variance = 1.0 - shares.max(axis=1)
    bias = np.asarray(mode != truth, dtype=np.float64)
    unbiased, biased = np.where(bias == 0, variance, 0.0), np.where(bias == 1, right, 0.0)
    return Split(bias + unbiased - biased, bias, variance, unbiased, biased, mode, count.astype(np.int64))


def kohavi_wolpert(counts: Floats, truth: Codes) -> Split:
    """Split 0-1 loss after Kohavi and Wolpert (1996), with no noise: mean P(h is wrong) = bias^2 + variance.

    bias^2 = 1/2 sum_c ([y = c] - P_c)^2, variance = 1/2 (1 - sum_c P_c^2), P_c the share of class c. K replicates'
    shares overstate bias^2 by 1/2 sum_c P_c (1 - P_c) / (K - 1) and understate the variance by as much.

    Parameters
    ----------
    counts, truth
        As for ``zero_one``.

    Examples
    --------
    >>> found = kohavi_wolpert(np.array([[3.0, 1.0]]), np.array([0]))
    >>> float(found.bias[0]), float(found.variance[0]), float(found.expected_loss[0])
    (0.0625, 0.1875, 0.25)
    """
    count = counts.sum(axis=1)
    shares = counts / count[:, None]
    target = np.arange(counts.shape[1]) == truth[:, None]
    bias = 0.5 * ((target - shares) ** 2).sum(axis=1)
    variance = 0.5 * (1.0 - (shares**2).sum(axis=1))
    unbiased = np.where(count > 1, variance * count / np.maximum(count - 1, 1), np.nan)
    main = counts.argmax(axis=1)
    return Split(bias + variance, bias, variance, unbiased, None, main, count.astype(np.int64))


def label_counts(codes: Codes, given: Mask, n_classes: int) -> Floats:
    """Count how many replicates predicted each class of each example: (K, n) codes to (n, C)."""
    n = codes.shape[1]
    replicate, example = np.nonzero(given)
    place = example * n_classes + codes[replicate, example]
    return np.bincount(place, minlength=n * n_classes).reshape(n, n_classes).astype(np.float64)


# --- how far the means move with other replicates ---------------------------------------------------------------------


def redrawn_squared(predicted: Floats, given: Mask, truth: Floats, weights: Floats) -> Floats:
    """Return (B, 3) mean expected loss, bias and variance with the replicates weighted anew, weights (B, K)."""
    if predicted.ndim == 2:
        predicted, truth = predicted[:, :, None], truth[:, None]
    totals = np.zeros((len(weights), 3))
    drawn = np.zeros(len(weights))
    for some in _chunks(given.shape[1], len(weights) * truth.shape[1]):
        mask = given[:, some].astype(np.float64)
        count = weights @ mask
        known = np.maximum(count, 1)
        loss, bias = np.zeros_like(count), np.zeros_like(count)
        for c in range(truth.shape[1]):
            errors = np.where(given[:, some], predicted[:, some, c] - truth[some, c], 0.0)
            loss += whole_product(weights, errors**2) / known
            bias += (whole_product(weights, errors) / known) ** 2
        totals += np.stack([part.sum(axis=1) for part in (loss, bias, loss - bias)], axis=1)
        drawn += (count > 0).sum(axis=1)
    return np.asarray(totals / np.maximum(drawn, 1)[:, None])


def redrawn_zero_one(
    codes: Codes, given: Mask, truth: Codes, weights: Floats, n_classes: int, *, shares: bool = False
) -> Floats:
    """Return (B, 3) as ``redrawn_squared`` does; ``shares`` after Kohavi and Wolpert instead of Domingos."""
    split = kohavi_wolpert if shares else zero_one
    totals = np.zeros((len(weights), 3))
    drawn = np.zeros(len(weights))
    for some in _chunks(given.shape[1], len(weights) * n_classes):
        by_class = np.stack(
            [weights @ (given[:, some] & (codes[:, some] == c)).astype(np.float64) for c in range(n_classes)],
            axis=2,
        )
        held = by_class.sum(axis=2) > 0
        for b in range(len(weights)):
            found = split(by_class[b, held[b]], truth[some][held[b]])
            totals[b] += [found.expected_loss.sum(), found.bias.sum(), found.variance.sum()]
        drawn += held.sum(axis=1)
    return np.asarray(totals / np.maximum(drawn, 1)[:, None])


def _chunks(n: int, width: int) -> Iterator[slice]:
    size = max(1, MOST_AT_ONCE // max(width, 1))
    for start in range(0, n, size):
        yield slice(start, start + size)
