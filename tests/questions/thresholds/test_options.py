"""Options about thresholds: ranges, lists of shares and a ratio of costs, or one line that says what they are."""

from __future__ import annotations

import pytest

from evalreport.errors import UsageError
from evalreport.questions.thresholds.options import (
    MOST_SHARES,
    MOST_THRESHOLDS,
    ThresholdOptions,
    shares_of,
    threshold_range,
)


def test_a_range_has_both_its_ends() -> None:
    """Also where the step does not meet the upper one."""
    assert threshold_range("0.1:0.3:0.1") == (0.1, 0.2, 0.3)
    assert threshold_range("0.1:0.25:0.1") == (0.1, 0.2, 0.25)
    assert len(threshold_range("0.01:0.99")) == 99


@pytest.mark.parametrize(
    "text", ["0.3", "0.3:0.1", "0:0.5", "0.1:1", "a:b", "0.1:0.2:0.3:0.4", "0.1:0.5:0", "nan:0.5"]
)
def test_what_is_no_range_is_refused_with_an_example(text: str) -> None:
    """One line."""
    with pytest.raises(UsageError, match="such as 0.05:0.3"):
        ThresholdOptions(thresholds=text).check_ranges()


def test_too_many_thresholds_are_refused() -> None:
    """With the remedy."""
    with pytest.raises(UsageError, match=f"more than {MOST_THRESHOLDS} thresholds; use a larger step"):
        threshold_range("0.001:0.999:0.0001")


def test_shares_are_each_named_once() -> None:
    """In the order in which they were named."""
    assert shares_of("0.8, 0.95,0.8") == (0.8, 0.95)
    assert shares_of(",".join(str(k / 100) for k in range(1, MOST_SHARES + 2))) == ()


@pytest.mark.parametrize("name", ["finds", "alarms"])
@pytest.mark.parametrize("text", ["95", "0", "-0.1", "half", "", "nan"])
def test_what_are_no_shares_are_refused_by_name(name: str, text: str) -> None:
    """Percent are not taken for shares."""
    with pytest.raises(UsageError, match=name):
        ThresholdOptions(**{name: text}).check_ranges()  # type: ignore[arg-type]


def test_a_ratio_of_costs_is_above_0() -> None:
    """The message says of which costs."""
    with pytest.raises(UsageError, match="false negative over that of"):
        ThresholdOptions(cost_ratio=0.0).check_ranges()
    ThresholdOptions(cost_ratio=5.0).check_ranges()
