"""The study of heavy tails: its rules are the program's, and its table separates what is short from what holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.engine.l_moments import upper_tail
from evalreport.intervals.shortfalls import shortfalls
from research.studies import tables
from research.studies.curve_areas import model_of_scores
from research.studies.score_tails import (
    HOLDS,
    SHAPES,
    SHORT,
    Population,
    drawn,
    law_of,
    true_area,
    upper_tails,
    warned,
)
from research.studies.shortfalls import OF_RANKINGS
from tests.samples.cases import quick

ROWS = tables.read(Path(__file__).resolve().parents[2] / "docs" / "score-tails.csv")


def test_tails_of_many_data_sets_are_the_program_s() -> None:
    """Of each data set the same number as of the scores of its class alone."""
    random = np.random.default_rng(5)
    scores, of_class = random.standard_t(3, size=(6, 60)), random.random((6, 60)) < 0.4
    found = upper_tails(scores, of_class)
    assert found == pytest.approx(
        [upper_tail(s[c]) for s, c in zip(scores, of_class, strict=True)], rel=1e-10
    )


@pytest.mark.parametrize("metric", quick(["average_precision", "pr_auc"], ["pr_auc"]))
def test_a_run_warns_of_the_data_sets_that_the_study_counts(metric: str) -> None:
    """Twelve data sets of t with 4 degrees of freedom and of exchanged scores, some of each kind."""
    said, counted = [], []
    for shape, area in (("t, 4 df", 0.85), ("exchanged", 0.95)):
        population = Population(shape, area, 0.3, 100)
        positive, (scores, _) = drawn(population, law_of(population), np.random.default_rng(2), 12)
        counted += warned(model_of_scores(metric, positive, scores), positive, scores).tolist()
        for true, score in zip(positive, scores, strict=True):
            results = evalreport.evaluate(
                {"a": {"score": score}}, truth=true.astype(int), metrics=[metric], resamples=2
            )
            said.append(any("heavier tails" in str(w.text) for w in results.warnings))
    assert said == counted
    assert 3 < sum(said) < 21


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_true_areas_are_those_of_large_samples(shape: str) -> None:
    """Average precision of 400,000 examples, within five of its standard errors; the area under the ROC curve too."""
    population = Population(shape, 0.85, 0.3, 400_000)
    law = law_of(population)
    positive, (scores, _) = drawn(population, law, np.random.default_rng(8), 1)
    model = model_of_scores("average_precision", positive, scores)
    error = float(np.sqrt(model.squares.sum()))
    assert float(model.value[0]) == pytest.approx(true_area(law, 0.3), abs=5 * error)
    ranks = scores[0].argsort().argsort() + 1
    m, n = int(positive.sum()), positive.size
    area = (ranks[positive[0]].sum() - m * (m + 1) / 2) / (m * (n - m))
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
