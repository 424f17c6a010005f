"""The default run in every shape of data: beside a loop of scikit-learn's metrics, and how its cost grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evalreport.options import Options
from evalreport.predictions.table import Column, Labels, ModelOutputs, Predictions
from research.benchmarks.data import binary_models, labels, loop, probabilities, regressions, run, truth
from research.benchmarks.timing import Row, Timed, best_of, in_turn, scaled, seconds, timed

RESAMPLES = 2_000
MEASURED = 5
"""Replicates of the loop that are timed."""
MOST_EXPONENT = 1.15
MOST_OF_A_COLUMN = 50
"""Slices of one column that a report shows apart."""


def classes(n: int, k: int, *, count: int, seed: int = 0, with_probabilities: bool = False) -> Predictions:
    """Return n examples of k classes, the first ones more frequent, and models that are right in seven of ten."""
    random = np.random.default_rng(seed)
    share = 1 / (np.arange(k) + 5.0)
    true = random.choice(k, size=n, p=share / share.sum()).astype(np.int32)
    models = []
    for j in range(count):
        proba = None
        if with_probabilities:
            logits = random.normal(size=(n, k))
            logits[np.arange(n), true] += 1.6 + 0.1 * j
            proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            said = proba.argmax(axis=1)
        else:
            said = np.where(random.random(n) < 0.7 + 0.02 * j, true, random.integers(0, k, n))
        models.append(ModelOutputs(f"model{j:02}", y_pred=said.astype(np.int32), proba=proba))
    return Predictions(
        task="multiclass",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=true,
        models=tuple(models),
        labels=Labels(classes=tuple(f"class {c:04}" for c in range(k))),
    )


def sliced(n: int, *values: int, count: int = 3) -> Predictions:
    """Return binary models with one column of so many values for each number."""
    random = np.random.default_rng(1)
    metadata = {
        f"column{j}": Column(
            random.integers(0, v, n).astype(np.int32), tuple(f"value {i:03}" for i in range(v))
        )
        for j, v in enumerate(values)
    }
    return replace(binary_models(n, count=count), metadata=metadata)


def beside_scikit_learn(*, quick: bool) -> Iterator[Row]:
    """Time the default run of each shape beside a loop of what a user would write with scikit-learn."""
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    part, losses = 20 if quick else 1, (mean_absolute_error, root_mean_squared_error, r2_score)
    shapes: list[tuple[str, Predictions, Options]] = [
        ("3 binary models x 20,000, slices of 8, 5 and 4 values", sliced(20_000 // part, 8, 5, 4),
         Options(slices=("column0", "column1", "column2"))),
        ("20 binary models x 5,000", binary_models(5_000 // part, count=20), Options()),
        ("3 models x 20,000, 10 classes with probabilities",
         classes(20_000 // part, 10, count=3, with_probabilities=True), Options()),
        ("3 models x 5,000, 50 classes", classes(5_000 // part, 50, count=3), Options()),
        ("2 models x 4,000, 200 classes", classes(4_000 // part, 200, count=2), Options()),
        ("2 models x 4,000, 1,000 classes", classes(4_000 // part, 1_000 // part, count=2), Options()),
        ("3 binary models x 1,000,000", binary_models(1_000_000 // part, count=3), Options()),
    ]  # fmt: skip
    for work, predictions, options in shapes:
        yield _row(work, partial(run, predictions, options), _loop(predictions))
    for n in (20_000, 200_000):
        with TemporaryDirectory() as folder:
            true, said = regressions(n // part, Path(folder))
            work = f"3 regressions x {n:,}, from CSV files"
            yield _row(work, partial(run, Path(folder)), loop(true, (said, losses)))


def _row(work: str, ours_of: Callable[[], object], replicate: Callable[[], None]) -> Row:
    ours, theirs = in_turn(
        lambda: best_of(ours_of, 1), lambda: scaled(replicate, MEASURED, RESAMPLES), rounds=2
    )
    return timed(f"default run: {work}", "scikit-learn resampling loop", ours, theirs)


def _loop(predictions: Predictions) -> Callable[[], None]:
    """Return one replicate: accuracy and macro F1 of each model, with probabilities log loss and ROC AUC."""
    from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score

    codes = np.arange(len(predictions.classes))
    of_labels = (accuracy_score, partial(f1_score, average="macro", zero_division=0))
    of_scores = partial(log_loss, labels=codes), partial(roc_auc_score, multi_class="ovr", labels=codes)
    if predictions.task == "binary":
        scores, of_scores = probabilities(predictions), (of_scores[0], roc_auc_score)
    else:
        scores = [np.asarray(m.proba) for m in predictions.models if m.proba is not None]
    return loop(truth(predictions), (labels(predictions), of_labels), (scores, of_scores))


def exponents(*, quick: bool) -> Iterator[Row]:
    """Measure how the cost grows with the classes, the models (pairs apart), the rows and the slices."""
    small = 10 if quick else 1
    to_one = Options(baseline="model00", metrics=("accuracy", "f1_macro"))
    yield _exponent(
        "classes",
        [k // small for k in (10, 100, 1_000)],
        lambda k: (classes(20_000 // small, k, count=1), Options()),
    )
    yield _exponent(
        "models, each against a baseline",
        [max(k // small, 2) for k in (2, 20, 200)],
        lambda k: (classes(2_000, 3, count=k), to_one),
    )
    yield _exponent(
        "rows",
        [n // small for n in (20_000, 200_000, 2_000_000)],
        lambda n: (binary_models(n, count=1), Options()),
    )
    n = 10_000 // small
    yield _exponent(
        "slices",
        [2, 20, 200],
        lambda v: (_in_columns(n, v), Options(slices=tuple(_in_columns(n, v).metadata))),
    )


def _in_columns(n: int, slices: int) -> Predictions:
    """Return one binary model whose rows are divided into so many slices, at most 50 a column."""
    columns = -(-slices // MOST_OF_A_COLUMN)
    return sliced(n, *[slices // columns] * columns, count=1)


def _exponent(name: str, sizes: list[int], of_size: Callable[[int], tuple[Predictions, Options]]) -> Row:
    times: list[tuple[int, Timed]] = []
    for size in dict.fromkeys(sizes):
        predictions, options = of_size(size)
        times.append((size, best_of(partial(run, predictions, options), 1)))
    (first, shortest), (last, longest) = times[0], times[-1]
    power = math.log(longest.seconds / shortest.seconds) / math.log(last / first)
    taken = "; ".join(f"{size:,}: {seconds(of_size.seconds)}" for size, of_size in times)
    return Row(
        f"cost of a default run against the number of {name}: {taken}", "", f"power {power:.2f}",
        goal=f"≤ {MOST_EXPONENT}", met=power <= MOST_EXPONENT,
    )  # fmt: skip
