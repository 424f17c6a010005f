"""SVG of a figure: what security, hiding a model, assistive tools and themes need."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from matplotlib.figure import Figure as Canvas

from evalreport.plots.style import MARKS, SVG, inline, to_svg


def drawing() -> str:
    """Draw a line of one pair of models and one that belongs to none, cut at the edge of the axes."""
    canvas = Canvas()
    axes = canvas.subplots()
    axes.plot([0, 1], [0, 3], color=MARKS[0].colour, marker="s")[0].set_gid("m0_m12--line")
    axes.plot([0, 1], [1, 0], color="#123456")
    axes.set(ylim=(0, 1), title="A & <b>")
    return to_svg(canvas, name="x", title="t <", description="d")


def test_parts_of_models_have_their_class_and_all_ids_begin_with_the_name() -> None:
    """The page hides by class; several drawings stand in one page, and what is referred to is there."""
    svg = drawing()
    assert 'class="series m0 m12" id="x-m0_m12--line"' in svg
    ids = set(re.findall(r' id="([^"]+)"', svg))
    assert all(one.startswith("x-") for one in ids)
    referred = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
    assert referred
    assert referred <= ids


def test_nothing_is_said_by_a_style_and_everything_has_a_title() -> None:
    """The policy forbids styles; PDF/UA asks for a title; text is text, with the size that the chart gave it."""
    root = ET.fromstring(drawing())  # noqa: S314  made a line above
    assert all("style" not in element.attrib for element in root.iter())
    assert not [
        element for element in root.iter() if element.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata")
    ]
    assert [element.text for element in root[:2]] == ["t <", "d"]
    (title,) = [element for element in root.iter(f"{{{SVG}}}text") if element.text == "A & <b>"]
    assert float(title.get("font-size", "0").removesuffix("px")) > 9


def test_colours_become_tokens_and_numbers_are_short() -> None:
    """A model's colour follows the theme, another one stays; places are written to a hundredth of a point."""
    page = inline(drawing())
    assert '"var(--m0)"' in page
    assert '"#123456"' in page
    assert not re.search(r' d="[^"]*\.\d{3}', page)
    assert inline(
        drawing(), {"m0": "red"} | dict.fromkeys(("ink", "muted", "line", "faint", "paper"), "black")
    )
