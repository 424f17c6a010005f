"""The study of areas under curves: its rules are the program's, and its table keeps the promises."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.intervals import leading, limits, recommended
from evalreport.intervals.shortfalls import shortfalls
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from research.studies import tables
from research.studies.curve_areas import (
    FUNCTIONS,
    HEAVY,
    Population,
    drawn_cells,
    drawn_scores,
    limits_of_cells,
    limits_of_scores,
)
from research.studies.shortfalls import OF_RANKINGS
from tests.intervals.test_rankings import estimate_of

LEAST_PARTIAL = (1 - 0.1 / 1.9) / 2
TABLE = Path(__file__).resolve().parents[2] / "docs" / "curve-areas.csv"


def assert_the_same(metric: str, true: Any, scores: Sequence[Any], value: Any, difference: Any) -> None:
    """Compare limits with the program's; partial AUC as a share of its range."""
    start, unit = (LEAST_PARTIAL, 1 - LEAST_PARTIAL) if metric == "partial_auc" else (0.0, 1.0)
    one, both = estimate_of(true, Quantity(metric), scores[0]), estimate_of(true, Quantity(metric), *scores)
    assert isinstance(one, Estimate)
    found, of_both = leading(one, 0.95), limits(both, recommended(both), 0.95)
    assert [found.low, found.high] == pytest.approx([start + unit * limit for limit in value], rel=1e-9)
    assert [of_both.low, of_both.high] == pytest.approx([unit * limit for limit in difference], rel=1e-9)


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_the_rules_of_shared_scores_are_the_program_s(metric: str) -> None:
    """Limits of a value and of a difference of the same data sets: six levels, and probabilities rounded to 0.05."""
    for population in (
        Population(6, "rare", 1.5, 1.0, 0.7, 0.3, 60),
        Population(21, "rounded", 2.5, 2.0, 0.7, 0.3, 120),
    ):
        cells = drawn_cells(population, np.random.default_rng(4), 4)
        assert_cells_the_same(metric, cells)


def assert_cells_the_same(metric: str, cells: Any) -> None:
    """Compare limits of counts with the program's on the rows that they count."""
    value, difference = limits_of_cells(metric, cells)
    for i in range(cells.shape[1]):
        counts = cells[:, i].astype(int)
        rows = np.repeat(np.argwhere(np.ones_like(counts)), counts.ravel(), axis=0)
        assert_the_same(
            metric,
            rows[:, 0] == 0,
            [-rows[:, 1], -rows[:, 2]],
            [end[i] for end in value],
            [end[i] for end in difference],
        )


@pytest.mark.parametrize("metric", ["average_precision", "pr_auc"])
def test_the_rules_without_ties_are_the_program_s(metric: str) -> None:
    """The same of scores that no two examples share."""
    positive, scores = drawn_scores(Population(0, "", 1.5, 1.0, 0.7, 0.3, 60), np.random.default_rng(4), 4)
    value, difference = limits_of_scores(metric, positive, scores)
    for i, true in enumerate(positive):
        ends = [end[i] for end in value], [end[i] for end in difference]
        assert_the_same(metric, true, [score[i] for score in scores], *ends)


def test_the_table_keeps_the_promises() -> None:
    """Every cell is held in 93 % or more, equal models are decided in 6 % or less; 8,000 sets but for rare classes.

    One-sided 99 % limits of the shares are above 93 % but for the partial area, which allows Monte Carlo error.
    """
    rows = [row for row in tables.read(TABLE) if row["shape"] != HEAVY]
    assert {row["levels"] for row in rows} == {"0", "3", "4", "6", "11", "21", "101"}
    assert min(float(row["held"]) for row in rows) >= 0.93
    assert min(float(row["lower"]) for row in rows if row["metric"] != "partial_auc") >= 0.93
    assert max(float(row["decided"]) for row in rows if row["decided"]) <= 0.06
    assert min(int(row["sets"]) for row in rows) >= 4000


def test_what_a_run_quotes_of_heavy_tails_was_measured_here_too() -> None:
    """Limits of areas of such scores are short: each share lies in the span that the warning gives."""
    for row in tables.read(TABLE):
        if row["shape"] == HEAVY:
            said = shortfalls()[row["kind"], row["metric"], OF_RANKINGS[row["kind"], row["metric"]], "tails"]
            assert said.lowest <= float(row["held"]) <= said.highest, row
