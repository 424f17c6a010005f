"""The charts as a library: every one on every kind of results, on given axes, readable, the same bytes twice."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

from evalreport import plots
from evalreport.plots.curves import contenders, name_of
from evalreport.plots.pairs import difference_rows
from evalreport.plots.pictures import Figure, panels
from evalreport.plots.style import GREY, mark_of, report_style, to_svg
from evalreport.schema.lookups import place_of_model, ranked
from evalreport.schema.results import Results
from tests.samples.cases import crossed, every
from tests.samples.charts import (
    HOSTILE,
    KINDS,
    binary,
    data_sets,
    folds,
    outcomes,
    regression,
    replicates,
    sizes,
)

OF_ONE_MODEL = {
    "error_rates", "score_histogram", "confusion", "predicted_true", "residuals",
    "by_slice", "bias_variance_course", "replicates", "count_sets", "calibration_curve",
}  # fmt: skip
OF_NOTHING = {"f1_at_recall"}
CHARTS = [name for name in plots.__all__ if name != "report_style"]
# What each chart is made for, and a class of part by which it is seen to have drawn it.
SERVES: dict[str, Callable[[], Results]] = {
    "values": binary, "forest": outcomes, "fold_differences": folds,
    "critical_differences": data_sets, "roc": binary, "precision_recall": binary, "error_rates": binary,
    "threshold_sweep": binary, "score_histogram": binary, "reliability": binary, "accuracy_rejection": binary,
    "gain": binary, "lift": binary, "confusion": binary, "predicted_true": regression, "residuals": regression,
    "by_slice": binary, "over_time": binary, "error_estimates": folds, "learning_curves": sizes,
    "bias_variance": replicates, "replicates": replicates, "count_sets": binary, "calibration_curve": binary,
    "murphy": binary, "miscalibration_discrimination": binary,
}  # fmt: skip


def call(name: str, results: Results, axes: Any) -> Any:
    """Draw a chart of the whole, or of the model with the hostile name (else of the first)."""
    chart = getattr(plots, name)
    if name in OF_NOTHING:
        return chart(axes)
    if name in OF_ONE_MODEL:
        return chart(results, HOSTILE if HOSTILE in results.models else results.models[0], axes)
    if name in ("net_benefit_difference", "murphy_difference"):
        return chart(results, (results.models[0], results.models[-1]), axes)
    return chart(results, axes)


def drawing(name: str, results: Results) -> str:
    """Draw a chart as the report does."""
    with report_style():
        return to_svg(
            panels(
                Figure(
                    name=name,
                    title="",
                    description="",
                    caption="",
                    draw=(lambda ax: call(name, results, ax),),
                    width=5.0,
                    height=3.5,
                )
            ),
            name="x",
            title="t",
            description="d",
        )


def test_every_public_chart_is_there():
    """Each public name is a function, and has that name."""
    assert [getattr(plots, name).__name__ for name in plots.__all__] == plots.__all__


@pytest.mark.parametrize(("name", "kind"), crossed(CHARTS, KINDS))
def test_every_chart_takes_every_kind_of_results(name: str, kind: str) -> None:
    """Where the results lack what it shows, it is empty: it never fails; and it gives the axes back.

    The kind that it is made for is drawn below.
    """
    with report_style():
        axes = Canvas().subplots()
        assert call(name, KINDS[kind](), axes) is axes
        if (axes.has_data() or axes.texts) and SERVES.get(name) is not KINDS[kind]:
            axes.figure.draw_without_rendering()


@pytest.mark.parametrize("name", SERVES)
def test_a_chart_draws_the_models_and_a_page_can_hide_them(name: str) -> None:
    """What it is made for stands in it as a part with the model's class; names are text."""
    results = SERVES[name]()
    svg = drawing(name, results)
    if name not in ("count_sets", "confusion"):
        index = place_of_model(results, HOSTILE)
        assert re.search(rf'class="series[^"]*\bm{index}\b', svg)
    assert "<script" not in svg
    root = ET.fromstring(svg)  # noqa: S314  made a line above
    assert {e.tag.split("}")[1] for e in root.iter()} <= {
        "svg", "title", "desc", "defs", "clipPath", "rect", "g", "path", "use", "text", "tspan", "pattern",
    }  # fmt: skip
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", every(9, SERVES))
def test_a_chart_has_the_same_bytes_again(name: str) -> None:
    """Nothing is drawn at random, and no id or time differs."""
    results = SERVES[name]()
    assert drawing(name, results) == drawing(name, results)


@pytest.mark.parametrize(
    "name", every(3, ["roc", "precision_recall", "gain", "lift", "accuracy_rejection", "threshold_sweep"])
)
def test_lines_of_twelve_models_are_no_tangle(name: str) -> None:
    """Of twelve lines at most four are in the colours of models, the others grey and counted; names by rank."""
    results = binary(12)
    axes = call(name, results, Canvas().subplots())
    lines = [line for line in axes.get_lines() if re.fullmatch(r"m\d+--line", line.get_gid() or "")]
    assert len(lines) == 12
    coloured = {line.get_gid(): line.get_color() for line in lines if line.get_color() != GREY}
    assert 2 <= len(coloured) <= 4
    assert coloured == {
        f"m{i}--line": mark_of(i).colour for i in map(int, re.findall(r"m(\d+)--", str(coloured)))
    }
    names = [text.get_text() for text in axes.texts]
    assert len(names) == len(coloured) + 1
    assert names[-1] == f"{12 - len(coloured)} others"


def test_wanted_models_are_highlighted() -> None:
    """``highlight`` names the models in colour."""
    axes = plots.roc(binary(12), Canvas().subplots(), highlight=["model 11"])
    assert [text.get_text().partition(" (")[0] for text in axes.texts] == ["model 11", "11 others"]


def test_names_beside_lines_do_not_lie_on_each_other() -> None:
    """All curves end in one point; names keep a line's distance, inside of the axes' height."""
    axes = plots.roc(binary(12), Canvas().subplots(), highlight=[f"model {i:02d}" for i in range(12)])
    heights = sorted(text.get_position()[1] for text in axes.texts)
    assert len(heights) == 12
    assert min(b - a for a, b in pairwise(heights)) > 0.06
    assert heights[0] >= 0
    assert heights[-1] <= 1


def test_contenders_are_those_not_clearly_behind() -> None:
    """On the primary metric the verdicts say who is beaten by the first; on another one an interval without 0."""
    results = binary(12)
    first, *_ = near = contenders(results)
    assert set(results.models) - set(near) == {
        model
        for v in results.verdicts
        for model in v.about
        if first in v.about and v.verdict in ("better", "worse") and model != first
    }
    best, *others = contenders(results, "roc_auc")
    value = {r.model: r.value for r in results.metrics if r.metric == "roc_auc"}
    assert value[best] == max(value.values())
    assert best == max(value, key=lambda model: value[model])
    left = set(value) - {best, *others}
    assert all(max(value[m] for m in left) < value[other] + 0.05 for other in others) or not left


def test_a_model_whose_name_begins_with_an_underscore_is_named() -> None:
    """Matplotlib would leave it out of a legend."""
    axes = plots.roc(binary(), Canvas().subplots())
    assert "_hidden" in [text.get_text().partition(" (")[0] for text in axes.texts]


def test_a_legend_is_in_ranked_order_and_names_the_right_marks() -> None:
    """The estimates of the model that ranks first bear the first mark, and its name stands beside it."""
    results = folds()
    axes = plots.error_estimates(results, Canvas().subplots())
    first, second = ranked(results)
    names = dict(zip(results.models, (name_of(None, model) for model in results.models), strict=True))
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [names[first], names[second]]
    value = next(r.value for r in results.error_estimates if r.model == first and r.value is not None)
    dots = [line for line in axes.get_lines() if line.get_marker() == mark_of(0).marker]
    assert value in [line.get_xdata()[0] for line in dots]


def test_differences_of_a_loss_are_better_minus_worse() -> None:
    """The model that ranks first has the smaller error, and its difference is drawn right of 0."""
    (row,) = difference_rows(regression())
    (verdict,) = regression().verdicts
    difference, *limits = row.value
    assert difference > 0
    assert {*limits} == {abs(end) for end in (verdict.low, verdict.high) if end is not None}


def test_charts_are_called_alike() -> None:
    """Results first, then the model of a chart of one model, then ax; all else by keyword; all say what they return."""
    for name in CHARTS:
        chart = getattr(plots, name)
        parameters = list(inspect.signature(chart).parameters.values())
        positional = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        if name in OF_NOTHING:
            assert [p.name for p in positional] == ["ax"], name
            continue
        assert positional[0].name in ("results", "source"), name
        assert positional[-1].name == "ax", name
        assert (positional[1].name == "model") == (name in OF_ONE_MODEL), name
        assert len(positional) <= 3, name
        assert "Returns\n" in (chart.__doc__ or ""), name


def test_importing_charts_imports_no_matplotlib() -> None:
    """Neither the package nor the list of charts costs the third of a second."""
    code = "import sys, evalreport, evalreport.plots as p; dir(p); sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_chart_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        _ = plots.pie
