"""The committed study of estimators: its page is its table's, and what the report says of it is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from research.studies.estimators import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def study() -> dict[str, Any]:
    """Return the committed table."""
    found: dict[str, Any] = json.loads((DOCS / "estimators.json").read_text(encoding="utf-8"))
    return found


def rows(*names: str) -> list[dict[str, Any]]:
    """Return the rows of some estimators."""
    return [r for r in study()["rows"] if r["estimator"] in names]


def test_the_page_is_the_tables() -> None:
    """Nobody has written a number by hand."""
    assert (DOCS / "estimators.md").read_text(encoding="utf-8") == page(study()["rows"], study()["seed"])


def test_limits_of_interpolating_fits_are_withheld_for_a_reason() -> None:
    """B1 and .632 of 1-NN and trees held the truth in next to no data set; .632+ in far fewer than 95 %."""
    interpolating = [
        r for r in rows("bootstrap_optimism", "bootstrap_632") if r["learner"] in ("1-NN", "tree")
    ]
    assert len(interpolating) == 16
    assert max(r["coverage"] for r in interpolating) < 0.05
    plus = [r for r in rows("bootstrap_632plus") if r["learner"] in ("1-NN", "tree")]
    assert max(r["coverage"] for r in plus) < 0.7


def test_signs_of_the_biases() -> None:
    """Resubstitution is too low at 100 examples; out-of-bag errors are not too low beyond two Monte Carlo errors."""
    assert all(r["bias"] < -2 * r["bias_error"] for r in rows("resubstitution") if r["n"] == 100)
    assert all(r["bias"] > -2 * r["bias_error"] for r in rows("bootstrap_oob"))
