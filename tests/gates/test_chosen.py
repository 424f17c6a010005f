"""A gate on the leader is decided by limits that hold for a model that was chosen among several."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er

RNG = np.random.default_rng(21)
IDS = [f"e{k}" for k in range(200)]
Y = RNG.choice(["yes", "no"], 200)
TURNED = np.where(Y == "yes", "no", "yes")
ALIKE = {
    name: {"id": IDS, "y_true": Y, "y_pred": np.where(RNG.random(200) < 0.2, TURNED, Y)}
    for name in ("a", "b", "c", "d")
}


def low_of(models: list[str], gate: str) -> float:
    """The lower limit that decides a gate."""
    results = er.evaluate(
        {name: ALIKE[name] for name in models}, metrics=["accuracy"], gates=[gate], resamples=20
    )
    (record,) = results.gates
    assert record.low is not None
    return record.low


def test_best_has_the_limits_of_a_chosen_value() -> None:
    """Wider than those of the same model alone: it was chosen among four."""
    results = er.evaluate(ALIKE, metrics=["accuracy"], resamples=20)
    assert results.chosen is not None
    low = low_of(list(ALIKE), "best.accuracy >= 0.5")
    assert low == pytest.approx(results.chosen.low)
    assert low < low_of([results.chosen.model], f"{results.chosen.model}.accuracy >= 0.5")


def test_a_leader_that_was_named_keeps_its_own_limits_and_carries_the_chosen_value() -> None:
    """Its name was given before."""
    leader = "d"
    gate = f"{leader}.accuracy >= 0.5"
    results = er.evaluate(ALIKE, metrics=["accuracy"], gates=[gate], resamples=20)
    assert results.chosen is not None
    assert results.chosen.model == leader
    assert results.gates[0].low == pytest.approx(low_of([leader], gate))
    assert [v.low for v in results.chosen_values] == [pytest.approx(results.chosen.low)]


def test_another_model_keeps_its_own_limits() -> None:
    """Nobody chose it."""
    results = er.evaluate(ALIKE, metrics=["accuracy"], resamples=20)
    assert results.chosen is not None
    other = next(name for name in ALIKE if name != results.chosen.model)
    gate = f"{other}.accuracy >= 0.5"
    assert low_of(list(ALIKE), gate) == pytest.approx(low_of([other], gate))
