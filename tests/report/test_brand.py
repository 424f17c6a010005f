"""Whose report it is: name, logo, colours, footer and language, and what mistakes in them lead to."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.brand import TemplateError, brand_of, running_foot
from evalreport.report.templates import template_folder
from evalreport.schema.results import Results

# One white pixel, as the PNG specification's own minimal file.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTh3RwAAAABJRU5ErkJggg=="
)

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><title>A</title><path d="M0 0h1v1z"/></svg>'


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


def test_the_brand_changes_name_logo_colours_footer_and_language(
    simulate: Callable[..., Results], mine: Path
) -> None:
    """One small file is enough; the logo is inside the page, and the colours are those of both themes."""
    (mine / "logo.svg").write_bytes(SVG)
    (mine / "brand.toml").write_text(
        'name = "Bank & <Sons>"\nlogo = "logo.svg"\nfooter = "Internal"\nlanguage = "de-AT"\n'
        '[colours]\nbrand = ["#7a1f3d", "#f0a0b8"]\n'
    )
    page = page_of(simulate(), mine)
    assert '<html lang="de-AT">' in page
    assert "Bank &amp; &lt;Sons&gt;" in page
    assert f'src="data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}"' in page
    assert "<p>Internal</p>" in page
    assert "--brand: light-dark(#7a1f3d, #f0a0b8)" in page


@pytest.mark.parametrize(
    "text, said",
    [
        ("name = Bank", "line 1"),
        ("nmae = 'Bank'", "unknown key 'nmae'"),
        ("name = 3", "name must be a text"),
        ("language = 'en us'", "not a language tag"),
        ("logo = 'none.png'", "No such file"),
        ("logo = '../secret.png'", "outside the folder"),
        ("logo = 'logo.txt'", "neither an SVG nor a PNG nor a JPEG"),
        ("colours = 3", "must be a table"),
        ("[colours]\nbrand = 'red'", "'#rrggbb'"),
        ("[colours]\nbrand = ['#000000', '#ffffff', '#000000']", "light and dark"),
    ],
)
def test_a_wrong_brand_is_said_with_its_file_and_key(mine: Path, text: str, said: str) -> None:
    """Each mistake in brand.toml has a message that names the file and what is wrong."""
    (mine / "logo.txt").write_text("no picture")
    (mine.parent / "secret.png").write_bytes(PNG)
    (mine / "brand.toml").write_text(text)
    with pytest.raises(TemplateError, match=re.escape(said)) as raised:
        brand_of(mine)
    assert "brand.toml" in str(raised.value)


def test_a_logo_may_be_png(mine: Path) -> None:
    """A PNG is known by its first bytes, whatever it is called."""
    (mine / "mark").write_bytes(PNG)
    (mine / "brand.toml").write_text("logo = 'mark'")
    assert brand_of(mine).logo == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def test_an_unknown_colour_is_said_with_those_that_there_are(
    simulate: Callable[..., Results], mine: Path
) -> None:
    """A misspelt token does not pass in silence."""
    (mine / "brand.toml").write_text("[colours]\nbrnd = '#000000'")
    with pytest.raises(OutputError, match=r"'brnd'; there are paper, "):
        page_of(simulate(), mine)


def test_a_footer_cannot_leave_its_rule(mine: Path) -> None:
    """What would end the string, the rule or the style element is written as an escape."""
    (mine / "brand.toml").write_text("name = '\"}</style><script>'\nfooter = 'a\\9 \"'")
    foot = running_foot(brand_of(mine))
    assert "<" not in foot
    assert foot.count('"') == 4


def test_the_shipped_brand_file_changes_nothing() -> None:
    """What is copied to be edited says every key and its default, in comments."""
    assert brand_of(template_folder()) == brand_of(None)
    keys = re.findall(r"^# ?(\w+) = ", (template_folder() / "brand.toml").read_text(), flags=re.MULTILINE)
    assert {"name", "logo", "logo_text", "footer", "language"} <= set(keys)
