"""The warning about few positive predictions."""

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


def test_few_positive_predictions_are_no_matter_of_recall() -> None:
    """A recall is a share of the positives, which are many here though both models flag ten examples."""
    truth = np.array([1] * 60 + [0] * 60)
    a, b = np.zeros(120, int), np.zeros(120, int)
    a[:10] = b[5:15] = 1
    results = run(labels(truth, a=a, b=b), metrics=("recall",))
    assert not [w for w in results.warnings if w.code == "few_flagged"]
