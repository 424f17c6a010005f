"""Warnings about ROC curves that cross, and thresholds chosen on the test set."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples.warnings import evaluate, given, probabilities


@pytest.mark.slow
def test_curves_cross():
    """One model ranks half of the positives first, the other half of the negatives last: their curves cross.

    With a hundred of each class that is more than the bands allow for, with five of each it may be chance.
    """
    truth = np.array([1] * 100 + [0] * 100)
    rank = np.arange(200) / 1000
    early = np.where(np.arange(200) < 50, 0.9, 0.3) + rank / 10
    late = np.where(np.arange(200) >= 150, 0.1, 0.6) + rank / 10
    (warning,) = given(
        evaluate({"early": probabilities(early, truth), "late": probabilities(late, truth)}), "curves_cross"
    )
    assert warning.level == "caution"
    few = np.arange(0, 200, 20)
    (warning,) = given(
        evaluate({n: probabilities(p[few], truth[few]) for n, p in (("early", early), ("late", late))}),
        "curves_cross",
    )
    assert warning.level == "info"
    assert not given(
        evaluate({"early": probabilities(early, truth), "again": probabilities(early, truth)}), "curves_cross"
    )


def test_suspicious_threshold():
    """Labels cut where the accuracy is highest on the test set are suspicious; labels cut at one half are not."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 300)
    p = 1 / (1 + np.exp(-(truth * 2.0 - 2.2 + random.normal(size=300))))
    cuts = np.unique(p)
    accuracies = [((p >= cut) == truth).mean() for cut in cuts]
    best = cuts[int(np.argmax(accuracies))]
    fitted = probabilities(p, truth, y_pred=[str(int(v >= best)) for v in p])
    usual = probabilities(p, truth, y_pred=[str(int(v >= 0.5)) for v in p])
    (warning,) = given(evaluate({"fitted": fitted, "usual": usual}), "suspicious_threshold")
    assert warning.about == ("fitted", "accuracy")
