"""The default primary metric follows the truth and the kinds of columns, never the outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.schema.results import Results

RNG = np.random.default_rng(0)

pytestmark = pytest.mark.usefixtures("primary_alone")


def evaluated(positives: int, *kinds: str, n: int = 100, **options: Any) -> Results:
    """Evaluate models on ``n`` examples: each gives labels, scores, or both."""
    truth = np.array([1] * positives + [0] * (n - positives))
    models: dict[str, Any] = {}
    for i, kind in enumerate(kinds):
        score = np.clip(truth * 0.3 + RNG.random(n) * 0.6, 0.01, 0.99)
        columns = {"labels": {"y_pred": (score > 0.5).astype(int)}, "scores": {"p_1": score}}
        columns["both"] = columns["labels"] | columns["scores"]
        models[f"m{i}"] = columns[kind]
    return er.evaluate(models, truth=truth, positive="1", resamples=20, **options)


@pytest.mark.parametrize(
    "positives, kinds, metric, why",
    [
        (50, ("both", "both"), "accuracy", None),
        (50, ("labels", "labels"), "accuracy", None),
        (50, ("both", "scores"), "roc_auc", "since no threshold was chosen"),
        (80, ("both", "both"), "roc_auc", "as one class holds 80 %"),
        (79, ("both", "both"), "accuracy", None),
        (10, ("labels", "labels"), "balanced_accuracy", "as one class holds 90 %"),
        (10, ("labels", "both"), "balanced_accuracy", "as one class holds 90 %"),
    ],
)
def test_two_classes(positives: int, kinds: tuple[str, ...], metric: str, why: str | None) -> None:
    """Scores without a threshold, or a class of 80 % and more: ROC AUC; without scores balanced accuracy."""
    results = evaluated(positives, *kinds)
    assert results.primary_metric == metric
    assert (None if results.primary_because is None else str(results.primary_because)) == why
    assert results.usual_metric == (None if metric == "accuracy" else "accuracy")


def test_a_metric_that_is_named_decides() -> None:
    """``-m`` leaves nothing to be chosen."""
    results = evaluated(10, "both", "both", metrics=("accuracy", "roc_auc"))
    assert (results.primary_metric, results.primary_because) == ("accuracy", None)


def test_a_threshold_that_is_named_makes_labels() -> None:
    """Probabilities cut at a threshold that somebody chose are labels like others."""
    assert evaluated(50, "scores", "scores", threshold=0.4).primary_metric == "accuracy"
    assert evaluated(50, "scores", "scores").primary_metric == "roc_auc"


@pytest.mark.parametrize(
    "counts, metric",
    [((40, 30, 30), "accuracy"), ((48, 47, 5), "balanced_accuracy"), ((85, 8, 7), "balanced_accuracy")],
)
def test_several_classes(counts: tuple[int, ...], metric: str) -> None:
    """A class of 80 %, or one with less than a quarter of an even share: every class counts the same."""
    truth = [label for label, count in zip("abc", counts, strict=True) for _ in range(count)]
    models = {name: [t if RNG.random() < 0.7 else "a" for t in truth] for name in ("one", "two")}
    assert er.evaluate(models, truth=truth, resamples=20).primary_metric == metric


def test_models_with_nothing_in_common_have_no_verdict() -> None:
    """Labels alone beside scores alone: no metric is given by two models, and the headline says why."""
    results = evaluated(50, "labels", "scores")
    assert results.primary_metric is None
    assert results.headline is not None
    assert str(results.headline.text).startswith(
        "No verdict: some models give labels only and others no labels"
    )
    assert results.verdicts == []
