"""The sentence on the leader: whom it beats, and by how much the closest of them."""

from __future__ import annotations

import numpy as np

import evalreport
from evalreport.report.sections import verdict
from evalreport.report.view import view_of


def test_the_closest_is_the_one_with_the_smallest_gap() -> None:
    """A leader that beats two by 0.5 and by 2 names the first of them as the closest, with that gap."""
    random = np.random.default_rng(9)
    truth = random.normal(size=400)
    # Named so that the order of names is not that of the gaps.
    models = {"leader": truth + 1, "near": truth + 1.5, "far": truth + 3}
    models = {name: values + 0.1 * random.normal(size=400) for name, values in models.items()}
    results = evalreport.evaluate(models, truth=truth, metrics=["mae"], resamples=100)
    assert {v.verdict for v in results.verdicts} <= {"better", "worse"}
    (said, *_) = verdict.describe(view_of(results)).facts
    assert "the closest, near, by −0.5" in said.text
