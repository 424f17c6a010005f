"""Metrics of probabilities against their definitions, written out the slow way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special

from evalreport.intervals.choice import leading, limits
from evalreport.metrics.evidence import Proportion
from evalreport.metrics.registry import Quantity
from tests.samples.cases import every
from tests.samples.metrics import binary_rows, estimates_of, ids, several_rows, truth_and_scores, value

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_auc_is_the_mean_over_pairs(seed: int) -> None:
    """The interpolated sum equals the mean of sigma(10 d) over all pairs, to rounding."""
    rows = binary_rows(seed, 90, decimals=3) | {"p_1": np.random.default_rng(seed).random(90).tolist()}
    positive, p = truth_and_scores(rows)
    expected = special.expit(10 * (p[positive][:, None] - p[~positive])).mean()
    assert value("binary", rows, "soft_auc") == pytest.approx(float(expected), abs=1e-13)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", every(2, SEEDS))
def test_top_k_is_the_expected_hit_over_all_orders_of_the_ties(k: int, seed: int) -> None:
    """The value is the mean over all orders of the classes, each stably sorted by probability, enumerated."""
    rows = several_rows(seed, 30, classes=6)
    p = np.column_stack([rows[f"p_c{j}"] for j in range(6)])
    true = np.array([int(label[1:]) for label in rows["y_true"]])
    hits = np.zeros(len(true))
    orders = list(itertools.permutations(range(6)))
    for order in orders:
        first = np.array(order)[np.argsort(-p[:, order], axis=1, kind="stable")][:, :k]
        hits += (first == true[:, None]).any(axis=1)
    found = estimates_of("multiclass", rows)[Quantity(f"top_{k}_accuracy")]
    assert found.value == pytest.approx(float(hits.mean()) / len(orders), abs=1e-14)


def test_chances_of_ties_are_no_proportion() -> None:
    """Where a tie matters the value is a mean of chances, by hand 1, 1/3, 1/3 and 0, and Student's t leads."""
    rows = {"id": ids(4), "y_true": ["c1", "c1", "c2", "c3"]}
    shares = [(0.1, 0.8, 0.1, 0.0), (0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4), (0.5, 0.3, 0.2, 0.0)]
    rows |= {f"p_c{j}": [row[j] for row in shares] for j in range(4)}
    found = estimates_of("multiclass", rows)[Quantity("top_2_accuracy")]
    # The first class takes one of two places; the other is for three classes that tie: j / m = 1 / 3.
    assert found.value == pytest.approx((1 + 1 / 3 + 1 / 3 + 0) / 4, abs=1e-15)
    assert not isinstance(found.evidence, Proportion)
    assert limits(found, "wilson", 0.95).low is None
    assert leading(found, 0.95).method == "t"


def test_top_k_without_ties_is_a_proportion() -> None:
    """Where no tie matters a hit is 0 or 1, and Wilson's interval leads."""
    rows = several_rows(0, 40, classes=6)
    shares = np.random.default_rng(0).dirichlet(np.ones(6), size=40)
    rows |= {f"p_c{j}": shares[:, j].tolist() for j in range(6)}
    found = estimates_of("multiclass", rows)[Quantity("top_2_accuracy")]
    assert isinstance(found.evidence, Proportion)
    assert (found.evidence.trials, found.evidence.successes) == (40, round(40 * found.value))
    assert leading(found, 0.95).method == "wilson"


def test_a_model_that_ties_everything_gains_nothing_in_top_k() -> None:
    """Equal probabilities of all classes are right among the first k as often as k of them drawn at random: k / K."""
    rows = several_rows(1, 40, classes=6)
    rows |= {f"p_c{j}": [1 / 6] * 40 for j in range(6)}
    for k in (2, 3, 5):
        assert value("multiclass", rows, f"top_{k}_accuracy") == pytest.approx(k / 6, abs=1e-14)


def test_deviance_is_2n_log_losses() -> None:
    """Deviance = -2 sum ln p(true), with p clipped as for the log loss."""
    rows = binary_rows(2)
    positive, p = truth_and_scores(rows)
    expected = -2 * np.log(np.where(positive, p, 1 - p)).sum()
    assert value("binary", rows, "deviance") == pytest.approx(float(expected), rel=1e-13)
    assert value("binary", rows, "deviance") == pytest.approx(
        2 * 60 * value("binary", rows, "log_loss"), rel=1e-14
    )


def test_complement_mse_is_brier_for_two_classes_only() -> None:
    """The mean of (1 - p(true))^2 equals the Brier score of two classes, and not that of several."""
    two, several = binary_rows(3), several_rows(3)
    assert value("binary", two, "complement_mse") == pytest.approx(value("binary", two, "brier"), abs=1e-15)
    assert abs(value("multiclass", several, "complement_mse") - value("multiclass", several, "brier")) > 0.01
