"""The study of costs measures the rule of the program, and its table is what was committed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from evalreport.questions.costs.interval import CostFigure, log_hall, stratum
from research.studies import costs
from research.studies.judgement import at_most

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def measured():
    """The committed cells."""
    with (DOCS / "costs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("size", [None, 5])
def test_many_sets_at_once_have_the_limits_of_each(size):
    """Plain questions, and clusters of five: the same limits as log_hall gives one set."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=(4, 30))
    z = x / x.mean(axis=1, keepdims=True) - 1
    strata = costs.plain(z / 30) if size is None else costs.clustered(z / 30, size)
    low, high = costs.limits(x.mean(axis=1), [strata])
    codes = None if size is None else np.repeat(np.arange(6), 5)
    for place in range(4):
        own = log_hall(
            CostFigure(float(x[place].mean()), (stratum(z[place], np.full(30, 1 / 30), cluster=codes),)), 0.95
        )
        assert (low[place], high[place]) == pytest.approx((own.low, own.high), rel=1e-9)


def test_every_cell_is_there_and_holds_but_for_rare_costs(measured):
    """At least 93 %, less two Monte Carlo errors; below only the limits that the page names."""
    assert {(c["figure"], c["law"], int(c["n"])) for c in measured if c["figure"] in costs.FIGURES} == {
        (figure, law, n) for figure in costs.FIGURES for law in costs.LAWS for n in costs.SIZES
    }
    short = [c for c in measured if c["figure"] in costs.FIGURES and float(c["coverage"]) < 0.925]
    assert all("retries" in c["law"] or int(c["n"]) == 30 for c in short), short
    assert all(float(c["coverage"]) > 0.89 for c in short if "retries" not in c["law"]), short


def test_unchanged_questions_are_flagged_in_at_most_six_families_of_a_hundred(measured):
    """Holm over 200 questions."""
    rates = [float(c["below"]) for c in measured if c["figure"] not in costs.FIGURES]
    assert len(rates) == 3
    assert max(at_most("", rate, 0.06, 10_000).bound for rate in rates) <= 0.06


@pytest.mark.parametrize("attempts", [6, 10, 20, 37, 50])
def test_whatever_their_chances_unchanged_questions_are_flagged_in_at_most_six_families_of_a_hundred(
    attempts,
):
    """Exact, for the worst chance to pass; 200 questions."""
    assert costs.flagged_at_most(attempts) <= 0.06
