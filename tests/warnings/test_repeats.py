"""Ids that repeat and numbers like percentages are warned of where they are, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from tests.samples.warnings import answers, evaluate, given

pytestmark = pytest.mark.usefixtures("primary_alone")

RNG = np.random.default_rng(3)
TRUTH = np.arange(100) % 2


def test_ids_that_repeat_are_said_with_their_numbers() -> None:
    """Sixty customers in a hundred rows, and no --cluster: both numbers and the option are named."""
    customers = [f"k{i % 60}" for i in range(100)]
    (found,) = given(evaluate(answers(100, customer_id=customers)), "ids_repeat")
    assert "The 100 examples have 60 values of 'customer_id'" in found.text
    assert "--cluster customer_id" in found.text
    assert found.about == ("customer_id",)


@pytest.mark.parametrize(
    "columns, options",
    [
        ({"customer_id": [f"k{i % 60}" for i in range(100)]}, {"cluster": "customer_id"}),
        ({"customer_id": [f"k{i % 60}" for i in range(100)]}, {"slices": ("customer_id:5",)}),
        ({"customer_id": [f"k{i}" for i in range(100)]}, {}),
        ({"region": ["n", "s"] * 50}, {}),
        ({"model_id": ["x"] * 100}, {}),
    ],
)
def test_nothing_is_said_of_a_named_cluster_a_slice_or_another_column(columns, options) -> None:
    """The cluster is named, it is a slice, each id comes once, or it is no id of what may have several rows."""
    assert not given(evaluate(answers(100, **columns), **options), "ids_repeat")


def test_scores_from_0_to_100_look_like_percent() -> None:
    """Decision values of another range do not."""
    scores = RNG.uniform(0, 100, 100)
    results = er.evaluate(
        {"m": {"score": scores}, "k": {"score": scores / 10 - 5}}, truth=TRUTH, resamples=20
    )
    assert [w.about for w in given(results, "like_percent")] == [("m",)]


@pytest.mark.parametrize("factor, said", [(0.01, "a hundredth of"), (1.0, None), (10.0, None)])
def test_predictions_in_another_unit_than_the_true_values(factor: float, said: str | None) -> None:
    """A hundredth of the true values may be shares where these are percent; a tenth is no such unit."""
    truth = RNG.uniform(20, 80, 60)
    results = er.evaluate(
        {"m": {"y_pred": factor * (truth + RNG.normal(0, 3, 60))}}, truth=truth, resamples=20
    )
    found = given(results, "like_percent")
    assert bool(found) == (said is not None)
    assert all(said in w.text for w in found if said is not None)


def test_all_models_the_wrong_way_round_are_one_warning() -> None:
    """Of two one is named; where both are turned, the warning is about both, and so is the first sentence."""
    score = np.where(TRUTH == 1, 0.2, 0.8) + RNG.normal(0, 0.2, 100)
    both = er.evaluate(
        {"a": {"score": score}, "b": {"score": score + RNG.normal(0, 0.1, 100)}}, truth=TRUTH, resamples=20
    )
    (found,) = given(both, "worse_than_random")
    assert set(found.about) == {"a", "b"}
    assert "All models" in found.text
    assert both.headline is not None
    assert "both rank the wrong way round" in str(both.headline.text)
    one = er.evaluate({"a": {"score": score}, "b": {"score": 1 - score}}, truth=TRUTH, resamples=20)
    assert [w.about for w in given(one, "worse_than_random")] == [("a",)]
    assert one.headline is not None
    assert str(one.headline.text).startswith("a ranks the wrong way round")
