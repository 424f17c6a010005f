"""The PDF by the tools of others: archival, accessible, searchable, vector, with the numbers attached."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from .programs import output_of, pdf_conformance, program

pytestmark = pytest.mark.system


def test_the_pdf_is_archival_and_accessible(pdf: Path):
    """The veraPDF engine finds PDF/A-3a and PDF/UA-1 fulfilled."""
    findings = pdf_conformance("3a", "ua1", pdf=pdf)
    verdicts = [line.split()[0] for line in findings.splitlines() if line and not line.startswith(" ")]
    assert verdicts == ["PASS", "PASS"], findings


def test_qpdf_finds_the_file_sound(pdf: Path):
    """No syntax or stream error."""
    checked = output_of(program("qpdf", "qpdf"), "--check", pdf)
    assert "No syntax or stream encoding errors found" in checked


def test_the_text_holds_the_verdict_and_every_model(report: Path, pdf: Path):
    """The sentence that leads the summary can be searched and copied in the PDF, and so can the models' names."""
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    summary = (report / "summary.md").read_text(encoding="utf-8")
    headline = next(line for line in summary.splitlines() if line.startswith("**"))
    verdict = html.unescape(headline.strip("*").replace("\\", ""))
    # Where lines end is the paper's business, so white space does not count.
    squeezed = "".join(output_of(program("pdftotext", "poppler-utils"), pdf, "-").split())
    assert "".join(verdict.split()) in squeezed
    for model in results["models"]:
        assert model in squeezed


def test_no_picture_is_made_of_pixels(pdf: Path):
    """Every chart is drawn as vectors: the list of images has its two heading lines and nothing else."""
    listed = output_of(program("pdfimages", "poppler-utils"), "-list", pdf)
    assert len(listed.splitlines()) == 2, listed


def test_the_attachment_is_results_json(report: Path, pdf: Path):
    """Byte for byte, so that a reader who only has the PDF can verify every number."""
    import pikepdf

    with pikepdf.open(pdf) as document:
        assert list(document.attachments) == ["results.json"]
        attached = document.attachments["results.json"].get_file().read_bytes()
    assert attached == (report / "results.json").read_bytes()


def test_bookmarks_lead_to_the_sections(pdf: Path):
    """The outline names the sections, the verdict first."""
    import pikepdf

    with pikepdf.open(pdf) as document, document.open_outline() as outline:
        titles = [str(item.title) for item in _flattened(outline.root)]
    assert any("Verdict" in title for title in titles)
    assert len(titles) >= 5


def _flattened(items):
    for item in items:
        yield item
        yield from _flattened(item.children)
