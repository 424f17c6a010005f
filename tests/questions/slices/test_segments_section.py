"""The section of segments: selection rates, ratios, recall, spread, and periods in their order."""

from __future__ import annotations

import numpy as np

import evalreport
from evalreport.questions.slices import section as slices
from evalreport.questions.slices import segments_section as segments
from evalreport.report.view import view_of
from evalreport.schema.results import Results


def applicants(**options: object) -> Results:
    """Return a run on 1,200 applicants: 20 % of women and 40 % of men are selected; the file begins in September."""
    random = np.random.default_rng(5)
    n = 1200
    sex = np.where(np.arange(n) % 3 == 0, "f", "m")
    selected = random.random(n) < np.where(sex == "f", 0.2, 0.4)
    rows = {
        "id": [str(i) for i in range(n)],
        "y_true": (random.random(n) < 0.4).astype(int).tolist(),
        "y_pred": selected.astype(int).tolist(),
        "sex": sex.tolist(),
        "date": [f"2026-{9 - i * 9 // n:02d}-15" for i in range(n)],
    }
    return evalreport.evaluate({"m": rows}, resamples=50, **options)


def test_the_heading_names_the_ratio_with_its_reference():
    """Women against men, the largest group, with the interval and both recalls."""
    section = segments.describe(view_of(applicants(slices=["sex", "date:month"])))
    assert section.heading.startswith("Segments: sex = f is selected 0.")
    assert "times as often as m (0." in section.heading
    assert "; recall 0." in section.heading
    assert [row.label for row in section.groups.rows] == ["sex: m", "sex: f"]
    assert section.spread.title.startswith("Gaps larger than noise gives: sex (")


def test_periods_stand_in_their_order():
    """Months by date, in the section of slices too, where other columns have the worst first."""
    view = view_of(applicants(slices=["date:month"]))
    months = [f"2026-{k:02d}" for k in range(1, 10)]
    (column,) = slices.describe(view).columns
    assert [row.label.value for row in column.table.rows] == months
    assert column.figure.title.endswith(" over date")
    assert {row.label.removeprefix("date: ") for row in segments.describe(view).groups.rows} == {*months}
    both = segments.describe(view_of(applicants(slices=["sex", "date:quarter"])))
    assert [row.label for row in both.periods[0].rows] == ["2026-Q1", "2026-Q2", "2026-Q3"]


def test_without_slices_there_is_no_section():
    """Nothing to compare."""
    assert segments.describe(view_of(applicants())) is None
