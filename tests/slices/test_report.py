"""Slices in the report: panels, tables, sentences, the line of summary.md; hostile and long names."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import evalreport
from evalreport.plots.slices import SliceValue, slice_values
from evalreport.plots.style import MUTED
from evalreport.records import WarningRecord
from evalreport.report.sections import slices as section
from evalreport.report.view import view_of

from .sources import answers, run


def flagged_results(models=2, **options):
    """Results in which group u is worse for every model, and s is too small."""
    random = np.random.default_rng(3)
    group = np.array(["u"] * 100 + ["v"] * 200 + ["w"] * 200 + ["s"] * 2)
    right = {f"m{k}": random.random(len(group)) < np.where(group == "u", 0.5, 0.85) for k in range(models)}
    return run(answers(right, group=group.tolist()), slices=["group"], **options)


def test_a_panel_shows_every_slice_and_the_whole():
    """Dots at the values, the interval as a line, the whole as a band; hollow where not judged; the axes come back."""
    rows = [
        SliceValue("a", 0.5, 0.4, 0.6, "worse"),
        SliceValue("b", 0.8, 0.7, 0.9, judged=False),
        SliceValue("c", None, None, None),
    ]
    axes = Canvas().subplots()
    assert slice_values(rows, axes, whole=(0.75, 0.7, 0.8), limits=(0, 1), key="m3") is axes
    dots = {line.get_gid(): line for line in axes.get_lines() if line.get_marker() not in ("None", None, "")}
    assert [line.get_xdata()[0] for line in dots.values()] == [0.5, 0.8]
    assert [line.get_markeredgecolor() == MUTED for line in dots.values()] == [False, True]
    assert {text.get_text() for text in axes.texts} == {"worse", "no value"}
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b", "c"]
    assert axes.patches[0].get_bbox().x0 == 0.7
    assert all((gid or "").startswith("m3--slice-") for gid in dots)


def test_the_section_says_what_was_tested_and_what_was_found():
    """Family and test, flagged slices in words, small ones by name, values in a table with the word beside."""
    results = flagged_results()
    content = section.describe(view_of(results))
    assert content is not None
    (column,) = content.columns
    assert "6 slices and models are tested" in content.note
    assert "Fisher’s exact test with mid-p" in content.note
    assert "Holm-adjusted over all of them at α = 0.05" in content.note
    assert "None of them differs" not in content.note
    assert all("group = u" in text and text.endswith("worse.") for text in column.flags[:2])
    assert column.small == ("s: too small: no outcome of this size could reach the level",)
    by_name = {row.name: row for row in column.primary.rows}
    assert [cell.word for cell in by_name["u"].cells] == ["worse", "worse"]
    assert by_name["s"].note == "too small: no outcome of this size could reach the level"
    assert (by_name["u"].n, by_name["s"].n) == ("100", "2")
    assert len(column.differences) == 8


def test_where_none_differs_the_section_says_so():
    """How many were tested, and that none of them differs by the tests; nothing of the kind under a blocker."""
    source = answers({"a": [1, 0] * 60}, g=["u", "u", "v", "v", "w", "w"] * 20)
    plain = run(source, slices=["g"])
    content = section.describe(view_of(plain))
    assert content is not None
    assert "On mean outcome 3 slices and models are tested" in content.note
    assert "None of them differs by these tests" in content.note
    leak = WarningRecord(code="trained_on_test", text="leaked", level="blocker")
    blocked = dataclasses.replace(plain, warnings=(leak,))
    said = section.describe(view_of(blocked))
    assert said is not None
    assert "None of them differs" not in said.note
    assert section.summary_line(view_of(blocked)) == ""


def test_a_run_without_slices_has_no_such_section():
    """Nothing is said where nothing was sliced by."""
    results = run(answers({"a": [1, 0] * 20}))
    assert section.describe(view_of(results)) is None
    assert section.summary_line(view_of(results)) == ""


def test_summary_names_flagged_slices_in_one_line(tmp_path: Path):
    """Worse for whom; without a flag it says how many tests, and nothing of sameness."""
    evalreport.render(flagged_results(), tmp_path, formats=["md"])
    (line,) = [x for x in (tmp_path / "summary.md").read_text().splitlines() if x.startswith("Slices")]
    assert line.startswith(
        "Slices that differ from the other examples on mean outcome: group = u (worse for m"
    )
    plain = run(answers({"a": [1, 0] * 60}, g=["u", "u", "v", "v"] * 30), slices=["g"])
    assert section.summary_line(view_of(plain)) == (
        "Slices: none of 2 tests shows a difference; smaller ones may be there."
    )


def test_many_models_are_divided_among_figures_and_tables():
    """Twelve models: six panels in two figures, and three tables of four on paper."""
    content = section.describe(view_of(flagged_results(12, resamples=20)))
    assert content is not None
    (column,) = content.columns
    assert [figure.name for figure in content.figures] == ["slices-0-0", "slices-0-1"]
    assert [len(part.models) for part in column.primary.parts] == [4, 4, 4]
    assert "The first 6 of 12 models." in content.figures[-1].caption


def test_hostile_names_are_shown_and_do_nothing(tmp_path: Path):
    """Mark-up in a column's name and in values is text in the page; two values that look alike stay apart."""
    column, values = "<i>x</i>", ["<script>alert(1)</script>" + "y" * 60 + end for end in "ab"]
    rows = [values[i % 2] for i in range(80)]
    results = run(answers({"a": [1, 0] * 40}, **{column: rows}), slices=[column])
    evalreport.render(results, tmp_path, formats=["html", "md"])
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<i>x</i>" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    content = section.describe(view_of(results))
    assert content is not None
    assert len({row.name for row in content.columns[0].primary.rows}) == 2
    assert sorted(p.name for p in (tmp_path / "figures").glob("slices*")) == ["slices-0-0.svg"]


def test_figures_of_an_earlier_run_do_not_stay(tmp_path: Path):
    """A report without slices leaves none of the figures of one with slices."""
    evalreport.render(flagged_results(), tmp_path, formats=["html"])
    assert list((tmp_path / "figures").glob("slices-*.svg"))
    evalreport.render(run(answers({"a": [1, 0] * 20})), tmp_path, formats=["html"])
    assert not list(tmp_path.glob("figures/slices-*.svg"))


def test_the_words_never_say_more_than_the_test():
    """Not flagged is never called equal, and no sentence says significant."""
    results = flagged_results()
    texts = [str(r.text) for r in results.disparities if r.text and r.p_value is not None]
    assert texts
    for text in texts:
        assert not re.search(r"significan|equal|same|no difference", text)


@pytest.mark.parametrize("design", ["html", "pdf"])
def test_forty_slices_and_many_models_are_written(design, tmp_path: Path):
    """Forty long names and seven models, on screen and on paper."""
    random = np.random.default_rng(5)
    n = 2000
    site = [f"a rather long name of a site, number {i % 40}" for i in range(n)]
    right = {f"model_{k}": random.random(n) < 0.8 for k in range(7)}
    results = run(answers(right, site=site), slices=["site"], resamples=20)
    outcome = evalreport.render(results, tmp_path, formats=[design], detail="full")
    assert not outcome.warnings
    assert any(path.suffix == f".{design}" for path in outcome.paths)
