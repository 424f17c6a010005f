"""Models with rows of their own: on test sets of their own with their own draws, or with seeds of their own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.data.selection import subset
from evalreport.metrics.sample import Sample


def each_apart(predictions: Predictions) -> list[Predictions]:
    """Divide the table by model: each one's rows, without those of the others.

    Returns
    -------
    list of Predictions
        One a model, in their order; ``ids`` are the model's own.
    """
    return [_of_one(predictions, position) for position in range(len(predictions.models))]


def _of_one(predictions: Predictions, position: int) -> Predictions:
    outputs = predictions.models[position]
    rows = np.arange(predictions.n) if outputs.present is None else np.flatnonzero(outputs.present)
    part = subset(predictions, rows.astype(np.int64))
    used, example = np.unique(part.example, return_inverse=True)
    own = replace(part.models[position], present=None)
    return replace(
        part, models=(own,), ids=predictions.ids.take(used), example=example.astype(np.int64), warnings=()
    )


def sampled_apart(
    predictions: Predictions, seed: int, sampled: Callable[[Predictions, int], Sample]
) -> list[Sample]:
    """Sample every model on its own test set with independent draws.

    Parameters
    ----------
    seed
        The run's seed. Each model's own follows from it and from the model's rows, not from its name or place, so
        that swapped or renamed models keep their replicates.
    sampled
        Makes the sample of one table under one seed.
    """
    seen: Counter[bytes] = Counter()
    samples = []
    for part in each_apart(predictions):
        digest = _digest(part)
        own = hashlib.sha256(digest + f"{seed} {seen[digest]}".encode()).digest()
        seen[digest] += 1
        samples.append(sampled(part, int.from_bytes(own[:8], "big")))
    return samples


def _digest(predictions: Predictions) -> bytes:
    found = hashlib.sha256(
        "\n".join(map(str, predictions.ids.to_pylist())).encode("utf-8", "backslashreplace")
    )
    for values in (predictions.y_true, *_outputs(predictions.models[0])):
        if values is not None:
            found.update(np.ascontiguousarray(values).tobytes())
    return found.digest()


def _outputs(model: ModelOutputs) -> tuple[object, ...]:
    return (model.y_pred, model.score, model.proba, model.outcome)
