"""Bootstrap intervals agree with R's boot within Monte Carlo error, and with the exact bootstrap."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy import stats

import evalreport
from evalreport.predictions.table import Predictions
from evalreport.schema.metrics import Interval
from evalreport.schema.results import Results
from tests.samples.cases import quick

from . import lookup
from .records import DATA, DATASETS, Record, records_of

METRICS = {
    "accuracy": ("accuracy", None),
    "f1": ("f1", None),
    "sensitivity": ("recall", None),
    "auc": ("roc_auc", None),
    "macro_f1": ("f1", "macro"),
    "rmse": ("rmse", None),
    "mae": ("mae", None),
    "r2": ("r2", None),
}
METHODS = {
    "percentile": "bootstrap_percentile",
    "bca": "bootstrap_bca",
    "basic": "bootstrap_basic",
    "normal": "bootstrap_normal",
}

RESAMPLES = 2000

# boot's z0 is the share strictly below the estimate; ours counts the equal ones half, which moves the limits
# of a proportion by several steps of 1/n. Those are held to the exact bootstrap distribution below instead.
DISCRETE = {"accuracy", "accuracy_diff", "sensitivity"}
NOT_OFFERED = {"auc_stratified"}

RECORDS = [
    record
    for dataset in DATASETS
    for record in records_of(dataset)
    if record["group"] == "bootstrap_ci" and record["params"]["metric"] not in NOT_OFFERED
]
# accuracy 4 + 3 differences, F1 3 + 2, AUC 3 + 2, recall 3, macro F1 1, RMSE 2 + 1, MAE 2, R2 2
EXPECTED_RECORDS = 28


def test_every_bootstrap_record_is_compared() -> None:
    """All reference records are here but the two that are stratified by class, which ours are not."""
    assert len(RECORDS) == EXPECTED_RECORDS
    with_stratified = [r for d in DATASETS for r in records_of(d) if r["group"] == "bootstrap_ci"]
    assert len(with_stratified) == EXPECTED_RECORDS + 2


def limits(results: Results, record: Record, method: str) -> tuple[float, float]:
    """Return our limits for the metric, or the difference of the metric, of one record."""
    metric = record["params"]["metric"]
    name, average = METRICS[metric.removesuffix("_diff")]
    if not metric.endswith("_diff"):
        one = lookup.interval(lookup.metric(results, record["models"][0], name, average=average), method)
        return _both(one)
    row, sign = lookup.comparison(
        results,
        tuple(record["models"]),
        name,
        average=average,
        chosen=lambda row: row.interval_method == method,
    )
    low, high = lookup.signed_limits(row, sign)
    return _both(Interval(method=method, level=row.level, low=low, high=high))


@functools.cache
def resampled(dataset: str, method: str) -> Results:
    """Evaluate the metrics of a data set's records; values and differences show the interval of the method."""
    _, positive = DATASETS[dataset]
    about = {r["params"]["metric"].removesuffix("_diff") for r in RECORDS if r["dataset"] == dataset}
    options = evalreport.Options(
        positive=positive,
        metrics=tuple(sorted({METRICS[name][0] for name in about})),
        intervals=(METHODS[method],),
        tests=("bootstrap_difference",),
        resamples=RESAMPLES,
    )
    return evalreport.evaluate(compared_models(dataset, positive), options=options)


@functools.cache
def compared_models(dataset: str, positive: str | None) -> Predictions:
    """Load a data set with the models alone that its records are about: the others cost draws."""
    loaded = evalreport.load(DATA / "predictions" / DATASETS[dataset][0], positive=positive)
    named = {name for r in RECORDS if r["dataset"] == dataset for name in r["models"]}
    return dataclasses.replace(loaded, models=tuple(m for m in loaded.models if m.name in named))


def _both(one: Interval) -> tuple[float, float]:
    assert one.low is not None
    assert one.high is not None
    return one.low, one.high


# boot counts ties in z0 otherwise, so BCa limits of proportions are compared with the exact bootstrap below.
WITH_BOOT = [(r, m) for r in RECORDS for m in METHODS if m != "bca" or r["params"]["metric"] not in DISCRETE]
QUICK = [(r, m) for r, m in WITH_BOOT if r["dataset"] != "default_test"]
"""Each metric of the data set left out is one of `breast_cancer_test`, too."""


@pytest.mark.parametrize(
    "record, method",
    quick(WITH_BOOT, QUICK),
    ids=lambda value: value if isinstance(value, str) else value["id"],
)
def test_limits_agree_with_boot(record: Record, method: str) -> None:
    """Both limits lie within four Monte Carlo standard deviations of the mean of ten runs of boot.ci.

    The standard deviation between runs of 20,000 replicates is in the record; ours have fewer replicates.
    """
    metric = record["params"]["metric"]
    results = resampled(record["dataset"], method)
    ours = limits(results, record, METHODS[method])
    for end, limit in zip(("lower", "upper"), ours, strict=True):
        theirs = record["value"][f"{method}_{end}"]
        if not metric.endswith("_diff") and metric not in {"rmse", "mae", "r2"}:
            theirs = min(1.0, max(0.0, theirs))  # ours are cut to the metric's range
        allowed = 4 * record["mc_sd"][f"{method}_{end}"] * math.sqrt(record["params"]["B"] / RESAMPLES)
        # One step of the grid, but for rounding of the two values.
        assert abs(limit - theirs) <= (allowed + grid(results, record)) * (1 + 1e-12), f"{method} {end}"


def grid(results: Results, record: Record) -> float:
    """Return the step of a proportion: 1/n for accuracy, 1/positives for recall, else 0."""
    if record["params"]["metric"] in {"accuracy", "accuracy_diff"}:
        return 1 / results.n
    if record["params"]["metric"] == "sensitivity":
        cells = [
            c for c in results.confusion if c.model == record["models"][0] and c.true == results.positive
        ]
        return 1 / sum(cell.count for cell in cells)
    return 0.0


# Enough to tell whether ties count half in z0: the other choices move the level by more than four errors.
MANY = 20_000


@functools.cache
def label_results(dataset: str, method: str) -> Results:
    """Evaluate accuracy (and recall) with many replicates: they are drawn by cell and cost little.

    Without scores, whose curves would be resampled as often.
    """
    _, positive = DATASETS[dataset]
    metrics = ("accuracy", "recall") if positive else ("accuracy",)
    compared = compared_models(dataset, positive)
    labels = tuple(dataclasses.replace(model, score=None, proba=None) for model in compared.models)
    return evalreport.evaluate(
        dataclasses.replace(compared, models=labels), positive=positive, metrics=metrics, intervals=(method,),
        resamples=MANY, tests=("bootstrap_difference",),
    )  # fmt: skip


DISCRETE_RECORDS = [record for record in RECORDS if record["params"]["metric"] in DISCRETE]
SMALL_RECORDS = [record for record in DISCRETE_RECORDS if record["dataset"] == "breast_cancer_test"]
"""Those of the quick tests: the larger data sets take as long as all others together."""


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("record", quick(DISCRETE_RECORDS, SMALL_RECORDS), ids=lambda record: record["id"])
def test_limits_of_a_proportion_agree_with_the_exact_bootstrap(record: Record, method: str) -> None:
    """The limits are quantiles of the enumerated bootstrap distribution, within four Monte Carlo errors.

    Efron (1987): the BCa level is Phi(z0 + (z0 + z) / (1 - a (z0 + z))), ties counted half in z0,
    a = sum d^3 / (6 (sum d^2)^1.5) over jackknife influences d. The error of an estimated level p is
    sqrt(p (1 - p) / B), and that of z0, which moves it by twice the normal density.
    """
    results = label_results(record["dataset"], METHODS[method])
    counts = discrete_counts(results, record)
    values, masses = exact_distribution(record["params"]["metric"], counts)
    ours = limits(results, record, METHODS[method])
    z0, acceleration = (0.0, 0.0)
    if method == "bca":
        z0, acceleration = bias_correction(values, masses, estimate_of(counts)), skewness_of(counts)
    for limit, tail in zip(ours, (0.025, 0.975), strict=True):
        z = z0 + stats.norm.ppf(tail)
        level = float(stats.norm.cdf(z0 + z / (1 - acceleration * z)))
        error = math.sqrt(level * (1 - level) / MANY)
        if method == "bca":
            error += 2 * float(stats.norm.pdf(z)) * math.sqrt(math.pi / 2 / MANY)
        lowest, highest = quantiles(values, masses, (level - 4 * error, level + 4 * error))
        assert lowest - 1e-9 <= limit <= highest + 1e-9  # values are merged at 12 decimals


Counts = tuple[int, int, int, int]
"""Examples that score +1, -1, 0 and those that do not count at all (negatives, for recall)."""


def discrete_counts(results: Results, record: Record) -> Counts:
    """Return how many examples score +1 (right; A right and B wrong), -1 (B alone right) and 0."""
    metric, n = record["params"]["metric"], results.n
    if metric == "accuracy_diff":
        table = next(
            r["value"]
            for r in records_of(record["dataset"])
            if r["quantity"] == "paired table of right/wrong" and r["models"] == record["models"]
        )
        return table["n10"], table["n01"], n - table["n10"] - table["n01"], 0
    cells = [c for c in results.confusion if c.model == record["models"][0]]
    if metric == "sensitivity":
        cells = [c for c in cells if c.true == results.positive]
    counted = round(sum(c.count for c in cells))
    right = round(sum(c.count for c in cells if c.true == c.predicted))
    return right, 0, counted - right, n - counted


def estimate_of(counts: Counts) -> float:
    """Return the estimate."""
    plus, minus, zero, _ = counts
    return (plus - minus) / (plus + minus + zero)


def skewness_of(counts: Counts) -> float:
    """Return BCa's acceleration of a mean over the examples that count."""
    plus, minus, zero, _ = counts
    centred = np.array([1.0, -1.0, 0.0]) - estimate_of(counts)
    weights = np.array([plus, minus, zero])
    return float((weights @ centred**3) / (6 * (weights @ centred**2) ** 1.5))


def exact_distribution(metric: str, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return the values that the replicates can take, sorted, and their probabilities."""
    plus, minus, zero, outside = counts
    n = plus + minus + zero + outside
    if metric == "sensitivity":
        return _merged(_recall_distribution(plus, zero, outside))
    # A sum of n steps of +1, -1, 0 has the n-th power of one step's characteristic function.
    turn = 2j * np.pi * np.arange(2 * n + 1) / (2 * n + 1)
    step = (plus * np.exp(-turn) + minus * np.exp(turn) + zero) / n
    masses = np.clip(np.fft.ifft(step**n).real, 0, None)
    sums = np.where(np.arange(2 * n + 1) <= n, np.arange(2 * n + 1), np.arange(2 * n + 1) - (2 * n + 1))
    order = np.argsort(sums)
    return sums[order] / n, masses[order] / masses.sum()


def _recall_distribution(
    right: int, wrong: int, outside: int
) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    n, positives = right + wrong + outside, right + wrong
    for drawn in range(1, n + 1):
        mass = float(stats.binom.pmf(drawn, n, positives / n))
        if mass > 1e-12:
            hits = np.arange(drawn + 1)
            yield hits / drawn, mass * stats.binom.pmf(hits, drawn, right / positives)


def _merged(pieces: Iterator[tuple[Sequence[float], Sequence[float]]]) -> tuple[np.ndarray, np.ndarray]:
    values, masses = (np.concatenate(part) for part in zip(*pieces, strict=True))
    distinct, place = np.unique(np.round(values, 12), return_inverse=True)
    return distinct, np.bincount(place, masses) / masses.sum()


def bias_correction(values: np.ndarray, masses: np.ndarray, estimate: float) -> float:
    """Return z0, replicates equal to the estimate counted half."""
    equal = np.abs(values - estimate) < 1e-9
    below = masses[(values < estimate) & ~equal].sum() + masses[equal].sum() / 2
    return float(stats.norm.ppf(below))


def quantiles(values: np.ndarray, masses: np.ndarray, levels: tuple[float, float]) -> list[float]:
    """Return the smallest values at which the distribution function reaches the levels."""
    cumulative = np.cumsum(masses)
    places = np.searchsorted(cumulative, np.clip(levels, 0, 1 - 1e-12))
    return [float(values[min(place, len(values) - 1)]) for place in places]


def test_exact_bootstrap_of_accuracy_agrees_with_boot() -> None:
    """The enumeration above gives boot's own percentile limits of an accuracy, up to one step of 1/n.

    boot, B = 20,000, breast cancer, logreg: 216 of 228 right; the file's record holds the limits.
    """
    record = next(r for r in RECORDS if r["id"] == "breast_cancer_test.logreg.boot.accuracy")
    values, masses = exact_distribution("accuracy", (216, 0, 12, 0))
    low, high = quantiles(values, masses, (0.025, 0.975))
    assert abs(low - record["value"]["percentile_lower"]) <= 1 / 228
    assert abs(high - record["value"]["percentile_upper"]) <= 1 / 228
