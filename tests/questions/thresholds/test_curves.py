"""What stands in the results: every curve for whom it is for, short lists, plain numbers, harmless names."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError
from evalreport.metrics.curves import CURVES
from evalreport.report import render
from evalreport.schema.results import to_json
from evalreport.texts import Message
from tests.samples.cases import every
from tests.samples.curves import evaluated, named_hostile, of_classes, rows, two_models, two_normals

pytestmark = pytest.mark.usefixtures("primary_alone")


def test_every_curve_of_a_binary_task():
    """Probabilities have all registered curves, bare scores those of scores, and no others."""
    found = two_models().curves
    assert {c.curve for c in found if c.model == "proba"} == {*CURVES}
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
    """ROC, precision-recall and calibration by class, reliability of the largest probability, no operating points."""
    results = evalreport.evaluate({"m": of_classes(120)}, options=evalreport.Options(resamples=200))
    by_class = {(c.curve, c.label) for c in results.curves if c.label is not None}
    assert by_class == {(curve, label) for curve in ("roc", "pr", "corp") for label in results.classes}
    of_largest = {c.curve for c in results.curves if c.label is None}
    assert of_largest == {"corp", "reliability", "accuracy_rejection"}
    assert all(c.band == "pointwise" for c in results.curves if c.curve == "roc")
    assert results.operating_points == results.dominance == []


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
    assert found == {"corp", "murphy", "reliability", "accuracy_rejection"}


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


@pytest.mark.parametrize("name", every(3, DEGENERATE))
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
    assert {c.curve for c in results.curves} == {"corp", "murphy", "reliability", "accuracy_rejection"}
    assert results.operating_points == results.dominance == []


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


@pytest.mark.slow
def test_hostile_names_are_harmless(tmp_path):
    """A model's name that is mark-up or a formula stands as text in the page, in sentences and drawings."""
    from evalreport.options import OutputOptions

    results = named_hostile()
    render(results, tmp_path / "out", options=OutputOptions(formats=("html",)))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_records_are_flat():
    """Each list opens as a data frame: plain values, messages, arrays or mappings of numbers."""
    results = two_models(what_if_threshold=0.6)
    for field in ("curve_summaries", "operating_points", "dominance", "threshold_changes"):
        for record in getattr(results, field):
            for name, value in dataclasses.asdict(record).items():
                plain = isinstance(value, (str, Message, float, int, type(None), tuple, dict))
                assert plain, (field, name)
