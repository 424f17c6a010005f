"""Which test leads, by sampling and evidence, and which tests are shown with it."""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.comparisons.example_tests import NEGLIGIBLE
from evalreport.comparisons.registry import OF_UNITS, TESTS, Pair
from evalreport.comparisons.test_needs import lacks
from evalreport.intervals.leaders import Leader, by_sampling, rows_that_lead
from evalreport.metrics.evidence import TwoProportions
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.samplings import ORDERED, OWN_TEST_SETS

FITS: Mapping[str, str] = {
    "cross-validation": "cross-validation",
    "repeated-holdout": "repeated hold-out",
    "5x2cv": "5x2 cross-validation",
    "datasets": "data sets",
}
"""Designs whose fits are tested, by the words of the table."""


def drawn(pair: Pair) -> tuple[str, ...]:
    """Return what is drawn, in the words of the table; empty: any, which below the other rows is single examples."""
    words = [word for word in pair.difference.sampling.words if word not in FITS.values()]
    if pair.design in FITS and _of_fits(pair, pair.design):
        words.append(FITS[pair.design])
    if pair.independent:
        words.append(OWN_TEST_SETS)
    return ("", *words)


def _of_fits(pair: Pair, design: str) -> bool:
    """Say whether a pair has values on the fits of a design, which are no single examples."""
    fits = pair.difference.fits
    return pair.design == design and fits is not None and not fits.of_one_example


def of_metric(pair: Pair) -> str:
    """Return the metric's own test; the interval where it lacks something or finds no spread."""
    test = pair.difference.metric.inference.test
    return test if applies(pair, test) and not without_spread(pair, test) else "interval"


def without_spread(pair: Pair, test: str) -> bool:
    """Whether nothing varies that a test takes an error from, as where all losses differ by the same."""
    delta = pair.difference
    if TESTS[test].needs not in ("losses", "mean_losses", "student"):
        return False
    error = delta.corrected_error
    apart = abs(delta.value) > NEGLIGIBLE * max(abs(pair.a.value), abs(pair.b.value))
    return error is None or (apart and error <= NEGLIGIBLE * abs(delta.value))


def of_sampling(pair: Pair) -> str | None:
    """Return the t test of the sampling, where the interval of the same name leads; else None."""
    leads = pair.recommended_interval
    return leads if leads in TESTS and TESTS[leads].needs in OF_UNITS else None


def applies(pair: Pair, test: str) -> bool:
    """Whether the data have what the test needs."""
    return lacks(pair, test) is None


LEADERS: tuple[Leader, ...] = (
    Leader("corrected_resampled_t", "cross-validation"),
    Leader("corrected_resampled_t", "repeated hold-out"),
    Leader("5x2cv_f", "5x2 cross-validation"),
    Leader("wilcoxon", "data sets"),
    Leader(of_sampling),
    Leader("interval", ORDERED),
    Leader("two_proportions_z", OWN_TEST_SETS, TwoProportions),
    Leader("interval", OWN_TEST_SETS),
    Leader("interval", "weighted examples"),
    Leader("interval", "clusters"),
    Leader("mcnemar_midp", where=applies),
    Leader("score_recalls", where=applies),
    Leader(of_metric),
)
"""Read from the top: the first row that fits names the test that leads."""


def recommended_test(pair: Pair | None, quantity: Quantity) -> str:
    """Return the test that leads for a quantity in the layout of a pair."""
    if pair is None:
        return definition(quantity).inference.test
    words, evidence = drawn(pair), pair.difference.evidence
    for row in (row for row in LEADERS if row.drawn in words and isinstance(evidence, row.of)):
        if not isinstance(row.name, str):
            if (name := row.name(pair)) is not None:
                return name
        elif row.where is None or row.where(pair, row.name):
            return row.name
    raise AssertionError("the last row fits every pair")


def leads_for(name: str) -> str:
    """Say in which rows of the table a test leads, numbered from the top; empty where in none."""
    if TESTS[name].needs in OF_UNITS:
        return "; ".join(by_sampling(name, LEADERS, of_sampling))
    of_metrics = {metric.inference.test for metric in METRICS.values()}
    return "; ".join(rows_that_lead(LEADERS, name, {of_metric: of_metrics}))


BESIDE_CROSS_VALIDATION = ("mcnemar_midp", "wilcoxon", "bayes_correlated_t")
"""Shown beside the test of cross-validation instead of its own ``beside``."""


def beside(first: str, pair: Pair | None) -> tuple[str, ...]:
    """Return the tests shown beside the recommended one."""
    test = TESTS[first]
    if pair is not None and pair.design == "cross-validation" and test.knows_folds:
        return BESIDE_CROSS_VALIDATION
    return test.beside
