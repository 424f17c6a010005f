"""Did the data change, which slice fell: what is flagged, what is not, and what cannot be asked."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import evalreport as er
from evalreport.audit.sequential_test import share_of_look
from tests.samples.audits import audited, gate_of, right, share
from tests.samples.nights import GOOD, answer, changed, night, series, warned


def scored(scores: np.ndarray, *, first: int, prevalence: float = 0.5, **columns: list):
    """Return a model with these scores; a share of the truths is positive."""
    n = len(scores)
    truth = ["1"] * round(prevalence * n) + ["0"] * (n - round(prevalence * n))
    ids = [f"e{first + k}" for k in range(n)]
    said = ["1" if score > 0 else "0" for score in scores]
    return {"forest": {"id": ids, "y_true": truth, "score": list(scores), "y_pred": said, **columns}}


def spread(n: int, shift: float = 0.0) -> np.ndarray:
    """Return the quantiles of a normal distribution in an order that has nothing to do with the truth."""
    quantiles = stats.norm.ppf((np.arange(n) + 0.5) / n) + shift
    return np.random.default_rng(7).permutation(quantiles)


def test_data_of_the_same_kind_raise_nothing(history):
    """New examples with the same truths, answers and scores: every question is answered, none is loud."""
    found = changed(
        history, scored(spread(400), first=0), scored(spread(400), first=1000), gates=("drifts <= 0",)
    )
    asked = {row.question for row in found.results.audit}
    assert asked >= {"examples", "labels", "classes", "predicted_labels", "scores", "missing"}
    assert not any(row.alarm for row in found.results.audit)
    assert gate_of(found) == ("pass", "drifts: 0")


def test_another_prevalence_is_found_with_its_size(history):
    """Half positive then, a fifth now, 400 examples each: chi-square and Cramer's V as scipy has them."""
    found = changed(history, scored(spread(400), first=0), scored(spread(400), first=1000, prevalence=0.2))
    row = answer(found, "labels")
    table = [[200, 200], [320, 80]]
    assert (row.test, row.alarm) == ("chi_square", True)
    assert row.statistic == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)
    assert row.effect_size == pytest.approx(stats.contingency.association(np.array(table), method="cramer"))
    assert row.text == "20.0 % are “1”, 50.0 % were"
    assert "true labels: 20.0 % are “1”, 50.0 % were" in warned(found)["data_changed"].text


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_an_alarm_about_the_data_is_a_sentence_of_the_page(history, tmp_path):
    """It spans the columns of the audit's table, as words."""
    found = changed(history, scored(spread(400), first=0), scored(spread(400), first=1000, prevalence=0.2))
    er.render(found.results, tmp_path / "report", formats=["html"])
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "<b>alarm: true labels or values: 20.0 % are “1”, 50.0 % were</b>" in page
    assert "Cell(" not in page


def test_other_scores_are_found_though_the_labels_are_the_same(history):
    """Scores 0.5 standard deviations higher: Kolmogorov-Smirnov, and half a standard deviation of Wasserstein."""
    found = changed(history, scored(spread(400), first=0), scored(spread(400, 0.5), first=1000))
    row = answer(found, "scores", "forest")
    assert (row.test, row.alarm) == ("kolmogorov_smirnov", True)
    assert row.effect_size == pytest.approx(
        0.5, abs=0.01
    )  # the sample's own standard deviation is not quite 1
    assert row.details["psi"] > 0.1
    assert not answer(found, "labels").alarm


def test_p_values_are_adjusted_for_the_questions_and_the_looks(history):
    """Holm over the tests about the data, divided by the share of the second look."""
    series(history, [GOOD])
    source = night(GOOD, 200, first=50_000)
    source["forest"]["y_true"][:60] = ["1"] * 60
    found, _, _ = audited(history, source)
    rows = [row for row in found.results.audit if row.question not in ("worse", "worse_this_run")]
    p = sorted(row.p_value for row in rows if row.p_value is not None)
    row = answer(found, "labels")
    assert row.p_value == p[0]
    assert row.p_adjusted == pytest.approx(min(1, len(p) * p[0] / share_of_look(2)), rel=1e-9)


def test_classes_that_come_or_go_are_named(history):
    """Ten of class z come and all of x are gone: Fisher's p of the rarer surprise times three classes, and how many."""
    ids = [f"e{k}" for k in range(200)]
    then = {"forest": {"id": ids, "y_true": ["x"] * 100 + ["y"] * 100, "y_pred": ["x"] * 100 + ["y"] * 100}}
    now = {
        "forest": {"id": [f"n{k}" for k in ids], "y_true": ["y"] * 190 + ["z"] * 10, "y_pred": ["y"] * 200}
    }
    row = answer(changed(history, then, now), "classes")
    assert (row.alarm, row.effect_size) == (True, 2.0)
    assert row.text == "new: z; gone: x"
    assert row.p_value == pytest.approx(3 * stats.fisher_exact([[100, 100], [200, 0]]).pvalue, rel=1e-6)


def test_a_rare_class_that_happens_to_be_missing_is_no_alarm(history):
    """Two of 200 then, none of 200 now: Fisher's p is 0.5."""
    labels = ["x"] * 100 + ["y"] * 98 + ["z"] * 2
    then = {"forest": {"id": [f"a{k}" for k in range(200)], "y_true": labels, "y_pred": labels}}
    other = ["x"] * 100 + ["y"] * 100
    now = {"forest": {"id": [f"b{k}" for k in range(200)], "y_true": other, "y_pred": other}}
    row = answer(changed(history, then, now), "classes")
    assert (row.alarm, row.text) == (False, "gone: z")


def test_a_night_with_less_than_half_of_the_usual_rows_is_said(history):
    """Nights of 200 after an accepted run of 1,000 are usual; one of 90 is not, though the accuracy is the same."""
    assert not answer(series(history, [GOOD, GOOD]), "examples").alarm
    found, _, _ = audited(history, night(GOOD, 90, first=70_000))
    row = answer(found, "examples")
    assert (row.alarm, row.effect_size) == (True, pytest.approx(0.45))
    assert row.text == "90, usually 200: fewer than half"


def test_on_the_same_examples_labels_are_not_asked_and_scores_in_pairs(history):
    """The same ids: no test of the truths; scores that all rise a little are seen example by example."""
    found = changed(history, scored(spread(200), first=0), scored(spread(200) + 0.01, first=0))
    assert answer(found, "labels").reason == "the same examples"
    row = answer(found, "scores", "forest")
    assert (row.test, row.alarm) == ("wilcoxon", True)
    assert row.effect_size == pytest.approx(0.01, abs=0.001)  # in standard deviations, of which one is 1


def test_dependent_examples_have_sizes_and_no_tests(history):
    """With clusters the same change of prevalence has its size and no p-value."""
    who = [f"c{k // 4}" for k in range(400)]
    then, now = (
        scored(spread(400), first=0, who=who),
        scored(spread(400), first=1000, prevalence=0.2, who=who),
    )
    row = answer(changed(history, then, now, cluster="who"), "labels")
    assert (row.p_value, row.alarm) == (None, False)
    assert row.effect_size > 0.3
    assert "not independent" in row.reason


def test_true_values_of_a_regression_are_compared_as_distributions(history):
    """Truths twice as far apart: Kolmogorov-Smirnov of the truths and of the predictions."""
    x = spread(300)
    then = {"forest": {"id": [f"a{k}" for k in range(300)], "y_true": x, "y_pred": x + 0.1}}
    now = {"forest": {"id": [f"b{k}" for k in range(300)], "y_true": 2 * x, "y_pred": 2 * x + 0.1}}
    found = changed(history, then, now, metrics=("mae",))
    assert answer(found, "labels").alarm
    assert answer(found, "scores", "forest").alarm


def test_a_third_class_is_found_though_the_task_became_another(history):
    """Two classes then, three now: how the models compare cannot be said, what came can."""
    labels = ["x"] * 100 + ["y"] * 100
    then = {"forest": {"id": [f"a{k}" for k in range(200)], "y_true": labels, "y_pred": labels}}
    more = ["x"] * 90 + ["y"] * 90 + ["z"] * 20
    now = {"forest": {"id": [f"b{k}" for k in range(200)], "y_true": more, "y_pred": more}}
    found = changed(history, then, now, gates=("alarms <= 0", "drifts <= 0"))
    assert answer(found, "classes").text == "new: z"
    assert answer(found, "classes").alarm
    assert gate_of(found)[0] == "undecided"
    assert gate_of(found, 1)[0] == "fail"
    assert re.search(
        r"there are \d alarms about the data, needs ≤ 0; true labels: 10\.0 % are “z”, 0\.0 % were",
        str(found.results.headline.text),
    )


def test_another_kind_of_truth_is_said_aloud(history):
    """Classes then, numbers now."""
    numbers = {"forest": {"id": [f"a{k}" for k in range(40)], "y_true": spread(40), "y_pred": spread(40)}}
    found = changed(history, right(share(30, 40)), numbers, metrics=())
    row = answer(found, "labels")
    assert (row.alarm, row.text) == (True, "another task: regression now, binary then")
