"""What each test needs of the data, which test leads in which layout, and what stands beside it.

A test that lacks what it needs is refused with the reason and with what would make it possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evalreport.comparisons.measured import measured_size
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.intervals import INTERVALS, recommended
from evalreport.intervals.choice import lacks as why_not
from evalreport.intervals.registry import UNLIKE
from evalreport.metrics.estimate import Fits
from evalreport.metrics.quantities import Quantity, definition

RESAMPLE = "evalreport resample PLAN makes them"

BESIDE: Mapping[str, tuple[str, ...]] = {
    "mcnemar_midp": ("mcnemar_exact", "mcnemar", "mcnemar_corrected", "bootstrap_difference"),
    "delong": ("bootstrap_difference", "permutation"),
    "paired_t": ("bootstrap_difference", "permutation"),
    "permutation": ("bootstrap_difference",),
    "cr2_t": ("permutation", "bootstrap_difference"),
    "weighted_t": ("permutation", "bootstrap_difference"),
    "bootstrap_difference": ("permutation",),
    "corrected_resampled_t": ("bayes_correlated_t",),
    "5x2cv_f": ("5x2cv_t",),
    "seeds_t": ("permutation",),
    "wilcoxon": ("sign", "bayes_signed_rank", "nemenyi", "conover"),
    "two_proportions_z": ("bootstrap_difference",),
}
"""The tests shown beside the recommended one, unless others are named."""

BESIDE_CROSS_VALIDATION = ("mcnemar_midp", "wilcoxon", "bayes_correlated_t")


def recommended_test(pair: Pair | None, quantity: Quantity) -> str:
    """Return the test that leads for a quantity in the layout of a pair."""
    test = definition(quantity).test
    if pair is None:
        return test
    delta = pair.difference
    interval = recommended(delta)
    if pair.independent and INTERVALS[interval].kind not in UNLIKE:
        return "two_proportions_z" if delta.independent is not None else "bootstrap_difference"
    by_design = {
        "cross-validation": "corrected_resampled_t",
        "repeated-holdout": "corrected_resampled_t",
        "5x2cv": "5x2cv_f",
        "datasets": "wilcoxon",
    }
    if pair.design in by_design and delta.fits is not None and not _of_one_example(delta.fits):
        return by_design[pair.design]
    if INTERVALS[interval].kind in UNLIKE:
        return interval
    if delta.weighted:
        return "bootstrap_difference"
    if delta.clusters is not None:
        return "permutation" if pair.swapped is not None else "bootstrap_difference"
    if test == "paired_t" and delta.agreement is not None:
        return "mcnemar_midp"
    if test == "permutation" and pair.swapped is None:
        return "bootstrap_difference"
    if pair.swapped is not None and (lacks(pair, test) or TESTS[test].function(pair).p_value is None):
        return "permutation"  # nothing to estimate a spread from, as for a perfect and a constant ranking
    return test


def beside(first: str, pair: Pair | None) -> tuple[str, ...]:
    """Return the tests shown beside the recommended one."""
    if pair is not None and pair.design == "cross-validation" and first == "corrected_resampled_t":
        return BESIDE_CROSS_VALIDATION
    return BESIDE.get(first, ())


# --- what is missing ------------------------------------------------------------------------------------------------


def lacks(pair: Pair, test: str) -> str | None:
    """Say what the data lack for a test and what would make it possible; None where nothing is missing."""
    needs = TESTS[test].needs
    if pair.independent and needs not in ("independent", "replicates", "margin", *UNLIKE):
        return (
            "the models have test sets of their own, and this test compares answers to the same examples:"
            " predict the same ids with every model"
        )
    if _other_seeds(pair) and needs not in ("replicates", "margin", *UNLIKE):
        return (
            "the models were trained with seeds of other names, so nothing pairs their predictions seed by seed, and"
            " this test needs such pairs: give common seeds common names"
        )
    return _WHAT_IS_MISSING[needs](pair)


def _other_seeds(pair: Pair) -> bool:
    """Say whether the two models have training seeds of their own."""
    return pair.difference.of_seeds and pair.difference.fits is None


def _no_agreement(pair: Pair) -> str | None:
    delta = pair.difference
    if delta.agreement is not None:
        return None
    if delta.weighted or delta.clusters is not None:
        return "assumes independent examples that count the same; here examples have weights, clusters or several fits"
    return "is about right and wrong answers: ask for it on accuracy, or on outcomes of 0 and 1"


def _no_losses(pair: Pair) -> str | None:
    delta = pair.difference
    if delta.over_datasets:
        return None
    if delta.weighted or delta.clusters is not None:
        return "assumes independent examples that count the same: cr2_t serves clusters, weighted_t weights"
    if pair.losses is not None:
        return None
    return (
        "the metric is no mean over the examples: ask for it on accuracy or a mean loss (log_loss, mse, mae)"
    )


def _no_placements(pair: Pair) -> str | None:
    if pair.difference.delong_error is not None and pair.difference.metric.name == "roc_auc":
        return None
    return "holds for the area under the ROC curve on one test set of independent examples"


def _no_replicates(pair: Pair) -> str | None:
    metric = pair.difference.metric
    if not metric.replicates_hold:
        return (
            metric.no_interval or "bootstrap replicates of this metric vary too little: read its own interval"
        )
    if pair.difference.n_units < 2:
        return "there is one example (or cluster) only: nothing to draw again; add examples"
    return None


def _no_swaps(pair: Pair) -> str | None:
    if pair.swapped is None:
        return "the models' outputs cannot be swapped for this metric in this layout: the bootstrap serves any metric"
    return None


def _no_fits(pair: Pair, of: str) -> str | None:
    fits = pair.difference.fits
    if fits is None:
        return (
            f"needs the metric on {of} of the same models (columns repeat and fold, or dataset): {RESAMPLE}"
        )
    undefined = int(np.isnan(fits.values).sum())
    if _of_one_example(fits):
        return (
            "a fold of one example has no value of this metric: ask for it on accuracy or a mean loss (log_loss, mse,"
            " mae), or take larger folds"
        )
    if undefined:
        return f"the metric is undefined on {undefined} of {len(fits.values)} {fits.kind}: make each larger"
    return None


def _of_one_example(fits: Fits) -> bool:
    """Say whether the fits are folds of one example each, on which the metric has no value."""
    return fits.kind == "folds" and bool(fits.n_test.max() <= 1 and np.isnan(fits.values).any())


def _no_folds(pair: Pair) -> str | None:
    if pair.difference.fits is None or not pair.difference.of_folds:
        return f"needs several folds or repeats, each a fit of its own (columns repeat and fold): {RESAMPLE}"
    return _no_fits(pair, "folds")


def _no_trained_folds(pair: Pair) -> str | None:
    missing = _no_folds(pair)
    if missing is not None:
        return missing
    assert pair.difference.fits is not None
    if np.isnan(pair.difference.fits.test_train_ratio):
        return "the number of training examples of each fit is not known: add a column train_size"
    return None


def _no_halves(pair: Pair) -> str | None:
    fits = pair.difference.fits
    if pair.design != "5x2cv" or fits is None or len(fits.values) != 10:
        return (
            "needs 5 repeats of 2 folds, each half of the examples (columns repeat and fold), which nothing else"
            f" replaces: {RESAMPLE}"
        )
    return _no_fits(pair, "folds")


def _no_blocks(pair: Pair) -> str | None:
    if pair.difference.paired is not None:
        return None
    if pair.difference.fits is not None:
        return _no_fits(pair, "folds")
    if pair.difference.weighted or pair.difference.clusters is not None:
        return (
            "assumes independent examples that count the same: leave out --cluster and --weight, or use folds"
        )
    return (
        "the metric is no mean over the examples, and there are no folds or data sets: ask for it on a mean loss"
        f" (accuracy, log_loss, mse, mae), or write the columns repeat and fold, or dataset: {RESAMPLE}"
    )


def _no_few_blocks(pair: Pair) -> str | None:
    missing = _no_fits(pair, "several folds or data sets")
    return missing or (None if pair.difference.paired is not None else _no_blocks(pair))


def _not_independent(pair: Pair) -> str | None:
    if not pair.independent:
        return (
            "the models answered the same examples, which a paired test uses; --join independent says that each model"
            " has a test set of its own"
        )
    if pair.difference.independent is None:
        return "is about proportions, such as accuracy; for other metrics the unpaired bootstrap serves"
    return None


def _not_ranked(pair: Pair) -> str | None:
    if pair.ranked is None:
        return (
            "needs three or more models on the same data sets, folds or examples, and a value of each on every one:"
            f" write the column dataset; {RESAMPLE}"
        )
    return None


def _no_margin(pair: Pair) -> str | None:
    return (
        None
        if pair.margin is not None
        else "needs the smallest difference that matters: declare it, --margin X"
    )


_WHAT_IS_MISSING: Mapping[str, Callable[[Pair], str | None]] = {
    "agreement": _no_agreement,
    "losses": _no_losses,
    "clusters": lambda pair: why_not(INTERVALS["cr2_t"], pair.difference),
    "weights": lambda pair: why_not(INTERVALS["weighted_t"], pair.difference),
    "placements": _no_placements,
    "replicates": _no_replicates,
    "swaps": _no_swaps,
    "folds": _no_folds,
    "trained_folds": _no_trained_folds,
    "halves": _no_halves,
    "seeds": lambda pair: why_not(INTERVALS["seeds_t"], pair.difference),
    "blocks": _no_blocks,
    "few_blocks": _no_few_blocks,
    "independent": _not_independent,
    "ranked": _not_ranked,
    "margin": _no_margin,
}


# --- what a p-value is worth here -----------------------------------------------------------------------------------


def caution(pair: Pair, test: str) -> str | None:
    """Say what is known against a test in this layout: its measured size, or which assumption cannot hold."""
    said = [_assumption_broken(pair, test), measured_size(pair.design, pair.difference.fits, test)]
    return "; ".join(text for text in said if text) or None


def _assumption_broken(pair: Pair, test: str) -> str | None:
    fits, needs = pair.difference.fits, TESTS[test].needs
    if needs == "seeds":
        return None
    if needs == "swaps" and pair.difference.derivative is None:
        return "tests whether the models are exchangeable, since the metric has no influence values"
    about_examples = needs in ("replicates", "swaps", "losses", "agreement", *UNLIKE)
    if pair.difference.of_seeds and about_examples:
        return "about these trained models: training noise not included"
    if fits is None:
        return None
    if test == "cv_paired_t":
        return "the folds share training data, so this p-value is too small"
    if fits.kind == "datasets":
        few = len(fits.values) < 6 and needs == "blocks"
        if few:
            return f"{len(fits.values)} data sets: fewer than 6 cannot reach 0.05, whichever model is better"
        return "assumes normal differences of one scale on all data sets" if test == "paired_t" else None
    if needs in ("blocks", "few_blocks", "ranked"):
        return f"assumes independent {fits.kind}, but they share data"
    if about_examples:
        return "about these fitted models: ignores how much another training set would change"
    return None
