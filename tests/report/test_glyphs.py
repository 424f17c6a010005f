"""Characters that no font of this machine has."""

from __future__ import annotations

import pytest

from evalreport.report import glyphs
from evalreport.report.glyphs import without_missing_glyphs


def test_a_character_that_no_font_has_becomes_its_code_point() -> None:
    """A supplementary private character, which no font draws, is written out; Latin and Greek stay."""
    assert without_missing_glyphs("Inter αβ − \U0010fffd") == "Inter αβ − U+10FFFD"


def test_characters_that_no_font_has_are_numbered_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names stay two, the same characters have one number, and no name is a list of code points."""
    monkeypatch.setattr(
        glyphs,
        "_has_glyph",
        lambda character: character not in "模型三号甲\U0001f680\U0001f469\u200d\U0001f52c",
    )
    cells = "<td>模型三号</td> 0.76 <td>模型甲-v2</td>"
    page = f"<main>{cells} модель\U0001f680, 模型三号, \U0001f469\u200d\U0001f52c</main>"
    written = without_missing_glyphs(page)
    assert written.startswith("<main><td>□1</td> 0.76 <td>□2-v2</td> модель□3, □1, □4<p class=")
    assert "□1 to □4 stand for characters that no font of this machine draws" in written
    assert "U+" not in written
