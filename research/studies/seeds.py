"""How often the same algorithm, trained with S seeds twice, is told apart from itself, measured through the public API.

n = 500 examples with chances of their own (Beta(3.2, 0.8): mean 0.8); training moves the accuracy by a normal with
standard deviation 0.02 to 0.05, and each answer is right by its chance. Both models are drawn alike, so that nothing
is to be found and the true difference is 0. Seeds are named alike (paired) or not; a second algorithm of the same mean
but with chances of its own on each example is the harder case.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er

N, BETA, ALPHA = 500, (3.2, 0.8), 0.05
Setting = tuple[str, int, bool, float]
CELLS: tuple[Setting, ...] = (
    *(("same", seeds, paired, 0.03) for seeds in (2, 3, 5) for paired in (True, False)),
    *(("same", seeds, True, 0.02) for seeds in (3, 5)),
    *(("another", seeds, True, 0.05) for seeds in (2, 3, 5)),
)
"""(second model: the same algorithm or another one of the same mean, seeds of each, whether paired, sd of training)."""

TESTS = ("seeds_t", "bootstrap_difference")
SIZE = 50


def draw(generator: np.random.Generator, who: str, seeds: int, paired: bool, sd: float) -> dict[str, Any]:
    """Draw both models' outcomes as a user would write them."""
    ids = [f"{i:03d}" for i in range(N) for _ in range(seeds)]
    chances = generator.beta(*BETA, N)
    source = {}
    for place, model in enumerate("ab"):
        own = generator.beta(*BETA, N) if place and who == "another" else chances
        moved = np.clip(own[:, None] + generator.normal(0, sd, seeds), 0, 1)
        right: npt.NDArray[np.bool_] = generator.random((N, seeds)) < moved
        first = 0 if paired else place * seeds
        source[model] = {
            "id": ids,
            "seed": [first + k for _ in range(N) for k in range(seeds)],
            "outcome": right.ravel().astype(int).tolist(),
        }
    return source


def rejections(cell: Setting, numbers: range, seed: int) -> dict[str, int]:
    """Count rejections at 0.05 by test, and how often the leading interval holds the true difference 0."""
    name = "/".join(map(str, cell))
    found = dict.fromkeys((*TESTS, "covered", "better"), 0)
    for number in numbers:
        generator = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        results = er.evaluate(
            draw(generator, *cell), task="outcome", metrics=["mean_outcome"], intervals=["seeds_t"], tests=list(TESTS),
            resamples=399, seed=number,
        )  # fmt: skip
        for row in results.comparisons:
            if row.test is not None:
                found[row.test] += row.p_value is not None and row.p_value <= ALPHA
            if row.test == "seeds_t" and row.low is not None and row.high is not None:
                found["covered"] += row.low <= 0 <= row.high
        found["better"] += results.verdicts[0].verdict in ("better", "worse")
    return found


def measure(
    *, replications: int, seed: int, jobs: int, cells: Sequence[Setting] = CELLS
) -> list[dict[str, Any]]:
    """Return a row a cell: rates of rejection, of a verdict for one of the models, and the coverage."""
    tasks = [
        (cell, range(start, min(start + SIZE, replications)))
        for cell in cells
        for start in range(0, replications, SIZE)
    ]
    totals = {cell: dict.fromkeys((*TESTS, "covered", "better"), 0) for cell in cells}
    with ProcessPoolExecutor(jobs) as pool:
        futures = [(cell, pool.submit(rejections, cell, numbers, seed)) for cell, numbers in tasks]
        for cell, future in futures:
            for key, count in future.result().items():
                totals[cell][key] += count
    return [
        {
            "second": who,
            "seeds": seeds,
            "paired": paired,
            "sd": sd,
            **{key: count / replications for key, count in totals[who, seeds, paired, sd].items()},
        }
        for who, seeds, paired, sd in cells
    ]
