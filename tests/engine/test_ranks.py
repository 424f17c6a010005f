"""Sorting scores by whole numbers gives the order of the scores, equal ones by their row."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.engine.ranks import ascending, descending_order, group_weights, weighted_median

RNG = np.random.default_rng(1)

NEIGHBOURS = np.nextafter(1.0, 2) - 1

SCORES = {
    "normal": RNG.normal(size=5000),
    "ties": RNG.integers(-3, 3, size=5000) / 4,
    "differ in the last bits alone": 1 + NEIGHBOURS * RNG.integers(0, 4000, size=5000),
    "negative, in the last bits alone": -1 - NEIGHBOURS * RNG.integers(0, 4000, size=5000),
    "huge, tiny and infinite": np.concatenate(
        [RNG.normal(size=500) * 1e300, RNG.normal(size=500) * 5e-324, [np.inf, -np.inf, 0.0, -0.0]]
    ),
    "from 0 on, in the last bits": np.concatenate(
        [[0.0, -0.0, np.inf], 5e-324 * np.arange(40), 0.5 + NEIGHBOURS * RNG.integers(0, 400, size=40_000)]
    ),
    "a few near one another": np.append(RNG.normal(size=20_000), 3e4),
    "most near one another": np.append(RNG.normal(size=20_000), 1e8),
    "nearly all near one another": np.append(RNG.normal(size=20_000), 1e15),
    "six near one another": np.append(RNG.random(20_000), 0.3 + 1e-12 * np.arange(6)),
    "sixty near one another": np.append(RNG.random(20_000), 0.3 + 1e-12 * np.arange(60)),
    "probabilities near 0 and 1": 1 / (1 + np.exp(-25 * RNG.normal(size=20_000))),
    "one": np.array([0.5]),
    "none": np.array([]),
}


@pytest.mark.parametrize("case", SCORES)
def test_groups_are_the_distinct_scores(case: str) -> None:
    """Thresholds, groups and rows are those of np.unique, from the greatest score down."""
    score = SCORES[case]
    order = descending_order(score, score > 0)
    values, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(order.thresholds, values[::-1])
    np.testing.assert_array_equal(order.group, len(values) - 1 - inverse)
    np.testing.assert_array_equal(order.sizes, counts[::-1])
    np.testing.assert_array_equal(order.rows, np.lexsort((np.arange(len(score)), -score)))


@pytest.mark.parametrize("case", [case for case in SCORES if case != "none"])
def test_counts_are_weights_of_one(case: str) -> None:
    """The counts by group are those under weights of one."""
    score = np.tile(SCORES[case], 40) if case == "ties" else SCORES[case]
    order = descending_order(score, RNG.random(len(score)) < 0.3)
    for counted, weighed in zip(
        group_weights(None, order), group_weights(np.ones(len(score)), order), strict=True
    ):
        np.testing.assert_array_equal(counted, weighed)


SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_medians_equal_the_repeated_values(seed: int) -> None:
    """Under whole-number weights: numpy's median of the repeated values.

    One row of weights puts all mass on few values, far outside the window that bootstrap weights stay in.
    """
    random = np.random.default_rng(seed)
    values = np.round(random.normal(size=400), 1)
    weights = random.multinomial(400, np.full(400, 1 / 400), size=30).astype(float)
    weights[0] = 0
    weights[0, :3] = 5, 2, 7
    table = ascending(values)
    copies = [np.repeat(values, w.astype(int)) for w in weights]
    assert weighted_median(table, weights) == pytest.approx([np.median(c) for c in copies], abs=1e-14)
