"""The study of heavy tails: its true values are true, and its table separates what is short from what holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalreport.intervals.shortfalls import shortfalls
from evalreport.metrics.registry import Quantity
from research.studies import tables
from research.studies.curve_areas import sample_of
from research.studies.score_tails import HOLDS, SHAPES, SHORT, Population, drawn, law_of, truths
from research.studies.shortfalls import OF_RANKINGS

ROWS = tables.read(Path(__file__).resolve().parents[2] / "docs" / "score-tails.csv")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_true_areas_are_those_of_large_samples(shape: str) -> None:
    """Average precision of 400,000 examples, within five of its standard errors; the area under the ROC curve too."""
    population = Population(shape, shape, 0.85, 0.3, 400_000)
    positives, scores, _ = drawn(population, law_of(population), np.random.default_rng(8), 1)
    positive, true = positives[0], truths(population)
    quantity = Quantity("average_precision")
    estimate = sample_of(positive, (scores[0],), true).estimates["a", quantity]
    assert estimate.standard_error is not None
    value = true["value", "a", quantity]
    assert estimate.value == pytest.approx(value, abs=5 * estimate.standard_error)
    ranks = scores[0].argsort().argsort() + 1
    m, n = int(positive.sum()), positive.size
    area = (ranks[positive].sum() - m * (m + 1) / 2) / (m * (n - m))
    assert area == pytest.approx(0.85, abs=0.005)


def test_the_warning_tells_what_is_short_from_what_holds() -> None:
    """Of normal and calibrated scores few runs warn; of t with 3 and 4 df most where intervals are short.

    Cells of 50 examples are too small for a tail to be seen in.
    """
    values = [row for row in ROWS if row["kind"] == "value"]
    for row in values:
        if row["shape"] in ("normal", "beta"):
            assert float(row["warned"]) <= 0.25, row
    usual = [float(row["warned"]) for row in values if row["shape"] in ("normal", "beta")]
    assert np.mean(usual) <= 0.05
    heavy = [row for row in values if row["shape"].startswith("t,") and int(row["n"]) >= 100]
    short = [float(row["warned"]) for row in heavy if float(row["held"]) < SHORT]
    assert np.mean(short) >= 0.8
    assert float(np.mean([float(row["warned"]) for row in heavy if float(row["held"]) >= HOLDS])) <= 0.35


def test_normal_and_calibrated_scores_hold() -> None:
    """What is not warned of: 92 % or more in every cell of normal and of calibrated scores."""
    usual = [row for row in ROWS if row["shape"] in ("normal", "beta")]
    assert min(float(row["held"]) for row in usual) >= 0.92


def test_the_run_quotes_the_cells_in_which_it_warns() -> None:
    """From the least to the most that was held where half of the runs or more warn, by kind and metric."""
    for (kind, metric), method in OF_RANKINGS.items():
        held = [
            float(row["held"]) for row in ROWS
            if (row["kind"], row["metric"]) == (kind, metric) and float(row["warned"]) >= 0.5
        ]  # fmt: skip
        situation = shortfalls()[kind, metric, method, "tails"]
        assert (situation.lowest, situation.highest) == (min(held), max(held))
        assert situation.lowest < 0.92
