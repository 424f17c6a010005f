"""Sums and logarithms are the same to the last bit on every processor and beside every other column."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from evalreport.engine import distributions
from evalreport.engine.distributions import Pieces

COLUMNS = {
    "ordinary": lambda random: random.normal(size=9000),
    "one far out": lambda random: np.append(random.normal(size=8999), 1e12),
    "large": lambda random: 1e300 * random.normal(size=9000),
    "tiny": lambda random: 1e-310 * random.normal(size=9000),
    "of many sizes": lambda random: np.exp(20 * random.normal(size=9000)),
    "whole": lambda random: random.integers(0, 2, 9000).astype(np.float64),
    "zero": lambda _: np.zeros(9000),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_sums_under_multiplicities_are_those_of_fractions(kind: str) -> None:
    """Sums under whole multiplicities are the exact ones, rounded, to one unit in the last place of the terms' mean."""
    random = np.random.default_rng(1)
    column = COLUMNS[kind](random)
    drawn = random.poisson(1, size=(3, len(column))).astype(np.float64)
    found = distributions.piece_sums([Pieces.of(column)], drawn)[:, 0]
    for row, value in zip(drawn, found, strict=True):
        exact = sum(int(m) * Fraction(x) for m, x in zip(row, column.tolist(), strict=True))
        # What is left out of each term is at most 2^-52 of the terms' mean size.
        allowed = float(np.abs(column).mean()) * 2.0**-52 * len(column) + abs(float(exact)) * 2.0**-52
        assert abs(Fraction(float(value)) - exact) <= allowed


def test_sums_do_not_depend_on_the_columns_beside_them() -> None:
    """A column's sums are the same bits alone, among others of any number, and in any place among them."""
    random = np.random.default_rng(2)
    every = [Pieces.of(make(random)) for make in COLUMNS.values()]
    drawn = random.poisson(1, size=(17, 9000)).astype(np.float64)
    together = distributions.piece_sums(every * 3, drawn)
    for place, column in enumerate(every):
        alone = distributions.piece_sums([column], drawn)[:, 0]
        for copy in range(3):
            np.testing.assert_array_equal(together[:, place + copy * len(every)], alone)
        np.testing.assert_array_equal(distributions.piece_sums([column], drawn[:1])[:, 0], alone[:1])


def test_sums_do_not_depend_on_the_order_of_rows() -> None:
    """Exact sums have no order: rows in another order give the same bits."""
    random = np.random.default_rng(3)
    column, drawn = random.normal(size=20_000), random.poisson(1, size=(5, 20_000)).astype(np.float64)
    order = random.permutation(20_000)
    first = distributions.piece_sums([Pieces.of(column)], drawn)
    second = distributions.piece_sums([Pieces.of(column[order])], drawn[:, order])
    np.testing.assert_array_equal(first, second)


def test_products_and_totals_agree_with_their_definition() -> None:
    """The other sums are numpy's products of matrices up to rounding, dense and sparse alike."""
    random = np.random.default_rng(4)
    table, weights = random.normal(size=(300, 4)), random.random((6, 300))
    drawn = random.poisson(1, size=(6, 300)).astype(np.float64)
    slopes = np.array([1.0, 0.0, -2.5, 1e-3])
    np.testing.assert_allclose(
        distributions.whole_product(drawn, table), drawn @ table, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        distributions.weighted_sums(weights, table[:, 0]), weights @ table[:, 0], rtol=1e-12
    )
    assert distributions.dot(table[:, 0], table[:, 1]) == pytest.approx(float(table[:, 0] @ table[:, 1]))
    for columns in (tuple(table.T), sparse.csr_array(table)):
        np.testing.assert_allclose(
            distributions.column_totals(weights[0], columns), weights[0] @ table, rtol=1e-11
        )
        np.testing.assert_allclose(distributions.column_totals(None, columns), table.sum(axis=0), rtol=1e-11)
        np.testing.assert_allclose(
            distributions.combined(columns, slopes), table @ slopes, rtol=1e-11, atol=1e-12
        )


def test_functions_are_those_of_the_c_library() -> None:
    """Logarithms and exponentials are Python's own to the last bit, which come from the C library."""
    x = np.random.default_rng(5).lognormal(0, 5, size=2000)
    assert distributions.log(x).tolist() == [math.log(value) for value in x]
    y = np.log(x)
    assert distributions.exp(y).tolist() == [math.exp(value) for value in y]
    assert distributions.log1p(x) == pytest.approx([math.log1p(value) for value in x], rel=1e-15)
    assert distributions.log(np.zeros(1))[0] == -math.inf
