"""Traps N, O: tests of algorithms asked of predictions that cannot carry them."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalreport
from tests.samples.traps import evaluate, paired_counts


@pytest.mark.parametrize("test", ["5x2cv_t", "5x2cv_f", "corrected_resampled_t"])
def test_o_replicates_that_are_not_there(test: str) -> None:
    """O: a test of algorithms asked of one prediction file is refused in its row, never made of what is there."""
    found = evaluate(paired_counts(80, 6, 5, 9), tests=(test,))
    (row,) = [c for c in found.comparisons if c.test == test and c.metric == "accuracy" and c.label is None]
    assert (row.p_value, row.statistic, row.recommended) == (None, None, False)
    assert str(row.reason).startswith("refused: ")


def test_n_no_naive_test_on_folds(tmp_path: Path) -> None:
    """N: on ten folds the corrected resampled t test leads; a test that takes folds as independent never does."""
    lines = ["id,model,fold,y_true,y_pred"]
    lines += [
        f"e{i:03d},{m},{i % 10},{i % 2},{(i // k) % 2}" for m, k in (("a", 2), ("b", 3)) for i in range(100)
    ]
    path = tmp_path / "folds.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = evalreport.evaluate(path, resamples=200, metrics=["accuracy"])
    assert [c.test for c in found.comparisons if c.recommended] == ["corrected_resampled_t"]
    assert all(c.caution for c in found.comparisons if c.test in {"wilcoxon", "cv_paired_t", "mcnemar_midp"})


def test_five_unequal_halves_are_not_5x2cv() -> None:
    """N: five repeats of folds of 270 and 30 examples are no two-fold cross-validation."""
    rows = [(i, r) for r in range(5) for i in range(300)]
    columns = {
        "id": [str(i) for i, _ in rows],
        "repeat": [r for _, r in rows],
        "y_true": [i % 2 for i, _ in rows],
    }
    columns["fold"] = [int((i + 60 * r) % 300 < 30) for i, r in rows]
    said = {m: [(i // k) % 2 for i, _ in rows] for m, k in (("a", 2), ("b", 3))}
    found = evalreport.evaluate({m: {**columns, "y_pred": y} for m, y in said.items()}, resamples=50)
    assert found.design != "5x2cv"
