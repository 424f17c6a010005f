"""One evaluation for each data set and level, shared by all tests of the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import evalreport
from evalreport.schema.results import Results

from .records import DATA, DATASETS

Evaluated = Callable[..., Results]

# Closed forms draw nothing: what is drawn beside them may be few.
FEW_RESAMPLES = 20
TESTS = (
    "mcnemar", "mcnemar_corrected", "mcnemar_exact", "mcnemar_midp", "paired_t", "wilcoxon", "sign", "delong",
    "cochran_q", "binomial_exact",
)  # fmt: skip
"""Those whose closed form a record holds."""


@pytest.fixture(scope="session")
def evaluated() -> Evaluated:
    """Return a function (data set, level, interval) -> Results with every metric and TESTS, computed once.

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
    metrics: tuple[str, ...] = ()
    if interval != "all":
        metrics = ("accuracy",)  # other intervals of a pair are of right and wrong
    elif level != 0.95:
        metrics = ("accuracy", "roc_auc")  # the limits that the records have at other levels
    options = evalreport.Options(
        positive=positive,
        metrics=metrics,
        confidence=level,
        resamples=FEW_RESAMPLES,
        intervals=(interval,),
        tests=TESTS,
    )
    return evalreport.evaluate(DATA / "predictions" / file, options=options)
