"""One evaluation for each data set and level, shared by all tests of the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import evalreport
from evalreport.results import Results

from .lookup import TANGO
from .records import DATA, DATASETS

Evaluated = Callable[..., Results]

# The levels at which only proportions and AUC have reference intervals: few replicates will do.
FEW_RESAMPLES = 200
RESAMPLES = 2000


@pytest.fixture(scope="session")
def evaluated() -> Evaluated:
    """Return a function (data set, level, interval) -> Results with every metric and test, computed once.

    A comparison carries one interval: naming a method (``tango``) shows that one instead of the test's own.
    """
    known: dict[tuple[str, float, str], Results] = {}

    def results_of(dataset: str, level: float = 0.95, interval: str = "all") -> Results:
        if (dataset, level, interval) not in known:
            known[dataset, level, interval] = _evaluate(dataset, level, interval)
        return known[dataset, level, interval]

    return results_of


def _evaluate(dataset: str, level: float, interval: str) -> Results:
    file, positive = DATASETS[dataset]
    options = evalreport.Options(
        positive=positive,
        confidence=level,
        resamples=RESAMPLES if level == 0.95 and interval != TANGO else FEW_RESAMPLES,
        intervals=(interval,),
        tests=("all",),
    )
    return evalreport.evaluate(DATA / "predictions" / file, options=options)
