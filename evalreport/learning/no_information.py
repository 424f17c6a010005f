"""The no-information rate: the error to be expected if predictions and truths were independent of each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.learning.replicates import LABEL_LOSSES, example_losses
from evalreport.metrics.quantities import Quantity
from evalreport.metrics.views import ModelView

Floats = npt.NDArray[np.float64]

KNOWN = {"roc_auc": 0.5}
"""What no information gives, where that is no mean over pairs of a truth and a prediction."""

MOST_PAIRED = 4_000
"""Up to so many examples every truth is put beside every prediction; above, only where a formula does it."""


def no_information_rate(apparent: ModelView, quantity: Quantity) -> float | None:
    """Return gamma, the mean loss over all pairs of a true value and a prediction of the fit to all the data.

    Parameters
    ----------
    apparent
        The examples with the predictions of the fit to all of them.
    quantity
        A mean of losses, or one of ``KNOWN``.

    Returns
    -------
    float or None
        None where the quantity has no such rate, or there are too many pairs.

    References
    ----------
    Efron and Tibshirani (1997), J Am Stat Assoc 92:548, equation 27.
    """
    if quantity.metric in KNOWN:
        return KNOWN[quantity.metric]
    if apparent.true is None:
        return None  # outcomes were judged elsewhere: there is no truth to pair with
    if apparent.true.dtype.kind == "i":
        return _of_classes(apparent, quantity)
    if quantity.metric == "mse":
        return _of_squares(apparent)
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
    if quantity.metric in LABEL_LOSSES:
        said = np.array([np.mean(apparent.y_pred == code) for code in classes])
        right = float((shares * said).sum())
        return right if quantity.metric == "accuracy" else 1.0 - right
    means = [
        example_losses(replace(apparent, true=np.full_like(apparent.true, code)), quantity).mean()
        for code in classes
    ]
    return float((shares * np.array(means)).sum())


def _of_squares(apparent: ModelView) -> float:
    """Add the two variances and the squared distance of the means: the mean of (y_i - h_j)^2 over all i, j."""
    assert apparent.true is not None
    assert apparent.y_pred is not None
    y, h = (np.asarray(values, dtype=np.float64) for values in (apparent.true, apparent.y_pred))
    return float(y.var() + h.var() + (y.mean() - h.mean()) ** 2)
