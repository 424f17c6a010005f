"""Warnings about few positive predictions and few errors of a class."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples.pairs import labels, run


@pytest.mark.parametrize(("flagged", "warned"), [(19, True), (20, False)])
def test_few_positive_predictions_are_said_with_their_number(flagged: int, warned: bool) -> None:
    """Below 20 positive predictions of a model its precision and F1 carry a warning with the number."""
    truth = np.array([1] * 30 + [0] * 70)
    # Six of those called positive are wrong, for both models.
    a, few = np.zeros(100, int), np.zeros(100, int)
    a[:36] = few[30 - (flagged - 6) : 36] = 1
    results = run(labels(truth, a=a, few=few), metrics=("precision",), tests=("permutation",))
    texts = [w.text for w in results.warnings if w.code == "few_flagged"]
    assert [f"for {flagged} examples" in text for text in texts] == ([True] if warned else [])


@pytest.mark.parametrize(("wrong", "warned"), [(4, True), (5, False)])
@pytest.mark.parametrize("metric", ["precision", "npv"])
def test_few_wrong_among_those_called_are_said_with_their_number(
    metric: str, wrong: int, warned: bool
) -> None:
    """However many are called positive (or negative): a share near 1 has next to no error of its own."""
    truth = np.array([1] * 60 + [0] * 60)
    a, b = truth.copy(), truth.copy()
    # Both models call ten examples of each class wrongly, the second only a few of the class that is asked about.
    a[[*range(10), *range(110, 120)]] ^= 1
    b[
        [*range(60 - 10, 60), *range(60, 60 + wrong)]
        if metric == "precision"
        else [*range(wrong), *range(60, 70)]
    ] ^= 1
    results = run(labels(truth, a=a, b=b), metrics=(metric,), tests=("permutation",))
    (text,) = [w.text for w in results.warnings if w.code == "few_flagged"] or [""]
    called = "positive" if metric == "precision" else "negative"
    assert (f"{wrong} of the" in text and f"that b predicts to be {called} are wrong" in text) is warned
    assert bool(text) is warned


@pytest.mark.parametrize(
    ("metric", "positives", "wrong", "warned"),
    [
        ("balanced_accuracy", 20, 2, True),
        ("informedness", 20, 2, True),
        ("balanced_accuracy", 20, 3, False),
        ("balanced_accuracy", 50, 2, False),
        ("accuracy", 20, 2, False),
        ("mcc", 20, 2, False),
    ],
)
def test_few_errors_on_a_rare_class_are_said(metric: str, positives: int, wrong: int, warned: bool) -> None:
    """Of metrics that weigh the classes alike: a class under half of an even share, fewer than 3 errors on it."""
    truth = np.array([1] * positives + [0] * (200 - positives))
    a, b = truth.copy(), truth.copy()
    a[[*range(8), *range(150, 158)]] ^= 1
    b[[*range(wrong), *range(160, 168)]] ^= 1
    results = run(labels(truth, a=a, b=b), metrics=(metric,), tests=("permutation",))
    texts = [w.text for w in results.warnings if w.code == "few_errors_of_a_class"]
    assert [
        str(text).startswith(f"b errs on {wrong} of the {positives} examples of class 1") for text in texts
    ] == [True] * warned


def test_a_recall_on_as_many_positives_as_are_flagged_is_no_share_of_these() -> None:
    """Few false positives are no matter of recall, even where a model flags as many examples as are positive."""
    truth = np.array([1] * 60 + [0] * 60)
    a, b = truth.copy(), truth.copy()
    a[[*range(3), *range(60, 63)]] ^= 1
    b[[*range(3, 6), *range(63, 66)]] ^= 1
    results = run(labels(truth, a=a, b=b), metrics=("recall",), tests=("permutation",))
    assert not [w for w in results.warnings if w.code == "few_flagged"]
