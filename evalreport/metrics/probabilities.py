"""What probabilities of classes allow beside mean losses: the top k classes, the deviance, the soft AUC."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from evalreport.engine.derivative import ratio
from evalreport.engine.portable import weighted_sums
from evalreport.metrics.means import log_loss
from evalreport.metrics.registry import PROPORTION_INTERVALS, SMOOTH_INTERVALS, mean_loss, rows
from evalreport.metrics.views import ModelView
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]
Loss = Callable[[ModelView], Floats]


# --- the top k classes ----------------------------------------------------------------------------------------------


def _hits(view: ModelView, k: int) -> Floats:
    """Return the chance (n,) that the true class is among the first k when ties are broken at random.

    Of m labels that share the true one's probability, j places are left below those with more: j / m, at most 1.
    """
    assert view.proba is not None
    of_true = view.p_true[:, None]
    above, tied = (view.proba > of_true).sum(axis=1), (view.proba == of_true).sum(axis=1)
    return np.asarray(np.clip((k - above) / tied, 0.0, 1.0))


def _top_k(k: int) -> Callable[[Loss], Any]:
    return mean_loss(
        f"Top-{k} accuracy",
        f"mean chance that the true class is among the first {k}, ties in random order",
        tasks=("multiclass",),
        needs="probabilities",
        range=(0.0, 1.0),
        greater_is_better=True,
        intervals=("t", *PROPORTION_INTERVALS, *SMOOTH_INTERVALS),
        least_classes=k + 1,
        shown_with="scores",
    )


@_top_k(2)
def top_2_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the two most probable ones, ties broken at random."""
    return _hits(view, 2)


@_top_k(3)
def top_3_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the three most probable ones, ties broken at random."""
    return _hits(view, 3)


@_top_k(5)
def top_5_accuracy(view: ModelView) -> Floats:
    """Share of examples whose true class is among the five most probable ones, ties broken at random."""
    return _hits(view, 5)


# --- values without an interval -------------------------------------------------------------------------------------

VALUE_ONLY: dict[str, Any] = {
    "needs": "probabilities",
    "resampled": False,
    "smooth": False,
    "intervals": (),
    "test": "bootstrap_difference",
}


@rows(
    "Deviance",
    "-2 sum ln p(true), p clipped to [1e-15, 1 - 1e-15]",
    prepare=log_loss,
    tasks=("binary", "multiclass"),
    range=(0.0, float("inf")),
    greater_is_better=False,
    extensive=True,
    no_interval=Message("no_interval.deviance"),
    source="McCullagh and Nelder (1989), Generalized Linear Models, section 2.3",
    **VALUE_ONLY,
)
def deviance(losses: Floats, weights: Floats) -> Floats:
    """Twice the negative log likelihood of the truth: 2 n times the log loss, so it grows with the test set.

    Probabilities are clipped as for the log loss.
    """
    return 2 * weighted_sums(weights, losses)


SHARPNESS = 10.0
"""The contract's beta in sigma(beta (s+ - s-))."""

NODES = 80
"""Interpolation nodes in [0, 1]: sigma(10 x) has its poles at +-0.31 i, so the error falls as 1.81^-nodes."""


ROWS_AT_ONCE = 1 << 14
"""Rows spread over the nodes at once (10 MB): bounds memory whatever the number of examples."""


@dataclass(frozen=True, slots=True)
class Forecasts:
    """Probability of the positive class, (n,), and which examples are positive, (n,)."""

    p: Floats
    positive: npt.NDArray[np.bool_]


def _forecasts(view: ModelView) -> Forecasts:
    assert view.proba is not None
    assert view.true is not None
    assert view.positive_code is not None
    return Forecasts(view.proba[:, view.positive_code], view.true == view.positive_code)


def chebyshev_nodes() -> Floats:
    """Return the Chebyshev points of the second kind on [0, 1]."""
    return np.array([(1 - math.cos(math.pi * k / (NODES - 1))) / 2 for k in range(NODES)])


def lagrange(x: Floats) -> Floats:
    """Return the Lagrange polynomials of the nodes at x, (n, NODES), by the second barycentric formula.

    References
    ----------
    Berrut and Trefethen (2004), SIAM Review 46:501, equations 4.2 and 5.4.
    """
    nodes = chebyshev_nodes()
    signs = np.where(np.arange(NODES) % 2, -1.0, 1.0)
    signs[[0, -1]] /= 2
    apart = x[:, None] - nodes
    exact = np.less(np.abs(apart), np.finfo(np.float64).tiny)  # 1 by less is infinite
    terms = signs / np.where(exact, 1, apart)
    shares: Floats = np.where(exact.any(axis=1, keepdims=True), exact, terms / terms.sum(axis=1)[:, None])
    return shares


@rows(
    "Soft AUC",
    "mean over pairs of 1 / (1 + exp(-10 (p(positive) - p(negative))))",
    prepare=_forecasts,
    tasks=("binary",),
    undefined=Message("undefined.one_class"),
    shown_with="scores",
    no_interval=Message("no_interval.soft_auc"),
    source="Yan, Dodier, Mozer and Wolniewicz (2003), ICML, equation 5, in its logistic form",
    **VALUE_ONLY,
)
def soft_auc(state: Forecasts, weights: Floats) -> Floats:
    """Smoothed ROC AUC on probabilities: each pair counts by a logistic curve of its difference instead of 0 or 1.

    The sum over P times N pairs is taken through a polynomial interpolation that is exact to rounding, in time
    proportional to P + N. Undefined where the truth holds one class only.
    """
    sides = [np.zeros((len(weights), NODES)) for _ in range(2)]
    for start in range(0, len(state.p), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        spread = lagrange(state.p[block])
        for side, held in zip(sides, (state.positive[block], ~state.positive[block]), strict=True):
            side += np.einsum("bn,nk->bk", weights[:, block] * held, spread)
    nodes = chebyshev_nodes()
    kernel = special.expit(SHARPNESS * (nodes[:, None] - nodes))
    won = (np.einsum("bk,kj->bj", sides[0], kernel) * sides[1]).sum(axis=1)
    return np.asarray(
        ratio(won, weighted_sums(weights, state.positive) * weighted_sums(weights, ~state.positive))
    )
