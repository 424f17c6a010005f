"""The rows of all tables in one list, each with the file and line where it stands."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from evalreport.engine.blocks import Places
from evalreport.errors import InputError, input_texts, refuse_all
from evalreport.loading.ids import code_ids
from evalreport.loading.roles import Roles
from evalreport.loading.tables import Table
from evalreport.predictions.arrays import Arrow, Codes, Indices, Mask, Values
from evalreport.predictions.cells import (
    code_type,
    combined,
    dictionary_codes,
    dictionary_numbers,
    flags,
    from_numpy,
    in_chunks,
    narrowed,
    positions,
    stacked,
)
from evalreport.predictions.column_names import IDENTITY_COLUMNS, NUMBER_COLUMNS
from evalreport.predictions.spelling import one_number
from evalreport.texts import Value, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Every row of every table, one below the other.

    Attributes
    ----------
    tables, starts
        Where a row came from: ``starts`` (number of tables + 1,) holds the first row of each table. The tables'
        own arrays are gone: they would be in memory twice.
    models, model
        The models' names, sorted, and each row's code into them.
    ids
        Each row's id (Arrow strings in chunks, or codes into the distinct ones); None where rows are scores on data
        sets.
    columns, probabilities, metadata
        Arrow arrays by standard name, by label as the header spells it, and by header; empty (null) for the
        rows of a table without that column.
    """

    tables: tuple[Table, ...]
    starts: Indices
    models: tuple[str, ...]
    model: Values
    ids: pa.ChunkedArray | None
    columns: Mapping[str, Arrow]
    probabilities: Mapping[str, Arrow]
    metadata: Mapping[str, Arrow]
    costs: Mapping[str, Arrow] = field(default_factory=dict)
    """Arrow arrays by the name of the cost."""
    numbers: Mapping[str, Arrow] = field(default_factory=dict)
    """Arrow arrays of sums, or of limits and quantiles, by their names in ``ModelOutputs.numbers``."""
    coded: tuple[pa.Array, Places] | None = None
    """The distinct ids in order and each row's position among them, where they were found before the alignment."""
    truth: pa.Array | None = None
    """Each row's true value from the file of true values (dictionary of strings), where there is one."""
    truth_table: Table | None = None
    truth_place: Indices | None = None
    """That file, and each row's position in it (-1 where it does not have the id)."""
    place: Indices | None = None
    """Each row's position in its own table, where rows were left out since."""
    times: Indices | None = None
    """(n,) examples of each row of a table of counts."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.starts[-1])

    @property
    def n_predictions(self) -> int:
        """Number of predictions: rows, or of a table of counts the sum of its counts."""
        return self.n if self.times is None else int(self.times.sum())

    def labels(self, column: str) -> pa.DictionaryArray | None:
        """Return y_true or y_pred, or ``truth``: the true values of the separate file."""
        return self.truth if column == "truth" else self.columns.get(column)

    def quoted_id(self, row: int) -> str:
        """Return a row's id as messages quote it."""
        assert self.ids is not None
        return quoted(self.ids[row].as_py())


def gather(tables: Sequence[Table]) -> Rows:
    """Put the rows of all tables below one another.

    Raises
    ------
    InputError
        Where two tables hold the same model, a model has no name, or an id is missing.
    """
    starts = np.concatenate([[0], np.cumsum([table.read.rows for table in tables])]).astype(np.int64)
    models, model = _models(tables)
    costs = _concatenated(tables, lambda roles: roles.costs, number=False)
    without_numbers = [n for n, array in costs.items() if not np.isfinite(dictionary_numbers(array)).any()]
    # Under its own name: with `--value cluster` a column `value` is metadata.
    metadata = _concatenated(tables, lambda roles: {h.strip(): h for h in roles.metadata}, number=False)
    rows = Rows(
        tables=tuple(replace(table, read=replace(table.read, arrays={})) for table in tables),
        starts=starts,
        models=models,
        model=model,
        ids=_ids(tables),
        columns=_with_part(_concatenated(tables, _data_columns)),
        probabilities=_concatenated(tables, lambda roles: roles.probabilities, number=True),
        metadata=metadata | {name: costs.pop(name) for name in without_numbers},
        costs=costs,
        numbers=_concatenated(tables, lambda roles: roles.numbers, number=False),
    )
    if rows.ids is not None and rows.ids.null_count:
        empty = int(np.flatnonzero(flags(rows.ids.is_null()))[0])
        raise fault(rows, empty, "id", "empty_id")
    return rows


def with_coded_ids(rows: Rows, *, memory_limit: int | None) -> Rows:
    """Find the distinct ids and each row's position among them, and keep those in place of a text for each row.

    Raises
    ------
    UsageError
        Where the memory limit leaves no room to sort the ids.
    """
    if rows.ids is None or rows.coded is not None:
        return rows
    ids, code = code_ids(ids_by_table(rows), memory_limit=memory_limit)
    texts = pa.chunked_array([pa.DictionaryArray.from_arrays(from_numpy(code), ids)])
    return replace(rows, ids=texts, coded=(ids, code))


def some_rows(rows: Rows, kept: Indices) -> Rows:
    """Return some rows, in their order, which still know where they came from."""
    taken = from_numpy(kept)

    def of(columns: Mapping[str, Arrow]) -> dict[str, Arrow]:
        return {name: array.take(taken) for name, array in columns.items()}

    starts = np.searchsorted(kept, rows.starts).astype(np.int64)
    place = kept - np.repeat(rows.starts[:-1], np.diff(starts)) if rows.place is None else rows.place[kept]
    return replace(
        rows,
        starts=starts,
        model=rows.model[kept],
        ids=None if rows.ids is None else rows.ids.take(taken),
        columns=of(rows.columns),
        probabilities=of(rows.probabilities),
        metadata=of(rows.metadata),
        costs=of(rows.costs),
        numbers=of(rows.numbers),
        coded=None if rows.coded is None else (rows.coded[0], rows.coded[1][kept]),
        truth=None if rows.truth is None else rows.truth.take(taken),
        truth_place=None if rows.truth_place is None else rows.truth_place[kept],
        place=place,
    )


def as_metadata(rows: Rows, column: str) -> Rows:
    """Make a standard column one like any other, under the name that the files give it."""
    headers = {table.roles.columns.get(column) for table in rows.tables} - {None}
    name = headers.pop() if len(headers) == 1 else None
    columns = {other: array for other, array in rows.columns.items() if other != column}
    own = {(name or column).strip(): rows.columns[column]}
    return replace(rows, columns=columns, metadata={**own, **rows.metadata})


def headers_of(rows: Rows, column: str | None) -> tuple[str, ...]:
    """Return how the files spell a standard column, each spelling once, in order."""
    headers = (table.roles.columns.get(column) for table in rows.tables) if column is not None else ()
    return tuple(sorted({header.strip() for header in headers if header is not None}))


def first_of(names: Iterable[str], most: int) -> str:
    """Return the first names as messages list them, and dots where there are more."""
    every = list(names)
    return ", ".join(every[:most]) + (", ..." if len(every) > most else "")


def ids_by_table(rows: Rows) -> list[pa.ChunkedArray]:
    """Return the ids of each table's rows."""
    assert rows.ids is not None
    return [rows.ids[start:end] for start, end in itertools.pairwise(rows.starts)]


def _data_columns(roles: Roles) -> dict[str, str]:
    return {name: header for name, header in roles.columns.items() if name not in ("id", "model")}


def _with_part(columns: dict[str, Arrow]) -> dict[str, Arrow]:
    """Say ``test`` where the part is not given."""
    if "part" in columns:
        columns["part"] = columns["part"].dictionary_decode().fill_null("test").dictionary_encode()
    return columns


def origin_of(rows: Rows, row: int) -> tuple[Table, int]:
    """Return the table of a row, and the row's position in it."""
    table = int(np.searchsorted(rows.starts, row, side="right")) - 1
    place = row - int(rows.starts[table]) if rows.place is None else int(rows.place[row])
    return rows.tables[table], place


def file_of(rows: Rows, model: int) -> str:
    """Return the name of the first file that holds a model."""
    table, _ = origin_of(rows, int(np.flatnonzero(rows.model == model)[0]))
    return table.name


def location_of(rows: Rows, row: int, column: str | None = None) -> str:
    """Say where a row stands: file and line (or row, in a file without lines)."""
    table, place = _table_of(rows, row, column)
    line, _ = table.read.locate(place, None)
    return f"{table.name}, line {line}" if line is not None else f"{table.name}, row {place + 1}"


def _table_of(rows: Rows, row: int, column: str | None) -> tuple[Table, int]:
    """Return where a row's cell stands; ``truth`` is the column y_true of the file of true values."""
    if column == "truth" and rows.truth_table is not None and rows.truth_place is not None:
        return rows.truth_table, int(rows.truth_place[row])
    return origin_of(rows, row)


def fault(
    rows: Rows, row: int, column: str | None, code: str, /, *, count: int = 1, **values: Value
) -> InputError:
    """Return the error about one row, with its file, line and column as the file spells it.

    Parameters
    ----------
    column
        Its standard name; ``truth`` is y_true of the file of true values.
    code, values
        The kind of error, and what fills its texts, beside ``cell`` (the cell's own text), ``id`` and ``model``.
    count
        How many rows have the same fault.
    """
    table, place, header = _place(rows, row, column)
    line, cell = table.read.locate(place, header if header in table.read.names else None)
    known = {"id": "" if rows.ids is None else rows.quoted_id(row), "model": rows.models[rows.model[row]]}
    problem, expected, remedy = input_texts(code, **{"cell": quoted(cell), **known, **values})
    if line is None and table.read.rows > 1:
        problem = f"row {place + 1}: {problem}"
    if count > 1:
        problem += f" (the first of {count} such rows)"
    return InputError(
        problem, file=table.name, line=line, column=header or column, expected=expected, remedy=remedy
    )


def header_of(rows: Rows, row: int, column: str) -> str:
    """Return how the file of a row spells a standard column."""
    return _header(origin_of(rows, row)[0].roles, column) or column


def _place(rows: Rows, row: int, column: str | None) -> tuple[Table, int, str | None]:
    """Return the table of a row's cell, the row's position there, and the header of its column."""
    table, place = _table_of(rows, row, column)
    return table, place, _header(table.roles, "y_true" if column == "truth" else column)


def cell_of(rows: Rows, row: int, column: str) -> str:
    """Return a cell's own text, as the file has it; empty where its file has no such column."""
    table, place, header = _place(rows, row, column)
    return table.read.locate(place, header)[1] if place >= 0 and header in table.read.names else ""


def refuse_where(wrong: Mask, rows: Rows, column: str, code: str, /, **values: Value) -> None:
    """Refuse the first wrong row of each file.

    Raises
    ------
    InputError
        Its file, line and column, and how many there are; one for each file.
    """
    if not wrong.any():
        return
    errors: list[InputError] = []
    bounds = [0, rows.n] if column == "truth" else rows.starts.tolist()
    for start, end in itertools.pairwise(bounds):
        count = int(wrong[start:end].sum())
        if count:
            row = start + int(np.argmax(wrong[start:end]))
            errors.append(fault(rows, row, column, code, count=count, **values))
    refuse_all(errors)


def _header(roles: Roles, column: str | None) -> str | None:
    if column is None:
        return None
    if column.startswith("p_"):
        alike = [h for label, h in roles.probabilities.items() if column[2:] in (label, one_number(label))]
        return alike[0] if alike else column
    if column.startswith("in@"):
        return roles.columns.get("y_set", column)
    known = {**roles.costs, **roles.numbers, **roles.columns}
    return known.get(column) or known.get(column.partition("@")[0], column)  # tp@0 is of the column tp


def _models(tables: Sequence[Table]) -> tuple[tuple[str, ...], Codes]:
    """Return all models' names in order, and each row's code."""
    owner: dict[str, Table] = {}
    local: list[tuple[list[str], Codes]] = []
    for table in tables:
        names, codes = _models_of(table)
        header = table.roles.columns.get("model")
        if (codes < 0).any() or not all(name.strip() for name in names):
            blank = [code for code, name in enumerate(names) if not name.strip()]
            raise _no_name(table, header, int(np.flatnonzero((codes < 0) | np.isin(codes, blank))[0]))
        for name in np.flatnonzero(np.bincount(codes)):
            first = owner.setdefault(names[name], table)
            apart = _tells_fits_apart(first) or _tells_fits_apart(table) or (first.part and table.part)
            if first is not table and not apart:
                raise _same_model(names[name], first.name, table.name)
        local.append((names, codes))
    models = tuple(sorted(owner))
    place = {name: code for code, name in enumerate(models)}
    coded = np.empty(sum(table.read.rows for table in tables), dtype=code_type(len(models)))
    end = 0
    for table, (names, codes) in zip(tables, local, strict=True):
        start, end = end, end + table.read.rows
        coded[start:end] = np.array([place.get(name, -1) for name in names], dtype=coded.dtype)[codes]
    return models, coded


def _models_of(table: Table) -> tuple[list[str], Codes]:
    """Return the models of a table and each row's code: one code for all rows where there is one model."""
    header = table.roles.columns.get("model")
    if header is None:
        return [table.model], np.zeros(1, dtype=np.int32)
    array = combined(table.read.arrays[header])
    return array.dictionary.to_pylist(), dictionary_codes(array)


def _tells_fits_apart(table: Table) -> bool:
    """Say whether the rows of a model may go on in another file: folds, replicates, training rows beside test rows."""
    return bool({*IDENTITY_COLUMNS, "train_size", "complexity"} & set(table.roles.columns))


def _no_name(table: Table, header: str | None, row: int) -> InputError:
    return table.fault(row, header, "model_without_name" if header else "model_without_name_in_file")


def _same_model(model: str, first: str, second: str) -> InputError:
    return InputError.of("model_in_two_files", file=second, model=model, first=first, second=second)


def _ids(tables: Sequence[Table]) -> pa.ChunkedArray | None:
    if all("value" in table.roles.columns for table in tables):
        return None
    parts = []
    for table in tables:
        header = table.roles.columns.get("id")
        if header is not None:
            parts.append(table.read.arrays[header])
        elif (table.positional or len(tables) == 1) and len(_models_of(table)[0]) == 1:
            parts.append(positions(table.read.rows))
        else:
            code = "no_id" if table.roles.nameless is None else "nameless_is_no_id"
            line = None if table.positional else 1
            raise InputError.of(code, file=table.name, line=line, column="id")
    return pa.chunked_array([chunk for part in parts for chunk in in_chunks(part).chunks], pa.string())


def _concatenated(
    tables: Sequence[Table], headers: Callable[[Roles], Mapping[str, str]], *, number: bool | None = None
) -> dict[str, Arrow]:
    """Concatenate each column over the tables, empty where a table lacks it; None: numbers where its name says so."""
    own = [headers(table.roles) for table in tables]
    names = dict.fromkeys(name for table_headers in own for name in table_headers)
    columns = {}
    for name in names:
        numbers = name in NUMBER_COLUMNS if number is None else number
        kind = pa.float64() if numbers else pa.dictionary(pa.int8(), pa.string())
        parts: list[pa.Array] = []
        for table, table_headers in zip(tables, own, strict=True):
            header = table_headers.get(name)
            if header is None:
                parts.append(pa.nulls(table.read.rows, kind))
            else:
                parts += in_chunks(table.read.arrays[header]).chunks
        columns[name] = narrowed(combined(stacked(parts)))
    return columns
