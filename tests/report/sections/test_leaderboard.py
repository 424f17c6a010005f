"""The leaderboard: every place shows the one interval of a pair, brackets join what shares a letter."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import evalreport as er
from evalreport.numbers import interval
from evalreport.report.markdown import summary_markdown
from evalreport.report.sections import decision, leaderboard
from evalreport.report.terminal import oneliner
from evalreport.report.view import difference_digits, view_of
from evalreport.schema.results import Results

Simulate = Callable[..., Results]


def test_every_place_shows_the_one_interval_of_a_pair(simulate: Simulate) -> None:
    """The board and the summary give the verdict's limits, turned so that they are of the worse minus the best."""
    found = simulate({"forest": 1.85, "tree": 0.6}, n=300)
    (one,) = found.verdicts
    view = view_of(found)
    board = leaderboard.describe(view)
    assert board is not None
    assert one.low is not None
    assert one.high is not None
    turned = interval(-one.high, -one.low, difference_digits(view, view.primary), signed=True)
    assert board.panels[0].gaps[1].cell.about.endswith(turned)
    assert turned.replace("[", "\\[").replace("]", "\\]") in summary_markdown(view)


def test_right_is_better_also_for_a_loss() -> None:
    """On an error the model with the larger one stands left of the best; summary.md and the chat line agree."""
    truth = [float(i % 7) for i in range(60)]
    models = {"near": [t + 0.1 * (i % 3) for i, t in enumerate(truth)], "far": [t + 2.0 for t in truth]}
    view = view_of(er.evaluate(models, truth=truth, metrics=["mae"], resamples=50))
    board = leaderboard.describe(view)
    assert board is not None
    best, behind = board.panels[0].gaps
    assert best.cell.value == "best"
    assert best.stroke is not None
    assert behind.stroke is not None
    assert behind.stroke.at < best.stroke.at
    assert board.heading == "MAE ↓"
    assert "near is lower on MAE: 0.100 against 2.000 for far, by 1.900 " in oneliner(view.results)
    assert "| far | 2.0" in summary_markdown(view)
    assert " −1.9" in summary_markdown(view).split("| far |")[1].splitlines()[0]


def lettered(found: Results, letters: Mapping[str, str]) -> leaderboard.Leaderboard:
    """Return the board of results whose models have these letters."""
    ranking = tuple(dataclasses.replace(r, letters=letters[r.model]) for r in found.ranking)
    board = leaderboard.describe(view_of(dataclasses.replace(found, ranking=ranking)))
    assert board is not None
    return board


def test_brackets_join_those_that_share_a_letter(simulate: Simulate) -> None:
    """A member that is missing from the middle leaves a gap; a model by itself has no bracket."""
    letters = {"forest": "a", "boosting": "b", "logreg": "a", "knn": "b", "tree": "c"}
    board = lettered(simulate(), letters)
    assert [row.model.id for row in board.rows] == ["forest", "boosting", "logreg", "knn", "tree"]
    assert [row.pieces for row in board.rows] == [
        ("top", ""), ("gap", "top"), ("bottom", "gap"), ("", "bottom"), ("", ""),
    ]  # fmt: skip


def test_brackets_one_below_the_other_share_a_column(simulate: Simulate) -> None:
    """Of many groups none is left out for want of a column while there is room below another."""
    letters = {"forest": "a", "boosting": "ab", "logreg": "bc", "knn": "cd", "tree": "d"}
    board = lettered(simulate(), letters)
    assert [row.pieces for row in board.rows] == [
        ("top", ""), ("bottom", "top"), ("top", "bottom"), ("bottom", "top"), ("", "bottom"),
    ]  # fmt: skip


def test_without_a_verdict_no_model_is_first() -> None:
    """A metric that no test decides: no rank, no best model, no gap, no word of a ranking."""
    truth = [0, 1] * 40
    models = {"ash": {"y_score": [0.6, 0.4] * 40}, "birch": {"y_score": [0.1, 0.9] * 40}}
    results = er.evaluate(models, truth=truth, metrics=("ece",), resamples=20)
    assert results.is_blocked
    shown = decision.describe(view_of(results))
    assert shown.board is not None
    assert [row.model.name for row in shown.board.rows] == ["ash", "birch"]
    assert [row.rank for row in shown.board.rows] == [None, None]
    assert shown.board.reference is None
    assert shown.board.panels == ()
    assert "ranked" not in shown.about
    assert shown.settle == ""
