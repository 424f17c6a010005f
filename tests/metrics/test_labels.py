"""Label metrics against their definitions, written out the slow way."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.engine.counts import Counts
from evalreport.metrics.labels import f_beta
from tests.samples.metrics import several_rows, value

SEEDS = range(4)


# --- the lectures' and other published numbers ----------------------------------------------------------------------


def test_f_beta_weighs_precision_and_recall() -> None:
    """F by beta is 1 / (alpha / P + (1 - alpha) / R), alpha = 1 / (1 + beta^2), by hand: P 1/3, R 3/4."""
    counts = Counts(*np.array([6.0, 12.0, 2.0, 130.0]))
    for beta in (0.0, 0.3, 0.5, 1.0, 2.0, 7.0):
        alpha = 1 / (1 + beta**2)
        by_hand = 1 / (alpha / (1 / 3) + (1 - alpha) / (3 / 4))
        assert f_beta(counts, beta=beta) == pytest.approx(by_hand, abs=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_macro_accuracy_is_micro_accuracy(seed: int) -> None:
    """The mean one-vs-rest accuracy is 1 - 2 (1 - accuracy) / K, which pooled counts give too."""
    rows = several_rows(seed)
    accuracy = value("multiclass", rows, "accuracy")
    assert value("multiclass", rows, "macro_accuracy") == pytest.approx(1 - 2 * (1 - accuracy) / 4, abs=1e-14)
