"""What the headline says of models whose values are equal: sameness is claimed only where results.json shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er

Y = np.arange(60) % 13 * 0.25
SCORES = np.arange(60) % 4 * 1.0


def verdict(a: dict[str, Any], b: dict[str, Any], **options: Any) -> str:
    """Return the headline of two models' columns."""
    ids = {"id": [f"i{k:02d}" for k in range(60)]}
    frames = {name: pd.DataFrame(ids | columns) for name, columns in (("a", a), ("b", b))}
    return str(er.evaluate(frames, resamples=20, **options).verdict)


def intervals(low: float, high: float) -> dict[str, Any]:
    """Return prediction intervals from so far below the truth to so far above."""
    return {"y_true": Y, "y_low": Y - low, "y_high": Y + high}


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.75), (0.7, 0.5)])
def test_intervals_of_one_score_may_be_others(low: float, high: float) -> None:
    """The mirrored intervals have the same score and width in every row: they are no same answers."""
    said = verdict(intervals(low, high), intervals(high, low), level=0.9)
    assert said.startswith("No verdict: 60 examples do not allow an interval of a difference (no variation")


def test_equal_totals_of_unlike_outcomes_are_no_same_outcomes() -> None:
    """Graded outcomes in another order have the same mean."""
    said = verdict({"outcome": SCORES}, {"outcome": SCORES[::-1]})
    assert said.startswith("60 examples do not show which of a and b is better on outcome")


def test_equal_outcomes_are_outcomes_and_no_answers() -> None:
    """Two models that are right on the same questions may have answered them otherwise."""
    said = verdict({"outcome": SCORES}, {"outcome": SCORES})
    assert said.startswith("a and b have the same outcome on all 60 examples (outcome 1.50")


LABELS, RISK = (np.arange(60) * 7 % 5 < 2).astype(int), (np.arange(60) * 11 % 60 + 1) / 62


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"p_1": RISK}, {"p_1": RISK}, "a and b give the same probabilities to all 60 examples (ROC AUC 0."),
        (
            {"score": RISK},
            {"score": RISK},
            "a and b rank every example alike against those of the other class",
        ),
        (
            {"p_1": RISK},
            {"p_1": RISK**2},
            "a and b rank every example alike against those of the other class",
        ),
    ],
)
def test_equal_scores_are_no_lack_of_examples(
    first: dict[str, Any], second: dict[str, Any], said: str
) -> None:
    """One ranking twice has no interval of a difference (METHODS 7T): the cause is the models, not the examples."""
    assert verdict({"y_true": LABELS, **first}, {"y_true": LABELS, **second}).startswith(said)


def test_equal_areas_of_one_positive_are_no_same_ranking() -> None:
    """Both rank the only positive first, and the others in opposite orders: no interval, and no same ranking."""
    truth, place = (np.arange(60) == 0).astype(int), np.arange(60.0)
    scores = [np.where(place == 0, 99.0, ranks) for ranks in (place, -place)]
    assert verdict(*({"y_true": truth, "score": s} for s in scores)).startswith("No verdict")


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_equal_labels_are_the_same_answers_on_any_metric_of_labels(metric: str) -> None:
    """Agreement is recorded beside accuracy alone; that all are right or all wrong on each of 60 examples is known."""
    answers = {"y_true": LABELS, "y_pred": np.where(np.arange(60) % 6, LABELS, 1 - LABELS)}
    results = er.evaluate({"a": answers, "b": answers}, metrics=(metric,), positive="1", resamples=100)
    assert results.verdict.startswith("a and b give the same answers to all 60 examples (")


def test_a_model_that_ranks_like_the_baseline_does_not_differ_by_nothing() -> None:
    """There is no interval beside a difference of 0: the sentence says that the values are the same."""
    perfect, noisy = (
        np.where(LABELS == 1, 0.6, 0.1) + RISK / 4,
        np.where(LABELS == 1, 0.6, 0.4) + RISK[::-1] / 9,
    )
    models = {
        "base": {"y_true": LABELS, "p_1": perfect},
        "twin": {"y_true": LABELS, "p_1": noisy},
        "other": {"y_true": LABELS, "p_1": np.where(np.arange(60) % 3, noisy, 1 - noisy)},
    }
    said = er.evaluate(models, baseline="base", metrics=("roc_auc",), resamples=20).verdict
    assert "better than the baseline base on ROC AUC: twin has the same value; other is behind it by" in said
