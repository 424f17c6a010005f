"""A bar that no value can reach is refused before anything is computed."""

from __future__ import annotations

import pytest

from evalreport.errors import UsageError
from evalreport.gates.reach import require_reachable

REFUSED = [
    ("a.accuracy >= 90", "between 0 and 1"),
    ("a.accuracy > 1", "between 0 and 1"),
    ("a.accuracy < 0", "between 0 and 1"),
    ("1.01 <= a.accuracy", "between 0 and 1"),
    ("best.accuracy >= 1.5", "between 0 and 1"),
    ("a.mcc <= -1.1", "between -1 and 1"),
    ("a.accuracy - b.accuracy > 1", "a difference of accuracy lies between -1 and 1"),
    ("a.accuracy >= accepted + 1.5", "a change of accuracy lies between -1 and 1"),
    ("a.log_loss < 0", "at least 0"),
    ("n < 0", "at least 0"),
    ("alarms <= -1", "at least 0"),
]
REACHED = [
    *("a.accuracy >= 1", "a.accuracy <= 0", "a.accuracy >= -0.5", "a.accuracy - b.accuracy >= 1", "n >= 1e9"),
    *("a.log_loss <= 0", "a.accuracy >= 3 * b.accuracy", "a.accuracy >= 9 * accepted", "a.cost_mean >= 100"),
    *("alarms <= 0", "a.nonsense >= 5", "a.accuracy >= accepted + 0.5", '"no such"'),
]


@pytest.mark.parametrize(("gate", "message"), REFUSED)
def test_a_bar_out_of_reach_is_refused(gate: str, message: str) -> None:
    """The message has the range, and where in the gate."""
    with pytest.raises(UsageError, match=message):
        require_reachable([gate], ["a", "b"], "binary", ["0", "1"])


@pytest.mark.parametrize("gate", REACHED)
def test_a_bar_that_a_value_may_reach_is_left_to_the_decision(gate: str) -> None:
    """The ends of the range, ratios, and gates that the decision refuses by itself."""
    require_reachable([gate], ["a", "b"], "binary", ["0", "1"])
