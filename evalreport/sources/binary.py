"""Parquet, Arrow, Feather and NumPy's npz files; Arrow tables and arrays in memory."""

from __future__ import annotations

import json
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evalreport.errors import InputError
from evalreport.predictions.arrays import Arrow, Values
from evalreport.predictions.cells import Kind, all_numbers, as_text, keep, missing
from evalreport.predictions.column_names import LONE_PROBABILITIES, usual_case
from evalreport.sources.reading import (
    MOST_COLUMNS,
    MOST_TEXTS,
    OF_AGGREGATE,
    Choose,
    Columns,
    Locate,
    file_format,
    reads,
)
from evalreport.sources.unpacking import (
    Chunk,
    Room,
    chunks_of_parquet,
    declared_by_arrow,
    declared_by_npz,
    declared_by_parquet,
    room_of,
)
from evalreport.texts import Message

_BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, KeyError, AttributeError, TypeError),
    # NumPy parses the header of an array as Python.
    *(SyntaxError, tokenize.TokenError),
    # An encrypted or an unknown compression, and a header that promises more than there is memory.
    *(RuntimeError, MemoryError),
)


_ROWS_A_PIECE = 8192


@contextmanager
def whole(name: str, suffix: str, *further: type[Exception]) -> Iterator[None]:
    """Turn the errors of a library that reads a file into an InputError.

    Raises
    ------
    InputError
        With the first line of the library's message.
    MemoryError
        There is too little memory, which says nothing of the file.
    """
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, EOFError, ValueError, OverflowError, struct.error, *further) as error:
        raise _foreign(name, suffix, f"it cannot be read as {suffix} ({_first_line(error)})") from None


@contextmanager
def _asking_no_more_than(room: Room) -> Iterator[None]:
    """Refuse a file whose damaged lengths ask for more memory than there is room for: Arrow's error names the size.

    Raises
    ------
    InputError
        As ``Room.check``.
    MemoryError
        There is too little memory for what would have room.
    """
    try:
        yield
    except pa.ArrowMemoryError as error:
        asked_for = re.search(r"size (\d+)", str(error))
        room.check(int(asked_for[1]) if asked_for else 0)
        raise


@reads("parquet", writable=True)
def read_parquet(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read a .parquet file.

    Raises
    ------
    InputError
        Where the file is truncated, is of another format, or unpacks to more than there is room for.
    """
    room = room_of(path, name, memory_limit)
    with whole(name, "parquet"), _asking_no_more_than(room):
        return _read_parquet(path, room, choose)


@reads("arrow", "feather")
def read_arrow(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read an .arrow or .feather file.

    Raises
    ------
    InputError
        As ``read_parquet``.
    """
    room = room_of(path, name, memory_limit)
    with whole(name, str(file_format(path))), _asking_no_more_than(room):
        return read_table(_arrow(path, room), name, choose, room)


@reads("npz")
def read_npz(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read an .npz file.

    Raises
    ------
    InputError
        As ``read_parquet``, or where it holds Python objects.
    """
    return read_arrays(_npz(path, room_of(path, name, memory_limit)), name, choose)


@reads("npy")
def read_npy(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read an .npy file: labels or values of each row, or with several columns probabilities of the classes.

    Raises
    ------
    InputError
        As ``read_npz``.
    """
    room = room_of(path, name, memory_limit)
    room.check(path.stat().st_size)
    with _numpy(name, "npy"), path.open("rb") as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    return read_arrays(columns_of_array(array), name, choose)


def columns_of_array(array: Values) -> dict[str, Values]:
    """Return the columns of one array: of a structured one its fields, of two dimensions probabilities, else labels."""
    if array.dtype.names is not None:
        return {field: array[field] for field in array.dtype.names}
    return {"y_prob" if array.ndim == 2 and array.shape[1] > 1 else "y_pred": array}


def read_table(table: pa.Table, name: str, choose: Choose, room: Room | None = None) -> Columns:
    """Take the columns of an Arrow table; ``room`` None: it is in memory already, and is not limited.

    Raises
    ------
    InputError
        Where a column holds bytes that are no text or a type that no cell can have.
    """
    table = _with_lists_apart(with_class_names(table), name)
    names = tuple(field.name for field in table.schema)
    arrays, left_out = _columns(lambda header, _: table.column(header), choose(names), name, room)
    texts = frozenset(field.name for field in table.schema if _is_text(field.type))
    return Columns(names, arrays, table.num_rows, _locator(table.column), left_out, texts)


def with_class_names(table: pa.Table) -> pa.Table:
    """Write the codes of class labels of Hugging Face as the names that the table holds for them."""
    for header, names in _class_names(table.schema).items():
        place = table.schema.get_field_index(header)
        table = table.set_column(place, header, _named_codes(table.column(header), names))
    return table


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column of whole numbers that is a ``ClassLabel`` of Hugging Face."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"].items()
        named = {header: one["names"] for header, one in features if one.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}
    return {
        header: names
        for header, names in named.items()
        if len(schema.get_all_field_indices(header)) == 1
        and pa.types.is_integer(schema.field(header).type)
        and isinstance(names, list)
        and all(isinstance(name, str) for name in names)
    }


def class_names_of(path: Path) -> dict[str, list[str]]:
    """Return the names of the classes of each column of a Parquet file that is a ``ClassLabel`` of Hugging Face.

    None of a file that is no Parquet, which its reader refuses, or on a worker alone.
    """
    try:
        return _class_names(pq.read_schema(path))
    except (pa.ArrowException, OSError, ValueError):
        return {}


def _named_codes(codes: Arrow, names: list[str]) -> pa.Array:
    """Return the name of each code; -1, which Hugging Face writes where no label is known, is empty."""
    whole = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    known = pc.if_else(pc.equal(whole, -1), None, whole) if pa.types.is_signed_integer(whole.type) else whole
    ends = pc.min_max(known)
    if ends["max"].is_valid and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < len(names):
        return whole
    return pc.take(pa.array(names, pa.string()), known)


def _with_lists_apart(table: pa.Table, name: str) -> pa.Table:
    """Divide columns of lists of probabilities into one column for each place in the list."""
    columns: dict[str, Arrow] = {}
    for place, field in enumerate(table.schema):
        array = table.column(place)
        columns |= _apart(field.name, array, name) if _holds_lists(field) else {field.name: array}
    return pa.table(columns) if len(columns) != table.num_columns else table


def _holds_lists(field: pa.Field) -> bool:
    """Say whether a column is called like probabilities and holds lists, or the vectors of Spark ML."""
    kind = field.type
    if pa.types.is_struct(kind):
        kind = kind.field("values").type if kind.get_field_index("values") >= 0 else kind
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return usual_case(field.name) in LONE_PROBABILITIES and listed


def _apart(header: str, array: Arrow, name: str) -> dict[str, pa.Array]:
    """Return a column for each place in lists of one length.

    Raises
    ------
    InputError
        The lists have unlike lengths.
    """
    lists = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_struct(lists.type):
        lists = lists.field("values")
    lengths = pc.unique(pc.list_value_length(lists).drop_null()).to_pylist()
    if len(lengths) != 1 or not lengths[0]:
        raise InputError.of("unlike_lists", file=name, column=header)
    if lengths[0] == 1:
        return {header: pc.list_element(lists, 0)}
    return {f"{header}[{place}]": pc.list_element(lists, place) for place in range(lengths[0])}


def _columns(
    column: Callable[[str, Kind], Arrow], kinds: Mapping[str, Kind], name: str, room: Room | None
) -> tuple[dict[str, Arrow], dict[str, Message]]:
    """Keep one column after the other; also the metadata that was not kept, with the reason."""
    arrays: dict[str, Arrow] = {}
    left_out: dict[str, Message] = {}
    for header, kind in kinds.items():
        array = column(header, kind)
        try:
            if room is not None:
                room.check(_as_plain_text(array, kind))
                # Text of a file that is not UTF-8 would fail wherever it is looked at first.
                array.validate(full=True)
            kept = keep(array, kind)
            if kind == "optional" and len(kept.dictionary) > MOST_TEXTS and not all_numbers(kept):
                left_out[header] = Message("unused.free_text", most=MOST_TEXTS)
            else:
                arrays[header] = kept
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            # An embedding or a picture beside the predictions does no harm.
            if kind in ("metadata", "optional"):
                left_out[header] = Message("unused.no_text_or_numbers")
                continue
            if pa.types.is_nested(array.type):
                raise InputError.of("several_values_in_a_cell", file=name, column=header) from None
            first = _first_line(error)
            raise InputError.of("column_unreadable", file=name, column=header, first_line=first) from None

    return arrays, left_out


def _as_plain_text(array: Arrow, kind: Kind) -> int:
    """Return the bytes that a dictionary column takes once it is kept as plain text."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    if kind != "text" or not pa.types.is_dictionary(array.type) or not _is_text(array.type.value_type):
        return 0
    return sum(
        pc.sum(pc.binary_length(chunk.dictionary).cast(pa.int64()).take(chunk.indices)).as_py() or 0
        for chunk in chunks
    )


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _locator(column: Callable[[str], Arrow]) -> Locate:
    """Return the function that gives a cell's own text; a binary file has no lines."""

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        cell = None if header is None else column(header)[row].as_py()
        return None, "" if cell is None else str(cell)

    return locate


def read_arrays(
    arrays: Mapping[str, object], name: str, choose: Choose, *, classes: Sequence[object] | None = None
) -> Columns:
    """Take columns from arrays or lists of one length, of Arrow or any other; nan in numbers is an empty cell.

    Parameters
    ----------
    arrays
        By header. Under ``y_prob`` there may be an (n, K) array of probabilities, whose columns follow ``classes``.
    classes
        Labels in that order; None: the array ``classes`` beside it, else the sorted labels of the truth.

    Raises
    ------
    InputError
        Where an array has more than one dimension, lengths differ, or values are Python objects.
    """
    arrays = _by_class(arrays, name, classes)
    columns = {str(header): _one_dimension(header, values, name) for header, values in arrays.items()}
    lengths = {header: len(column) for header, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise InputError.of(
            "unlike_lengths",
            file=name,
            column=shortest,
            shortest=repr(shortest),
            least=lengths[shortest],
            longest=repr(longest),
            most=lengths[longest],
        )
    return read_table(pa.table(columns), name, choose)


def _by_class(arrays: Mapping[str, object], name: str, classes: Sequence[object] | None) -> dict[str, object]:
    """Divide an (n, K) array of probabilities into one column a class; ``y_prob[k]`` where no labels are given.

    Raises
    ------
    InputError
        Where there are not as many labels as columns.
    """
    whole = {header: values for header, values in arrays.items() if usual_case(header) in LONE_PROBABILITIES}
    matrices = {header: np.asarray(v) for header, v in whole.items() if getattr(v, "ndim", 1) == 2}
    if not matrices:
        return dict(arrays)
    rest = {header: values for header, values in arrays.items() if header not in matrices}
    if classes is None and "classes" in rest:
        classes = np.asarray(rest.pop("classes")).tolist()
    for header, matrix in matrices.items():
        if matrix.shape[1] == 1:
            rest[header] = matrix[:, 0]
            continue
        names = [f"{header}[{place}]" for place in range(matrix.shape[1])]
        if classes is not None:
            labels = as_text(pa.array(list(classes))).to_pylist()
            if len(labels) != matrix.shape[1]:
                counts = {"columns": matrix.shape[1], "labels": len(labels)}
                raise InputError.of("unlike_classes", file=name, line=None, column=header, **counts)
            names = [f"p_{label}" for label in labels]
        rest |= dict(zip(names, matrix.T, strict=True))
    return rest


def _foreign(name: str, suffix: str, problem: str) -> InputError:
    remedy = "write the file again, or give it the suffix of what it is"
    return InputError.of("broken_file", file=name, problem=problem, suffix=suffix, remedy=remedy)


def _read_parquet(path: Path, room: Room, choose: Choose) -> Columns:
    """Read one column after the other, so that only one at a time is in memory as the file stores it."""
    apart: dict[str, pa.Array] = {}

    def column(header: str, kind: Kind) -> Arrow:
        if header in apart:
            return apart[header]
        # Labels come as codes into their distinct texts, as they are kept: most files have them so.
        coded = kind in ("labels", "codes") and header in plain
        with pq.ParquetFile(path, read_dictionary=[header] if coded else None) as again:
            if coded:
                return again.read(columns=[header], use_threads=False).column(header)
            return _in_pieces(again, header, room)

    with pq.ParquetFile(path) as file:
        of_aggregate = OF_AGGREGATE.items() <= (file.schema_arrow.metadata or {}).items()
        for field in filter(_holds_lists, file.schema_arrow):
            apart |= _apart(field.name, _in_pieces(file, field.name, room), room.name)
        for header, classes in _class_names(file.schema_arrow).items():
            apart[header] = _named_codes(_in_pieces(file, header, room), classes)
        listed = {header.partition("[")[0] for header in apart}
        names = (*(name for name in file.schema_arrow.names if name not in listed), *apart)
        rows = file.metadata.num_rows
        # Without those that are made of others.
        plain = {file.schema.column(place).path for place in range(len(file.schema))} & {*names}
        kinds = choose(names)
    chunks = chunks_of_parquet(path)
    room.check(declared_by_parquet(chunks, {h: kind for h, kind in kinds.items() if h not in apart}))
    texts = [h for h, kind in kinds.items() if kind not in ("labels", "codes") and h in plain]
    _check_entries(path, [chunk for chunk in chunks if chunk.column in texts], room)
    arrays, left_out = _columns(column, kinds, room.name, room)
    if any(len(array) != rows for array in arrays.values()):
        raise _foreign(room.name, "parquet", "its columns have different lengths")
    locate = _locator(lambda header: column(header, "text"))
    return Columns(names, arrays, rows, locate, left_out, of_aggregate=of_aggregate)


def read_whole(
    path: Path, name: str, schema: pa.Schema | None, *, memory_limit: int | None = None
) -> pa.Table:
    """Read a Parquet file with all its columns as they are.

    Parameters
    ----------
    schema
        The columns that it must have; None: any of text, and a column ``count`` of whole numbers.

    Raises
    ------
    InputError
        As ``read_parquet``, or where the file has other columns.
    """
    room = room_of(path, name, memory_limit)
    with whole(name, "parquet"):
        chunks = chunks_of_parquet(path)
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if schema is None and len(names) <= MOST_COLUMNS:
                schema = pa.schema([(n, pa.int64() if n == "count" else pa.string()) for n in names])
            if schema is None or not schema.equals(file.schema_arrow) or len(set(names)) < len(names):
                raise ValueError("it has other columns than those of an aggregate")
            room.check(declared_by_parquet(chunks, names))
            _check_entries(path, chunks, room)
            columns = [_in_pieces(file, name, room) for name in names]
        table = pa.table(columns, schema=schema)
        table.validate(full=True)
        return table


def _in_pieces(file: pq.ParquetFile, header: str, room: Room) -> pa.ChunkedArray:
    """Read a column some rows at a time, and no further than there is room."""
    pieces = []
    taken = 0
    for batch in file.iter_batches(batch_size=_ROWS_A_PIECE, columns=[header], use_threads=False):
        pieces.append(batch.column(header))
        taken += batch.nbytes
        room.check(taken, at_least=True)
    return pa.chunked_array(pieces, file.schema_arrow.field(header).type)


def _check_entries(path: Path, chunks: Sequence[Chunk], room: Room) -> None:
    """Check that some rows of a text column have room where each of them may be the longest entry of its dictionary."""
    rows = {chunk: min(chunk.values, _ROWS_A_PIECE) for chunk in chunks if chunk.kind == "BYTE_ARRAY"}
    large = [chunk for chunk, some in rows.items() if chunk.size * some > room.bytes_]
    if not large:
        return
    with pq.ParquetFile(path, read_dictionary=list(dict.fromkeys(chunk.column for chunk in large))) as file:
        for chunk in large:
            first = next(file.iter_batches(1, [chunk.group], [chunk.column], use_threads=False), None)
            entries = getattr(first and first.column(chunk.column), "dictionary", None)
            if entries is not None and _is_text(entries.type):
                room.check(rows[chunk] * (pc.max(pc.binary_length(entries)).as_py() or 0))


def _arrow(path: Path, room: Room) -> pa.Table:
    with pa.OSFile(str(path), "rb") as stream:
        room.check(declared_by_arrow(stream))
        stream.seek(0)
        try:
            table = pa.ipc.open_file(stream).read_all()
        except pa.ArrowInvalid:
            stream.seek(0)
            table = pa.ipc.open_stream(stream).read_all()
    # The offsets inside come from the file: unchecked, a wrong one reads foreign memory.
    table.validate(full=True)
    return table


def _npz(path: Path, room: Room) -> dict[str, Values]:
    name = room.name
    # np.load would take any other file for a pickle, and would not close one that it cannot open.
    with _numpy(name, "npz"), path.open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise _foreign(name, "npz", "it cannot be read as npz (it is no zip archive)")
        room.check(declared_by_npz(stream, name))
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as archive:
            return {header: archive[header] for header in archive.files}


@contextmanager
def _numpy(name: str, suffix: str) -> Iterator[None]:
    """Turn the errors of NumPy into an InputError; one that says so for Python objects.

    Raises
    ------
    InputError
        As ``whole``.
    """
    with whole(name, suffix, *_BROKEN_ARCHIVE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers as Python 2 wrote them
        try:
            yield
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise InputError.of("python_objects", file=name) from None


def _one_dimension(header: object, values: object, name: str) -> Arrow:
    dimensions = getattr(values, "ndim", 1)
    if dimensions == 2 and (column := np.asarray(values)).shape[1] == 1:
        values, dimensions = column[:, 0], 1
    if dimensions != 1:
        raise InputError.of("array_of_dimensions", file=name, column=str(header), dimensions=dimensions)
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            gaps = pc.is_nan(values) if pa.types.is_floating(values.type) else None
            return values if gaps is None else pc.if_else(gaps, missing(values.type), values)
        if isinstance(values, np.ndarray) and values.dtype.kind in "SU":
            pieces = [values[start : start + _ROWS_A_PIECE] for start in range(0, len(values), _ROWS_A_PIECE)]
            if values.dtype.kind == "S":
                pieces = [np.char.decode(piece, "utf-8") for piece in pieces]
            # Some at a time: as Python's own texts all of them would take many times the room.
            return pa.chunked_array([pa.array(piece.tolist(), pa.string()) for piece in pieces], pa.string())
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, SystemError) as error:
        first = _first_line(error)
        raise InputError.of(
            "column_of_mixed_types", file=name, column=str(header), first_line=first
        ) from None


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:160]
