"""Columns of numbers in local dress, and scores in lists, as columns of plain numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.errors import InputError
from evalreport.loading.roles import Roles
from evalreport.options import Options
from evalreport.predictions.cells import (
    are_shares,
    as_numbers,
    combined,
    dictionary_codes,
    flags,
    from_numpy,
    from_texts,
    keep,
    used_only,
)
from evalreport.predictions.dressed_numbers import Dress, dress_of
from evalreport.predictions.spelling import is_no_number, is_number
from evalreport.schema.inputs import FoundRecord
from evalreport.sources.reading import Columns, Source
from evalreport.texts import Message, plain

MOST_CLASSES = 20
"""So many different whole numbers in dress (10%, 20%) may be the names of classes, and stay text."""


LIST = re.compile(r"\[[^\[\]]*\]")
"""A list of numbers as text: of JSON, Python or NumPy."""


def with_plain_numbers(
    read: Columns, roles: Roles, source: Source, options: Options
) -> tuple[Columns, Roles, tuple[FoundRecord, ...]]:
    """Write numbers in local dress as plain ones, where all cells of a column are of one form.

    Parameters
    ----------
    source
        Where columns of numbers that hold something else are read again, as text.
    options
        Labels of a task that they call a classification stay as they are; a weight is a number.

    Raises
    ------
    InputError
        A column of numbers in dress mixes forms; with the line of the first cell of another one.
    """
    arrays = dict(read.arrays)
    notes: list[FoundRecord] = []
    labels_asked = options.task in ("binary", "multiclass", "clustering")
    for headers in _columns_of_labels(roles):
        columns = {header: combined(arrays[header]) for header in headers if header in arrays}
        together = _dress(columns.values())
        for header, array in columns.items():
            dress = together if together is not None and not together.exceptions else _dress([array])
            if dress is None or labels_asked or not _are_numbers(dress):
                continue
            if dress.exceptions:
                raise _mixed(read, header, array, dress, source.name)
            arrays[header] = keep(mapped(array, dress.numbers), "labels")
            notes += [] if is_number(dress.example) else [_found(header, dress)]
    lone = [h for h in (roles.one_probability, *roles.further_probabilities) if h is not None]
    for header in (*lone, *(h for h in roles.metadata if h.strip() == options.weight)):
        arrays[header], records = _undressed(combined(arrays[header]), header, share=header in lone)
        notes += records
    unread = _without_numbers(read, roles)
    if not unread:
        return replace(read, arrays=arrays), roles, tuple(notes)
    texts = source.read(lambda _: dict.fromkeys(unread, "labels")).arrays
    probable = {*roles.probabilities.values(), *roles.unlabelled}
    for header in unread:
        array = combined(texts[header])
        if header == roles.columns.get("score") and _are_lists(array):
            columns_of_score = {name: part for name, part in roles.columns.items() if name != "score"}
            pieces = lists_apart(array, "y_prob", source.name)
            _refuse_no_probabilities(pieces, header, source.name)
            roles = replace(roles, columns=columns_of_score, unlabelled=tuple(pieces))
            arrays = {name: column for name, column in arrays.items() if name != header} | pieces
            continue
        dress = _dress([array])
        if dress is not None and dress.numbers and not dress.exceptions:
            numbers = as_numbers(mapped(array, dress.numbers))
            arrays[header] = _hundredth(numbers) if dress.percent and header in probable else numbers
            notes.append(_found(header, dress))
    return replace(read, arrays=arrays), roles, tuple(notes)


def _undressed(
    array: pa.DictionaryArray, header: str, *, share: bool
) -> tuple[pa.DictionaryArray, list[FoundRecord]]:
    """Write the numbers of a column that is kept as texts plainly; ``share``: percent are shares of 1."""
    dress = _dress([array])
    if dress is None or not dress.numbers or dress.exceptions:
        return array, []
    numbers = dress.numbers
    if dress.percent and share:
        numbers = {text: repr(float(number) / 100) for text, number in numbers.items()}
    return keep(mapped(array, numbers), "metadata"), [_found(header, dress)]


def _columns_of_labels(roles: Roles) -> list[list[str]]:
    """Return the headers whose cells may be numbers, in groups that are written alike."""
    alike = [*(roles.columns[name] for name in ("y_true", "y_pred") if name in roles.columns)]
    alike += roles.answers.values()
    further = [roles.columns[name] for name in ("outcome", "gold") if name in roles.columns]
    return [alike, *([header] for header in (*further, *roles.costs.values()))]


def _without_numbers(read: Columns, roles: Roles) -> list[str]:
    """Return the columns of numbers in which some cell is none."""
    names = [header for header, kind in roles.kinds().items() if kind == "number" and header in read.arrays]
    return [header for header in names if pc.any(pc.is_nan(read.arrays[header])).as_py()]


def _dress(arrays: Iterable[pa.DictionaryArray]) -> Dress | None:
    """Return the form of the numbers that columns hold, apart from their missing values."""
    dictionaries = [used_only(array).dictionary for array in arrays]
    plain = [not _any_text(as_numbers(dictionary)) for dictionary in dictionaries]
    if all(plain):
        return None
    texts: list[str] = []
    for dictionary, of_numbers in zip(dictionaries, plain, strict=True):
        if of_numbers and not texts:
            texts += dictionary.to_pylist()[:1]  # plain numbers all: one says so
        else:
            texts += [text for text in dictionary.to_pylist() if not is_no_number(text)]
    return dress_of(texts) if texts else None


def _any_text(numbers: pa.Array) -> bool:
    return bool(pc.any(pc.is_nan(numbers)).as_py())


def _are_numbers(dress: Dress) -> bool:
    """Say whether a column holds numbers in dress, and not the names of a few classes such as 10% and 20%."""
    decimals = any(not float(number).is_integer() for number in dress.numbers.values())
    return dress.grouped or decimals or len(dress.numbers) + len(dress.exceptions) > MOST_CLASSES


def mapped(array: pa.DictionaryArray, spelling: Mapping[str, str]) -> pa.DictionaryArray:
    """Return a dictionary column with some of its texts spelled otherwise."""
    texts = [spelling.get(text, text) for text in array.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(array.indices, from_texts(texts))


def _hundredth(numbers: pa.Array) -> pa.Array:
    values = np.where(flags(numbers.is_null()), np.nan, numbers.to_numpy(zero_copy_only=False) / 100)
    return from_numpy(values, ~np.isnan(values))


def _found(header: str, dress: Dress) -> FoundRecord:
    value = dress.numbers[dress.example]
    why = Message("found.dress", example=dress.example, number=value)
    return FoundRecord(what="numbers", value=plain(header.strip()), why=why)


def _mixed(read: Columns, header: str, array: pa.DictionaryArray, dress: Dress, file: str) -> InputError:
    """Return the error of the first cell that is not written as most are."""
    texts = array.dictionary.to_pylist()
    others = np.array([text in set(dress.exceptions) and not is_no_number(text) for text in texts] + [False])
    row = int(np.argmax(others[dictionary_codes(array)]))
    line, _ = read.locate(row, None)
    cell = texts[dictionary_codes(array)[row]]
    code = "mixed_numbers" if dress.numbers else "ambiguous_numbers"
    example = next(iter(dress.numbers), dress.example)
    return InputError.of(code, file=file, line=line, column=header.strip(), cell=cell, example=example)


# --- lists ------------------------------------------------------------------------------------------------------------


def _are_lists(array: pa.DictionaryArray) -> bool:
    texts = used_only(array).dictionary.to_pylist()
    return bool(texts) and all(LIST.fullmatch(text.strip()) for text in texts)


def lists_apart(array: pa.DictionaryArray, header: str, file: str) -> dict[str, pa.Array]:
    """Return a column of numbers for each place in lists of one length that stand as text.

    Raises
    ------
    InputError
        The lists have unlike lengths.
    """
    lists = [re.split(r"[,\s]+", text.strip()[1:-1].strip()) for text in array.dictionary.to_pylist()]
    if len({len(cells) for cells in lists}) != 1:
        raise InputError.of("unlike_lists", file=file, column=header)
    pieces = {}
    for place, cells in enumerate(zip(*lists, strict=True)):
        codes = pa.DictionaryArray.from_arrays(array.indices, from_texts(cells))
        pieces[f"{header}[{place}]"] = keep(codes, "number")
    return pieces


def _refuse_no_probabilities(pieces: Mapping[str, pa.Array], header: str, file: str) -> None:
    """Refuse lists of scores of several classes that do not add up to 1: nothing says which labels they rank.

    Raises
    ------
    InputError
        With what to write instead.
    """
    if not are_shares(list(pieces.values())):
        raise InputError.of("lists_of_scores", file=file, column=header.strip())


def names_of_classes(texts: Sequence[str], count: int) -> tuple[str, ...] | None:
    """Return the names in one list that stands as text, such as ``['No', 'Yes']``; None: it does not hold so many.

    Examples
    --------
    >>> names_of_classes(["['No', 'Yes']"], 2), names_of_classes(["[0, 1]", "[1, 0]"], 2)
    (('No', 'Yes'), None)
    """
    if len(texts) != 1 or not LIST.fullmatch(texts[0].strip()):
        return None
    names = tuple(name.strip().strip("'\"") for name in texts[0].strip()[1:-1].split(","))
    return names if len(names) == count and all(names) and len(set(names)) == count else None
