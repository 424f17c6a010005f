"""The sentences about curves and thresholds, in one place, as `wording` has those of the rest."""

from __future__ import annotations

ERROR_RATES = (
    "Solid: false acceptance (the false positive rate); dashed: false rejection (the false negative rate), as the "
    "threshold moves. The marker is the equal error rate. Scores that crowd near 0 are on a logarithmic axis."
)
RELIABILITY = (
    "Share that came true against the mean forecast, in ten bins of equal width; bars: how many examples each bin "
    "holds. On the dashed diagonal probabilities mean what they say."
)
RELIABILITY_OF_CLASSES = (
    " Of several classes: the largest probability, and whether that class is the true one."
)
REJECTION = (
    "Accuracy on the examples that are kept when those with the least certain answers are rejected first."
)
SWEEP = "F1 as the threshold of the probability moves."
GAIN = (
    "Share of the positives found among the highest scores. Dashed: looking at random, and the best that any model "
    "could do."
)
LIFT = "How many times as frequent positives are among the highest scores as among all examples."
FIXED_RATES = (
    "Compare models here where their curves cross. Recall at a false positive rate is read from the curve (between two "
    "thresholds in a straight line), with its pointwise interval; precision at a recall is that of the highest "
    "threshold that reaches it."
)
HIGHLIGHTED = (
    "The models that rank first (and the baseline) are drawn in colour, the others in grey: lines of so many models "
    "could not be told apart. The figures of every model stand in the tables."
)
CRITERIA = {
    "youden": "Youden index (TPR \u2212 FPR)",
    "closest_topleft": "Distance from the perfect corner",
    "cost": "Cost by example",
    "eer": "Equal error rate",
}


def roc_band(level: str) -> str:
    """What the bands around ROC curves are."""
    return f" Bands: {level} pointwise, at each false positive rate by itself."


def roc_thresholds(model: str) -> str:
    """What stands beside the curve of the model that ranks first."""
    return (
        f" Beside the curve of {model}: thresholds, and dotted the line of equal accuracy that touches it, at its most"
        " accurate threshold."
    )


def reliability_limits(level: str) -> str:
    """What the intervals of the bins are."""
    return f" Vertical lines: Wilson\u2019s {level} intervals, each bin by itself."


def panels_left_out(shown: int, models: int) -> str:
    """How many models have no panel."""
    return f" The first {shown} of {models} models; the others stand in results.json."


def best_thresholds(level: str) -> str:
    """What the values at the best thresholds are, and what the intervals beside them."""
    return (
        "Each threshold is chosen on the examples that it is judged on, so the values are too good. The brackets say "
        f"what the same threshold may give on fresh examples ({level}; the threshold is chosen anew in every bootstrap "
        "replicate), so they lie mostly below the value, or above it for costs and distances. The equal error rate has "
        "its own interval, where it is among the metrics. Choose thresholds on validation data."
    )


def more_curves(left: int) -> str:
    """How many pairs are not listed."""
    return f"{left} more pairs stand in results.json."


def rejection_table(level: str) -> str:
    """What the numbers of the accuracy-rejection curves are."""
    return (
        "Area: mean accuracy of what is kept, over all shares kept. Error rate on the surest share of the examples, "
        f"with Wilson\u2019s {level} interval where examples are independent."
    )
