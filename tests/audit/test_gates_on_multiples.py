"""Gates against a multiple of an earlier run's value: ``champion.cost_mean <= 1.2 * accepted``."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evalreport.errors import UsageError
from evalreport.gates.conditions import sides
from evalreport.gates.outcomes import parse
from evalreport.history.connection import History
from evalreport.intervals.proportions import wilson_limits
from tests.samples.audits import audited, right, share


@pytest.mark.parametrize(
    "text",
    [
        "m.cost_mean <= 1.2 * accepted",
        "m.cost_mean<=1.2*accepted",
        "1.2 * accepted >= m.cost_mean",
        "m.cost_mean <= 1.2 × accepted",
        "cost_mean <= 1.2 * accepted",
    ],
)
def test_a_multiple_of_an_earlier_value_is_read(text: str) -> None:
    """On either side; the bar in sentences stays as it was typed."""
    gate = parse(text, models=["m"])
    assert (gate.reference, gate.times, gate.limit, gate.comparator) == ("accepted", True, 1.2, "<=")
    assert "accepted" in sides(text)[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m.accuracy >= 0.9 * accepted - 0.1", "takes no"),
        ("m.accuracy >= 0 * accepted", "above 0"),
        ("m.accuracy >= 0.9 * accepted x", "expected the end"),
        ("m.accuracy - o.accuracy >= 0.9 * last", "gate one model"),
        ("alarms <= 2 * accepted", "already compares"),
    ],
)
def test_a_multiple_that_is_wrong_says_where(text: str, message: str) -> None:
    """Nothing is added to a multiple, and it is of one model's value."""
    with pytest.raises(UsageError, match=message):
        parse(text, models=["m", "o"])


def test_a_share_is_decided_by_both_runs_limits_squared_and_added(history: History) -> None:
    """180 of 200 now, 300 of 400 then: x - k y by hand from Wilson's limits, at the limits of the ratio it meets 0."""
    audited(history, right(share(300, 400)))
    gates = (
        "forest.accuracy >= 1.0 * accepted",
        "forest.accuracy >= 1.2 * last",
        "forest.accuracy <= 1.9 * last",
    )
    found, _, _ = audited(history, right(share(180, 200), first=5000), gates=gates)
    assert [gate.outcome for gate in found.results.gates] == ["pass", "undecided", "pass"]
    (record, *_) = found.results.gates
    assert record.value == pytest.approx(0.9 / 0.75)
    (low, high), (low_then, high_then) = wilson_limits(180, 200, 0.95), wilson_limits(300, 400, 0.95)
    assert record.low is not None
    assert record.high is not None
    k = record.low
    assert 0.9 - k * 0.75 == pytest.approx(math.hypot(0.9 - low, k * (high_then - 0.75)), rel=1e-6)
    k = record.high
    assert k * 0.75 - 0.9 == pytest.approx(math.hypot(high - 0.9, k * (0.75 - low_then)), rel=1e-6)
    assert "times as large" in str(record.text)


def priced(mean: float, n: int = 400, first: int = 0) -> dict[str, Any]:
    """Return a model whose answers cost so much, give or take a tenth."""
    columns = dict(right(share(n - 5, n), first=first)["forest"])
    columns["cost"] = [mean * (0.9 + 0.2 * (k % 11) / 10) for k in range(n)]
    return {"forest": columns}


@pytest.mark.parametrize(("mean", "outcome"), [(1.1, "pass"), (1.2, "undecided"), (1.3, "fail")])
def test_a_mean_cost_is_held_against_a_multiple_of_the_accepted_one(
    history: History, mean: float, outcome: str
) -> None:
    """1.2 times as much is allowed, exactly at the bar it is not decided."""
    audited(history, priced(1.0))
    found, _, _ = audited(history, priced(mean, first=9000), gates=("forest.cost_mean <= 1.2 * accepted",))
    (record,) = found.results.gates
    assert record.outcome == outcome
    assert record.value == pytest.approx(mean, rel=0.01)


def test_the_number_of_examples_is_known_exactly(history: History) -> None:
    """Half of the accepted run's rows or more."""
    audited(history, right(share(90, 100)))
    found, _, _ = audited(
        history, right(share(55, 60), first=500), gates=("n >= 0.5 * accepted", "n >= 0.7 * accepted")
    )
    assert [gate.outcome for gate in found.results.gates] == ["pass", "fail"]


def test_a_value_of_zero_then_decides_nothing(history: History) -> None:
    """A ratio to 0 has no limits; the first run of a series passes, as other gates since a run do."""
    first, _, _ = audited(history, right(share(0, 40)), gates=("forest.accuracy >= 0.9 * accepted",))
    assert first.results.gates[0].outcome == "pass"
    found, _, _ = audited(
        history, right(share(30, 40), first=99), gates=("forest.accuracy >= 0.9 * accepted",)
    )
    assert found.results.gates[0].outcome == "undecided"
