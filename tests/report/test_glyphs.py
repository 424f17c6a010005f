"""Characters that no font of this machine has."""

from __future__ import annotations

from evalreport.report.glyphs import without_missing_glyphs


def test_a_character_that_no_font_has_becomes_its_code_point() -> None:
    """A supplementary private character, which no font draws, is written out; Latin and Greek stay."""
    assert without_missing_glyphs("Inter αβ − \U0010fffd") == "Inter αβ − U+10FFFD"
