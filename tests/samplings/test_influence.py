"""Influence values: powers of the derivatives, errors, and other units."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.samplings.influence import Fits, Influence

D = np.array([0.5, -2.0, 1.0])
COUNTS = np.array([3.0, 1.0, 2.0])


def test_the_error_is_the_root_of_the_sum_of_squares() -> None:
    """Each derivative as often as it has units; by a factor for all, or one each."""
    influence = Influence(D, COUNTS)
    assert influence.error(1.0) == pytest.approx(np.sqrt((COUNTS * D**2).sum()))
    factors = np.array([1.0, 0.0, 2.0])
    assert influence.error(factors) == pytest.approx(np.sqrt((factors * COUNTS * D**2).sum()))


def test_what_is_made_late_is_the_same() -> None:
    """A function in place of the values; distinct outcomes in place of units."""
    late = Influence(lambda: D, COUNTS, by_outcome=lambda: (D, COUNTS))
    assert late.error(1.0) == pytest.approx(Influence(D, COUNTS).error(1.0))
    assert late.powers == pytest.approx(Influence(D, COUNTS).powers)


def test_other_units_scale_every_derivative() -> None:
    """Also those by fit and by example."""
    influence = Influence(D, COUNTS, lambda: D[:, None], lambda: D)
    scaled = influence.scaled(1000)
    assert scaled.error(1.0) == pytest.approx(1000 * influence.error(1.0))
    assert scaled.by_fit is not None
    assert scaled.by_example is not None
    np.testing.assert_array_equal(scaled.by_fit(), 1000 * D[:, None])
    np.testing.assert_array_equal(scaled.by_example(), 1000 * D)


def test_folds_of_one_example_have_no_value_of_their_own() -> None:
    """Where the metric is undefined on one; the ratio of sizes is nan where files do not say."""
    some = np.arange(3)
    fits = Fits(np.full(3, np.nan), some, some, np.ones(3), np.full(3, np.nan))
    assert fits.of_one_example
    assert np.isnan(fits.test_train_ratio)
    assert Fits(D, some, some, np.full(3, 10.0), np.full(3, 90.0)).test_train_ratio == pytest.approx(1 / 9)
