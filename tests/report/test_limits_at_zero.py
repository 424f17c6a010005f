"""An interval that was made to agree with its test is said to be, wherever it is written, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest

import evalreport as er
from evalreport.numbers import interval
from evalreport.plots.pictures import drawn
from evalreport.report.markdown import summary_text
from evalreport.report.page import page as page_of
from evalreport.report.sections import describe, figures_of
from evalreport.report.sections.leaderboard import describe as describe_board
from evalreport.report.sections.pairs import describe as describe_pairs
from evalreport.report.terminal import one_screen
from evalreport.report.view import view_of
from evalreport.schema.results import Results

CUT, STRETCHED = "A round bracket at 0: ", "A square bracket at 0: "


def of(only_first: int, only_second: int, both: int, neither: int) -> Results:
    """Compare two models, of whose answers so many are right for one, the other, both and neither."""
    first = [1.0] * only_first + [0.0] * only_second + [1.0] * both + [0.0] * neither
    second = [0.0] * only_first + [1.0] * only_second + [1.0] * both + [0.0] * neither
    models = {"forest": {"outcome": first}, "logreg": {"outcome": second}}
    return er.evaluate(models, resamples=100)


def opposed() -> Results:
    """Compare two models on 22 data sets: the first wins 20 by a little and loses two by much.

    The signed ranks are for the first, the mean for the second, so that the test decides nothing.
    """
    gains = [0.011 + 0.0004 * i for i in range(20)] + [-0.25, -0.26]
    names = [f"set{i:02d}" for i in range(22)]
    second = [0.7 + 0.01 * (i % 7) for i in range(22)]
    first = [value + gain for value, gain in zip(second, gains, strict=True)]
    models = {"forest": {"dataset": names, "value": first}, "logreg": {"dataset": names, "value": second}}
    return er.evaluate(models, resamples=100)


# The limits of 5 : 0 among 210 with two made-up examples (Bonett and Price) reach over 0, and mid-p is
# 2 (1/2)^5 / 2 = 0.031.
@pytest.mark.parametrize(
    "make, said, unsaid, limits",
    [
        (partial(of, 5, 0, 200, 5), CUT, STRETCHED, "[−0.048, 0.000)"),
        (opposed, STRETCHED, CUT, None),
        (partial(of, 20, 2, 100, 5), None, CUT, None),
    ],
)
def test_a_limit_that_the_test_moved_is_written_alike_and_explained_everywhere(
    make: Callable[[], Results], said: str | None, unsaid: str, limits: str | None
) -> None:
    """Board, pairs, summary and terminal have the same bracket and the one sentence that it needs."""
    results = make()
    view = view_of(results)
    board, pairs = describe_board(view), describe_pairs(view)
    assert board is not None
    assert pairs is None  # two models have no table of pairs
    sections = describe(view)
    svgs = {figure.name: drawn(figure) for section in sections for figure in figures_of(section.content)}
    page = page_of(view, sections, svgs, time=datetime(2026, 1, 1, tzinfo=UTC))
    texts = [board.notes.reading, summary_text(results).replace("\\", ""), one_screen(results), page]
    for text in texts:
        assert unsaid not in text
        assert (CUT in text or STRETCHED in text) == (said is not None)
        assert said is None or said in text
    if limits is not None:
        assert board.panels[0].gaps[1].cell.beside == limits
        assert all(limits in text for text in texts[1:])


def test_a_limit_beside_0_or_the_margin_does_not_look_as_if_it_were_on_it() -> None:
    """0.0003 is no 0.000, and 0.0099 with a margin of 0.01 no 0.01; a limit that is 0 stays so."""
    assert interval(0.0003, 0.0151, 3, signed=True) == "[+0.0003, +0.0151]"
    assert interval(-0.0099, 0.004, 2, signed=True, margin=0.01) == "[−0.0099, +0.0040]"
    assert interval(0.0, 0.0151, 3, signed=True, excluded=0.0) == "(0.000, +0.015]"
    assert interval(0.0003, 0.0151, 3) == "[0.000, 0.015]"
