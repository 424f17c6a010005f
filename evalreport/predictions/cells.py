"""The values of cells: text, numbers and codes of labels; Arrow arrays to and from NumPy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.engine.blocks import looked_up
from evalreport.predictions.arrays import Arrow, Codes, Floats, Indices, Mask, Values
from evalreport.predictions.spelling import (
    BLANKS,
    DOUBTFUL_WORDS,
    MISSING_WORDS,
    NUMBER,
    category_spelling,
    in_order,
    one_spelling,
)
from evalreport.predictions.table import Column

Kind = Literal["text", "labels", "codes", "number", "metadata", "optional"]
"""How a column is kept: plain text (ids), dictionary codes (labels, keys; metadata, where it can be) or float64.

Metadata that no option names is ``optional``: kept as metadata is, unless it holds very many different texts.
"""


NO_WORDS: Mapping[str, float] = MappingProxyType({})


def keep(array: Arrow, kind: Kind) -> pa.Array:
    """Bring an Arrow array of any type into the form in which its kind of column is kept.

    A cell of metadata that holds ``nan`` is empty; a label or a key that is called so keeps its name.

    Parameters
    ----------
    array
        Any Arrow array.
    kind
        ``text``: string; ``labels``, ``codes``, ``metadata``: dictionary of strings, whose codes are as small as their
        number allows; ``number``: double, nan where it is none.
    """
    if isinstance(array, pa.ChunkedArray):
        array = _with_room(array).combine_chunks()
    if kind == "text":
        return as_text(array)
    if kind == "number":
        return as_numbers(array)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    dictionary = as_text(encoded.dictionary)
    indices = encoded.indices
    if dictionary.null_count or len(distinct := dictionary.unique()) < len(dictionary):
        # Some writers put the empty cell, or one text twice, among a dictionary's entries.
        distinct = dictionary.drop_null().unique()
        indices = pc.index_in(dictionary, distinct).take(indices)
        dictionary = distinct
    codes = narrowed(pa.DictionaryArray.from_arrays(indices, dictionary))
    return without(codes, EMPTY if kind in ("labels", "codes") else NOT_GIVEN)


EMPTY = ("",)


NOT_GIVEN = ("", "nan", "NaN", "NAN")
"""Texts of metadata that mean an empty cell: programs write missing values as ``nan``."""


def combined(array: Arrow) -> pa.Array:
    """Return a column as one array with one dictionary, where it came in chunks."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    return _with_room(array).unify_dictionaries().combine_chunks()


def _with_room(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give chunks of a dictionary column, whose own texts may fit small codes, codes for the texts of all together."""
    return stacked(array.chunks) if array.num_chunks else array


def code_type(count: int) -> npt.DTypeLike:
    """Return the smallest type that holds the codes of so many things, and -1; Arrow asks for one code more."""
    return np.min_scalar_type(-1 - count)


def stacked(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Put arrays of one kind below one another; dictionaries get codes that have room for the texts of all."""
    if not pa.types.is_dictionary(parts[0].type):
        return pa.chunked_array(parts)
    wide = pa.from_numpy_dtype(code_type(sum(len(part.dictionary) for part in parts)))
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(part.indices.cast(wide), part.dictionary) for part in parts]
    )


def narrowed(array: pa.Array) -> pa.Array:
    """Return a dictionary column with codes as small as its number of texts allows; another one as it is."""
    if not pa.types.is_dictionary(array.type):
        return array
    small = pa.from_numpy_dtype(code_type(len(array.dictionary)))
    return pa.DictionaryArray.from_arrays(array.indices.cast(small), array.dictionary)


def as_text(array: pa.Array) -> pa.Array:
    """Spell every cell as text: 1, 1.0 and "1" are ``1``, true is ``True`` as in Python, an instant is in UTC."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_text(array.dictionary_decode())
    if pa.types.is_boolean(kind):
        return pc.if_else(array, "True", "False").cast(pa.string())
    if pa.types.is_floating(kind):
        return _floats_as_text(array)
    if pa.types.is_timestamp(kind):
        return _instants_as_text(array)
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string())
    return array.cast(pa.string())


def _instants_as_text(array: pa.Array) -> pa.Array:
    """Spell instants as ``spelling.one_instant`` does."""
    kind = array.type
    text = array.cast(pa.timestamp(kind.unit)).cast(pa.string())  # of one with a zone: its time in UTC
    text = pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1")
    text = pc.replace_substring_regex(text, r"\.$", "")
    if kind.tz is None:
        return pc.replace_substring_regex(text, " 00:00:00$", "")
    return pc.binary_join_element_wise(text, "Z", "")


def as_numbers(array: pa.Array, words: Mapping[str, float] = NO_WORDS) -> pa.Array:
    """Parse every cell as a number, cell by cell: null where it is missing, not finite where it is no number.

    Parameters
    ----------
    words
        What else counts as a number, in small letters.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _null_where_nan(as_written(array).cast(pa.float64(), safe=False))
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return array.cast(pa.float64())
    text = array.cast(pa.string())
    text = _null_where(pc.equal(text, from_texts([""])[0]), text)
    try:
        return _null_where_nan(text.cast(pa.float64()))
    except pa.ArrowInvalid:
        return _numbers_among(text, words)


def as_written(array: pa.Array) -> pa.Array:
    """Return numbers of single precision as the doubles that their shortest texts are; others as they are.

    So 0.7 is 0.7 in every format: as a text file spells it, and not 0.699999988079071 beside a threshold of 0.7.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_written(pa.array([0.7, 3.0], pa.float32())).to_pylist()
    [0.7, 3.0]
    """
    return array.cast(pa.string()).cast(pa.float64()) if pa.types.is_float32(array.type) else array


def _null_where(gone: pa.Array, array: pa.Array) -> pa.Array:
    return pc.if_else(gone, missing(array.type), array)


def _null_where_nan(numbers: pa.Array) -> pa.Array:
    gone = pc.is_nan(numbers)
    return _null_where(gone, numbers) if pc.any(gone).as_py() else numbers


def _numbers_among(text: pa.Array, words: Mapping[str, float]) -> pa.Array:
    """Parse the cells that are numbers; what Arrow takes for one besides (nan, inf) is left out by the pattern."""
    text = pc.ascii_trim(text, characters=BLANKS)
    text = _null_where(pc.is_in(text, value_set=from_texts(["", *MISSING_WORDS, *DOUBTFUL_WORDS])), text)
    lowered = pc.ascii_lower(text) if words else None
    for word, value in words.items():
        text = pc.if_else(pc.equal(lowered, word), from_texts([str(value)])[0], text)
    is_one = pc.match_substring_regex(text, f"^({NUMBER.pattern})$")
    return pc.if_else(is_one, text, from_texts(["nan"])[0]).cast(pa.float64())


def all_numbers(array: pa.Array) -> bool:
    """Say whether every text of a dictionary column is a finite decimal number, as ``is_number`` does of one."""
    return bool(np.isfinite(floats(as_numbers(array.dictionary))).all())


def floats(array: pa.Array) -> Floats:
    """Return a double array as numpy, nan where it is empty (or was no number)."""
    return as_numpy(array, np.nan).astype(np.float64, copy=False)


def dictionary_numbers(array: pa.Array, words: Mapping[str, float] = NO_WORDS) -> Floats:
    """Parse a dictionary column as numbers by parsing each distinct text once; nan where empty or none."""
    distinct = floats(as_numbers(array.dictionary, words))
    return np.append(distinct, np.nan)[dictionary_codes(array)]


def dictionary_codes(array: pa.Array) -> Codes:
    """Return a dictionary column's codes, -1 where empty."""
    return _small_codes(array).astype(np.int32, copy=False)


def _small_codes(array: pa.Array) -> Values:
    """Return a dictionary column's codes in the type that it keeps them in, -1 where empty."""
    return as_numpy(array.indices, -1).astype(array.indices.type.to_pandas_dtype(), copy=False)


def recode(array: pa.Array, classes: Sequence[str], spelling: dict[str, str]) -> Values:
    """Return a dictionary column's codes into ``classes``, in the smallest type that holds them; -1 where empty."""
    place = {label: code for code, label in enumerate(classes)}
    table = [place.get(spelling.get(text, ""), -1) for text in array.dictionary.to_pylist()]
    # One code more is that of a missing label that counts as wrong.
    return looked_up(np.array([*table, -1], dtype=code_type(len(classes) + 1)), _small_codes(array))


def category_column(array: pa.Array) -> Column:
    """Return a dictionary column as codes into its sorted categories."""
    return small_category_column(array).wide()


def coded_numbers(array: pa.Array) -> tuple[Column, Floats]:
    """Return a dictionary column of numbers as codes into the distinct ones, and these."""
    numbers, place = np.unique(floats(as_numbers(array.dictionary)), return_inverse=True)
    codes = np.append(place, -1).astype(code_type(len(numbers)))
    return Column(looked_up(codes, _small_codes(array)), ()), numbers


def small_category_column(array: pa.Array) -> Column:
    """Return the column of ``category_column`` with codes as small as their number allows, for one of all rows."""
    array = used_only(array)
    spelling = category_spelling(array.dictionary.to_pylist())
    categories = in_order(spelling.values())
    return Column(recode(array, categories, spelling), categories)


def used_only(array: pa.Array) -> pa.Array:
    """Drop the dictionary's entries that no row uses."""
    codes = _small_codes(array)
    seen = np.zeros(len(array.dictionary) + 1, dtype=bool)
    for start in range(0, len(codes), 1 << 16):  # nearly always the first rows use all of them
        seen[codes[start : start + (1 << 16)]] = True
        if seen[:-1].all():
            return array
    kept = np.flatnonzero(seen[:-1])
    place = np.full(len(seen), -1, dtype=codes.dtype)
    place[kept] = np.arange(len(kept))
    indices = looked_up(place, codes)
    return pa.DictionaryArray.from_arrays(
        from_numpy(indices, indices >= 0), array.dictionary.take(from_numpy(kept))
    )


def say_the_same(first: Arrow, other: Arrow) -> bool:
    """Say whether two columns hold the same in every row: equal numbers are one, however they are written."""
    a, b = (combined(array) for array in (first, other))
    if not pa.types.is_dictionary(a.type):
        return bool(a.equals(b))
    spelling = one_spelling([*a.dictionary.to_pylist(), *b.dictionary.to_pylist()])
    texts = [
        np.array([*(spelling[text] for text in array.dictionary.to_pylist()), ""])[dictionary_codes(array)]
        for array in (a, b)
    ]
    return bool(np.array_equal(texts[0], texts[1]))


def in_unit_interval(values: Floats) -> bool:
    """Say whether there are numbers, all of them in [0, 1]."""
    given = values[~np.isnan(values)]
    return len(given) > 0 and bool(((given >= 0) & (given <= 1)).all())


SUM_TOLERANCE = 1e-3
"""Probabilities of all classes add up to 1 within this."""


def are_shares(columns: Sequence[Arrow]) -> bool:
    """Say whether the numbers of columns lie in [0, 1] and add up to 1 in each row."""
    values = np.column_stack([floats(column) for column in columns])
    return in_unit_interval(values) and bool((np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE).all())


def take(column: Column, rows: Indices) -> Column:
    """Return some rows of a column; a row of -1 is empty."""
    empty: float = np.nan if column.categories is None else -1
    values = looked_up(np.append(column.values, np.array([empty], column.values.dtype)), rows)
    return Column(values, column.categories)


def _floats_as_text(array: pa.Array) -> pa.Array:
    array = as_written(array).cast(pa.float64())
    text = array.cast(pa.string())
    try:
        whole_text = array.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        is_integral = pc.equal(pc.floor(array), array)
        small = pc.less(pc.abs(array), 2.0**53)
        exact = pc.if_else(pc.and_(is_integral, small), array, 0.0).cast(pa.int64())
        return pc.if_else(pc.and_(is_integral, small), exact.cast(pa.string()), text)
    return whole_text


def without(codes: pa.DictionaryArray, texts: Collection[str]) -> pa.DictionaryArray:
    """Make the cells that hold one of some texts, with or without blanks around it, empty cells."""
    trimmed = pc.ascii_trim(codes.dictionary, characters=BLANKS)
    gone = pc.is_in(trimmed, value_set=from_texts(list(texts)).cast(trimmed.type))
    if not pc.any(gone).as_py():
        return codes
    indices = pc.if_else(gone.take(codes.indices), missing(codes.indices.type), codes.indices)
    return used_only(pa.DictionaryArray.from_arrays(indices, codes.dictionary))


def as_numpy(array: Arrow, missing: float) -> Values:
    """Return an array of numbers as NumPy; ``missing`` replaces nulls."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not len(array):
        return np.empty(0, dtype=np.int64 if pa.types.is_integer(array.type) else np.float64)
    values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    found = np.from_dlpack(values)
    return np.where(flags(array.is_null()), missing, found) if array.null_count else found


def flags(array: Arrow) -> Mask:
    """Return an array of truths, none of them missing, as numpy."""
    return as_numpy(array.cast(pa.uint8()), 0).astype(np.bool_)


def from_numpy(numbers: Values, present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers or truths as an Arrow array; ``present``: which are not missing, None where none is."""
    bits = None if present is None else np.packbits(present, bitorder="little")
    values = (
        np.packbits(numbers, bitorder="little") if numbers.dtype == bool else np.ascontiguousarray(numbers)
    )
    buffers = [None if part is None else pa.py_buffer(part) for part in (bits, values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def from_texts(texts: Sequence[str]) -> pa.StringArray:
    """Return texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def missing(kind: pa.DataType) -> pa.Scalar:
    """Return the missing value of a type."""
    return pa.nulls(1, kind)[0]


def in_chunks(array: Arrow) -> pa.ChunkedArray:
    """Return an array as a chunked one."""
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def positions(rows: int) -> pa.Array:
    """Return ids that say the position, padded with zeros so that their order as text is that of the rows."""
    width = len(str(max(rows - 1, 0)))
    return pc.utf8_lpad(from_numpy(np.arange(rows)).cast(pa.string()), width, "0")
