"""How a file of delimited text is written: its separator, its decimal mark, its quotes, by its first records."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalreport.predictions.spelling import is_missing, is_no_number, is_number
from evalreport.sources.reading import Dialect

LOOKED_AT, FEWEST = 5_000, 100
"""Cells by which a file's dialect is told, and at least these records."""


DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)


_SEPARATOR = re.compile(r"sep=([;,\t|])\r?\n?$")
"""A first line that tells Excel the separator."""


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Record:
    """One record: the line on which it begins, its cells, and its text, in which ``delimiter`` separates them."""

    line: int
    cells: list[str]
    text: str
    delimiter: str

    def quoted(self) -> list[bool]:
        """Say which cells stand in quotes."""
        mark = re.escape(self.delimiter)
        cells = re.finditer(rf'(?:^|{mark})("(?:[^"]|"")*"|[^{mark}]*)', self.text.rstrip("\r\n"))
        return [cell[1].startswith('"') for cell in cells]


class BrokenRecord(Exception):  # noqa: N818 - it says what is broken
    """A record that cannot be split into cells; ``line`` is the one on which it begins."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.line = line


def records(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Yield each record of delimited text; of an empty line it has no cells.

    Raises
    ------
    BrokenRecord
        A quote is never closed, or stands where none may.
    """
    taken: list[str] = []

    def kept() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    reader = csv.reader(kept(), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield Record(line, cells, "".join(taken), delimiter)
            taken.clear()
            line = reader.line_num + 1
    except csv.Error as error:
        raise BrokenRecord(str(error), line) from None


def dialect_of(lines: Callable[[], Iterable[str]], usual: str) -> Dialect:
    """Tell how a file is written.

    Parameters
    ----------
    lines
        Begins at its first line each time.
    usual
        The separator that its name says; a semicolon is one where this one separates nothing.

    """
    announced = _SEPARATOR.match(next(iter(lines()), ""))
    if announced is not None:
        delimiter = announced[1]
    else:
        delimiter = ";" if _width(lines(), usual) <= 1 < _width(lines(), ";") else usual
    begun = itertools.islice(lines(), announced is not None, None)
    looked_at = itertools.islice(records(begun, delimiter), LOOKED_AT + FEWEST)
    filled = (record for record in looked_at if record.cells)
    try:
        header = next(filled)
        some = list(itertools.islice(filled, max(LOOKED_AT // len(header.cells), FEWEST)))
    except (StopIteration, BrokenRecord):
        # Without a header, or broken further on: reading it names the line.
        return Dialect(delimiter=delimiter, announced=announced is not None)
    nameless = _has_nameless_column(header, some)
    width = len(header.cells) + nameless
    whole = [record for record in some if len(record.cells) == width]
    columns = list(zip(*(record.cells for record in whole), strict=True))
    return Dialect(
        delimiter=delimiter,
        decimal_comma=any(has_decimal_comma(column, delimiter) for column in columns),
        quotes_text=all(header.quoted()) and _quotes_text(whole),
        nameless=nameless,
        announced=announced is not None,
    )


def _width(lines: Iterable[str], delimiter: str) -> int:
    """Return the number of cells of the header; 0 where it cannot be split so."""
    try:
        return len(next(records(lines, delimiter)).cells)
    except (StopIteration, BrokenRecord):
        return 0


def _has_nameless_column(header: Record, some: Sequence[Record]) -> bool:
    """Say whether each record has one cell more than the header, and the first ones could be names of rows."""
    named = all(len(record.cells) == len(header.cells) + 1 for record in some)
    if not some or not named or not any(record.cells[-1] for record in some):
        return False
    return len({record.cells[0] for record in some}) == len(some)


def _quotes_text(some: Sequence[Record]) -> bool:
    """Say whether every cell that is neither a number nor missing stands in quotes."""
    return all(
        quoted or is_number(cell) or is_missing(cell)
        for record in some
        for cell, quoted in zip(record.cells, record.quoted(), strict=True)
    )


def has_decimal_comma(column: Sequence[str], delimiter: str) -> bool:
    """Say whether the cells of a column are numbers with a decimal comma.

    Where semicolons do not separate them, ``1,234`` may be a thousand, and ``1,2`` two labels of the column.
    """
    if not any("," in cell for cell in column):
        return False
    given = [cell.strip() for cell in column if not is_no_number(cell)]
    with_comma = [cell for cell in given if DECIMAL_COMMA.fullmatch(cell)]
    if not with_comma or any("." in cell or not is_number(cell.replace(",", ".")) for cell in given):
        return False
    if delimiter == ";":
        return True
    every = set(given)
    return not all(_THOUSANDS.fullmatch(cell) or every.issuperset(cell.split(",")) for cell in with_comma)
