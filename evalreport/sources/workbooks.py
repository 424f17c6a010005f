"""Workbooks: the first sheet of an .xlsx file, by the extra excel."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import IO

import pyarrow as pa

from evalreport.errors import InputError
from evalreport.sources.binary import read_table, whole
from evalreport.sources.reading import Choose, Columns, empty_file, reads
from evalreport.sources.unpacking import Room, room_of

BYTES_A_CELL, PIECE = 32, 2**20
VALUED_CELL = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\br\s*=\s*["']([A-Za-z]+)(\d+)["'][^>]*(?<!/)>""")
"""A cell that is more than its style: its column and its row."""


@reads("xlsx")
def read_workbook(path: Path, name: str, choose: Choose, *, memory_limit: int | None = None) -> Columns:
    """Read the first sheet of an .xlsx file; its first row that is not empty is the header.

    Raises
    ------
    InputError
        Where the extra excel is not installed, or the file is no workbook or holds no row.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError.of("no_reader_of_workbooks", file=name) from None
    room = room_of(path, name, memory_limit)
    with whole(name, "xlsx", CalamineError, zipfile.BadZipFile):
        _check_room(path, room)
        sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
        rows = [row for row in sheet.to_python(skip_empty_area=True) if any(cell != "" for cell in row)]
    if len(rows) < 2:
        raise empty_file(name)
    header, *cells = rows
    # A column without a name and without a value is none: the sheet was wider once.
    columns = [
        (_text(title), column)
        for title, column in zip(header, zip(*cells, strict=True), strict=True)
        if title != "" or any(cell != "" for cell in column)
    ]
    arrays = [_column(cells) for _, cells in columns]
    table = pa.Table.from_arrays(arrays, names=[title for title, _ in columns])
    return read_table(table, name, choose, room)


def _check_room(path: Path, room: Room) -> None:
    """Refuse a workbook that takes more room than there is, unpacked or as the rectangle of its cells.

    The library that reads it allocates every cell up to the last one that has a value, and ends the process where it
    cannot.
    """
    with zipfile.ZipFile(path) as archive:
        room.check(sum(entry.file_size for entry in archive.infolist()))
        for entry in archive.infolist():
            if "worksheets/" in entry.filename.lower():
                with archive.open(entry) as sheet:
                    room.check(BYTES_A_CELL * _cells_of(sheet))


def _cells_of(sheet: IO[bytes]) -> int:
    """Return how many cells the rectangle from A1 to the last row and column with a value has."""
    rows, columns, rest = 0, 0, b""
    while piece := sheet.read(PIECE):
        text = rest + piece
        end = text.rfind(b"<")
        text, rest = (text[:end], text[end:]) if end > 0 else (text, b"")
        for letters, digits in VALUED_CELL.findall(text):
            number = 0
            for letter in letters.upper()[:8]:
                number = 26 * number + letter - 64
            columns, rows = max(columns, number), max(rows, int(digits[:18]))
    return rows * columns


def _column(cells: Sequence[object]) -> pa.Array:
    """Return a column of one type where its cells are of one, else as text; an empty cell is missing."""
    given = [None if cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in given if cell is not None}
    if kinds <= {int, float} or kinds <= {date, datetime} or len(kinds) == 1:
        try:
            return pa.array(given)
        except pa.ArrowException:
            pass
    return pa.array([None if cell is None else _text(cell) for cell in given], pa.string())


def _text(cell: object) -> str:
    """Return a cell as text: a whole number without decimals, as the sheet shows it."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
