"""Wide tables: one column a model, as spreadsheets and papers have them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalreport.errors import InputError
from evalreport.loading.roles import Roles
from evalreport.loading.tables import Table, table_of
from evalreport.options import Options
from evalreport.predictions.cells import all_numbers, combined, dictionary_numbers, keep, used_only
from evalreport.predictions.spelling import is_number, is_whole, one_spelling
from evalreport.sources.reading import Source

if TYPE_CHECKING:
    import pyarrow as pa


def tables_of(source: Source, options: Options) -> list[Table]:
    """Read a source of predictions: one table, or with ``--wide`` one for each model.

    Raises
    ------
    InputError
        As ``table_of``; or without true values a column holds no number.
    """
    table = table_of(source, options, predictions=True)
    return _wide(table, options) if options.wide else [table]


def _wide(table: Table, options: Options) -> list[Table]:
    """Divide a wide table into one table for each of its models.

    Beside true values a cell is a prediction, or a probability of the positive class where the truth has two values
    and all cells of the model are numbers in [0, 1]. Else it is the model's value on a data set.
    """
    return [_of_model(table, model, header, options) for model, header in table.roles.answers.items()]


def _of_model(table: Table, model: str, header: str, options: Options) -> Table:
    columns = dict(table.roles.columns)
    array = combined(table.read.arrays[header])
    roles = Roles(columns, {}, (), {})
    if "y_true" not in columns and options.truth is not None:
        columns["id"] = columns.pop("dataset")
    if "dataset" in columns:
        values = keep(array, "number")
        if not np.isfinite(dictionary_numbers(used_only(array))).any():
            raise InputError.of("wide_without_numbers", file=table.name, column=header, model=model)
        columns["value"] = header
        arrays = {columns["dataset"]: table.read.arrays[columns["dataset"]], header: values}
    elif _are_probabilities(table, array, options):
        roles = replace(roles, metadata=(header,), one_probability=header)
        arrays = {header: array}
    else:
        columns["y_pred"] = header
        arrays = {header: array}
    for name in ("id", "y_true", "time"):
        if name in columns:
            arrays[columns[name]] = table.read.arrays[columns[name]]
    for other in table.roles.metadata:
        arrays[other] = table.read.arrays[other]
    roles = replace(roles, metadata=(*roles.metadata, *table.roles.metadata))
    if "y_pred" in columns:
        _refuse_no_model(table, model, array, options)
    read = replace(table.read, arrays=arrays)
    return replace(table, model=model, roles=replace(roles, columns=columns), read=read)


MOST_CLASSES = 20
"""True values of more different ones may be numbers, which any number may predict."""


def _refuse_no_model(table: Table, model: str, array: pa.DictionaryArray, options: Options) -> None:
    """Refuse a column that holds no true label beside a few of these, such as an age or a region.

    Raises
    ------
    InputError
        With the column.
    """
    header = table.roles.columns.get("y_true")
    if header is None or options.task is not None:
        return
    true = used_only(combined(table.read.arrays[header])).dictionary.to_pylist()
    own = used_only(array).dictionary.to_pylist()
    spelling = one_spelling([*true, *own])
    labels = {spelling[label] for label in true}
    numbers = all(is_number(label) and not is_whole(label) for label in labels)
    if (
        len(labels) < 2
        or len(labels) > MOST_CLASSES
        or numbers
        or labels & {spelling[label] for label in own}
    ):
        return
    whole = all(is_number(label) for label in (*labels, *own))
    if own and not (whole and len(labels) > 2):
        raise InputError.of(
            "wide_column_is_no_model",
            file=table.name,
            column=model,
            model=model,
            values=own[:3],
            truth=sorted(labels)[:5],
        )


def _are_probabilities(table: Table, array: object, options: Options) -> bool:
    """Say whether a model's cells are probabilities of the positive class of two, and not labels."""
    header = table.roles.columns.get("y_true")
    if header is None or options.task not in (None, "binary"):
        return False
    true = used_only(combined(table.read.arrays[header])).dictionary.to_pylist()
    given = used_only(array)
    own = given.dictionary.to_pylist()
    spelling = one_spelling([*true, *own])
    if len({spelling[label] for label in true}) != 2 or not own or not all_numbers(given):
        return False
    values = dictionary_numbers(given)
    labels = {spelling[label] for label in own} <= {spelling[label] for label in true}
    inside = values[~np.isnan(values)]
    return not labels and bool(((inside >= 0) & (inside <= 1)).all())
