"""The order of the examples in time, by the column ``time``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from evalreport.errors import UsageError
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.column_names import TIME
from evalreport.predictions.table import Column, Predictions
from evalreport.texts import Message, quoted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def no_series(predictions: Predictions) -> Message | None:
    """Say why examples are no single series in time; None where they are."""
    if predictions.counts is not None:
        return Message("no_series.counts")
    if TIME not in predictions.keys:
        return Message("no_series.no_time")
    if predictions.tasks is not None:
        return Message("no_series.tasks")
    if "attempt" in predictions.keys or any(model.attempts is not None for model in predictions.models):
        return Message("no_series.attempts")
    if predictions.design == "test-set" and predictions.apart:
        return Message("no_series.two_sets")
    if predictions.design != "test-set" or predictions.n != len(predictions.ids):
        return Message("no_series.fits", design=predictions.design, keys=", ".join(predictions.keys))
    return None


def rows_in_time(predictions: Predictions) -> Indices:
    """Return the rows in order of time, those of the same time in the order of their ids.

    Raises
    ------
    UsageError
        An example without a time, or a time that is neither a number nor a date.
    """
    column = predictions.keys[TIME]
    missing = np.isnan(column.values) if column.categories is None else column.values < 0
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        named = quoted(str(predictions.ids[predictions.example[row]]))
        raise UsageError(f"--order time: the example {named} has no time: give every example one")
    values = column.values if column.categories is None else _instants(column)[column.values.astype(np.int64)]
    return np.argsort(values, kind="stable").astype(np.int64)


def _instants(column: Column) -> Floats:
    """Return each category's place in time, in microseconds."""
    instants = []
    for text in required(column.categories):
        try:
            instants.append(datetime.fromisoformat(text))
        except ValueError:
            raise UsageError(
                f"--order time: {quoted(text)} in the column time is neither a number nor a date (ISO 8601, such as"
                " 2025-03-01 or 2025-03-01T02:00:00+01:00)"
            ) from None
    zoned = {time.tzinfo is not None for time in instants}
    if len(zoned) > 1:
        raise UsageError(
            "--order time: some times in the column time have a zone and some have none: write all with one, or none"
        )
    return np.array(
        [(_zoned(time) - _EPOCH) // timedelta(microseconds=1) for time in instants], dtype=np.float64
    )


def _zoned(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
