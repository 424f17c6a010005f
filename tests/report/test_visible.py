"""Names from files made visible: no two look alike, and what has no shape is written out."""

from __future__ import annotations

import pytest

from evalreport.texts.visible import code_point, distinct_names, visible


def test_two_names_never_look_alike() -> None:
    """Names that are cut or composed to the same text get a number."""
    long = [f"{'a' * 100}{i}{'b' * 100}" for i in range(3)]
    names = distinct_names([*long, "e\u0301", "\u00e9", ""])
    assert len(set(names.values())) == 6
    assert names[""] == "(empty name)"
    assert all(len(name) <= 66 for name in names.values())


@pytest.mark.parametrize("joined", ["\u0646\u200c\u0647", "\u0915\u094d\u200d\u0937"])
def test_joiners_stay_inside_words(joined: str) -> None:
    """Scripts that need a zero-width joiner between letters keep it."""
    assert visible(joined) == joined


def test_shapeless_characters_are_those_that_unicode_says() -> None:
    """The override of direction, which turns file names round, is one; a letter is none."""
    assert visible("\u202e") == code_point("\u202e") == "U+202E"
    assert visible("é") == "é"
