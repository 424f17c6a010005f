"""What users may change: files, blocks, the brand; and what their mistakes lead to."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import page as report_page
from evalreport.report import render
from evalreport.report.brand import TemplateError
from evalreport.report.sections import SECTIONS
from evalreport.report.templates import environment
from evalreport.report.view import view_of
from evalreport.schema.results import Results

pytestmark = pytest.mark.usefixtures("templates_here", "undrawn")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Give an empty folder of templates."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def page_of(results: Results, templates: Path) -> str:
    """Give the page that a folder of templates makes."""
    target = templates.parent / "out"
    render(results, target, options=OutputOptions(formats=("html",), templates=templates))
    return (target / "report.html").read_text()


def test_a_block_changes_and_the_rest_stays(simulate: Callable[..., Results], mine: Path) -> None:
    """A user's base that extends the built-in one changes the branding alone."""
    (mine / "base.html.j2").write_text(
        '{% extends "evalreport/base.html.j2" %}{% block brand %}<p class="brand">ACME</p>{% endblock %}'
    )
    page = page_of(simulate(), mine)
    assert '<p class="brand">ACME</p>' in page
    assert 'id="leaderboard"' in page


@pytest.mark.slow
def test_every_section_has_a_block(simulate: Callable[..., Results], mine: Path) -> None:
    """Without a line of its own in the base template, every section of the report has a block that super() keeps."""
    names = {f"section_{section.name}" for section in SECTIONS}
    assert {
        name for name in environment(None).get_template("base.html.j2").blocks if "section_" in name
    } == names
    blocks = (f"{{% block {name} %}}[{name}]{{{{ super() }}}}{{% endblock %}}" for name in names)
    (mine / "base.html.j2").write_text('{% extends "evalreport/base.html.j2" %}' + "".join(blocks))
    page = page_of(simulate(), mine)
    shown = re.findall(r'<section id="(\w+)" class="section', page)
    assert len(shown) > 5
    assert re.findall(r'\[section_(\w+)\]<section id="(\w+)"', page) == [(name, name) for name in shown]


@pytest.mark.slow
def test_a_section_is_left_out_or_added_to_by_its_block(simulate: Callable[..., Results], mine: Path) -> None:
    """An empty block leaves a section out; super() keeps it and adds; a section of one's own can follow."""
    (mine / "base.html.j2").write_text(
        '{% extends "evalreport/base.html.j2" %}'
        "{% block section_confusion %}{% endblock %}"
        "{% block section_decision %}{{ super() }}<p>Seen by the board.</p>{% endblock %}"
        '{% block after_sections %}<section id="ours"><h2 id="ours-title">Ours</h2></section>{% endblock %}'
    )
    page = page_of(simulate(), mine)
    assert 'id="confusion"' not in page
    assert page.index('id="leaderboard"') < page.index("Seen by the board.") < page.index('id="pairs"')
    assert page.index('id="reproducibility"') < page.index('id="ours"')


@pytest.mark.slow
def test_one_section_is_replaced_by_a_file_of_its_name(simulate: Callable[..., Results], mine: Path) -> None:
    """A file in sections/ replaces the built-in one, which can still be included."""
    (mine / "sections").mkdir()
    (mine / "sections" / "decision.html.j2").write_text(
        '<p>Before.</p>{% include "evalreport/sections/decision.html.j2" %}'
    )
    page = page_of(simulate(), mine)
    assert page.index("<p>Before.</p>") < page.index('id="decision-title"')


DAY = datetime(2026, 1, 1, tzinfo=UTC)

MISTAKES = {
    "{% if %}": "line 2",
    "{{ nothing.there }}": "line 2: UndefinedError",
    "{{ 1 / 0 }}": "line 2: ZeroDivisionError",
    "{{ ''.__class__.__mro__ }}": "line 2: SecurityError",
    "{% include 'missing.html.j2' %}": "there is no template 'missing.html.j2'",
    "{% for i in range(10**9) %}{% endfor %}": "line 2: OverflowError",
    "{{ part.__globals__ }}": "line 2: SecurityError",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_template_names_file_and_line(
    simulate: Callable[..., Results], mine: Path, mistake: str
) -> None:
    """Of whatever a template of the page does wrong; made here, which the limits on time and memory do not change."""
    (mine / "base.html.j2").write_text(f"<p>\n{mistake}</p>")
    with pytest.raises(TemplateError, match=re.escape(MISTAKES[mistake])) as raised:
        report_page.page(view_of(simulate()), (), {}, templates=mine, time=DAY)
    assert str(raised.value).startswith("template ")
    assert "base.html.j2" in str(raised.value)


@pytest.mark.parametrize("mistake", ["{% if %}", "{{ 1 / 0 }}"])
def test_a_wrong_template_leaves_the_other_outputs(
    simulate: Callable[..., Results], mine: Path, tmp_path: Path, mistake: str
) -> None:
    """One that cannot be read and one that fails: results.json and summary.md are made; the run ends with 4."""
    (mine / "base.html.j2").write_text(f"<p>\n{mistake}</p>")
    options = OutputOptions(formats=("html", "json", "md"), templates=mine)
    with pytest.raises(OutputError, match=re.escape(MISTAKES[mistake])) as raised:
        render(simulate(), tmp_path / "out", options=options)
    assert "no report.html was made: template" in str(raised.value)
    assert "base.html.j2" in str(raised.value)
    assert raised.value.exit_code == 4
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"results.json", "summary.md"}


def test_a_mistake_in_a_section_is_found_in_that_section(
    simulate: Callable[..., Results], mine: Path
) -> None:
    """The message names the section's file, not the page that includes it."""
    (mine / "sections").mkdir()
    (mine / "sections" / "decision.html.j2").write_text("\n\n{{ content.nothing }}")
    with pytest.raises(OutputError, match=r"sections/decision\.html\.j2, line 3: UndefinedError"):
        page_of(simulate(), mine)


BANK = Path(__file__).parents[2] / "examples" / "custom-template" / "templates"


@pytest.mark.slow
def test_the_example_of_a_bank_is_whole(simulate: Callable[..., Results], tmp_path: Path) -> None:
    """Letterhead, logo, colours, footer, the added sentence and section, its link; nothing from outside."""
    render(simulate(), tmp_path, options=OutputOptions(formats=("html",), templates=BANK))
    page = (tmp_path / "report.html").read_text()
    assert '<html lang="en-GB">' in page
    assert "Harbour Square" in page
    assert "--brand: light-dark(#134e4a, #7fd6cb)" in page
    assert "internal use only" in page
    sentence = page.index("Ranks are not a release decision")
    assert page.index('id="leaderboard"') < sentence < page.index('id="pairs"')
    assert page.count('href="#sign-off"') == 3  # navigation, sentence, the heading's own link
    assert page.index('id="reproducibility"') < page.index('id="sign-off"')
    assert 'src="data:image/svg+xml;base64,' in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
