"""Bayesian comparisons: how probable it is that one algorithm is better, by more than a margin.

They answer with three probabilities instead of a p-value: b better, within the margin (the region of practical
equivalence), a better. Without a declared margin the region is the point 0.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.folds import fold_differences
from evalreport.comparisons.ranks import rounded_differences
from evalreport.comparisons.registry import Outcome, Pair, comparison_test
from evalreport.engine.distributions import t_tail
from evalreport.engine.draws import stream
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]

DRAWS = 5_000
"""Draws of the weights: the probabilities have a Monte Carlo error of 0.007 at most."""
PRIOR_STRENGTH = 0.5
"""Weight of the pseudo-observation at 0 (Benavoli et al. 2014: the prior that favours neither model)."""


@comparison_test(
    "Bayesian correlated t",
    "trained_folds",
    bayesian=True,
)
def bayes_correlated_t(pair: Pair) -> Outcome:
    """Posterior of the mean fold difference, a t about it, cut at the margin into three probabilities."""
    assert pair.difference.fits is not None
    x, fits, rope = fold_differences(pair), pair.difference.fits, pair.margin or 0.0
    correlation = float((fits.n_test / (fits.n_test + fits.n_train)).mean())
    mean, spread = float(x.mean()), float(x.std(ddof=1))
    scale = spread * math.sqrt(1 / len(x) + correlation / (1 - correlation))
    if scale <= 1e-12 * abs(mean) or scale == 0:
        return _posterior(pair, float(mean < -rope), float(mean > rope), len(x) - 1)
    below, above = (t_tail((rope + sign * mean) / scale, len(x) - 1) for sign in (1, -1))
    return _posterior(pair, below, above, len(x) - 1)


@comparison_test(
    "Bayesian signed rank",
    "few_blocks",
    bayesian=True,
)
def bayes_signed_rank(pair: Pair) -> Outcome:
    """How often, over draws of weights, averages of two differences lie mostly below, within or above the margin."""
    rope = pair.margin or 0.0
    z = np.sort(np.append(rounded_differences(pair), 0.0))
    at_zero = int(np.searchsorted(z, 0.0))
    # One draw serves every pair, and counted from the other end it serves b - a: swapped models mirror exactly.
    drawn, prior = _drawn(pair.seed, len(z))
    weights = _by_size(drawn, z)
    weights[:, at_zero] = prior
    weights /= weights.sum(axis=1, keepdims=True)
    below, above = _shares(z, weights, rope)
    within = 1 - below - above
    top = np.maximum(np.maximum(below, within), above)
    leads = np.stack([np.abs(share - top) <= 1e-12 for share in (below, within, above)])
    won = (leads / leads.sum(axis=0)).mean(axis=1)
    return _posterior(pair, float(won[0]), float(won[2]), None)


@lru_cache(maxsize=4)
def _drawn(seed: int, size: int) -> tuple[Floats, Floats]:
    """Return the unscaled weights (DRAWS, size) of the differences, and (DRAWS,) of the prior's observation."""
    weights = stream(seed, "signed rank", size).standard_gamma(1.0, size=(DRAWS, size))
    return weights, stream(seed, "signed rank prior", size).standard_gamma(PRIOR_STRENGTH, size=DRAWS)


def _by_size(drawn: Floats, z: Floats) -> Floats:
    """Attach the draws to the differences by size, whatever their sign, so that a - b and b - a share them."""
    order = np.lexsort((np.sign(z) * np.sign(z.sum() or 1.0), np.abs(z)))
    attached = np.empty_like(drawn)
    attached[:, order] = drawn
    return attached


def _shares(z: Floats, weights: Floats, rope: float) -> tuple[Floats, Floats]:
    """Return the weight, in each draw, of the pairs of sorted differences whose average is below -rope, above rope."""
    upto = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)
    less = np.searchsorted(z, -2 * rope - z, side="left")
    more = np.searchsorted(z, 2 * rope - z, side="right")
    below = (weights * upto[:, less]).sum(axis=1)
    above = (weights * (upto[:, -1:] - upto[:, more])).sum(axis=1)
    return below, above


def _posterior(pair: Pair, below: float, above: float, df: float | None) -> Outcome:
    """Name the probabilities by models: a difference above the margin favours a where greater is better."""
    a_better, b_better = (above, below) if pair.greater_is_better else (below, above)
    within = max(0.0, 1 - a_better - b_better)
    shares = {"a_better": a_better, "within": within, "b_better": b_better}
    return Outcome(
        None,
        None,
        df,
        "probability_a_better",
        a_better,
        reason=Message("reason.posterior", **shares)
        if pair.margin is None
        else Message("reason.posterior_of_margin", margin=pair.margin, **shares),
        details={"a_better": a_better, "within_margin": within, "b_better": b_better},
    )
