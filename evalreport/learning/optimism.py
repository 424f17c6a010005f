"""Bootstrap estimates of error: out-of-bag, optimism, .632 and .632+, as functions of losses and counts.

Symbols: L[b, i] the loss of replicate b's fit on example i; N[b, i] how often i was in its sample; e_R the apparent
error, of the fit to all the data on those very data; e_1 the leave-one-out bootstrap; gamma the no-information rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

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
    capped: float


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


def _divided(sums: Floats, counts: npt.NDArray[np.int64]) -> Floats:
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
    return Plus((1 - omega) * apparent + omega * capped, gamma, relative, omega, capped)
