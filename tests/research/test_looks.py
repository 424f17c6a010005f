"""The study of looks: its schedules and p-values, on few data sets."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.looks.levels import Declared, next_level
from evalreport.predictions.table import Predictions
from research.studies.harness import Run
from research.studies.looks import (
    LIMIT,
    LOOKS,
    POINT,
    PUSHES,
    STEPS,
    TESTS,
    decided,
    levels,
    p_value,
    predictions_of,
    pushes,
    sizes,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_schedules_grow_to_all_examples() -> None:
    """Each has as many looks as it says, the last with all examples."""
    for looks in LOOKS:
        for steps in STEPS:
            n = sizes(looks, steps)
            assert len(n) == looks
            assert n == sorted(set(n))
            assert n[-1] == 1000


def written(predictions: Predictions) -> dict[str, dict[str, Any]]:
    """Return the columns that a user would give."""
    source = {}
    for model in predictions.models:
        columns = {
            "y_true": predictions.y_true,
            "outcome": model.outcome,
            "y_pred": model.y_pred,
            "score": model.score,
        }
        source[model.name] = {name: values.tolist() for name, values in columns.items() if values is not None}
        source[model.name]["id"] = [f"{i:05}" for i in range(predictions.n)]
    return source


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_a_run_with_a_file_decides_as_the_study_counts(test: str, tmp_path: Path) -> None:
    """One series of each test through the public interface, three looks: levels, p-values and verdicts."""
    draw, metric = TESTS[test]
    (first,), (second,) = draw(np.random.default_rng([11, 7]), 1, 0.05)
    before = False
    for size, level in zip(sizes(3, "equal"), levels(sizes(3, "equal"), None), strict=True):
        results = er.evaluate(
            written(predictions_of(metric, first[:size], second[:size])), metrics=metric, looks=3, resamples=50,
            looks_file=str(tmp_path / "looks.json"), lower_is_better=test == "paired t",
            task="outcome" if metric == "mean_outcome" else "binary",
        )  # fmt: skip
        p = p_value(metric, first[:size], second[:size])
        row = next(r for r in results.comparisons if r.recommended and r.metric == results.primary_metric)
        assert results.looks is not None
        assert results.looks.level == pytest.approx(level, rel=1e-9)
        assert row.p_value == pytest.approx(p, rel=1e-6, abs=1e-12)
        before = before or p <= level
        assert (results.verdicts[0].verdict in ("better", "worse")) == before


@pytest.mark.slow
def test_few_data_sets_are_decided_where_both_models_are_equal() -> None:
    """Of 20 data sets no schedule decides more than 7, which has a chance of 3e-6 at 5 %."""
    rows = list(decided("error", Run(20, 3)))
    assert len(rows) == 25 * len(TESTS)
    assert max(int(str(row["decided"])) for row in rows) <= 7
    assert int(str(pushes(20, 3)["decided"])) <= 7


def test_the_measured_rates_are_within_their_limits() -> None:
    """As committed: at most 6 %, or a point above a single look; pushes at most 5 %; power as the levels promise."""
    with (DOCS / "looks.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    single = {r["test"]: float(r["rate"]) for r in rows if r["what"] == "error" and r["looks"] == "1"}
    for row in rows:
        if row["what"] == "error":
            assert float(row["upper"]) <= max(LIMIT, single[row["test"]] + POINT), row
        elif row["what"] == "pushes":
            assert float(row["upper"]) <= 0.05
            assert int(row["looks"]) == PUSHES
    power = {(r["looks"], r["steps"], r["share"]): float(r["rate"]) for r in rows if r["what"] == "power"}
    one = power["1", "equal", "k/L"]
    assert min(p for (_, _, share), p in power.items() if share == "n/n_max") > one - 0.02
    assert min(p for (_, steps, _), p in power.items() if steps != "doubling") > one - 0.02


def test_the_levels_are_those_of_the_package() -> None:
    """Five equal steps, and shares of the largest number of examples."""
    assert [round(level, 4) for level in levels(sizes(5, "equal"), None)] == [
        0.0,
        0.0008,
        0.0074,
        0.022,
        0.0423,
    ]
    assert levels([500, 1000], 1000) == levels([500, 1000], None)
    for n_max in (None, 1000):
        declared, taken = Declared(looks=5, n_max=n_max, pushes=False, alpha=0.05), []
        for size in sizes(5, "late"):
            taken.append(next_level(taken, size, declared, added=True))
        assert levels(sizes(5, "late"), n_max) == [look.level for look in taken]
