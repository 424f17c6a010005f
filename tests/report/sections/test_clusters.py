"""Whole clusters are what is drawn, so the report counts them."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.report.sections import decision
from evalreport.report.view import view_of


@pytest.mark.parametrize(
    "sizes, said",
    [
        ((4,) * 30, "in 30 clusters of “patient”"),
        ((2,) * 40 + (40,), "in 41 clusters of “patient” (effective number "),
    ],
)
def test_clusters_stand_beside_the_examples_and_in_what_would_settle(
    sizes: tuple[int, ...], said: str
) -> None:
    """120 examples; what is needed is a number of clusters: the examples that are, divided by their mean size."""
    patient = np.repeat(np.arange(len(sizes)), sizes)
    n = len(patient)
    rng = np.random.default_rng(4)
    right = rng.random(n) < 0.8
    other = np.where(rng.random(n) < 0.3, rng.random(n) < 0.75, right)
    models = {
        name: {"outcome": values.astype(float), "patient": [f"p{i}" for i in patient]}
        for name, values in (("forest", right), ("svm", other))
    }
    results = er.evaluate(models, cluster="patient", resamples=50)
    assert {r.clusters for r in results.metrics} == {len(sizes)}
    view = view_of(results)
    about, settle = decision.about(view), decision.describe(view).settle
    assert f"{n} examples, {said}" in about
    assert ("effective" in about) == ("effective" in said)
    assert "clusters" in settle
    assert f"(now {len(sizes)})" in settle or f"these {len(sizes)} clusters" in settle
    assert "examples" not in settle


def test_without_clusters_none_are_counted() -> None:
    """Independent examples are not said to be clusters."""
    models = {"forest": {"outcome": [1.0, 0.0] * 40}, "svm": {"outcome": [1.0, 1.0, 0.0, 0.0] * 20}}
    results = er.evaluate(models, resamples=50)
    assert {r.clusters for r in results.metrics} == {None}
    assert "cluster" not in decision.about(view_of(results))
