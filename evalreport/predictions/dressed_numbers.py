"""Numbers in local dress: 1.013,50, $1,013.50, 2.49%, (12.50); read where all cells of a column are of one form."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from evalreport.predictions.spelling import BLANKS, is_number

T = TypeVar("T")
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f\u2007", " "))
_CURRENCY = r"[$€£¥₹₩]|R\$|US\$|CHF|USD|EUR|GBP|kr\.?"
_CELL = re.compile(
    rf"(?P<open>\()?(?P<sign>[+\u2212-])?(?P<before>{_CURRENCY})? ?(?P<inner>[+\u2212-])?"
    rf"(?P<body>\d[\d.,' _\u2019]*?) ?(?P<after>{_CURRENCY}|%)?(?P<trailing>-)?(?P<close>\))?",
    re.ASCII,
)
_MARKS = [(t, d) for t, d in itertools.product(("", ",", ".", " ", "'", "_"), (".", ",")) if t != d]
"""Separators of thousands and decimal marks."""


@dataclass(frozen=True, slots=True)
class Dress:
    """One form of numbers.

    Attributes
    ----------
    numbers
        Each text of the column that has the form -> the plain number.
    example
        A text in which the form shows.
    percent
        Whether the texts have a percent sign; the numbers are percent, too.
    grouped
        Whether some text separates thousands, or writes a negative number in the manner of book-keeping.
    exceptions
        Texts that do not have the form.
    """

    numbers: dict[str, str] = field(default_factory=dict)
    example: str = ""
    percent: bool = False
    grouped: bool = False
    exceptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cell:
    """One text in its parts; ``around``: currency and percent sign, ``negative``: how a minus is written."""

    body: str
    around: tuple[str, str]
    negative: str


def dress_of(texts: Collection[str]) -> Dress | None:
    """Return the form that most texts of a column have; None: they are plain numbers, or most are no numbers at all.

    A form is a separator of thousands, a decimal mark, a currency or percent sign, and how a minus is written. Where
    two forms read the texts as different numbers (``1,013`` alone), there is none.

    Examples
    --------
    >>> dress_of(["$1,013.50", "$950.00"]).numbers, dress_of(["1.013,50", "(12,50)"]).numbers
    ({'$1,013.50': '1013.50', '$950.00': '950.00'}, {'1.013,50': '1013.50', '(12,50)': '-12.50'})
    >>> dress_of(["1.5", "2"]), dress_of(["yes", "no"]), dress_of(["1,013", "2,500"]).numbers
    (None, None, {})
    >>> dress_of(["2.5%", "3.1%", "7", "4.4%"] * 5).exceptions
    ('7',)
    """
    distinct = list(dict.fromkeys(texts))
    if all(map(is_number, distinct)):
        return None
    cells = {text: cell for text in distinct if (cell := _parts(text)) is not None}
    if 10 * len(cells) < 9 * len(distinct):
        return None
    around = _most(cell.around for cell in cells.values())
    styles = {cell.negative for cell in cells.values()} - {"", "+"}
    style = _most(cell.negative for cell in cells.values() if cell.negative in styles) if styles else ""
    alike = {
        text: cell
        for text, cell in cells.items()
        if cell.around == around and cell.negative in ("", "+", style)
    }
    readings = _readings(alike)
    numbers = readings[0] if len(readings) == 1 else {}
    return Dress(
        numbers,
        example=next((text for text in alike if not is_number(text)), distinct[0]),
        percent=around[1] == "%",
        grouped=style in ("(", "trailing") or any(len(_groups(cell.body)) > 2 for cell in alike.values())
        or any(mark in cell.body for cell in alike.values() for mark in " '_"),
        exceptions=tuple(text for text in distinct if text not in numbers),
    )  # fmt: skip


def _most(values: Iterable[T]) -> T:
    return Counter(values).most_common(1)[0][0]


def _groups(body: str) -> list[str]:
    return re.split(r"[.,' _]", body)


def _parts(text: str) -> _Cell | None:
    """Return the parts of one text; None: it is no number in any dress."""
    plain = text.translate(_SPACES).strip(BLANKS).replace("\u2019", "'")
    match = _CELL.fullmatch(plain)
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    signs = [sign for sign in (match["sign"], match["inner"], match["trailing"]) if sign]
    if len(signs) + (match["open"] is not None) > 1:
        return None
    negative = "(" if match["open"] else "trailing" if match["trailing"] else "+" if signs == ["+"] else ""
    if not negative and signs:
        negative = "-"
    return _Cell(match["body"], (match["before"] or "", match["after"] or ""), negative)


def _readings(cells: dict[str, _Cell]) -> list[dict[str, str]]:
    """Return the different readings of the texts as numbers by the marks that fit the most of them."""
    readings: list[dict[str, str]] = []
    for thousands, decimal in _MARKS:
        mark = re.escape(thousands)
        # In India groups of two digits stand before the last three: 12,34,567.
        groups = rf"(?:\d{{1,3}}(?:{mark}\d{{3}})*|\d{{1,2}}(?:{mark}\d\d)+{mark}\d{{3}})" if mark else r"\d+"
        form = re.compile(rf"{groups}({re.escape(decimal)}\d+)?")
        reading = {
            text: _number(cell, thousands, decimal)
            for text, cell in cells.items()
            if form.fullmatch(cell.body)
        }
        if reading not in readings:
            readings.append(reading)
    most = max((len(reading) for reading in readings), default=0)
    if len(readings[0]) == most > 0:
        return [readings[0]]  # a point is a decimal mark wherever it can be one, as in plain numbers
    return [reading for reading in readings if len(reading) == most > 0]


def _number(cell: _Cell, thousands: str, decimal: str) -> str:
    body = cell.body.replace(thousands, "") if thousands else cell.body
    return ("-" if cell.negative in ("-", "(", "trailing") else "") + body.replace(decimal, ".")
