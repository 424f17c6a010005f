"""A difference of two models, beside the rounding of its two sums."""

from __future__ import annotations

import numpy as np

import evalreport as er


def test_two_means_that_only_the_order_of_additions_tells_apart_do_not_differ() -> None:
    """Passes of 51 questions in two orders: the means of thirds differ in the last bit, the models do not."""
    rng = np.random.default_rng(0)
    passes = rng.integers(0, 4, 51)
    models = {
        name: {
            "id": [f"q{k:02d}" for k in range(51) for _ in range(3)],
            "attempt": [1, 2, 3] * 51,
            "outcome": [int(j < n) for n in counts for j in range(3)],
        }
        for name, counts in (("ash", passes), ("birch", rng.permutation(passes)))
    }
    results = er.evaluate(models, resamples=100)
    rows = [
        r for r in results.comparisons if r.recommended and r.metric in ("mean_outcome", "pass@1", "pass^1")
    ]
    assert [r.difference for r in rows] == [0.0, 0.0, 0.0]
    assert "has the higher value" not in results.verdict
    assert "trillion" not in results.to_markdown()
