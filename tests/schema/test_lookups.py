"""What charts look up in results: ranks, and a pair seen from either side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalreport.headline.facts import Facts
from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.lookups import (
    confusion_of,
    outcomes_of,
    place_of_model,
    ranked,
    true_counts,
    values_of,
    verdict_between,
)
from evalreport.schema.results import Results

Simulate = Callable[..., Results]


def test_models_are_in_the_order_of_their_ranks(simulate: Simulate) -> None:
    """By the simulated shares of right answers; models without a rank follow in the order of the results."""
    results = simulate()
    order = ranked(results)
    assert order == [record.model for record in results.ranking]
    assert [place_of_model(results, model) for model in order] == [0, 1, 2, 3, 4]
    assert ranked(simulate(ranking=())) == list(results.models)


def test_a_pair_is_found_in_both_orders(simulate: Simulate) -> None:
    """Whichever model is named first, the difference is that one minus the other."""
    results = simulate()
    facts = Facts(results)
    forwards, backwards = (
        facts.comparison(facts.called("accuracy"), *pair) for pair in (("forest", "tree"), ("tree", "forest"))
    )
    assert forwards is not None
    assert backwards is not None
    assert forwards.difference == -backwards.difference
    accuracy = values_of(results, "accuracy")
    assert forwards.difference == pytest.approx(accuracy["forest"].value - accuracy["tree"].value, abs=1e-12)


@pytest.mark.parametrize(
    "verdict, other", [("better", "worse"), ("non-inferior", "undecided"), ("equivalent", "equivalent")]
)
def test_a_verdict_from_the_other_side(simulate: Simulate, verdict: str, other: str) -> None:
    """Not worse by more than the margin, seen from the other model, leaves everything open."""
    given: VerdictRecord = simulate(models=("a", "b"), names={"a": 1.0, "b": 0.5}).verdicts[0]
    import dataclasses

    record = dataclasses.replace(given, about=("a", "b"), verdict=verdict, low=0.01, high=0.2)  # type: ignore[arg-type]
    found = verdict_between([record], "b", "a")
    assert found is not None
    assert (found.verdict, found.low, found.high) == (other, -0.2, -0.01)
    assert verdict_between([record], "a", "c") is None


def test_the_four_outcomes_add_up_to_the_confusion(simulate: Simulate) -> None:
    """True and false positives and negatives are sums of the cells of the table, and its rows those of the truth."""
    results = simulate()
    cells = confusion_of(results, "forest")
    tp, fp, fn, tn = outcomes_of(results, "forest", "Yes")
    assert (tp, fp, fn, tn) == (
        cells["Yes", "Yes"],
        cells["No", "Yes"],
        cells["Yes", "No"],
        cells["No", "No"],
    )
    assert true_counts(results) == {"No": fp + tn, "Yes": tp + fn}
    assert tp + fp + fn + tn == results.n
