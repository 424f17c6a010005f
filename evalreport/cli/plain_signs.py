"""Plain signs for an output whose encoding lacks the typographic ones, such as cp1252 or ASCII."""

from __future__ import annotations

import codecs
import unicodedata

PLAIN_SIGNS = "evalreport.plain_signs"
"""The name of the error handler of streams."""


_PLAIN = {
    **dict.fromkeys("\u2212\u2013\u2014\u2010\u2011\u2500\u2501", "-"),
    **dict.fromkeys("\u201c\u201d\u201e", '"'),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u00a0\u202f\u2009\u200a", " "),
    **dict.fromkeys("\u2022\u00b7", "*"),
    "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2248": "~", "\u00b1": "+-", "\u00d7": "x", "\u2026": "...",
    "\u2192": "->", "\u2190": "<-", "\u0394": "Delta", "\u03b1": "alpha", "\u03b2": "beta", "\u03b4": "delta",
    "\u03ba": "kappa", "\u03bb": "lambda", "\u03c1": "rho", "\u03c7": "chi", "\u221e": "inf", "\u221a": "sqrt",
    "\u2713": "ok", "\u2717": "x", "\u00a7": "section ",
}  # fmt: skip


_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
"""Digits of a power, and its minus."""


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Return plain characters for those that cannot be encoded: by the table, without accents, else escapes."""
    assert isinstance(error, UnicodeEncodeError)
    signs = []
    for place in range(error.start, error.end):
        sign, before = error.object[place], error.object[place - 1 : place]
        if sign in _RAISED:
            signs.append("^" * (before not in _RAISED or not before) + "0123456789-"[_RAISED.index(sign)])
        else:
            signs.append(_plain(sign, error.encoding))
    return "".join(signs), error.end


def _plain(sign: str, encoding: str) -> str:
    for text in (_PLAIN.get(sign, ""), unicodedata.normalize("NFKC", sign), _without_accents(sign)):
        if text and text != sign and _fits(text, encoding):
            return text
    return sign.encode("ascii", "backslashreplace").decode("ascii")


def _without_accents(sign: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(part))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


codecs.register_error(PLAIN_SIGNS, _plain_signs)
