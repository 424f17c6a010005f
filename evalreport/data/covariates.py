"""Key and metadata columns by cell: shared where the models agree about them, else each model's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.config import Options
from evalreport.data.alignment import Alignment
from evalreport.data.columns import IDENTITY_COLUMNS, KEY_COLUMNS, NUMBER_COLUMNS
from evalreport.data.gathering import Rows, fault
from evalreport.data.predictions import Column, ModelOutputs
from evalreport.data.slicing import MOST_VALUES, are_numbers, may_be_sliced_by, read_slicing
from evalreport.data.values import (
    all_numbers,
    category_column,
    dictionary_codes,
    dictionary_numbers,
    floats,
    take,
    used_only,
)
from evalreport.errors import UsageError
from evalreport.records import WarningRecord, warning
from evalreport.registry import unknown_name
from evalreport.texts import quoted

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
        Where a part is none of test, train, validation, or a number column holds no finite number.
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
    owners = tuple(
        dataclasses.replace(model, columns=columns) if columns else model
        for model, columns in zip(models, own, strict=True)
    )
    return Described(keys, metadata, owners, tuple(warnings))


def _place(
    name: str, column: Column, alignment: Alignment, shared: dict[str, Column], own: list[dict[str, Column]]
) -> None:
    """Keep one column for all models where they agree (empty agrees with anything), else one a model."""
    merged = _taken(column, alignment.rows[0])
    for index in alignment.rows[1:]:
        values = _taken(column, index)
        if (_given(merged) & _given(values) & (merged.values != values.values)).any():
            for model, model_index in zip(own, alignment.rows, strict=True):
                model[name] = _taken(column, model_index)
            return
        merged = Column(np.where(_given(merged), merged.values, values.values), column.categories)
    shared[name] = merged


def _taken(column: Column, index: npt.NDArray[np.int64]) -> Column:
    return take(column, index)


def _given(column: Column) -> npt.NDArray[np.bool_]:
    given = ~np.isnan(column.values) if column.categories is None else column.values >= 0
    return np.asarray(given, dtype=np.bool_)


def _key_column(rows: Rows, name: str) -> Column:
    array = rows.columns[name]
    if name in NUMBER_COLUMNS:
        values = floats(array)
        _refuse_wrong(rows, name, ~np.isfinite(values) & ~array.is_null().to_numpy(zero_copy_only=False))
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
        _refuse_wrong(rows, name, (given & ~np.isfinite(values)) | (values < 0))
        return Column(values)
    array = used_only(array)
    if name == options.cluster:
        return category_column(array)
    if may_be_sliced_by(name, options.slices, options.gates):
        texts = array.dictionary.to_pylist()
        if not (len(texts) > MOST_VALUES and are_numbers(texts)):
            return category_column(array)
    return Column(dictionary_numbers(array)) if all_numbers(array) else category_column(array)


def _refuse_wrong(rows: Rows, name: str, wrong: npt.NDArray[np.bool_]) -> None:
    if wrong.any():
        raise fault(
            rows,
            int(np.argmax(wrong)),
            name,
            "{cell} is no finite number that this column can hold",
            expected="a finite number (a weight: 0 or more)",
            remedy="correct the value, or leave the cell empty",
            count=int(wrong.sum()),
        )


def _check_parts(rows: Rows) -> None:
    if "part" not in rows.columns:
        return
    array = rows.columns["part"]
    foreign = [code for code, text in enumerate(array.dictionary.to_pylist()) if text not in PARTS]
    wrong = np.isin(dictionary_codes(array), foreign)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise fault(
            rows,
            first,
            "part",
            f"{quoted(array[first].as_py())} is no part",
            expected="test, train or validation",
            remedy="correct it, or rename the column if it means something else",
            count=int(wrong.sum()),
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
        if name not in columns:
            raise UsageError(f"{option}: {unknown_name('column', name, list(columns))}")
        if option == "--weight" and name in KEY_COLUMNS:
            raise UsageError(
                f"--weight {name}: this column says which fit a row belongs to, not how much it counts"
            )
        if option != "--weight" and name == options.weight:
            raise UsageError(f"{option} {name}: the column is the weight; it cannot be both")
