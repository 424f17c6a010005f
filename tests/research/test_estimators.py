"""The committed study of estimators: what the report says of it is in it."""

from __future__ import annotations

from typing import Any

from research.studies import tables


def rows(*names: str) -> list[dict[str, Any]]:
    """Return the rows of some estimators, figures as numbers."""
    return [
        {**row, **{name: float(row[name] or "nan") for name in ("bias", "bias_error", "coverage")}}
        for row in tables.read(tables.DOCS / "estimators.csv")
        if row["estimator"] in names
    ]


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
    assert all(r["bias"] < -2 * r["bias_error"] for r in rows("resubstitution") if r["n"] == "100")
    assert all(r["bias"] > -2 * r["bias_error"] for r in rows("bootstrap_oob"))
