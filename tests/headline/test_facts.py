"""What the rules of the headline ask of results: order, pairs from either side, words, who is in service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.headline.facts import Facts, Limited, values_beside
from evalreport.schema.audit import HistoryRecord
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results

TRUTH = np.arange(200) % 2


def labels(right: int, *, shift: int = 0) -> dict[str, Any]:
    """Answer the given number of 200 examples correctly."""
    hit = (np.arange(200) * 7 + shift) % 200 < right
    return {"y_pred": np.where(hit, TRUTH, 1 - TRUTH)}


@pytest.fixture(scope="module")
def binary() -> Results:
    """Three models with labels alone, far apart."""
    models = {"ash": labels(180), "birch": labels(150, shift=3), "cedar": labels(110, shift=5)}
    return er.evaluate(models, truth=TRUTH, positive="1", metrics=("accuracy", "f1"), resamples=20)


@pytest.fixture(scope="module")
def regression() -> Results:
    """Three regressions, the second with the smallest errors; the last one is far behind."""
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 10, 120)
    models = {
        name: {"y_pred": truth + rng.normal(0, s, 120)} for name, s in (("a", 2.0), ("b", 1.0), ("c", 9.0))
    }
    return er.evaluate(models, truth=truth, metrics=("rmse",), resamples=20)


def test_the_smallest_loss_comes_first(regression: Results) -> None:
    """And a pair is seen from the better side: by how much it is better is positive."""
    facts = Facts(regression)
    assert facts.ranked == ["b", "a", "c"]
    assert facts.primary is not None
    assert facts.sign(facts.primary) == -1
    first = facts.pairs[0]
    assert (first.first, first.second) == ("b", "a")
    assert first.by.value > 0
    assert first.decided
    assert first.ahead


def test_of_losses_no_model_is_ahead(regression: Results) -> None:
    """A loss is lower, of several models as of two."""
    assert regression.headline is not None
    assert str(regression.headline.text).startswith(
        "b is lower than both others on RMSE: 0.93, next a 2.12, by 1.19 ["
    )
    against = er.evaluate(
        {"a": {"y_pred": np.arange(60.0) + 1}, "b": {"y_pred": np.arange(60.0) + np.tile([-4.0, 5.0], 30)},
         "c": {"y_pred": np.arange(60.0) + np.tile([-9.0, 8.0, 9.5], 20)}},
        truth=np.arange(60.0), metrics=("rmse",), baseline="b", resamples=20,
    )  # fmt: skip
    assert against.headline is not None
    text = str(against.headline.text)
    assert text.startswith("a is lower on RMSE than the baseline b, by ")
    assert "; c is higher, by " in text


def test_a_pair_from_the_other_side_has_the_opposite_difference(binary: Results) -> None:
    """The same record, turned: the limits change places and the decision is the same."""
    facts = Facts(binary)
    ab, ba = facts.pair("ash", "birch"), facts.pair("birch", "ash")
    assert ab is not None
    assert ba is not None
    assert ab.by.value == -ba.by.value
    assert (ab.by.low, ab.by.high) == (-(ba.by.high or 0), -(ba.by.low or 0))
    assert (ab.ahead, ba.ahead) == (True, False)


def test_a_metric_of_one_class_names_the_class(binary: Results) -> None:
    """Of two classes it is the positive one."""
    facts = Facts(binary)
    f1 = facts.overall("f1")
    assert f1 is not None
    assert facts.words(f1) == "F1 of “1”"


def accepted(model: str, value: float) -> HistoryRecord:
    """Record what a model had when the series was accepted."""
    unknown = dict.fromkeys(
        ("average", "label", "difference", "low", "high", "interval_method", "test", "p_value")
    )
    return HistoryRecord(
        reference="accepted", run=1, time="2026-01-01T00:00:00Z", model=model, metric="accuracy", value=0.5,
        reference_value=value, level=0.95, paired=False, text="", reason=None, **unknown,
    )  # fmt: skip


def test_who_is_in_service(binary: Results) -> None:
    """The baseline, else the models of gates, else who led when accepted, also if it is last now."""
    assert Facts(replace(binary, baseline="cedar")).in_service == ["cedar"]
    gate = GateRecord(gate="birch.accuracy >= 0.5", outcome="pass", value=0.75, low=0.7, high=0.8, text="")
    assert Facts(replace(binary, gates=(gate,))).in_service == ["birch"]
    then = (accepted("ash", 0.8), accepted("birch", 0.7), accepted("cedar", 0.9))
    assert Facts(replace(binary, history=then)).in_service == ["cedar"]
    assert Facts(binary).in_service == ["ash"]


def test_two_values_and_their_difference_add_up_as_they_are_shown() -> None:
    """9.38 and 18.58 are 9.2 apart, as 9 and 19 they would be 10; 0.8014 and 0.78655 are 0.015 apart, not 0.014."""
    shown = values_beside(9.38, 18.58, Limited(9.2, -5.0, 34.0))
    assert [str(shown[k]) for k in ("a", "b", "by")] == ["9.4", "18.6", "9 [−5, 34]"]
    finer = values_beside(0.8014, 0.78655, Limited(0.01485, 0.0083, 0.0216))
    assert [str(finer[k]) for k in ("a", "b", "by")] == ["0.8014", "0.7865", "0.015 [0.008, 0.022]"]
    exact = values_beside(0.86, 0.80, Limited(0.06, 0.043, 0.077))
    assert [str(exact[k]) for k in ("a", "b", "by")] == ["0.860", "0.800", "0.060 [0.043, 0.077]"]


def test_an_interval_holds_its_limits_and_none_holds_nothing() -> None:
    """A value without an interval excludes nothing, and holds nothing either."""
    assert Limited(0.1, 0.0, 0.2).holds(0.0)
    assert not Limited(0.1, 0.05, 0.2).holds(0.0)
    assert not Limited(0.1).holds(0.1)


def test_where_the_truth_has_one_class_models_that_are_mostly_right_have_no_swapped_labels() -> None:
    """90 and 80 of 100 right: the rule that always says the one class has a recall of 1, which makes none inverted."""
    models = {name: {"y_pred": [1] * right + [0] * (100 - right)} for name, right in (("a", 90), ("b", 80))}
    results = er.evaluate(models, truth=[1] * 100, positive="1", resamples=20)
    assert results.headline is not None
    text = str(results.headline.text)
    assert "swapped" not in text
    assert "the best is a, 0.900" in text


def test_rows_left_out_and_answers_counted_as_wrong_are_both_said() -> None:
    """400 of 1,200 rows are a's alone; of the other 800 b leaves 20 empty, which makes the whole difference."""
    n = 1200
    ids, truth = [f"i{k}" for k in range(n)], np.arange(n) % 2
    answers = np.where((np.arange(n) * 7) % n < 960, truth, 1 - truth).astype(str)
    empty = ["" if k % 40 == 0 else answers[k] for k in range(800)]
    models = {
        "a": {"id": ids, "y_true": truth, "y_pred": answers},
        "b": {"id": ids[:800], "y_true": truth[:800], "y_pred": empty},
    }
    results = er.evaluate(
        models, positive="1", join="intersect", missing="wrong", metrics=("accuracy",), resamples=20
    )
    assert results.headline is not None
    assert str(results.headline.text).endswith(
        "; 400 of 1,200 examples are left out, for not every model has them; "
        "b left 20 of 800 empty, which counts as wrong."
    )


@pytest.mark.parametrize("baseline", [None, "prod"])
def test_two_of_three_models_with_the_same_answers_are_said_to_have_them(baseline: str | None) -> None:
    """Nothing can show which of two copies is better, however many examples there are."""
    models = {"cand": labels(170), "prod": labels(170), "other": labels(120, shift=3)}
    results = er.evaluate(
        models, truth=TRUTH, positive="1", metrics=("accuracy",), baseline=baseline, resamples=20
    )
    assert results.headline is not None
    assert str(results.headline.text).endswith("; cand and prod give the same answers.")


def test_of_a_loss_no_model_is_behind_in_a_slice() -> None:
    """The new one errs by 3 in slice a and by 9 in b, the old one by 5: over all new is higher, in a old."""
    rng = np.random.default_rng(2)
    truth, group = rng.normal(100, 20, 800), np.where(np.arange(800) < 400, "a", "b")
    errors = {"old": 5 * rng.normal(size=800), "new": np.where(group == "a", 3, 9) * rng.normal(size=800)}
    models = {name: {"y_pred": truth + e, "g": group} for name, e in errors.items()}
    results = er.evaluate(models, truth=truth, baseline="old", slices=["g"], metrics=("rmse",), resamples=20)
    assert results.headline is not None
    assert "; old is higher in g a: " in str(results.headline.text)
