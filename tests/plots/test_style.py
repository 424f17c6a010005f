"""Models are told apart in grey, and by readers who see colours differently: simulated, on both themes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.plots.style import MARKS, mark_of
from evalreport.report.templates import template_folder

# Machado, Oliveira and Fernandes (2009), IEEE Trans Vis Comput Graph 15:1291: full severity, on linear RGB.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}

# CIE 1976 distance. 2.3 is just noticeable side by side (Mahy et al. 1994); thin lines apart need several times that.
LEAST_APART = 10.0

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])

TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], LUMINANCE, [0.0193, 0.1192, 0.9505]])

Floats = npt.NDArray[np.float64]


def linear(colour: str) -> Floats:
    """Turn ``#rrggbb`` into linear RGB (IEC 61966-2-1)."""
    given = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)


def lab(rgb: Floats) -> Floats:
    """Turn linear RGB into CIE L*a*b* (D65)."""
    ratio = TO_XYZ @ rgb / (TO_XYZ @ np.ones(3))
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(first: str, second: str) -> float:
    """Return the contrast of WCAG 2.2."""
    light = sorted(float(LUMINANCE @ linear(colour)) for colour in (first, second))
    return (light[1] + 0.05) / (light[0] + 0.05)


def colours(theme: str) -> list[str]:
    """Return the colours of the models in one theme of the page."""
    css = (template_folder() / "report.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--m\d: light-dark\((#\w{6}), (#\w{6})\)", css)
    return [pair[theme == "dark"] for pair in pairs]


def test_the_simulation_gives_published_values() -> None:
    """Grey stays grey in every kind of sight: the rows of each matrix sum to 1; and white has L* = 100."""
    for matrix in SIGHT.values():
        assert matrix.sum(axis=1) == pytest.approx([1, 1, 1], abs=2e-6)  # the matrices have six decimals
    assert lab(np.ones(3)) == pytest.approx([100, 0, 0], abs=1e-9)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_models_stay_apart(sight: str, theme: str) -> None:
    """Any two of the seven are at least ten units apart, whatever cones a reader has."""
    seen = [lab(np.clip(SIGHT[sight] @ linear(colour), 0, 1)) for colour in colours(theme)]
    assert len(seen) == len(MARKS)
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= LEAST_APART


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_models_can_be_read_as_text(theme: str) -> None:
    """Symbols stand in tables in these colours: 4.5 : 1 against the page (WCAG 2.2, 1.4.3)."""
    css = (template_folder() / "report.css").read_text(encoding="utf-8")
    paper = re.search(r"--paper: light-dark\((#\w{6}), (#\w{6})\)", css)
    assert paper is not None
    page = paper[2 if theme == "dark" else 1]
    assert min(contrast(colour, page) for colour in colours(theme)) >= 4.5


def test_marker_dash_and_symbol_differ_too() -> None:
    """In grey the first seven models differ in marker, dash and symbol; of 49 no two share all three looks."""
    first = [mark_of(i) for i in range(7)]
    for look in ("marker", "dash", "symbol", "colour"):
        assert len({getattr(mark, look) for mark in first}) == 7, look
    assert len({(m.colour, m.marker, m.dash) for m in map(mark_of, range(49))}) == 49


def test_no_two_models_look_alike_before_the_fiftieth() -> None:
    """After seven models colours come again with another marker, so that colour and marker differ for 49."""
    marks = [mark_of(i) for i in range(len(MARKS) ** 2)]
    assert len({(mark.colour, mark.marker) for mark in marks}) == 49
    assert len({(mark.colour, mark.dash) for mark in marks}) == 49
    assert len({(mark.colour, mark.symbol) for mark in marks}) == 49
