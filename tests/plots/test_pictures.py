"""Panels whose numbers no axis can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.plots.pictures import Figure, panels
from evalreport.plots.style import to_svg


def far_apart(ax: Any) -> None:
    """Draw numbers whose distance is more than a double holds."""
    ax.plot([-1.7e308, 1.7e308], [0, 1])
    ax.get_xlim()


def not_turned_round(ax: Any) -> None:
    """Fail as matplotlib does where an axis is too short to be inverted."""
    ax.plot([0, 1], [0, 1])
    raise np.linalg.LinAlgError("Singular matrix")


def figure_of(*draw: Callable[[Any], object], **layout: Any) -> Figure:
    """Return a figure of these panels."""
    return Figure(name="name", title="title", description="description", caption="", draw=draw, **layout)


@pytest.mark.parametrize("draw", [far_apart, not_turned_round])
def test_numbers_out_of_reach_of_an_axis_are_said_and_do_not_end_the_report(
    draw: Callable[[Any], None],
) -> None:
    """The panel says that no axis reaches its numbers, and the one beside it is drawn."""

    def beside(ax: Any) -> None:
        ax.plot([0, 1], [0, 1])
        ax.set_title("beside it")

    figure = panels(figure_of(draw, beside, width=7.0, height=3.0, columns=2))
    svg = to_svg(figure, name="extremes", title="t", description="d")
    assert "out of any axis" in svg
    assert "beside it" in svg


ROOT = Path(__file__).parents[2]


def test_a_row_with_fewer_panels_than_columns_is_laid_out() -> None:
    """Two panels in three columns, as in the last row of five, are as large as those of a full row."""

    def draw(ax: object) -> None:
        ax.plot([0, 1], [0, 1])  # type: ignore[attr-defined]

    full, short = (panels(figure_of(*[draw] * n, width=9.0, height=2.0, columns=3)) for n in (3, 2))
    sizes = [tuple(round(x, 6) for x in ax.get_position().size) for ax in (*full.axes, *short.axes)]
    assert len(set(sizes)) == 1


def test_a_single_small_panel_is_kept_small() -> None:
    """One panel of 4.4 inches is marked narrow for the style sheets; two panels, or one of 6.6 inches, are not."""

    def figure(panels: int, width: float) -> Figure:
        return Figure(name="x", title="", description="", caption="", draw=(print,) * panels, width=width)

    assert figure(1, 4.4).narrow
    assert not figure(2, 4.4).narrow
    assert not figure(1, 6.6).narrow


def test_the_style_sheets_know_narrow_figures() -> None:
    """Screen and paper both limit the width of a figure that the page marks narrow."""
    for name in ("report.css", "print.css"):
        style = (ROOT / "templates" / name).read_text(encoding="utf-8")
        assert re.search(r"\.plot\.narrow (> )?svg \{ max-width:", style)
