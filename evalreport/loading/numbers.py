"""The numbers of sums by unit, of prediction intervals and of quantiles: read, and checked across models."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.alignment import Alignment
from evalreport.loading.kinds import LABEL, SET
from evalreport.loading.repeated import differing, numbered_units, one_of_each, refuse_differing, repeated
from evalreport.loading.rows import Rows, fault, header_of, location_of, refuse_where, some_rows
from evalreport.options import Options, Task
from evalreport.predictions.arrays import Codes, Floats, Indices
from evalreport.predictions.cells import (
    category_column,
    combined,
    dictionary_codes,
    dictionary_numbers,
    used_only,
)
from evalreport.predictions.numbers import NEARLY, member_of, of_label, places
from evalreport.predictions.table import Notes
from evalreport.schema.warnings import warning
from evalreport.texts import Message, Value


def parse_numbers(rows: Rows, task: Task, options: Options) -> tuple[dict[str, Floats], Notes]:
    """Parse the columns of sums or of intervals, nan where a cell is empty.

    Raises
    ------
    InputError
        A cell is no finite number; a sum is below 0; limits or quantiles are not in order, unless they are sorted.
    """
    errors: list[InputError] = []
    numbers: dict[str, Floats] = {}
    for name, array in rows.numbers.items():
        whole = combined(array)
        values, given = dictionary_numbers(whole), dictionary_codes(whole) >= 0
        with together(errors):
            refuse_where(given & ~np.isfinite(values), rows, name, "no_number")
            if task == "sums":
                refuse_where(given & (values < 0), rows, name, "negative_sum")
        numbers[name] = values
    refuse_all(errors)
    return (numbers, Notes()) if task == "sums" else _in_order(rows, numbers, options)


def _in_order(rows: Rows, numbers: dict[str, Floats], options: Options) -> tuple[dict[str, Floats], Notes]:
    """Refuse a row whose limits or quantiles cross, or sort them."""
    names = list(places(numbers))
    table = np.column_stack([numbers[name] for name in names])
    crossing = (np.diff(table, axis=1) < 0).any(axis=1)
    n = int(crossing.sum())
    if not n:
        return numbers, Notes()
    if not options.sort_quantiles:
        row = int(np.argmax(crossing))
        first = int(np.argmax(np.diff(table[row]) < 0))
        lower, upper = (header_of(rows, row, name) for name in names[first : first + 2])
        low, high = (f"{value:.6g}" for value in table[row, first : first + 2])
        said = {"lower": lower, "upper": upper, "low": low, "high": high}
        raise fault(rows, row, names[first], "crossing_quantiles", count=n, **said)
    table[crossing] = np.sort(table[crossing], axis=1)
    models = tuple(rows.models[m] for m in np.unique(rows.model[crossing]))
    note = warning("quantiles_sorted", about=models, n=n, rows=rows.n, models=models)
    return {name: table[:, k] for k, name in enumerate(names)}, Notes((), (note,))


# --- sums: one row a unit ---------------------------------------------------------------------------------------------


def labels_of(rows: Rows) -> tuple[Codes, tuple[str, ...]]:
    """Return the code of each row's label, -1 where it is empty, and the labels in order."""
    column = category_column(combined(rows.columns[LABEL]))
    return column.values, column.categories or ()


def by_unit(rows: Rows, numbers: Mapping[str, Floats], options: Options) -> tuple[Rows, dict[str, Floats]]:
    """Return one row for each unit of each model, with the sums of every label: ``tp@0`` is that of the first.

    A label of which a unit has no row has the sums 0.

    Raises
    ------
    InputError
        A unit has two rows of one label, a label is empty, or a column that an option names differs within a unit.
    """
    code, labels = labels_of(rows)
    refuse_where(code < 0, rows, LABEL, "empty_label")
    unit = numbered_units(rows)
    _refuse_twice(rows, unit, code)
    refuse_differing(rows, unit, options, "differs_within_unit")
    summed: dict[str, Floats] = {}
    for name, values in numbers.items():
        table = np.zeros((int(unit.max()) + 1, len(labels)))
        table[unit, code] = values
        summed |= {of_label(name, label): table[:, label] for label in range(len(labels))}
    kept = one_of_each(unit, np.any([np.isnan(values) for values in numbers.values()], axis=0))
    columns = {name: column for name, column in rows.columns.items() if name != LABEL}
    alike = {name: a for name, a in rows.metadata.items() if not len(differing(rows, name, unit))}
    left = some_rows(replace(rows, columns=columns, metadata=alike), kept)
    return left, {name: values[unit[kept]] for name, values in summed.items()}


def _refuse_twice(rows: Rows, unit: Indices, code: Codes) -> None:
    again, before = repeated(unit * (int(code.max()) + 1) + code)
    if len(again):
        row = int(again[0])
        label, there = rows.columns[LABEL][row].as_py(), location_of(rows, int(before[row]))
        raise fault(rows, row, LABEL, "label_twice", count=len(again), label=label, before=there)


# --- prediction sets --------------------------------------------------------------------------------------------------

EMPTY_SET = "{}"
"""How an empty prediction set is written: an empty cell is a missing one."""


def _members(text: str) -> list[str]:
    """Return the labels of a set, which bars divide or a list holds as JSON and Python write it.

    Examples
    --------
    >>> _members("a|b"), _members('["a", "b"]'), _members("['a']"), _members("[1, 2]")
    (['a', 'b'], ['a', 'b'], ['a'], ['1', '2'])
    >>> _members("[UNK]|b"), _members("[]"), _members("{}")
    (['[UNK]', 'b'], [], [])
    """
    text = text.strip()
    if text == EMPTY_SET:
        return []
    if text.startswith("[") and text.endswith("]"):
        try:
            listed = json.loads(text if '"' in text else text.replace("'", '"'))
        except (ValueError, RecursionError):
            listed = [None]
        if all(isinstance(label, str | int | float) for label in listed):
            return [label if isinstance(label, str) else json.dumps(label) for label in listed]
    return [part.strip() for part in text.split("|")]


def members_of(rows: Rows) -> list[str]:
    """Return the labels that stand in some prediction set, in any order."""
    texts = used_only(combined(rows.columns[SET])).dictionary.to_pylist()
    return list(dict.fromkeys(label for text in texts for label in _members(text)))


def parse_sets(rows: Rows, classes: tuple[str, ...], spelling: Mapping[str, str]) -> dict[str, Floats]:
    """Return for each class whether it is in the prediction set of each row, 1 or 0; nan where the cell is empty.

    Raises
    ------
    InputError
        A set names a label twice, or an empty one.
    """
    array = combined(rows.columns[SET])
    texts, codes = array.dictionary.to_pylist(), dictionary_codes(array)
    place = {label: code for code, label in enumerate(classes)}
    table = np.zeros((len(texts) + 1, len(classes)))
    table[-1] = np.nan
    wrong = np.zeros(len(texts) + 1, dtype=np.bool_)
    for number, text in enumerate(texts):
        labels = [spelling.get(label, label) for label in _members(text)]
        wrong[number] = len(set(labels)) < len(labels) or not all(labels)
        for label in labels:
            if label in place:
                table[number, place[label]] = 1.0
    refuse_where(wrong[codes], rows, SET, "no_set", empty=EMPTY_SET)
    return {member_of(code): table[codes, code] for code in range(len(classes))}


# --- models against each other ----------------------------------------------------------------------------------------

_OF_THE_TRUTH = (("tp", "fn"), ("fp", "tn"))


def refuse_unlike_truths(
    rows: Rows, numbers: Mapping[str, Floats], alignment: Alignment, labels: tuple[str, ...]
) -> None:
    """Refuse a unit of which two models count other totals of the truth, tp + fn, or with tn also fp + tn.

    Raises
    ------
    InputError
        The first such unit: both rows, and the label.
    """
    for label, (first, second) in itertools.product(range(len(labels)) if labels else (None,), _OF_THE_TRUTH):
        names = [n if label is None else of_label(n, label) for n in (first, second)]
        if not set(names) <= set(numbers):
            continue
        totals = numbers[names[0]] + numbers[names[1]]
        before = np.full(alignment.rows.shape[1], -1, dtype=np.int64)
        for index in alignment.rows:
            both = (before >= 0) & (index >= 0)
            here, there = totals[index[both]], totals[before[both]]
            unlike = np.abs(here - there) > NEARLY * np.maximum(np.abs(here), np.abs(there))
            if unlike.any():
                k = int(np.argmax(unlike))
                row, other = int(index[both][k]), int(before[both][k])
                values: dict[str, Value] = {
                    "label": "" if label is None else Message("found.of_label", label=labels[label]),
                    "sum": f"{first} + {second}",
                    "here": f"{here[k]:.12g}",
                    "there": f"{there[k]:.12g}",
                    "other": rows.models[rows.model[other]],
                    "before": location_of(rows, other),
                }
                raise fault(rows, row, names[1], "unlike_sums_of_truth", count=int(unlike.sum()), **values)
            before = np.where(index >= 0, index, before)
