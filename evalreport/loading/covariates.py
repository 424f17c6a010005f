"""Key columns and metadata, brought into the order of the cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.engine.blocks import looked_up
from evalreport.errors import InputError, UsageError
from evalreport.loading.alignment import Alignment
from evalreport.loading.loaded import Loaded
from evalreport.loading.rows import Rows, fault, origin_of, refuse_where
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.cells import (
    all_numbers,
    category_column,
    coded_numbers,
    dictionary_codes,
    dictionary_numbers,
    flags,
    floats,
    small_category_column,
    take,
    used_only,
)
from evalreport.predictions.column_names import IDENTITY_COLUMNS, KEY_COLUMNS, NUMBER_COLUMNS
from evalreport.predictions.slicing import MOST_VALUES, are_numbers, may_be_sliced_by, read_slicing
from evalreport.predictions.subsets import tested
from evalreport.predictions.table import Column, ModelOutputs
from evalreport.registry import unknown_name
from evalreport.schema.warnings import WarningRecord, warning

LARGEST_WEIGHT = 1e60
PARTS = ("test", "train", "validation")


@dataclass(frozen=True, slots=True)
class Described:
    """Columns by cell, the models with the columns of their own, and warnings about them."""

    keys: dict[str, Column]
    metadata: dict[str, Column]
    models: tuple[ModelOutputs, ...]
    warnings: tuple[WarningRecord, ...]


def covariates(loaded: Loaded, models: Sequence[ModelOutputs], options: Options) -> Described:
    """Bring every other column into canonical order.

    Raises
    ------
    UsageError
        Where ``--slice``, ``--cluster`` or ``--weight`` names a column that is not there.
    InputError
        Where a part is none of test, train, validation, a number column holds no finite number, or every weight is 0.
    """
    rows, alignment = loaded.rows, loaded.alignment
    _check_parts(rows)
    own: list[dict[str, Column]] = [{} for _ in models]
    keys: dict[str, Column] = {}
    metadata: dict[str, Column] = {}
    warnings: list[WarningRecord] = []
    for name in KEY_COLUMNS:
        if name in rows.columns:
            column = alignment.keys[name] if name in IDENTITY_COLUMNS else _key_column(rows, name)
            _add(name, column, alignment, keys, own)
    for name in sorted(rows.metadata):
        column, numbers = _metadata_column(rows, name, options)
        _add(name, column, alignment, metadata, own, numbers)
        if name not in metadata:
            warnings.append(warning("column_differs_between_models", about=(name,), column=name))
    _check_named(options, {**keys, **metadata}, {name for columns in own for name in columns})
    if options.weight in metadata and not any(_PARTIAL & columns.keys() for columns in own):
        empty = _analysed(keys, alignment.rows.shape[1]) & ~_given(metadata[options.weight])
        _refuse_empty_weight(rows, alignment, options.weight, np.flatnonzero(empty))
    if options.weight in metadata and not (metadata[options.weight].values > 0).any():
        raise InputError.of("weights_all_zero", column=options.weight)
    owners = tuple(dataclasses.replace(m, columns=columns) for m, columns in zip(models, own, strict=True))
    return Described(keys, metadata, owners, tuple(warnings))


_PARTIAL = frozenset(("part", "inbag", "inner_fold", "replicate"))
"""Columns that say which rows are not analysed, and so need no weight."""


def _analysed(keys: Mapping[str, Column], n: int) -> Mask:
    """Say which cells (n,) are test rows; beside replicates, rows without one are training rows."""
    of_replicates = "inbag" in keys and "replicate" in keys
    return tested(keys, n) & (keys["replicate"].values >= 0) if of_replicates else tested(keys, n)


def _refuse_empty_weight(rows: Rows, alignment: Alignment, column: str, cells: Indices) -> None:
    """Refuse the first example without a weight where a file of predictions has the column, by its line.

    The true values may have it instead; their lines are not known here, and the example is refused later.
    """
    for index in alignment.rows:
        empty = index[cells][index[cells] >= 0]
        row = int(empty.min(initial=rows.n - 1))
        if len(empty) and column in {name.strip() for name in origin_of(rows, row)[0].read.names}:
            counted = rows.times is not None
            whose = "a line" if counted or rows.ids is None else f"the id {rows.quoted_id(row)}"
            raise fault(rows, row, column, "no_weight", count=len(empty), whose=whose)


def _add(
    name: str,
    column: Column,
    alignment: Alignment,
    shared: dict[str, Column],
    own: list[dict[str, Column]],
    numbers: Floats | None = None,
) -> None:
    """Keep one column for all models where they agree (empty agrees with anything), else one a model.

    ``numbers``: those that the codes of the column are of; None: it holds its values, or codes of its categories.
    """

    def kept(merged: Column) -> Column:
        if numbers is None:
            return merged.wide()
        return Column(looked_up(np.append(numbers, np.nan), merged.values))

    merged = take(column, alignment.rows[0])
    for index in alignment.rows[1:]:
        values = take(column, index)
        if (_given(merged) & _given(values) & (merged.values != values.values)).any():
            for model, model_index in zip(own, alignment.rows, strict=True):
                model[name] = kept(take(column, model_index))
            return
        if not _given(merged).all():
            merged = Column(np.where(_given(merged), merged.values, values.values), column.categories)
    shared[name] = kept(merged)


def _given(column: Column) -> Mask:
    given = ~np.isnan(column.values) if column.categories is None else column.values >= 0
    return np.asarray(given, dtype=np.bool_)


def _key_column(rows: Rows, name: str) -> Column:
    array = rows.columns[name]
    if name in NUMBER_COLUMNS:
        values = floats(array)
        refuse_where(~np.isfinite(values) & ~flags(array.is_null()), rows, name, "column_of_numbers")
        return Column(values)
    if name == "time" and all_numbers(used_only(array)):
        return Column(dictionary_numbers(array))
    return category_column(array)


def _metadata_column(rows: Rows, name: str, options: Options) -> tuple[Column, Floats | None]:
    """Weights are numbers, slices of few values and clusters categories; of the rest, numbers stay numbers.

    Returns
    -------
    column, numbers
        The numbers that the column has codes of, as ``_add`` takes them.
    """
    array = rows.metadata[name]
    if name == options.weight:
        values = dictionary_numbers(array)
        given = dictionary_codes(array) >= 0
        refuse_where((given & ~np.isfinite(values)) | (values < 0), rows, name, "weight_is_no_number")
        # Squares and fourth powers of sums of weights must be numbers.
        far = (values > LARGEST_WEIGHT) | ((values > 0) & (values < 1 / LARGEST_WEIGHT))
        refuse_where(given & far, rows, name, "weight_out_of_range")
        return Column(values), None
    array = used_only(array)
    if name in (options.cluster, options.grade):
        return small_category_column(array), None
    if may_be_sliced_by(name, options.slices, options.gates):
        texts = array.dictionary.to_pylist()
        if not (len(texts) > MOST_VALUES and are_numbers(texts)):
            return small_category_column(array), None
    return coded_numbers(array) if all_numbers(array) else (small_category_column(array), None)


def _check_parts(rows: Rows) -> None:
    if "part" not in rows.columns:
        return
    array = rows.columns["part"]
    foreign = [code for code, text in enumerate(array.dictionary.to_pylist()) if text not in PARTS]
    refuse_where(np.isin(dictionary_codes(array), foreign), rows, "part", "no_part")


def _check_named(options: Options, columns: dict[str, Column], differing: set[str]) -> None:
    for text in options.slices:
        for part in read_slicing(text, columns, differing):
            if part.column == options.weight:
                raise UsageError(f"--slice {text}: the column is the weight; it cannot be both")
    named = (("--cluster", options.cluster), ("--weight", options.weight), ("--grade", options.grade))
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
