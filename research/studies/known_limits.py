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
CHANCE_OF_A_JUDGE = "chance: `ppi` covered 94.6 % in 10,000 further data sets of this cell"
CHANCE_OF_A_SUITE = "chance: `suite_t` covered 94.0 % in 40,000 further data sets of this cell"
CHANCE = "chance: `logit` covered 94.7 % in 10,000 further data sets of this cell"

Where = tuple[str, int, str, str]
"""Design, size, kind, model."""

_LISTED: Mapping[str, Mapping[Where, tuple[str, ...]]] = {
    ONE_OUTCOME: {
        ("p = 0.99", 100, "value", "a"): ("accuracy",),
    },
    CHANCE: {
        ("prevalence 0.1, AUC 0.85", 1000, "value", "a"): ("roc_auc",),
    },
    CHANCE_OF_A_SUITE: {
        ("suite", 5, "value", "a"): ("mean_outcome",),
    },
    CHANCE_OF_A_JUDGE: {
        ("judge, sensitivity 0.9", 500, "value", "a"): ("mean_gold",),
    },
}
"""By reason: the metrics that miss there."""

KNOWN_LIMITS: Mapping[Cell, str] = {
    (*where, metric): reason
    for reason, cells in _LISTED.items()
    for where, metrics in cells.items()
    for metric in metrics
}
"""Cell by cell, why the leading interval leads all the same."""
