"""Sums of columns, logarithms and exponentials are numpy's, dense and sparse alike, without its warnings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from evalreport.engine import distributions


def test_products_and_totals_agree_with_their_definition() -> None:
    """The other sums are numpy's products of matrices up to rounding, dense and sparse alike."""
    random = np.random.default_rng(4)
    table, weights = random.normal(size=(300, 4)), random.random((6, 300))
    slopes = np.array([1.0, 0.0, -2.5, 1e-3])
    assert distributions.dot(table[:, 0], table[:, 1]) == pytest.approx(float(table[:, 0] @ table[:, 1]))
    for columns in (tuple(table.T), sparse.csr_array(table)):
        np.testing.assert_allclose(
            distributions.column_totals(weights[0], columns), weights[0] @ table, rtol=1e-11
        )
        np.testing.assert_allclose(distributions.column_totals(None, columns), table.sum(axis=0), rtol=1e-11)
        np.testing.assert_allclose(
            distributions.combined(columns, slopes), table @ slopes, rtol=1e-11, atol=1e-12
        )


def test_logarithms_and_exponentials_warn_of_nothing() -> None:
    """0 and the largest numbers have infinite ones."""
    assert distributions.log(np.zeros(1))[0] == -math.inf
    assert distributions.log1p(np.full(1, -1.0))[0] == -math.inf
    assert distributions.exp(np.full(1, 1000.0))[0] == math.inf
