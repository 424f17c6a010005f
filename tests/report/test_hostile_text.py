"""Whatever stands in names, labels, titles and texts, the outputs keep their structure: it comes out as text."""

from __future__ import annotations

import dataclasses
import functools
import io
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from evalreport.options import OutputOptions
from evalreport.report import page as report_page
from evalreport.report import render
from evalreport.report.markdown import summary_markdown
from evalreport.report.sections import describe, figures_of
from evalreport.report.terminal import oneliner, summary
from evalreport.report.view import view_of
from evalreport.schema.inputs import FoundRecord, InputRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts.visible import SHAPELESS, short_names, visible
from research.campaign.names import NASTY, structure, tokens
from tests.samples.cases import every

# Too long for a message of hypothesis, so they have an example of their own.
LONG = ("x" * 10_000, "long words " * 1000, "=" * 10_000)

ANY = st.one_of(
    st.sampled_from(NASTY),
    st.text(alphabet=st.characters(), max_size=40),
    st.lists(st.sampled_from(NASTY[:-3]), min_size=2, max_size=3).map("".join),
)

SIGNALS = (1.9, 1.4, 0.6)

# Without shrinking: what fails is short already, and shrinking takes minutes.
QUICK = settings(
    max_examples=8,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

DAY = datetime(2026, 11, 22, tzinfo=UTC)


def results_with(simulate: Callable[..., Results], names: list[str], texts: list[str]) -> Results:
    """Give results of three models whose names and texts are these; the numbers are the same whatever they are."""
    found = simulate(dict(zip(sorted(names), SIGNALS, strict=True)), n=300)
    yes, said, file = texts
    cells = tuple(
        dataclasses.replace(
            c, true=yes if c.true == "Yes" else "No", predicted=yes if c.predicted == "Yes" else "No"
        )
        for c in found.confusion
    )
    return dataclasses.replace(
        found, classes=("No", yes), positive=yes, confusion=cells, signature=said,
        warnings=(WarningRecord(code="majority_class", text=said, about=(said,)),),
        found=(FoundRecord(what=said, value=yes, why=said),),
        inputs=(InputRecord(path=file, sha256="0" * 64, rows=3, model=names[0]),), environment={said: file},
        options={**found.options, "slices": [said]},
    )  # fmt: skip


TEXTS_OF_PLAIN = ["Yes", "said", "file.csv"]


def plain(names: list[str]) -> tuple[list[str], list[str]]:
    """Give plain names and texts; long names, which have a key to their short ones, where one of these has."""
    short = short_names(names)
    has_key = any(short[name] != visible(name) for name in names)
    return [name + "x" * 60 * has_key for name in ("alpha", "beta", "gamma")], TEXTS_OF_PLAIN


def page_of(results: Results, title: str, *, paper: bool) -> str:
    """Make the page with empty charts, for the browser or for paper."""
    view = view_of(results)
    sections = describe(view)
    drawings = {figure.name: "<svg></svg>" for section in sections for figure in figures_of(section.content)}
    medium: Literal["html", "brief"] = "brief" if paper else "html"
    return report_page.page(view, sections, drawings, medium=medium, title=title, time=DAY)


@functools.cache
def plain_elements(
    simulate: Callable[..., Results], paper: bool, names: tuple[str, ...]
) -> list[tuple[str, tuple[str, ...]]]:
    """Give the elements of the page of plain names, with their attributes."""
    results = results_with(simulate, list(names), TEXTS_OF_PLAIN)
    return structure(page_of(results, "title", paper=paper)).elements


NAMES = st.lists(ANY, min_size=3, max_size=3, unique=True)

# An empty text has no mark-up around it either.
TEXTS = st.lists(ANY.filter(str.strip), min_size=3, max_size=3).filter(lambda texts: texts[0] != "No")


@example(names=["a", "b", LONG[0]], texts=["c", "d", "e"], title=LONG[1]).via("a long name and title")
@example(names=["a", "b", "c"], texts=["d", LONG[2], "e"], title="f").via("a long text")
@pytest.mark.parametrize("paper", every(2, [False, True]))
@given(names=NAMES, texts=TEXTS, title=ANY.filter(bool))
@QUICK
def test_no_text_changes_the_structure_of_the_page(
    simulate: Callable[..., Results], paper: bool, names: list[str], texts: list[str], title: str
) -> None:
    """The same elements with the same attributes as with plain names; no character without a shape; no address."""
    assume(set(names).isdisjoint(texts))  # a warning about a model stands elsewhere than one about a text
    page = page_of(results_with(simulate, names, texts), title, paper=paper)
    found = structure(page)
    assert found.elements == plain_elements(simulate, paper, tuple(plain(names)[0]))
    assert all(address.startswith("#") for address in found.addresses)
    # Controls, bidi overrides, surrogates and the like are written as their code points.
    assert {c for c in page if unicodedata.category(c) in SHAPELESS} - set("\n\u200c\u200d") == set()


@example(names=["a", "b", "c"], texts=["d", "6.", "7) e"], title="1. f").via("what begins a numbered list")
@given(names=NAMES, texts=TEXTS, title=ANY.filter(bool))
@QUICK
def test_no_text_changes_the_structure_of_the_summary(
    simulate: Callable[..., Results], names: list[str], texts: list[str], title: str
) -> None:
    """Read by another program, summary.md has the blocks and marks of that of plain names, and no link."""
    assume(not {*names} & {*texts})  # a warning about a model that is behind is no caution of the summary
    assert tokens(summary_markdown(view_of(results_with(simulate, names, texts)), title=title)) == tokens(
        summary_markdown(view_of(results_with(simulate, *plain(names))), title="title")
    )


@given(names=NAMES, texts=TEXTS)
@QUICK
def test_the_terminal_shows_text_only(
    simulate: Callable[..., Results], names: list[str], texts: list[str]
) -> None:
    """No escape sequence, no control character; the line for chat is one line."""
    from rich.console import Console

    results = results_with(simulate, names, texts)
    out = io.StringIO()
    Console(width=200, file=out, color_system=None).print(summary(results))
    for said in (out.getvalue().replace("\n", ""), oneliner(results)):
        assert not {c for c in said if unicodedata.category(c) in SHAPELESS} - set("\u200c\u200d")


DRAWN = ["$\\frac{1}{", "<script>a()</script>", "\x1b[31m\u202e]]>"]


@pytest.fixture(scope="module")
def folder(simulate: Callable[..., Results], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a whole report, charts and PDF too, of three hostile names and texts."""
    target = tmp_path_factory.mktemp("hostile") / "out"
    results = results_with(simulate, DRAWN, ['"><img src=x onerror=alert(1)>', "file:///etc/passwd", "=1+1"])
    title = "<a href='http://example.org'>x</a>"
    render(results, target, options=OutputOptions(title=title, detail="full", figures="svg"))
    return target


@pytest.mark.slow
def test_names_are_text_in_charts(folder: Path) -> None:
    """Each figure is sound XML without scripts, links or styles, and says the names as they are."""
    drawings = sorted((folder / "figures").glob("*.svg"))
    assert drawings
    said = ""
    for drawing in drawings:
        root = ET.fromstring(drawing.read_text(encoding="utf-8"))  # noqa: S314
        kinds = {element.tag.split("}")[1] for element in root.iter()}
        assert not kinds & {"script", "a", "style", "image", "foreignObject", "animate", "set"}
        assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]
        said += " ".join(root.itertext())
    for name in short_names(list(DRAWN)).values():
        assert name in said


@pytest.mark.slow
def test_the_pdf_has_neither_links_outwards_nor_actions(folder: Path) -> None:
    """No address, script, launch or embedded file other than results.json, and the names are in its text."""
    import pikepdf

    with pikepdf.open(folder / "report.pdf") as document:
        assert list(document.attachments) == ["results.json"]
        for item in document.objects:
            if isinstance(item, pikepdf.Dictionary):
                assert not {"/URI", "/JS", "/JavaScript", "/Launch", "/GoToR"} & set(map(str, item.keys()))
                assert str(item.get("/S", "")) not in {"/URI", "/JavaScript", "/Launch", "/SubmitForm"}
