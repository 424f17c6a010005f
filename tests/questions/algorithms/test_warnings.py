"""Warnings about error estimates, and about bias and variance."""

from __future__ import annotations

from evalreport.schema.warnings import WarningRecord
from tests.samples.algorithms import evaluate, replicates

NOISY = replicates([1.0, 3.0, 10.0, 10.5], [[2.0, 2.0, 9.0, 9.0], [3.0, 3.0, 9.5, 9.5]])


def codes(warnings: tuple[WarningRecord, ...]) -> set[str]:
    """Return the codes of warnings."""
    return {w.code for w in warnings}


def test_few_replicates_are_warned_of() -> None:
    """Bias and variance from 30 replicates or fewer are unsteady."""
    assert "few_replicates" in codes(evaluate(NOISY, task="regression").warnings)
