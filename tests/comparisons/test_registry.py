"""Tests that somebody adds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.comparisons.registry import TESTS, Outcome, Pair, comparison_test, probability
from evalreport.engine.distributions import chi2_tail
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results


def row(results: Results, test: str) -> ComparisonRecord:
    """Return the only row of a test."""
    (found,) = (r for r in results.comparisons if r.test == test and r.b is not None)
    return found


TESTED = Path(__file__).parents[1]
NO_NUMBERS = {Path(__file__).name, "test_measured.py", "test_test_selection.py", "test_permutation.py"}
"""Files here that name tests for other reasons than their numbers."""


@pytest.mark.parametrize("test", [*TESTS])
def test_every_test_has_a_number_of_its_own(test: str) -> None:
    """Forgotten: a published number or another program's, in tests/comparisons or tests/samplings, or a reference."""
    folders = (TESTED / "comparisons", TESTED / "samplings", TESTED / "reference")
    files = [path for folder in folders for path in folder.glob("*.py") if path.name not in NO_NUMBERS]
    assert any(re.search(rf"\b{test}\b", path.read_text(encoding="utf-8")) for path in files), test


EYES = ((1520, 266, 124, 66), (234, 1512, 432, 78), (117, 362, 1772, 205), (36, 82, 179, 492))
"""Grades of the right and the left eye of 7,477 women: Stuart (1955), Biometrika 42:412, table 1."""


@pytest.fixture
def stuart_maxwell() -> Iterator[str]:
    """Register a test that needs labels as CONTRIBUTING.md says, and take it out again."""

    @comparison_test("Stuart-Maxwell", "labels", null_hypothesis="equal shares", assumptions="-", source="-")
    def stuart_maxwell(pair: Pair) -> Outcome:
        """Chi-squared test of whether both models give each class equally often."""
        assert pair.labels is not None
        one, other = pair.labels.cells.predicted
        table = np.zeros((4, 4))
        np.add.at(table, (one, other), pair.labels.cells.counts)
        excess = (table.sum(axis=1) - table.sum(axis=0))[:-1]
        spread = np.diag(table.sum(axis=1) + table.sum(axis=0)) - table - table.T
        statistic = float(excess @ np.linalg.solve(spread[:-1, :-1], excess))
        return Outcome(statistic, probability(chi2_tail(statistic, 3)), 3)

    yield "stuart_maxwell"
    TESTS.remove("stuart_maxwell")


def test_a_test_of_labels_is_one_function(stuart_maxwell: str) -> None:
    """Agresti (2013), Categorical Data Analysis, section 11.3: 11.96 with 3 degrees of freedom; elsewhere refused."""
    cells = [(a, b) for a, row in enumerate(EYES) for b, count in enumerate(row) for _ in range(count)]
    models = {
        name: {"y_pred": [f"grade {cell[k]}" for cell in cells]} for k, name in enumerate(("right", "left"))
    }
    truth, groups = [f"grade {k % 4}" for k in range(len(cells))], [k // 50 for k in range(len(cells))]
    given: dict[str, Any] = {
        "truth": truth,
        "metrics": ["accuracy"],
        "tests": [stuart_maxwell],
        "resamples": 100,
    }
    found = row(evalreport.evaluate(models, **given), stuart_maxwell)
    assert found.statistic == pytest.approx(11.96, abs=0.005)
    assert found.df == 3
    clustered = {name: columns | {"ward": groups} for name, columns in models.items()}
    refused = row(evalreport.evaluate(clustered, **given, cluster="ward"), stuart_maxwell)
    assert refused.p_value is None
    assert "independent examples that count the same" in str(refused.reason)
