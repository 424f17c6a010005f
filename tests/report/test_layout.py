"""Where the panels of a figure stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalreport.plots.pictures import Figure, panels
from evalreport.report.sections.leaderboard import Axis
from evalreport.report.visible import short_names

ROOT = Path(__file__).parents[2]


def test_a_row_with_fewer_panels_than_columns_is_laid_out() -> None:
    """Two panels in three columns, as in the last row of five, are as large as those of a full row."""

    def draw(ax: object) -> None:
        ax.plot([0, 1], [0, 1])  # type: ignore[attr-defined]

    full, short = (panels([draw] * n, width=9.0, height=2.0, columns=3) for n in (3, 2))
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


@pytest.mark.parametrize(
    "least, most", [(-0.31, 0.033), (-0.4, 0.0), (0.0, 1.0), (-1234.0, 17.0), (-0.0007, 0.0004)]
)
def test_an_axis_of_differences_has_three_ticks_or_more(least: float, most: float) -> None:
    """A scale cannot be read from one or two: three to seven round numbers, 0 among them, each with its own label."""
    ticks = Axis(least, most).ticks()
    labels = [text for _, text in ticks]
    assert 3 <= len(ticks) <= 7
    assert "0" in labels
    sides = [text for at, text in ticks if at < Axis(least, most).place(0.0)]
    assert len(set(sides)) == len(sides)


def test_numbers_of_an_axis_do_not_run_into_each_other() -> None:
    """Five numbers of six letters have no room: every second tick has one, and all ticks stay."""
    labels = [text for _, text in Axis(-0.0098, 0.0041).ticks()]
    assert labels == ["", "0.0050", "", "0", ""]


def test_names_lose_what_all_share_up_to_the_joint_that_leaves_enough() -> None:
    """After the last joint two characters would remain; after the one before there are enough."""
    names = [f"team/release_candidate_{i:02}" for i in range(12)]
    assert list(short_names(names).values())[:2] == ["candidate_00", "candidate_01"]
