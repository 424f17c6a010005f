"""Equivalence within a margin, against statsmodels and against its own definition."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

from evalreport.comparisons.equivalence import tost
from evalreport.comparisons.registry import Pair
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import Paired, Rows
from evalreport.metrics.registry import Quantity
from evalreport.samplings import Influence, sampling_by
from tests.samples.pairs import labels, row, run, values


@pytest.mark.parametrize("margin", [0.05, 0.2, 1.0])
def test_means_of_losses_agree_with_statsmodels(margin: float) -> None:
    """On a mean of losses the inverted t interval is the paired two one-sided t tests of statsmodels 0.15."""
    random = np.random.default_rng(11)
    truth = random.normal(size=90)
    a, b = truth + random.normal(size=90), truth + 1.05 * random.normal(size=90)
    found = row(run(values(truth, a=a, b=b), metrics=("mae",), margin=margin), "tost")
    expected = ttost_paired(np.abs(a - truth), np.abs(b - truth), -margin, margin)[0]
    # where the difference lies outside the margin the larger one-sided p exceeds 1/2, and no interval is inside
    assert found.p_value == pytest.approx(expected if expected < 0.5 else 1.0, abs=1e-7)


def test_accuracy_is_the_recommended_interval_inverted() -> None:
    """At the p found, the recommended interval of level 1 - 2 p touches the margin."""
    random = np.random.default_rng(12)
    truth = random.integers(0, 2, 300)
    a, b = (np.where(random.random(300) < share, 1 - truth, truth) for share in (0.2, 0.22))
    source = labels(truth, a=a, b=b)
    found = row(run(source, metrics=("accuracy",), margin=0.08), "tost")
    assert 0.001 < found.p_value < 0.4
    confidence = 1 - 2 * found.p_value
    touching = row(run(source, metrics=("accuracy",), margin=0.08, confidence=confidence), "mcnemar_midp")
    assert touching.interval_method == "tango"
    assert max(abs(touching.low), abs(touching.high)) == pytest.approx(0.08, abs=1e-6)


def test_replicates_resolve_no_smaller_p_than_their_number() -> None:
    """From B replicates no equivalence p is below 1 / (B + 1), however narrow the difference; B is 40 / alpha here."""
    random = np.random.default_rng(13)
    truth = random.normal(size=400)
    a, b = (truth + random.normal(size=400) for _ in range(2))
    found = row(run(values(truth, a=a, b=b), metrics=("medae",), margin=0.9), "tost")
    assert found.p_value == pytest.approx(1 / 801, rel=1e-12)


def test_bca_runs_off_to_the_extreme_replicate_and_never_comes_back() -> None:
    """Where acceleration times z reaches 1 the upper limit is the greatest replicate.

    Efron's formula z0 + z / (1 - a z) has a pole at z = 1 / a; a = 1/6 is the largest that influence values can
    have (one example holds them all), and z passes 6 at the levels that an equivalence test may ask for.
    """
    from evalreport.intervals import limits

    replicates = np.linspace(-1, 1, 199) ** 3
    one = np.zeros(50)
    one[0] = 0.1
    influence, sampling = Influence(one, np.ones(50)), sampling_by(n=50)
    first = Estimate(
        model="m", quantity=Quantity("f1"), value=0.5, range=(0, 1), sampling=sampling, evidence=Rows()
    )
    estimate = Difference(
        a=first,
        b=first,
        value=0.0,
        range=(-1.0, 1.0),
        sampling=sampling,
        evidence=Paired(),
        influence=influence,
        replicates=replicates,
    )
    assert estimate.acceleration == pytest.approx(1 / 6)
    for level in (0.99, 0.9999, 1 - 1e-9, 1 - 1e-10):
        found = limits(estimate, "bootstrap_bca", level)
        assert found.high == pytest.approx(1.0), level
        assert found.low < 0
    turned = dataclasses.replace(estimate, influence=influence.scaled(-1))
    assert limits(turned, "bootstrap_bca", 1 - 1e-10).low == pytest.approx(-1.0)
    assert tost(Pair(a=first, b=first, difference=estimate), 2.0) == pytest.approx(1 / 200)
