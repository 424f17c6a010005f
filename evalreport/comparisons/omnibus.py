"""Tests of all models at once over blocks, and the pairwise tests that follow them.

A block is a data set, a fold or an example on which every model stands; within it models are ranked, 1 the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from evalreport.comparisons.example_tests import DECIMALS
from evalreport.comparisons.permutation import Distribution, Key, swap_patterns
from evalreport.comparisons.registry import (
    TESTS,
    Outcome,
    Pair,
    Ranked,
    Swapped,
    comparison_test,
    probability,
)
from evalreport.engine.distributions import chi2_tail, f_tail, t_tail, weighted_sums
from evalreport.engine.ranks import mid_ranks_of_rows
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Examples, Sample
from evalreport.metrics.units import Units
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]


@comparison_test(
    "Cochran's Q",
    "all_right",
)
def cochran_q(right: Examples) -> Outcome:
    """Spread of the models' numbers of right answers over what the examples' numbers of right models allow (n, k)."""
    k = right.values.shape[1]
    counts = np.ones(len(right.values)) if right.counts is None else right.counts
    by_model, by_example = (right.values * counts[:, None]).sum(axis=0), right.values.sum(axis=1)
    total = float(by_model.sum())
    allowed = float(k * total - (counts * by_example**2).sum())
    if allowed <= 0:
        return Outcome(0.0, 1.0, k - 1)
    statistic = (k - 1) * float(k * (by_model**2).sum() - total**2) / allowed
    return Outcome(statistic, probability(chi2_tail(statistic, k - 1)), k - 1)


def friedman_statistic(ranked: Ranked) -> float:
    """Return Friedman's chi-squared, corrected for ties (Conover 1999, equation 5.8.4); 0 where all ranks are tied."""
    m, k = ranked.blocks, len(ranked.models)
    centred = m * float(((ranked.mean_ranks - (k + 1) / 2) ** 2).sum())
    spread = float(ranked.weighted((ranked.ranks - (k + 1) / 2) ** 2).sum()) / (m * (k - 1))
    return 0.0 if spread <= 1e-12 else centred / spread


@comparison_test(
    "Friedman",
    "all_ranks",
)
def friedman(ranked: Ranked) -> Outcome:
    """Spread of the models' average ranks, corrected for ties, as chi-squared with k - 1 degrees of freedom."""
    df = len(ranked.models) - 1
    statistic = friedman_statistic(ranked)
    return Outcome(statistic, probability(chi2_tail(statistic, df)), df)


@comparison_test(
    "Iman-Davenport",
    "all_ranks",
)
def iman_davenport(ranked: Ranked) -> Outcome:
    """Friedman's statistic as an F with k - 1 and (k - 1)(m - 1) degrees of freedom: closer to its level."""
    m, k = ranked.blocks, len(ranked.models)
    chi2, df, df2 = friedman_statistic(ranked), k - 1, (k - 1) * (m - 1)
    left = m * (k - 1) - chi2
    if m < 2:
        return Outcome(None, None, df, reason=Message("reason.one_block"))
    if left <= 1e-9 * m * (k - 1):
        reason = Message("reason.f_infinite")
        return Outcome(None, probability(0.0), df, reason=reason, details={"df2": float(df2)})
    statistic = (m - 1) * chi2 / left
    return Outcome(statistic, probability(f_tail(statistic, df, df2)), df, details={"df2": float(df2)})


@comparison_test(
    "Nemenyi",
    "ranked",
)
def nemenyi(pair: Pair) -> Outcome:
    """Difference of two average ranks against the studentised range of k of them, infinite degrees of freedom."""
    from scipy import stats

    assert pair.ranked is not None
    m, k = pair.ranked.blocks, len(pair.ranked.models)
    difference = _rank_difference(pair)
    q = abs(difference) / math.sqrt(k * (k + 1) / (6 * m))
    p = 1.0 if difference == 0 else float(stats.studentized_range.sf(q * math.sqrt(2), k, np.inf))
    return Outcome(q, probability(p), None, "rank_difference", difference)


@comparison_test(
    "Conover after Friedman",
    "ranked",
)
def conover(pair: Pair) -> Outcome:
    """Difference of two rank sums as a t, with the spread that is left within blocks once the models are told apart."""
    assert pair.ranked is not None
    ranked = pair.ranked
    m, k = ranked.blocks, len(ranked.models)
    df = (m - 1) * (k - 1)
    difference = _rank_difference(pair)
    if difference == 0:
        return Outcome(0.0, 1.0, df, "rank_difference", 0.0)
    squares = float(ranked.weighted(ranked.ranks**2).sum())
    left = m * squares - float((ranked.weighted(ranked.ranks).sum(axis=0) ** 2).sum())
    if df == 0 or left <= 1e-9 * m * squares:
        return Outcome(None, None, df, reason=Message("reason.same_order"))
    statistic = m * difference / math.sqrt(2 * left / df)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), df)), df, "rank_difference", difference)


def _rank_difference(pair: Pair) -> float:
    """Return the first model's average rank less the second's: negative where the first is the better."""
    assert pair.ranked is not None
    first, second = pair.ranked.mean_ranks[list(pair.places)]
    return float(first - second)


@lru_cache(maxsize=32)
def critical_difference(n_models: int, n_blocks: int, alpha: float) -> float:
    """Return the smallest difference of two average ranks that Nemenyi's test tells apart.

    Parameters
    ----------
    alpha
        Level over all pairs.

    Examples
    --------
    Demsar (2006), table 5 and section 3.2.2: q = 2.569 for 4 models; 14 data sets.

    >>> round(critical_difference(4, 14, 0.05), 2)
    1.25
    """
    from scipy import stats

    q = float(stats.studentized_range.ppf(1 - alpha, n_models, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_models * (n_models + 1) / (6 * n_blocks))


FEWEST_MODELS = 3


def ranked_models(sample: Sample, quantity: Quantity, *, lower_is_better: bool) -> Ranked | None:
    """Rank all models that have the quantity within every data set, fold or example; None for fewer than three."""
    models = tuple(m.name for m in sample.predictions.models if sample.estimates[m.name, quantity].defined)
    if len(models) < FEWEST_MODELS:
        return None
    values, by, counts = _by_fit(sample, models, quantity), "examples", None
    if values is None:
        examples = by_independent_example(sample, models, quantity)
        values, counts = (None, None) if examples is None else (examples.values, examples.counts)
    else:
        fits = sample.estimates[models[0], quantity].fits
        by = "folds" if fits is None else fits.kind
    if values is None or np.isnan(values).any():
        return None
    rounded = np.round(values, DECIMALS)
    greater = greater_is_better(quantity, lower_is_better=lower_is_better)
    return Ranked(models, mid_ranks_of_rows(-rounded if greater else rounded), by, counts)


def _by_fit(sample: Sample, models: Sequence[str], quantity: Quantity) -> Floats | None:
    """Return the values (J, k) on the single fits; None where there are none."""
    columns = []
    for name in models:
        fits = sample.estimates[name, quantity].fits
        if fits is None:
            return None
        columns.append(fits.values)
    return np.column_stack(columns)


def by_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> Examples | None:
    """Return per-example numbers whose mean the quantity is, where it is tested by them; else None."""
    return sample.by_example(models, quantity) if TESTS[definition(quantity).test].by_example else None


def by_independent_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> Examples | None:
    """Return per-example numbers on one test set of independent examples; else None."""
    if not sample.units.plain or sample.predictions.design != "test-set":
        return None
    return by_example(sample, models, quantity)


def sign_flips(
    sample: Sample,
    pairs: Sequence[tuple[str, str]],
    quantities: Sequence[Quantity],
    *,
    n_swaps: Callable[[Quantity], int],
    seed: int,
) -> dict[Key, Distribution]:
    """Return what computes the mean differences after the two models were swapped on whole data sets."""
    found: dict[Key, Distribution] = {}
    for quantity in quantities:
        for a, b in pairs:
            first, second = (sample.estimates[name, quantity].fits for name in (a, b))
            if first is None or second is None:
                continue
            x = first.values - second.values
            if not np.isnan(x).any():
                found[a, b, quantity] = partial(_flipped, x, n_swaps(quantity), seed)
    return found


def _flipped(x: Floats, n_swaps: int, seed: int) -> Swapped:
    discordant = x != 0
    patterns, weights = swap_patterns(Units(len(x)), n_swaps, seed, discordant)
    means = [weighted_sums(1 - 2 * flipped, x) / len(x) for flipped in patterns]
    return Swapped(np.concatenate(means), None, weights, int(discordant.sum()))
