"""Style sheets of the page: tokens of colours, and the policy that names them."""

from __future__ import annotations

import re

from evalreport.report.stylesheets import light_tokens
from evalreport.report.templates import template_folder


def test_chart_colours_are_tokens_of_the_style_sheet() -> None:
    """Charts and page share one set of colours: the shipped style's are the style sheet's light values."""
    from evalreport.plots.style import TOKENS

    tokens = light_tokens((template_folder() / "report.css").read_text())
    assert {name: tokens[name] for name in TOKENS.values()} == {name: c for c, name in TOKENS.items()}


def test_found_and_missed_differ_in_grey() -> None:
    """On paper and on a screen without colour by 40 of 255, in light and in dark: they lie side by side in one bar."""
    css = (template_folder() / "report.css").read_text(encoding="utf-8")

    def greys(token: str) -> list[float]:
        pair = re.search(rf"--{token}: light-dark\((#\w+), (#\w+)\)", css)
        assert pair is not None
        parts = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in pair.groups()]
        return [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in parts]

    for hit, miss in zip(greys("hit"), greys("miss"), strict=True):
        assert abs(hit - miss) >= 40
