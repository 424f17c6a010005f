"""What several attempts at a question give: pass@k and pass^k."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.metrics.registry import (
    SMOOTH_INTERVALS,
    Decorator,
    Function,
    columns_of,
    register,
    weighted_mean,
)

Floats = npt.NDArray[np.float64]


def mean_over_attempts(label: str, formula: str, *, numbered: str, **fields: Any) -> Decorator:
    """Register the mean over questions of a function of their attempts, of those that passed, and of a number k.

    The decorated function maps (n,) attempts, (n,) of them that passed, and k to (n,); nan where it is undefined.
    """

    def _decorate(function: Function) -> Function:
        def of_number(k: int) -> Function:
            return lambda view: function(*view.passes, k)

        given = {
            "tasks": ("outcome",),
            "needs": "passes",
            "shown_with": "outcomes",
            "intervals": ("t", *SMOOTH_INTERVALS),
            "difference_interval": "t",
            "test": "paired_t",
            **fields,
        }
        return register(
            function,
            function=weighted_mean,
            label=label,
            formula=formula,
            family="moments",
            columns=columns_of(of_number(1)),
            per_example=of_number(1),
            numbered=numbered,
            of_number=of_number,
            **given,
        )

    return _decorate


def _all_of(k: int, held: Floats, count: Floats) -> Floats:
    """Return C(held, k) / C(count, k), (n,): the chance that k of the attempts, drawn at random, are all held ones.

    nan where there are fewer than k attempts.
    """
    share = np.where(count >= k, 1.0, np.nan)
    for i in range(min(k, int(count.max(initial=0)))):
        share = share * np.maximum(held - i, 0) / np.maximum(count - i, 1)
    return share


@mean_over_attempts(
    "pass@k",
    "mean over questions of 1 - C(n - c, k) / C(n, k), with n attempts of which c passed",
    numbered="pass@",
    headline=True,
    source="Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374, section 2.1",
)
def pass_at_k(count: Floats, passed: Floats, k: int) -> Floats:
    """Chance that at least one of k attempts at a question passes, without bias from the number of attempts.

    pass@1 is the mean outcome. Undefined where a question has fewer than k attempts.

    Parameters
    ----------
    count, passed
        (n,) attempts at each question, and how many of them passed.
    k
        At least 1.

    Examples
    --------
    Of four attempts two passed; one of the six pairs of attempts holds no pass.

    >>> pass_at_k(np.array([4.0]), np.array([2.0]), 2).round(4).tolist()
    [0.8333]
    """
    return np.asarray(1.0 - _all_of(k, count - passed, count))


@mean_over_attempts(
    "pass^k",
    "mean over questions of C(c, k) / C(n, k), with n attempts of which c passed",
    numbered="pass^",
    headline=True,
    source="Yao et al. (2024), tau-bench, arXiv 2406.12045",
)
def pass_hat_k(count: Floats, passed: Floats, k: int) -> Floats:
    """Chance that all of k attempts at a question pass: how reliable a model is, not how lucky.

    pass^1 is the mean outcome. Undefined where a question has fewer than k attempts.

    Parameters
    ----------
    count, passed
        (n,) attempts at each question, and how many of them passed.
    k
        At least 1.

    Examples
    --------
    Of four attempts two passed; one of the six pairs of attempts passes twice.

    >>> pass_hat_k(np.array([4.0]), np.array([2.0]), 2).round(4).tolist()
    [0.1667]
    """
    return _all_of(k, passed, count)
