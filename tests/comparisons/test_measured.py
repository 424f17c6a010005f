"""The sizes that are printed beside the tests are those of the committed study."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.comparisons.measured import ALPHA, EXAMPLES, MEASURED, MEASURED_OF_SEEDS, measured_size
from evalreport.comparisons.registry import TESTS
from evalreport.warnings.layout import FEW_SEEDS
from research.studies import bars, families, language, operating, seeds, sliced, tables, ties, unequal
from research.studies.algorithms import ALPHA as STUDIED_ALPHA
from research.studies.algorithms import CELLS as OF_ALGORITHMS
from research.studies.algorithms import TESTED, N
from research.studies.bars import exact_limits
from research.studies.discordance import DISCORDANCE, mcnemar_size
from research.studies.harness import Cell, Result, Run, error, measure
from research.studies.tests import PARTS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def committed() -> dict[str, dict[str, Result]]:
    """Return docs/tests.csv as results by part and cell."""
    parts: dict[str, dict[str, Result]] = defaultdict(dict)
    for row in tables.read(DOCS / "tests.csv"):
        n = int(row["data_sets"])
        result = parts[row["part"]].setdefault(row["cell"], Result(row["cell"], max(n, 1), {}))
        totals: Any = result.totals
        totals[row["figure"]] = float(row["share"]) * max(n, 1)
    return parts


STUDY = committed()


def measured_cells(part: str, cells: tuple[Any, ...]) -> list[Any]:
    """Return a parameter of each cell with its committed result; a cell that was not measured fails."""
    return [pytest.param(cell, STUDY[part][cell.name], id=cell.name) for cell in cells]


def test_printed_sizes_are_the_study_s() -> None:
    """Each (layout, test) has the rates of docs/tests.csv, for every learner."""
    equal = {cell.learner: STUDY["algorithms"][cell.name] for cell in OF_ALGORITHMS if not cell.shift}
    layouts = {(layout, test) for layout, tests in TESTED.items() for test in tests}
    rows = {
        (layout, test): {name: pytest.approx(result[f"{layout}: {test}"]) for name, result in equal.items()}
        for layout, test in layouts
    }
    assert {key: dict(rates) for key, rates in MEASURED.items()} == rows
    assert {test for _, test in rows} <= set(TESTS)
    assert (ALPHA, EXAMPLES) == (STUDIED_ALPHA, N)


def test_rates_of_few_seeds_are_the_study_s() -> None:
    """What the run warns of with few seeds is what the study found between two equally good algorithms there."""
    rates = {
        cell.seeds: STUDY["seeds"][cell.name]["seeds_t"] for cell in seeds.CELLS if cell.second == "another"
    }
    above = {n: rate for n, rate in rates.items() if rate > ALPHA + 2 * error(ALPHA, 1000)}
    assert above == pytest.approx(MEASURED_OF_SEEDS)


def test_enumerated_sizes_are_those_of_the_committed_table() -> None:
    """McNemar's exact sizes are recomputed: n = 50 at every discordance."""
    for n, share in DISCORDANCE:
        if n == 50:
            sizes = STUDY["mcnemar"][f"n = {n}, discordance {share:g}"].totals
            assert sizes == pytest.approx(mcnemar_size(n, share), abs=1e-9)


def test_mid_p_keeps_its_level_everywhere() -> None:
    """McNemar's mid-p test never exceeds 0.05 in the enumerated cells (Fagerland et al. 2013: in none of 9,595)."""
    assert all(row["mcnemar_midp"] <= ALPHA for row in STUDY["mcnemar"].values())


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


def test_the_worst_learner_is_named_first() -> None:
    """After ten times ten folds a tree of one split is worse than any other that was measured."""
    rates = MEASURED["repeated cross-validation", "corrected_resampled_t"]
    said = measured_size("5x2cv", None, "5x2cv_f")
    assert max(rates, key=lambda learner: rates[learner]) == "stump"
    assert str(said).partition("examples: ")[2].startswith("0.142 (1-NN)")


# --- every promise against its limit --------------------------------------------------------------------------------


def within(rate: float, limit: float, data_sets: int) -> bool:
    """Say whether a rate is at most two Monte Carlo errors above its limit."""
    return rate <= limit + 2 * error(limit, data_sets)


def test_every_part_is_of_the_committed_study() -> None:
    """The committed file has every part, with one seed; slices of five classes came later, with another."""
    assert list(STUDY) == list(PARTS)
    assert {row["seed"] for row in tables.read(DOCS / "tests.csv")} == {"20262", "62026"}
    later = {row["cell"] for row in tables.read(DOCS / "tests.csv") if row["seed"] == "62026"}
    assert later == {cell.name for cell in sliced.CELLS if cell.rare}
    assert min(result.data_sets for result in STUDY["gates"].values()) >= 1000


@pytest.mark.parametrize(("cell", "result"), measured_cells("operating points", operating.CELLS))
def test_equal_values_at_unlike_operating_points(cell: operating.Point, result: Result) -> None:
    """Equal metrics are told apart no more often than promised."""
    n, rate = result.data_sets, result["leading"]
    if cell.kind == "power":
        assert rate >= cell.limit - 2 * error(cell.limit, n)
    else:
        assert within(rate, cell.limit, n)
    if cell.metric == "balanced_accuracy" and cell.kind == "unlike" and cell.n == 200:
        assert rate >= 0.04 - 2 * error(0.04, n)


def test_wilcoxon_keeps_its_level_with_ties() -> None:
    """At every number of data sets; none of four gives a verdict."""
    results = [STUDY["ties"][cell.name] for cell in ties.CELLS]
    assert all(within(result["wilcoxon"], ALPHA, result.data_sets) for result in results)
    assert results[0].cell == "ties, n = 4"
    assert results[0]["better"] == 0


def test_slices_cry_no_wolf_and_find_one() -> None:
    """Any of forty is flagged in at most 6 %; one at 0.6 among 0.9 is found in at least 80 %."""
    still, fallen = (STUDY["slices"][cell.name] for cell in sliced.CELLS[:2])
    assert within(still["flagged"], 0.06, still.data_sets)
    assert fallen["found"] >= 0.8
    *equal, one = (STUDY["slices"][cell.name] for cell in sliced.CELLS if cell.rare)
    assert all(within(result["flagged"], 0.06, result.data_sets) for result in equal)
    assert one["found"] >= 0.8


def test_gates_at_the_bar_err_on_neither_side() -> None:
    """Proportions: at most 2.5 % at every n to 300, exactly; everything else about 2.5 %, never against the verdict."""
    assert all(max(row["passes"], row["fails"]) <= 0.025 for row in STUDY["bars"].values())
    for cell in bars.CELLS:
        result = STUDY["gates"][cell.name]
        assert within(result["passes"], cell.limit, result.data_sets)
        assert within(result["fails"], cell.limit, result.data_sets)
        assert result["contradicts"] == 0


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
    for cell in families.CELLS:
        result = STUDY["families"][cell.name]
        assert within(result["any called better"], ALPHA, result.data_sets)


@pytest.mark.parametrize(("cell", "result"), measured_cells("unequal", unequal.CELLS))
def test_unequal_clusters_and_weights(cell: unequal.Unequal, result: Result) -> None:
    """Intervals hold what they say, equivalence is not claimed at the margin, gates hold."""
    n = result.data_sets
    assert within(result["missed"], 0.07, n)
    assert within(result["difference missed"], 0.07, n)
    if cell.ahead:
        assert within(result["equivalent"], cell.limit, n)
    else:
        assert within(result["decided"], 0.07, n)
    for side in ("gate passes", "gate fails"):
        assert within(result[side], 0.035, n)


@pytest.mark.parametrize(("cell", "result"), measured_cells("language", language.CELLS))
def test_suites_attempts_and_judges(cell: language.Layout, result: Result) -> None:
    """Equal models are told apart in no more than 7 % (10 % where the run warns of few human outcomes); see ``limit``.

    The worse of two is hardly ever called better.
    """
    n = result.data_sets
    assert within(result["missed"], cell.limit, n)
    if cell.apart:
        assert result["wrong"] <= 0.03
    else:
        assert within(result["decided"], cell.limit, n)


def test_training_again_is_no_difference() -> None:
    """Seeds: at most 6.5 % decided, or so few seeds that the run warns with the rate."""
    for cell in seeds.CELLS:
        result = STUDY["seeds"][cell.name]
        assert within(result["seeds_t"], 0.065, result.data_sets) or cell.seeds < FEW_SEEDS


@pytest.mark.slow
def test_cells_do_not_depend_on_the_number_of_processes() -> None:
    """The same seed gives the same shares, in one process or in two, and whatever other cells are measured."""
    few: tuple[Cell, ...] = ties.CELLS[1:3]
    (alone,) = measure(few[1:], ties.counted, Run(120, 5))
    assert measure(few, ties.counted, Run(120, 5, jobs=2))[1] == alone
    assert alone.data_sets == 60
