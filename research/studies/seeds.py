"""How often the same algorithm, trained with S seeds twice, is told apart from itself, measured through the public API.

n = 500 examples with chances of their own (Beta(3.2, 0.8): mean 0.8); training moves the accuracy by a normal with
standard deviation 0.02 to 0.05, and each answer is right by its chance. Both models are drawn alike, so that nothing
is to be found and the true difference is 0. Seeds are named alike (paired) or not; a second algorithm of the same mean
but with chances of its own on each example is the harder case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er
from evalreport.intervals import limits
from evalreport.loading.load import load
from evalreport.metrics.difference import paired_difference
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from research.studies.harness import Cell, Result, Study, named
from research.studies.judgement import Line, at_most

N, BETA, ALPHA = 500, (3.2, 0.8), 0.05
MEAN = Quantity("mean_outcome")


@dataclass(frozen=True)
class Trained(Cell):
    """The second model (``same`` algorithm or ``another`` of the same mean), seeds of each, and the sd of training."""

    second: str
    seeds: int
    paired: bool
    sd: float


def of(second: str, seeds: int, paired: bool, sd: float) -> Trained:
    """Return a cell with its name."""
    who = "the same algorithm" if second == "same" else "an equally good one"
    name = f"{who}, {seeds} seeds named {'alike' if paired else 'unlike'}"
    stream = named(second, seeds, paired, sd)
    return Trained(f"{name}, sd {sd:g}", second, seeds, paired, sd, stream=stream)


CELLS = (
    *(of("same", seeds, paired, 0.03) for seeds in (2, 3, 5) for paired in (True, False)),
    *(of("same", seeds, True, 0.02) for seeds in (3, 5)),
    *(of("another", seeds, True, 0.05) for seeds in (2, 3, 5)),
)
TESTS = ("seeds_t", "bootstrap_difference")


def draw(generator: np.random.Generator, cell: Trained) -> dict[str, Any]:
    """Draw both models' outcomes as a user would write them."""
    ids = [f"{i:03d}" for i in range(N) for _ in range(cell.seeds)]
    chances = generator.beta(*BETA, N)
    source = {}
    for place, model in enumerate("ab"):
        mean = generator.beta(*BETA, N) if place and cell.second == "another" else chances
        moved = np.clip(mean[:, None] + generator.normal(0, cell.sd, cell.seeds), 0, 1)
        right: npt.NDArray[np.bool_] = generator.random((N, cell.seeds)) < moved
        first = 0 if cell.paired else place * cell.seeds
        source[model] = {
            "id": ids,
            "seed": [first + k for _ in range(N) for k in range(cell.seeds)],
            "outcome": right.ravel().astype(int).tolist(),
        }
    return source


def counted(cell: Trained, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say which tests reject, whether the leading interval holds the true difference 0, and whether one is better."""
    results = er.evaluate(
        draw(generator, cell), task="outcome", metrics=["mean_outcome"], intervals=["seeds_t"], tests=list(TESTS),
        resamples=399, seed=number,
    )  # fmt: skip
    rows = {row.test: row for row in results.comparisons if row.test is not None}
    low, high = rows["seeds_t"].low, rows["seeds_t"].high
    return {
        **{test: (p := rows[test].p_value) is not None and p <= ALPHA for test in TESTS if test in rows},
        "covered": low is not None and high is not None and low <= 0 <= high,
        "better": results.verdicts[0].verdict in ("better", "worse"),
    }


@cache
def template(cell: Trained) -> Predictions:
    """Return the table of a cell, whose outcomes are drawn anew."""
    return load(draw(np.random.default_rng(0), cell), options=Options(task="outcome"))


def decided(cell: Trained, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether ``seeds_t`` leaves 0 out, by the functions of a run: a tenth of the time of ``counted``."""
    del number
    table, source = template(cell), draw(generator, cell)
    models = []
    for model in table.models:
        assert model.outcome is not None
        outcome = np.zeros(len(model.outcome))
        outcome[slice(None) if model.present is None else model.present] = source[model.name]["outcome"]
        models.append(replace(model, outcome=outcome))
    sample = estimate_table(
        replace(table, models=tuple(models)), [MEAN], Options(task="outcome", resamples=1), seed=0
    )
    a, b = (sample.estimates[model.name, MEAN] for model in models)
    interval = limits(paired_difference(a, b), "seeds_t", 1 - ALPHA)
    assert interval.low is not None
    assert interval.high is not None
    return {"seeds_t": not interval.low <= 0 <= interval.high}


def promised(result: Result) -> Iterator[Line]:
    """Promise that the same algorithm trained twice is not told apart from itself."""
    name = result.cell.name.rpartition(", sd")[0]
    yield at_most(f"{name}: decided", result["seeds_t"], 0.065, result.data_sets)


STUDY = Study(
    "Training seeds",
    tuple(
        cell for cell in CELLS
        if (cell.second, cell.seeds, cell.paired, cell.sd) in (
            ("same", 3, True, 0.03), ("same", 5, True, 0.03), ("same", 5, False, 0.03),
            ("another", 5, True, 0.05), ("another", 3, True, 0.05),
        )
    ),
    decided, promised,
)  # fmt: skip
