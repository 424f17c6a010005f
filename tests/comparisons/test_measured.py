"""The sizes that are printed beside the tests are those of the committed study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.comparisons.measured import (
    ALPHA,
    EXAMPLES,
    MEASURED,
    MEASURED_OF_SEEDS,
    measured_size,
)
from evalreport.comparisons.registry import TESTS
from evalreport.warnings.layout import FEW_SEEDS
from research.studies import ties
from research.studies.algorithms import ALPHA as STUDIED_ALPHA
from research.studies.algorithms import TESTED, N
from research.studies.bars import exact_limits
from research.studies.cells import error, measure
from research.studies.discordance import mcnemar_size
from research.studies.tests import PARTS
from research.studies.tests_page import page

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
    found = {row["seeds"]: row["seeds_t"] for row in study()["seeds"] if row["second"] == "another"}
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


# --- every promise against its limit --------------------------------------------------------------------------------


def within(rate: float, limit: float, data_sets: int) -> bool:
    """Say whether a rate is at most two Monte Carlo errors above its limit."""
    return rate <= limit + 2 * error(limit, data_sets)


def test_every_part_is_of_the_committed_study() -> None:
    """The committed file has every part, with its seed and version."""
    found = study()
    assert set(PARTS) <= set(found)
    # A checkout is a development version of the release that the study was made with.
    assert found["version"] == evalreport.__version__.partition(".dev")[0]
    assert found["replications"] >= 1000


@pytest.mark.parametrize("row", study()["operating_points"], ids=lambda row: row["name"])
def test_equal_values_at_unlike_operating_points(row: Mapping[str, Any]) -> None:
    """Equal metrics are told apart no more often than promised; of older rows, of the swap test, or the run warned."""
    n, older = row["data_sets"], "leading" not in row
    rate = row["permutation"] if older else row["leading"]
    if row["kind"] == "power":
        assert rate >= row["limit"] - 2 * error(row["limit"], n)
    else:
        assert within(rate, row["limit"], n) or (older and row["warned"] >= 0.9)
    if row["metric"] == "balanced_accuracy" and row["kind"] == "unlike" and row["n"] == 200:
        assert rate >= 0.04 - 2 * error(0.04, n)


def test_wilcoxon_keeps_its_level_with_ties() -> None:
    """At every number of data sets; none of four gives a verdict."""
    rows = study()["ties"]
    assert all(within(row["wilcoxon"], ALPHA, row["data_sets"]) for row in rows)
    assert {row["n"]: row["better"] for row in rows}[4] == 0


def test_slices_cry_no_wolf_and_find_one() -> None:
    """Any of forty is flagged in at most 6 %; one at 0.6 among 0.9 is found in at least 80 %."""
    still, fallen = study()["slices"]
    assert within(still["flagged"], 0.06, still["data_sets"])
    assert fallen["found"] >= 0.8


def test_gates_at_the_bar_err_on_neither_side() -> None:
    """Proportions: at most 2.5 % at every n to 300, exactly; everything else about 2.5 %, never against the verdict."""
    found = study()["gates"]
    assert all(max(row["passes"], row["fails"]) <= 0.025 for row in found["enumerated"])
    for row in found["simulated"]:
        assert within(row["passes"], row["limit"], row["data_sets"])
        assert within(row["fails"], row["limit"], row["data_sets"])
        assert row["contradicts"] == 0


@pytest.mark.parametrize(("right", "n"), [(50, 50), (45, 50), (120, 121), (0, 7)])
def test_enumerated_gates_are_those_of_a_run(right: int, n: int) -> None:
    """The limits by which the enumeration decides are those that a run's gate shows."""
    outcome = {"id": [str(i) for i in range(n)], "outcome": [1] * right + [0] * (n - right)}
    results = evalreport.evaluate(
        {"a": outcome}, task="outcome", metrics=["mean_outcome"], gates=["a.mean_outcome >= 0.9"], resamples=2
    )
    (gate,) = results.gates
    assert (gate.low, gate.high) == exact_limits(right, n)


def test_twelve_models_have_one_level() -> None:
    """Any verdict among 66 pairs of equally good models: at most 5 %."""
    assert all(within(row["any better"], row["limit"], row["data_sets"]) for row in study()["families"])


@pytest.mark.parametrize("row", study()["unequal"], ids=lambda row: row["name"])
def test_unequal_clusters_and_weights(row: Mapping[str, Any]) -> None:
    """Intervals hold what they say, equivalence is not claimed at the margin, gates hold or (older rows) warn."""
    n, older = row["data_sets"], "warned" in row
    short = 0.08 if older and row["clusters"] == 8 else 0.07
    assert within(row["missed"], short, n)
    assert within(row["difference missed"], short, n)
    if row["ahead"]:
        assert within(row["equivalent"], row["limit"], n)
    else:
        assert within(row["decided"], short, n)
    for side in ("gate passes", "gate fails"):
        assert within(row[side], 0.035, n) or (older and row["warned"] >= 0.9)


@pytest.mark.parametrize("row", study()["language"], ids=lambda row: row["name"])
def test_suites_attempts_and_judges(row: Mapping[str, Any]) -> None:
    """Equal models are told apart in no more than 7 % (10 % where the run warns of few human outcomes); see ``limit``.

    The worse of two is hardly ever called better.
    """
    n = row["data_sets"]
    assert within(row["missed"], row["limit"], n)
    if row["apart"]:
        assert row["wrong"] <= 0.03
    else:
        assert within(row["decided"], row["limit"], n)


def test_training_again_is_no_difference() -> None:
    """Seeds: at most 6.5 % decided, or so few seeds that the run warns with the rate."""
    found = study()
    for row in found["seeds"]:
        assert within(row["seeds_t"], 0.065, found["replications"]) or row["seeds"] < FEW_SEEDS


def test_cells_do_not_depend_on_the_number_of_processes() -> None:
    """The same seed gives the same shares, in one process or in two, and whatever other cells are measured."""
    few = ties.CELLS[1:3]
    alone = measure(few[1:], ties.counted, replications=120, seed=5, jobs=1)
    assert measure(few, ties.counted, replications=120, seed=5, jobs=2)[1:] == alone
    assert alone[0]["data_sets"] == 60
