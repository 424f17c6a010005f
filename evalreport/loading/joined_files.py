"""Columns that stand in files of their own: true values, and further columns by id."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from evalreport.errors import A_WEIGHT, FILL_IN, InputError, UsageError
from evalreport.loading.alignment import Alignment
from evalreport.loading.columns import (
    IDENTITY_COLUMNS,
    KEY_COLUMNS,
    NUMBER_COLUMNS,
    all_numbers,
    category_column,
    combined,
    dictionary_codes,
    dictionary_numbers,
    floats,
    recode,
    take,
    used_only,
)
from evalreport.loading.ids import code_ids, told_apart
from evalreport.loading.outputs import label_numbers
from evalreport.loading.rows import (
    Rows,
    Table,
    fault,
    ids_by_table,
    in_chunks,
    place_of,
    positions,
    refuse_where,
    whence,
)
from evalreport.loading.task import FoundTask
from evalreport.options import Options
from evalreport.predictions.selection import marked_as_test
from evalreport.predictions.slicing import MOST_VALUES, are_numbers, may_be_sliced_by, read_slicing
from evalreport.predictions.table import TASK, Arrow, Column, Indices, Mask, ModelOutputs, Values, flags
from evalreport.registry import unknown_name
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, quoted

if TYPE_CHECKING:
    import pyarrow as pa

PARTS = ("test", "train", "validation")


@dataclass(frozen=True, slots=True)
class Described:
    """Columns by cell, the models with the columns of their own, and what was odd about them."""

    keys: dict[str, Column]
    metadata: dict[str, Column]
    models: tuple[ModelOutputs, ...]
    warnings: tuple[WarningRecord, ...]


def covariates(
    rows: Rows, alignment: Alignment, options: Options, models: Sequence[ModelOutputs]
) -> Described:
    """Bring every other column into canonical order.

    Raises
    ------
    UsageError
        Where ``--slice``, ``--cluster`` or ``--weight`` names a column that is not there.
    InputError
        Where a part is none of test, train, validation, a number column holds no finite number, or every weight is 0.
    """
    _check_parts(rows)
    own: list[dict[str, Column]] = [{} for _ in models]
    keys: dict[str, Column] = {}
    metadata: dict[str, Column] = {}
    warnings: list[WarningRecord] = []
    for name in KEY_COLUMNS:
        if name in rows.columns:
            column = alignment.keys[name] if name in IDENTITY_COLUMNS else _key_column(rows, name)
            _place(name, column, alignment, keys, own)
    for name in sorted(rows.metadata):
        _place(name, _metadata_column(rows, name, options), alignment, metadata, own)
        if name not in metadata:
            warnings.append(warning("column_differs_between_models", about=(name,), column=name))
    _check_named(options, {**keys, **metadata}, {name for columns in own for name in columns})
    if options.weight in metadata and not any(_PARTIAL & columns.keys() for columns in own):
        empty = _tested(keys, alignment.rows.shape[1]) & ~_given(metadata[options.weight])
        _refuse_empty_weight(rows, alignment, options.weight, np.flatnonzero(empty))
    if options.weight in metadata and not (metadata[options.weight].values > 0).any():
        raise InputError(
            "every example weighs 0",
            column=options.weight,
            expected="weights above 0",
            remedy="name another column",
        )
    owners = tuple(
        dataclasses.replace(model, columns=columns) if columns else model
        for model, columns in zip(models, own, strict=True)
    )
    return Described(keys, metadata, owners, tuple(warnings))


_PARTIAL = frozenset(("part", "inbag", "inner_fold", "replicate"))
"""Columns that say which rows are not analysed, and so need no weight."""


def _tested(keys: Mapping[str, Column], n: int) -> Mask:
    """Return which cells are analysed on any test set: none of the training, of validation or in the bag."""
    tested = np.ones(n, dtype=np.bool_)
    if "part" in keys:
        tested &= marked_as_test(keys["part"])
    if "inbag" in keys:
        tested &= ~(keys["inbag"].values > 0)
        tested &= "replicate" not in keys or keys["replicate"].values >= 0
    if "inner_fold" in keys:
        tested &= keys["inner_fold"].values < 0
    return tested


def _refuse_empty_weight(rows: Rows, alignment: Alignment, column: str, cells: Indices) -> None:
    """Refuse the first example without a weight where a file of predictions has the column, by its line.

    The true values may have it instead; their lines are not known here, and the example is refused later.
    """
    for index in alignment.rows:
        found = index[cells][index[cells] >= 0]
        if not len(found):
            continue
        row = int(found.min())
        if column in {name.strip() for name in whence(rows, row)[0].read.names}:
            counted = rows.times is not None
            whose = "a line" if counted or rows.ids is None else f"the id {rows.quoted_id(row)}"
            problem = f"{whose} has no weight"
            raise fault(rows, row, column, problem, expected=A_WEIGHT, remedy=FILL_IN, count=len(found))


def _place(
    name: str, column: Column, alignment: Alignment, shared: dict[str, Column], own: list[dict[str, Column]]
) -> None:
    """Keep one column for all models where they agree (empty agrees with anything), else one a model."""
    merged = take(column, alignment.rows[0])
    for index in alignment.rows[1:]:
        values = take(column, index)
        if (_given(merged) & _given(values) & (merged.values != values.values)).any():
            for model, model_index in zip(own, alignment.rows, strict=True):
                model[name] = take(column, model_index)
            return
        merged = Column(np.where(_given(merged), merged.values, values.values), column.categories)
    shared[name] = merged


def _given(column: Column) -> Mask:
    given = ~np.isnan(column.values) if column.categories is None else column.values >= 0
    return np.asarray(given, dtype=np.bool_)


def _key_column(rows: Rows, name: str) -> Column:
    array = rows.columns[name]
    if name in NUMBER_COLUMNS:
        values = floats(array)
        _refuse_wrong(rows, name, ~np.isfinite(values) & ~flags(array.is_null()))
        return Column(values)
    if name == "time" and all_numbers(used_only(array)):
        return Column(dictionary_numbers(array))
    return category_column(array)


def _metadata_column(rows: Rows, name: str, options: Options) -> Column:
    """Weights are numbers, slices of few values and clusters categories; of the rest, numbers stay numbers."""
    array = rows.metadata[name]
    if name == options.weight:
        values = dictionary_numbers(array)
        given = dictionary_codes(array) >= 0
        _refuse_wrong(rows, name, (given & ~np.isfinite(values)) | (values < 0), may_be_empty=False)
        return Column(values)
    array = used_only(array)
    if name == options.cluster:
        return category_column(array)
    if may_be_sliced_by(name, options.slices, options.gates):
        texts = array.dictionary.to_pylist()
        if not (len(texts) > MOST_VALUES and are_numbers(texts)):
            return category_column(array)
    return Column(dictionary_numbers(array)) if all_numbers(array) else category_column(array)


def _refuse_wrong(rows: Rows, name: str, wrong: Mask, *, may_be_empty: bool = True) -> None:
    refuse_where(
        wrong,
        rows,
        name,
        "{cell} is not a finite number that this column can hold",
        expected=A_WEIGHT,
        remedy="correct the value" + (", or leave the cell empty" if may_be_empty else ""),
    )


def _check_parts(rows: Rows) -> None:
    if "part" not in rows.columns:
        return
    array = rows.columns["part"]
    foreign = [code for code, text in enumerate(array.dictionary.to_pylist()) if text not in PARTS]
    refuse_where(
        np.isin(dictionary_codes(array), foreign),
        rows,
        "part",
        "{cell} is no part",
        expected="test, train or validation",
        remedy="correct it, or rename the column if it means something else",
    )


def _check_named(options: Options, columns: dict[str, Column], differing: set[str]) -> None:
    for text in options.slices:
        for part in read_slicing(text, columns, differing):
            if part.column == options.weight:
                raise UsageError(f"--slice {text}: the column is the weight; it cannot be both")
    named = (
        ("--cluster", options.cluster),
        ("--weight", options.weight),
        ("--same-input", options.same_input),
    )
    for option, name in named:
        if name is None:
            continue
        if name in differing:
            raise UsageError(
                f"{option} {name}: the models have different values of {name!r} for the same example:"
                " it must be the same for all"
            )
        if name not in columns:
            raise UsageError(f"{option}: {unknown_name('column', name, list(columns))}")
        if option == "--weight" and name in KEY_COLUMNS:
            raise UsageError(
                f"--weight {name}: this column says which fit a row belongs to, not how much it counts"
            )
        if option != "--weight" and name == options.weight:
            raise UsageError(f"{option} {name}: the column is the weight; it cannot be both")


def attach_truth(
    rows: Rows, table: Table, *, memory_limit: int | None = None
) -> tuple[Rows, tuple[FoundRecord, ...], tuple[WarningRecord, ...]]:
    """Give each row the true value (and the other columns) that a table apart holds for its id.

    Raises
    ------
    InputError
        Where the table has no id or no y_true, an empty id, or an id twice.
    UsageError
        Where the memory limit leaves no room to sort the ids.
    """
    header = table.roles.columns.get("y_true")
    if header is None:
        raise _lacks(table, "y_true", "the true label or value of each example")
    if rows.ids is None:
        raise _lacks(table, "id", "no true values: the files hold one score a row, not examples")
    if "id" in table.roles.columns:
        ids = in_chunks(table.read.arrays[table.roles.columns["id"]])
    elif table.positional and rows.tables[0].positional:
        ids = _same_length(rows, table)
    else:
        raise _lacks(table, "id", "the id of each example, as in the prediction files")
    rows, place = _matched(rows, table, ids, memory_limit)
    metadata, columns = dict(rows.metadata), dict(rows.columns)
    if TASK in table.roles.columns and TASK not in columns:
        columns[TASK] = _truth_taken(table.read.arrays[table.roles.columns[TASK]], place)
    for other in table.roles.metadata:
        if other.strip() not in metadata:
            metadata[other.strip()] = _truth_taken(table.read.arrays[other], place)
    unused = len(ids) - int(np.count_nonzero(np.bincount(place[place >= 0], minlength=1)))
    warnings: tuple[WarningRecord, ...] = ()
    if unused:
        about = (table.told,)
        warnings = (
            warning("truth_without_prediction", about=about, file=table.told, n=unused, total=len(ids)),
        )
    found = (FoundRecord(what="truth", value=table.told, why=Message("found.truth")),)
    truth = _truth_taken(table.read.arrays[header], place)
    rows = dataclasses.replace(rows, truth=truth, columns=columns, metadata=metadata)
    return dataclasses.replace(rows, truth_table=table, truth_place=place), found, warnings


def _matched(
    rows: Rows, table: Table, ids: pa.ChunkedArray, memory_limit: int | None
) -> tuple[Rows, Indices]:
    """Find each row's place in the table of true values, -1 where its id is not there."""
    if ids.null_count:
        empty = int(np.argmax(ids.is_null().to_numpy()))
        raise table.fault(
            empty, "id", "the id is empty", expected="an id in every row", remedy="give every example its id"
        )
    distinct, codes = code_ids([*ids_by_table(rows), ids], memory_limit=memory_limit)
    code = codes[: rows.n]
    wanted, own = told_apart(rows, table, code, codes[rows.n :])
    if np.bincount(own).max(initial=0) > 1:
        raise _twice(table, ids, own)
    place = np.full(int(max(wanted.max(initial=0), own.max(initial=0))) + 1, -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    return dataclasses.replace(rows, coded=(distinct, code)), place[wanted]


def _truth_taken(array: Arrow, place: Indices) -> pa.Array:
    """Return some cells of a column, empty where the place is -1."""
    import pyarrow as pa

    return combined(array).take(pa.array(place, mask=place < 0))


def true_values(rows: Rows, alignment: Alignment, task: FoundTask) -> Values | None:
    """Return each cell's true value, -1 or nan where no row gives one; every model's files must agree about it.

    Raises
    ------
    InputError
        Where two rows give the same example different true values.
    """
    if task.task in ("outcome", "scores"):
        return None
    spoken = [(c, v) for c in ("y_true", "truth") if (v := _values(rows, c, task)) is not None]
    assert spoken, "the task was found from true values"
    by_cell = _all_agreed([values for _, values in spoken], rows, alignment)
    if by_cell is None:
        by_cell = _by_group(rows, alignment, spoken)
    return by_cell


def _all_agreed(spoken: list[Values], rows: Rows, alignment: Alignment) -> Values | None:
    """Return the true values where each row is given its own and all agree: the common case, and fast."""
    n_cells = alignment.rows.shape[1]
    if int(alignment.group.max()) + 1 != n_cells or rows.n != alignment.rows.size:
        return None
    agreed: Values = spoken[0][alignment.rows[0]]
    for place, values in enumerate(spoken):
        for index in alignment.rows if place else alignment.rows[1:]:
            if not np.array_equal(values[index], agreed):
                return None
    return agreed


def _by_group(rows: Rows, alignment: Alignment, given_by: list[tuple[str, Values]]) -> Values:
    """Return each cell's true value from whichever rows of its example give one."""
    by_group: Values | None = None
    witness = np.full(int(alignment.group.max()) + 1, -1, dtype=np.int64)
    for column, values in given_by:
        given = np.flatnonzero(values >= 0 if values.dtype.kind == "i" else ~np.isnan(values))
        if by_group is None:
            by_group = np.full(len(witness), -1 if values.dtype.kind == "i" else np.nan, dtype=values.dtype)
        # The first row that speaks about an example is the one that later rows are held against.
        unheard = given[witness[alignment.group[given]] < 0][::-1]
        by_group[alignment.group[unheard]] = values[unheard]
        witness[alignment.group[unheard]] = unheard
        wrong = given[values[given] != by_group[alignment.group[given]]]
        if len(wrong):
            before = int(witness[alignment.group[wrong[0]]])
            first = given_by[0][0]
            said = column if _cell(rows, before, first) is None else first
            _refuse_disagreement(rows, (int(wrong[0]), column), (before, said), len(wrong))
    assert by_group is not None
    by_cell: Values = by_group[alignment.group[alignment.rows.max(axis=0)]]
    return by_cell


def _values(rows: Rows, column: str, task: FoundTask) -> Values | None:
    if task.task == "regression":
        return label_numbers(rows, column)
    array = rows.labels(column)
    if array is None:
        return None
    assert task.spelling is not None
    return recode(array, task.classes or task.groups, task.spelling)


def _cell(rows: Rows, row: int, column: str) -> str | None:
    array = rows.labels(column)
    return None if array is None else array[row].as_py()


def _refuse_disagreement(rows: Rows, later: tuple[int, str], before: tuple[int, str], count: int) -> NoReturn:
    here, there = quoted(_cell(rows, *later) or ""), quoted(_cell(rows, *before) or "")
    alike = here.replace(" ", "").casefold() == there.replace(" ", "").casefold()
    raise fault(
        rows,
        *later,
        f"the true values of the id {rows.quoted_id(later[0])} disagree: here {here}, "
        f"in {place_of(rows, *before)} {there}",
        expected="one true value for each example",
        remedy="write them alike: they differ by capitals or spaces alone"
        if alike
        else "find out which file belongs to another data set or version, and write it again",
        count=count,
    )


def _same_length(rows: Rows, table: Table) -> pa.ChunkedArray:
    examples = max(predicted.read.rows for predicted in rows.tables)
    if table.read.rows != examples:
        raise InputError(
            f"there are {table.read.rows} true values for {examples} predictions",
            file=table.name,
            expected="as many true values as predictions, or ids on both sides",
            remedy="pass the true values of exactly the predicted examples",
        )
    return in_chunks(positions(examples))


def _lacks(table: Table, column: str, expected: str) -> InputError:
    return InputError(
        f"there is no column {column!r} beside {', '.join(map(quoted, table.read.names[:8]))}",
        file=table.name,
        line=None if table.positional else 1,
        column=column,
        expected=expected,
        remedy="write the file of true values with the columns id and y_true",
    )


def _twice(table: Table, ids: pa.ChunkedArray, codes: Indices) -> InputError:
    _, first = np.unique(codes, return_index=True)
    row = int(np.setdiff1d(np.arange(len(codes)), first)[0])
    problem, expected = (
        f"the id {quoted(ids[row].as_py())} appears twice",
        "each id once in the file of true values",
    )
    return table.fault(row, "id", problem, expected=expected, remedy="remove one of the rows")
