"""What stands in the results: every curve for whom it is for, short lists, plain numbers, harmless names."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import evalreport
from evalreport.errors import UsageError
from evalreport.metrics.curves import CURVES
from evalreport.plots import curves, lookups, thresholds
from evalreport.plots.style import to_svg
from evalreport.report import render
from evalreport.report.sections import curves as curves_section
from evalreport.report.sections import describe
from evalreport.report.view import view_of
from evalreport.schema.results import to_json
from evalreport.texts import Message
from tests.samples.curves import evaluated, of_classes, rows, two_normals

HOSTILE = "<script>alert('$x^2$')</script>"


def two_models(n: int = 90, **options):
    """Evaluate a model with probabilities and one with bare scores."""
    truth, scores = two_normals(n)
    p = 1 / (1 + np.exp(1 - scores))
    return evaluated({"proba": rows(truth, p_1=p), "score": rows(truth, score=scores)}, **options)


def test_every_curve_of_a_binary_task():
    """Probabilities have all registered curves, bare scores those of scores, and no other name occurs."""
    found = two_models().curves
    assert {c.curve for c in found if c.model == "proba"} == set(CURVES)
    of_scores = {name for name, entry in CURVES.items() if entry.needs == "scores"}
    assert {c.curve for c in found if c.model == "score"} == of_scores
    assert all(c.label is None for c in found)


def test_arrays_are_equally_long_short_and_finite():
    """At most 500 points, all arrays of one length, no nan or infinity: null where there is no threshold."""
    for record in two_models(3000).curves:
        size = len(record.x)
        assert size <= 500
        for name in ("y", "threshold", "low", "high", "count"):
            values = getattr(record, name)
            assert values is None or len(values) == size, (record.curve, name)
            assert values is None or all(v is None or math.isfinite(v) for v in values)
    json.loads(to_json(two_models()))


def test_several_classes_have_a_curve_each_against_the_rest():
    """ROC and precision-recall by class, reliability of the largest probability, and no operating points."""
    results = evalreport.evaluate({"m": of_classes(120)}, options=evalreport.Options(resamples=200))
    by_class = {(c.curve, c.label) for c in results.curves if c.label is not None}
    assert by_class == {(curve, label) for curve in ("roc", "pr") for label in results.classes}
    assert {c.curve for c in results.curves if c.label is None} == {"reliability", "accuracy_rejection"}
    assert all(c.band == "pointwise" for c in results.curves if c.curve == "roc")
    assert results.operating_points == results.dominance == ()


def test_the_thinned_curve_is_not_what_is_computed_from():
    """2,000 distinct scores: the best accuracy is that of all thresholds, whether or not its point is kept."""
    truth, scores = two_normals(2000, seed=11)
    results = evaluated({"m": rows(truth, score=scores)}, metrics=("max_accuracy", "roc_auc"))
    order = np.argsort(-scores)
    right = np.cumsum(np.where(truth[order], 1, -1)).max(initial=0) + (~truth).sum()
    (best,) = (p for p in results.operating_points if (p.criterion, p.metric) == ("best", "accuracy"))
    assert best.value == pytest.approx(right / 2000, abs=1e-12)


def test_folds_have_no_curves_of_scores():
    """Scores of several fits have no common scale; probabilities have, so reliability stays."""
    truth, scores = two_normals(60)
    p = 1 / (1 + np.exp(-scores))
    folds = {"repeat": ["1"] * 60, "fold": [str(i % 3) for i in range(60)]}
    found = {c.curve for c in evaluated({"m": rows(truth, p_1=p, **folds)}).curves}
    assert found == {"reliability", "accuracy_rejection"}


def test_weights_and_clusters_take_wilsons_limits():
    """Bins of weighted or clustered examples have no binomial interval, and their risks say why not."""
    truth, scores = two_normals(60)
    p = 1 / (1 + np.exp(-scores))
    for column, values in (("weight", np.linspace(1, 2, 60)), ("cluster", [f"c{i // 3}" for i in range(60)])):
        results = evaluated({"m": rows(truth, p_1=p, **{column: values})}, **{column: column})
        (bins,) = (c for c in results.curves if c.curve == "reliability")
        assert bins.low is None
        risks = [s for s in results.curve_summaries if s.quantity == "risk"]
        assert risks
        assert all(s.low is None and s.reason for s in risks)


def test_same_results_twice_and_for_any_order_of_models():
    """No figure depends on the order in which models come."""
    truth, scores = two_normals(70)
    models = {n: rows(truth, score=scores + i * np.sin(7 * scores)) for i, n in enumerate("abc")}
    one, other = (
        evaluated({name: models[name] for name in order}) for order in (("a", "b", "c"), ("c", "b", "a"))
    )
    for field in ("curves", "operating_points", "dominance", "curve_summaries"):
        assert getattr(one, field) == getattr(other, field), field


TRUTH = [1, 0] * 15
DEGENERATE = {
    "every score the same": (TRUTH, {"score": [1.0] * 30}),
    "scores near the largest double": (TRUTH, {"score": (np.sin(np.arange(30)) * 1e308).tolist()}),
    "tiny scores": (TRUTH, {"score": (np.sin(np.arange(30)) * 1e-308).tolist()}),
    "perfect": (TRUTH, {"p_1": [float(y) for y in TRUTH]}),
    "always wrong": (TRUTH, {"p_1": [1.0 - y for y in TRUTH]}),
    "two examples": ([1, 0], {"p_1": [0.9, 0.1]}),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_scores_have_finite_limits_around_their_values(name):
    """No warning of numpy and no nan; limits are in order, and a reason stands where there are none."""
    truth, columns = DEGENERATE[name]
    results = evaluated({"m": rows(truth, **columns)}, cost_ratio=3.0, what_if_threshold=0.7)
    json.loads(to_json(results))
    assert {p.criterion for p in results.operating_points} >= {"best", "youden", "cost", "eer", "fixed_fpr"}
    for point in results.operating_points:
        assert math.isfinite(point.value)
        assert (point.low is None and point.reason) or point.low <= point.high


def test_labels_of_every_class_have_a_curve_of_accuracy_and_rejection():
    """A model's own labels, the first class among them: of all four three are right, the 0.6 rejected makes it all."""
    labelled = rows([1, 0, 1, 0], p_1=[0.9, 0.2, 0.4, 0.3], y_pred=["1", "0", "0", "0"])
    (curve,) = [c for c in evaluated({"m": labelled}).curves if c.curve == "accuracy_rejection"]
    # Probabilities of the own labels: 0.9, 0.8, 0.6 (wrong) and 0.7.
    assert (curve.x, curve.y) == ((0.0, 0.25, 0.75), (0.75, 1.0, 1.0))


def test_one_class_has_no_curves_of_scores():
    """Without a negative there is no false positive rate: nothing is made up."""
    results = evaluated({"m": rows([1] * 20, p_1=np.linspace(0.1, 0.9, 20))})
    assert {c.curve for c in results.curves} == {"reliability", "accuracy_rejection"}
    assert results.operating_points == results.dominance == ()


def test_models_on_test_sets_of_their_own_are_compared_by_their_curves():
    """Each has its own curve and points; how the curves lie to each other is said as well."""
    truth, scores = two_normals(60)
    other = {
        "id": [f"x{i}" for i in range(40)],
        "y_true": ["1", "0"] * 20,
        "score": np.sin(np.arange(40.0)).tolist(),
    }
    results = evaluated({"a": rows(truth, score=scores), "b": other}, join="independent")
    assert {c.model for c in results.curves} == {p.model for p in results.operating_points} == {"a", "b"}
    assert [(r.a, r.b) for r in results.dominance] == [("a", "b")]


# --- what another threshold changes ---------------------------------------------------------------------------------


def test_cases_that_change_sides():
    """From 0.5 to 0.7 by hand: 0.6 (negative) and 0.55 (positive) are called no more; TP 1, FP 0, FN 2, TN 2."""
    results = evaluated(
        {"bank": rows([1, 0, 1, 0, 1], p_1=[0.9, 0.6, 0.55, 0.2, 0.3])}, what_if_threshold=0.7
    )
    (change,) = results.threshold_changes
    assert (change.changed, change.fewer_alarms, change.fewer_false_alarms, change.fewer_hits) == (2, 2, 1, 1)
    assert (change.tp, change.fp, change.fn, change.tn) == (1, 0, 2, 2)
    assert "2 cases change sides: 2 fewer alarms, of which 1 false and 1 true" in change.text


def test_a_lower_threshold_raises_more_alarms():
    """From 0.5 to 0.25 in the same five cases only 0.3, a positive, is called in addition."""
    results = evaluated(
        {"bank": rows([1, 0, 1, 0, 1], p_1=[0.9, 0.6, 0.55, 0.2, 0.3])}, what_if_threshold=0.25
    )
    assert (
        "1 case changes sides: 1 more alarm, of which 0 false and 1 true" in results.threshold_changes[0].text
    )


def test_decisions_of_no_threshold_may_change_both_ways():
    """By hand: two negatives of low probability are called no more, and the positive of high probability is."""
    results = evaluated(
        {"bank": rows([1, 0, 0, 1], p_1=[0.9, 0.3, 0.2, 0.1], y_pred=["0", "1", "1", "0"])},
        what_if_threshold=0.5,
    )
    (change,) = results.threshold_changes
    assert (change.changed, change.fewer_alarms) == (3, 1)
    assert (change.fewer_false_alarms, change.fewer_hits) == (2, -1)
    said = "3 cases change sides: 2 fewer false alarms, 1 more true ones (1 fewer alarm in all)."
    assert said in change.text


def test_models_without_decisions_or_scores_say_so():
    """Bare scores have nothing to compare with, labels no threshold to move: both with a reason."""
    truth = [1, 0, 1, 0]
    results = evaluated(
        {
            "labels": rows(truth, y_pred=["1", "0", "0", "0"]),
            "scores": rows(truth, score=[3.0, 2.0, 1.0, 0.0]),
        },
        what_if_threshold=1.5,
    )
    labels, scores = results.threshold_changes
    assert labels.changed is None
    assert "labels only" in labels.reason
    assert (scores.changed, scores.tp, scores.fp) == (None, 1, 1)
    assert scores.reason


def test_nothing_is_said_of_thresholds_that_nobody_asked_about():
    """Without the option the list is empty."""
    assert two_models().threshold_changes == ()


@pytest.mark.parametrize("ratio", [0.0, -1.0])
def test_a_cost_ratio_is_greater_than_0(ratio):
    """A cost that is 0 or negative is refused before anything is computed."""
    with pytest.raises(UsageError, match="cost_ratio must be greater than 0"):
        evaluated({"m": rows([1, 0], p_1=[0.6, 0.4])}, cost_ratio=ratio)


def test_a_cost_ratio_makes_the_warning_one():
    """A threshold that was asked for is one that may be used: the warning is no longer for information."""

    def level(**options):
        return next(w.level for w in two_models(**options).warnings if w.code == "threshold_chosen_here")

    assert (level(), level(cost_ratio=2.0)) == ("info", "caution")


# --- drawn and said -------------------------------------------------------------------------------------------------


def named_hostile():
    """Return results in which a model bears a hostile name."""
    truth, scores = two_normals(60)
    models = {HOSTILE: rows(truth, p_1=1 / (1 + np.exp(-scores))), "b|*_": rows(truth, score=-scores)}
    return evaluated(models, cost_ratio=2.0, what_if_threshold=0.7)


def test_hostile_names_are_harmless(tmp_path):
    """A model's name that is mark-up or a formula stands as text in the page, in sentences and drawings."""
    from evalreport.options import OutputOptions

    results = named_hostile()
    render(results, tmp_path / "out", options=OutputOptions(formats=("html",)))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


DRAWINGS = {
    "roc": lambda r, ax: curves.roc(r, ax, annotated=HOSTILE),
    "precision_recall": curves.precision_recall,
    "error_rates": lambda r, ax: thresholds.error_rates(r, HOSTILE, ax),
    "sweep": lambda r, ax: thresholds.sweep(r, ax, metric="mcc"),
    "reliability": lambda r, ax: thresholds.reliability(r, ax, highlight=[HOSTILE]),
    "accuracy_rejection": thresholds.accuracy_rejection,
    "gain": thresholds.gain,
    "lift": thresholds.lift,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_chart_draws_on_the_given_axes(name):
    """The axes come back, something of the model is on them, and its name is written as it is, not as a formula."""
    results = named_hostile()
    canvas = Canvas()
    axes = canvas.subplots()
    assert DRAWINGS[name](results, axes) is axes
    index = lookups.place_of_model(results, HOSTILE)
    assert any((line.get_gid() or "").startswith(f"m{index}--") for line in axes.get_lines())
    svg = to_svg(canvas, name="x", title="t", description="d")
    assert "<script>" not in svg
    ids = [part.split('"')[1] for part in svg.split(" id=")[1:]]
    assert len(ids) == len(set(ids))


def test_only_a_curve_that_is_alone_has_a_band():
    """Bands of several models lie on each other and cannot be read."""
    truth, scores = two_normals(60)
    one = {"m0": rows(truth, score=scores)}
    two = one | {"m1": rows(truth, score=scores[::-1])}
    for models, expected in ((one, {"m0--band"}), (two, set())):
        axes = curves.roc(evaluated(models), Canvas().subplots())
        assert {c.get_gid() for c in axes.collections} == expected


def test_scores_near_0_are_drawn_on_a_logarithmic_axis():
    """Where the errors are equal below a twentieth of the largest score; ticks are plain text."""
    truth, scores = two_normals(300)
    results = evaluated({"m": rows(truth, p_1=np.clip(np.exp(3 * scores - 9), 0, 1))})
    axes = thresholds.error_rates(results, "m", Canvas().subplots())
    assert axes.get_xscale() == "log"
    assert not any("$" in text.get_text() for text in axes.get_xticklabels())


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
    assert len(found.curves) == 1
    assert len(found.changes) == 2
    assert [row.model.id for row in sections["gains"].table.rows] == ["proba"]
    labels = evaluated({"m": rows([1, 0, 1, 0], y_pred=["1", "0", "0", "1"])})
    assert not {s.name for s in describe(view_of(labels))} & {"thresholds", "gains"}


def test_many_models_are_cut_and_said():
    """Of 14 models at most four are named beside their curves; of 91 sentences six stand, the rest is counted."""
    truth, scores = two_normals(40)
    random = np.random.default_rng(1)
    p = {f"m{i:02d}": np.clip(0.5 + scores / 8 + random.normal(size=40) / 9, 0.01, 0.99) for i in range(14)}
    results = evaluated({name: rows(truth, p_1=values) for name, values in p.items()}, resamples=60)
    sections = {s.name: s.content for s in describe(view_of(results))}
    roc = next(f for f in sections["curves"].figures if f.name == "roc")
    axes = Canvas().subplots()
    roc.draw[0](axes)
    assert [text.get_text() for text in axes.texts][-1] == "10 others"
    assert "grey: the others" in roc.caption
    assert len(sections["thresholds"].curves) == 7
    assert sections["thresholds"].curves[-1] == "85 more are in results.json."


def test_records_are_flat():
    """Each list opens as a data frame: plain values, messages, arrays or mappings of numbers."""
    results = two_models(what_if_threshold=0.6)
    for field in ("curve_summaries", "operating_points", "dominance", "threshold_changes"):
        for record in getattr(results, field):
            for name, value in dataclasses.asdict(record).items():
                plain = isinstance(value, (str, Message, float, int, type(None), tuple, dict))
                assert plain, (field, name)


def test_a_curve_is_headed_by_what_was_compared():
    """Without a comparison on ROC AUC nothing is claimed of it; with one the model that is behind is named."""
    truth, scores = two_normals(300)
    noise = np.random.default_rng(3).normal(size=300)
    values = {"good": scores, "poor": scores + 6 * noise}
    results = evaluated({name: rows(truth, p_1=1 / (1 + np.exp(1 - x))) for name, x in values.items()})
    assert results.primary_metric == "accuracy"
    told = {f.name: f for f in curves_section.describe(view_of(results)).figures}
    assert re.search(r"good stays above poor|poor is behind good", told["roc"].title)
    assert curves.contenders(results, "roc_auc") == ["good"]
    bare = dataclasses.replace(results, comparisons=())
    told = {f.name: f for f in curves_section.describe(view_of(bare)).figures}
    assert told["roc"].title == "ROC curves"
    assert told["pr"].title == "Precision-recall curves"


def test_an_axis_that_is_cut_is_said_to_be():
    """The curves reach 1 early, so the axis ends before 1, and the caption says where."""
    truth, scores = two_normals(400)
    results = evaluated({"m": rows(truth, score=scores + 6 * truth)})
    figure = curves_section.describe(view_of(results)).figures[0]
    axes = Canvas().subplots()
    figure.draw[0](axes)
    end = axes.get_xlim()[1]
    assert end < 1
    assert f"from 0 to {end:g} of 1" in figure.caption


def test_miscalibration_is_said_of_the_models_that_an_interval_shows_it_of():
    """Probabilities that are drawn to one half are underconfident: the slope's interval lies above 1."""
    random = np.random.default_rng(4)
    p = random.uniform(0.02, 0.98, size=800)
    truth = (random.random(800) < p).astype(int)
    models = {"flat": rows(truth, p_1=0.5 + (p - 0.5) / 3), "fair": rows(truth, p_1=p)}
    told = {f.name: f.title for f in curves_section.describe(view_of(evaluated(models))).figures}
    assert told["reliability"].startswith("flat is underconfident (slope ")
    assert "fair" not in told["reliability"]
    # A probability of 0 or 1 has no logit, so there is no slope: nothing was looked for.
    models = {"fair": rows(truth, p_1=p), "sure": rows(truth, p_1=np.where(p > 0.9, 1.0, p))}
    told = {f.name: f.title for f in curves_section.describe(view_of(evaluated(models))).figures}
    assert told["reliability"].startswith("No miscalibration shows: slope ")
    assert told["reliability"].endswith("; not judged, having no interval of the slope: sure")


def test_recall_by_class_is_one_map_with_its_confusions():
    """By hand: of 4 "a" 1 is found by m and 3 called "b"; "b" and "c" are all found."""
    truth = list("aaaabbcc")
    said = list("abbbbbcc")
    given = {"id": [str(i) for i in range(8)], "y_true": truth}
    results = evalreport.evaluate(
        {"m": given | {"y_pred": said}, "n": given | {"y_pred": truth}}, resamples=50
    )
    map_ = curves_section.describe(view_of(results)).classes
    assert [model.id for model in map_.models] == ["n", "m"]
    assert {row.label: [text for text, _ in row.cells] for row in map_.rows} == {
        "a": ["100", "25"], "b": ["100", "100"], "c": ["100", "100"]
    }  # fmt: skip
    assert [step for _, step in map_.rows[0].cells] == [0, 5]
    assert map_.confusions == ("“a” called “b” (n = 4): m 3.",)
    assert "m finds only 25 % of “a”" in map_.title
