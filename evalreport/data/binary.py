"""Parquet, Arrow and Feather, and NumPy's npz: columns with types of their own."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalreport.data.columns import Kind
from evalreport.data.reading import FREE_TEXT, MOST_TEXTS, Choose, Columns, Locate, file_format
from evalreport.data.values import all_numbers, keep
from evalreport.errors import InputError

_BROKEN_ARCHIVE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, KeyError, AttributeError, TypeError),
    # An encrypted or an unknown compression, and a header that promises more than there is memory.
    *(RuntimeError, MemoryError, OverflowError),
)


def read_binary(path: Path, name: str, choose: Choose) -> Columns:
    """Read a .parquet, .arrow, .feather or .npz file.

    Raises
    ------
    InputError
        Where the file is truncated, is of another format, or holds Python objects.
    """
    suffix = file_format(path)
    if suffix == "npz":
        return read_arrays(_npz(path, name), name, choose)
    import pyarrow as pa

    try:
        if suffix == "parquet":
            return _read_parquet(path, name, choose)
        return read_table(_arrow(path), name, choose)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise foreign(
            name, f"it cannot be read as {suffix} ({_first_line(error)})", f"a whole {suffix} file"
        ) from None


def read_table(table: Any, name: str, choose: Choose) -> Columns:
    """Take the columns of an Arrow table.

    Raises
    ------
    InputError
        Where a column holds bytes that are no text or a type that no cell can have.
    """
    names = tuple(field.name for field in table.schema)
    arrays, left_out = _columns(table.column, choose(names), name)
    return Columns(names, arrays, table.num_rows, _place(table.column), left_out)


def _columns(
    column: Callable[[str], Any], kinds: Mapping[str, Kind], name: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Keep one column after the other; also the metadata that was not kept, with the reason."""
    import pyarrow as pa

    arrays: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for header, kind in kinds.items():
        array = column(header)
        try:
            kept = keep(array, kind)
            if kind == "aside" and len(kept.dictionary) > MOST_TEXTS and not all_numbers(kept):
                left_out[header] = FREE_TEXT
            else:
                arrays[header] = kept
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            if kind in ("metadata", "aside"):  # an embedding or a picture beside the predictions does no harm
                left_out[header] = "its cells are no text or numbers"
                continue
            raise InputError(
                f"the column cannot be read as text or numbers ({_first_line(error)})",
                file=name,
                column=header,
                expected="text, numbers or booleans",
                remedy="write the column as text or numbers",
            ) from None

    return arrays, left_out


def _place(column: Callable[[str], Any]) -> Locate:
    """Return what says where a row's cell stands: a file without lines has its own text alone."""

    def locate(row: int, header: str | None) -> tuple[int | None, str]:
        return None, "" if header is None else str(column(header)[row].as_py())

    return locate


def read_arrays(arrays: Mapping[str, Any], name: str, choose: Choose) -> Columns:
    """Take columns from arrays or lists of one length.

    Raises
    ------
    InputError
        Where an array has more than one dimension, lengths differ, or values are Python objects.
    """
    import pyarrow as pa

    columns = {str(header): _one_dimension(header, values, name) for header, values in arrays.items()}
    lengths = {header: len(column) for header, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise InputError(
            f"the columns have different lengths: {longest!r} has {lengths[longest]}, "
            f"{shortest!r} has {lengths[shortest]}",
            file=name,
            column=shortest,
            expected="columns of one length",
            remedy="write every column with one value a row",
        )
    return read_table(pa.table(columns), name, choose)


def foreign(name: str, problem: str, expected: str) -> InputError:
    """Say that a file is broken or is not what its suffix says."""
    return InputError(
        problem,
        file=name,
        expected=expected,
        remedy="write the file again, or give it the suffix of what it is",
    )


def _read_parquet(path: Path, name: str, choose: Choose) -> Columns:
    """Read one column after the other, so that no two lie in memory as the file has them."""
    import pyarrow.parquet as pq

    def column(header: str) -> Any:
        with pq.ParquetFile(path) as again:
            return again.read(columns=[header], use_threads=False).column(header)

    with pq.ParquetFile(path) as file:
        names, rows = tuple(file.schema_arrow.names), file.metadata.num_rows
    arrays, left_out = _columns(column, choose(names), name)
    if any(len(array) != rows for array in arrays.values()):
        raise foreign(name, "its columns have different lengths", "a whole parquet file")
    return Columns(names, arrays, rows, _place(column), left_out)


def _arrow(path: Path) -> Any:
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as stream:
        try:
            table = pa.ipc.open_file(stream).read_all()
        except pa.ArrowInvalid:
            stream.seek(0)
            table = pa.ipc.open_stream(stream).read_all()
    # The offsets inside come from the file: unchecked, a wrong one reads foreign memory.
    table.validate(full=True)
    return table


def _npz(path: Path, name: str) -> dict[str, Any]:
    import numpy as np

    try:
        # np.load would take any other file for a pickle, and would not close one that it cannot open.
        with path.open("rb") as stream:
            if not zipfile.is_zipfile(stream):
                raise foreign(name, "it cannot be read as npz (it is no zip archive)", "a whole npz file")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                return {header: archive[header] for header in archive.files}
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise foreign(
                name, f"it cannot be read as npz ({_first_line(error)})", "a whole npz file"
            ) from None
        raise InputError(
            "the file holds Python objects, which can run code when they are loaded",
            file=name,
            expected="arrays of numbers, booleans or fixed-width text",
            remedy="save text with dtype=str (for example np.asarray(labels, dtype=str))",
        ) from None
    except _BROKEN_ARCHIVE as error:
        raise foreign(name, f"it cannot be read as npz ({_first_line(error)})", "a whole npz file") from None


def _one_dimension(header: object, values: Any, name: str) -> Any:
    import numpy as np
    import pyarrow as pa

    shape: Sequence[int] = getattr(values, "shape", (len(values),))
    if len(shape) != 1:
        raise InputError(
            f"the array has {len(shape)} dimensions",
            file=name,
            column=str(header),
            expected="one value a row (probabilities: one column p_<label> for each class)",
            remedy="save each column as an array of one dimension",
        )
    try:
        if isinstance(values, np.ndarray) and values.dtype.kind in "SU":
            values = np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
            return pa.array(values.tolist(), pa.string())
        return pa.array(values)
    except (pa.ArrowException, UnicodeDecodeError, TypeError, ValueError) as error:
        raise InputError(
            f"the column cannot be read as text or numbers ({_first_line(error)})",
            file=name,
            column=str(header),
            expected="text, numbers or booleans, one type a column",
            remedy="convert the column to one type",
        ) from None


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:160]
