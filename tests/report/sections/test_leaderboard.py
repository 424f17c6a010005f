"""The leaderboard: every place shows the one interval of a pair, brackets join what shares a letter."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Mapping

import numpy as np
from rich.console import Console

import evalreport as er
from evalreport.numbers import interval
from evalreport.plots.curves import contenders
from evalreport.report.markdown import summary_markdown
from evalreport.report.sections import decision, leaderboard
from evalreport.report.terminal import oneliner, summary
from evalreport.report.view import view_of
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
    turned = interval(-one.high, -one.low, view.digits_of_difference(view.primary), signed=True)
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


def of_scores(directions: Mapping[str, float]) -> Results:
    """Evaluate scores of 300 and 300 examples whose classes lie so far apart, the wrong way round if negative."""
    random, truth = np.random.default_rng(5), np.repeat([0, 1], 300)
    models = {
        name: {"y_true": truth.tolist(), "score": (apart * truth + random.normal(size=600)).tolist()}
        for name, apart in directions.items()
    }
    return er.evaluate(models, resamples=50)


def test_where_all_models_are_inverted_no_model_is_first() -> None:
    """The area 0.193 is no better than 0.137 of scores that are turned round: no rank, gap, grey or 'better'."""
    view = view_of(of_scores({"knn": -1.2, "mahalanobis": -1.6}))
    shown = decision.describe(view)
    assert shown.board is not None
    assert shown.board.title == "ROC AUC of each model, without a ranking: both are inverted"
    assert [row.rank for row in shown.board.rows] == [None, None]
    assert {row.word for row in shown.board.rows} == {"inverted"}
    assert (shown.board.reference, shown.board.panels, shown.board.notes.best) == (None, (), "")
    assert "ranked" not in shown.about
    assert "; inverted, p " in shown.pair
    assert "better" not in shown.pair
    assert contenders(view.results, "roc_auc") == contenders(view.results, "average_precision")
    assert len(contenders(view.results, "roc_auc")) == 2


def test_a_single_inverted_model_keeps_its_place() -> None:
    """There is nothing that it could be taken for better than; the sentence says that it is inverted."""
    board = leaderboard.describe(view_of(of_scores({"knn": -1.2})))
    assert board is not None
    assert [(row.rank, row.word) for row in board.rows] == [(1, "inverted")]


def test_an_inverted_model_has_a_word_in_place_of_its_rank() -> None:
    """Turned round b would have 0.86, more than a: it has no rank, and nobody is said to be the only best."""
    view = view_of(of_scores({"a": 1.0, "b": -1.6, "c": 0.6}))
    assert view.inverted == {"b"}
    board = leaderboard.describe(view)
    assert board is not None
    assert [(row.model.id, row.rank, row.word) for row in board.rows] == [
        ("a", 1, ""), ("c", 2, ""), ("b", None, "inverted"),
    ]  # fmt: skip
    assert board.notes.best == ""
    assert "Inverted" in board.notes.reading
    first = str(decision.headline_of(view.results).text)
    value = next(r.value for r in view.results.metrics if (r.model, r.metric) == ("b", "roc_auc"))
    assert value is not None
    assert f"and b would have {1 - value:.3f} turned round." in first
    assert "| – | b |" in summary_markdown(view)
    printed = io.StringIO()
    Console(file=printed, width=100).print(summary(view.results))
    assert "Inverted (–)" in printed.getvalue()


def test_beside_an_inverted_baseline_no_model_is_called_better() -> None:
    """Any model is 0.5 ahead of a baseline of 0.2, which turned round has 0.8."""
    random, truth = np.random.default_rng(7), np.repeat([0, 1], 300)
    models = {
        name: {"y_true": truth.tolist(), "score": (apart * truth + random.normal(size=600)).tolist()}
        for name, apart in (("old", -1.2), ("new", 1.1), ("other", 0.9))
    }
    board = leaderboard.describe(view_of(er.evaluate(models, baseline="old", resamples=50)))
    assert board is not None
    assert {row.model.id: row.word for row in board.rows} == {"new": "–", "other": "–", "old": "inverted"}


def test_labels_that_are_the_models_own_are_ranked_though_its_scores_are_inverted() -> None:
    """Accuracy of given labels says nothing of the direction of a score beside them."""
    random, truth = np.random.default_rng(6), np.repeat([0, 1], 200)
    models = {}
    for name, right in (("a", 0.9), ("b", 0.8)):
        said = np.where(random.random(400) < right, truth, 1 - truth)
        score = (-1.2 * truth + random.normal(size=400)).tolist()
        models[name] = {"y_true": truth.tolist(), "y_pred": said.tolist(), "score": score}
    view = view_of(er.evaluate(models, metrics=["accuracy", "roc_auc"], resamples=50))
    assert view.results.shown_metric == "accuracy"
    assert view.inverted == frozenset()
    board = leaderboard.describe(view)
    assert board is not None
    assert [row.rank for row in board.rows] == [1, 2]


def test_a_row_has_value_difference_and_p_as_texts() -> None:
    """In the order of the ranks; of the reference no difference, of the others what they lack."""
    ids, truth = [f"e{k}" for k in range(200)], np.array(["yes", "no"] * 100)

    def wrong(every: int) -> dict[str, object]:
        turned = np.where(truth == "yes", "no", "yes")
        return {"id": ids, "y_true": truth, "y_pred": np.where(np.arange(200) % every == 0, turned, truth)}

    board = leaderboard.describe(view_of(er.evaluate({"good": wrong(20), "bad": wrong(3)}, resamples=50)))
    assert board is not None
    first, second = board.rows
    assert (first.model.name, second.model.name) == ("good", "bad")
    assert first.value.text.startswith("0.950")
    assert first.p == ""
    assert second.value.text.startswith("0.665")
    assert "0.285" in second.difference
    assert second.p == "<0.001"
    assert "good" in board.versus


def test_the_rule_that_needs_no_model_has_one_name_on_the_page() -> None:
    """Of two classes of four examples each the first in order, as in the headline."""
    truth = ["spam", "ham"] * 4
    models = {"near": [*truth[:7], "spam"], "far": ["ham", "ham", "spam", "spam", *truth[4:]]}
    view = view_of(er.evaluate(models, truth=truth, resamples=50, metrics=["accuracy"]))
    board = leaderboard.describe(view)
    assert board is not None
    assert "always predicting “ham”" in decision.describe(view).headline
    assert board.panels[0].rule_text == "always predicting “ham”"


def test_a_bracket_of_equivalent_models_is_explained_as_such() -> None:
    """Once, in place of "not told apart"."""
    truth = [i % 2 for i in range(3000)]
    models = {
        m: [1 - t if i in wrong else t for i, t in enumerate(truth)] for m, wrong in (("a", {3}), ("b", {8}))
    }
    view = view_of(er.evaluate(models, truth=truth, margin=0.02, resamples=20, metrics=["accuracy"]))
    board = leaderboard.describe(view)
    assert board is not None
    assert "Bracket: equivalent, ±0.02. Shaded: " in board.notes.reading
