"""Short SVG: nothing that can be seen is lost."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from evalreport.plots.svg import SVG, compact, to_svg


def shortened(inside: str) -> ET.Element:
    """Shorten a drawing that holds some elements."""
    root = ET.fromstring(f'<svg xmlns="{SVG}" xmlns:xlink="http://www.w3.org/1999/xlink">{inside}</svg>')  # noqa: S314
    compact(root, "x")
    return root


@pytest.mark.parametrize(
    "given, expected",
    [
        # By hand: tenths, relative; horizontal and vertical steps by one number; a run of them as one.
        ("M 1.04 2 L 3 4 L 3 4.01", "M1 2l2 2"),
        ("M 0 0 L 1 0 L 2.5 0 L 2.5 3", "M0 0h2.5v3"),
        ("M 10 10 L 10 5 L 10 7", "M10 10v-5 2"),
        ("M 0 0 L 0.02 0.03", "M0 0h0"),
        ("M 0 0 L 4 0 L 4 4 z", "M0 0h4v4z"),
        ("M 0 0 L 1 0 M 5 5 L 5 6", "M0 0h1M5 5v1"),
        ("M 0 0 C 1.234 1 2 2 3 3", "M0 0C1.23 1 2 2 3 3"),
    ],
)
def test_paths_are_written_relative_and_in_tenths(given: str, expected: str) -> None:
    """A path keeps its course to a twentieth of a point."""
    assert shortened(f'<path d="{given}" />')[0].get("d") == expected


def test_rounding_does_not_add_up() -> None:
    """A thousand steps of 0.04 points end 40 points on, not at 0: each place is rounded, not each step."""
    points = " L ".join(f"{0.04 * i:.2f} {0.04 * i:.2f}" for i in range(1001))
    d = shortened(f'<path d="M {points}" />')[0].get("d", "")
    steps = np.array([float(n) for n in d.split("l")[1].replace("-", " -").split()]).reshape(-1, 2)
    assert steps.sum(axis=0) == pytest.approx([40, 40])


def test_a_path_used_once_is_drawn_where_it_is_used() -> None:
    """Moved by the place of its use, with the attributes of the path before those of the use; no definition is left."""
    root = shortened(
        '<defs><path id="p" d="M -1 -1 L 1 1" stroke="#fff" /></defs>'
        '<g><use xlink:href="#p" x="10" y="20" stroke="#000" fill="none" /></g>'
    )
    assert [(e.tag.split("}")[1], e.get("d"), e.get("stroke")) for e in root] == [
        ("path", "M9 19l2 2", "#fff")
    ]


def test_an_edge_cuts_only_what_reaches_over_it() -> None:
    """A line inside its axes needs no clipping; one that leaves them by more than a point keeps it."""
    clip = '<defs><clipPath id="c"><rect x="0" y="0" width="100" height="100" /></clipPath></defs>'
    inside = shortened(clip + '<path d="M 0 0 L 100 100" clip-path="url(#c)" />')
    outside = shortened(clip + '<path d="M 0 0 L 102 100" clip-path="url(#c)" />')
    assert [e.get("clip-path") for e in inside if e.get("d")] == [None]
    (cut,) = [e.get("clip-path") for e in outside if e.get("d")]
    assert cut == f"url(#{next(outside.iter(f'{{{SVG}}}clipPath')).get('id')})"


def test_parts_of_models_keep_their_class_and_what_nothing_refers_to_loses_its_id() -> None:
    """The page hides by class; ids are for what is referred to and for the parts of models."""
    root = shortened(
        '<g id="axes_1"><g id="m0_m12--line"><path d="M 0 0 L 1 1" /></g><path id="other" d="M 0 0" /></g>'
    )
    assert [(e.get("class"), e.get("id")) for e in root] == [
        ("series m0 m12", "x-m0_m12--line"),
        (None, None),
    ]


def test_what_is_drawn_over_what_stays() -> None:
    """Lines of the same look are joined only where no other look was drawn between them."""
    a, b = '<path d="M 0 0 L 1 1" stroke="#111" />', '<path d="M 0 0 L 1 1" stroke="#222" />'
    assert [e.get("d") for e in shortened(a + a + b + a)] == ["M0 0l1 1M0 0l1 1", "M0 0l1 1", "M0 0l1 1"]


def test_the_drawing_is_a_fraction_of_matplotlibs() -> None:
    """A figure of many lines takes less than a quarter of the bytes, and every text is in it."""
    import io

    canvas = Canvas()
    axes = canvas.subplots()
    random = np.random.default_rng(0)
    for i in range(5):
        line = axes.plot(
            np.linspace(0, 1, 400), np.sort(random.random(400)), drawstyle="steps-post", label=f"n{i}"
        )[0]
        line.set_gid(f"m{i}--line")
    axes.legend()
    whole = io.BytesIO()
    canvas.savefig(whole, format="svg")
    svg = to_svg(canvas, name="x", title="t", description="d")
    assert len(svg) < 0.25 * len(whole.getvalue())
    assert all(f">n{i}<" in svg for i in range(5))
