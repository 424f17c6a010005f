"""Where the leading interval is known to cover less than it should, and why it leads all the same.

A cell of the study in which the leading interval misses has to stand here, and what stands here has to miss:
``tests/intervals/test_coverage_table.py`` holds both.
"""

from __future__ import annotations

from collections.abc import Mapping

Cell = tuple[str, int, str, str, str]
"""Design, size, kind, model, metric: ``studies.rows.Row.key``."""

ONE_OUTCOME = (
    "three failures alone have the chance 6.1 %, so coverage jumps there; `clopper_pearson` guarantees 95 %"
)
SKEWED_CLUSTERS = (
    "clusters of very unlike size whose values are skewed: the few largest seldom hold the tail; the report warns by"
    " the effective number of clusters"
)
CHANCE = "chance: `logit` covered 94.7 % in 10,000 further data sets of this cell"
TEN_POSITIVES = "ten positives near an area of 1: every method on offer is short by as much"
DIFFERENCES = (
    "BCa leads by the program's fixed rules; on few examples `normal` and `bootstrap_normal` stand nearer"
)
FEW_OF_A_CLASS = (
    "a class with a handful of examples: no method knows the errors it has not seen; the report warns"
)
BIASED_UPWARDS = (
    "average precision of a small sample is biased upwards; BCa mends most of it, the others less"
)
SKEWED_LOSSES = (
    "skewed losses: a sample of this size seldom holds the tail; `bootstrap_bca` beside it is a little nearer"
)
SKEWED_DIFFERENCES = (
    "skewed losses: a sample of this size seldom holds the tail, and no method on offer makes up for it"
)
HEAVY_TAILS = "squared or heavy-tailed errors: no method knows a tail that the sample does not hold"

Where = tuple[str, int, str, str]
"""Design, size, kind, model."""

_LISTED: Mapping[str, Mapping[Where, tuple[str, ...]]] = {
    ONE_OUTCOME: {
        ("p = 0.99", 100, "value", "a"): ("accuracy",),
    },
    SKEWED_CLUSTERS: {
        ("clusters, 400 to 10, skewed", 8, "value", "a"): ("accuracy", "f1", "mcc"),
        ("clusters, 400 to 10, skewed", 20, "value", "a"): ("accuracy", "f1", "mcc"),
    },
    CHANCE: {
        ("prevalence 0.1, AUC 0.85", 1000, "value", "a"): ("roc_auc",),
    },
    TEN_POSITIVES: {
        ("(10, 90), AUC 0.97", 100, "difference", "a"): ("roc_auc",),
    },
    DIFFERENCES: {
        ("prevalence 0.5, TPR 0.8, FPR 0.2", 30, "difference", "a"): (
            "f1",
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.2, TPR 0.7, FPR 0.1", 30, "difference", "a"): (
            "f1",
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.2, TPR 0.7, FPR 0.1", 100, "difference", "a"): (
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.1, TPR 0.7, FPR 0.05", 30, "difference", "a"): (
            "f1",
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.1, TPR 0.7, FPR 0.05", 100, "difference", "a"): (
            "f1",
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.2, TPR 0.95, FPR 0.02", 30, "difference", "a"): (
            "f1",
            "mcc",
            "balanced_accuracy",
        ),
        ("prevalence 0.2, TPR 0.95, FPR 0.02", 100, "difference", "a"): (
            "mcc",
            "balanced_accuracy",
        ),
        ("three classes, even", 30, "difference", "a"): (
            "f1_macro",
            "f1_weighted",
            "balanced_accuracy",
            "mcc",
        ),
        ("three classes, one rare", 30, "difference", "a"): (
            "f1_macro",
            "f1_weighted",
            "balanced_accuracy",
            "mcc",
        ),
        ("three classes, one rare", 100, "difference", "a"): (
            "f1_macro",
            "balanced_accuracy",
        ),
        ("prevalence 0.5, AUC 0.85", 30, "difference", "a"): ("average_precision",),
        ("prevalence 0.5, AUC 0.85", 100, "difference", "a"): ("average_precision",),
        ("prevalence 0.1, AUC 0.85", 100, "difference", "a"): ("average_precision",),
        ("normal errors", 30, "difference", "a"): (
            "rmse",
            "r2",
        ),
        ("normal errors", 100, "difference", "a"): (
            "rmse",
            "r2",
        ),
        ("skewed errors", 30, "difference", "a"): (
            "rmse",
            "r2",
        ),
        ("skewed errors", 100, "difference", "a"): (
            "rmse",
            "r2",
        ),
        ("skewed errors", 1000, "difference", "a"): (
            "rmse",
            "r2",
        ),
    },
    FEW_OF_A_CLASS: {
        ("prevalence 0.2, TPR 0.7, FPR 0.1", 30, "value", "a"): ("balanced_accuracy",),
        ("prevalence 0.1, TPR 0.7, FPR 0.05", 30, "value", "a"): (
            "mcc",
            "cohen_kappa",
            "balanced_accuracy",
        ),
        ("prevalence 0.2, TPR 0.95, FPR 0.02", 100, "value", "a"): ("balanced_accuracy",),
        ("three classes, one rare", 30, "value", "a"): (
            "f1_macro",
            "balanced_accuracy",
        ),
        ("three classes, one rare", 100, "value", "a"): ("balanced_accuracy",),
    },
    BIASED_UPWARDS: {
        ("prevalence 0.5, AUC 0.85", 30, "value", "b"): ("average_precision",),
        ("prevalence 0.5, AUC 0.85", 100, "value", "b"): ("average_precision",),
    },
    SKEWED_LOSSES: {
        ("prevalence 0.5, AUC 0.85", 30, "value", "a"): (
            "log_loss",
            "brier",
        ),
        ("prevalence 0.5, AUC 0.85", 30, "value", "b"): (
            "log_loss",
            "brier",
        ),
        ("prevalence 0.1, AUC 0.85", 100, "value", "a"): (
            "log_loss",
            "brier",
        ),
        ("prevalence 0.1, AUC 0.85", 100, "value", "b"): (
            "log_loss",
            "brier",
        ),
    },
    SKEWED_DIFFERENCES: {
        ("prevalence 0.5, AUC 0.85", 30, "difference", "a"): ("log_loss",),
        ("prevalence 0.1, AUC 0.85", 100, "difference", "a"): (
            "log_loss",
            "brier",
        ),
    },
    HEAVY_TAILS: {
        ("normal errors", 30, "value", "a"): (
            "mse",
            "rmse",
            "r2",
        ),
        ("normal errors", 100, "value", "a"): ("mse",),
        ("skewed errors", 30, "value", "a"): (
            "mae",
            "mse",
            "rmse",
            "r2",
        ),
        ("skewed errors", 30, "difference", "a"): ("mse",),
        ("skewed errors", 100, "value", "a"): (
            "mae",
            "mse",
            "rmse",
            "r2",
        ),
        ("skewed errors", 100, "difference", "a"): ("mse",),
        ("skewed errors", 1000, "value", "a"): (
            "mae",
            "mse",
            "rmse",
            "r2",
        ),
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
