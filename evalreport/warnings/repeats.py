"""Warnings about a column of ids that repeat, and about numbers that look like percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check

_ID = re.compile(r"(?:^|[_ .-])(?:id|ids|uid|uuid|guid|key)$|[a-z](?:ID|Id)$", re.ASCII)
_UNITS = re.compile(
    r"(?:^|[_ .-])(?:patient|customer|client|user|subject|person|member|participant|respondent|household|account"
    r"|session|conversation|document|speaker|author|hospital)s?(?:[_ .-]?(?:id|nr|no|number|code))?$",
    re.IGNORECASE,
)
_NO_UNIT = re.compile(
    r"class|label|categor|target|model|task|fold|run|seed|batch|experiment|version", re.IGNORECASE
)
"""Words in the name of an id that many rows share by design."""
LEAST_SCORES = 20
"""With fewer scores nothing is said of their scale."""
HUNDRED = (50.0, 200.0)
"""Between these, the ratio of medians is about a hundred."""


def _names_units(header: str) -> bool:
    """Say whether a column is named like the id of something that may have several rows.

    Examples
    --------
    >>> [_names_units(n) for n in ("customer_id", "CustomerID", "patient", "valid", "class_id", "region", "user no")]
    [True, True, True, False, False, False, True]
    """
    return bool((_ID.search(header) or _UNITS.search(header)) and not _NO_UNIT.search(header))


@check("ids_repeat", needs=("columns", "neighbours"))
def ids_repeat(predictions: Predictions, options: Options) -> Iterator[WarningRecord]:
    """Warn of ids, such as of customers, that several examples share, where no cluster is named."""
    if predictions.counts is not None or options.cluster is not None or options.order is not None:
        return
    sliced = {text.partition(":")[0] for text in options.slices}
    units = {h: c for h, c in predictions.metadata.items() if h not in sliced and _names_units(h)}
    if not units:
        return
    examples = np.unique(predictions.example, return_index=True)[1]
    for header, column in units.items():
        values = column.values[examples]
        empty = values < 0 if column.categories is not None else np.isnan(values)
        values = values[~empty]
        distinct = len(np.unique(values))
        if 1 < distinct < len(values):
            yield warning(
                "ids_repeat", about=(header,), column=header, distinct=distinct, examples=len(values)
            )


@check("like_percent", needs=("numbers",), of_models=True)
def like_percent(predictions: Predictions) -> Iterator[WarningRecord]:
    """Warn of scores from 0 to 100, and of predictions that are a hundred times the true values, or a hundredth."""
    truth = predictions.y_true
    for model in predictions.models:
        if predictions.task == "regression" and model.y_pred is not None and truth is not None:
            ratio = _times(np.asarray(model.y_pred, float), np.asarray(truth, float))
            if ratio is not None:
                way = "hundredfold" if ratio > 1 else "hundredth"
                yield warning("like_percent", way, about=(model.name,), model=model.name)
        elif predictions.task == "binary" and model.score is not None and model.proba is None:
            scores = np.asarray(model.score, float)
            if (
                len(scores) >= LEAST_SCORES
                and scores.min() >= 0
                and 50 < scores.max() <= 100
                and len(np.unique(scores)) >= LEAST_SCORES
            ):
                yield warning("like_percent", "scores", about=(model.name,), model=model.name)


def _times(predicted: np.ndarray, truth: np.ndarray) -> float | None:
    """Return how many times as large predictions are, where it is about a hundred or a hundredth and one is a share."""
    if len(truth) < LEAST_SCORES or truth.min() < 0 or predicted.min() < 0:
        return None
    a, b = float(np.median(predicted)), float(np.median(truth))
    if not a or not b or (predicted.max() > 1) == (truth.max() > 1):
        return None
    larger = max(a / b, b / a)
    return a / b if HUNDRED[0] <= larger <= HUNDRED[1] else None
