"""The toy of docs/design.md runs and gives what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "design.md"


def test_the_toy_gives_values_an_interval_an_error_and_a_pair() -> None:
    """By hand: 6 and 4 of 8 are right; the error is sqrt(p (1 - p) / n); two of eight differ, always for the first."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - the page is ours
    assert (names["a"], names["b"]) == (0.75, 0.5)
    assert names["error"] == pytest.approx((0.75 * 0.25 / 8) ** 0.5, rel=1e-12)
    # Binomial(8, 3/4) / 8: 2.5 % lie at 3/8 (2.7 % at or below it), 97.5 % at 1 (10 % are at 1).
    assert (names["low"], names["high"]) == (3 / 8, 1.0)
    # Binomial(8, 1/4) / 8 has the mean 0.25; five Monte Carlo errors of 2,000 draws.
    assert names["pair"].mean() == pytest.approx(0.25, abs=5 * (0.25 * 0.75 / 8 / 2000) ** 0.5)
    assert names["pair"].min() == 0.0
    # Patients have 2, 1, 2 and 1 right answers: the mean of four draws of these over two has the variance 1 / 64.
    assert names["clustered"].mean() == pytest.approx(0.75, abs=5 * (1 / 64 / 2000) ** 0.5)
    assert names["clustered"].var() == pytest.approx(1 / 64, rel=0.2)
    assert set(names["clustered"] * 8) == {4, 5, 6, 7, 8}
