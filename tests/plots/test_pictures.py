"""Panels whose numbers no axis can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evalreport.plots.pictures import panels
from evalreport.plots.style import to_svg


def far_apart(ax: Any) -> None:
    """Draw numbers whose distance is more than a double holds."""
    ax.plot([-1.7e308, 1.7e308], [0, 1])
    ax.get_xlim()


def not_turned_round(ax: Any) -> None:
    """Fail as matplotlib does where an axis is too short to be inverted."""
    ax.plot([0, 1], [0, 1])
    raise np.linalg.LinAlgError("Singular matrix")


@pytest.mark.parametrize("draw", [far_apart, not_turned_round])
def test_numbers_out_of_reach_of_an_axis_are_said_and_do_not_end_the_report(
    draw: Callable[[Any], None],
) -> None:
    """The panel says that no axis reaches its numbers, and the one beside it is drawn."""

    def beside(ax: Any) -> None:
        ax.plot([0, 1], [0, 1])
        ax.set_title("beside it")

    figure = panels([draw, beside], width=7.0, height=3.0, columns=2)
    svg = to_svg(figure, name="extremes", title="t", description="d")
    assert "out of any axis" in svg
    assert "beside it" in svg
