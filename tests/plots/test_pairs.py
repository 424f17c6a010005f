"""Critical-difference diagrams join the models that are not told apart, and only those."""

from __future__ import annotations

from typing import Any

import numpy as np

import evalreport
from evalreport.plots.pairs import critical_differences, groups_of
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
