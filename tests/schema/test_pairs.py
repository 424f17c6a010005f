"""Records of pairs seen from either model: differences change their sign, ratios are inverted, limits change places."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalreport.questions.coverage.records import WidthRatioRecord
from evalreport.schema.pairs import RATIO, inverted, seen_from
from evalreport.schema.results import Results


def test_a_comparison_turned_round_twice_is_itself(simulate: Callable[..., Results]) -> None:
    """The difference changes its sign, the limits change places, and the p-value stays."""
    for record in simulate().comparisons:
        other = seen_from(record.b, record)
        assert (other.a, other.b) == (record.b, record.a)
        assert other.difference == pytest.approx(-record.difference, abs=0)
        assert (other.low, other.high) == (-record.high, -record.low)
        assert other.p_value == record.p_value
        assert seen_from(record.a, other) == record
        assert seen_from(record.a, record) is record


def test_a_ratio_from_the_other_side_is_its_inverse() -> None:
    """0.5 [0.25, none] is 2 [none, 4] from the other side: by hand."""
    record = WidthRatioRecord(a="a", b="b", level=0.9, ratio=0.5, low=0.25, high=None, confidence=0.95)
    other = seen_from("b", record, RATIO, by=inverted)
    assert (other.a, other.b, other.ratio, other.low, other.high) == ("b", "a", 2.0, None, 4.0)
