"""Numbers in text: a whole column is parsed as each of its cells would be."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.predictions.cells import all_numbers, as_numbers, is_number

SPELLINGS = st.text("0123456789+-.eE_ \t,nainfxNIF\n\r", max_size=8)
CELLS = st.lists(
    st.none() | SPELLINGS | st.floats().map(str) | st.integers().map(str) | st.text(max_size=4), max_size=20
)


@given(CELLS)
def test_a_column_is_parsed_as_each_cell_would_be(cells: list[str | None]) -> None:
    """Cell by cell as ``is_number`` says: empty, a finite number, or none (nan or infinite: refused alike)."""
    parsed = as_numbers(pa.array(cells, pa.string())).to_pylist()
    for cell, value in zip(cells, parsed, strict=True):
        if cell is None or not cell.strip(" \t"):
            assert value is None
        elif is_number(cell):
            assert value == float(cell)
        else:
            assert not math.isfinite(value)


@given(st.lists(SPELLINGS, max_size=5))
def test_a_column_of_numbers_is_one_whose_every_text_is(cells: list[str]) -> None:
    """``all_numbers`` of a column agrees with ``is_number`` of each text."""
    assert all_numbers(pa.array(cells, pa.string()).dictionary_encode()) == all(map(is_number, cells))


@pytest.mark.parametrize(
    "cell, value", [("TRUE", 1.0), (" false\t", 0.0), ("True", 1.0), ("0.5", 0.5), ("1", 1.0)]
)
def test_a_judged_outcome_may_be_true_or_false(cell: str, value: float) -> None:
    """In any spelling, with blanks around it, beside numbers."""
    assert as_numbers(pa.array([cell, "true"]), truths=True).to_pylist() == [value, 1.0]


def test_true_is_no_number_elsewhere() -> None:
    """Only outcomes are judged in words."""
    assert math.isnan(as_numbers(pa.array(["true"])).to_pylist()[0])
