"""Cells in which the leading interval misses outside the situations of ``research.studies.shortfalls``, and why.

Every other cell that misses is one of those in which the run warns, with what was measured. What stands here has to
miss: ``tests/intervals/test_shortfalls.py`` holds both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Cell = tuple[str, int, str, str, str]
"""Design, size, kind, model, metric: ``research.studies.rows.Row.key``."""

ONE_OUTCOME = (
    "`short_interval` (a remark): three failures alone have the chance 6.1 %, so coverage jumps there;"
    " `clopper_pearson` guarantees 95 %"
)
KNOWN_LIMITS: Mapping[Cell, str] = {("p = 0.99", 100, "value", "a", "accuracy"): ONE_OUTCOME}
"""Cell by cell, what a run says, and why the leading interval leads all the same."""


def named(kind: str, model: str, metric: str) -> str:
    """Name what is estimated, as the promises do."""
    return f"{'difference of ' * (kind == 'difference')}{metric}{' of b' * (model == 'b')}"


_AGAIN = (
    ("prevalence 0.1, AUC 0.85", 1000, "value", "a", "roc_auc"),
    ("suite", 5, "value", "a", "mean_outcome"),
    ("prevalence 0.5, AUC 0.85", 100, "value", "b", "average_precision"),
    ("prevalence 0.5, AUC 0.85", 100, "difference", "a", "average_precision"),
    ("skewed errors", 100, "difference", "a", "r2"),
)
MEASURED_AGAIN: Mapping[Cell, str] = {key: f"{key[0]}, n = {key[1]}: {named(*key[2:])}" for key in _AGAIN}
"""Cells that missed and were measured once more, with another seed and at least four times the data sets: that promise
of docs/promises.csv decides, and they are no limits while it holds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Why a promised rate is beyond its limit, and what a run says in that situation, with the measured rate.

    ``said``: the code of a warning, or of a sentence of the audit.
    """

    why: str
    said: str


OF_ERRORS = (
    "a few errors carry the sum, and so few examples do not tell heavy tails from luck; nothing measured held"
    " ([known limits](coverage.md#known-limits))"
)
FEW_ERRORS = Limit(OF_ERRORS, "short_interval")
FEW_ERRORS_OF_BOTH = Limit(OF_ERRORS, "short_difference_interval")
FEW_LARGE = Limit("a few errors carry the sum", "few_large_losses")
FEW_POSITIVES = Limit(
    "20 positives; average precision is biased upwards there, and subtracting the bias did not mend it",
    "short_interval",
)
ALIKE = Limit("few examples that are much alike do not show how much: a longer series does", "few_in_time")
FAR_RUNS = Limit(
    "the alarm's promise is of runs that vary about normally; with such tails single runs lie far out by themselves:"
    " declare more (`--between-runs`) or a floor",
    "alarm.promise",
)

_PROMISES: Mapping[Limit, tuple[str, ...]] = {
    FAR_RUNS: tuple(
        f"false alarm in {runs} runs, heavy tails (t, 4 df), {accepted} of 1,000 accepted, sd {sd}"
        for runs, accepted, sd in ((365, 7, "0.02"), (365, 7, "0.01"), (52, 3, "0.02"))
    ),
    FEW_ERRORS: (
        *(f"t3 errors, n = 30: {what}" for what in ("mse", "rmse")),
        *(f"skewed errors, n = 30: {what}" for what in ("mae", "mse", "rmse", "r2")),
    ),
    FEW_ERRORS_OF_BOTH: tuple(
        f"{errors}, n = 30: difference of {metric}"
        for errors in ("t3 errors", "skewed errors")
        for metric in ("mse", "r2")
    ),
    FEW_LARGE: ("skewed errors, n = 100: difference of mse",),
    FEW_POSITIVES: ("prevalence 0.02, AUC 0.85, n = 1000: average_precision of b",),
    ALIKE: (
        "AR(1) of 0.5, n = 100: rmse",
        *(
            f"AR(1) of 0.8, n = 100: {what}"
            for what in (
                "mean_outcome",
                "difference of mean_outcome",
                "rmse",
                "difference of rmse",
                "f1",
                "roc_auc",
            )
        ),
        "AR(1) of 0.8, n = 500: rmse",
    ),
}
LIMITS: Mapping[str, Limit] = {
    promise: limit for limit, promises in _PROMISES.items() for promise in promises
}
"""By promise of docs/promises.csv, why its rate is beyond its limit, and what a run says."""
