"""Names in scripts from right to left, isolated: numbers and words beside them keep their places."""

from __future__ import annotations

import re

_LETTER = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
"""Hebrew, Arabic, Syriac and the other scripts from right to left."""
_WORD = rf"[{_LETTER}](?:[./_\-]{{0,2}}[\w{_LETTER}\u200c\u200d])*"
RIGHT_TO_LEFT = re.compile(rf"[{_LETTER}]")
_RUN = re.compile(rf"{_WORD}(?: {_WORD})*")
_PIECE = re.compile(r"""(<!--.*?-->|<(?:"[^"]*"|'[^']*'|[^'">])*>)""", re.DOTALL)
_NAME = re.compile(r"<(/?)([a-zA-Z]+)")
_PLAIN = frozenset(("script", "style", "title", "desc", "textarea", "option", "bdi"))
"""Elements whose text holds no elements, or is isolated already."""


def isolated(document: str) -> str:
    """Isolate each run of words from right to left in an HTML document, by ``bdi``, or ``tspan`` within a drawing.

    Without it a browser takes the number after such a name as a part of it, and shows it on the other side.

    Examples
    --------
    >>> isolated("<p>\u05de\u05d5\u05d3\u05dc-\u05d1 0.76); 150</p>")
    '<p><bdi>\u05de\u05d5\u05d3\u05dc-\u05d1</bdi> 0.76); 150</p>'
    >>> isolated('<p title="\u05d1">b</p>')
    '<p title="\u05d1">b</p>'
    """
    if RIGHT_TO_LEFT.search(document) is None:
        return document
    plain = drawing = 0
    pieces = _PIECE.split(document)
    for place, piece in enumerate(pieces):
        tag = _NAME.match(piece) if place % 2 else None
        if tag is not None:
            step = -1 if tag[1] else 0 if piece.endswith("/>") else 1
            plain += step if tag[2].lower() in _PLAIN else 0
            drawing += step if tag[2].lower() == "svg" else 0
        elif place % 2 == 0 and not plain and RIGHT_TO_LEFT.search(piece) is not None:
            around = r'<tspan unicode-bidi="isolate">\g<0></tspan>' if drawing else r"<bdi>\g<0></bdi>"
            pieces[place] = _RUN.sub(around, piece)
    return "".join(pieces)
