"""Critical-difference diagrams join the models that are not told apart, and only those."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.plots.pairs import critical_differences, groups_of, over_time
from evalreport.schema.results import Results


def scored(*levels: float) -> Results:
    """Compare models on 40 data sets: values about the levels given, the same noise in each, jittered a little."""
    random = np.random.default_rng(6)
    shared, sets = random.normal(size=40), [f"d{i:02d}" for i in range(40)]
    columns = {
        f"m{i}": {"id": sets, "dataset": sets, "value": level + shared + 0.01 * random.normal(size=40)}
        for i, level in enumerate(levels)
    }
    return evalreport.evaluate(columns, resamples=200)


def bars(results: Results) -> list[Any]:
    """Return the (left, right) ends of the bars below the axis: thick horizontal lines."""
    axes = critical_differences(results)
    ends = [
        tuple(line.get_xdata())
        for line in axes.lines
        if line.get_linewidth() > 2 and max(line.get_ydata()) < 0
    ]
    return sorted(ends)


def test_a_model_told_apart_from_all_has_no_bar() -> None:
    """Two models alike and one far off: one bar, from the one's average rank to the other's."""
    results = scored(0.0, 0.0, 1.0)
    assert {row.model: row.letters for row in results.ranking}["m2"] not in {"", "ab"}
    records = {record.model: record.average_rank for record in results.average_ranks}
    first, second = sorted((records["m0"], records["m1"]))
    assert bars(results) == [(first, second)]
    assert groups_of(results) == [[0, 1]]


def test_models_all_told_apart_have_no_bars() -> None:
    """Three models in the same order on every data set: no bar at all."""
    assert bars(scored(0.0, 1.0, 2.0)) == []


def monthly(n: int = 1200) -> Results:
    """Return two models over six months; the first falls in the last, and one month has four examples."""
    random = np.random.default_rng(8)
    month = np.sort(random.integers(0, 6, n))
    month[np.flatnonzero(month == 2)[4:]] = 3
    rows = {
        name: {
            "id": [f"{i:04d}" for i in range(n)],
            "month": [f"2026-{code + 1:02d}" for code in month],
            "correct": (random.random(n) < np.where((month == 5) & fallen, 0.55, level)).astype(int).tolist(),
        }
        for name, level, fallen in (("a", 0.93, True), ("b", 0.8, False))
    }
    return evalreport.evaluate(rows, slices=["month"], resamples=100)


def test_a_line_over_time_has_a_gap_and_marks_what_differs():
    """The month of four examples has no mark; the month of the fall is full, the others hollow; periods in order."""
    results = monthly()
    axes = over_time(results)
    (line,) = (one for one in axes.lines if one.get_gid() == "m0--line")
    values = np.asarray(line.get_ydata(), dtype=float)
    assert np.isnan(values).tolist() == [False, False, True, False, False, False]
    assert [text.get_text() for text in axes.get_xticklabels()] == [f"2026-{k:02d}" for k in range(1, 7)]
    marks = {
        round(float(one.get_xdata()[0])): one.get_markerfacecolor() == one.get_color()
        for one in axes.lines
        if len(one.get_xdata()) == 1 and (one.get_gid() or "").startswith("m0--period")
    }
    assert sorted(marks) == [0, 1, 3, 4, 5]
    assert marks[5]
    assert not marks[0]
