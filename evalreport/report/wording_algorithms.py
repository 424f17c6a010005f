"""What the report says about algorithms: error estimates, bias and variance, criteria, learning curves."""

from __future__ import annotations

from collections.abc import Mapping

ESTIMATORS: Mapping[str, tuple[str, str]] = {
    "resubstitution": ("Resubstitution", "each fit on its own training rows: always too low"),
    "holdout": ("Hold-out", "fits on the rest, tested on rows held out"),
    "repeated_holdout": ("Repeated hold-out", "mean over random hold-outs"),
    "cv": ("Cross-validation", "every example tested once by a fit to the other folds"),
    "stratified_cv": (
        "Cross-validation, stratified",
        "the same, each class shared out evenly over the folds",
    ),
    "loocv": ("Leave one out", "every example tested by a fit to all others"),
    "nested_cv": ("Nested cross-validation", "parameters chosen anew inside the training part of each fold"),
    "bootstrap_optimism": (
        "Bootstrap, optimism (B1)",
        "resubstitution plus the mean optimism of the replicates",
    ),
    "bootstrap_oob": ("Bootstrap, out of bag", "each example by the replicates that were not trained on it"),
    "bootstrap_632": (".632", "0.368 resubstitution + 0.632 out of bag"),
    "bootstrap_632plus": (".632+", "the same, the weight growing with the overfitting R"),
}
"""Name and meaning of each estimator."""

ESTIMATES = (
    "All of these estimate the error of the algorithm on new examples, not of one fitted model. Limits of folds and"
    " hold-outs are by the corrected t, which takes shared training rows into account; those of bootstrap estimates by"
    " Student’s t over examples, for these fits. How near each comes to the truth was measured (docs/estimators.md)."
)
POOLED = (
    "Over folds, counts and losses are pooled first (so F1 is that of the pooled table); areas under curves are"
    " averaged, since scores of different fits have no common scale."
)
PLUS = (
    "R: relative overfitting, 0 where training and out-of-bag error are equal, 1 where nothing was learned. γ: the"
    " no-information rate. ω: the weight of the out-of-bag error."
)
NESTED = (
    "Each outer fold chose its own parameters, so the estimate is about the search and the algorithm together. For a"
    " final model, search once more on all rows."
)
CRITERIA = (
    "From training rows alone, each penalised for the model’s size; smaller is better, ▸ marks the choice. The"
    " values mean nothing by themselves and cannot be compared between criteria."
)
NOT_TO_BE_HAD = "Not from these files, but from a plan of `evalreport resample`: "

LOSSES: Mapping[str, str] = {
    "squared": "Squared loss",
    "brier": "Squared loss of probabilities (Brier)",
    "0-1": "0-1 loss (Domingos)",
    "kohavi_wolpert": "0-1 loss (Kohavi and Wolpert)",
}
DECOMPOSITION: Mapping[str, str] = {
    "squared": (
        "Expected loss = bias² + variance, exactly: bias² is the squared distance of the mean prediction from the"
        " truth, variance how far single replicates scatter about their mean (divisor K)."
    ),
    "0-1": (
        "The main prediction is the mode of the replicates; bias is how often it is wrong. Variance on unbiased"
        " examples adds errors, on biased ones it takes some away: expected loss = bias + unbiased − biased variance."
    ),
}
NOISE_INSIDE = "One truth for each example does not tell noise from bias: read bias² as bias² + noise."
NOISE_APART = "The noise was given, or measured on repeated inputs: expected loss = noise + bias² + variance."
AVERAGED = "Averaged: the loss of the mean (or main) prediction of all replicates, which is what bagging would leave."
MONTE_CARLO = "±: how far the figure moves with other replicates (their bootstrap)."
VARIABLE = (
    "The examples on which the replicates of a model differ most, by the variance of their predictions."
)
REPLICATES = (
    "Thin lines: single replicates. Thick line: their mean. Points: true values. The spread of the thin lines is the"
    " variance; the distance of the thick line from the truth is bias and noise."
)
COURSE = "Against complexity: as the model becomes more flexible, bias² falls and variance rises (or the other way)."

LEARNING = (
    "Solid: error on test rows, with a band from drawing examples and fits again. Dotted: error on the rows each fit"
    " was trained on. The ring marks the size at which the models are compared."
)
COMPLEXITY = (
    "Solid: error on test rows with its band. Dotted: error on training rows. The ring marks the complexity at which"
    " the models are compared."
)
AHEAD = (
    "Extrapolation: a + b·n⁻ᶜ fitted to the points, carried to twice the largest size (dashed). It holds only if the"
    " curve goes on as it has begun."
)
