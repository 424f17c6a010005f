"""What each test needs of the data, which test leads in which layout, and what stands beside it.

A test that lacks what it needs is refused with the reason and with what would make it possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evalreport.comparisons.registry import TESTS, Pair
from evalreport.intervals import INTERVALS, recommended
from evalreport.intervals.choice import lacks as why_not
from evalreport.intervals.proportions import UNLIKE
from evalreport.metrics.estimate import Estimate, Fits
from evalreport.metrics.registry import Quantity, definition
from evalreport.texts import Message, Text, parts

Rates = Mapping[str, float]

MEASURED: Mapping[tuple[str, str], Rates] = {
    ("cross-validation", "corrected_resampled_t"): {"naive Bayes": 0.006, "tree": 0.03, "1-NN": 0.033},
    ("cross-validation", "cv_paired_t"): {"naive Bayes": 0.049, "tree": 0.115, "1-NN": 0.135},
    ("cross-validation", "wilcoxon"): {"naive Bayes": 0.041, "tree": 0.097, "1-NN": 0.117},
    ("cross-validation", "mcnemar_midp"): {"naive Bayes": 0.059, "tree": 0.131, "1-NN": 0.145},
    ("repeated cross-validation", "corrected_resampled_t"): {
        "naive Bayes": 0.039,
        "tree": 0.036,
        "1-NN": 0.106,
    },
    ("repeated cross-validation", "cv_paired_t"): {"naive Bayes": 0.542, "tree": 0.561, "1-NN": 0.638},
    ("repeated cross-validation", "wilcoxon"): {"naive Bayes": 0.532, "tree": 0.556, "1-NN": 0.633},
    ("repeated-holdout", "corrected_resampled_t"): {"naive Bayes": 0.04, "tree": 0.014, "1-NN": 0.074},
    ("repeated-holdout", "cv_paired_t"): {"naive Bayes": 0.6, "tree": 0.509, "1-NN": 0.675},
    ("repeated-holdout", "wilcoxon"): {"naive Bayes": 0.59, "tree": 0.514, "1-NN": 0.658},
    ("5x2cv", "5x2cv_f"): {"naive Bayes": 0.044, "tree": 0.06, "1-NN": 0.142},
    ("5x2cv", "5x2cv_t"): {"naive Bayes": 0.041, "tree": 0.056, "1-NN": 0.115},
    ("5x2cv", "corrected_resampled_t"): {"naive Bayes": 0.021, "tree": 0.006, "1-NN": 0.037},
    ("test-set", "mcnemar_midp"): {"naive Bayes": 0.047, "tree": 0.076, "1-NN": 0.075},
}
"""(layout, test) -> rejection rate at 0.05 by learner."""

ALPHA, EXAMPLES = 0.05, 300
"""The level and the size of the data sets of the study."""


MEASURED_OF_SEEDS: Mapping[int, float] = {2: 0.09, 3: 0.074}
"""Seeds of each model -> how often ``seeds_t`` at 0.05 tells two equally good algorithms apart, where it misses."""

MEASURED_OF_FEW: Mapping[tuple[int, int], float] = {(10, 2): 0.15, (50, 2): 0.14}
"""Examples that one model flags and how many of them are wrong, on average -> how often the permutation test at 0.05
tells two models of equal precision apart, of which the other flags ten times as many."""


MEASURED_OF_RARE_ERRORS: Mapping[tuple[int, int], float] = {(35, 350): 0.18}
"""Examples of a class among all, of which two models of equal balanced accuracy get one wrong on average -> how often
the permutation test at 0.05 tells them apart."""


def measured_of_rare_errors() -> Message:
    """Say how often tests of two equal balanced accuracies reject where one rests on few errors."""
    rates = (
        Message("measured.with_rare_errors", rate=rate, held=held, examples=n)
        for (held, n), rate in MEASURED_OF_RARE_ERRORS.items()
    )
    return Message("measured.of_rare_errors", alpha=ALPHA, rates=tuple(rates))


def measured_of_few() -> Message:
    """Say how often tests of two equal precisions reject where one rests on few errors."""
    rates = (
        Message("measured.with_few", rate=rate, flagged=flagged, wrong=wrong)
        for (flagged, wrong), rate in MEASURED_OF_FEW.items()
    )
    return Message("measured.of_few", alpha=ALPHA, rates=tuple(rates))


def layout_measured(design: str, fits: Fits | None) -> str:
    """Return which layout of the study a design is nearest to.

    Examples
    --------
    >>> layout_measured("5x2cv", None)
    '5x2cv'
    """
    if design == "cross-validation" and fits is not None:
        repeats = len(np.unique(fits.repeat))
        return "repeated cross-validation" if repeats > 1 else "cross-validation"
    return design


def measured_size(design: str, fits: Fits | None, test: str) -> Message | None:
    """Say how often a test rejects where nothing is to be found; None where that was not measured.

    On one test set the question is about the models at hand, not about the algorithms of the study.
    """
    if design == "test-set":
        return None
    rates = MEASURED.get((layout_measured(design, fits), test))
    if rates is None:
        return None
    by_learner = tuple(Message("measured.rate", rate=rate, learner=name) for name, rate in rates.items())
    return Message("measured.type_one_error", alpha=ALPHA, examples=EXAMPLES, rates=by_learner)


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
    test = definition(quantity).inference.test
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
    if delta.weighted and lacks(pair, "bootstrap_difference") is None:
        return "bootstrap_difference"
    if delta.weighted or delta.clusters is not None:
        return "permutation" if pair.swapped is not None else "bootstrap_difference"
    needs = TESTS[test].needs
    if needs == "losses" and delta.agreement is not None:
        return "mcnemar_midp"
    if needs == "swaps" and pair.swapped is None:
        return "bootstrap_difference"
    if needs == "swaps":
        return test
    if pair.swapped is not None and (lacks(pair, test) or TESTS[test].run(pair).p_value is None):
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


def _not_plain(delta: Estimate, elsewhere: str = "plain_examples") -> Text | None:
    """Say why a test of independent examples that count the same does not hold, and what does; None where it may."""
    if delta.tasks is not None:
        return Message("test_lacks.one_task")
    return Message(f"test_lacks.{elsewhere}") if delta.weighted or delta.clusters is not None else None


def _no_agreement(pair: Pair) -> Text | None:
    delta = pair.difference
    if delta.agreement is not None:
        return None
    return _not_plain(delta) or Message("test_lacks.right_and_wrong")


def _no_labels(pair: Pair) -> Text | None:
    if pair.labels is not None:
        return None
    return _not_plain(pair.difference) or Message("test_lacks.labels")


def _no_losses(pair: Pair) -> Text | None:
    delta = pair.difference
    if delta.over_datasets or delta.summed is not None:
        return None
    return _not_plain(delta, "plain_examples_use_t") or _unless(pair.by_example, "losses")


def _no_placements(pair: Pair) -> Text | None:
    if pair.difference.delong_error is not None and pair.difference.metric.is_auc:
        return None
    return Message("test_lacks.placements")


def _no_replicates(pair: Pair) -> Text | None:
    metric = pair.difference.metric
    if not metric.inference.replicates_hold:
        return metric.inference.no_interval or Message("test_lacks.varied_replicates")
    if pair.difference.n_units < 2:
        return Message("test_lacks.several_examples")
    return None


def _unless(held: object | None, what: str) -> Text | None:
    """Say that a pair lacks something where it is None."""
    return Message(f"test_lacks.{what}") if held is None else None


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
    return _not_plain(pair.difference, "plain_examples_or_folds") or Message("test_lacks.blocks")


def _no_few_blocks(pair: Pair) -> Text | None:
    missing = _no_fits(pair)
    return missing or (None if pair.difference.paired is not None else _no_blocks(pair))


def _not_independent(pair: Pair) -> Text | None:
    if not pair.independent:
        return Message("test_lacks.own_test_sets")
    if pair.difference.independent is None:
        return Message("test_lacks.proportions")
    return None


_WHAT_IS_MISSING: Mapping[str, Callable[[Pair], Text | None]] = {
    "agreement": _no_agreement,
    "losses": _no_losses,
    "labels": _no_labels,
    "judged": lambda pair: why_not(INTERVALS["ppi"], pair.difference),
    "clusters": lambda pair: why_not(INTERVALS["cr2_t"], pair.difference),
    "weights": lambda pair: why_not(INTERVALS["weighted_t"], pair.difference),
    "suite": lambda pair: why_not(INTERVALS["suite_t"], pair.difference),
    "placements": _no_placements,
    "replicates": _no_replicates,
    "swaps": lambda pair: _unless(pair.swapped, "swaps"),
    "folds": _no_folds,
    "trained_folds": _no_trained_folds,
    "halves": _no_halves,
    "seeds": lambda pair: why_not(INTERVALS["seeds_t"], pair.difference),
    "blocks": _no_blocks,
    "few_blocks": _no_few_blocks,
    "independent": _not_independent,
    "ranked": lambda pair: _unless(pair.ranked, "ranked"),
    "margin": lambda pair: _unless(pair.margin, "margin"),
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
    about_examples = needs in ("replicates", "swaps", "losses", "labels", "agreement", *UNLIKE)
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
