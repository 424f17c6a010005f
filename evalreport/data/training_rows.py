"""Rows beside bootstrap replicates that no column calls training rows, and that cannot be anything else."""

from __future__ import annotations

import dataclasses

import numpy as np

from evalreport.data.predictions import Column, Predictions
from evalreport.records import FoundRecord
from evalreport.texts import Message


def with_training_rows(predictions: Predictions) -> Predictions:
    """Mark rows without a replicate as training rows where replicates were drawn from the same examples.

    A file of replicates with ``inbag`` beside a file of resubstitution predictions needs no column ``part``: a fit to
    all the data has no test rows among the examples that it was fitted to.

    Parameters
    ----------
    predictions
        Any design.

    Returns
    -------
    Predictions
        The same object unless there are such rows; else with ``part`` = train in them, and with that said.
    """
    replicate, inbag = predictions.keys.get("replicate"), predictions.keys.get("inbag")
    if replicate is None or inbag is None:
        return predictions
    part = predictions.keys.get("part")
    unmarked = np.ones(predictions.n, dtype=bool) if part is None else np.asarray(part.values < 0, dtype=bool)
    drawn = np.unique(predictions.example[np.asarray(inbag.values > 0)])
    training = unmarked & (replicate.values < 0) & np.isin(predictions.example, drawn)
    if not training.any():
        return predictions
    categories = () if part is None else part.categories or ()
    names = categories if "train" in categories else (*categories, "train")
    values = np.full(predictions.n, -1, dtype=np.int32) if part is None else part.values.copy()
    values[training] = names.index("train")
    value = Message("found.training_rows.value", n=int(training.sum()))
    said = FoundRecord("training rows", value, Message("found.training_rows.why"))
    return dataclasses.replace(
        predictions,
        keys={**predictions.keys, "part": Column(values, names)},
        found=(*predictions.found, said),
    )
