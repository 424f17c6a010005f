"""The API's sources (data frames, mappings of arrays) -> the same tables that files give."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evalreport.config import Options
from evalreport.data.binary import read_arrays, read_table
from evalreport.data.columns import (
    ALIASES,
    PROBABILITY_PREFIXES,
    Roles,
    about_truth,
    require_usable,
    understand,
)
from evalreport.data.gathering import Table
from evalreport.data.predictions import Column, Predictions
from evalreport.data.reading import Choose, Columns, empty_file
from evalreport.errors import InputError
from evalreport.records import InputRecord

_PREDICTED = ("y_pred", "score", "outcome", "value")
IDS_AT_ONCE = 100_000


def memory_tables(source: Any, options: Options) -> list[Table]:
    """Take predictions from memory.

    Parameters
    ----------
    source
        A data frame in long format; a mapping of model name to data frame, to columns or to its y_pred;
        or a mapping of column name to array.

    Raises
    ------
    InputError
        Where the source is none of these, or its columns cannot be used.
    """
    frame = _as_arrow(source)
    if frame is not None:
        return [_table(frame, "<data frame>", "model", options)]
    if not isinstance(source, Mapping):
        raise InputError(
            f"predictions of type {type(source).__name__!r} cannot be read",
            expected="a path, a list of paths, a data frame, or a mapping of model names or columns",
            remedy='pass for example {"forest": {"y_pred": [...]}} with truth=[...]',
        )
    if not source:
        raise empty_file("<memory>")
    if all(isinstance(value, Mapping) or _as_arrow(value) is not None for value in source.values()):
        return [
            _table(value, f"<{model}>", str(model), options)
            for model, value in sorted(source.items(), key=lambda item: str(item[0]))
        ]
    if not _names_a_prediction([str(name) for name in source], options):
        per_model = dict(_predictions_by_model(source))
        if per_model:
            return [_table(columns, f"<{m}>", m, options) for m, columns in sorted(per_model.items())]
    return [_table(source, "<memory>", "model", options)]


def truth_from_memory(truth: Any, options: Options) -> Table:
    """Take true values from an array, a mapping of id to value, a mapping of columns or a data frame.

    Raises
    ------
    InputError
        Where there is no column y_true.
    """
    frame = _as_arrow(truth)
    if frame is not None:
        source: Any = frame
    elif isinstance(truth, Mapping):
        of_ids = all(np.ndim(value) == 0 for value in truth.values())
        source = {"id": [str(i) for i in truth], "y_true": list(truth.values())} if of_ids else truth
    else:
        source = {"y_true": truth}
    return _table(source, "<truth>", "truth", about_truth(options), predictions=False)


def content_digest(predictions: Predictions) -> str:
    """Return a SHA-256 over what was understood: the same however it lay in memory."""
    digest = hashlib.sha256()
    for part in _content(predictions):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def memory_record(predictions: Predictions) -> InputRecord:
    """Describe predictions that came from memory as one input."""
    return InputRecord("<memory>", content_digest(predictions), predictions.n, None)


def _table(source: Any, name: str, model: str, options: Options, *, predictions: bool = True) -> Table:
    roles: list[Roles] = []

    def choose(names: tuple[str, ...]) -> Any:
        role = understand(names, file=name, options=options)
        if predictions:
            require_usable(role, names, name)
        roles.append(role)
        return role.kinds()

    read = _read(source, name, choose)
    if read.rows == 0:
        raise empty_file(name)
    return Table(
        name, model, roles[-1].without(read.left_out), read, positional="id" not in roles[-1].columns
    )


def _read(source: Any, name: str, choose: Choose) -> Columns:
    frame = _as_arrow(source)
    if frame is not None:
        return read_table(frame, name, choose)
    return read_arrays({str(header): _as_array(values) for header, values in source.items()}, name, choose)


def _as_arrow(source: Any) -> Any:
    """Return a data frame of any library as an Arrow table; None where it is no data frame."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if isinstance(source, (Mapping, str, list, tuple, np.ndarray)):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        return frame.to_arrow() if isinstance(frame, nw.DataFrame) else None
    except (pa.ArrowException, nw.exceptions.NarwhalsError) as error:
        raise InputError(
            f"the data frame cannot be read ({str(error).splitlines()[0][:160]})",
            file="<data frame>",
            expected="every column once, and one type a column: text, numbers or booleans",
            remedy="rename repeated columns, and convert each column to one type",
        ) from None


def _as_array(values: Any) -> Any:
    """Return a column that Arrow can take: series of any library, arrays, lists."""
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    if isinstance(values, (list, tuple, np.ndarray)) or hasattr(values, "__arrow_array__"):
        return values
    if type(values).__module__.startswith(("pandas", "pyarrow")):
        return values
    array = np.asarray(values)
    return array if array.ndim else np.asarray([values])


def _names_a_prediction(names: Sequence[str], options: Options) -> bool:
    accepted = {alias for standard in _PREDICTED for alias in (standard, *ALIASES[standard])}
    accepted |= {name for name in (options.outcome, options.value) if name is not None}
    return any(name in accepted or name.startswith(PROBABILITY_PREFIXES) for name in names)


def _predictions_by_model(source: Mapping[Any, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read {"y_true": ..., "forest": ..., "logreg": ...} as two models' y_pred beside shared columns."""
    known = {name for standard, aliases in ALIASES.items() for name in (standard, *aliases)}
    shared = {str(name): values for name, values in source.items() if str(name) in known}
    for name, values in source.items():
        if str(name) not in known:
            yield str(name), {**shared, "y_pred": values}


def _content(predictions: Predictions) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    yield repr((predictions.task, predictions.classes, predictions.positive)).encode()
    ids = predictions.ids
    yield pc.binary_length(ids).to_numpy(zero_copy_only=False).tobytes()
    for start in range(0, len(ids), IDS_AT_ONCE):
        # Rebuilt, so that the piece has its text to itself; how long that is stands in the lengths.
        piece = pa.concat_arrays([ids.slice(start, IDS_AT_ONCE)])
        text, length = piece.buffers()[2], pc.sum(pc.binary_length(piece)).as_py()
        yield text.to_pybytes()[:length] if text is not None else b""
    yield predictions.example.tobytes()
    if predictions.y_true is not None:
        yield predictions.y_true.tobytes()
    for model in predictions.models:
        yield model.name.encode()
        for values in (model.y_pred, model.score, model.proba, model.outcome, model.present):
            yield b"" if values is None else np.ascontiguousarray(values).tobytes()
        yield from _columns(model.columns)
    yield from _columns({**predictions.keys, **predictions.metadata})


def _columns(columns: Mapping[str, Column]) -> Iterator[bytes]:
    for name in sorted(columns):
        yield repr((name, columns[name].categories)).encode()
        yield columns[name].values.tobytes()
