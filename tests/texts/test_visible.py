"""Names from files made visible: no two look alike, and what has no shape is written out."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

from evalreport.texts.visible import code_point, distinct_names, escaped_json, short_names, visible


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


@pytest.mark.parametrize(
    "character", ["\x9b", "\x85", "\x7f", "\u202e", "\u2067", "\u061c", "\u200b", "\u2028"]
)
def test_what_acts_on_a_terminal_is_an_escape_in_json(character: str) -> None:
    """C1 control codes, marks of direction and of no width: the value that a reader gets stays the same."""
    text = json.dumps({f"a{character}": "é −"}, ensure_ascii=False)
    written = escaped_json(text)
    assert character not in written
    assert json.loads(written) == json.loads(text)
    assert "é −" in written


def test_no_character_of_the_first_plane_acts_on_a_terminal() -> None:
    """Of all controls and formats only letters' joiners and marks that are drawn stay, in JSON and in a line."""
    formats = [
        c for c in map(chr, range(0x7F, 0x10000)) if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")
    ]
    left = [c for c in formats if c in escaped_json("".join(formats))]
    # The soft hyphen, joiners, and signs of Arabic and Syriac that stand before a number.
    assert all(unicodedata.bidirectional(c) in ("BN", "AN", "AL") for c in left)


def test_a_name_is_not_cut_behind_a_joint() -> None:
    """What is left out begins where the last word ends: no dash or underscore stands before the ellipsis."""
    long = "gpt-4o-mini-2024-07-18__temp=0.0__few_shot_k=5__prompt_v12_final.run-3"
    for short in short_names([long, "Modèle β (v2.1, août) – «prod», 100 % fett & mehr"]).values():
        assert re.search(r"[^\s_–-]…$", short)
