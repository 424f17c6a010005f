"""The upper hull of a ROC curve is what isotonic regression of the share of positives makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from evalreport.metrics.threshold_counts import hull_corners


@pytest.mark.parametrize("kind", ["noise", "sorted", "reversed", "two arcs", "weights"])
def test_hulls_are_those_of_isotonic_regression(kind: str) -> None:
    """The value on the hull at every corner of the curve is the running sum of scipy's isotonic regression."""
    for seed in range(60):
        random = np.random.default_rng(seed)
        size = int(random.integers(1, 120))
        positives = random.integers(0, 4, size) * (random.random(size) < 0.7).astype(float)
        negatives = random.integers(0, 4, size) * (random.random(size) < 0.7).astype(float)
        positives[0] += 1
        if kind == "weights":
            positives, negatives = positives * random.random(size), negatives * random.random(size)
        if kind in ("sorted", "reversed", "two arcs"):
            order = np.argsort(-positives / np.maximum(positives + negatives, 1e-9))
            order = order[::-1] if kind == "reversed" else order
            order = np.concatenate([order[::2], order[1::2]]) if kind == "two arcs" else order
            positives, negatives = positives[order], negatives[order]
        found, wrong = (np.concatenate([[0], np.cumsum(x)]) for x in (positives, negatives))
        corners = hull_corners(found, wrong)
        held = positives + negatives > 0
        weight = (positives + negatives)[held]
        shares = optimize.isotonic_regression(positives[held] / weight, weights=weight, increasing=False).x
        expected = np.concatenate([[0], np.cumsum(shares * weight)])
        along = np.concatenate([[0], np.cumsum(weight)])
        at = found[corners] + wrong[corners]
        assert np.interp(along, at, found[corners]) == pytest.approx(expected, abs=1e-9), seed
        slopes = np.diff(found[corners]) / np.diff(at)
        assert (np.diff(slopes) < 0).all()
