"""Where nothing varies: no interval is without width, and nothing is settled by its absence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalreport.schema.metrics import Interval
from tests.samples.pairs import Source, labels, outcomes, row, run, scores, values

Z = 1.959963984540054  # qnorm(0.975)


def first_interval(source: Source, metric: str, **options: object) -> Interval:
    """Return the leading interval of model a."""
    records = run(source, metrics=(metric,), **options).metrics
    return next(r for r in records if r.model == "a").intervals[0]


@pytest.mark.parametrize(
    "metric", ["f1", "mcc", "roc_auc", "average_precision", "pr_auc", "partial_auc", "balanced_accuracy"]
)
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
    """Partial AUC 1 and 1/2 (constant scores) on 20 + 30 examples: the hand formula of square-and-add.

    Newcombe's independent interval (1998, Stat Med 17:873): d - sqrt((a - l_a)^2 + (u_b - b)^2) and its mirror.
    """
    truth = np.repeat([0, 1], [30, 20])
    results = run(scores(truth, a=truth, b=np.zeros(50)), metrics=("partial_auc",))
    own = {r.model: r.intervals[0] for r in results.metrics}
    low = 0.5 - np.hypot(1 - own["a"].low, own["b"].high - 0.5)
    high = 0.5 + np.hypot(own["a"].high - 1, 0.5 - own["b"].low)
    (found,) = (r for r in results.comparisons if r.recommended)
    most = 1 - (1 - 0.1 / 1.9) / 2
    assert (found.low, found.high) == pytest.approx((low, min(high, most)), rel=1e-12)
    assert found.p_value is not None


def test_areas_that_do_not_vary_have_the_width_of_the_made_up_placements() -> None:
    """AUC 1 and 1/2 (labels) on 20 + 30 examples: by hand, balanced accuracies with half an example in each cell.

    The first model is right on 30.5 of 31 and 20.5 of 21 examples, the second on 31 of them of one class alone.
    """
    truth = np.repeat([0, 1], [30, 20])
    results = run(scores(truth, a=truth, b=np.zeros(50)), metrics=("roc_auc",))
    first, second = (np.array([only_a, 0.5, n]) for only_a, n in ((0.5, 31), (20.5, 21)))
    centre = sum((a - b) / n for a, b, n in (first, second)) / 2
    variance = sum(((a + b) / n - ((a - b) / n) ** 2) / n for a, b, n in (first, second)) / 4
    half = stats.t.ppf(0.975, 49) * np.sqrt(variance)
    found = row(results, "interval")
    assert found.recommended
    assert found.interval_method == "plus_two"
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), rel=1e-12)
    assert results.verdicts[0].verdict == "better"


def test_perfect_on_five_clusters_is_five_successes() -> None:
    """100 % right on 5 clusters of 100 is 5 of 5: Clopper and Pearson's lower limit is 0.025^(1/5).

    Right in 400 + 4 x 25 it is G* of 5: (sum n^2)^2 / sum n^4 = 1.032. Of recall the positives are the trials.
    """
    for sizes, n in (([100] * 5, 5.0), ([400, 25, 25, 25, 25], 162500**2 / (400**4 + 4 * 25**4))):
        truth = np.arange(500) % 2
        source = labels(truth, a=truth)
        source["a"]["site"] = [f"s{i}" for i in np.repeat(np.arange(5), sizes)]
        found = first_interval(source, "accuracy", cluster="site")
        assert found.method == "clopper_pearson"
        assert found.reason
        assert (found.low, found.high) == pytest.approx((0.025 ** (1 / n), 1), rel=1e-12)
        wrong = first_interval(source, "error_rate", cluster="site")
        assert (wrong.low, wrong.high) == pytest.approx((0, 1 - 0.025 ** (1 / n)), rel=1e-12)
    truth = np.repeat([1, 1, 0, 0, 0], 100)
    source = labels(truth, a=truth)
    source["a"]["site"] = [f"s{i // 100}" for i in range(500)]
    found = first_interval(source, "recall", cluster="site")
    assert (found.low, found.high) == pytest.approx((0.025**0.5, 1), rel=1e-12), "two clusters have positives"


@pytest.mark.parametrize("metric", ["f1", "balanced_accuracy", "mcc", "roc_auc", "log_loss"])
def test_what_does_not_vary_between_clusters_is_as_sure_as_five_successes(metric: str) -> None:
    """Perfect everywhere: G* of G* on the metric's range; no limits without a range, nor of a difference of twins."""
    truth = np.arange(500) % 2
    source = labels(truth, a=truth, b=truth)
    for model in source.values():
        model["site"] = [f"s{i // 100}" for i in range(500)]
        model["p_1"] = [0.1 + 0.8 * int(t) for t in truth]
    results = run(source, metrics=(metric,), cluster="site", margin=0.05)
    for record in results.metrics:
        assert record.standard_error == 0
        found = record.intervals[0]
        if metric == "log_loss":
            assert (found.low, found.high) == (None, None)
            assert "no variation between groups" in found.reason
        else:
            least = {"mcc": -1.0}.get(metric, 0.0)
            assert (found.low, found.high) == pytest.approx((least + (1 - least) * 0.025 ** (1 / 5), 1))
            assert found.method == "clopper_pearson"
    found = row(results, "cluster_t")
    assert (found.difference, found.p_value, found.low, found.high) == (0, 1, None, None)
    assert results.verdicts[0].verdict == "undecided"


def test_the_same_difference_in_every_cluster_has_no_p_value() -> None:
    """1/4 more on each example of six clusters: the error is 0, so nothing says how sure 1/4 is."""
    second = np.tile([0.5, 0.25, 0.0, 0.75], 6)
    source = outcomes(a=second + 0.25, b=second)
    for model in source.values():
        model["site"] = [f"s{i // 4}" for i in range(24)]
    results = run(source, cluster="site")
    found = row(results, "cluster_t")
    assert found.recommended
    assert (found.p_value, found.low, found.high) == (None, None, None)
    assert found.reason
    assert results.verdicts[0].verdict == "undecided"


@pytest.mark.parametrize("weight", [None, "times"])
def test_one_cluster_is_refused(weight: str | None) -> None:
    """All examples in one cluster: no error, no limits, no p-value, and the reason."""
    truth = np.arange(40) % 2
    source = labels(truth, a=np.where(np.arange(40) % 5 == 0, 1 - truth, truth), b=truth)
    for model in source.values():
        model["site"], model["times"] = ["s"] * 40, (1 + truth).tolist()
    results = run(source, metrics=("accuracy", "f1"), cluster="site", weight=weight)
    for record in results.metrics:
        assert record.standard_error is None
        assert (record.intervals[0].low, record.intervals[0].high) == (None, None)
        assert record.intervals[0].reason == "one cluster: no standard error"
    found = row(results, "weighted_t" if weight else "cluster_t")
    assert (found.p_value, found.low, found.high) == (None, None, None)


def test_perfect_under_weights_is_kishs_number_of_successes() -> None:
    """All right with weights 1 and 3: n_eff = 80^2 / (20 + 9 * 20) = 32; Wilson's lower limit is n / (n + z^2)."""
    truth = np.arange(40) % 2
    source = labels(truth, a=truth)
    source["a"]["times"] = (1 + 2 * truth).tolist()
    found = first_interval(source, "accuracy", weight="times")
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx((32 / (32 + Z * Z), 1), rel=1e-12)
    # Of recall the 20 positives are the trials, and they weigh the same.
    recall = first_interval(source, "recall", weight="times")
    assert (recall.low, recall.high) == pytest.approx((20 / (20 + Z * Z), 1), rel=1e-12)


def test_perfect_on_weighted_clusters_is_the_effective_number_of_successes() -> None:
    """Four clusters of summed weights 10, 10, 10, 30: G* = 1200^2 / (3 * 10^4 + 30^4)."""
    truth = np.arange(40) % 2
    source = labels(truth, a=truth)
    source["a"]["site"] = [f"s{i // 10}" for i in range(40)]
    source["a"]["times"] = [1.0 + 2 * (i >= 30) for i in range(40)]
    found = first_interval(source, "accuracy", cluster="site", weight="times")
    clusters = 1200**2 / (3 * 10**4 + 30**4)
    assert found.method == "clopper_pearson"
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / clusters), 1), rel=1e-12)


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
    truth = np.arange(60) % 5 + 0.5
    source = values(truth, a=truth + np.arange(60) % 7)
    record = run(source, metrics=("rae",), resamples=1).metrics[0]
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
    assert row(weighed, "weighted_t").recommended
    grouped = run(source, metrics=("roc_auc",), cluster="site", tests=("delong",))
    assert row(grouped, "delong").p_value is None
    assert "independent" in row(grouped, "delong").reason
    assert row(grouped, "cluster_t").recommended
    for option in ({"weight": "times"}, {"cluster": "site"}):
        refused = row(run(source, metrics=("accuracy",), tests=("paired_t",), **option), "paired_t")
        assert refused.p_value is None
        assert "independent" in refused.reason
