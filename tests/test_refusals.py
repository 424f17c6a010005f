"""What cannot be analysed is refused by name, with what to do; nothing that was asked for is passed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import UsageError

Y = np.array(["yes", "no"] * 20)


def two(**columns: Any) -> dict[str, dict[str, Any]]:
    """Two models on forty examples."""
    ids = [f"e{k}" for k in range(40)]
    return {
        "a": {"id": ids, "y_true": Y, "y_pred": Y, **columns},
        "b": {"id": ids, "y_true": Y, "y_pred": Y[::-1], **columns},
    }


def test_a_baseline_that_is_no_model_is_refused_with_its_like() -> None:
    """The message names the models."""
    with pytest.raises(UsageError, match="baseline") as caught:
        er.evaluate(two(), baseline="c", resamples=20)
    assert "a" in str(caught.value)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"lower_is_better": True}, "--lower-is-better is about outcomes and values"),
        ({"higher_is_better": True}, "--higher-is-better is about outcomes and values"),
        ({"order": "time"}, "--order time"),
        ({"noise": 0.1}, "--noise is about the bias and variance of regression replicates"),
        ({"kohavi_wolpert": True}, "--kohavi-wolpert is about replicates"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(options: dict[str, Any], said: str) -> None:
    """One line that begins with the option."""
    with pytest.raises(UsageError) as caught:
        er.evaluate(two(group=[f"g{k % 4}" for k in range(40)]), resamples=20, **options)
    assert str(caught.value).startswith(said)


def test_ranks_on_scales_of_their_own_are_not_swapped() -> None:
    """The permutation test of an area is refused, and names what to use."""
    score = np.linspace(0, 1, 40)
    with pytest.raises(UsageError, match="delong"):
        er.evaluate(
            two(y_score=score), positive="yes", metrics=["roc_auc"], tests=["permutation"], resamples=20
        )


@pytest.mark.parametrize(
    ("margin", "metric"),
    [(1, "accuracy"), (1.5, "roc_auc"), (2, "mcc"), (1, "f1"), (100, "balanced_accuracy")],
)
def test_a_margin_that_no_difference_can_pass_is_refused(margin: float, metric: str) -> None:
    """Within 1 of each other are any two accuracies: who writes --margin 1 means 0.01, or nothing."""
    score = np.linspace(0, 1, 40)
    with pytest.raises(
        UsageError, match=f"--margin {margin:g}: {metric} lies between .* every difference is within it"
    ):
        er.evaluate(two(y_score=score), positive="yes", metrics=[metric], margin=margin, resamples=20)


@pytest.mark.parametrize(("margin", "metric"), [(0.99, "accuracy"), (1.5, "mcc"), (3, "log_loss")])
def test_a_margin_that_a_difference_can_pass_is_taken(margin: float, metric: str) -> None:
    """MCC goes from -1 to 1, and a log loss has no end."""
    results = er.evaluate(two(p_yes=np.linspace(0.1, 0.9, 40)), metrics=[metric], margin=margin, resamples=20)
    assert results.options["margin"] == margin


def test_of_outcomes_right_or_wrong_a_margin_of_1_tells_nothing() -> None:
    """Grades have no end, so that a margin of 1 among them tells something."""
    passed, grades = [0, 1] * 20, [1, 5] * 20
    with pytest.raises(UsageError, match="--margin 1: mean_outcome lies between 0 and 1"):
        er.evaluate({"a": {"outcome": passed}, "b": {"outcome": passed[::-1]}}, margin=1, resamples=20)
    er.evaluate({"a": {"outcome": grades}, "b": {"outcome": grades[::-1]}}, margin=1, resamples=20)
