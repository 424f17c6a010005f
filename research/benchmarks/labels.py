"""Label metrics: resampling of five models with all paired differences, and the BCa interval of F1."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalreport.intervals import limits
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import sampling_by
from research.benchmarks.data import binary_models, labels, loop, truth
from research.benchmarks.timing import Row, Timed, best_of, scaled, timed

Array = npt.NDArray[np.int32]
METRICS = tuple(Quantity(name) for name in ("accuracy", "f1", "mcc"))


def resampling(*, quick: bool) -> Iterator[Row]:
    """Accuracy, F1 and MCC of five models and of their ten pairs."""
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    n, replicates = (20_000, 1000) if quick else (1_000_000, 10_000)
    predictions = binary_models(n)
    ours = best_of(lambda: all_intervals(predictions, METRICS, replicates))
    work = f"accuracy + F1 + MCC and all paired differences, 5 models, n = {n:,}, B = {replicates:,}"
    true, said, random = truth(predictions), labels(predictions), np.random.default_rng(1)
    separate, packed = [4 * true + 2 * labels_of for labels_of in said], packed_codes(true, said)
    remark = "the same idea as ours but for drawing the counts themselves"
    in_scikit_learn = loop(true, (said, (accuracy_score, f1_score, matthews_corrcoef)))
    for peer, replicate, measured, goal, note in (
        ("scikit-learn resampling loop", in_scikit_learn, 2, 50_000, ""),
        ("numpy: resample, then bincount each model's table", lambda: one_table_each(separate, random), 10, 2000, ""),
        ("numpy: all models packed into one code, resample, one bincount", lambda: one_table(packed, random), 10, None,
         remark),
    ):  # fmt: skip
        theirs = scaled(replicate, measured, replicates)
        yield timed(work, peer, ours, theirs, least_ratio=goal, remark=note)


def all_intervals(predictions: Predictions, quantities: tuple[Quantity, ...], replicates: int) -> None:
    """Estimate and give percentile limits of every model and of every pair, as a run does."""
    names = [model.name for model in predictions.models]
    units = sampling_by(predictions.n)
    sample = estimate_all(predictions, quantities, units=units, n_resamples=replicates, seed=0)
    for quantity in quantities:
        found = [sample.estimates[name, quantity] for name in names]
        for estimate in found:
            limits(estimate, "bootstrap_percentile", 0.95)
        for a, b in combinations(found, 2):
            limits(paired_difference(a, b), "bootstrap_percentile", 0.95)


def one_table_each(codes: list[npt.NDArray[np.int32]], random: np.random.Generator) -> None:
    """One replicate: draw rows, count each model's confusion table, and compute the metrics of all at once."""
    n = len(codes[0])
    rows = random.integers(0, n, n, dtype=np.int32)
    metrics_of(np.array([np.bincount(one[rows], minlength=8) for one in codes])[:, [0, 2, 4, 6]])


def packed_codes(true: npt.NDArray[np.int32], said: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.uint8]:
    """Return truth and all labels as the bits of one number."""
    return sum(column << bit for bit, column in enumerate([true, *said])).astype(np.uint8)  # type: ignore[union-attr]


def one_table(packed: npt.NDArray[np.uint8], random: np.random.Generator) -> None:
    """One replicate: draw rows, count all combinations at once, and add them up to each model's table."""
    n = len(packed)
    counts = np.bincount(packed[random.integers(0, n, n, dtype=np.int32)], minlength=64)
    code = np.arange(64)
    tables = [
        np.bincount(2 * (code & 1) + ((code >> bit) & 1), weights=counts, minlength=4) for bit in range(1, 6)
    ]
    metrics_of(np.array(tables))


def metrics_of(tables: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> None:
    """Accuracy, F1 and MCC from (models, 4) counts TN, FP, FN, TP."""
    tn, fp, fn, tp = tables.T.astype(np.float64)
    _ = (tp + tn) / (tp + tn + fp + fn), 2 * tp / (2 * tp + fp + fn)
    _ = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


# --- BCa ------------------------------------------------------------------------------------------------------------


def bca(*, quick: bool) -> Iterator[Row]:
    """BCa interval of one model's F1: ours has no n refits."""
    n, replicates = (500 if quick else 10_000), 2000
    predictions = one_model(n)
    ours = best_of(lambda: bca_of_f1(predictions, replicates), 5)
    work = f"BCa interval of F1, n = {n:,}, B = {replicates:,}"
    true, said = truth(predictions), labels(predictions)[0]

    def by_scipy() -> None:
        from sklearn.metrics import f1_score

        rows = (np.arange(n),)
        stats.bootstrap(
            rows, lambda r: f1_score(true[r], said[r]), method="BCa", vectorized=False, n_resamples=replicates, rng=1
        )  # fmt: skip

    def by_scipy_in_batches() -> None:
        stats.bootstrap(
            (true, said), f1_along, method="BCa", paired=True, vectorized=True, n_resamples=replicates, rng=1,
            batch=50,
        )  # fmt: skip

    yield timed(
        work, "scipy.stats.bootstrap, scikit-learn's f1_score", ours, best_of(by_scipy, 1), least_ratio=10_000
    )
    yield timed(
        work,
        "scipy.stats.bootstrap, F1 in numpy along an axis, batches of 50",
        ours,
        best_of(by_scipy_in_batches, 1),
    )
    yield from _confidenceinterval(work, ours, true, said, replicates)
    n = 20_000 if quick else 1_000_000
    large = one_model(n)
    yield timed(
        f"BCa interval of F1, n = {n:,}, B = {replicates:,}",
        f"none: scipy's jackknife asks for n x n cells ({n * n / 2**30:,.3g} GiB)",
        best_of(lambda: bca_of_f1(large, replicates)),
        None,
    )


def _confidenceinterval(work: str, ours: Timed, true: Array, said: Array, replicates: int) -> Iterator[Row]:
    try:
        package = importlib.import_module("confidenceinterval")
    except ImportError:
        return

    def by_package() -> None:
        package.f1_score(
            true.tolist(),
            said.tolist(),
            average="binary",
            method="bootstrap_bca",
            n_resamples=replicates,
            random_state=np.random.RandomState(1),
        )

    yield timed(work, "confidenceinterval 1.0.5, bootstrap_bca", ours, best_of(by_package, 1))


def one_model(n: int) -> Predictions:
    """Return a test set with the first model's labels alone."""
    every = binary_models(n)
    return replace(every, models=(ModelOutputs("model0", y_pred=every.models[0].y_pred),))


def bca_of_f1(predictions: Predictions, replicates: int) -> None:
    """Compute our interval from the arrays on."""
    quantity = Quantity("f1")
    sample = estimate_all(
        predictions, [quantity], units=sampling_by(predictions.n), n_resamples=replicates, seed=0
    )
    found = limits(sample.estimates["model0", quantity], "bootstrap_bca", 0.95)
    assert found.low is not None


def f1_along(true: Array, said: Array, axis: int) -> npt.NDArray[np.float64]:
    """F1 along an axis, vectorised."""
    both = (true & said).sum(axis)
    return np.asarray(2 * both / (true.sum(axis) + said.sum(axis)))
