"""A metric's definition with this model's counts filled in, so that a reader can check the number by hand."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from evalreport.engine.tables import margins_of
from evalreport.metrics.estimate import Estimate

COUNTS = ("TP", "FP", "FN", "TN")


def filled_in(estimate: Estimate, code: int | None) -> str | None:
    """Write the formula with counts, or None where the metric is no function of a few counts.

    Parameters
    ----------
    estimate
        With its table.
    code
        The class that counts as positive; None for metrics of the whole table.

    Examples
    --------
    >>> _with_counts("2 TP / (2 TP + FP + FN)", {"TP": 6, "FP": 12, "FN": 2, "TN": 130})
    '2*6 / (2*6 + 12 + 2)'
    """
    if estimate.table is None or estimate.quantity.average is not None:
        return None
    table = estimate.table
    if estimate.metric.family == "binary_table" and code is not None:
        tp, true, predicted = margins_of(table)[:, code]
        tn = table.sum() - true - predicted + tp
        counts = dict(zip(COUNTS, (tp, predicted - tp, true - tp, tn), strict=True)) | {"n": table.sum()}
    elif estimate.metric.family == "table" and estimate.metric.proportion is not None:
        right, n = np.trace(table), table.sum()
        counts = {"right": right, "wrong": n - right, "n": n}
    else:
        return None
    return _with_counts(estimate.metric.formula, counts)


def _with_counts(
    formula: str, counts: dict[str, float] | dict[str, int] | dict[str, npt.NDArray[np.float64]]
) -> str:
    names = "|".join(counts)
    text = re.sub(rf"(\d) ({names})\b", r"\1*\2", formula)
    return re.sub(rf"\b({names})\b", lambda match: f"{float(counts[match[1]]):g}", text)
