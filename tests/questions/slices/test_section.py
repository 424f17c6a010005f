"""Slices in the report: panels, tables, sentences, the line of summary.md; hostile and long names."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.questions.slices import section
from evalreport.report.view import view_of
from evalreport.schema.warnings import WarningRecord
from tests.samples.slices import answers, run


def flagged_results(models=2, **options):
    """Results in which group u is worse for every model, and s is too small."""
    random = np.random.default_rng(3)
    group = np.array(["u"] * 100 + ["v"] * 200 + ["w"] * 200 + ["s"] * 2)
    right = {f"m{k}": random.random(len(group)) < np.where(group == "u", 0.5, 0.85) for k in range(models)}
    return run(answers(right, group=group.tolist()), slices=["group"], **options)


def test_the_worst_slice_is_on_top_and_right_is_better():
    """Rows by the gap to the rest of the model that ranks first, those not judged last; the interval on the panel."""
    content = section.describe(view_of(flagged_results()))
    assert content is not None
    (column,) = content.columns
    table, scale = column.table, column.table.columns[3].scale
    assert [table.rows[place].label.value for place in (0, -1)] == ["u", "s"]
    worst = table.rows[0].cells[3]
    assert worst.mark.index == 0
    assert worst.low < worst.at < worst.low + worst.width < scale.zero
    assert all(0 <= at <= 100 for at, _ in scale.ticks)
    assert "0" in [text for _, text in scale.ticks]


def test_of_a_loss_the_gap_is_turned():
    """Where smaller is better the slice with the larger errors is the worst, and lies left of 0."""
    random = np.random.default_rng(4)
    group = ["u"] * 60 + ["v"] * 60
    truth = random.normal(size=120)
    off = random.normal(size=120) * np.where(np.array(group) == "u", 3.0, 0.5)
    rows = {"m": {"y_true": truth.tolist(), "y_pred": (truth + off).tolist(), "group": group}}
    results = evalreport.evaluate(rows, task="regression", slices=["group"], resamples=60)
    content = section.describe(view_of(results))
    assert content is not None
    (column,) = content.columns
    assert column.table.rows[0].label.value == "u"
    assert column.table.rows[0].cells[2].at < column.table.columns[2].scale.zero


def test_the_section_says_what_was_tested_and_what_was_found():
    """Family and test, flagged slices in words, small ones by name, values in a table with the word beside."""
    results = flagged_results()
    content = section.describe(view_of(results))
    assert content is not None
    (column,) = content.columns
    assert "6 comparisons of a slice with the rest" in content.note
    assert "Fisher’s exact test with mid-p" in content.note
    assert "Holm-adjusted over all of them at α = 0.05" in content.note
    assert "None of them differs" not in content.note
    assert content.heading.startswith("Slices: outcome of m")
    assert " for group = u, " in content.heading
    assert "† Too small to be judged: s (no outcome of this size could reach the level)." in column.table.note
    by_name = {row.label.value: row for row in column.table.rows}
    assert [cell.beside for cell in by_name["u"].cells[1:3]] == ["worse", "worse"]
    assert by_name["s"].label.note == "no outcome of this size could reach the level"
    assert (by_name["u"].cells[0].value, by_name["s"].cells[0].value) == ("100", "2")
    assert len(column.details[0].rows) == 8


def test_where_none_differs_the_section_says_so():
    """How many were tested, and that none of them differs by the tests; nothing of the kind under a blocker."""
    source = answers({"a": [1, 0] * 60}, g=["u", "u", "v", "v", "w", "w"] * 20)
    plain = run(source, slices=["g"])
    content = section.describe(view_of(plain))
    assert content is not None
    assert "3 comparisons of a slice with the rest, on outcome" in content.note
    assert "None differs by these tests" in content.note
    assert content.heading == "Slices: no slice is shown to differ from the rest"
    leak = WarningRecord(code="trained_on_test", text="leaked", level="blocker")
    blocked = dataclasses.replace(plain, warnings=(leak,))
    said = section.describe(view_of(blocked))
    assert said is not None
    assert "None of them differs" not in said.note
    assert said.heading == "Slices"
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
    assert line.startswith("Slices that are worse than the other examples on outcome: group = u (m")
    plain = run(answers({"a": [1, 0] * 60}, g=["u", "u", "v", "v"] * 30), slices=["g"])
    assert section.summary_line(view_of(plain)) == (
        "Slices: none is shown to differ from the other examples (one test); smaller differences may exist."
    )


def test_beside_a_worse_slice_no_other_of_its_column_is_called_better():
    """One of three towns falls to half; the other two are as before, and better only than a rest that holds it."""
    right = {"u": [1, 0] * 100, "v": [1] * 190 + [0] * 10, "w": [1] * 190 + [0] * 10}
    source = answers(
        {"m": [x for each in right.values() for x in each]}, g=[t for t in right for _ in range(200)]
    )
    results = run(source, slices=["g"])
    assert {r.slice.value for r in results.disparities if r.flagged} == {"u", "v", "w"}
    line = section.summary_line(view_of(results))
    assert line == "Slices that are worse than the other examples on outcome: g = u (m)."


@pytest.mark.slow
def test_of_many_models_and_slices_the_number_shown_is_said():
    """Twelve models: the values of the first six, and a sentence that says so; every difference stands below."""
    content = section.describe(view_of(flagged_results(12, resamples=20)))
    assert content is not None
    (column,) = content.columns
    assert len([c for c in column.table.columns if c.model is not None]) == 6
    assert "The first 6 of 12 models." in column.table.note
    assert len(column.details[0].rows) == 48


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
    assert len({row.label.value for row in content.columns[0].table.rows}) == 2


def test_the_words_never_say_more_than_the_test():
    """Not flagged is never called equal, and no sentence says significant."""
    results = flagged_results()
    texts = [str(r.text) for r in results.disparities if r.text and r.p_value is not None]
    assert texts
    for text in texts:
        assert not re.search(r"significan|equal|same|no difference", text)


@pytest.mark.slow
def test_forty_slices_and_many_models_are_written(tmp_path: Path):
    """Forty long names and seven models; their PDF is among the system tests."""
    random = np.random.default_rng(5)
    n = 2000
    site = [f"a rather long name of a site, number {i % 40}" for i in range(n)]
    right = {f"model_{k}": random.random(n) < 0.8 for k in range(7)}
    results = run(answers(right, site=site), slices=["site"], resamples=20)
    outcome = evalreport.render(results, tmp_path, formats=["html"], detail="full")
    assert not outcome.warnings


def test_the_note_says_what_holds_for_the_family_of_comparisons():
    """One model in two values is one comparison, which needs no adjustment; two models in two values are two."""
    right = {"a": [0] * 40 + [1] * 80, "b": [1] * 60 + [0] * 60}
    columns = {"g": ["r"] * 60 + ["s"] * 60}
    notes = []
    for models in ({"a": right["a"]}, right):
        results = run(answers(models, **columns), slices=["g"])
        found = section.describe(view_of(results))
        assert found is not None
        notes.append(found.note)
    assert "1 comparison of a slice" in notes[0]
    assert "one needs no adjustment; limits of the difference hold at 95 %" in notes[0]
    assert "2 comparisons of a slice" in notes[1]
    assert (
        "Holm-adjusted over all of them at α = 0.05; limits of differences hold for all of them at once"
        in notes[1]
    )


def test_the_difference_of_a_loss_is_the_slice_less_the_rest():
    """The RMSE is 9 in slice r and 1 elsewhere: +8, as the caption and the warning say it, though it is drawn left."""
    truth, group = np.arange(120.0), ["r"] * 60 + ["s"] * 60
    errors = np.where(np.arange(120) < 60, 9.0, 1.0) * np.where(np.arange(120) % 2, 1, -1)
    models = {"m": {"y_pred": truth + errors + np.sin(np.arange(120)), "g": group}}
    results = evalreport.evaluate(models, truth=truth, slices=["g"], metrics=("rmse",), resamples=20)
    (record,) = [
        r for r in results.disparities if (r.slice.value, r.reference, r.metric) == ("r", "rest", "rmse")
    ]
    found = section.describe(view_of(results))
    assert found is not None
    worst = found.columns[0].table.rows[0]
    assert record.difference > 7
    assert str(worst.cells[-1]) == f"+{record.difference:.2f}"


def test_every_table_of_a_slice_names_the_unit_of_large_numbers() -> None:
    """Revenue in millions: the head of differences, the titles of values, the note, and the ticks."""
    random = np.random.default_rng(6)
    truth = 1e9 * np.exp(random.normal(size=120))
    rows = {
        m: {
            "y_true": truth.tolist(),
            "y_pred": (truth * np.exp(by * random.normal(size=120))).tolist(),
            "shop": ["u", "v"] * 60,
        }
        for m, by in (("near", 0.1), ("far", 0.3))
    }
    results = evalreport.evaluate(rows, task="regression", slices=["shop"], resamples=60)
    content = section.describe(view_of(results))
    assert content is not None
    (column,) = content.columns
    differences, *values = column.details
    assert differences.headings[1].head == "− others (million)"
    assert values[0].title == "RMSE (million) by shop"
    assert column.table.note.startswith("RMSE (million) of each model.")
    assert all("," not in text for _, text in column.table.columns[3].scale.ticks)
    assert max(len(str(row.cells[1].value)) for row in differences.rows) < 8


def test_where_no_slice_is_large_enough_none_is_listed() -> None:
    """Twelve months of ten examples each: how many, and why the first is not tested."""
    rows = {
        "m": {
            "y_true": [0, 1] * 60,
            "y_pred": [0, 0, 1, 1] * 30,
            "month": [f"2025-{1 + i // 10:02}" for i in range(120)],
        }
    }
    results = evalreport.evaluate(rows, slices=["month"], resamples=20, metrics=["rmse"], task="regression")
    (small,) = (str(w.text) for w in results.warnings if w.code == "small_slices")
    assert small == (
        "None of the 12 slices of month is large enough to be tested, such as 2025-01 (10 examples, fewer than 30)."
    )
