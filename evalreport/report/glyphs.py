"""Characters that the fonts of this machine can draw, and what stands for the others."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from evalreport.plots.style import FONT_FOLDER
from evalreport.texts import say
from evalreport.texts.visible import code_point

BOX = "\u25a1"
"""A square, which the shipped font draws: with a number it stands for characters that no font does."""

_JOINING = "\u200d\ufe0e\ufe0f"
"""Characters between the parts of an emoji, which draw nothing by themselves."""


def without_missing_glyphs(document: str) -> str:
    """Write characters that no font of this machine can draw so that names stay short, and apart.

    Runs of letters and symbols are numbered squares, the same everywhere, which a note at the end of the document
    explains; private and unassigned characters, which mean nothing, are written as their code points. Colour fonts do
    not count: their bitmaps have no place in an archived PDF.

    Examples
    --------
    >>> without_missing_glyphs("a \U0010fffd")
    'a U+10FFFD'
    """
    numbers: dict[str, int] = {}

    def drawn(run: re.Match[str]) -> str:
        shown, undrawn = "", ""
        for character in run[0]:
            kind = unicodedata.category(character)
            missing = not _has_glyph(character)
            if undrawn if character in _JOINING else missing and kind[0] in "LMNSP":
                undrawn += character
                continue
            shown += boxed(undrawn) + (code_point(character) if missing else character)
            undrawn = ""
        return shown + boxed(undrawn)

    def boxed(undrawn: str) -> str:
        return f"{BOX}{numbers.setdefault(undrawn, len(numbers) + 1)}" if undrawn else ""

    written = re.sub(r"[^\x00-\x7f]+", drawn, document)
    note = f'<p class="note">{say("report.undrawn", n=len(numbers))}</p></main>'
    return written.replace("</main>", note, 1) if numbers else written


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
