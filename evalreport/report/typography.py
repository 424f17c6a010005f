"""Line breaks: where a text may break, and which words and numbers stay together."""

from __future__ import annotations

import re

from markupsafe import Markup

from evalreport.report.isolation import RIGHT_TO_LEFT
from evalreport.texts.visible import visible


def breakable(name: str) -> Markup:
    """Allow a name to break after its joints, as in ``random_`` ``forest``; one from right to left is of one piece."""
    if RIGHT_TO_LEFT.search(name):
        return Markup.escape(visible(name))
    return Markup("<wbr>").join(
        Markup.escape(part) for part in re.split(r"(?<=[_\-./ ])(?=\w)", visible(name))
    )


LONGEST_UNBROKEN = 20
SIGNS = r"(?<=\d) (?=%)|(?<=\b[np]) (?=[=<>] )|(?<=[=<>≤≥]) (?=[\d−])| (?=[±↓↑])"
_SIGNED, _HELD = re.compile(SIGNS), re.compile(rf"{SIGNS}| (?=\S{{1,6}}$)")


def signed(text: object) -> str:
    """Join by spaces that do not break a number and its sign, and ``n = 37``, in a note or the head of a column.

    Examples
    --------
    >>> signed("Log loss ↓, false alarms ≤ 10 %").replace("\u00a0", "_")
    'Log loss_↓, false alarms ≤_10_%'
    """
    return _SIGNED.sub("\u00a0", str(text))


def held(text: object) -> str:
    """Join by spaces that do not break a number and its sign, ``n = 37``, and the last two words of a heading.

    Examples
    --------
    >>> held("fell from 94.6 % (n = 37) to 18.4 %").replace("\u00a0", "_")
    'fell from 94.6_% (n_=_37) to 18.4_%'
    """
    return _HELD.sub("\u00a0", str(text))


def unbroken(text: object) -> Markup:
    """Keep words such as ``mid-p`` and ``--test`` in one line: a browser would break them after the hyphen.

    For our own texts: in one from a file it would let a name decide how many elements the page has.

    Examples
    --------
    >>> str(unbroken("by the mid-p test"))
    'by the <span class="unbroken">mid-p</span> test'
    """

    def one(word: str) -> Markup:
        within = Markup.escape(word)
        short = "-" in word and len(word) <= LONGEST_UNBROKEN
        return Markup('<span class="unbroken">{}</span>').format(within) if short else within

    return Markup("").join(one(part) for part in re.split(r"(\s+)", visible(str(text))))
