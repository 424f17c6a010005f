"""Tests over fits (folds, training seeds, replicates, data sets), also Bayesian, and tests of all models at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evalreport.comparisons.example_tests import ranked_blocks
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Ranked, comparison_test, probability
from evalreport.engine.distributions import chi2_tail, f_tail, t_tail
from evalreport.engine.draws import stream
from evalreport.engine.ranks import equal_in_rows, mid_ranks_of_rows
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import Sample
from evalreport.predictions.arrays import Floats, required
from evalreport.predictions.table import Predictions
from evalreport.samplings import Fits
from evalreport.samplings.folds import over_folds
from evalreport.texts import Message

NO_SPREAD = Message("reason.no_spread_of_folds")


def _t_test(fits: Fits, *, overlap: bool) -> Outcome:
    """Divide the mean difference by its error over folds."""
    x, student = fits.values, over_folds(fits, overlap=overlap)
    mean, spread, df = float(x.mean()), float(x.std(ddof=1)), student.df
    if not x.any():
        return Outcome(0.0, 1.0, df, "cohen_d", 0.0)
    if spread <= 1e-12 * abs(mean):
        return Outcome(None, None, df, reason=NO_SPREAD)
    statistic = mean / student.error
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), df)), df, "cohen_d", mean / spread)


@comparison_test("Corrected resampled t", "trained_folds", beside=("bayes_correlated_t",))
def corrected_resampled_t(pair: Pair) -> Outcome:
    """Student's t on the fold differences, the variance times 1/J + n_test/n_train because training sets overlap."""
    return _t_test(required(pair.difference.fits), overlap=True)


@comparison_test("Naive t over folds", "folds")
def cv_paired_t(pair: Pair) -> Outcome:
    """Student's t on the fold differences as if the folds were independent; shown as a warning, never leading."""
    return _t_test(required(pair.difference.fits), overlap=False)


def halves(pair: Pair) -> Floats:
    """Return the differences (5, 2) of five repeats of two-fold cross-validation, in the order of the files' names."""
    return required(pair.difference.fits).values.reshape(5, 2)


@comparison_test("5x2cv t", "halves", name="5x2cv_t")
def five_by_two_t(pair: Pair) -> Outcome:
    """First difference of five repeats of two-fold cross-validation over the spread within the repeats."""
    x = halves(pair)
    variance = float(x.var(axis=1, ddof=1).mean())
    if not x.any():
        return Outcome(0.0, 1.0, 5)
    if variance <= 1e-24 * float((x**2).max()):
        return Outcome(None, None, 5, reason=NO_SPREAD)
    statistic = float(x[0, 0]) / math.sqrt(variance)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), 5)), 5)


@comparison_test("5x2cv F", "halves", beside=("5x2cv_t",), name="5x2cv_f")
def five_by_two_f(pair: Pair) -> Outcome:
    """All ten squared differences of five repeats of two-fold cross-validation over the spread within the repeats."""
    x = halves(pair)
    within = float(x.var(axis=1, ddof=1).sum())
    if not x.any():
        return Outcome(0.0, 1.0, 10, details={"df2": 5.0})
    if within <= 1e-24 * float((x**2).max()):
        return Outcome(None, None, 10, reason=NO_SPREAD, details={"df2": 5.0})
    statistic = float((x**2).sum()) / (2 * within)
    return Outcome(statistic, probability(f_tail(statistic, 10, 5)), 10, details={"df2": 5.0})


def trained_once(pair: Pair, predictions: Predictions) -> Message | None:
    """Name the models whose training noise a verdict leaves out: with one seed, where files name seeds; else None.

    Parameters
    ----------
    predictions
        Those of the run, whose models may have a column ``seed`` with one value each.
    """
    sides = (pair.a, pair.b)
    if predictions.design == "seeds":
        once = [side.model for side in sides if side.fits is not None and len(side.fits.values) == 1]
    elif predictions.design == "test-set":
        models = {model.name: model for model in predictions.models}
        named = [{*predictions.keys, *models[side.model].columns} for side in sides]
        once = [side.model for side, columns in zip(sides, named, strict=True) if "seed" in columns]
    else:
        return None
    return Message("verdict.trained_with_one_seed", models=tuple(once)) if once else None


ROUNDING = 1e-12
"""Differences closer than this share of the values are the same number by another order of additions."""


@comparison_test("Paired bootstrap", "replicates")
def bootstrap_difference(pair: Pair) -> Outcome:
    """Share of the bootstrap differences on the far side of 0, twice; both models in the same draws."""
    if pair.difference.replicates is None or not len(pair.difference.replicates_used):
        made = pair.difference.replicates is not None or pair.difference.influence is not None
        return Outcome(None, None, reason=Message("reason.no_replicate" if made else "limits.not_resampled"))
    used = pair.difference.replicates_used
    if pair.independent and pair.difference.value == 0:
        return Outcome(0.0, 1.0)  # separate draws of equal values lie about 0 unevenly by chance alone
    rounding = ROUNDING * max(abs(pair.a.value), abs(pair.b.value))
    tail = min(int((used <= rounding).sum()), int((used >= -rounding).sum()))
    return Outcome(pair.difference.value, probability(2 * (1 + tail) / (len(used) + 1)))


DRAWS = 5_000
"""Draws of the weights: the probabilities have a Monte Carlo error of 0.007 at most."""
PRIOR_STRENGTH = 0.5
"""Weight of the pseudo-observation at 0 (Benavoli et al. 2014: the prior that favours neither model)."""


@comparison_test("Bayesian correlated t", "trained_folds", bayesian=True)
def bayes_correlated_t(pair: Pair) -> Outcome:
    """Posterior of the mean fold difference, a t about it, cut at the margin into three probabilities."""
    fits, rope = required(pair.difference.fits), pair.margin or 0.0
    x = fits.values
    correlation = float((fits.n_test / (fits.n_test + fits.n_train)).mean())
    mean, spread = float(x.mean()), float(x.std(ddof=1))
    scale = spread * math.sqrt(1 / len(x) + correlation / (1 - correlation))
    if scale <= 1e-12 * abs(mean) or scale == 0:
        return _posterior(pair, float(mean < -rope), float(mean > rope), len(x) - 1)
    below, above = (t_tail((rope + sign * mean) / scale, len(x) - 1) for sign in (1, -1))
    return _posterior(pair, below, above, len(x) - 1)


@comparison_test("Bayesian signed rank", "few_blocks", bayesian=True)
def bayes_signed_rank(pair: Pair) -> Outcome:
    """How often, over draws of weights, averages of two differences lie mostly below, within or above the margin."""
    rope = pair.margin or 0.0
    z = np.sort(np.append(ranked_blocks(pair), 0.0))
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
    """Attach the draws to the differences by absolute size, so that a - b and b - a share them."""
    # Added in one order, the two sides change places to the last digit.
    gains, losses = np.sort(z[z > 0]), np.sort(-z[z < 0])
    side = (gains.sum() - losses.sum()) or (len(gains) - len(losses)) or 1.0
    order = np.lexsort((np.sign(z) * np.sign(side), np.abs(z)))
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


@comparison_test("Cochran's Q", "all_right")
def cochran_q(right: CountedRows) -> Outcome:
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
    spread = float(ranked.by_blocks((ranked.ranks - (k + 1) / 2) ** 2).sum()) / (m * (k - 1))
    return 0.0 if spread <= 1e-12 else centred / spread


@comparison_test("Friedman", "all_ranks")
def friedman(ranked: Ranked) -> Outcome:
    """Spread of the models' average ranks, corrected for ties, as chi-squared with k - 1 degrees of freedom."""
    df = len(ranked.models) - 1
    statistic = friedman_statistic(ranked)
    return Outcome(statistic, probability(chi2_tail(statistic, df)), df)


@comparison_test("Iman-Davenport", "all_ranks")
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


@comparison_test("Nemenyi", "ranked")
def nemenyi(pair: Pair) -> Outcome:
    """Difference of two average ranks against the studentised range of k of them, infinite degrees of freedom."""
    from scipy import stats

    ranked = required(pair.ranked)
    m, k = ranked.blocks, len(ranked.models)
    difference = _rank_difference(pair)
    q = abs(difference) / math.sqrt(k * (k + 1) / (6 * m))
    p = 1.0 if difference == 0 else float(stats.studentized_range.sf(q * math.sqrt(2), k, np.inf))
    return Outcome(q, probability(p), None, "rank_difference", difference)


@comparison_test("Conover after Friedman", "ranked")
def conover(pair: Pair) -> Outcome:
    """Difference of two rank sums as a t, with the spread that is left within blocks once the models are told apart."""
    ranked = required(pair.ranked)
    m, k = ranked.blocks, len(ranked.models)
    df = (m - 1) * (k - 1)
    difference = _rank_difference(pair)
    if difference == 0:
        return Outcome(0.0, 1.0, df, "rank_difference", 0.0)
    squares = float(ranked.by_blocks(ranked.ranks**2).sum())
    left = m * squares - float((ranked.by_blocks(ranked.ranks).sum(axis=0) ** 2).sum())
    if df == 0 or left <= 1e-9 * m * squares:
        return Outcome(None, None, df, reason=Message("reason.same_order"))
    statistic = m * difference / math.sqrt(2 * left / df)
    return Outcome(statistic, probability(2 * t_tail(abs(statistic), df)), df, "rank_difference", difference)


def _rank_difference(pair: Pair) -> float:
    """Return the first model's average rank less the second's: negative where the first is the better."""
    ranked = required(pair.ranked)
    first, second = ranked.mean_ranks[[ranked.models.index(one.model) for one in (pair.a, pair.b)]]
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
    numbers = equal_in_rows(values)
    greater = greater_is_better(quantity, lower_is_better=lower_is_better)
    return Ranked(models, mid_ranks_of_rows(-numbers if greater else numbers), by, counts)


def _by_fit(sample: Sample, models: Sequence[str], quantity: Quantity) -> Floats | None:
    """Return the values (J, k) on the single fits; None where there are none."""
    columns = []
    for name in models:
        fits = sample.estimates[name, quantity].fits
        if fits is None:
            return None
        columns.append(fits.values)
    return np.column_stack(columns)


def by_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> CountedRows | None:
    """Return per-example numbers whose mean the quantity is, where it is tested by them; else None."""
    return (
        sample.by_example(models, quantity) if TESTS[definition(quantity).inference.test].by_example else None
    )


def by_independent_example(sample: Sample, models: Sequence[str], quantity: Quantity) -> CountedRows | None:
    """Return per-example numbers on one test set of independent examples; else None."""
    if not sample.units.plain or sample.predictions.design != "test-set":
        return None
    return by_example(sample, models, quantity)
