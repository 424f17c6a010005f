"""What the sections of curves say, and about how many models."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import evalreport
from evalreport.plots.curves import contenders
from evalreport.questions.thresholds import curves_section as curves
from evalreport.report.sections import describe
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from tests.samples.curves import evaluated, rows, two_models, two_normals

Simulate = Callable[..., Results]


def test_labels_alone_have_no_section_of_curves(simulate: Simulate) -> None:
    """Three points are no curve: where no model gives scores there is nothing to draw, and no section."""
    without = dataclasses.replace(simulate(), curves=(), score_histograms=())
    assert curves.describe(view_of(without)) is None


@pytest.mark.slow
def test_the_sections_say_what_the_results_hold():
    """Thresholds by criterion, the pair of curves, and a table of risks; without scores there is no such section."""
    sections = {
        s.name: s.content for s in describe(view_of(two_models(cost_ratio=2.0, what_if_threshold=0.6)))
    }
    found = sections["thresholds"]
    first = view_of(two_models()).models[0]
    assert found.heading.startswith("Thresholds: within 10 % false alarms")
    assert [row.model.id for row in found.compared.rows] == [m.id for m in view_of(two_models()).models]
    assert "Cost by example" in [row.label for row in found.every.rows]
    (point,) = (
        p
        for p in two_models().operating_points
        if (p.model, p.criterion, p.at) == (first.id, "fixed_fpr", 0.1)
    )
    cell = found.compared.rows[0].cells[found.compared.headings.index("false alarms \u2264 10 %")]
    assert (cell.value, cell.beside) == (f"{point.tp:,.0f}", f"/ {point.fp:,.0f}")
    assert [len(sentences) for _, sentences in found.lists] == [1, 2]
    assert [row.model.id for row in sections["gains"].tables[0].rows] == ["proba"]
    labels = evaluated({"m": rows([1, 0, 1, 0], y_pred=["1", "0", "0", "1"])})
    assert not {s.name for s in describe(view_of(labels))} & {"thresholds", "gains"}


@pytest.mark.slow
def test_many_models_are_cut_and_said():
    """Of 14 models at most four are named beside their curves; of 91 sentences six stand, the rest is counted."""
    truth, scores = two_normals(40)
    random = np.random.default_rng(1)
    p = {f"m{i:02d}": np.clip(0.5 + scores / 8 + random.normal(size=40) / 9, 0.01, 0.99) for i in range(14)}
    models = {name: rows(truth, p_1=values) for name, values in p.items()}
    results = evaluated(models, metrics=("roc_auc",), resamples=60)
    sections = {s.name: s.content for s in describe(view_of(results))}
    roc = next(f for f in sections["curves"].figures if f.name == "roc")
    axes = Canvas().subplots()
    roc.draw[0](axes)
    assert [text.get_text() for text in axes.texts][-1] == "10 others"
    assert "grey: the others" in roc.caption
    (_, sentences), *_ = sections["thresholds"].lists
    assert len(sentences) == 7
    assert sentences[-1] == "85 more are in results.json."


def test_a_curve_is_headed_by_what_was_compared():
    """Without a comparison on ROC AUC nothing is claimed of it; with one the model that is behind is named."""
    truth, scores = two_normals(300)
    noise = np.random.default_rng(3).normal(size=300)
    values = {"good": scores, "poor": scores + 6 * noise}
    results = evaluated(
        {name: rows(truth, p_1=1 / (1 + np.exp(1 - x))) for name, x in values.items()},
        metrics=("accuracy", "roc_auc"),
    )
    assert results.primary_metric == "accuracy"
    told = {f.name: f for f in curves.describe(view_of(results)).figures}
    assert re.search(r"good stays above poor|poor is behind good", told["roc"].title)
    assert contenders(results, "roc_auc") == ["good"]
    bare = dataclasses.replace(results, comparisons=())
    told = {f.name: f for f in curves.describe(view_of(bare)).figures}
    assert told["roc"].title == "ROC curves"
    assert told["pr"].title == "Precision-recall curves"


def test_an_axis_that_is_cut_is_said_to_be():
    """The curves reach 1 early, so the axis ends before 1, and the caption says where."""
    truth, scores = two_normals(400)
    results = evaluated({"m": rows(truth, score=scores + 6 * truth)})
    figure = curves.describe(view_of(results)).figures[0]
    axes = Canvas().subplots()
    figure.draw[0](axes)
    end = axes.get_xlim()[1]
    assert end < 1
    assert f"from 0 to {end:g} of 1" in figure.caption


@pytest.mark.slow
def test_recall_by_class_is_one_map_with_its_confusions():
    """By hand: of 4 "a" 1 is found by m and 3 called "b"; "b" and "c" are all found."""
    truth = list("aaaabbcc")
    said = list("abbbbbcc")
    given = {"id": [str(i) for i in range(8)], "y_true": truth}
    results = evalreport.evaluate(
        {"m": given | {"y_pred": said}, "n": given | {"y_pred": truth}}, resamples=50
    )
    section = curves.describe(view_of(results))
    map_ = section.classes
    assert [column.model.id for column in map_.columns[1:]] == ["n", "m"]
    assert {row.label: [cell.value for cell in row.cells[1:]] for row in map_.rows} == {
        "a": ["100", "25"], "b": ["100", "100"], "c": ["100", "100"]
    }  # fmt: skip
    assert [cell.look for cell in map_.rows[0].cells[1:]] == ["miss-0", "miss-5"]
    assert section.confusions == ("“a” called “b” (n = 4): m 3.",)
    assert "m finds only 25 % of “a”" in map_.title


def test_intervals_are_spoken_of_where_they_are_drawn(regression: Results) -> None:
    """Where examples are not independent the bins have no limits: no caption, and no heading, may rest on them."""
    captions = [f.caption for f in curves.describe_distributions(view_of(regression)).figures]  # type: ignore[union-attr]
    assert (
        f"{len(next(r for r in regression.residuals if r.model == 'near').predicted)} of 260 predictions are drawn"
        in captions[0]
    )
    assert "95 % intervals" in captions[1]
    bare = tuple(
        dataclasses.replace(
            r, bin_low=(None,) * len(r.bin_low), bin_high=(None,) * len(r.bin_high), trend=None
        )
        for r in regression.residuals
    )
    of_bare = curves.describe_distributions(view_of(dataclasses.replace(regression, residuals=bare)))
    assert of_bare is not None
    assert "interval" not in of_bare.figures[1].caption
    assert of_bare.figures[1].title == "The errors of near along its predictions"


def test_a_calibration_without_limits_says_none() -> None:
    """Over fits that share examples a bin has no interval: the caption does not promise one."""
    random = np.random.default_rng(2)
    p = random.uniform(0.02, 0.98, 300)
    true = (random.uniform(size=300) < p).astype(int)
    columns = {"id": list(range(300)), "y_true": list(true), "p_1": list(p)}

    results = evalreport.evaluate(
        {"one": columns}, positive="1", resamples=50, metrics=["accuracy", "roc_auc"]
    )

    def caption(results: Results) -> str:
        section = curves.describe(view_of(results))
        assert section is not None
        return next(f.caption for f in section.figures if f.name == "reliability")

    assert "with 95 % intervals" in caption(results)
    bare = tuple(dataclasses.replace(curve, low=None, high=None) for curve in results.curves)
    assert "interval" not in caption(dataclasses.replace(results, curves=bare))


def test_of_inverted_scores_no_curve_leads():
    """Both areas are below one half, and both precisions below the share of positives: no title calls one ahead."""
    truth, scores = two_normals(300)
    noise = np.random.default_rng(3).normal(size=300)
    results = evaluated({"a": rows(truth, score=-scores), "b": rows(truth, score=-scores + noise)})
    told = {f.name: f for f in curves.describe(view_of(results)).figures}
    values = {r.model: r.value for r in results.metrics if r.metric == "roc_auc"}
    assert max(values.values()) < 0.5
    low, high = (f"{extreme(values.values()):.3f}" for extreme in (min, max))
    assert told["roc"].title == f"Every model ranks worse than chance: ROC AUC {low} to {high}"
    assert "at most; random ordering gives" in told["pr"].title


@pytest.mark.parametrize(
    "positive, negative, title",
    [
        (0.5, 0.5, "m: the median score of “1” and of “0” is the same, 0.5"),
        (0.99991, 0.2, "m: half of “1” score above 0.999, half of “0” 0.2 or less"),
        (0.8, 0.2, "m: half of “1” score 0.8 or more, half of “0” 0.2 or less"),
    ],
    ids=["constant", "near one", "apart"],
)
def test_medians_of_scores_are_told_as_they_are(positive, negative, title):
    """A constant has one median; no probability is 1 or more."""
    truth = np.arange(80) % 2 == 1
    results = evaluated({"m": rows(truth, p_1=np.where(truth, positive, negative))})
    figure = {f.name: f for f in curves.describe(view_of(results)).figures}["scores"]
    assert figure.title == title
    assert figure.description == "Scores by class of m."
