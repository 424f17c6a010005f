"""Examples that a model was both trained and tested on, as far as the files show it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions
from evalreport.records import WarningRecord, warning

FITS = ("repeat", "fold", "replicate", "seed", "dataset", "train_size", "complexity")
"""The columns that tell one fitted model from another."""


def leaks(predictions: Predictions) -> Iterator[WarningRecord]:
    """Yield a blocker where a fit's training rows (part = train) and its test rows hold the same example.

    Training rows of a fit on all the data (no fold, no replicate) are another fit's: resubstitution is no leak.
    """
    part = predictions.keys.get("part")
    if part is None or part.categories is None or "train" not in part.categories:
        return
    train = part.values == part.categories.index("train")
    tested = _tested(predictions)
    columns = [predictions.keys[name].values for name in FITS if name in predictions.keys]
    rows = np.stack(
        [predictions.example.astype(np.float64), *(np.asarray(c, dtype=np.float64) for c in columns)]
    )
    _, fit = np.unique(np.nan_to_num(rows, nan=-1.0), axis=1, return_inverse=True)
    both = np.intersect1d(fit.ravel()[train], fit.ravel()[tested])
    if not len(both):
        return
    first = int(np.flatnonzero(tested & np.isin(fit.ravel(), both))[0])
    example = str(predictions.ids[int(predictions.example[first])])
    yield warning("trained_on_test", level="blocker", n=len(both), example=example)


def _tested(predictions: Predictions) -> npt.NDArray[np.bool_]:
    """Say which rows are test rows: marked so or not marked, and out of the bag."""
    part, inbag = predictions.keys["part"], predictions.keys.get("inbag")
    assert part.categories is not None
    test = part.categories.index("test") if "test" in part.categories else -2
    tested = (part.values == test) | (part.values < 0)
    return np.asarray(tested if inbag is None else tested & ~(inbag.values > 0))
