"""Risk and coverage (METHODS 7S), and shares at a recall, against their definitions written out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.metrics.registry import Quantity
from evalreport.metrics.rejection import Confidences, _area, _area_slopes, _excess_slopes, aurc, e_aurc
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import ModelOutputs
from research.studies.designs import Truth, predictions_on
from research.studies.simulation import held_of
from tests.metrics.test_at_rates import data


def state_of(confidence: Floats, wrong: Floats) -> Confidences:
    """The state of one model's answers."""
    return Confidences(confidence, wrong, np.unique(-confidence, return_inverse=True)[1].ravel(), 1.0)


def by_definition(confidence: Floats, wrong: Floats) -> float:
    """Each tied answer counts its tie's mean; the mean over k of the share wrong among the k surest."""
    order = np.argsort(-confidence, kind="stable")
    smoothed = np.array([wrong[confidence == confidence[k]].mean() for k in order])
    return float((np.cumsum(smoothed) / np.arange(1, len(order) + 1)).mean())


@pytest.mark.parametrize("seed", range(4))
def test_area_is_its_definition_with_and_without_ties(seed: int) -> None:
    """40 answers, confidences of six levels or none alike."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(40) if seed % 2 else rng.integers(0, 6, 40) / 6
    wrong = (rng.random(40) < 0.3).astype(float)
    state = state_of(confidence, wrong)
    ones = np.ones((1, 40))
    assert aurc(state, ones)[0] == pytest.approx(by_definition(confidence, wrong), rel=1e-10)
    r = wrong.mean()
    assert e_aurc(state, ones)[0] == pytest.approx(
        by_definition(confidence, wrong) - (r + (1 - r) * math.log(1 - r)), rel=1e-9, abs=1e-12
    )


def test_whole_weights_repeat_examples() -> None:
    """An example of weight 3 counts as three that are tied."""
    rng = np.random.default_rng(6)
    confidence, wrong = rng.random(20), (rng.random(20) < 0.4).astype(float)
    times = rng.integers(1, 4, 20)
    weighted = aurc(state_of(confidence, wrong), times[None, :].astype(float))[0]
    assert weighted == pytest.approx(
        by_definition(np.repeat(confidence, times), np.repeat(wrong, times)), rel=1e-10
    )


@pytest.mark.parametrize(("slopes", "value"), [(_area_slopes, aurc), (_excess_slopes, e_aurc)])
def test_derivatives_are_those_of_central_differences(slopes: object, value: object) -> None:
    """By each example's weight, with ties."""
    rng = np.random.default_rng(7)
    state = state_of(rng.integers(0, 8, 25) / 8, (rng.random(25) < 0.4).astype(float))
    found = slopes(state, np.ones((1, 25)))[0]  # type: ignore[operator]
    for k in range(25):
        step = np.zeros((1, 25))
        step[0, k] = 1e-5
        up, down = value(state, 1 + step)[0], value(state, 1 - step)[0]  # type: ignore[operator]
        assert found[k] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_all_wrong_and_all_right_have_their_values() -> None:
    """AURC 1 and 0; of the best order e_aurc is near 0."""
    assert _area(np.ones((1, 9)), np.ones((1, 9)))[0] == pytest.approx(1.0)
    assert _area(np.ones((1, 9)), np.zeros((1, 9)))[0] == 0.0


def test_values_intervals_and_gates_where_they_are_named() -> None:
    """Wilson's limits by the variance; a difference is decided by its t interval; no run has them by itself."""
    frames = data()
    results = er.evaluate(
        frames,
        metrics=["aurc", "e_aurc", "accuracy[at_coverage=0.8]"],
        gates=["a.aurc <= 0.9", "a.accuracy[at_coverage=0.8] >= 0.3"],
        resamples=50,
    )
    methods = {m.metric: m.intervals[0].method for m in results.metrics if m.model == "a" and m.slice is None}
    assert methods == {
        "aurc": "trials_wilson",
        "e_aurc": "trials_wilson",
        "accuracy[at_coverage=0.8]": "at_rate_scan",
    }
    pair = next(c for c in results.comparisons if c.metric == "aurc" and c.recommended)
    assert (pair.test, pair.interval_method) == ("interval", "t")
    assert pair.p_value is not None
    assert [g.outcome for g in results.gates] == ["pass", "pass"]
    assert not {m.metric for m in er.evaluate(frames, resamples=20).metrics} & {"aurc", "e_aurc"}


def test_accuracy_at_a_coverage_is_of_the_surest() -> None:
    """The ceil(0.8 n) surest answers, by numpy."""
    frames = data()
    results = er.evaluate(frames, metrics=["accuracy[at_coverage=0.8]"], resamples=20)
    own = frames["a"]
    sure = np.maximum(own.p_1, 1 - own.p_1)
    right = (own.p_1 >= 0.5).astype(int) == own.y_true
    first = np.argsort(-sure.to_numpy(), kind="stable")[: math.ceil(0.8 * len(own))]
    value = next(m.value for m in results.metrics if m.model == "a")
    assert value == pytest.approx(right.to_numpy()[first].mean(), rel=1e-12)


def test_several_classes_have_them_too() -> None:
    """The largest probability is the confidence."""
    rng = np.random.default_rng(8)
    p = rng.dirichlet([1, 1, 1], 60)
    frame = pd.DataFrame(p, columns=["p_a", "p_b", "p_c"]).assign(y_true=rng.choice(list("abc"), 60))
    results = er.evaluate({"m": frame}, metrics=["aurc"], resamples=20)
    wrong = (np.array(list("abc"))[p.argmax(axis=1)] != frame.y_true).to_numpy().astype(float)
    assert results.metrics[0].value == pytest.approx(by_definition(p.max(axis=1), wrong), rel=1e-10)


def test_few_wrong_answers_are_said() -> None:
    """Of fewer than 100 Student's t is short (docs/kinds.csv), which leads under weights; of more nothing is said."""

    def warned(rows: int, weight: str | None = None) -> set[tuple[str, ...]]:
        frames = {name: frame.assign(weight=1.0 + frame.index % 2) for name, frame in data(rows).items()}
        results = er.evaluate(frames, metrics=["aurc"], resamples=20, weight=weight)
        return {w.about for w in results.warnings if w.code == "few_wrong_answers"}

    assert warned(60, "weight") == {("a",), ("b",)}
    assert not warned(900, "weight")
    assert not warned(60)


def test_intervals_of_areas_hold_where_few_answers_are_wrong() -> None:
    """With one answer in twenty wrong, whatever the confidence: at 50 rows Student's t held 0.82, and missed below."""
    random, n = np.random.default_rng(5), 50
    truth: dict[Truth, float] = {("value", "a", Quantity("aurc")): 0.05}
    held = given = 0.0
    for _ in range(200):
        sure, wrong = 0.5 + 0.5 * random.random(n), random.random(n) < 0.05
        proba = np.where(wrong[:, None], np.stack([sure, 1 - sure], 1), np.stack([1 - sure, sure], 1))
        model = ModelOutputs("a", y_pred=proba.argmax(axis=1).astype(np.int32), proba=proba)
        tally = held_of(predictions_on("multiclass", np.ones(n, dtype=np.int32), (model,), 2), truth)
        held, given = held + tally["value", "aurc"].held, given + tally["value", "aurc"].given
    assert given == 200
    assert held >= 0.92 * 200


def test_the_excess_is_a_share() -> None:
    """No order of whole examples reaches the best one's integral, so the excess is not below 0."""
    for wrong in ([0.0, 0.0, 1.0], [0.0] * 9, [1.0] * 4, [0.0] * 40 + [1.0] * 2):
        state = Confidences(
            np.arange(len(wrong), dtype=np.float64), np.array(wrong), np.arange(len(wrong)), 1.0
        )
        assert 0 <= e_aurc(state, np.ones((1, len(wrong))))[0] <= 0.2
