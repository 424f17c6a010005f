"""A workbook written by hand, with no more parts than a reader needs."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    """Write sheets of rows of text, numbers, true and false, and days; None is an empty cell."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    related = "".join(_relation(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
            for n in numbers
        )
        + "</Types>",
        "_rels/.rels": _relations(_relation("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(related + _relation("rId99", "styles", "styles.xml")),
        # The second format of cells, s="1", is that of days (14).
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2">'
        '<xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for number, rows in zip(numbers, sheets, strict=True):
        body = "".join(
            f'<row r="{place}">{"".join(_cell(cell, place, column) for column, cell in enumerate(row))}</row>'
            for place, row in enumerate(rows, start=1)
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, _HEAD + text)
    return path


def _relations(inside: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def _relation(key: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _cell(value: Any, row: int, column: int) -> str:
    place = f'r="{chr(ord("A") + column)}{row}"'
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        days = (value - datetime(1899, 12, 30)).total_seconds() / 86400  # noqa: DTZ001 - Excel's days have no zone
        return f'<c {place} s="1"><v>{days}</v></c>'
    if isinstance(value, (int, float)):
        return f"<c {place}><v>{value}</v></c>"
    return f'<c {place} t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
