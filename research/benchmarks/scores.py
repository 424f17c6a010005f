"""Rank metrics and probability losses of five models; DeLong's test of two."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from evalreport.intervals import limits
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import Predictions
from evalreport.samplings import sampling_by
from research.benchmarks.data import binary_models, loop, probabilities, truth
from research.benchmarks.labels import all_intervals
from research.benchmarks.timing import Row, Timed, best_of, in_turn, scaled, timed

METRICS = tuple(Quantity(name) for name in ("roc_auc", "average_precision", "log_loss", "brier"))


def resampling(*, quick: bool) -> Iterator[Row]:
    """AUC, average precision, log loss and Brier score of five models, sorting included."""
    from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

    n, replicates = (20_000, 64) if quick else (1_000_000, 1024)
    predictions = binary_models(n)
    metrics = (roc_auc_score, average_precision_score, log_loss, brier_score_loss)
    replicate = loop(truth(predictions), (probabilities(predictions), metrics))
    ours, theirs = in_turn(
        lambda: best_of(lambda: all_intervals(predictions, METRICS, replicates), 1),
        lambda: scaled(replicate, 2, replicates),
    )
    yield timed(
        f"AUC + AP + log loss + Brier and all paired differences, 5 models, n = {n:,}, B = {replicates:,}",
        "scikit-learn resampling loop",
        ours,
        theirs,
        least_ratio=1000,
        remark="sorting included",
    )


def delong(*, quick: bool) -> Iterator[Row]:
    """DeLong's test of two models from the arrays on."""
    n = 20_000 if quick else 1_000_000
    every = binary_models(n)
    two = replace(every, models=every.models[:2])
    true, (a, b) = truth(two), probabilities(two)
    ours: Callable[[], Timed] = lambda: best_of(lambda: our_delong(two), 2)  # noqa: E731
    try:
        package = importlib.import_module("MLstatkit")
    except ImportError:
        yield timed(f"DeLong test, n = {n:,}", "MLstatkit is not installed", ours(), None, least_ratio=30)
        return
    mine, theirs = in_turn(ours, lambda: best_of(lambda: package.Delong_test(true, a, b), 1))
    yield timed(f"DeLong test, n = {n:,}", "MLstatkit 0.1.91", mine, theirs, least_ratio=30)


def our_delong(predictions: Predictions) -> None:
    """Test the difference of two areas; no bootstrap is drawn."""
    from evalreport.comparisons.registry import TESTS, Pair

    quantity = Quantity("roc_auc")
    sample = estimate_all(predictions, [quantity], units=sampling_by(predictions.n), n_resamples=0, seed=0)
    a, b = (sample.estimates[model.name, quantity] for model in predictions.models)
    pair = Pair(a=a, b=b, difference=paired_difference(a, b))
    assert TESTS["delong"].function(pair).p_value is not None
    assert limits(pair.difference, "delong", 0.95).low is not None
