"""Style sheets of the page: tokens of colours, and the policy that names them."""

from __future__ import annotations

from evalreport.report.stylesheets import light_tokens
from evalreport.report.templates import template_folder


def test_chart_colours_are_tokens_of_the_style_sheet() -> None:
    """Charts and page share one set of colours: the shipped style's are the style sheet's light values."""
    from evalreport.plots.style import TOKENS

    tokens = light_tokens((template_folder() / "report.css").read_text())
    assert {name: tokens[name] for name in TOKENS.values()} == {name: c for c, name in TOKENS.items()}
