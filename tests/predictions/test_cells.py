"""Values of cells: text as numbers, and numbers and texts to Arrow and back."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.predictions.cells import (
    all_numbers,
    as_numbers,
    as_numpy,
    combined,
    flags,
    from_numpy,
    from_texts,
    keep,
    missing,
    stacked,
)
from evalreport.predictions.spelling import is_no_number, is_number, outcome_words

SPELLINGS = st.text("0123456789+-.eE_ \t,nainfxNIF\n\r", max_size=8)

CELLS = st.lists(
    st.none() | SPELLINGS | st.floats().map(str) | st.integers().map(str) | st.text(max_size=4), max_size=20
)


@given(CELLS)
@settings(deadline=None)
def test_a_column_is_parsed_as_each_cell_would_be(cells: list[str | None]) -> None:
    """Cell by cell as ``is_no_number`` and ``is_number`` say: missing, a finite number, or none."""
    parsed = as_numbers(pa.array(cells, pa.string())).to_pylist()
    for cell, value in zip(cells, parsed, strict=True):
        if cell is None or is_no_number(cell):
            assert value is None
        elif is_number(cell):
            assert value == float(cell)
        else:
            assert not math.isfinite(value)


@given(st.lists(SPELLINGS, max_size=5))
@settings(deadline=None)
def test_a_column_of_numbers_is_one_whose_every_text_is(cells: list[str]) -> None:
    """``all_numbers`` of a column agrees with ``is_number`` of each text."""
    assert all_numbers(pa.array(cells, pa.string()).dictionary_encode()) == all(map(is_number, cells))


@pytest.mark.parametrize(
    "cell, value", [("TRUE", 1.0), (" false\t", 0.0), ("True", 1.0), ("0.5", 0.5), ("1", 1.0)]
)
def test_a_judged_outcome_may_be_true_or_false(cell: str, value: float) -> None:
    """In any spelling, with blanks around it, beside numbers."""
    assert as_numbers(pa.array([cell, "true"]), outcome_words([cell])).to_pylist() == [value, 1.0]


def test_true_is_no_number_elsewhere() -> None:
    """Only outcomes are judged in words."""
    assert math.isnan(as_numbers(pa.array(["true"])).to_pylist()[0])


def test_numbers_with_gaps_from_the_middle_of_an_array() -> None:
    """A slice keeps its own values and gaps; without gaps nothing is replaced."""
    whole = pa.array([1.5, None, 2.5, None, 4.0])
    np.testing.assert_array_equal(as_numpy(whole[1:4], np.nan), [np.nan, 2.5, np.nan])
    np.testing.assert_array_equal(as_numpy(pa.array([3, 4, 5], pa.int32())[1:], -1), [4, 5])
    np.testing.assert_array_equal(as_numpy(pa.chunked_array([[1.0], [None]]), 0), [1, 0])
    assert len(as_numpy(pa.array([], pa.float64()), np.nan)) == 0
    np.testing.assert_array_equal(flags(whole.is_null()[2:]), [False, True, False])


def test_what_is_given_to_arrow_is_what_it_holds() -> None:
    """Every second number of an array, truths, texts in any script and the missing value."""
    numbers = np.arange(20)[::2]
    assert from_numpy(numbers).equals(pa.array(numbers))
    assert from_numpy(numbers, numbers > 4).equals(pa.array(numbers, mask=numbers <= 4))
    assert from_numpy(numbers > 4).equals(pa.array(numbers > 4))
    assert from_texts(["", "é", "text"]).equals(pa.array(["", "é", "text"]))
    assert missing(pa.string()).as_py() is None


@pytest.mark.parametrize("count", [1, 63, 64, 65, 127, 128, 300])
def test_columns_with_codes_of_any_size_are_stacked(count: int) -> None:
    """Also where the texts of both together ask for wider codes: 128 are one too many for eight bits."""
    parts = [[f"{side}{k}" for k in range(count)] for side in "ab"]
    kept = [keep(pa.array(texts), "labels") for texts in parts]
    assert combined(stacked(kept)).to_pylist() == [*parts[0], *parts[1]]


def test_chunks_whose_texts_fit_small_codes_are_combined_where_all_do_not() -> None:
    """Two chunks of 100 texts each have codes of 8 bits, which 200 texts have not."""
    texts = [f"t{number}" for number in range(200)]
    of_8_bits = pa.dictionary(pa.int8(), pa.string())
    chunks = pa.chunked_array([pa.array(part).cast(of_8_bits) for part in (texts[:100], texts[100:])])
    assert combined(chunks).to_pylist() == keep(chunks, "labels").to_pylist() == texts
    assert len(combined(pa.chunked_array([], of_8_bits))) == 0
