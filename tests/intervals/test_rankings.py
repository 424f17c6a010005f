"""Intervals of areas under curves and of their paired differences: DeLong after made-up placements, logit and MOVER."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.comparisons.pairs import compare
from evalreport.comparisons.registry import Pair
from evalreport.intervals import limits, recommended
from evalreport.intervals.rankings import mover
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.units import Units
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs
from research.studies.designs import predictions_on
from tests.reference.third_round import assert_agrees, each

AUC, AP = Quantity("roc_auc"), Quantity("average_precision")


def estimate_of(true: Any, quantity: Quantity, *scores: Any) -> Estimate | Difference:
    """Estimate of one model's scores, or of the difference of two."""
    models = [ModelOutputs(name, score=np.asarray(s, float)) for name, s in zip("ab", scores, strict=False)]
    predictions = predictions_on("binary", np.asarray(true, np.int32), tuple(models), 2)
    sample = estimate_all(predictions, [quantity], units=Units(predictions.n), n_resamples=2, seed=0)
    if len(models) == 1:
        return sample.estimates["a", quantity]
    (comparison,) = compare(sample, [quantity], Options(resamples=2))
    assert isinstance(comparison.found, Pair)
    return comparison.found.difference


def leading_limits(estimate: Estimate | Difference, level: float = 0.95) -> dict[str, float | None]:
    """Return the value with the limits that lead."""
    found = limits(estimate, recommended(estimate), level)
    return {"estimate": estimate.value, "low": found.low, "high": found.high}


@each("auc_difference")
def test_differences_of_areas_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits, with ties and without."""
    given = case["input"]
    difference = estimate_of(given["y"], AUC, given["a"], given["b"])
    assert recommended(difference) == "plus_delong"
    assert_agrees(leading_limits(difference), case)


@each("ap_difference", "ap_value")
def test_average_precisions_are_the_reference_s(case: Mapping[str, Any]) -> None:
    """Mpmath's 40 digits: values, one of them 1, and differences."""
    given = case["input"]
    scores = [given[name] for name in ("a", "b", "s") if name in given]
    estimate = estimate_of(given["y"], AP, *scores)
    assert recommended(estimate) == {"ap_difference": "ap_mover", "ap_value": "ap_logit"}[case["method"]]
    assert_agrees(leading_limits(estimate), case)


def test_identical_rankings_have_the_made_up_placements_width() -> None:
    """By hand for 8 of each class: variance 2 (1/10) / ((w - 1) w), w = 8.1, and Welch's df of two alike, 14."""
    true = np.repeat([1, 0], 8)
    score = np.random.default_rng(1).normal(size=16)
    found = leading_limits(estimate_of(true, AUC, score, 3 * score))
    half = stats.t.ppf(0.975, 14) * math.sqrt(2 * 0.1 / (7.1 * 8.1))
    assert (found["low"], found["high"]) == pytest.approx((-half, half), rel=1e-12)


def test_one_positive_has_no_limits() -> None:
    """A variance takes two of each class; the reason says so."""
    true, rng = np.array([1, 0, 0, 0, 0, 0]), np.random.default_rng(2)
    for quantity, method in ((AUC, "plus_delong"), (AP, "ap_mover")):
        found = limits(estimate_of(true, quantity, rng.normal(size=6), rng.normal(size=6)), method, 0.95)
        assert (found.low, found.high) == (None, None)
        assert found.reason
    value = limits(estimate_of(true, AP, rng.normal(size=6)), "ap_logit", 0.95)
    assert (value.low, value.high) == (None, None)


@pytest.mark.parametrize("quantity", [AUC, AP])
def test_turned_models_and_other_units_of_the_scores(quantity: Quantity) -> None:
    """The models turned round have the limits negated; only the order of scores matters."""
    rng = np.random.default_rng(3)
    true = np.repeat([1, 0], [12, 30])
    a, b = (np.round(rng.normal(size=42) + true, 1) for _ in range(2))
    found = leading_limits(estimate_of(true, quantity, a, b))
    turned = leading_limits(estimate_of(true, quantity, b, a))
    scaled = leading_limits(estimate_of(true, quantity, a * 1e-12, np.exp(b)))
    assert found["low"] is not None
    assert found["high"] is not None
    assert (turned["low"], turned["high"]) == pytest.approx((-found["high"], -found["low"]), rel=1e-9)
    assert (scaled["low"], scaled["high"]) == pytest.approx((found["low"], found["high"]), rel=1e-9)


def test_without_correlation_mover_is_newcombe_s() -> None:
    """Distances 0.1 and 0.2 on either side: their squares add up; with correlation 1 they are subtracted."""
    first, second = (0.6, 0.5, 0.7), (0.4, 0.2, 0.6)
    assert mover(first, second, 0.0) == pytest.approx(
        (0.2 - math.hypot(0.1, 0.2), 0.2 + math.hypot(0.1, 0.2))
    )
    assert mover(first, second, 1.0) == pytest.approx((0.1, 0.3))
