"""Writing: atomic, complete, the same bytes, the user's own files untouched."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport import questions
from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import pdf, render, sections, writing
from evalreport.schema.results import Results, to_json

ALL = {*("report.html", "report.pdf", "results.json", "summary.md"), *("pr.svg", "roc.svg")}


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.slow
def test_all_four_formats_and_the_figures_are_written_twice_with_the_same_bytes(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """The same results give the same bytes of every file, PDF included."""
    found = simulate()
    drawn = OutputOptions(figures="svg")
    outcome = render(found, tmp_path / "a", options=drawn)
    render(found, tmp_path / "b", options=drawn)
    assert {path.name for path in outcome.paths} == ALL
    assert outcome.warnings == ()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert (tmp_path / "a" / "results.json").read_bytes() == to_json(found)
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b"}  # no temporary folder is left


@pytest.mark.slow
def test_charts_are_files_only_where_they_are_asked_for(
    simulate: Callable[..., Results], tmp_path: Path
) -> None:
    """Of the kind that was named, also where no page is made."""
    found = simulate()
    render(found, tmp_path / "a", options=OutputOptions(formats=("html",)))
    assert set(contents(tmp_path / "a")) == {"report.html"}
    render(found, tmp_path / "b", options=OutputOptions(formats=("json",), figures="png"))
    assert set(contents(tmp_path / "b")) == {"results.json", "figures/roc.png", "figures/pr.png"}


@pytest.mark.usefixtures("undrawn")
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
    formats = OutputOptions(formats=("html", "json", "md"), figures="svg")
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
    render(found, tmp_path, options=OutputOptions(formats=("html",), figures="svg"))
    render(found, tmp_path, options=OutputOptions(formats=("md",)))
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == ALL - {"report.pdf"}


def test_an_unwritable_place_is_said(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """A file where the folder should be is named in one message."""
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="out"):
        render(simulate(), tmp_path / "out", options=OutputOptions(formats=("json",)))
    assert (tmp_path / "out").read_text() == "a file"


def test_every_figure_of_a_report_is_known_as_ours() -> None:
    """A drawing under a name that is not known would never be removed, and stand beside the next report's."""
    folders = (
        Path(sections.__file__).parent.glob("*.py"),
        Path(questions.__file__).parent.glob("*/*section.py"),
    )
    sources = [path.read_text() for folder in folders for path in folder]
    names = {name for text in sources for name in re.findall(r'\bname="([a-z0-9-]+)"', text)}
    assert {"ranks", "strip"} <= names
    assert {name for name in names if not writing.is_ours(f"figures/{name}.svg")} == set()
