"""Cells in which the leading interval misses outside the situations of ``research.studies.shortfalls``, and why.

Every other cell that misses is one of those in which the run warns, with what was measured. What stands here has to
miss: ``tests/intervals/test_shortfalls.py`` holds both.
"""

from __future__ import annotations

from collections.abc import Mapping

Cell = tuple[str, int, str, str, str]
"""Design, size, kind, model, metric: ``research.studies.rows.Row.key``."""

ONE_OUTCOME = (
    "three failures alone have the chance 6.1 %, so coverage jumps there; `clopper_pearson` guarantees 95 %"
)
CHANCE_OF_A_SUITE = "chance: `suite_t` covered 94.0 % in 40,000 further data sets of this cell"
CHANCE = "chance: `logit` covered 94.7 % in 10,000 further data sets of this cell"

Where = tuple[str, int, str, str]
"""Design, size, kind, model."""

_LISTED: Mapping[str, Mapping[Where, tuple[str, ...]]] = {
    ONE_OUTCOME: {("p = 0.99", 100, "value", "a"): ("accuracy",)},
    CHANCE: {("prevalence 0.1, AUC 0.85", 1000, "value", "a"): ("roc_auc",)},
    CHANCE_OF_A_SUITE: {("suite", 5, "value", "a"): ("mean_outcome",)},
}
"""By reason: the metrics that miss there."""

KNOWN_LIMITS: Mapping[Cell, str] = {
    (*where, metric): reason
    for reason, cells in _LISTED.items()
    for where, metrics in cells.items()
    for metric in metrics
}
"""Cell by cell, why the leading interval leads all the same."""


FEW_ERRORS = (
    "a few errors carry the sum, and so few examples do not tell heavy tails from luck; nothing measured held"
)
FEW_POSITIVES = (
    "20 positives; average precision is biased upwards there, and subtracting the bias did not mend it"
)
ALIKE = "few examples that are much alike do not show how much: a longer series does; a run says so (`few_in_time`)"
FEW_SEEDS = "few seeds say too little of how far training moves two unlike algorithms: more seeds do"

FAR_RUNS = (
    "the alarm's promise is of runs that vary about normally; with such tails single runs lie far out by themselves:"
    " declare more (`--between-runs`) or a floor; a run quotes the rate beside the promise"
)

_PROMISES: Mapping[str, tuple[str, ...]] = {
    FAR_RUNS: tuple(
        f"false alarm in {runs} runs, heavy tails (t, 4 df), {accepted} of 1,000 accepted, sd {sd}"
        for runs, accepted, sd in ((365, 7, "0.02"), (365, 7, "0.01"), (52, 3, "0.02"))
    ),
    FEW_ERRORS: (
        *(f"t3 errors, n = 30: {what}" for what in ("mse", "rmse", "difference of mse", "difference of r2")),
        *(
            f"skewed errors, n = 30: {what}"
            for what in ("mae", "mse", "rmse", "r2", "difference of mse", "difference of r2")
        ),
        "skewed errors, n = 100: difference of mse",
    ),
    FEW_POSITIVES: ("prevalence 0.02, AUC 0.85, n = 1000: average_precision of b",),
    FEW_SEEDS: ("an equally good one, 5 seeds named alike: decided",),
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
REASONS: Mapping[str, str] = {
    promise: reason for reason, promises in _PROMISES.items() for promise in promises
}
"""By promise of docs/promises.csv, why its rate is beyond its limit."""
