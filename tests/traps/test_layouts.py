"""Traps N, O: tests of algorithms asked of predictions that cannot carry them."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalreport
from evalreport.errors import UsageError

from .sources import evaluate, paired_counts


@pytest.mark.parametrize("test", ["5x2cv_t", "5x2cv_f", "corrected_resampled_t"])
def test_o_replicates_that_are_not_there(test: str) -> None:
    """O: a test of algorithms asked of one prediction file is refused; the message names the test."""
    with pytest.raises(UsageError, match=test):
        evaluate(paired_counts(80, 6, 5, 9), tests=(test,))


def test_n_no_naive_test_on_folds(tmp_path: Path) -> None:
    """N: predictions of ten folds are refused by name, never compared with the naive paired t test."""
    lines = ["id,model,fold,y_true,y_pred"]
    lines += [
        f"e{i:03d},{m},{i % 10},{i % 2},{(i // k) % 2}" for m, k in (("a", 2), ("b", 3)) for i in range(100)
    ]
    path = tmp_path / "folds.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cross-validation"):
        evalreport.evaluate(path, resamples=200)
