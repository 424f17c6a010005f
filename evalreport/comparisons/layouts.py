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
from evalreport.texts import Message, Text, parts

BY_DESIGN: Mapping[str, str] = {
    "cross-validation": "corrected_resampled_t",
    "repeated-holdout": "corrected_resampled_t",
    "5x2cv": "5x2cv_f",
    "datasets": "wilcoxon",
}
"""The test that leads where there are several fits."""

BESIDE_CROSS_VALIDATION = ("mcnemar_midp", "wilcoxon", "bayes_correlated_t")
"""Shown beside the test of cross-validation instead of its own ``beside``."""


def recommended_test(pair: Pair | None, quantity: Quantity) -> str:
    """Return the test that leads for a quantity in the layout of a pair."""
    test = definition(quantity).test
    if pair is None:
        return test
    delta = pair.difference
    interval = recommended(delta)
    if pair.independent and INTERVALS[interval].kind not in UNLIKE:
        return "two_proportions_z" if delta.independent is not None else "bootstrap_difference"
    if pair.design in BY_DESIGN and delta.fits is not None and not _of_one_example(delta.fits):
        return BY_DESIGN[pair.design]
    if INTERVALS[interval].kind in UNLIKE:
        return interval
    if delta.weighted:
        return "bootstrap_difference"
    if delta.clusters is not None:
        return "permutation" if pair.swapped is not None else "bootstrap_difference"
    needs = TESTS[test].needs
    if needs == "losses" and delta.agreement is not None:
        return "mcnemar_midp"
    if needs == "swaps" and pair.swapped is None:
        return "bootstrap_difference"
    if pair.swapped is not None and (lacks(pair, test) or TESTS[test].function(pair).p_value is None):
        return "permutation"  # nothing to estimate a spread from, as for a perfect and a constant ranking
    return test


def beside(first: str, pair: Pair | None) -> tuple[str, ...]:
    """Return the tests shown beside the recommended one."""
    test = TESTS[first]
    if pair is not None and pair.design == "cross-validation" and test.knows_folds:
        return BESIDE_CROSS_VALIDATION
    return test.beside


# --- what is missing ------------------------------------------------------------------------------------------------


def lacks(pair: Pair, test: str) -> Text | None:
    """Say what the data lack for a test and what would make it possible; None where nothing is missing."""
    needs = TESTS[test].needs
    if pair.independent and needs not in ("independent", "replicates", "margin", *UNLIKE):
        return Message("test_lacks.same_examples")
    if _other_seeds(pair) and needs not in ("replicates", "margin", *UNLIKE):
        return Message("test_lacks.same_seeds")
    return _WHAT_IS_MISSING[needs](pair)


def _other_seeds(pair: Pair) -> bool:
    """Say whether the two models have training seeds of their own."""
    return pair.difference.of_seeds and pair.difference.fits is None


def _no_agreement(pair: Pair) -> Text | None:
    delta = pair.difference
    if delta.agreement is not None:
        return None
    if delta.weighted or delta.clusters is not None:
        return Message("test_lacks.plain_examples")
    return Message("test_lacks.right_and_wrong")


def _no_losses(pair: Pair) -> Text | None:
    delta = pair.difference
    if delta.over_datasets:
        return None
    if delta.weighted or delta.clusters is not None:
        return Message("test_lacks.plain_examples_use_t")
    if pair.losses is not None:
        return None
    return Message("test_lacks.losses")


def _no_placements(pair: Pair) -> Text | None:
    if pair.difference.delong_error is not None and pair.difference.metric.is_auc:
        return None
    return Message("test_lacks.placements")


def _no_replicates(pair: Pair) -> Text | None:
    metric = pair.difference.metric
    if not metric.replicates_hold:
        return metric.no_interval or Message("test_lacks.varied_replicates")
    if pair.difference.n_units < 2:
        return Message("test_lacks.several_examples")
    return None


def _no_swaps(pair: Pair) -> Text | None:
    return Message("test_lacks.swaps") if pair.swapped is None else None


def _no_fits(pair: Pair) -> Text | None:
    fits = pair.difference.fits
    if fits is None:
        return Message("test_lacks.folds_or_datasets")
    undefined = int(np.isnan(fits.values).sum())
    if _of_one_example(fits):
        return Message("test_lacks.larger_folds")
    if undefined:
        return Message(f"test_lacks.defined_{fits.kind}", undefined=undefined, total=len(fits.values))
    return None


def _of_one_example(fits: Fits) -> bool:
    """Say whether the fits are folds of one example each, on which the metric has no value."""
    return fits.kind == "folds" and bool(fits.n_test.max() <= 1 and np.isnan(fits.values).any())


def _no_folds(pair: Pair) -> Text | None:
    if pair.difference.fits is None or not pair.difference.of_folds:
        return Message("test_lacks.folds_or_repeats")
    return _no_fits(pair)


def _no_trained_folds(pair: Pair) -> Text | None:
    missing = _no_folds(pair)
    if missing is not None:
        return missing
    assert pair.difference.fits is not None
    if np.isnan(pair.difference.fits.test_train_ratio):
        return Message("test_lacks.train_size")
    return None


def _no_halves(pair: Pair) -> Text | None:
    fits = pair.difference.fits
    if pair.design != "5x2cv" or fits is None or len(fits.values) != 10:
        return Message("test_lacks.halves")
    return _no_fits(pair)


def _no_blocks(pair: Pair) -> Text | None:
    if pair.difference.paired is not None:
        return None
    if pair.difference.fits is not None:
        return _no_fits(pair)
    if pair.difference.weighted or pair.difference.clusters is not None:
        return Message("test_lacks.plain_examples_or_folds")
    return Message("test_lacks.blocks")


def _no_few_blocks(pair: Pair) -> Text | None:
    missing = _no_fits(pair)
    return missing or (None if pair.difference.paired is not None else _no_blocks(pair))


def _not_independent(pair: Pair) -> Text | None:
    if not pair.independent:
        return Message("test_lacks.own_test_sets")
    if pair.difference.independent is None:
        return Message("test_lacks.proportions")
    return None


def _not_ranked(pair: Pair) -> Text | None:
    return Message("test_lacks.ranked") if pair.ranked is None else None


def _no_margin(pair: Pair) -> Text | None:
    return Message("test_lacks.margin") if pair.margin is None else None


_WHAT_IS_MISSING: Mapping[str, Callable[[Pair], Text | None]] = {
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


def caution(pair: Pair, test: str) -> Message | None:
    """Say what is known against a test in this layout: its measured size, or which assumption cannot hold."""
    said = [_assumption_broken(pair, test), measured_size(pair.design, pair.difference.fits, test)]
    return parts(*filter(None, said)) if any(said) else None


def _assumption_broken(pair: Pair, test: str) -> Message | None:
    fits, needs = pair.difference.fits, TESTS[test].needs
    if needs == "seeds":
        return None
    if needs == "swaps" and pair.difference.derivative is None:
        return Message("caution.exchangeable")
    about_examples = needs in ("replicates", "swaps", "losses", "agreement", *UNLIKE)
    if pair.difference.of_seeds and about_examples:
        return Message("caution.trained_models")
    if fits is None:
        return None
    if needs == "folds":
        return Message("caution.shared_training_data")
    if fits.kind == "datasets":
        if len(fits.values) < 6 and needs == "blocks":
            return Message("caution.few_datasets", n=len(fits.values))
        return Message("caution.one_scale") if needs == "losses" else None
    if needs in ("blocks", "few_blocks", "ranked"):
        return Message(f"caution.shared_by.{fits.kind}")
    return Message("caution.fitted_models") if about_examples else None
