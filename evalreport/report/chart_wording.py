"""The sentences beside charts of single predictions, p-values and the sets behind F1, in one place."""

from __future__ import annotations

SCORES = (
    "Scores of the positive class upwards, of the negative class downwards, each as a share of its class; the further "
    "apart the two lie, the better they are told apart."
)
PREDICTED = (
    "Predicted against true values; on the dashed diagonal both agree. Of many examples some are drawn: evenly along "
    "the predictions, and those with the largest errors."
)
RESIDUALS = (
    "Errors (predicted \u2212 true) against the predictions. The line is their mean in bins of equal size: where it "
    "leaves 0 the model is wrong on average; a funnel means that errors grow with the values."
)
VALUE_CALIBRATION = (
    "Mean true value against the mean prediction, in bins of equal size. On the dashed diagonal predictions are right "
    "on average, whatever they are."
)
P_VALUES = (
    "The darker, the smaller the p-value. The word is the verdict on the row\u2019s model seen from the column\u2019s; "
    "n.d.: not distinguishable."
)
F1_AT_RECALL = (
    "F1 against precision at fixed recall. F1 stays near the smaller of the two; on the dotted diagonal F1 is the "
    "precision, which holds where precision and recall meet."
)


def bin_limits(level: str) -> str:
    """What the intervals of the bins are."""
    return f" Vertical lines: Student\u2019s t {level} intervals of the mean, each bin by itself."


def panels_left_out(shown: int, models: int) -> str:
    """How many models have no panel."""
    return f" The first {shown} of {models} models; the others stand in results.json."


def count_sets(model: str) -> str:
    """What the set diagram shows."""
    return (
        f"The examples of the positive class and those that {model} predicts to be positive, true to area. F1 is twice "
        "the overlap over the sum of both sets, so the true negatives have no part in it."
    )
