"""Sections about algorithms: there where the data hold them, and safe with whatever names and ids come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.questions.algorithms import section as estimates
from evalreport.report.table import Row, Table
from tests.samples.algorithm_sections import HOSTILE, evaluated, replicated, sections, table
from tests.samples.cases import quick

pytestmark = pytest.mark.usefixtures("primary_alone")


def plain() -> dict[str, list[Any]]:
    """Return one test set of two models."""
    return table(
        [(f"{i:02d}", m, i % 2, (i // k) % 2) for m, k in (("a", 1), ("b", 3)) for i in range(40)],
        "id model y_true y_pred",
    )


def sized(axis: str = "train_size") -> dict[str, list[Any]]:
    """Return a learning (or complexity) curve of two models."""
    rows = [
        (f"{i:02d}", m, x, i % 2, (i % 2) if i >= wrong else 1 - i % 2)
        for m, shift in (("a", 0), ("b", 3))
        for x, wrong in ((10, 16), (20, 11), (40, 8), (80, 6))
        for wrong in (wrong + shift,)
        for i in range(60)
    ]
    return table(rows, f"id model {axis} y_true y_pred")


def nested() -> dict[str, list[Any]]:
    """Return the outer folds of a nested search."""
    rows = [
        (f"{i:02d}", "a", i // 2 % 4, f"depth={'29'[i // 2 % 4 == 1]}{HOSTILE}", i % 2, i % 3 % 2)
        for i in range(48)
    ]
    return table(rows, "id model fold params y_true y_pred")


def test_a_plain_test_set_has_none_of_these_sections() -> None:
    """Nothing is said about algorithms where one fit of each was tested."""
    assert not {"estimates", "learning", "decomposition"} & set(sections(evaluated(plain(), task="binary")))


def test_a_learning_curve_says_where_models_are_compared() -> None:
    """The largest size is marked; the fitted law stands with its reason or its numbers."""
    learning = sections(evaluated(sized(), task="binary"))["learning"]
    assert learning.heading.startswith("Learning curves: from ")
    used = [row for row in learning.points.rows if not isinstance(row.cells[0], str)]
    assert [(row.model.id, row.cells[0].value) for row in used] == [("a", "80"), ("b", "80")]
    assert len(learning.fits.rows) == 2
    assert all(row.cells[0] for row in learning.fits.rows)


def test_a_complexity_curve_repeats_that_its_choice_is_optimistic() -> None:
    """Each model has a panel of its own, and the warning stands where the curve is."""
    learning = sections(evaluated(sized("complexity"), task="binary"))["learning"]
    assert learning.heading.startswith("Complexity curves: the error is lowest at ")
    assert learning.figure.name == "learning-panels"
    assert any("optimistic" in note for note in learning.notes)
    assert not learning.fits


def test_stratified_folds_have_one_row() -> None:
    """Plain and stratified cross-validation are the same number: it stands once, under the more exact name."""
    rows = plain()
    rows["fold"] = [str(int(i) // 2 % 4) for i in rows["id"]]
    labels = [row.label for row in sections(evaluated(rows, task="binary"))["estimates"].main.rows]
    assert labels == ["Cross-validation, stratified, 4 folds"]


def test_a_nested_search_lists_its_choices() -> None:
    """How many outer folds chose which parameters, most chosen first."""
    (chosen,) = sections(evaluated(nested(), task="binary"))["estimates"].tables
    (row,) = chosen.rows
    assert row.cells[:2] == ("4", "2")
    assert row.cells[2].startswith("depth=2")
    assert "(3×)" in row.cells[2]


def test_criteria_mark_their_choice() -> None:
    """The model with the smallest value of each criterion bears the mark."""
    rows = [
        (f"{i:02d}", m, part, d, i * 1.0, i + (spread if i % 2 else -spread))
        for m, d, spread in (("small", 2, 1.0), ("large", 9, 0.9))
        for part in ("train", "test")
        for i in (range(30) if part == "train" else range(30, 50))
    ]
    results = evaluated(table(rows, "id model part n_parameters y_true y_pred"), task="regression")
    (found,) = sections(results)["estimates"].tables
    marked = {row.model.id for row in found.rows for cell in row.cells if cell.startswith("▸")}
    assert marked == {c.model for c in results.criterion_choices} == {"small"}
    assert found.headings == ("AIC", "BIC", "MDL")


@pytest.mark.parametrize(
    "source", quick([replicated, sized, nested], [sized]), ids=["replicates", "sizes", "nested"]
)
def test_every_output_is_made_and_names_stay_text(
    source: Callable[[], dict[str, list[Any]]], tmp_path: Path
) -> None:
    """HTML, Markdown and figures of every kind of section; what files say is escaped in all of them."""
    task = "regression" if source is replicated else "binary"
    outcome = evalreport.render(
        evaluated(source(), task=task), tmp_path / "out", formats=("html", "md", "json"), figures="svg"
    )
    assert any(path.suffix == ".svg" for path in outcome.paths)
    for path in outcome.paths:
        if path.suffix in (".html", ".svg"):
            assert HOSTILE not in path.read_text(encoding="utf-8"), path.name


def test_estimates_of_one_kind_are_one_table() -> None:
    """A row for each metric, headed by the estimator; with two estimators each metric keeps its table."""
    rows = (Row(None, (), "5 folds", about="about"), Row(None, (), "Hold-out", about="about"))
    one, two = (Table("", (), rows[:1], first=metric) for metric in ("F1", "MCC"))
    (together,) = estimates._together((one, two))
    assert (together.first, [row.label for row in together.rows]) == ("5 folds", ["F1", "MCC"])
    several = (one, Table("", (), rows, first="MCC"))
    assert estimates._together(several) == several
