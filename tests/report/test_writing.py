"""Writing: atomic, complete, the same bytes, the user's own files untouched."""

from __future__ import annotations

import dataclasses
import io
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import pdf, render, sections, writing
from evalreport.schema.results import Results, to_json

ALL = {
    *("report.html", "report.pdf", "results.json", "summary.md"),
    *("pr.svg", "roc.svg"),
}


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_all_four_formats_and_the_figures_are_written_twice_with_the_same_bytes(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """The same results give the same bytes of every file, PDF included."""
    found = simulate()
    outcome = render(found, tmp_path / "a")
    render(found, tmp_path / "b")
    assert {path.name for path in outcome.paths} == ALL
    assert outcome.warnings == ()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert (tmp_path / "a" / "results.json").read_bytes() == to_json(found)
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b"}  # no temporary folder is left


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


def test_a_failing_render_leaves_the_previous_report(
    simulate: Callable[..., Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong before the end, every byte of the earlier report stays."""
    target = tmp_path / "out"
    render(simulate(), target, options=OutputOptions(formats=("html", "json", "md")))
    before = contents(tmp_path)

    def broken(*arguments: object, **options: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(pdf, "pdf_bytes", broken)
    with pytest.raises(KeyboardInterrupt):
        render(simulate(n=300), target)
    assert contents(tmp_path) == before


def test_files_of_others_stay_and_stale_ones_of_ours_go(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """A new report replaces the old one's files and figures; the user's notes and drawings are not touched."""
    formats = OutputOptions(formats=("html", "json", "md"))
    render(simulate(), tmp_path, options=formats)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "figures" / "mine.svg").write_text("mine")
    one = dataclasses.replace(simulate({"only": 1.0}), curves=(), confusion=())
    render(one, tmp_path, options=OutputOptions(formats=("html", "json")))
    left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {"report.html", "results.json", "notes.txt", "figures/mine.svg"}


def test_another_format_of_the_same_results_is_added(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """Outputs of the very same results stay when another format is asked for later."""
    found = simulate()
    render(found, tmp_path, options=OutputOptions(formats=("json", "md")))
    render(found, tmp_path, options=OutputOptions(formats=("html",)))
    render(found, tmp_path, options=OutputOptions(formats=("md",)))
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == ALL - {"report.pdf"}


@pytest.mark.parametrize("named", [False, True])
def test_without_pango_everything_else_is_made(
    simulate: Callable[..., Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """A PDF that cannot be made is a warning by default and an error when it was named, after the rest."""

    def missing() -> None:
        raise OutputError(f"the PDF needs Pango, which is not there; {pdf.REMEDY}")

    monkeypatch.setattr(pdf, "_weasyprint", missing)
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


def test_an_unwritable_place_is_said(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """A file where the folder should be is named in one message."""
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="out"):
        render(simulate(), tmp_path / "out", options=OutputOptions(formats=("json",)))
    assert (tmp_path / "out").read_text() == "a file"


def test_every_figure_of_a_report_is_known_as_ours() -> None:
    """A drawing under a name that is not known would never be removed, and stand beside the next report's."""
    sources = [path.read_text() for path in Path(sections.__file__).parent.glob("*.py")]
    names = {name for text in sources for name in re.findall(r'\bname="([a-z0-9-]+)"', text)}
    assert {"ranks", "strip"} <= names
    assert {name for name in names if not writing.is_ours(f"figures/{name}.svg")} == set()


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
