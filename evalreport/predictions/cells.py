"""The values of cells: text, numbers and codes of labels; Arrow arrays to and from NumPy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from evalreport.predictions.arrays import Arrow, Codes, Floats, Indices, Mask, Values
from evalreport.predictions.table import Column

if TYPE_CHECKING:
    import pyarrow as pa


Kind = Literal["text", "codes", "number", "metadata", "optional"]
"""How a column is kept: plain text (ids), dictionary codes (labels, keys; metadata, where it can be) or float64.

Metadata that no option names is ``optional``: kept as metadata is, unless it holds very many different texts.
"""


BLANKS = " \t"  # str.strip() would also take control characters, which float() refuses


_WHOLE = re.compile(r"([+-]?\d+)\.0*", re.ASCII)


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


_TRUTHS = {"true": 1.0, "false": 0.0}


def keep(array: Arrow, kind: Kind) -> pa.Array:
    """Bring an Arrow array of any type into the form in which its kind of column is kept.

    A cell of metadata that holds ``nan`` is empty; a label or a key that is called so keeps its name.

    Parameters
    ----------
    array
        Any Arrow array.
    kind
        ``text``: string; ``codes``, ``metadata``: dictionary of strings; ``number``: double, nan where it is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if kind == "text":
        return as_text(array)
    if kind == "number":
        return as_numbers(array)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    dictionary = as_text(encoded.dictionary)
    indices = encoded.indices.cast(pa.int32())
    if dictionary.null_count or len(distinct := dictionary.unique()) < len(dictionary):
        # Some writers put the empty cell, or one text twice, among a dictionary's entries.
        distinct = dictionary.drop_null().unique()
        indices = pc.index_in(dictionary, distinct).take(indices)
        dictionary = distinct
    codes = pa.DictionaryArray.from_arrays(indices, dictionary)
    return _without(codes, EMPTY if kind == "codes" else NOT_GIVEN)


EMPTY = ("",)


NOT_GIVEN = ("", "nan", "NaN", "NAN")
"""Texts of metadata that mean an empty cell: programs write missing values as ``nan``."""


def combined(array: Arrow) -> pa.Array:
    """Return a column as one array with one dictionary, where it came in chunks."""
    import pyarrow as pa

    return array.unify_dictionaries().combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def as_text(array: pa.Array) -> pa.Array:
    """Spell every cell as text: 1, 1.0 and "1" are all ``1``, and true is ``True`` as Python writes it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_text(array.dictionary_decode())
    if pa.types.is_boolean(kind):
        return pc.if_else(array, "True", "False").cast(pa.string())
    if pa.types.is_floating(kind):
        return _floats_as_text(array)
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string())
    return array.cast(pa.string())


def as_numbers(array: pa.Array, *, truths: bool = False) -> pa.Array:
    """Parse every cell as a number, cell by cell: null where empty, not finite where it is none.

    ``truths``: also true and false in any spelling, as 1 and 0.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.float64(), safe=False)
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return array.cast(pa.float64())
    text = array.cast(pa.string())
    text = _null_where_empty(text)
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return _numbers_among(text, _TRUTHS if truths else {})


def _null_where_empty(text: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(text, from_texts([""])[0]), missing(pa.string()), text)


def _numbers_among(text: pa.Array, spelled: Mapping[str, float]) -> pa.Array:
    """Parse the cells that are numbers; what Arrow takes for one besides (nan, inf) is left out by the pattern."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _null_where_empty(pc.ascii_trim(text, characters=BLANKS))
    lowered = pc.ascii_lower(text) if spelled else None
    for word, value in spelled.items():
        text = pc.if_else(pc.equal(lowered, word), from_texts([str(value)])[0], text)
    is_one = pc.match_substring_regex(text, f"^({_NUMBER.pattern})$")
    parsed = pc.if_else(is_one, text, from_texts(["nan"])[0]).cast(pa.float64())
    return parsed


def all_numbers(array: pa.Array) -> bool:
    """Say whether every text of a dictionary column is a finite decimal number, as ``is_number`` does of one."""
    return bool(np.isfinite(floats(as_numbers(array.dictionary))).all())


def floats(array: pa.Array) -> Floats:
    """Return a double array as numpy, nan where it is empty (or was no number)."""
    return as_numpy(array, np.nan).astype(np.float64, copy=False)


def dictionary_numbers(array: pa.Array, *, truths: bool = False) -> Floats:
    """Parse a dictionary column as numbers by parsing each distinct text once; nan where empty or none."""
    distinct = floats(as_numbers(array.dictionary, truths=truths))
    return np.append(distinct, np.nan)[dictionary_codes(array)]


def dictionary_codes(array: pa.Array) -> Codes:
    """Return a dictionary column's codes, -1 where empty."""
    return as_numpy(array.indices, -1).astype(np.int32, copy=False)


def whole(label: str) -> str:
    """Spell a whole number without decimals, so that a 1.0 and a 1 are one label.

    Examples
    --------
    >>> whole("1.0"), whole("01"), whole("1.5"), whole("v1.0")
    ('1', '01', '1.5', 'v1.0')
    """
    match = _WHOLE.fullmatch(label.strip(BLANKS))
    return match.group(1) if match else label.strip(BLANKS) if is_number(label) else label


def is_number(text: str) -> bool:
    """Say whether a text is a finite decimal number."""
    return _NUMBER.fullmatch(text.strip(BLANKS)) is not None and abs(float(text)) < float("inf")


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number, with or without zeros after the point."""
    return is_number(text) and float(text).is_integer()


def spelled_alike(labels: Iterable[str]) -> dict[str, str]:
    """Map each label to its one spelling: whole numbers lose their decimals where all labels are numbers."""
    distinct = list(dict.fromkeys(labels))
    if all(is_number(label) for label in distinct):
        return {label: whole(label) for label in distinct}
    return {label: label for label in distinct}


TRUTHS = {"true": "1", "false": "0"}


def one_spelling(labels: Iterable[str]) -> dict[str, str]:
    """Map each label of a task to its one spelling: as ``spelled_alike``, and true and false like 1 and 0 beside them.

    Examples
    --------
    >>> one_spelling(["True", "1", "0.0"]), one_spelling(["TRUE", "False", "True"])
    ({'True': '1', '1': '1', '0.0': '0'}, {'TRUE': 'True', 'False': 'False', 'True': 'True'})
    """
    distinct = list(dict.fromkeys(labels))
    lowered = {label: label.strip(BLANKS).casefold() for label in distinct}
    truths = [label for label in distinct if lowered[label] in TRUTHS]
    rest = [label for label in distinct if lowered[label] not in TRUTHS]
    if not truths or any(not is_number(label) or float(label) not in (0, 1) for label in rest):
        return spelled_alike(distinct)
    if rest:
        return {label: TRUTHS.get(lowered[label]) or whole(str(float(label))) for label in distinct}
    if len(truths) == len(set(lowered.values())):
        return {label: label for label in distinct}
    return {label: lowered[label].capitalize() for label in distinct}


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort distinct labels by value where all are numbers, else as text by code point."""
    distinct = set(labels)
    if all(is_number(label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (float(label), label)))
    return tuple(sorted(distinct))


def recode(array: pa.Array, classes: Sequence[str], spelling: dict[str, str]) -> Codes:
    """Return a dictionary column's codes into ``classes``, -1 where empty."""
    place = {label: code for code, label in enumerate(classes)}
    table = [place.get(spelling.get(text, ""), -1) for text in array.dictionary.to_pylist()]
    return np.array([*table, -1], dtype=np.int32)[dictionary_codes(array)]


def category_column(array: pa.Array) -> Column:
    """Return a dictionary column as codes into its sorted categories."""
    array = used_only(array)
    spelling = spelled_alike(array.dictionary.to_pylist())
    categories = in_order(spelling.values())
    return Column(recode(array, categories, spelling), categories)


def used_only(array: pa.Array) -> pa.Array:
    """Drop the dictionary's entries that no row uses."""
    import pyarrow as pa

    codes = dictionary_codes(array)
    seen = np.zeros(len(array.dictionary) + 1, dtype=bool)
    for start in range(0, len(codes), 1 << 16):  # nearly always the first rows use all of them
        seen[codes[start : start + (1 << 16)]] = True
        if seen[:-1].all():
            return array
    kept = np.flatnonzero(seen[:-1])
    place = np.full(len(seen), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    indices = place[codes]
    return pa.DictionaryArray.from_arrays(
        from_numpy(indices, indices >= 0), array.dictionary.take(from_numpy(kept))
    )


def take(column: Column, rows: Indices) -> Column:
    """Return some rows of a column; a row of -1 is empty."""
    values = column.values[rows]
    empty: float = np.nan if column.categories is None else -1
    return Column(np.where(rows < 0, empty, values).astype(column.values.dtype), column.categories)


def _floats_as_text(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = array.cast(pa.float64())
    text = array.cast(pa.string())
    try:
        whole_text = array.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        is_integral = pc.equal(pc.floor(array), array)
        small = pc.less(pc.abs(array), 2.0**53)
        exact = pc.if_else(pc.and_(is_integral, small), array, 0.0).cast(pa.int64())
        return pc.if_else(pc.and_(is_integral, small), exact.cast(pa.string()), text)
    return whole_text


def _without(codes: pa.DictionaryArray, texts: Sequence[str]) -> pa.DictionaryArray:
    """Make the cells that hold one of some texts empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pc.is_in(codes.dictionary, value_set=from_texts(texts).cast(codes.dictionary.type))
    if not pc.any(gone).as_py():
        return codes
    indices = pc.if_else(gone.take(codes.indices), missing(pa.int32()), codes.indices)
    return used_only(pa.DictionaryArray.from_arrays(indices, codes.dictionary))


def as_numpy(array: Arrow, missing: float) -> Values:
    """Return an array of numbers as NumPy; ``missing`` replaces nulls."""
    import pyarrow as pa

    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not len(array):
        return np.empty(0)
    values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    found = np.from_dlpack(values)
    return np.where(flags(array.is_null()), missing, found) if array.null_count else found


def flags(array: Arrow) -> Mask:
    """Return an array of truths, none of them missing, as numpy."""
    import pyarrow as pa

    return as_numpy(array.cast(pa.uint8()), 0).astype(np.bool_)


def from_numpy(numbers: Values, present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers or truths as an Arrow array; ``present``: which are not missing, None where none is."""
    import pyarrow as pa

    bits = None if present is None else np.packbits(present, bitorder="little")
    values = (
        np.packbits(numbers, bitorder="little") if numbers.dtype == bool else np.ascontiguousarray(numbers)
    )
    buffers = [None if part is None else pa.py_buffer(part) for part in (bits, values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def from_texts(texts: Sequence[str]) -> pa.StringArray:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def missing(kind: pa.DataType) -> pa.Scalar:
    """Return the missing value of a type."""
    import pyarrow as pa

    return pa.nulls(1, kind)[0]


def in_chunks(array: Arrow) -> pa.ChunkedArray:
    """Return an array as a chunked one."""
    import pyarrow as pa

    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def positions(rows: int) -> pa.Array:
    """Return ids that say the position, padded with zeros so that their order as text is that of the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    width = len(str(max(rows - 1, 0)))
    return pc.utf8_lpad(pa.array(np.arange(rows)).cast(pa.string()), width, "0")
