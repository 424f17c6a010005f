"""What is said of Murphy curves: who is ahead at which thresholds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import evalreport as er
from evalreport.questions.thresholds.murphy_section import describe
from evalreport.report.view import view_of
from tests.questions.thresholds.test_compute import models


@pytest.fixture(scope="module")
def results() -> er.Results:
    """Three models, of which one is noisy and one is pushed to the ends."""
    source = models(1500, 3, (0.2, 0.8, 2.5))
    return er.evaluate(source, metrics=["brier"], resamples=20)


def test_the_title_says_where_one_of_two_is_ahead(results: er.Results) -> None:
    """Spans of thresholds at which the limits leave out 0; the same of behind, both and neither."""
    record = next(r for r in results.murphy_differences if r.a == "m2")
    steps = [low > 0 for low in record.low]
    assert any(steps)
    first = record.threshold[steps.index(True)]
    content = describe(view_of(replace(results, murphy_differences=(record,))))
    assert content.heading.startswith(f"Cost ratios: m0 is ahead of m2 at thresholds {100 * first:.3g}")
    turned = replace(record, low=tuple(-h for h in record.high), high=tuple(-x for x in record.low))
    content = describe(view_of(replace(results, murphy_differences=(turned,))))
    assert "m0 is behind m2 at thresholds" in content.heading
    wide = replace(record, low=(-1.0,) * 19, high=(1.0,) * 19)
    content = describe(view_of(replace(results, murphy_differences=(wide,))))
    assert content.heading == "Cost ratios: no threshold shows which of m0 and m2 is ahead"
    sides = replace(record, low=(0.1, 0.1, -1.0) + (-0.2,) * 16, high=(0.2, 0.2, 1.0) + (-0.1,) * 16)
    content = describe(view_of(replace(results, murphy_differences=(sides,))))
    assert content.heading == "Cost ratios: m0 is ahead of m2 at thresholds 5 to 10 %, behind at 20 to 95 %"
    assert content.tables[0].rows[0].cells[:2] == ("5 to 10 %", "20 to 95 %")


def test_of_many_it_counts_them(results: er.Results) -> None:
    """A row a model, in the order of the board."""
    content = describe(view_of(results))
    assert "m0 is ahead of" in content.heading
    assert {row.model.id for row in content.tables[0].rows} == {"m1", "m2"}
    assert "95 % over 19 thresholds and all 3 pairs (Bonferroni)" in content.note
    assert "Reference: m0, the lowest Brier score." in content.note


@pytest.mark.slow
def test_the_page_has_them_folded_and_every_picture_has_its_text(results: er.Results, tmp_path: Path) -> None:
    """Both stand in the appendix; each picture says in words what it shows, and its numbers are in a table."""
    er.render(results, tmp_path, formats=["html", "csv"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    appendix = page[page.index("Calibration in detail") :]
    for text in (
        "Mean elementary score of each model by threshold",
        "what each model loses to miscalibration",
    ):
        assert text in appendix
    curves = (tmp_path / "tables" / "curves.csv").read_text(encoding="utf-8")
    assert "m0,murphy," in curves
    table = (tmp_path / "tables" / "murphy.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "a,b,threshold,difference,low,high,level"
    assert len(table) == 1 + 2 * 19


def test_a_single_model_has_none() -> None:
    """Who is ahead needs two."""
    assert describe(view_of(er.evaluate(models(300, 3, (0.5,)), resamples=20))) is None
