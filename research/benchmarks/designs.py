"""The default run of tasks, attempts, folds and bootstrap replicates, beside a loop of scikit-learn's metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from evalreport.options import Options
from research.benchmarks.data import loop, run
from research.benchmarks.timing import Row, best_of, in_turn, scaled, timed

Array = npt.NDArray[np.float64]
Table = Mapping[str, Array]
"""A model's columns by name."""

RESAMPLES = 2_000
MEASURED = 10
"""Replicates of the loop that are timed."""


def suite(random: np.random.Generator, part: int) -> list[Table]:
    """Return 5 models on 30 tasks of 200 questions, right or wrong."""
    questions = 200 // part
    hard = random.normal(size=(30, questions))
    return [
        {
            "id": np.tile(np.arange(questions), 30),
            "task": np.repeat(np.arange(30), questions),
            "outcome": (hard + 0.7 * random.normal(size=hard.shape) < 0.3 + 0.05 * j).ravel().astype(float),
        }
        for j in range(5)
    ]


def attempts(random: np.random.Generator, part: int) -> list[Table]:
    """Return 2 models on 500 questions in groups of five, ten attempts each."""
    questions = 500 // part
    hard = random.normal(size=questions)
    return [
        {
            "id": np.repeat(np.arange(questions), 10),
            "attempt": np.tile(np.arange(10), questions),
            "group": np.repeat(np.arange(questions) // 5, 10),
            "outcome": (hard[:, None] + random.normal(size=(questions, 10)) < 0.3 + 0.1 * j)
            .ravel()
            .astype(float),
        }
        for j in range(2)
    ]


def folds(random: np.random.Generator, part: int) -> list[Table]:
    """Return 3 algorithms under ten times 10-fold cross-validation of 2,000 examples."""
    n = 2_000 // part
    true = (random.random(n) < 0.4).astype(float)
    parts = np.concatenate([random.permutation(n) % 10 for _ in range(10)])
    given = {"id": np.tile(np.arange(n), 10), "repeat": np.repeat(np.arange(10), n), "fold": parts}
    return [{**given, **_predicted(np.tile(true, 10), random, j)} for j in range(3)]


def replicates(random: np.random.Generator, part: int) -> list[Table]:
    """Return 3 algorithms trained on 50 bootstrap samples of 2,000 examples each."""
    n = 2_000 // part
    true = (random.random(n) < 0.4).astype(float)
    drawn = np.concatenate([random.multinomial(n, np.full(n, 1 / n)) for _ in range(50)])
    given = {"id": np.tile(np.arange(n), 50), "replicate": np.repeat(np.arange(50), n), "inbag": drawn}
    return [{**given, **_predicted(np.tile(true, 50), random, j)} for j in range(3)]


def _predicted(true: Array, random: np.random.Generator, j: int) -> Table:
    p = 1 / (1 + np.exp(-2.6 * (true - 0.5) - (1 + 0.05 * j) * random.normal(size=len(true))))
    return {"y_true": true, "y_prob": p, "y_pred": (p > 0.5).astype(float)}


Made = Callable[[np.random.Generator, int], list[Table]]

DESIGNS: tuple[tuple[str, Made, Options], ...] = (
    ("5 models x 30 tasks x 200 questions", suite, Options()),
    ("2 models x 500 questions x 10 attempts, clusters", attempts, Options(cluster="group")),
    ("3 algorithms, 10 x 10 folds, 2,000 rows", folds, Options()),
    ("3 algorithms, 50 bootstrap replicates of 2,000 rows", replicates, Options()),
)


def beside_scikit_learn(*, quick: bool) -> Iterator[Row]:
    """Time the default run of each design, from CSV files, beside a loop over all rows of its files."""
    for work, made, options in DESIGNS:
        tables = made(np.random.default_rng(1), 10 if quick else 1)
        with TemporaryDirectory() as folder:
            write_tables(tables, Path(folder))
            ours, theirs = in_turn(
                partial(best_of, partial(run, Path(folder), options), 1),
                partial(scaled, loop_of(tables), MEASURED, RESAMPLES),
                rounds=2,
            )
        yield timed(f"default run: {work}, from CSV files", "scikit-learn resampling loop", ours, theirs)


def write_tables(tables: list[Table], folder: Path) -> None:
    """Write a CSV file for each model."""
    import pyarrow as pa
    from pyarrow import csv

    folder.mkdir(exist_ok=True)
    for j, columns in enumerate(tables):
        whole = {
            name: values if name == "y_prob" else np.asarray(values, dtype=np.int64)
            for name, values in columns.items()
        }
        csv.write_csv(pa.table(whole), folder / f"model{j}.csv")


def loop_of(tables: list[Table]) -> Callable[[], None]:
    """Return one replicate of the loop: accuracy of outcomes; of classes macro F1, log loss and ROC AUC too."""
    from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score

    if "outcome" in tables[0]:
        outcomes = [columns["outcome"] for columns in tables]
        return loop(np.ones(len(outcomes[0])), (outcomes, (accuracy_score,)))
    said, p = ([columns[name] for columns in tables] for name in ("y_pred", "y_prob"))
    macro = partial(f1_score, average="macro", zero_division=0)
    return loop(tables[0]["y_true"], (said, (accuracy_score, macro)), (p, (log_loss, roc_auc_score)))
