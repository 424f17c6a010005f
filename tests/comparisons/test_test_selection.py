"""The table of tests that lead."""

from __future__ import annotations

from evalreport.comparisons.registry import TESTS
from evalreport.comparisons.test_selection import FITS, LEADERS
from evalreport.metrics.registry import METRICS
from evalreport.samplings import WORDS


def test_every_row_of_the_table_names_a_test_and_what_is_drawn() -> None:
    """A misspelled test or condition would only be seen on data that the row is for."""
    assert {row.name for row in LEADERS if isinstance(row.name, str)} <= set(TESTS)
    assert {row.drawn for row in LEADERS} <= {"", *FITS.values(), *WORDS}


def test_every_metric_names_a_registered_test_of_pairs() -> None:
    """The last row of the table leaves the choice to the metric."""
    assert all(TESTS[metric.inference.test].of_a_pair for metric in METRICS.values())
