"""The order of examples in time: numbers, dates with and without zones, and what has no order."""

from __future__ import annotations

from typing import Any

import pytest

from evalreport.errors import UsageError
from evalreport.predictions.time_order import no_series, rows_in_time


def at(loaded: Any, times: list[str], more: str = "", cells: str = "") -> Any:
    """Load one model's outcomes at these times."""
    rows = "".join(f"{i},{time},1{cells}\n" for i, time in enumerate(times))
    return loaded(f"id,time,outcome{more}\n" + rows)


@pytest.mark.parametrize(
    "times",
    [
        ["3", "1", "2"],
        ["2025-03-01", "2024-03-01", "2024-12-31"],
        ["2025-03-01T02:00:00+02:00", "2025-02-28T23:59:00+00:00", "2025-03-01T00:59:00+01:00"],
    ],
)
def test_rows_come_in_order_of_time(loaded: Any, times: list[str]) -> None:
    """Of instants in different zones too: the last of these is one minute before midnight in Greenwich."""
    order = rows_in_time(at(loaded, times)).tolist()
    assert order[-1] == 0
    assert set(order) == {0, 1, 2}


def test_rows_of_the_same_time_keep_the_order_of_their_ids(loaded: Any) -> None:
    """The sort is stable."""
    assert rows_in_time(at(loaded, ["1", "0", "1", "0"])).tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2025-03-01", "soon"], "neither a number nor a date"),
        (["2025-03-01T00:00:00+00:00", "2025-03-01T00:00:00"], "some times in the column time have a zone"),
        (["1", ""], "has no time"),
    ],
)
def test_what_has_no_place_in_time_is_refused(loaded: Any, times: list[str], said: str) -> None:
    """With the value, or the example."""
    with pytest.raises(UsageError, match=said):
        rows_in_time(at(loaded, times))


def test_a_single_series_is_told_from_other_data(loaded: Any) -> None:
    """Without a time, or with tasks, there is no series."""
    assert no_series(at(loaded, ["1", "2"])) is None
    assert "no column time" in str(no_series(loaded("id,outcome\n1,1\n2,0\n")))
    suite = "id,time,outcome,task\n" + "".join(f"{i},{i},1,{'rs'[i % 2]}\n" for i in range(4))
    assert "tasks of a suite" in str(no_series(loaded(suite)))
