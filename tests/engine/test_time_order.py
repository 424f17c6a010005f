"""Variances of series in time: cosine sums term by term, by hand; and blocks of neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalreport.engine.draws import bootstrap_moving_blocks
from evalreport.engine.time_order import block_length, cosine_sums, cosines_of, truncated_variance

SERIES = np.random.default_rng(6).normal(size=137).cumsum()
DERIVATIVE = (SERIES - SERIES.mean()) / len(SERIES)


def test_cosine_sums_are_those_of_the_formula() -> None:
    """V = (1/B) sum L_j^2 / n, L_j = sqrt(2/n) sum_t z_t cos(pi j (t - 1/2) / n), z the influence values."""
    n, z = len(SERIES), SERIES - SERIES.mean()
    b = cosines_of(n)
    assert b == max(4, round(0.41 * n ** (2 / 3)))
    expected = 0.0
    for j in range(1, b + 1):
        of_frequency = sum(z[t - 1] * math.cos(math.pi * j * (t - 0.5) / n) for t in range(1, n + 1))
        expected += (math.sqrt(2 / n) * of_frequency) ** 2 / n / b
    found = cosine_sums(DERIVATIVE)
    assert len(found) == b
    assert float((found**2).sum()) == pytest.approx(expected, rel=1e-12)


def test_truncated_variance_by_hand() -> None:
    """0, 1, 2, 1, -1, -3 over 6: squares 16, neighbours 0 + 2 + 2 - 1 + 3 = 6, so (16 + 2 x 6) / 36."""
    derivative = np.array([0.0, 1.0, 2.0, 1.0, -1.0, -3.0]) / 6
    assert truncated_variance(derivative, 0) == pytest.approx(16 / 36, rel=1e-15)
    assert truncated_variance(derivative, 1) == pytest.approx(28 / 36, rel=1e-15)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_do_not_matter(unit: float) -> None:
    """In other units every variance is that times their square."""
    for variance in (lambda d: (cosine_sums(d) ** 2).sum(), lambda d: truncated_variance(d, 4)):
        assert variance(unit * DERIVATIVE) == pytest.approx(unit**2 * variance(DERIVATIVE), rel=1e-12)


def test_blocks_are_runs_of_neighbours_in_time() -> None:
    """Each sample holds n rows, as ceil(n / length) runs; the last one is cut."""
    order = np.random.default_rng(0).permutation(50)
    (weights,) = bootstrap_moving_blocks(order, 12, 200, seed=1)
    assert (weights.sum(axis=1) == 50).all()
    in_time = weights[:, order]
    begun = np.maximum(np.diff(in_time, axis=1, prepend=0), 0).sum(axis=1)
    assert begun.max() <= 5
    assert (weights == next(bootstrap_moving_blocks(order, 12, 200, seed=1))).all()


def test_blocks_of_one_are_single_rows() -> None:
    """A length of 1 draws rows one by one, each as likely as any other."""
    (weights,) = bootstrap_moving_blocks(np.arange(20), 1, 3000, seed=2)
    assert weights.mean(axis=0) == pytest.approx(np.ones(20), abs=0.08)
    assert block_length(1) == 1
