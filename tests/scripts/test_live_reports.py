"""The reports that the pictures of the documentation lead to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.draw_gallery import DRAWN_FROM
from scripts.draw_gallery import EXAMPLES as GALLERY
from scripts.live_reports import FILES, example_of, links, make
from scripts.screenshots import REPORTS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_picture_of_an_example_has_a_report():
    """All but the curves of equal F1, which show no results."""
    drawn = {picture for pictures in DRAWN_FROM.values() for picture in pictures}
    assert set(DRAWN_FROM) == set(GALLERY)
    assert {path.stem for path in (DOCS / "gallery").glob("*.svg")} == drawn | {"f1_at_recall"}
    pictures = [
        *(DOCS / "screenshots").glob("*.png"),
        *(path for path in (DOCS / "gallery").glob("*.svg") if path.stem in drawn),
    ]
    for path in pictures:
        example = example_of(path.relative_to(DOCS.parent).as_posix())
        assert example in REPORTS or example in GALLERY, path
    assert example_of("docs/coverage.svg") is None


@pytest.mark.slow
def test_a_report_is_made_in_all_forms_and_linked_from_a_page(tmp_path: Path):
    """From a page in a folder of the site up to its root."""
    make(["data-sets"], tmp_path)
    addresses = links("docs/gallery/critical_differences.svg", "docs/charts")
    assert set(addresses) == set(FILES) == {"HTML", "PDF", "Markdown"}
    for address in addresses.values():
        assert (tmp_path / "docs" / address).resolve().stat().st_size > 300
    page = (tmp_path / "reports" / "data-sets" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"14 data sets", page)
