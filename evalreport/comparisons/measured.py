"""Cautions about a test in a layout: measured error rates, and assumptions that cannot hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evalreport.comparisons.registry import OF_LABELS, OF_UNITS, TESTS, Pair
from evalreport.samplings import Fits
from evalreport.texts import Message, parts

Rates = Mapping[str, float]

LEARNERS = ("naive Bayes", "tree", "1-NN", "stump")
_RATES = {
    ("cross-validation", "corrected_resampled_t"): (0.006, 0.03, 0.033, 0.099),
    ("cross-validation", "cv_paired_t"): (0.049, 0.115, 0.135, 0.255),
    ("cross-validation", "wilcoxon"): (0.041, 0.097, 0.117, 0.225),
    ("cross-validation", "mcnemar_midp"): (0.059, 0.131, 0.145, 0.25),
    ("repeated cross-validation", "corrected_resampled_t"): (0.039, 0.036, 0.106, 0.196),
    ("repeated cross-validation", "cv_paired_t"): (0.542, 0.561, 0.638, 0.701),
    ("repeated cross-validation", "wilcoxon"): (0.532, 0.556, 0.633, 0.69),
    ("repeated-holdout", "corrected_resampled_t"): (0.04, 0.014, 0.074, 0.046),
    ("repeated-holdout", "cv_paired_t"): (0.6, 0.509, 0.675, 0.589),
    ("repeated-holdout", "wilcoxon"): (0.59, 0.514, 0.658, 0.583),
    ("5x2cv", "5x2cv_f"): (0.044, 0.06, 0.142, 0.071),
    ("5x2cv", "5x2cv_t"): (0.041, 0.056, 0.115, 0.069),
    ("5x2cv", "corrected_resampled_t"): (0.021, 0.006, 0.037, 0.016),
    ("test-set", "mcnemar_midp"): (0.047, 0.076, 0.075, 0.06),
}
MEASURED: Mapping[tuple[str, str], Rates] = {
    key: dict(zip(LEARNERS, rates, strict=True)) for key, rates in _RATES.items()
}
"""(layout, test) -> rejection rate at 0.05 by learner."""

ALPHA, EXAMPLES = 0.05, 300
"""The level and the size of the data sets of the study."""


MEASURED_OF_SEEDS: Mapping[int, float] = {2: 0.09, 3: 0.074}
"""Seeds of each model -> how often ``seeds_t`` at 0.05 tells two equally good algorithms apart, where it misses."""


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
    """Return a test's measured rates of false rejections, the worst learner's first; None where none was measured.

    On one test set the question is about the models at hand, not about the algorithms of the study.
    """
    if design == "test-set":
        return None
    rates = MEASURED.get((layout_measured(design, fits), test))
    if rates is None:
        return None
    worst_first = sorted(rates.items(), key=lambda pair: -pair[1])
    by_learner = tuple(Message("measured.rate", rate=rate, learner=name) for name, rate in worst_first)
    return Message("measured.type_one_error", alpha=ALPHA, examples=EXAMPLES, rates=by_learner)


def caution(pair: Pair, test: str) -> Message | None:
    """Return the caution about a test in this layout: its measured size, or the assumption that cannot hold."""
    known = [_assumption_broken(pair, test), measured_size(pair.design, pair.difference.fits, test)]
    return parts(*filter(None, known)) if any(known) else None


def _assumption_broken(pair: Pair, test: str) -> Message | None:
    fits, needs = pair.difference.fits, TESTS[test].needs
    if needs == "seeds":
        return None
    if needs == "swaps" and pair.difference.influence is None:
        return Message("caution.exchangeable")
    about_examples = needs in OF_LABELS or needs in (
        "replicates",
        "swaps",
        "losses",
        "mean_losses",
        *OF_UNITS,
    )
    if pair.difference.of_seeds and about_examples:
        return Message("caution.trained_models")
    if fits is None:
        return None
    if needs == "folds":
        return Message("caution.shared_training_data")
    if fits.kind == "datasets":
        if len(fits.values) < 6 and needs == "blocks":
            return Message("caution.few_datasets", n=len(fits.values))
        return Message("caution.one_scale") if needs == "mean_losses" else None
    if needs in ("blocks", "few_blocks", "ranked"):
        return Message(f"caution.shared_by.{fits.kind}")
    return Message("caution.fitted_models") if about_examples else None
