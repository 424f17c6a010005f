"""Workbooks whose cells stand so far apart that reading them would end the process."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load

pytest.importorskip("python_calamine")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATION = (
    f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/%s" Target="%s"/>'
    "</Relationships>"
)
ROWS = [["id", "y_true", "y_pred"], *([str(k), k % 2, k % 3 % 2] for k in range(30))]


def workbook(path: Path, more: str = "") -> Path:
    """Write a workbook of one sheet, with further mark-up behind its last row."""
    rows = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{letter}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c r="{letter}{number}"><v>{value}</v></c>'
            for letter, value in zip("ABC", row, strict=True)
        )
        + "</row>"
        for number, row in enumerate(ROWS, 1)
    )
    kinds = "".join(
        f'<Override PartName="/xl/{part}" ContentType="application/vnd.openxmlformats-officedocument.'
        f'spreadsheetml.{kind}+xml"/>'
        for part, kind in (("workbook.xml", "sheet.main"), ("worksheets/sheet1.xml", "worksheet"))
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels"'
            f' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}</Types>',
        )
        archive.writestr("_rels/.rels", RELATION % ("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/_rels/workbook.xml.rels", RELATION % ("worksheet", "worksheets/sheet1.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'
            "</workbook>",
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{MAIN}"><sheetData>{rows}{more}</sheetData></worksheet>',
        )
    return path


@pytest.mark.parametrize("cell", ["XFD1048576", "ZZZZZZ99999999999", "A" * 50 + "9" * 50])
def test_a_cell_too_far_away_is_refused(cell: str, tmp_path: Path) -> None:
    """The library would allocate the whole rectangle and end the process."""
    more = f'<row r="1048576"><c r="{cell}"><v>1</v></c></row>'
    with pytest.raises(InputError, match=r"forest\.xlsx"):
        load(str(workbook(tmp_path / "forest.xlsx", more)))


@pytest.mark.parametrize("more", ["", '<row r="1048576"><c r="XFD1048576" s="1"/></row>'])
def test_a_cell_that_only_has_a_style_takes_no_room(more: str, tmp_path: Path) -> None:
    """Sheets whose last row was coloured once are read."""
    assert load(str(workbook(tmp_path / "forest.xlsx", more))).n == 30
