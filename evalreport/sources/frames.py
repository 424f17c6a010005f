"""Data frames and columns of any library, as Arrow tables and arrays with their index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.errors import InputError
from evalreport.predictions.cells import are_shares, as_text
from evalreport.predictions.column_names import (
    IDENTITY_COLUMNS,
    LONE_PROBABILITIES,
    PROBABILITY_PREFIXES,
    are_counts,
    spellings,
    usual_case,
)
from evalreport.sources.binary import with_class_names

if TYPE_CHECKING:
    import pandas as pd


ID_NAMES = frozenset(spellings("id"))


def dimensions(values: object) -> int:
    """Return the dimensions of an array, or of a list of lists of one length."""
    if isinstance(values, (list, tuple)):
        rows = [len(row) for row in values if isinstance(row, (list, tuple, np.ndarray))]
        return 2 if rows and len(rows) == len(values) and len(set(rows)) == 1 and rows[0] > 1 else 1
    shape: tuple[int, ...] = getattr(values, "shape", ())
    return 1 if len(shape) == 2 and shape[1] == 1 else int(getattr(values, "ndim", 1))


def _of(value: object, library: str) -> bool:
    return type(value).__module__.partition(".")[0] == library


def are_lazy(source: object) -> bool:
    """Say whether a source is a lazy frame of Dask or Spark, or a mapping of names to lazy frames."""
    frames = list(source.values()) if isinstance(source, Mapping) else [source]
    return bool(frames) and all(_of(frame, "dask") or _of(frame, "pyspark") for frame in frames)


def is_frame(value: object) -> bool:
    """Say whether a value is a data frame of any library."""
    if isinstance(value, (Mapping, str, list, tuple, np.ndarray)) or value is None:
        return False
    if _of(value, "datasets"):
        return hasattr(value, "with_format")
    if _of(value, "pyarrow"):
        return not type(value).__name__.endswith(("Array", "Scalar"))
    if type(value).__name__ in ("Series", "Index", "Expr"):
        return False
    if hasattr(type(value), "columns") and not hasattr(type(value), "predict"):
        return True
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "__array__")


def arrow_table(source: Any, name: str) -> tuple[pa.Table, pd.Index | None]:
    """Return a data frame of any library as an Arrow table, and its index where it has one.

    Raises
    ------
    InputError
        Where it cannot be read, or its rows have no order and no id.
    """
    import narwhals as nw

    try:
        if _of(source, "pyarrow"):
            table = source.to_table() if hasattr(source, "to_table") else pa.table(source)
            return with_class_names(table), None
        if _of(source, "dask"):
            source = _computed(source)
        if _of(source, "pandas"):
            return _pandas(source)
        if _of(source, "datasets"):  # of Hugging Face
            if not hasattr(source, "num_rows"):
                raise unreadable(name, "a data set that is streamed: load it without streaming=True")
            table = pa.table(source.with_format("arrow")[:])
            table = table.replace_schema_metadata(source.features.arrow_schema.metadata)
            return with_class_names(table), None
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            names = frame.collect_schema().names()
            named = not ID_NAMES.isdisjoint(map(usual_case, names))
            if _of(source, "pyspark") and not named and not are_counts(names):
                raise InputError.of("no_id_in_spark", file=name, column="id")
            frame = frame.collect()
        return (frame.to_arrow() if isinstance(frame, nw.DataFrame) else pa.table(source)), None
    except (pa.ArrowException, nw.exceptions.NarwhalsError, ValueError, TypeError) as error:
        raise unreadable(name, (str(error) or type(error).__name__).splitlines()[0][:160]) from None


def _computed(lazy: Any) -> Any:
    """Return the frame, series or array of Dask in memory; without divisions each piece counts its rows from 0."""
    values = lazy.compute()
    counted_apart = hasattr(values, "index") and not lazy.known_divisions
    return values.reset_index(drop=True) if counted_apart else values


def _pandas(frame: pd.DataFrame) -> tuple[pa.Table, pd.Index | None]:
    """Take a frame of pandas; levels of its index that are columns of ours (model, fold ...) become columns."""
    frame = frame.rename(columns=str)
    known = {*spellings("model"), *IDENTITY_COLUMNS} - set(frame.columns)
    levels = [level for level in frame.index.names if level in known]
    index: pd.Index | None = frame.index
    if levels:
        rest = frame.index.nlevels - len(levels)
        frame = frame.reset_index(level=levels)
        index = frame.index if rest else None
    return pa.Table.from_pandas(frame, preserve_index=False), index


def with_named_probabilities(table: pa.Table) -> pa.Table:
    """Name the columns of a table of nothing but probabilities that add up to 1 after their classes.

    ``DataFrame(proba, columns=model.classes_)`` has the columns ``p_<class>``; with columns numbered from 0, as a frame
    has them that was given no names, ``y_prob[k]``. Any other table is returned as it is.
    """
    names = table.schema.names
    known = any(usual_case(name) in (*spellings(), *LONE_PROBABILITIES) for name in names)
    if len(names) < 2 or known or not all(pa.types.is_floating(field.type) for field in table.schema):
        return table
    if not are_shares(table.columns):
        return table
    if names == [str(place) for place in range(len(names))]:
        return table.rename_columns([f"y_prob[{name}]" for name in names])
    plain = all(usual_case(name).startswith(PROBABILITY_PREFIXES) for name in names)
    return table if plain else table.rename_columns([f"p_{name}" for name in names])


def unreadable(name: str, why: str) -> InputError:
    """Return the error of a data frame that cannot be read."""
    return InputError.of("frame_unreadable", file=name, why=why)


def arrow_column(values: Any) -> tuple[object, pd.Index | None]:
    """Return a column that Arrow can take, and its index where it has one: series of any library, arrays, lists."""
    if _of(values, "dask") and hasattr(values, "compute"):
        values = _computed(values)
    if is_frame(values):
        table, index = arrow_table(values, "<data frame>")
        columns = [column.to_numpy(zero_copy_only=False) for column in table.columns]
        return (columns[0] if len(columns) == 1 else np.column_stack(columns)), index
    if _of(values, "pandas"):
        index = getattr(values, "index", None)
        try:
            return pa.Array.from_pandas(values), index
        except (pa.ArrowException, TypeError, ValueError):
            return list(values), index  # the reader of columns reports it
    if hasattr(values, "to_arrow"):
        return values.to_arrow(), None
    if isinstance(values, (list, tuple)):
        return (np.asarray(values) if dimensions(values) == 2 else values), None
    if isinstance(values, np.ndarray) or hasattr(values, "__arrow_array__") or _of(values, "pyarrow"):
        return values, None
    if hasattr(values, "detach"):  # a tensor that may lie elsewhere and remember how it was made
        values = values.detach().cpu()
    array = np.asarray(values)
    return (array if array.ndim else np.asarray([values])), None


def is_labelled(index: pd.Index) -> bool:
    """Say whether an index says more than the position."""
    if index.nlevels > 1 or index.dtype.kind not in "iu":
        return len(index) > 0
    return not np.array_equal(index.to_numpy(), np.arange(len(index)))


def index_texts(index: pd.Index) -> pa.Array:
    r"""Return the labels of an index as text; those of several levels with a slash between, their own as ``\/``."""
    levels = []
    for level in range(index.nlevels):
        array = pa.Array.from_pandas(index.get_level_values(level))
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        levels.append(as_text(array))
    if len(levels) == 1:
        return levels[0]
    escaped = [pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), "/", "\\/") for text in levels]
    return pc.binary_join_element_wise(*escaped, "/")
