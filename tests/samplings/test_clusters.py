"""Clusters of unequal size and weighted examples, against matrices, clubSandwich, R's survey and statsmodels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sklearn.metrics as sk
from scipy import stats
from scipy.linalg import sqrtm

from evalreport.engine.counts import kish
from evalreport.intervals import INTERVALS
from evalreport.loading.load import load
from evalreport.metrics.difference import Difference, paired_difference
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.evidence import EffectiveProportion, Evidence, Mean
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.options import Options
from evalreport.samplings import Influence, Sampling, sampling_by, sampling_of
from tests.reference.second_round import agrees, each, records_of
from tests.samples.pairs import Source, ids, labels, outcomes, row, run, values

Floats = npt.NDArray[np.float64]

RANDOM = np.random.default_rng(14)
SITE = np.repeat(np.arange(24), RANDOM.integers(1, 9, 24))
N = len(SITE)
TRUTH = RANDOM.normal(size=N) + 3
A = TRUTH + RANDOM.normal(size=24)[SITE] + RANDOM.normal(size=N)
B = TRUTH + RANDOM.normal(size=24)[SITE] + RANDOM.normal(size=N)
TIMES = RANDOM.integers(1, 5, N).astype(float)


def source(**columns: list[object]) -> Source:
    """Return both models with more columns."""
    return {name: {**model, **columns} for name, model in values(TRUTH, a=A, b=B).items()}


def sites() -> list[object]:
    """Return the clusters' names."""
    return [f"s{s}" for s in SITE]


def bell_mccaffrey(
    design: Floats, y: Floats, cluster: npt.NDArray[Any], contrast: Floats
) -> tuple[float, float]:
    """Return the CR2 error of a contrast of OLS coefficients and its Satterthwaite df, as matrices.

    Bell and McCaffrey (2002): A_g = (I - H_gg)^(-1/2); with p_g = (I - H)_g' A_g X_g (X'X)^-1 c the df is that of
    sum (p_g' y)^2 under an identity covariance.
    """
    bread = np.linalg.inv(design.T @ design)
    residuals = y - design @ (bread @ design.T @ y)
    maker = np.eye(len(y)) - design @ bread @ design.T
    variance, columns = 0.0, []
    for g in np.unique(cluster):
        rows = cluster == g
        own = maker[np.ix_(rows, rows)]
        weight = np.linalg.inv(sqrtm(own)) @ design[rows] @ bread @ contrast
        variance += float(weight @ residuals[rows]) ** 2
        columns.append(maker[:, rows] @ weight)
    eigenvalues = np.linalg.eigvalsh(np.column_stack(columns).T @ np.column_stack(columns))
    return float(np.sqrt(variance)), float(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())


def test_clusters_are_judged_by_bell_and_mccaffreys_matrices() -> None:
    """Mean loss and its paired difference by unequal clusters: error, df, limits and p are those of the matrix form."""
    results = run(
        source(site=sites()), metrics=("mae",), cluster="site", intervals=("cr2_t",), tests=("cr2_t",)
    )
    losses = {"a": np.abs(A - TRUTH), "b": np.abs(B - TRUTH)}
    for record in results.metrics:
        error, df = bell_mccaffrey(np.ones((N, 1)), losses[record.model], SITE, np.ones(1))
        half = stats.t.ppf(0.975, df) * error
        named = record.intervals[1]
        assert named.method == "cr2_t"
        assert (named.low, named.high) == pytest.approx((record.value - half, record.value + half), rel=1e-9)
    difference = losses["a"] - losses["b"]
    error, df = bell_mccaffrey(np.ones((N, 1)), difference, SITE, np.ones(1))
    found = row(results, "cr2_t")
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.statistic == pytest.approx(difference.mean() / error, rel=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(difference.mean()) / error, df), rel=1e-9)
    half = stats.t.ppf(0.975, df) * error
    assert (found.low, found.high) == pytest.approx(
        (difference.mean() - half, difference.mean() + half), rel=1e-9
    )
    (verdict,), leading = results.verdicts, row(results, "cluster_t")
    assert leading.recommended
    assert (verdict.low, verdict.high) == pytest.approx((leading.low, leading.high), rel=1e-12)


def estimates(columns: Source, metric: str, mu0: float, task: str) -> tuple[Estimate | Difference, Sampling]:
    """Return the estimate that a record of the reference is about, against ``mu0``, and its units."""
    predictions = load(columns, options=Options(task=task, cluster="g", positive="1"))  # type: ignore[arg-type]
    units = sampling_of(predictions, cluster="g", weight=None)
    quantity = Quantity(metric)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=1, seed=0)
    first = sample.estimates["a", quantity]
    return (paired_difference(first, sample.estimates["b", quantity]) if "b" in columns else first), units


@each("cr2")
def test_reference_values_of_cr2(record: Mapping[str, Any]) -> None:
    """Value, error, df, limits, p of clubSandwich and the effective numbers of clusters, for means, F1 and AUC."""
    inputs, value = record["inputs"], record["value"]
    n = len(inputs["cluster"])
    shared = {"id": ids(n), "g": [f"g{g}" for g in inputs["cluster"]]}
    if "truth" in inputs:
        given = {"y_pred": inputs["pred"]} if "pred" in inputs else {"score": inputs["score"]}
        columns = {"a": {**shared, "y_true": inputs["truth"], **given}}
        metric, task = ("f1" if "pred" in inputs else "roc_auc"), "binary"
    else:
        models = {"a": inputs["y"]} if "y" in inputs else {name: inputs[name] for name in "ab"}
        columns = {name: {**shared, "outcome": outcome} for name, outcome in models.items()}
        metric, task = "mean_outcome", "outcome"
    estimate, units = estimates(columns, metric, inputs["mu0"], task)
    assert units.sizes is not None
    assert estimate.robust is not None
    error, df = estimate.robust.error, estimate.robust.df
    limits = INTERVALS["cr2_t"].function(estimate, inputs["level"])
    t = abs(estimate.value - inputs["mu0"]) / error
    found = {
        "estimate": estimate.value, "se": error, "df": df,
        "low": limits.low, "high": limits.high, "p_two_sided": 2 * stats.t.sf(t, df),
        "gstar_rho1": units.clusters_effective, "gstar_rho0": kish(units.sizes),
        "n_clusters": estimate.sampling.clusters,
    }  # fmt: skip
    for name, expected in value.items():
        assert agrees(found[name], expected), name


OF_MEANS = [record for record in records_of("cr2") if "truth" not in record["inputs"]]
"""F1 and AUC against a fixed number are no comparison of two models."""


@pytest.mark.parametrize("record", OF_MEANS, ids=lambda record: record["id"])
def test_reference_values_of_cr2_through_a_run(record: Mapping[str, Any]) -> None:
    """A model's outcomes against those of another, or of one that always has mu0: the record's test and limits."""
    inputs, value = record["inputs"], record["value"]
    n, mu0 = len(inputs["cluster"]), inputs["mu0"]
    a = inputs["y"] if "y" in inputs else inputs["a"]
    b = [mu0] * n if "y" in inputs else inputs["b"]
    columns = outcomes(a=a, b=b)
    for model in columns.values():
        model["g"] = [f"g{g}" for g in inputs["cluster"]]
    results = run(columns, cluster="g", tests=("cr2_t",))
    found = row(results, "cr2_t")
    for name, expected in (("df", "df"), ("p_value", "p_two_sided")):
        assert agrees(getattr(found, name), value[expected]), name
    assert agrees(found.difference + mu0, value["estimate"])
    assert agrees(found.low + mu0, value["low"])
    assert agrees(found.high + mu0, value["high"])
    assert all(agrees(r.clusters_effective, value["gstar_rho1"]) for r in results.metrics)
    assert all(r.n_effective is None for r in results.metrics)


@each("weighted")
def test_reference_values_of_weighted_proportions(record: Mapping[str, Any]) -> None:
    """R survey's share and error, Wilson on Kish's n; as clusters of one on Korn and Graubard's n, with Student's t."""
    inputs, value = record["inputs"], record["value"]
    columns = outcomes(a=inputs["y"])
    columns["a"] |= {"w": inputs["w"], "g": ids(len(inputs["y"]))}
    # The same in counts: yes is right of every example.
    said = ["yes" if y else "no" for y in inputs["y"]]
    counts = {"y_true": ["yes"] * len(said), "y_pred.a": said, "w": inputs["w"], "g": ids(len(said))}
    counts["count"] = [1] * len(said)
    for source, options in ((columns, {}), (counts, {"metrics": ("accuracy",), "task": "binary"})):
        (alone,) = run(source, weight="w", **options).metrics
        assert agrees(alone.value, value["p"])
        assert agrees(alone.standard_error, value["se"])
        assert agrees(alone.n_effective, value["neff_kish"])
        assert alone.clusters_effective is None
        assert alone.intervals[0].method == "wilson"
        assert agrees(alone.intervals[0].low, value["wilson_kish_z"][0])
        assert agrees(alone.intervals[0].high, value["wilson_kish_z"][1])
        (clustered,) = run(source, weight="w", cluster="g", **options).metrics
        assert agrees(clustered.standard_error, value["se"])
        assert agrees(clustered.n_effective, value["neff_kish"])
        assert clustered.intervals[0].method == "wilson"
        assert agrees(clustered.intervals[0].low, value["wilson_kg_t"][0])
        assert agrees(clustered.intervals[0].high, value["wilson_kg_t"][1])


def hall_limits(u: Floats, df: float, squares: float) -> tuple[float, float]:
    """Return how far Hall's limits lie from a weighted mean, from its weighted contributions (Hall 1992)."""
    a = (u**3).sum() / (u**2).sum() ** 1.5

    def before(g: float) -> float:
        return float((np.cbrt(1 + a * (g - a / 6)) - 1) * 3 / a)

    t = stats.t.ppf(0.975, df)
    return -before(t) * np.sqrt(squares), -before(-t) * np.sqrt(squares)


def df_by_kurtosis(u: Floats, df: float) -> float:
    """Return the fewer of some degrees of freedom and those that the kurtosis leaves."""
    return float(min(df, 2 * len(u) / (len(u) * (u**4).sum() / (u**2).sum() ** 2 - 1)))


def test_weighted_mean_losses_have_halls_limits_and_their_difference_students_t_on_kishs_n() -> None:
    """Value: Hall's map of the weighted contributions; difference: statsmodels' WLS times n / (n - 1), Kish's n - 1."""
    import statsmodels.api as sm

    results = run(source(times=TIMES.tolist()), metrics=("mae",), weight="times")
    df = TIMES.sum() ** 2 / (TIMES**2).sum() - 1
    losses = {"a": np.abs(A - TRUTH), "b": np.abs(B - TRUTH)}

    def judged(y: Floats) -> tuple[float, float, float, float]:
        fit = sm.WLS(y, np.ones(N), weights=TIMES).fit(cov_type="HC0")
        error = fit.bse[0] * np.sqrt(N / (N - 1))
        half = stats.t.ppf(0.975, df) * error
        return fit.params[0], error, fit.params[0] - half, fit.params[0] + half

    for record in results.metrics:
        mean, error, _, _ = judged(losses[record.model])
        assert record.standard_error == pytest.approx(error, rel=1e-9)
        u = TIMES * (losses[record.model] - mean) / TIMES.sum()
        below, above = hall_limits(u, df_by_kurtosis(u, df), error**2)
        leading = record.intervals[0]
        assert leading.method == "hall_df"
        assert (leading.low, leading.high) == pytest.approx((mean + below, mean + above), rel=1e-9)
    _, error, low, high = judged(losses["a"] - losses["b"])
    found = row(results, "weighted_t")
    assert found.recommended
    assert (found.low, found.high, found.df) == pytest.approx((low, high, df), rel=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference) / error, df), rel=1e-9)


def test_weighted_clusters_have_bell_and_mccaffreys_error_by_summed_weights() -> None:
    """CR2 with summed weights as sizes, the fewer of Satterthwaite's degrees of freedom and those by the kurtosis."""
    results = run(
        source(times=TIMES.tolist(), site=sites()), metrics=("mae",), weight="times", cluster="site"
    )
    sizes = np.bincount(SITE, TIMES)
    h = sizes / sizes.sum()
    pull = h**2 / (1 - h)
    satterthwaite = 1 / ((pull / (1 - h)).sum() - 2 * (pull * h / (1 - h)).sum() + pull.sum() ** 2)

    def judged(y: Floats) -> tuple[float, Floats, float, float]:
        mean = TIMES @ y / TIMES.sum()
        u = np.bincount(SITE, TIMES * (y - mean)) / TIMES.sum()
        return mean, u, float((u**2 / (1 - h)).sum()), df_by_kurtosis(u, satterthwaite)

    mean, u, variance, df = judged(np.abs(A - TRUTH) - np.abs(B - TRUTH))
    found = row(results, "weighted_t")
    assert found.recommended
    assert found.df == pytest.approx(df, rel=1e-9)
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(mean) / np.sqrt(variance), df), rel=1e-9)
    record = results.metrics[0]
    mean, u, variance, df = judged(np.abs(A - TRUTH))
    half, (below, above) = stats.t.ppf(0.975, df) * np.sqrt(variance), hall_limits(u, df, variance)
    leading = record.intervals[0]
    assert leading.method == "t_or_hall_df"
    expected = mean + min(-half, below), mean + max(half, above)
    assert (leading.low, leading.high) == pytest.approx(expected, rel=1e-9)
    assert record.standard_error == pytest.approx(np.sqrt(24 / 23 * (u**2).sum()), rel=1e-9)
    assert record.clusters_effective == pytest.approx((sizes**2).sum() ** 2 / (sizes**4).sum(), rel=1e-12)


@pytest.mark.parametrize("option", ["cluster", "weight"])
def test_two_test_sets_of_unlike_units_have_welchs_degrees_of_freedom(option: str) -> None:
    """Own test sets: the two models' squared errors add up, and the df are Welch's and Satterthwaite's.

    What leads there adds the squares of the models' own limits; the t is shown where it is named.
    """
    columns = source(site=sites(), times=TIMES.tolist())
    columns["b"]["id"] = [f"other {name}" for name in ids(N)]
    column = {"cluster": "site", "weight": "times"}[option]
    test = {"cluster": "cr2_t", "weight": "weighted_t"}[option]
    results = run(columns, metrics=("mae",), join="independent", tests=(test,), **{option: column})
    if option == "cluster":
        parts = [bell_mccaffrey(np.ones((N, 1)), np.abs(m - TRUTH), SITE, np.ones(1)) for m in (A, B)]
    else:
        df = TIMES.sum() ** 2 / (TIMES**2).sum() - 1
        parts = [(r.standard_error or 0, df) for r in results.metrics]
    variances = [error**2 for error, _ in parts]
    df = sum(variances) ** 2 / sum(v**2 / d for v, (_, d) in zip(variances, parts, strict=True))
    found = row(results, test)
    assert not found.recommended
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.statistic == pytest.approx(found.difference / np.sqrt(sum(variances)), rel=1e-9)


@pytest.mark.parametrize("metric", ["f1", "mcc", "balanced_accuracy", "recall"])
def test_smooth_metrics_are_judged_by_linearised_values(metric: str) -> None:
    """Value plus influence, a number for each example, judged by the matrices: the metric's error and limits.

    The influence values are differences of the metric under a slightly heavier example.
    """
    truth = (TRUTH > 3).astype(int)
    said = np.where(RANDOM.random(24)[SITE] < 0.4, 1 - truth, truth)
    columns = labels(truth, a=said)
    columns["a"]["site"] = sites()
    (record,) = run(columns, metrics=(metric,), cluster="site", intervals=("cr2_t",)).metrics
    of_sklearn, function = {
        "f1": (sk.f1_score, lambda tp, fp, fn, _tn: 2 * tp / (2 * tp + fp + fn)),
        "mcc": (sk.matthews_corrcoef, lambda tp, fp, fn, tn: (tp * tn - fp * fn) / np.sqrt(
            (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
        "balanced_accuracy": (sk.balanced_accuracy_score, lambda tp, fp, fn, tn: (
            tp / (tp + fn) + tn / (tn + fp)) / 2),
        "recall": (sk.recall_score, lambda tp, _fp, fn, _tn: tp / (tp + fn)),
    }[metric]  # fmt: skip
    cells = [(truth == t) & (said == p) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0))]

    def under(weights: Floats) -> Floats:
        return np.asarray(function(*(weights @ cell for cell in cells)))

    assert under(np.ones(N)) == pytest.approx(of_sklearn(truth, said), rel=1e-12)
    influence = (under(1 + 1e-4 * np.eye(N)) - under(1 - 1e-4 * np.eye(N))) / 2e-4
    error, df = bell_mccaffrey(np.ones((N, 1)), N * influence, SITE, np.ones(1))
    found = record.intervals[1]
    assert found.method == "cr2_t"
    assert found.high - record.value == pytest.approx(stats.t.ppf(0.975, df) * error, rel=1e-5)


def test_equal_clusters_have_the_usual_error() -> None:
    """Clusters of one size: CR2 is the sandwich with G / (G - 1), and df are G - 1; statsmodels."""
    import statsmodels.api as sm

    site, losses = np.repeat(np.arange(10), 6), RANDOM.random(60)
    columns = outcomes(a=losses)
    columns["a"]["g"] = [f"g{g}" for g in site]
    (record,) = run(columns, cluster="g", intervals=("cr2_t",)).metrics
    fit = sm.OLS(losses, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": site}, use_t=True)
    assert record.clusters_effective == pytest.approx(10, rel=1e-12)
    half = stats.t.ppf(0.975, 9) * fit.bse[0]
    assert record.intervals[1].high - record.value == pytest.approx(half, rel=1e-9)


def test_weights_are_repetitions_for_the_value_only() -> None:
    """Integer weights give the value of the repeated rows, and an error that does not pretend to more examples."""
    weighed = run(source(times=TIMES.tolist()), metrics=("mae", "rmse", "r2"), weight="times")
    times = TIMES.astype(int)
    repeated = run(
        values(np.repeat(TRUTH, times), a=np.repeat(A, times), b=np.repeat(B, times)),
        metrics=("mae", "rmse", "r2"),
    )
    for one, other in zip(weighed.metrics, repeated.metrics, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.standard_error > 1.3 * other.standard_error
    doubled = run(source(times=(2 * TIMES).tolist()), metrics=("mae", "rmse", "r2"), weight="times")
    for one, other in zip(weighed.metrics, doubled.metrics, strict=True):
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)
        assert one.intervals == other.intervals


def test_cluster_bootstrap_has_the_cluster_error() -> None:
    """Replicates that draw whole clusters spread as the sandwich without G / (G - 1) says, within 4 Monte Carlo errors.

    The bootstrap-normal interval is 2 z times the replicates' standard deviation wide; a ratio of sums differs
    from its linearisation by O(1 / G).
    """
    truth = (TRUTH > 3).astype(int)
    said = np.where(RANDOM.random(24)[SITE] < 0.3, 1 - truth, truth)
    data = {name: {**model, "site": sites()} for name, model in labels(truth, a=said).items()}
    results = run(
        data, metrics=("accuracy",), cluster="site", resamples=4000, intervals=("bootstrap_normal",)
    )
    (record,), right = results.metrics, (truth == said) - np.mean(truth == said)
    found = next(i for i in record.intervals if i.method == "bootstrap_normal")
    spread = (found.high - found.low) / (2 * stats.norm.ppf(0.975))
    assert spread == pytest.approx(np.sqrt((np.bincount(SITE, right) ** 2).sum()) / N, rel=0.1)
    assert record.intervals[0].method == "cluster_wilson"


# --- what the intervals hold ----------------------------------------------------------------------------------------

SETS = 3000
"""Data sets of a simulation: a share of 95 % has a Monte Carlo standard error of 0.4 points."""


def held(method: str, estimates: Iterator[Estimate], truth: float) -> float:
    """Return the share of estimates whose interval holds the truth."""
    found = [INTERVALS[method].function(estimate, 0.95) for estimate in estimates]
    assert len(found) == SETS
    return float(
        np.mean([b.low <= truth <= b.high for b in found if b.low is not None and b.high is not None])
    )


def estimate_of(value: float, derivative: Floats, evidence: Evidence, sampling: Sampling) -> Estimate:
    """Return a number with its influence by unit, for intervals that do not ask whether it is a difference."""
    return Estimate(
        model="m",
        quantity=Quantity("accuracy"),
        value=value,
        range=(-1.0, 1.0),
        sampling=sampling,
        evidence=evidence,
        influence=Influence(derivative, np.ones(len(derivative))),
    )


@pytest.mark.slow
@pytest.mark.parametrize("clusters, least", [(20, 0.93), (8, 0.92)])
def test_cr2_holds_on_clusters_of_400_down_to_10_examples(clusters: int, least: float) -> None:
    """Accuracy 0.7 and the difference of two such models hold at least 93 % (8 clusters: 92 %); t with G - 1 does not.

    Intraclass correlation 0.05; two Monte Carlo errors are allowed.
    """
    random = np.random.default_rng(40 + clusters)
    sizes = np.round(np.geomspace(400, 10, clusters))
    n = sizes.sum()
    sampling = sampling_by(int(n), np.repeat(np.arange(clusters), sizes.astype(int)))

    def answers() -> Floats:
        return random.binomial(sizes.astype(int), random.beta(0.7 * 19, 0.3 * 19, clusters)).astype(float)

    def estimates(difference: bool) -> Iterator[Estimate]:
        for _ in range(SETS):
            right = answers() - (answers() if difference else 0)
            value = float(right.sum() / n)
            yield estimate_of(value, (right - sizes * value) / n, Mean(), sampling)

    assert held("cr2_t", estimates(False), 0.7) >= least - 0.008
    assert held("cr2_t", estimates(True), 0.0) >= least - 0.008
    usual = stats.t.ppf(0.975, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    short = [abs(e.value - 0.7) <= usual * np.sqrt((e.derivative**2).sum()) for e in estimates(False)]
    assert np.mean(short) < 0.915


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_effective_numbers_hold_under_log_normal_weights(n: int) -> None:
    """An accuracy of 0.8 by Wilson on Kish's n, the difference of two by weighted t: at least 93 %."""
    random = np.random.default_rng(n)

    def estimates(difference: bool) -> Iterator[Estimate]:
        for _ in range(SETS):
            w = random.lognormal(0, 1, n)
            y = 1.0 * (random.random(n) < 0.8) - (random.random(n) < 0.8 if difference else 0.0)
            value = float(w @ y / w.sum())
            evidence = Mean() if difference else EffectiveProportion(kish(w))
            yield estimate_of(value, w * (y - value) / w.sum(), evidence, sampling_by(n, weight=w))

    assert held("wilson", estimates(False), 0.8) >= 0.93
    assert held("weighted_t", estimates(True), 0.0) >= 0.93
