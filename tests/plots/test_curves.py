"""Charts: on given axes, readable from the drawing alone, whatever a model is called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure as Canvas

import evalreport as er
from evalreport.plots.curves import precision_recall, prevalence_of, roc
from evalreport.plots.pairs import confusion, forest
from evalreport.plots.pictures import drawn
from evalreport.plots.style import MARKS, to_svg
from evalreport.report.sections import confusion as confusion_section
from evalreport.report.view import view_of
from evalreport.schema.metrics import ConfusionRecord
from evalreport.schema.results import Results


@pytest.mark.parametrize("plot", [roc, precision_recall])
def test_a_plot_draws_on_the_given_axes_and_returns_them(
    simulate: Callable[..., Results], plot: Callable[..., object]
) -> None:
    """Every model has a curve in the colour of its rank, and the axes come back."""
    axes = Canvas().subplots()
    assert plot(simulate(), axes, highlight=simulate().models) is axes
    lines = {line.get_gid(): line for line in axes.get_lines() if (line.get_gid() or "").endswith("--line")}
    assert [lines[f"m{i}--line"].get_color() for i in range(5)] == [mark.colour for mark in MARKS[:5]]


def test_a_model_with_labels_only_is_a_point_in_roc_space(simulate: Callable[..., Results]) -> None:
    """TPR 3/4 and FPR 1/5 by hand from the counts; no curve is invented."""
    cells = (("Yes", "Yes", 3), ("Yes", "No", 1), ("No", "Yes", 1), ("No", "No", 4))
    matrix = tuple(ConfusionRecord(model="only", true=t, predicted=p, count=float(c)) for t, p, c in cells)
    found = dataclasses.replace(simulate({"only": 1.0}), curves=(), confusion=matrix)
    axes = roc(found, Canvas().subplots())
    points = [line.get_xydata().tolist() for line in axes.get_lines() if line.get_gid() == "m0--point"]
    assert points == [[[0.2, 0.75]]]
    assert prevalence_of(found) == 4 / 9


def test_precision_begins_where_the_first_positive_is_found() -> None:
    """The highest score is a negative's: no line from (0, 0), the first point is recall 1/2 at precision 1/2."""
    results = er.evaluate({"m": {"p_1": [0.9, 0.8, 0.3, 0.2]}}, truth=[0, 1, 1, 0], resamples=50)
    (line,) = [one for one in precision_recall(results).get_lines() if str(one.get_gid()).endswith("--line")]
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (0.5, 0.5)


def test_forest_marks_zero_and_shades_the_margin(simulate: Callable[..., Results]) -> None:
    """The declared region of practical equivalence is drawn from -margin to +margin."""
    axes = forest(simulate(), Canvas().subplots(), margin=0.01)
    box = axes.patches[0].get_bbox()
    assert (box.x0, box.x1) == (-0.01, 0.01)


def test_confusion_shares_sum_to_one_by_row(simulate: Callable[..., Results]) -> None:
    """The darkness of a row's cells adds up: each cell is 0.04 + 0.56 x its share."""
    axes = confusion(simulate(), "forest", Canvas().subplots())
    alphas = [cell.get_alpha() for cell in axes.patches]
    assert sum(alphas[:2]) == pytest.approx(0.08 + 0.56, abs=0.002)  # each rounded to three decimals


def test_long_labels_of_a_matrix_do_not_lie_on_each_other(simulate: Callable[..., Results]) -> None:
    """Five classes of 40 characters: the labels are cut and slanted, and the drawing finds room for all of it."""
    classes = tuple(f"complaint of a customer, number {i:08d}" for i in range(5))
    cells = tuple(
        ConfusionRecord(model=m, true=t, predicted=p, count=7.0)
        for m in ("a", "b")
        for t in classes
        for p in classes
    )
    found = dataclasses.replace(
        simulate({"a": 1.0, "b": 0.5}), classes=classes, positive=None, confusion=cells
    )
    section = confusion_section.describe_confusion(view_of(found))
    assert section is not None
    assert section.figure is not None
    drawing = drawn(section.figure)  # a figure that is too small warns, and warnings are errors here
    assert drawing.count("rotate(-45") == 10
    assert "customer, number" not in drawing


def test_names_are_not_read_as_mathematics_and_bytes_are_the_same_twice(
    simulate: Callable[..., Results],
) -> None:
    """A model called $x_1$ is written so, and drawing twice gives the same document."""
    documents = []
    for _ in range(2):
        canvas = Canvas()
        roc(simulate({"$x_1$": 1.0, "b": 0.5}), canvas.subplots())
        documents.append(to_svg(canvas, name="roc", title="t", description="d"))
    assert documents[0] == documents[1]
    assert "$x_1$" in documents[0]
    assert "<title" in documents[0]
    assert "style=" not in documents[0]
    assert "date" not in documents[0].lower()
