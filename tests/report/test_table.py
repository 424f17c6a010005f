"""Positions on the axes of tables."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evalreport.report.table import APART, EDGE, Scale, difference_scale, scale_of, stroke

TICKS = [round(0.1 * k, 1) for k in range(11)]


def percent(value: float) -> str:
    """Write a tick."""
    return f"{100 * value:.0f} %"


def test_a_scale_runs_from_the_tick_below_to_the_tick_above() -> None:
    """Values from 0.42 to 0.58 stand between 40 and 60 %."""
    scale = scale_of([0.42, 0.58, None], TICKS, texts=percent)
    assert [text for _, text in scale.ticks] == ["40 %", "50 %", "60 %"]
    assert (scale.place(0.4), scale.place(0.5), scale.place(0.6)) == (EDGE, 50.0, 100 - EDGE)


def test_what_lies_beyond_stands_at_the_edge() -> None:
    """Nothing is drawn outside of its cell."""
    scale = scale_of([0.42, 0.58], TICKS, texts=percent)
    assert scale.place(5.0) == 100 - EDGE
    assert scale.place(-5.0) == EDGE


def test_long_texts_of_ticks_stand_further_apart() -> None:
    """Four letters need more room than one; the steps between them are equal and round."""
    rates = [0.02 * k for k in range(11, 20)]
    scale = scale_of([0.22, 0.38], rates, texts="{:.2f}".format)
    assert [text for _, text in scale.ticks] == ["0.25", "0.30", "0.35"]
    assert len(scale_of([0.22, 0.38], rates, texts=lambda _: "x").ticks) == 3


def test_the_reference_is_on_the_scale_and_has_a_tick() -> None:
    """Also where no value reaches it, and where ticks are thinned."""
    scale = scale_of([0.3, 1.0], TICKS, texts=percent, reference=0.0)
    assert scale.zero == EDGE
    assert "0 %" in [text for _, text in scale.ticks]
    places = [at for at, _ in scale.ticks]
    assert min(after - before for before, after in pairwise(places)) >= APART


def test_no_values_give_the_whole_scale() -> None:
    """Rather than none."""
    scale = scale_of([None, float("inf")], TICKS, texts=percent)
    assert (scale.least, scale.most) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "at", "width"),
    [(0.45, 0.55, 27.0, 46.0), (None, 0.5, EDGE, 46.0), (0.5, None, 50.0, 46.0), (None, None, None, 0.0)],
)
def test_an_open_interval_reaches_the_edge(
    low: float | None, high: float | None, at: float | None, width: float
) -> None:
    """A limit that is not there is drawn to the end of the axis."""
    scale = scale_of([0.4, 0.6], TICKS, texts=percent)
    drawn = stroke(scale, 0.5, low, high)
    assert (drawn.at, drawn.low, drawn.width) == (50.0, at, width)


def scale_of_gaps(least: float, most: float) -> Scale:
    """Return the scale of differences between two ends."""
    return difference_scale([least, most], left="behind", right="ahead")


@pytest.mark.parametrize(
    "least, most", [(-0.31, 0.033), (-0.4, 0.0), (0.0, 1.0), (-1234.0, 17.0), (-0.0007, 0.0004)]
)
def test_an_axis_of_differences_has_three_ticks_or_more(least: float, most: float) -> None:
    """A scale cannot be read from one or two: three to seven round numbers, 0 among them, each with its own label."""
    scale = scale_of_gaps(least, most)
    ticks = scale.ticks
    labels = [text for _, text in ticks]
    assert 3 <= len(ticks) <= 7
    assert "0" in labels
    sides = [text for at, text in ticks if at < scale.place(0.0)]
    assert len(set(sides)) == len(sides)


def test_numbers_of_an_axis_do_not_run_into_each_other() -> None:
    """Five numbers of six letters have no room: every second tick has one, and all ticks stay."""
    labels = [text for _, text in scale_of_gaps(-0.0098, 0.0041).ticks]
    assert labels == ["", "0.0050", "", "0", ""]


def test_an_axis_has_round_ticks_at_every_width() -> None:
    """However wide the differences are, one to five ticks stand on the axis, 0 among them."""
    for k in range(-300, 301):
        width = 10.0 ** (k / 40)
        ticks = scale_of_gaps(-0.9 * width, 0.1 * width).ticks
        assert 1 <= len(ticks) <= 5
        assert "0" in [text for _, text in ticks]


def test_beside_0_there_are_words_where_there_is_room() -> None:
    """Where all differences are below 0 nothing is said of its right, and a margin is shaded to both sides."""
    below, around = scale_of_gaps(-0.3, 0.0), difference_scale([-0.1, 0.1], left="a", right="b", margin=0.05)
    assert (below.left, below.right) == ("behind", "")
    assert (around.left, around.right) == ("a", "b")
    assert around.band is not None
    assert around.band[0] + around.band[1] / 2 == pytest.approx(around.zero)
