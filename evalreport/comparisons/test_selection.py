"""Which test leads, by sampling and evidence, and which tests are shown with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from evalreport.comparisons.example_tests import NEGLIGIBLE
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.comparisons.test_needs import lacks
from evalreport.intervals.leaders import ORDERED, OWN_TEST_SETS, situation
from evalreport.metrics.evidence import Judged, TwoProportions
from evalreport.metrics.registry import METRICS, Quantity, definition

DRAWN: Mapping[str, Callable[[Pair], bool]] = {
    "": lambda _: True,
    "cross-validation": lambda pair: _of_fits(pair, "cross-validation"),
    "repeated hold-out": lambda pair: _of_fits(pair, "repeated-holdout"),
    "5x2 cross-validation": lambda pair: _of_fits(pair, "5x2cv"),
    "data sets": lambda pair: _of_fits(pair, "datasets"),
    "training seeds": lambda pair: pair.difference.of_seeds,
    OWN_TEST_SETS: lambda pair: pair.independent,
    "tasks": lambda pair: pair.difference.sampling.tasks is not None,
    ORDERED: lambda pair: pair.difference.sampling.order is not None,
    "clusters": lambda pair: pair.difference.sampling.clusters is not None,
    "weighted examples": lambda pair: pair.difference.sampling.weighted,
}
"""What is drawn, by the words of the table; empty: anything, which below the other rows is single examples."""


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
    if TESTS[test].needs not in ("losses", "judged"):
        return False
    error = delta.corrected_error
    apart = abs(delta.value) > NEGLIGIBLE * max(abs(pair.a.value), abs(pair.b.value))
    return error is None or (apart and error <= NEGLIGIBLE * abs(delta.value))


def its_interval_leads(pair: Pair, test: str) -> bool:
    """Whether the interval of the same name leads."""
    return pair.recommended_interval == test


def applies(pair: Pair, test: str) -> bool:
    """Whether the data have what the test needs."""
    return lacks(pair, test) is None


@dataclass(frozen=True, slots=True)
class LeadingTest:
    """One row of the table of leading tests.

    Attributes
    ----------
    test
        Its name, or a function that chooses it by the metric.
    drawn
        What is drawn, a key of ``DRAWN``.
    of
        The type of the difference's evidence; ``object`` for any.
    where
        A further condition, of the pair and the test.
    """

    test: str | Callable[[Pair], str]
    drawn: str = ""
    of: type = object
    where: Callable[[Pair, str], bool] | None = None


LEADERS: tuple[LeadingTest, ...] = (
    LeadingTest("corrected_resampled_t", "cross-validation"),
    LeadingTest("corrected_resampled_t", "repeated hold-out"),
    LeadingTest("5x2cv_f", "5x2 cross-validation"),
    LeadingTest("wilcoxon", "data sets"),
    LeadingTest("seeds_t", "training seeds", where=its_interval_leads),
    LeadingTest("hac_t", ORDERED, where=its_interval_leads),
    LeadingTest("interval", ORDERED),
    LeadingTest("weighted_t", "weighted examples", where=its_interval_leads),
    LeadingTest("suite_t", "tasks", where=its_interval_leads),
    LeadingTest("cluster_t", "clusters", where=its_interval_leads),
    LeadingTest("cr2_t", "clusters", where=its_interval_leads),
    LeadingTest("ppi", of=Judged, where=its_interval_leads),
    LeadingTest("two_proportions_z", OWN_TEST_SETS, TwoProportions),
    LeadingTest("interval", OWN_TEST_SETS),
    LeadingTest("interval", "weighted examples"),
    LeadingTest("interval", "clusters"),
    LeadingTest("mcnemar_midp", where=applies),
    LeadingTest("score_recalls", where=applies),
    LeadingTest(of_metric),
)
"""Read from the top: the first row that fits names the test that leads."""


def recommended_test(pair: Pair | None, quantity: Quantity) -> str:
    """Return the test that leads for a quantity in the layout of a pair."""
    if pair is None:
        return definition(quantity).inference.test
    drawn = tuple(word for word, holds in DRAWN.items() if holds(pair))
    evidence: type = type(pair.difference.evidence)
    for row in _rows_of(evidence, drawn):
        if not isinstance(row.test, str):
            return row.test(pair)
        if row.where is None or row.where(pair, row.test):
            return row.test
    raise AssertionError("the last row fits every pair")


@cache
def _rows_of(evidence: type, drawn: tuple[str, ...]) -> tuple[LeadingTest, ...]:
    """Return the rows of the table that are of a type of evidence and of the sampling."""
    return tuple(row for row in LEADERS if row.drawn in drawn and issubclass(evidence, row.of))


def leads_for(name: str) -> str:
    """Say in which rows of the table a test leads, numbered from the top; empty where in none."""
    of_metrics = {metric.inference.test for metric in METRICS.values()}
    found = []
    for number, row in enumerate(LEADERS, start=1):
        text = f"{number} {situation(row.drawn, row.of, row.where)}"
        if row.test == name:
            found.append(text)
        elif not isinstance(row.test, str) and name in of_metrics:
            found.append(f"{text}, by the metric")
    return "; ".join(found)


BESIDE_CROSS_VALIDATION = ("mcnemar_midp", "wilcoxon", "bayes_correlated_t")
"""Shown beside the test of cross-validation instead of its own ``beside``."""


def beside(first: str, pair: Pair | None) -> tuple[str, ...]:
    """Return the tests shown beside the recommended one."""
    test = TESTS[first]
    if pair is not None and pair.design == "cross-validation" and test.knows_folds:
        return BESIDE_CROSS_VALIDATION
    return test.beside
