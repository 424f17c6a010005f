"""The PDF: with results and outline inside, made without a fetch, and left out where a library is missing."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import pdf, render
from evalreport.schema.results import Results, to_json

ALL = {"report.html", "report.pdf", "results.json", "summary.md"}


@pytest.mark.slow
def test_pdf_carries_the_results_and_an_outline(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """results.json is attached byte for byte, related as data; bookmarks and both conformances are declared."""
    import pikepdf

    found = simulate()
    render(found, tmp_path, options=OutputOptions(formats=("pdf",)))
    with pikepdf.open(tmp_path / "report.pdf") as document:
        attached = document.attachments["results.json"]
        assert attached.get_file().read_bytes() == to_json(found)
        assert attached.relationship == pikepdf.Name.Data
        with document.open_outline() as outline:
            titles = [item.title for item in outline.root]
        assert "Decision" in titles
        assert "How this was decided" in titles
        metadata = str(document.open_metadata())
        assert "pdfaid:part" in metadata
        assert "pdfuaid:part" in metadata
        assert document.Root.MarkInfo.Marked


@pytest.mark.parametrize("named", [False, True])
def test_without_pango_everything_else_is_made(
    simulate: Callable[..., Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """A PDF that cannot be made is a warning by default and an error when it was named, after the rest."""

    def missing() -> None:
        raise OutputError(f"the PDF needs Pango, which is not there; {pdf.REMEDY}")

    monkeypatch.setattr(pdf, "_weasyprint", missing)
    monkeypatch.setattr("evalreport.plots.pictures.drawn", lambda _figure: "<svg></svg>")
    options = OutputOptions(formats_named=named)
    if named:
        with pytest.raises(OutputError, match="apt-get install"):
            render(simulate(), tmp_path, options=options)
    else:
        assert "apt-get install" in render(simulate(), tmp_path, options=options).warnings[0]
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == ALL - {"report.pdf"}


def test_the_banner_of_a_missing_pango_does_not_reach_stdout(tmp_path: Path) -> None:
    """WeasyPrint prints before it raises; stdout belongs to whoever asked for JSON."""
    (tmp_path / "weasyprint").mkdir()
    (tmp_path / "weasyprint" / "__init__.py").write_text("print('banner')\nraise OSError('no pango')\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from evalreport.report import pdf\n"
        "try:\n    pdf._weasyprint()\nexcept Exception as error:\n    sys.stderr.write(str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert "libpango" in done.stderr


def test_nothing_is_fetched_while_the_pdf_is_made(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """An attachment, an image or a style sheet by file:// or http:// address is not read."""
    import pikepdf

    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    page = (
        f'<html lang="en"><head><title>t</title><link rel="attachment" href="{secret.as_uri()}">'
        f'<link rel="stylesheet" href="http://127.0.0.1:9/x.css"></head>'
        f'<body><p>text</p><img alt="x" src="{secret.as_uri()}"></body></html>'
    )
    made = pdf.pdf_bytes(page, b"{}", time=datetime(2026, 11, 22, tzinfo=UTC))
    with pikepdf.open(io.BytesIO(made)) as document:
        assert list(document.attachments) == ["results.json"]
    assert b"secret words" not in made
