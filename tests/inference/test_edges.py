"""Where nothing varies: no interval is without width, and nothing is settled by its absence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalreport.records import Interval

from .sources import Source, labels, row, run, scores

Z = 1.959963984540054  # qnorm(0.975)


def first_interval(source: Source, metric: str, **options: object) -> Interval:
    """Return the leading interval of model a."""
    records = run(source, metrics=(metric,), **options).metrics
    return next(r for r in records if r.model == "a").intervals[0]


@pytest.mark.parametrize("metric", ["f1", "mcc", "roc_auc", "average_precision", "balanced_accuracy"])
def test_two_perfect_models_on_six_examples_are_not_equivalent(metric: str) -> None:
    """Six examples that both models get right say next to nothing: not equivalent, not non-inferior."""
    truth = np.array([0, 0, 0, 1, 1, 1])
    source = scores(truth, a=truth * 2 + 0.1, b=truth * 3 + 0.2)
    for model in source.values():
        model["y_pred"] = model["y_true"]
    results = run(source, metrics=(metric,), margin=0.05)
    (verdict,) = results.verdicts
    assert verdict.verdict == "undecided"
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low < -0.05 < 0.05 < verdict.high
    tost = row(results, "tost").p_value
    assert tost is not None
    assert tost > 0.05


def test_a_difference_that_does_not_vary_has_the_models_own_limits_squared_and_added() -> None:
    """AUC 1 and 1/2 (constant scores) on 20 + 30 examples: the hand formula of square-and-add.

    Newcombe's independent interval (1998, Stat Med 17:873): d - sqrt((a - l_a)^2 + (u_b - b)^2) and its mirror.
    """
    truth = np.repeat([0, 1], [30, 20])
    results = run(scores(truth, a=truth, b=np.zeros(50)), metrics=("roc_auc",))
    own = {r.model: r.intervals[0] for r in results.metrics}
    low = 0.5 - np.hypot(1 - own["a"].low, own["b"].high - 0.5)
    high = 0.5 + np.hypot(own["a"].high - 1, 0.5 - own["b"].low)
    found = row(results, "permutation")
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert found.reason
    assert found.recommended, "DeLong has no spread here, so the swaps lead"
    assert results.verdicts[0].verdict == "better"


def test_perfect_on_five_clusters_is_five_successes() -> None:
    """100 % right on 5 clusters of 100 is known as well as 5 of 5: Wilson's 5 / (5 + z^2), not 500 of 500."""
    truth = np.arange(500) % 2
    source = labels(truth, a=truth)
    source["a"]["site"] = [f"s{i // 100}" for i in range(500)]
    for metric in ("accuracy", "f1", "balanced_accuracy"):
        found = first_interval(source, metric, cluster="site")
        assert (found.low, found.high) == pytest.approx((5 / (5 + Z * Z), 1), abs=1e-12), metric


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_scale_of_weights_moves_no_limit_at_the_edge(metric: str) -> None:
    """Weights count relative to each other: a thousand times larger ones make a perfect score no surer."""
    truth = np.arange(40) % 2
    found = []
    for scale in (0.001, 1.0, 1000.0):
        source = labels(truth, a=truth)
        source["a"]["times"] = (scale * (1 + truth)).tolist()
        found.append(first_interval(source, metric, weight="times"))
    assert found[0].low is not None
    assert found[0].low < 0.95
    for other in found[1:]:
        assert other.low == pytest.approx(found[0].low, rel=1e-9)


def test_without_replicates_the_normal_interval_leads() -> None:
    """One replicate gives no bootstrap interval; what varies is then not said to be stuck at the edge."""
    truth = np.arange(60) % 2
    source = labels(truth, a=np.where(np.arange(60) % 7 == 0, 1 - truth, truth))
    record = run(source, metrics=("mcc",), resamples=1).metrics[0]
    first = record.intervals[0]
    assert first.method == "normal"
    assert first.reason
    assert first.high - first.low == pytest.approx(2 * stats.norm.ppf(0.975) * record.standard_error)


def test_tests_that_assume_alike_examples_are_refused_by_name() -> None:
    """McNemar under --weight, DeLong under --cluster: a row without a p value that says why."""
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 60)
    source = scores(truth, a=truth + random.normal(size=60), b=truth + random.normal(size=60))
    for model in source.values():
        model["y_pred"] = [str(int(s > 0.5)) for s in model["score"]]
        model["times"], model["site"] = [1.0, 2.0] * 30, [f"s{i // 3}" for i in range(60)]
    weighed = run(source, metrics=("accuracy",), weight="times", tests=("mcnemar_midp",))
    assert row(weighed, "mcnemar_midp").p_value is None
    assert "weights" in row(weighed, "mcnemar_midp").reason
    assert row(weighed, "bootstrap_difference").recommended
    grouped = run(source, metrics=("roc_auc",), cluster="site", tests=("delong",))
    assert row(grouped, "delong").p_value is None
    assert "independent" in row(grouped, "delong").reason
    assert row(grouped, "permutation").recommended
