"""Characters that the fonts of this machine can draw."""

from __future__ import annotations

from functools import lru_cache

from evalreport.plots.style import FONT_FOLDER
from evalreport.texts.visible import code_point


def without_missing_glyphs(document: str) -> str:
    """Write each character that no font of this machine can draw as its code point.

    Colour fonts do not count: their bitmaps have no place in an archived PDF.
    """
    return "".join(c if c.isascii() or _has_glyph(c) else code_point(c) for c in document)


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    return ord(character) in _shipped_font() or ord(character) in _fonts_of_machine()


@lru_cache(maxsize=1)
def _shipped_font() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(FONT_FOLDER / "Inter-Regular.ttf")).get_charmap())


@lru_cache(maxsize=1)
def _fonts_of_machine() -> frozenset[int]:
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    covered: set[int] = set()
    for path in font_manager.findSystemFonts():
        if "color" in path.lower() or "emoji" in path.lower():
            continue
        try:
            covered.update(FT2Font(path).get_charmap())
        except (RuntimeError, OSError):
            continue  # a font that cannot be opened draws nothing
    return frozenset(covered)
