"""The leaderboard as lines of text."""

from __future__ import annotations

import numpy as np

import evalreport as er
from evalreport.report.lines import difference_heading, lines_of
from evalreport.report.sections import leaderboard
from evalreport.report.view import view_of

IDS = [f"e{k}" for k in range(200)]
Y = np.array(["yes", "no"] * 100)


def wrong(every: int) -> dict[str, object]:
    """A model that is wrong on one example in that many."""
    turned = np.where(Y == "yes", "no", "yes")
    return {"id": IDS, "y_true": Y, "y_pred": np.where(np.arange(200) % every == 0, turned, Y)}


def test_a_line_has_value_difference_and_p() -> None:
    """In the order of the ranks; of the reference no difference, of the others what they lack."""
    results = er.evaluate({"good": wrong(20), "bad": wrong(3)}, resamples=50)
    view = view_of(results)
    board = leaderboard.describe(view)
    assert board is not None
    first, second = (line for line in lines_of(view, board) if line.rank in ("1", "2"))
    assert (first.model, second.model) == ("good", "bad")
    assert first.value.startswith("0.950")
    assert first.p == ""
    assert second.value.startswith("0.665")
    assert "0.285" in second.difference
    assert second.p == "<0.001"
    assert "good" in difference_heading(board)
