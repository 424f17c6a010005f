"""One evaluation for each data set and level, shared by all tests of the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import evalreport
from evalreport.results import Results

from .records import DATA, DATASETS

Evaluated = Callable[..., Results]

# The levels at which only proportions and AUC have reference intervals: few replicates will do.
FEW_RESAMPLES = 200
RESAMPLES = 2000


@pytest.fixture(scope="session")
def evaluated() -> Evaluated:
    """Return a function (data set, level) -> Results with every metric, interval and test, computed once."""
    known: dict[tuple[str, float], Results] = {}

    def results_of(dataset: str, level: float = 0.95) -> Results:
        if (dataset, level) not in known:
            known[dataset, level] = _evaluate(dataset, level)
        return known[dataset, level]

    return results_of


def _evaluate(dataset: str, level: float) -> Results:
    file, positive = DATASETS[dataset]
    options = evalreport.Options(
        positive=positive,
        confidence=level,
        resamples=RESAMPLES if level == 0.95 else FEW_RESAMPLES,
        intervals=("all",),
        tests=("all",),
    )
    return evalreport.evaluate(DATA / "predictions" / file, options=options)
