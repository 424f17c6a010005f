"""The sentence that heads the section about coverage."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure as Canvas

import evalreport as er
from evalreport.numbers import percent
from evalreport.questions.coverage.charts import coverage_by_level, width_by_level
from evalreport.questions.coverage.section import sentence
from evalreport.report.view import view_of
from tests.samples.coverages import series


def test_the_heading_says_how_often_and_who_is_narrower() -> None:
    """A true sentence about the two models that rank first: shares with Wilson's limits, the ratio of mean widths."""
    results = er.evaluate(series(), resamples=20)
    ratio = results.width_ratios[0]
    assert ratio.ratio == pytest.approx(0.7, rel=1e-9)
    said = sentence(view_of(results))
    held = {r.model: r.coverage for r in results.coverages if r.by == "all"}
    assert f"{100 * held['right']:.1f}" in said
    assert "narrow’s are 30 % narrower" in said


def test_a_single_level_has_one_tick_on_both_charts() -> None:
    """Not 0.7985, 0.7990 ... of a width at 80 %."""
    results = er.evaluate(series(), resamples=20)
    level = {record.level for record in results.coverages}
    assert len(level) == 1
    for draw in (coverage_by_level, width_by_level):
        ax = Canvas().subplots()
        draw(results, ax)
        assert [text.get_text() for text in ax.get_xticklabels()] == [percent(level.copy().pop())]
        assert ax.get_xlim()[1] == 1.0
