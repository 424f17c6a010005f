"""Numbers as text: no rounding makes a value look like 0, like the margin, or like certainty."""

from __future__ import annotations

import math

import pytest

from evalreport.numbers import (
    count,
    decimals_of,
    digits_apart,
    interval,
    number,
    p_phrase,
    p_value,
    percent,
    share,
    statistic,
    to_digits,
)


@pytest.mark.parametrize("limit", [4e-4, -4e-4, 4e-6, 0.019996, 0.020004])
def test_a_limit_beside_0_or_the_margin_is_not_written_as_that(limit: float) -> None:
    """Three decimals would give 0.000 or 0.020: as many more are written as tell them apart, at most six."""
    low, high = sorted((limit, 0.5))
    text = interval(low, high, 3, signed=True, margin=0.02)
    written = float(text.strip("[]").replace("−", "-").split(", ")[0 if low == limit else 1])
    assert written not in (0.0, 0.02, -0.02)
    assert written == pytest.approx(limit, abs=5e-7)


def test_an_excluded_limit_has_a_round_bracket() -> None:
    """Half-open intervals as they are usually written."""
    assert interval(-0.5, 0.0, 2, signed=True, excluded=0.0) == "[−0.50, 0.00)"
    assert interval(None, 0.5) == interval(0.5, None) == ""


@pytest.mark.parametrize("p", [0.0, 1e-300, 0.00099, 0.049, 0.0994, 0.0996, 0.5, 0.9949, 0.995, 1 - 1e-12])
def test_a_p_value_is_never_written_as_0_and_as_1_only_where_it_is(p: float) -> None:
    """Each text begins with what holds of the number: smaller than 0.001, larger than 0.99, or itself."""
    text = p_value(p)
    if text[0] in "<>":
        assert (p < float(text[1:])) == (text[0] == "<")
    else:
        assert float(text) == pytest.approx(p, abs=0.005)
        assert 0 < float(text) < 1
    assert p_value(1.0) == "1"
    assert p_phrase(p).startswith(("p = ", "p < ", "p > "))


def test_decimals_show_two_digits_of_the_standard_error() -> None:
    """0.0123 has its second digit at 1e-3; of several errors the lower median counts; without any there are three."""
    assert decimals_of([0.0123]) == 3
    assert decimals_of([0.1, 0.012, 5.0, None, math.nan, 0.0]) == 2
    assert decimals_of([None]) == 3
    assert decimals_of([1e-12]) == 6


@pytest.mark.parametrize(
    "value, decimals, text",
    [
        (-0.4, 0, "0"),
        (-1234567.891, 1, "−1,234,567.9"),
        (1e9, 0, "1.00×10⁹"),
        (3.1e-7, 6, "3.10×10⁻⁷"),
        (math.inf, 2, "∞"),
        (-math.inf, 2, "−∞"),
        (math.nan, 2, "–"),
    ],
)
def test_signs_separators_and_powers_of_ten(value: float, decimals: int, text: str) -> None:
    """What rounds to 0 has no sign; what would be a row of zeros, or of ten digits, is a power of ten."""
    assert number(value, decimals) == text


def test_counts_shares_and_statistics() -> None:
    """Decimals stand only where there are some."""
    assert (count(12_000.0), count(12.25)) == ("12,000", "12.2")
    assert (share(1, 8), share(1, 0)) == ("12.5 %", "–")
    assert (percent(0.95), percent(0.999)) == ("95 %", "99.9 %")
    assert (statistic(4.0), statistic(4.567), statistic(None)) == ("4", "4.57", "–")


def test_digits_tell_numbers_apart() -> None:
    """Numbers that differ by 1e-8 of their size share eight digits: three or four more are written."""
    close = [1.00000000, 1.00000001]
    digits = digits_apart(close)
    assert 3 + 8 <= digits <= 4 + 8
    assert to_digits(close[0], digits) != to_digits(close[1], digits)
