"""The warning about columns that are named after a loss but ranked by the greatest value."""

from __future__ import annotations

import re

from evalreport.metrics.registry import METRICS
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check

LOSSES = frozenset(("error", "loss"))
"""Words for a loss that are no metric's name."""

_OF_A_SEARCH = re.compile(r"^(mean_|split\d+_)?(test|val|train|validation)_")


@check("named_like_a_loss", needs=("outcome_column",))
def named_like_a_loss(predictions: Predictions, options: Options) -> list[WarningRecord]:
    """Warn of values that are ranked by the greatest while their column is named after a loss.

    Parameters
    ----------
    predictions
        Of outcomes or values; others have metrics with a direction of their own.
    options
        With ``--lower-is-better`` there is no warning.
    """
    if options.lower_is_better:
        return []
    return [
        warning("named_like_a_loss", about=(header,), column=header, name=name)
        for header in predictions.origin.judged_in
        if (name := _loss_in(header)) is not None
    ]


def _loss_in(header: str) -> str | None:
    """Return the loss that a column is named after; None where it is no metric's name, or a score's.

    Examples
    --------
    >>> _loss_in("test_RMSE"), _loss_in("error"), _loss_in("f1"), _loss_in("neg_log_loss")
    ('RMSE', 'error', None, None)
    """
    name = _OF_A_SEARCH.sub("", header.strip().lower())
    if name in METRICS and METRICS[name].scale.greater_is_better is False:
        return METRICS[name].display.label
    return name if name in LOSSES else None
