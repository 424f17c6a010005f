"""Numbers in local dress: one form a column, read as plain numbers; what is not of the form is named."""

from __future__ import annotations

import pytest

from evalreport.predictions.dressed_numbers import dress_of


@pytest.mark.parametrize(
    "texts, plain",
    [
        (["$1,013.50", "$2.00"], ["1013.50", "2.00"]),
        (["1.013,50", "2,00"], ["1013.50", "2.00"]),
        (["1\u00a0013,50", "2,00"], ["1013.50", "2.00"]),
        (["1\u202f013,50", "2,00"], ["1013.50", "2.00"]),
        (["1'013.50", "2.00"], ["1013.50", "2.00"]),
        (["1\u2019013.50", "2.00"], ["1013.50", "2.00"]),
        (["(12.50)", "3.00"], ["-12.50", "3.00"]),
        (["12.50-", "3.00"], ["-12.50", "3.00"]),
        (["\u221212.50", "3.00"], ["-12.50", "3.00"]),
        (["2.49%", "3.1 %"], ["2.49", "3.1"]),
        (["1.013,50 €", "2,00 €"], ["1013.50", "2.00"]),
    ],
)
def test_each_dress_is_read(texts: list[str], plain: list[str]) -> None:
    """Every cell of the column is of the form."""
    dress = dress_of(texts)
    assert dress is not None
    assert list(dress.numbers.values()) == plain
    assert dress.exceptions == ()
    assert dress.percent == ("%" in texts[0])


def test_two_readings_are_none() -> None:
    """1,013 is a thousand and thirteen or one and a bit: the column has no numbers."""
    dress = dress_of(["1,013", "2,500"])
    assert dress is not None
    assert dress.numbers == {}
    assert dress.exceptions == ("1,013", "2,500")


def test_a_cell_of_another_form_is_named() -> None:
    """Nine in ten have the form; the tenth is an exception."""
    dress = dress_of([f"${k}.00" for k in range(1, 20)] + ["€7.00"])
    assert dress is not None
    assert dress.exceptions == ("€7.00",)


def test_words_and_plain_numbers_have_no_dress() -> None:
    """Neither is touched."""
    assert dress_of(["1.5", "2", "-3e4"]) is None
    assert dress_of(["spam", "ham", "$3.00"]) is None
