"""Letters, pairwise table, forest plot and verdict are read from one decision table: they cannot contradict."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from evalreport.report.sections.verdict import MOST_FACTS

from evalreport.records import VerdictRecord
from evalreport.report.markdown import oneliner
from evalreport.report.sections import leaderboard, pairs, verdict
from evalreport.report.view import verdict_between, view_of
from evalreport.results import Results


def decided(results: Results, kinds: dict[tuple[str, str], str]) -> Results:
    """Replace the decisions of some pairs."""
    verdicts = tuple(
        dataclasses.replace(
            v, verdict=kinds.get(v.about, v.verdict), text=f"{v.about[0]} and {v.about[1]}: said."
        )
        for v in results.verdicts
    )
    return dataclasses.replace(results, verdicts=verdicts)


def test_matrix_shows_every_decision_both_ways(simulate: Callable[..., Results]) -> None:
    """A cell is the verdict of its pair, seen from its row; the cell across the diagonal is the mirror image."""
    found = simulate()
    view = view_of(found)
    described = pairs.describe(view)
    assert described is not None
    table = {
        (row.model.id, column.id): cell
        for row in described.rows
        for column, cell in zip(described.models, row.cells, strict=True)
    }
    mirror = {"better": "worse", "worse": "better", "undecided": "undecided"}
    for record in found.verdicts:
        a, b = record.about
        assert table[a, b].kind == record.verdict
        assert table[b, a].kind == mirror[record.verdict]
        assert (table[a, b].word == "n.d.") == (record.verdict == "undecided")


def test_forest_and_headline_follow_the_decisions_not_the_numbers(simulate: Callable[..., Results]) -> None:
    """When the decision table says that nothing is settled, every place says so, whatever the p-values."""
    found = simulate()
    open_ = decided(found, {v.about: "undecided" for v in found.verdicts})
    view = view_of(open_)
    assert all(row.text.endswith("n.d.") for row in pairs.forest_rows(view))
    assert verdict.describe(view).headline == (
        "The data do not settle which of the five models is best on accuracy."
    )
    assert "better" not in {fact.kind for fact in verdict.describe(view).facts}
    assert "not distinguishable" in oneliner(open_)


def test_best_of_all_is_said_only_when_all_others_are_beaten(simulate: Callable[..., Results]) -> None:
    """The leader is called the best when every one of its pairs is decided for it."""
    found = simulate()
    leader = view_of(found).models[0].id
    wins = {
        v.about: "better" if v.about[0] == leader else "worse" for v in found.verdicts if leader in v.about
    }
    best = verdict.describe(view_of(decided(found, wins)))
    assert best.headline == f"{leader} is the best of the five models on accuracy."
    assert best.tone == "better"
    one_open = wins | {next(iter(wins)): "undecided"}
    assert "cannot be told apart" in verdict.describe(view_of(decided(found, one_open))).headline


def test_all_equivalent_is_said_only_when_every_pair_is(simulate: Callable[..., Results]) -> None:
    """The headline speaks of all models only when no pair of the decision table is anything else."""
    found = simulate()
    all_of_them = decided(found, {v.about: "equivalent" for v in found.verdicts})
    said = verdict.describe(view_of(all_of_them))
    assert said.headline == "All five models are practically equivalent on accuracy, by the declared margin."
    assert [fact.kind for fact in said.facts] == ["equivalent", "caution"]
    but_one = {v.about: "equivalent" for v in found.verdicts[1:]} | {found.verdicts[0].about: "undecided"}
    assert "All five" not in verdict.describe(view_of(decided(found, but_one))).headline


def test_a_shared_first_place_is_said(simulate: Callable[..., Results]) -> None:
    """Two models of rank 1 share the highest value; neither has it alone."""
    found = simulate()
    ranks = tuple(dataclasses.replace(r, rank=1 if r.rank == 2 else r.rank) for r in found.ranking)
    assert (
        "shares the highest accuracy"
        in verdict.describe(view_of(dataclasses.replace(found, ranking=ranks))).headline
    )


def test_a_verdict_turned_round(simulate: Callable[..., Results]) -> None:
    """Seen from the other model the limits change sign and place, and not worse becomes undecided."""
    record = VerdictRecord(
        about=("forest", "knn"),
        metric="accuracy",
        verdict="non-inferior",
        level=0.99,
        low=-0.01,
        high=0.03,
        text="t",
    )
    view = view_of(dataclasses.replace(simulate(), verdicts=(record,)))
    turned = verdict_between(view, "knn", "forest")
    assert turned is not None
    assert (turned.verdict, turned.low, turned.high) == ("undecided", -0.03, 0.01)


def test_lower_is_better_for_a_loss(simulate: Callable[..., Results]) -> None:
    """On a loss the leader has the lowest value, and the sentence says lowest."""
    found = simulate()
    rows = tuple(dataclasses.replace(c, metric="log_loss") for c in found.comparisons)
    loss = dataclasses.replace(found, primary_metric="log_loss", comparisons=rows)
    assert "the lowest log loss" in verdict.describe(view_of(loss)).headline


@pytest.mark.parametrize("baseline", ["tree", "forest"])
def test_against_a_baseline_only_its_pairs_are_spoken_of(
    simulate: Callable[..., Results], baseline: str
) -> None:
    """The headline is about the baseline, and the leaderboard's differences are taken from it."""
    found = simulate()
    kept = tuple(v for v in found.verdicts if baseline in v.about)
    view = view_of(dataclasses.replace(found, baseline=baseline, verdicts=kept))
    said, board = verdict.describe(view), leaderboard.describe(view)
    assert board is not None
    assert f"the baseline {baseline}" in said.headline
    assert board.difference_heading == "Δ vs baseline"
    reference = [row.model.id for row in board.rows if row.difference and row.difference.value == "reference"]
    assert reference == [baseline]
    assert len(pairs.forest_rows(view)) == 4


def test_at_most_five_facts(simulate: Callable[..., Results]) -> None:
    """However much there is to say, the verdict says five things at most, a caution among them."""
    found = simulate({f"m{i:02}": 1.0 + 0.01 * i for i in range(12)}, n=300)
    facts = verdict.describe(view_of(found)).facts
    assert len(facts) <= MOST_FACTS
    assert facts[-1].kind == "caution"


def test_one_model_has_no_comparison(simulate: Callable[..., Results]) -> None:
    """With one model the report gives its value and says that nothing is compared."""
    view = view_of(simulate({"only": 1.5}))
    assert verdict.describe(view).headline.startswith("only reaches accuracy 0.")
    assert pairs.describe(view) is None
    assert verdict.describe(view).facts[0].text == "With one model there is nothing to compare."
