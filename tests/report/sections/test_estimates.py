"""Sections about algorithms: there where the data hold them, and safe with whatever names and ids come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.report.sections import describe
from evalreport.report.view import view_of
from evalreport.schema.results import Results

HOSTILE = "<script>alert(1)</script>"


def table(rows: list[tuple[Any, ...]], names: str) -> dict[str, list[Any]]:
    """Turn rows into columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


def evaluated(source: dict[str, list[Any]], **options: Any) -> Results:
    """Evaluate columns with few replicates."""
    return evalreport.evaluate(source, options=evalreport.Options(resamples=20, **options))


def sections(results: Results) -> dict[str, Any]:
    """Return the described sections by name."""
    return {section.name: section.content for section in describe(view_of(results))}


def plain() -> dict[str, list[Any]]:
    """Return one test set of two models."""
    return table(
        [(f"{i:02d}", m, i % 2, (i // k) % 2) for m, k in (("a", 1), ("b", 3)) for i in range(40)],
        "id model y_true y_pred",
    )


def replicated() -> dict[str, list[Any]]:
    """Return bootstrap replicates of two regressions with in-bag counts, training rows and an input x."""
    generator = np.random.default_rng(0)
    rows: list[tuple[Any, ...]] = []
    truth = generator.normal(size=12)
    for k in range(31):
        inbag = generator.multinomial(12, np.full(12, 1 / 12))
        for model, spread in (("rigid", 0.1), (HOSTILE, 1.0)):
            for i in range(12):
                said = float(truth[i] + spread * generator.normal())
                rows.append(
                    (f"{HOSTILE}{i:02d}", model, k, int(inbag[i]), "test", float(truth[i]), said, i / 7)
                )
    for model in ("rigid", HOSTILE):
        rows += [
            (f"{HOSTILE}{i:02d}", model, None, None, "train", float(truth[i]), float(truth[i]) + 0.2, i / 7)
            for i in range(12)
        ]
    return table(rows, "id model replicate inbag part y_true y_pred x")


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


def test_replicates_give_estimates_and_bias_and_variance() -> None:
    """A row for each estimator, a bar for each model, the most variable examples, and what single fits predict."""
    found = sections(evaluated(replicated(), task="regression"))
    labels = [row.label for row in found["estimates"].main.rows]
    assert labels == [
        "Resubstitution",
        "Bootstrap, optimism (B1)",
        "Bootstrap, out of bag, 31 replicates",
        ".632",
        ".632+",
    ]
    assert [(t.headings, len(t.rows)) for t in found["estimates"].tables] == [(("R", "γ", "ω"), 2)]
    assert "hold-out (scheme" in found["estimates"].missing
    assert [f.name for f in found["decomposition"].figures] == ["decomposition", "replicates"]
    assert found["decomposition"].examples.rows
    assert any("noise" in note for note in found["decomposition"].notes)


def test_the_unbiased_bias_leads_the_table_and_the_bars() -> None:
    """The unbiased pair stands before the plug-in pair, with its interval, and is what the bars are made of."""
    results = evaluated(replicated(), task="regression")
    content = sections(results)["decomposition"]
    ((_, table_of_parts),) = content.tables
    assert table_of_parts.headings[1:5] == (
        "Bias², unbiased",
        "Variance, unbiased",
        "Bias², plug-in",
        "Variance, plug-in",
    )
    for row in table_of_parts.rows:
        (record,) = [r for r in results.decomposition if r.model == row.model.id]
        values = [cell.order for cell in row.cells[1:5]]
        assert values == [record.bias_unbiased, record.variance_unbiased, record.bias, record.variance]
        assert row.cells[1].beside
    (bars,) = [figure for figure in content.figures if figure.name == "decomposition"]
    assert "bias² + noise (unbiased)" in bars.description


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


@pytest.mark.parametrize("source", [replicated, sized, nested], ids=["replicates", "sizes", "nested"])
def test_every_output_is_made_and_names_stay_text(
    source: Callable[[], dict[str, list[Any]]], tmp_path: Path
) -> None:
    """HTML, Markdown and figures of every kind of section; what files say is escaped in all of them."""
    task = "regression" if source is replicated else "binary"
    outcome = evalreport.render(
        evaluated(source(), task=task), tmp_path / "out", formats=("html", "md", "json")
    )
    assert any(path.suffix == ".svg" for path in outcome.paths)
    for path in outcome.paths:
        if path.suffix in (".html", ".svg"):
            assert HOSTILE not in path.read_text(encoding="utf-8"), path.name


def test_the_plots_draw_on_axes_of_their_own() -> None:
    """In a notebook each function makes axes where none are given, and returns them."""
    from matplotlib import pyplot as plt

    from evalreport.plots.estimates import (
        EstimatorRow,
        LearningCurve,
        bias_variance,
        bias_variance_course,
        estimates,
        learning,
        replicate_lines,
    )

    found = evaluated(replicated(), task="regression")
    model = found.models[0]
    drawn = [
        estimates([EstimatorRow(".632", {0: (0.2, 0.1, 0.3), 1: (0.3, None, None)})]),
        bias_variance(found),
        bias_variance_course(found, model),
        replicate_lines(found, model),
        learning([LearningCurve("a", ((10.0, 0.4, 0.3, 0.5), (20.0, 0.3, 0.2, 0.4)), (), 20.0, 0, "m0")]),
    ]
    assert len({id(axes.figure) for axes in drawn}) == len(drawn)
    plt.close("all")
