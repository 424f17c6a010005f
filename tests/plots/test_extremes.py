"""Panels whose numbers no axis can hold."""

from __future__ import annotations

from typing import Any

import pytest

from evalreport.plots.layout import panels
from evalreport.plots.svg import to_svg


@pytest.mark.parametrize("values", [[-1.7e308, 1.7e308], [1e-305, 2e-305]])
def test_numbers_out_of_reach_of_an_axis_are_said_and_do_not_end_the_report(values: list[float]) -> None:
    """As far apart, or as near, as doubles can be: the panel says so, and the one beside it is drawn."""

    def far(ax: Any) -> None:
        ax.plot(values, [0, 1])
        ax.set_xlim(values)

    def near(ax: Any) -> None:
        ax.plot([0, 1], [0, 1])
        ax.set_title("beside it")

    figure = panels([far, near], width=7.0, height=3.0, columns=2)
    svg = to_svg(figure, name="extremes", title="t", description="d")
    assert "out of any axis's reach" in svg.replace("&#x27;", "'").replace("&#39;", "'").replace(
        "&apos;", "'"
    )
    assert "beside it" in svg
