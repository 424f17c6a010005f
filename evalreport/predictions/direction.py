"""Whether less is better in a column of outcomes or values, by its name and its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from evalreport.errors import UsageError
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message

BY_NAME: Final = "less_is_better_by_name"
"""The code of the fact in ``results.found``."""

LOSSES = frozenset(
    (
        *("error", "error_rate", "error_ratio", "loss", "logloss", "log_loss", "nll", "brier", "brier_score"),
        *("rmse", "mse", "mae", "mape", "smape", "mase", "medae", "rmsle", "msle", "rae", "rrse", "deviance"),
        *("perplexity", "ppl", "wer", "cer", "latency", "seconds", "cost", "regret"),
        *("fpr", "fnr", "eer", "ece", "mce", "complement_mse", "aic", "bic", "mdl", "vc_bound"),
        *("wis", "pinball", "mean_pinball", "interval_score", "interval_width", "set_size"),
        *("aurc", "e_aurc", "mean_class_distance"),
    )
)
"""Names of losses; every metric of the registry whose smaller values are better is among them by the rule below."""


def is_loss(name: str) -> bool:
    """Return whether a column's name says loss: the whole name or its last part, and nowhere ``neg``.

    Parts are divided by underscores, blanks, points, slashes and hyphens.

    Examples
    --------
    >>> [is_loss(name) for name in ("rmse", "test_RMSE", "val_loss", "test_error_rate")]
    [True, True, True, True]
    >>> [is_loss(name) for name in ("cost_saving", "f1", "neg_log_loss", "test_neg_mean_squared_error")]
    [False, False, False, False]
    """
    parts = [part for part in re.split(r"[\s_./-]+", name.lower()) if part]
    return "neg" not in parts and any("_".join(parts[k:]) in LOSSES for k in range(len(parts)))


def direction_found(
    headers: Sequence[str], values: Iterable[Floats], options: Options
) -> tuple[FoundRecord, ...]:
    """Return the fact that less is better, where the columns are named after losses and no option says it.

    Values of which none is above 0, and some below, are losses turned round: more is better.

    Parameters
    ----------
    headers
        The headers of the columns of outcomes or values, as the files spell them.
    values
        Their numbers, nan where a cell is empty.

    Raises
    ------
    UsageError
        Some columns are named after a loss and others not, and no option says which end is the better one.
    """
    losses = [header for header in headers if is_loss(header)]
    if not losses or options.higher_is_better or options.lower_is_better:
        return ()
    if len(losses) < len(headers):
        others = ", ".join(repr(header) for header in headers if header not in losses)
        raise UsageError(
            f"less is better in the column {losses[0]!r} by its name, and not in {others}: give the columns one name,"
            " or pass --lower-is-better or --higher-is-better"
        )
    numbers = np.concatenate([np.asarray(part, float).ravel() for part in values])
    numbers = numbers[~np.isnan(numbers)]
    if numbers.size and (numbers <= 0).all() and (numbers < 0).any():
        return ()
    return (
        FoundRecord(
            what="direction",
            value=Message("found.less_is_better"),
            why=Message("found.less_is_better_by_name", columns=tuple(losses), n=len(losses)),
            code=BY_NAME,
        ),
    )


def directed(options: Options, found: Iterable[FoundRecord]) -> Options:
    """Return the options with ``lower_is_better`` where the columns' names say so."""
    if any(record.code == BY_NAME for record in found):
        return replace(options, lower_is_better=True)
    return options
