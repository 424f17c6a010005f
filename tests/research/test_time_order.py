"""The committed study of examples in order of time, and what it promises."""

from __future__ import annotations

import csv
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

from research.studies.tables import DOCS
from research.studies.time_order import CORRELATIONS, SIZES, TRUTHS, draw, series


@pytest.fixture(scope="module")
def rows() -> list[Mapping[str, str]]:
    """The committed table."""
    with (DOCS / "time-order.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_cell_was_measured(rows: list[Mapping[str, str]]) -> None:
    """Every cell was measured on as many series, but for undefined ones."""
    cells = {(float(row["correlation"]), int(row["n"]), row["metric"]) for row in rows}
    assert cells == {(c, n, metric) for c in CORRELATIONS for n in SIZES for metric in TRUTHS}
    assert min(int(row["sets"]) for row in rows) >= 0.99 * max(int(row["sets"]) for row in rows)


def test_intervals_hold_up_to_a_correlation_of_a_half_from_100_examples(
    rows: list[Mapping[str, str]],
) -> None:
    """At least 93 % less two Monte Carlo errors of a cell, and 94 % on average; the paired t of outcomes does not."""
    for column in ("value_held", "difference_held"):
        held = [float(r[column]) for r in rows if float(r["correlation"]) <= 0.5 and int(r["n"]) >= 100]
        assert min(held) >= 0.93 - 2 * (0.93 * 0.07 / int(rows[0]["sets"])) ** 0.5
        assert np.mean(held) >= 0.94
    naive = [
        float(r["paired_t_held"]) for r in rows if r["metric"] == "mean_outcome" and r["correlation"] == "0.5"
    ]
    assert max(naive) < 0.8


def test_the_true_values_are_those_of_the_populations() -> None:
    """Of 200,000 independent examples the metrics are the stated ones, within four standard errors of 0.0025."""
    (drawn,) = series(np.random.default_rng(1), 0.5, 200_000, 1)
    assert np.corrcoef(drawn[1:], drawn[:-1])[0, 1] == pytest.approx(0.5, abs=0.01)
    assert drawn.std() == pytest.approx(1, abs=0.01)
    found = {
        quantity.metric: predictions for predictions, quantity in draw(np.random.default_rng(2), 0.0, 200_000)
    }
    true, said = found["f1"].y_true, found["f1"].models[0]
    assert true is not None
    assert said.y_pred is not None
    assert said.score is not None
    both = ((true == 1) & (said.y_pred == 1)).sum()
    assert 2 * both / (true.sum() + said.y_pred.sum()) == pytest.approx(TRUTHS["f1"], abs=0.01)
    ranks = stats.rankdata(said.score)
    positives = int((true == 1).sum())
    area = (ranks[true == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(true) - positives))
    assert area == pytest.approx(TRUTHS["roc_auc"], abs=0.01)
