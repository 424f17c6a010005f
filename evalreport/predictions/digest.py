"""A digest of the content of a table of predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.predictions.table import Column, Predictions
from evalreport.schema.inputs import InputRecord

IDS_AT_ONCE = 100_000


def content_digest(predictions: Predictions) -> str:
    """Return a SHA-256 of the content: the same for any layout in memory."""
    digest = hashlib.sha256()
    for part in _content(predictions):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def memory_record(predictions: Predictions) -> InputRecord:
    """Describe predictions that came from memory as one input."""
    return InputRecord(path="<memory>", sha256=content_digest(predictions), rows=predictions.n, model=None)


def _content(predictions: Predictions) -> Iterator[bytes]:
    yield repr((predictions.task, predictions.classes, predictions.positive)).encode()
    ids = predictions.ids
    yield pc.binary_length(ids).to_numpy(zero_copy_only=False).tobytes()
    for start in range(0, len(ids), IDS_AT_ONCE):
        # Rebuilt, so that the buffer holds the text of this piece alone.
        piece = pa.concat_arrays([ids.slice(start, IDS_AT_ONCE)])
        text, length = piece.buffers()[2], pc.sum(pc.binary_length(piece)).as_py()
        yield text.to_pybytes()[:length] if text is not None else b""
    yield predictions.example.tobytes()
    if predictions.multiplicity is not None:
        yield predictions.multiplicity.tobytes()
    if predictions.y_true is not None:
        yield predictions.y_true.tobytes()
    for model in predictions.models:
        yield model.name.encode()
        for values in (model.y_pred, model.score, model.proba, model.outcome, model.present):
            yield b"" if values is None else np.ascontiguousarray(values).tobytes()
        for name, numbers in sorted(model.numbers.items()):
            yield name.encode() + np.ascontiguousarray(numbers).tobytes()
        if model.attempts is not None:
            yield model.attempts.count.tobytes() + model.attempts.spread.tobytes()
        if model.gold is not None:
            yield model.gold.tobytes()
        if model.by_people is not None and model.by_judge is not None:
            yield model.by_people.tobytes() + model.by_judge.tobytes()
        if model.answers is not None:
            for name, costs in sorted(model.answers.costs.items()):
                yield name.encode() + model.answers.row.tobytes() + costs.tobytes()
        yield from _columns(model.columns)
    yield from _columns({**predictions.keys, **predictions.metadata})


def _columns(columns: Mapping[str, Column]) -> Iterator[bytes]:
    for name in sorted(columns):
        yield repr((name, columns[name].categories)).encode()
        yield columns[name].values.tobytes()
