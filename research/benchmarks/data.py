"""Test sets for the benchmarks: binary models with labels, scores and probabilities, and regressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.analysis import evaluate
from evalreport.options import Options
from evalreport.predictions.table import Labels, ModelOutputs, Predictions
from evalreport.schema.results import to_json

N_MODELS = 5


def binary_models(n: int, *, seed: int = 0, count: int = N_MODELS) -> Predictions:
    """Return n examples, 30 % of them positive, and models whose scores share half their noise."""
    random = np.random.default_rng(seed)
    true = (random.random(n) < 0.3).astype(np.int32)
    shared = random.normal(size=n)
    models = []
    for j in range(count):
        score = (1.2 + 0.1 * j) * true + 0.7 * shared + 0.7 * random.normal(size=n)
        p = 1 / (1 + np.exp(-(1.5 * score - 2.0)))
        name, label = f"model{j}" if count < 10 else f"model{j:02}", (p >= 0.5).astype(np.int32)
        models.append(ModelOutputs(name, y_pred=label, score=p, proba=np.column_stack([1 - p, p])))
    return Predictions(
        task="binary",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=true,
        models=tuple(models),
        labels=Labels(classes=("0", "1"), positive="1"),
    )


def truth(predictions: Predictions) -> npt.NDArray[np.int32]:
    """Return the true labels."""
    assert predictions.y_true is not None
    return predictions.y_true


def labels(predictions: Predictions) -> list[npt.NDArray[np.int32]]:
    """Return the labels of each model."""
    return [np.asarray(model.y_pred) for model in predictions.models]


def probabilities(predictions: Predictions) -> list[npt.NDArray[np.float64]]:
    """Return the probability of the positive class of each model."""
    return [np.asarray(model.score) for model in predictions.models]


def regressions(
    n: int, folder: Path, *, count: int = 3
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float64]]]:
    """Write n true values and predictions with heavy-tailed errors as one CSV file a model; return both."""
    # Not where runs of arrays are timed: it starts a thread, which the program has only once it reads files.
    import pyarrow as pa
    from pyarrow import csv

    random = np.random.default_rng(0)
    true, shared = 3 * random.normal(size=n), random.normal(size=n)
    said = [true + 0.7 * shared + (1 - 0.02 * j) * random.standard_t(4, size=n) for j in range(count)]
    for j, values in enumerate(said):
        columns = pa.table({"id": np.arange(n), "y_true": true, "y_pred": values})
        csv.write_csv(columns, folder / f"model{j}.csv")
    return true, said


Scored = tuple[Sequence[npt.NDArray[Any]], Sequence[Callable[..., object]]]
"""Columns of the models, and what is computed of each beside the truth."""


def loop(true: npt.NDArray[Any], *scored: Scored) -> Callable[[], None]:
    """Return one replicate as a user would write it: draw rows, and score every column of every model on them."""
    random, n = np.random.default_rng(1), len(true)

    def replicate() -> None:
        rows = random.integers(0, n, n)
        drawn = true[rows]
        for columns, functions in scored:
            for column in columns:
                of_column = column[rows]
                for function in functions:
                    function(drawn, of_column)

    return replicate


def run(source: Predictions | Path, options: Options | None = None, *, jobs: int = 1) -> bytes:
    """Analyse as ``evalreport run`` does, to the bytes of results.json."""
    return to_json(evaluate(source, options=options or Options(), jobs=jobs))
