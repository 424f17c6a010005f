"""The aligned predictions of a recorded run, as Parquet bytes."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evalreport.errors import HistoryError
from evalreport.options import Options
from evalreport.predictions.cells import as_numpy, flags, from_numpy
from evalreport.predictions.slicing import may_be_sliced_by
from evalreport.predictions.table import Attempts, Column, Labels, ModelOutputs, Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.sources.unpacking import chunks_of_parquet, declared_by_parquet, room_of

FORMAT = 1

HEAD = b"evalreport"

_OUTPUTS = ("y_pred", "score", "outcome", "gold", "present")

_ATTEMPTS = ("count", "spread", "passed")


def packed(predictions: Predictions, options: Options) -> bytes:
    """Return predictions as Parquet bytes.

    Of the metadata, only the columns that the options use (slices, cluster, weight, grade) are kept, since others may
    hold whole documents or private data.
    """
    named = {options.cluster, options.weight, options.grade}
    used = {
        name: column
        for name, column in predictions.metadata.items()
        if name in named or may_be_sliced_by(name, options.slices, options.gates)
    }
    kept = replace(predictions, metadata=used)
    columns: dict[str, Any] = {"id": kept.ids.take(from_numpy(kept.example)).dictionary_encode()}
    columns.update({name: from_numpy(values) for name, values in _arrays(kept)})
    head = {
        "format": FORMAT,
        "task": kept.task,
        "design": kept.design,
        "classes": list(kept.classes),
        "positive": kept.positive,
        "outside": kept.outside,
        "models": [
            {"name": model.name, "columns": _heads(model.columns), "numbers": list(model.numbers)}
            for model in kept.models
        ],
        "keys": _heads(kept.keys),
        "metadata": _heads(kept.metadata),
    }
    table = pa.table(columns).replace_schema_metadata({HEAD: json.dumps(head).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=9)
    return buffer.getvalue()


def unpacked(content: bytes) -> Predictions:
    """Return packed predictions, without the facts about their files.

    Raises
    ------
    HistoryError
        The bytes hold no predictions, or those of a newer evalreport.
    """
    try:
        table = _table(content)
        head = json.loads((table.schema.metadata or {})[HEAD])
        if head["format"] != FORMAT:
            raise HistoryError("the stored predictions were written by a newer evalreport: use that version")
        return _predictions(table, head)
    except (pa.ArrowException, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise HistoryError(f"the stored predictions cannot be read: {error}") from error


def _table(content: bytes) -> pa.Table:
    """Read the table as strangers' files are read: what it declares has room, and no damage ends the process."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(content)
        file.flush()
        path = Path(file.name)
        chunks = chunks_of_parquet(path)
        declared = declared_by_parquet(chunks, {chunk.column for chunk in chunks})
        room_of(path, "the stored predictions", None).check(declared)
    try:
        with pq.ParquetFile(io.BytesIO(content)) as whole:
            return whole.read()
    except OSError as error:  # a damaged page: no file is read here
        raise HistoryError(f"the stored predictions cannot be read: {error}") from error


def _arrays(predictions: Predictions) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that there are, each with the name of its column: the model by its place among the others."""
    if predictions.y_true is not None:
        yield "y_true", predictions.y_true
    for place, model in enumerate(predictions.models):
        arrays = {name: getattr(model, name) for name in _OUTPUTS}
        arrays |= {f"proba.{k}": p for k, p in enumerate(() if model.proba is None else model.proba.T)}
        arrays |= {f"number.{k}": values for k, values in enumerate(model.numbers.values())}
        arrays |= {f"attempts.{name}": getattr(model.attempts, name, None) for name in _ATTEMPTS}
        arrays |= {f"column.{k}": column.values for k, column in enumerate(model.columns.values())}
        yield from ((f"{place}.{name}", values) for name, values in arrays.items() if values is not None)
    for kind in ("keys", "metadata"):
        for number, column in enumerate(getattr(predictions, kind).values()):
            yield f"{kind}.{number}", column.values


def _heads(columns: Mapping[str, Column]) -> list[list[object]]:
    return [[name, None if c.categories is None else list(c.categories)] for name, c in columns.items()]


def _predictions(table: Any, head: JsonObject) -> Predictions:
    known = set(table.column_names)

    def values(name: str) -> Any:
        column = table.column(name)
        return flags(column) if pa.types.is_boolean(column.type) else as_numpy(column, np.nan)

    def columns(heads: list[Any], prefix: str) -> dict[str, Column]:
        return {
            name: Column(values(f"{prefix}.{number}"), None if categories is None else tuple(categories))
            for number, (name, categories) in enumerate(heads)
        }

    def model(place: int, of: JsonObject) -> ModelOutputs:
        def given(names: Iterable[str], kind: str = "") -> dict[str, Any]:
            return {name: values(column) for name in names if (column := f"{place}.{kind}{name}") in known}

        outputs, attempts = given(_OUTPUTS), given(_ATTEMPTS, "attempts.")
        by_class = given(map(str, range(len(head["classes"]))), "proba.")
        return ModelOutputs(
            of["name"],
            **outputs,
            proba=np.column_stack(list(by_class.values())) if by_class else None,
            attempts=Attempts(**attempts) if attempts else None,
            numbers={name: values(f"{place}.number.{k}") for k, name in enumerate(of["numbers"])},
            columns=columns(of["columns"], f"{place}.column"),
        )

    ids = table.column("id").combine_chunks()
    labels = Labels(classes=tuple(head["classes"]), positive=head["positive"], outside=head["outside"])
    return Predictions(
        task=head["task"],
        design=head["design"],
        # The rows are sorted by id, so ids in order of appearance are sorted, too.
        ids=ids.dictionary,
        example=as_numpy(ids.indices, -1).astype(np.int64),
        y_true=values("y_true") if "y_true" in known else None,
        models=tuple(model(place, of) for place, of in enumerate(head["models"])),
        labels=labels,
        keys=columns(head["keys"], "keys"),
        metadata=columns(head["metadata"], "metadata"),
    )
