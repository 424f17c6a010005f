"""Rows of slices: how many tests they are."""

from __future__ import annotations

from evalreport.questions.slices.records import DisparityRecord, distinct_tests
from evalreport.schema.metrics import Slice


def row(
    value: str, *, reference: str = "rest", adjusted: float | None = 0.5, column: str = "sex"
) -> DisparityRecord:
    """Return the row of one slice; without an adjusted p-value it was not tested."""
    return DisparityRecord(
        model="m", metric="accuracy", average=None, label=None, slice=Slice(column=column, value=value),
        reference=reference, difference=0.1, low=None, high=None, ratio=None, ratio_low=None, ratio_high=None,
        level=0.95, method=None, p_adjusted=adjusted, n=10, reason=None,
    )  # type: ignore[arg-type] # fmt: skip


def test_two_slices_of_a_column_are_one_test() -> None:
    """Each is the other's rest: the difference of one is that of the other turned round."""
    assert distinct_tests([row("f"), row("m")]) == 1


def test_three_slices_are_three_tests_and_only_tests_against_the_rest_count() -> None:
    """What is compared with the whole or the best slice is no test of its own, nor is a slice too small to judge."""
    rows = [row(value) for value in "abc"]
    assert distinct_tests(rows) == 3
    assert distinct_tests([*rows, row("a", reference="whole"), row("b", reference="best")]) == 3
    assert distinct_tests([*rows[:2], row("c", adjusted=None)]) == 2
    assert distinct_tests([*rows, row("x", column="region"), row("y", column="region")]) == 4
