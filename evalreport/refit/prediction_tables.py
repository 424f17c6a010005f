"""Finished fits: the journal that keeps them, and the table of predictions that ``run`` reads."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from evalreport import platform
from evalreport.errors import OutputError, UsageError
from evalreport.predictions.arrays import Floats, Indices
from evalreport.refit.backends import Task
from evalreport.refit.examples import Examples
from evalreport.refit.fitting import Fitted, Predicted
from evalreport.refit.plans import Scheme
from evalreport.refit.splits import counts_in_sample

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"evalreport fits 2\n"
_HEAD = struct.Struct("<Q32s32s")
_ARRAYS = ("rows", "y_pred", "proba", "score")


@dataclass(slots=True)
class Journal:
    """The open file of finished fits, the fits read from it, and whether the file has served and is to be removed."""

    path: Path
    stream: BinaryIO
    found: dict[bytes, Fitted] = field(default_factory=dict)
    served: bool = False

    def add(self, key: bytes, fitted: Fitted) -> None:
        """Write one finished fit, so that it survives the end of this process.

        Raises
        ------
        OutputError
            The disk is full.
        """
        body = _packed(fitted)
        try:
            self.stream.write(_HEAD.pack(len(body), key, hashlib.sha256(body).digest()) + body)
            self.stream.flush()
        except OSError as error:
            raise OutputError(
                f"{self.path}: a finished fit cannot be written: {error.strerror}; make room"
            ) from error


def journal_path(output: Path) -> Path:
    """Return the path of the hidden file of finished fits beside an output."""
    return output.parent / f".{output.name}.fits"


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open the journal of an output for this process alone.

    Raises
    ------
    UsageError
        Another process works on the same output, or the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = platform.open_to_lock(path, 0o666, follow=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; name another place with -o") from None
    served = False
    try:
        with open(descriptor, "r+b", closefd=False) as stream:
            _lock(descriptor, path)
            journal = Journal(path, stream)
            end = _read(stream, journal.found)
            stream.seek(end)
            stream.truncate()
            if end == 0:
                stream.write(_MAGIC)
                stream.flush()
            yield journal
            served = journal.served
    finally:
        if served:
            platform.remove_and_close(path, descriptor)
        else:
            os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    if not platform.lock(descriptor):
        output = path.name.removeprefix(".").removesuffix(".fits")
        raise UsageError(
            f"{path.parent / output}: another evalreport resample is at work on this output; wait for it, or name"
            " another with -o"
        ) from None


def _read(stream: BinaryIO, found: dict[bytes, Fitted]) -> int:
    """Read the complete records; return where the last one ends (0: no journal of this format)."""
    size = os.fstat(stream.fileno()).st_size
    if stream.read(len(_MAGIC)) != _MAGIC:
        return 0
    end = len(_MAGIC)
    while True:
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return end
        length, key, checksum = _HEAD.unpack(head)
        body = stream.read(length) if length <= size - end else b""
        if len(body) < length or hashlib.sha256(body).digest() != checksum:
            return end
        found[key] = _unpacked(body)
        end += _HEAD.size + length


def _packed(fitted: Fitted) -> bytes:
    """Return a fit as a line of JSON and the bytes of its arrays, so that reading it can run no code."""
    arrays: list[bytes] = []
    blocks = []
    for block in fitted.blocks:
        entry: dict[str, object] = {"part": block.part, "inner_fold": block.inner_fold}
        for name in _ARRAYS:
            values = getattr(block, name)
            if values is not None:
                kept = np.ascontiguousarray(values)
                entry[name] = [kept.dtype.str, list(kept.shape)]
                arrays.append(kept.tobytes())
        blocks.append(entry)
    head = {
        "blocks": blocks,
        "params": fitted.params,
        "n_parameters": fitted.n_parameters,
        "vc_dimension": fitted.vc_dimension,
        "messages": fitted.messages,
    }
    return b"".join([json.dumps(head).encode(), b"\n", *arrays])


def _unpacked(body: bytes) -> Fitted:
    line, _, rest = body.partition(b"\n")
    head = json.loads(line)
    offset = 0
    blocks = []
    for entry in head["blocks"]:
        arrays: dict[str, Any] = dict.fromkeys(_ARRAYS)
        for name in _ARRAYS:
            if name in entry:
                kind, shape = np.dtype(entry[name][0]), tuple(entry[name][1])
                count = int(np.prod(shape))
                arrays[name] = np.frombuffer(rest, kind, count, offset).reshape(shape)
                offset += count * kind.itemsize
        blocks.append(Predicted(part=entry["part"], inner_fold=entry["inner_fold"], **arrays))
    return Fitted(
        blocks=tuple(blocks),
        params=head["params"],
        n_parameters=head["n_parameters"],
        vc_dimension=head["vc_dimension"],
        messages=tuple(head["messages"]),
    )


WRITTEN_FORMATS = (".parquet", ".csv", ".csv.gz")
Result = tuple[Task, Fitted]
Block = tuple[Task, Fitted, Predicted]


def prediction_table(examples: Examples, scheme: Scheme, results: Sequence[Result]) -> pa.Table:
    """Return all predictions as an Arrow table, in the order of models, fits and examples, without empty columns."""
    import pyarrow as pa

    blocks = [(task, fitted, block) for task, fitted in results for block in fitted.blocks]
    rows = np.concatenate([block.rows for _, _, block in blocks])
    columns: dict[str, pa.Array | None] = {
        "id": _texts(examples.ids, rows),
        "model": _repeated(blocks, [task.model for task, _, _ in blocks], pa.string()),
        **_outputs(examples, rows, [block for _, _, block in blocks]),
        **_keys(blocks, scheme, examples.n),
    }
    for name, texts in examples.written.items():
        columns["time" if name not in columns and _is_time(examples, name) else name] = _texts(texts, rows)
    if _has_one_input(examples):
        columns["x"] = pa.array(examples.features[rows, 0])
    return pa.table({name: values for name, values in columns.items() if values is not None})


def _has_one_input(examples: Examples) -> bool:
    """Return whether there is one input, which is written as ``x`` to draw predictions against it."""
    one = isinstance(examples.features, np.ndarray) and examples.features.shape[1] == 1
    return one and "x" not in examples.written


def _is_time(examples: Examples, name: str) -> bool:
    return examples.times is not None and name == next(iter(examples.written))


def _outputs(examples: Examples, rows: Indices, blocks: Sequence[Predicted]) -> dict[str, pa.Array | None]:
    import pyarrow as pa

    predicted = np.concatenate([block.y_pred for block in blocks])
    if examples.labels is None:
        return {"y_true": pa.array(examples.target[rows]), "y_pred": pa.array(predicted)}
    labels = pa.array(examples.classes, pa.string())
    columns: dict[str, pa.Array | None] = {
        "y_true": labels.take(pa.array(examples.labels.codes[rows])),
        "y_pred": labels.take(pa.array(predicted)),
        "score": _numbers(blocks, [block.score for block in blocks]),
    }
    for code, label in enumerate(examples.classes):
        of_label = [None if block.proba is None else block.proba[:, code] for block in blocks]
        columns[f"p_{label}"] = _numbers(blocks, of_label)
    return columns


def _keys(blocks: Sequence[Block], scheme: Scheme, n: int) -> dict[str, pa.Array | None]:
    """Return the columns that identify a fit, and the columns with facts about it."""
    import pyarrow as pa

    found: dict[str, pa.Array | None] = {
        name: _repeated(blocks, [task.fit.keys.get(name) for task, _, _ in blocks], pa.int32())
        for name in ("repeat", "fold", "replicate", "seed")
    }
    if scheme.name == "bootstrap-oob":
        found["inbag"] = _inbag(blocks, n)
    parts = _repeated(blocks, [block.part for _, _, block in blocks], pa.string())
    if parts is not None and len(parts.unique()) > 1:
        found["part"] = parts
    return found | {
        "inner_fold": _repeated(blocks, [block.inner_fold or None for _, _, block in blocks], pa.int32()),
        "params": _repeated(blocks, [fitted.params for _, fitted, _ in blocks], pa.string()),
        "train_size": _repeated(
            blocks, [len(task.fit.train) if task.fit.sized else None for task, _, _ in blocks], pa.int32()
        ),
        "complexity": _repeated(blocks, [task.complexity for task, _, _ in blocks], pa.float64()),
        **{
            name: _repeated(blocks, [_size(t, f, scheme, name) for t, f, _ in blocks], pa.float64())
            for name in ("n_parameters", "vc_dimension")
        },
    }


def _size(task: Task, fitted: Fitted, scheme: Scheme, name: str) -> float | None:
    """Return a model's number of parameters or VC dimension; None: the scheme does not need it."""
    value: float | None = getattr(fitted, name)
    # A VC dimension is used with training errors only; the number of parameters is also an axis of complexity.
    with_training = bool(scheme.train_predictions) or task.fit.part == "train"
    if name == "vc_dimension":
        return value if with_training else None
    return value if with_training or task.complexity is not None else None


def _inbag(blocks: Sequence[Block], n: int) -> pa.Array:
    import pyarrow as pa

    counts = [
        counts_in_sample(task.fit, n)[block.rows].astype(np.float64)
        if block.part == "test"
        else np.full(len(block.rows), np.nan)
        for task, _, block in blocks
    ]
    values = np.concatenate(counts)
    return pa.array(values, pa.int32(), from_pandas=True, safe=False)


def _repeated(blocks: Sequence[Block], of_blocks: Sequence[object], kind: pa.DataType) -> pa.Array | None:
    """Return a column with one value for each block; None: no block has one."""
    import pyarrow as pa

    values = pa.array(of_blocks, kind)
    if values.null_count == len(values):
        return None
    lengths = [len(block.rows) for _, _, block in blocks]
    return values.take(pa.array(np.repeat(np.arange(len(blocks)), lengths)))


def _numbers(blocks: Sequence[Predicted], pieces: Sequence[Floats | None]) -> pa.Array | None:
    """Return a column of float64, null for blocks without values; None: no block has values."""
    import pyarrow as pa

    if all(piece is None for piece in pieces):
        return None
    arrays = [
        pa.nulls(len(block.rows), pa.float64()) if piece is None else pa.array(np.ascontiguousarray(piece))
        for block, piece in zip(blocks, pieces, strict=True)
    ]
    return pa.concat_arrays(arrays)


def _texts(texts: Sequence[str | None], rows: Indices) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string()).take(pa.array(rows))


def check_columns(examples: Examples) -> None:
    """Refuse columns whose names have a meaning in prediction files.

    Raises
    ------
    UsageError
        A column to be written beside the predictions has such a name.
    """
    from evalreport.predictions.column_names import PROBABILITY_PREFIXES, spellings

    taken = set(spellings()) - {"time"}
    for name in examples.written:
        if not _is_time(examples, name) and (name in taken or name.startswith(PROBABILITY_PREFIXES)):
            raise UsageError(
                f"[data] the column {name!r} would mean something else beside predictions; rename it in the file"
            )


def table_bytes(table: pa.Table, path: Path) -> bytes:
    """Return a table as the bytes of a file in the format of its name; the same table gives the same bytes."""
    import pyarrow.csv
    import pyarrow.parquet

    sink = io.BytesIO()
    if path.name.endswith(".parquet"):
        pyarrow.parquet.write_table(table, sink, compression="zstd", row_group_size=1 << 20)
        return sink.getvalue()
    pyarrow.csv.write_csv(table, sink)
    if not path.name.endswith(".gz"):
        return sink.getvalue()
    # Without name and time in the archive, so that the bytes depend on the predictions alone.
    return gzip.compress(sink.getvalue(), mtime=0)


def warnings_of(results: Sequence[Result]) -> Iterator[str]:
    """Yield each warning of each model once, with the number of fits."""
    counts: dict[tuple[str, str], int] = {}
    fits: dict[str, int] = {}
    for task, fitted in results:
        fits[task.model] = fits.get(task.model, 0) + 1
        for message in fitted.messages:
            counts[task.model, message] = counts.get((task.model, message), 0) + 1
    for (model, message), count in counts.items():
        yield f"{model} warned in {count} of {fits[model]} fits: {message}"
