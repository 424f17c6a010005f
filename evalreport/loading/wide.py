"""Wide tables: one column a model, as spreadsheets and papers have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from evalreport.errors import InputError
from evalreport.loading.roles import Roles
from evalreport.loading.tables import Table, table_of
from evalreport.options import Options
from evalreport.predictions.cells import (
    all_numbers,
    combined,
    dictionary_numbers,
    in_unit_interval,
    keep,
    used_only,
)
from evalreport.predictions.spelling import is_number, is_whole, one_spelling
from evalreport.sources.reading import Source


def tables_of(source: Source, options: Options) -> list[Table]:
    """Read a source of predictions: one table, or with ``--wide`` one for each model.

    Raises
    ------
    InputError
        As ``table_of``; or without true values a column holds no number.
    """
    table = table_of(source, options, predictions=True)
    if not options.wide:
        return [table]
    return [_of_model(table, model, header, options) for model, header in table.roles.answers.items()]


def _of_model(table: Table, model: str, header: str, options: Options) -> Table:
    """Return the table of one model.

    Beside true values a cell is a prediction, or a probability of the positive class where the truth has two values
    and all cells of the model are numbers in [0, 1]. Else it is the model's value on a data set.
    """
    columns, metadata = dict(table.roles.columns), table.roles.metadata
    array = combined(table.read.arrays[header])
    one_probability = None
    if "y_true" not in columns and options.truth is not None:
        columns["id"] = columns.pop("dataset")
    shared = [columns[name] for name in ("dataset", "id", "y_true", "time") if name in columns]
    arrays = {name: table.read.arrays[name] for name in (*shared, *metadata)} | {header: array}
    if "dataset" in columns:
        if not np.isfinite(dictionary_numbers(used_only(array))).any():
            raise InputError.of("wide_without_numbers", file=table.name, column=header, model=model)
        columns["value"] = header
        arrays[header] = keep(array, "number")
    elif _are_probabilities(table, array, options):
        one_probability, metadata = header, (header, *metadata)
    else:
        columns["y_pred"] = header
        _refuse_no_model(table, model, array, options)
    roles = Roles(columns, {}, metadata, {}, one_probability=one_probability)
    return replace(table, model=model, roles=roles, read=replace(table.read, arrays=arrays))


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
    shared = labels & {spelling[label] for label in own}
    whole = all(is_number(label) for label in (*labels, *own))
    if own and 2 <= len(labels) <= MOST_CLASSES and not (numbers or shared or (whole and len(labels) > 2)):
        values, truth = own[:3], sorted(labels)[:5]
        raise InputError.of(
            "wide_column_is_no_model", file=table.name, column=model, model=model, values=values, truth=truth
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
    return not labels and in_unit_interval(values)
