"""The no-information rate: the error to be expected if predictions and truths were independent of each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.learning.replicates import example_losses
from evalreport.metrics.quantities import Quantity, definition
from evalreport.metrics.views import ModelView

Floats = npt.NDArray[np.float64]

MOST_PAIRED = 4_000
"""Up to so many examples every truth is put beside every prediction; above, only where a formula does it."""


def no_information_rate(apparent: ModelView, quantity: Quantity) -> float | None:
    """Return gamma, the mean loss over all pairs of a true value and a prediction of the fit to all the data.

    Parameters
    ----------
    apparent
        The examples with the predictions of the fit to all of them.
    quantity
        A mean of losses, or the area under the ROC curve.

    Returns
    -------
    float or None
        None where the quantity has no such rate, or there are too many pairs.

    References
    ----------
    Efron and Tibshirani (1997), J Am Stat Assoc 92:548, equation 27.
    """
    metric = definition(quantity)
    if metric.is_auc:
        return metric.uninformed
    if apparent.true is None:
        return None  # outcomes were judged elsewhere: there is no truth to pair with
    if metric.mean_over_pairs is not None:
        return float(metric.mean_over_pairs(apparent))
    if apparent.true.dtype.kind == "i":
        return _of_classes(apparent, quantity)
    if len(apparent.true) > MOST_PAIRED:
        return None
    means = [
        example_losses(replace(apparent, true=np.full_like(apparent.true, y)), quantity).mean()
        for y in apparent.true
    ]
    return float(np.mean(means))


def _of_classes(apparent: ModelView, quantity: Quantity) -> float:
    """Weigh the mean loss against each class by the share of the class: all pairs, class by class."""
    assert apparent.true is not None
    classes, counts = np.unique(apparent.true, return_counts=True)
    shares = counts / counts.sum()
    means = [
        example_losses(replace(apparent, true=np.full_like(apparent.true, code)), quantity).mean()
        for code in classes
    ]
    return float((shares * np.array(means)).sum())
