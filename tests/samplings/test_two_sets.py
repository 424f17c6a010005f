"""Two test sets of their own: variances add, and what is drawn is said of both."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.samplings.sampling import StudentError
from evalreport.samplings.two_sets import _welch


def test_welch_s_degrees_of_freedom_are_the_formula() -> None:
    """(a + b)^2 / (a^2 / m + b^2 / n), with a and b the squared errors."""
    error = _welch(StudentError(0.3, 9), StudentError(0.4, 19))
    assert error is not None
    assert error.error == pytest.approx(0.5)
    assert error.df == pytest.approx(0.25**2 / (0.09**2 / 9 + 0.16**2 / 19))


def test_a_side_without_an_error_leaves_none() -> None:
    """And two sides without spread have the fewer degrees of freedom."""
    assert _welch(None, StudentError(0.4, 19)) is None
    assert _welch(StudentError(0.0, 9), StudentError(0.0, 19)) == StudentError(0.0, 9)


def test_the_error_of_a_difference_is_the_root_of_both() -> None:
    """Losses of 40 and of 90 rows: the standard error of the difference of means, by numpy."""
    rng = np.random.default_rng(3)
    loss = {"a": rng.normal(1, 1, 40), "b": rng.normal(1.5, 2, 90)}
    frames = {name: {"id": [f"{name}{k}" for k in range(len(x))], "outcome": x} for name, x in loss.items()}
    results = er.evaluate(frames, join="independent", resamples=20, lower_is_better=True)
    (pair,) = [c for c in results.comparisons if c.recommended and c.a in ("a", "b")][:1]
    wanted = abs(loss["a"].mean() - loss["b"].mean())
    assert abs(pair.difference or 0.0) == pytest.approx(wanted, rel=1e-9)
