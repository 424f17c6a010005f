"""Resampling within classes, where the design fixed their counts: less variance, and only when declared."""

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError

RNG = np.random.default_rng(11)
N = 400
TRUTH = np.array([1] * 100 + [0] * 300)
SCORE = RNG.normal(size=N) + TRUTH
SOURCE = {"m": {"y_pred": (SCORE > 0.5).astype(int), "score": SCORE}}


def standard_errors(**options: object) -> dict[str, float]:
    """Return the standard error of each metric."""
    names = ("accuracy", "recall", "balanced_accuracy", "roc_auc")
    results = evalreport.evaluate(SOURCE, truth=TRUTH, metrics=names, resamples=4000, **options)
    return {row.metric: float(row.standard_error or 0) for row in results.metrics}


def test_accuracy_with_fixed_class_counts() -> None:
    """The variance is the sum over classes of (n_k / n)^2 r_k (1 - r_k) / n_k, r_k the class recalls."""
    right = (SCORE > 0.5).astype(int) == TRUTH
    recalls = [right[k == TRUTH].mean() for k in (0, 1)]
    variance = sum(n / N**2 * r * (1 - r) for n, r in zip((300, 100), recalls, strict=True))
    assert standard_errors(fixed_class_counts=True)["accuracy"] == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.slow
def test_what_does_not_depend_on_the_class_counts() -> None:
    """Recall has the same error either way; that of the accuracy of a model with uneven recalls shrinks."""
    free, fixed = standard_errors(), standard_errors(fixed_class_counts=True)
    assert fixed["recall"] == pytest.approx(free["recall"], rel=1e-12)
    assert fixed["accuracy"] < free["accuracy"]


@pytest.mark.slow
def test_replicates_keep_the_class_counts() -> None:
    """The bootstrap's spread of the recall, recomputed from replicates, agrees with the formula within 5 %."""
    results = evalreport.evaluate(
        SOURCE,
        truth=TRUTH,
        metrics=["recall", "roc_auc"],
        intervals=["bootstrap_normal"],
        resamples=4000,
        fixed_class_counts=True,
    )
    for row in results.metrics:
        width = next(i for i in row.intervals if i.method == "bootstrap_normal")
        assert width.low is not None
        assert width.high is not None
        assert (width.high - width.low) / (2 * 1.959964) == pytest.approx(row.standard_error, rel=0.05)


def test_not_with_clusters_or_without_classes() -> None:
    """Fixed counts are about single examples of classes; anything else is refused."""
    with pytest.raises(UsageError, match="fixed-class-counts"):
        evalreport.evaluate({"m": {"y_pred": [0.5, 1.5]}}, truth=[0.25, 1.0], fixed_class_counts=True)
    clustered = {"m": {"id": list("abcd"), "y_true": [1, 0, 1, 0], "y_pred": [1, 0, 0, 0], "g": list("xxyy")}}
    with pytest.raises(UsageError, match="single examples"):
        evalreport.evaluate(clustered, fixed_class_counts=True, cluster="g")
