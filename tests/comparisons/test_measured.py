"""The sizes that are printed beside the tests are those of the committed study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.comparisons.measured import ALPHA, EXAMPLES, MEASURED, MEASURED_OF_SEEDS, measured_size
from evalreport.comparisons.registry import TESTS
from studies.algorithms import ALPHA as STUDIED_ALPHA
from studies.algorithms import TESTED, N
from studies.discordance import mcnemar_size
from studies.tests import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def study() -> dict[str, Any]:
    """Return the committed results of the study."""
    found: dict[str, Any] = json.loads((DOCS / "tests.json").read_text(encoding="utf-8"))
    return found


def test_printed_sizes_are_the_study_s() -> None:
    """Each (layout, test) has the rates of docs/tests.json, for every learner."""
    rows = {(row["layout"], row["test"]): row["type_1"] for row in study()["algorithms"]}
    assert {key: dict(rates) for key, rates in MEASURED.items()} == rows
    assert set(rows) == {(layout, test) for layout, tests in TESTED.items() for test in tests}
    assert {test for _, test in rows} <= set(TESTS)
    assert (ALPHA, EXAMPLES) == (STUDIED_ALPHA, N)


def test_rates_of_few_seeds_are_the_study_s() -> None:
    """What the run warns of with few seeds is what the study found between two equally good algorithms there."""
    rows = study().get("seeds")
    if rows is None:
        pytest.skip(
            "docs/tests.json was made before the study had this part: python -m studies.tests --only seeds"
        )
    found = {row["seeds"]: row["seeds_t"] for row in rows if row["second"] == "another"}
    monte_carlo = 2 * (ALPHA * (1 - ALPHA) / study()["replications"]) ** 0.5
    assert {seeds: rate for seeds, rate in found.items() if rate > ALPHA + monte_carlo} == MEASURED_OF_SEEDS


def test_page_is_written_from_the_results() -> None:
    """docs/tests.md is what docs/tests.json says."""
    assert (DOCS / "tests.md").read_text(encoding="utf-8") == page(study())


def test_enumerated_sizes_are_those_of_the_committed_table() -> None:
    """McNemar's exact sizes are recomputed: n = 50 at every discordance."""
    for row in study()["mcnemar"]:
        if row["n"] == 50:
            for test, size in mcnemar_size(50, row["discordance"]).items():
                assert row[test] == pytest.approx(size, abs=1e-9)


def test_mid_p_keeps_its_level_everywhere() -> None:
    """McNemar's mid-p test never exceeds 0.05 in the enumerated cells (Fagerland et al. 2013: in none of 9,595)."""
    assert all(row["mcnemar_midp"] <= ALPHA for row in study()["mcnemar"])


def test_the_corrected_test_is_far_nearer_its_level_than_the_naive_one() -> None:
    """In every layout of folds the naive t rejects more than the corrected one, on repeats many times too often."""
    for layout in ("cross-validation", "repeated cross-validation", "repeated-holdout"):
        corrected, naive = MEASURED[layout, "corrected_resampled_t"], MEASURED[layout, "cv_paired_t"]
        assert all(corrected[learner] < naive[learner] for learner in naive)
    assert min(MEASURED["repeated-holdout", "cv_paired_t"].values()) > 0.3


def test_fold_tests_carry_their_measured_size() -> None:
    """On ten folds the rows of the tests that were measured print the rates as their caution."""
    results = evalreport.evaluate(
        DOCS.parent / "tests" / "data" / "predictions" / "diabetes_cv10.csv",
        options=evalreport.Options(resamples=100, metrics=("rmse",), tests=("cv_paired_t", "wilcoxon")),
    )
    for row in results.comparisons:
        said = measured_size("cross-validation", None, row.test)
        assert said is not None
        assert said in (row.caution or "")
