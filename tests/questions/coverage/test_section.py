"""The sentence that heads the section about coverage."""

from __future__ import annotations

import pytest

import evalreport as er
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
    assert "narrow's are 30 % narrower" in said
