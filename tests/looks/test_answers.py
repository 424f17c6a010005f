"""Digests of examples and answers, of all examples and of those of an earlier look."""

from __future__ import annotations

from typing import Any

import evalreport as er
from evalreport.looks.answers import Answers, answers_of
from evalreport.options import Options
from tests.looks.conftest import Table, models


def answers(table: Any, **options: Any) -> Answers:
    """Return the answers of some predictions."""
    return answers_of(er.load(table, **options), Options(**options))


def two(n: int) -> Table:
    """Return two models on n examples."""
    return models(n, accuracies={"one": 0.8, "two": 0.7})


def test_old_examples_are_found_again_among_new_ones() -> None:
    """Restricted to the old examples, examples and answers have the old digests."""
    old, new = answers(two(50)), answers(two(80))
    within = new.within(old.keys)
    assert within is not None
    assert within.examples_digest == old.examples_digest
    assert within.digests == old.digests
    assert new.examples_digest != old.examples_digest


def test_the_order_of_rows_and_files_changes_no_digest() -> None:
    """The same rows in another order are the same answers."""
    turned = {name: {k: v[::-1] for k, v in columns.items()} for name, columns in reversed(two(40).items())}
    assert answers(turned).digests == answers(two(40)).digests


def test_a_class_that_only_new_examples_have_changes_no_old_answer() -> None:
    """Labels are compared by their names, not by their codes."""
    old = {"m": {"id": ["a", "b"], "y_true": ["y", "z"], "y_pred": ["z", "z"]}}
    new = {"m": {"id": ["a", "b", "c"], "y_true": ["y", "z", "x"], "y_pred": ["z", "z", "x"]}}
    first, second = answers(old, task="multiclass"), answers(new, task="multiclass")
    within = second.within(first.keys)
    assert within is not None
    assert (within.digests, within.examples_digest) == (first.digests, first.examples_digest)


def test_another_answer_truth_weight_or_a_missing_example_shows() -> None:
    """One other answer changes that model's digest; another truth or weight the examples'; a lost one leaves none."""
    old = answers(two(50))
    table = two(60)
    table["two"]["y_pred"][7] = 1 - int(str(table["two"]["y_pred"][7]))
    within = answers(table).within(old.keys)
    assert within is not None
    assert within.digests["one"] == old.digests["one"]
    assert within.digests["two"] != old.digests["two"]
    assert within.examples_digest == old.examples_digest
    lost = {name: {k: v[1:] for k, v in columns.items()} for name, columns in two(60).items()}
    assert answers(lost).within(old.keys) is None
    weighted = {name: {**columns, "w": [2] * 50} for name, columns in two(50).items()}
    assert answers(weighted, weight="w").examples_digest != old.examples_digest


def test_scores_and_probabilities_are_answers() -> None:
    """A change in the last digit of one probability is another answer."""
    rows = {"id": ["a", "b", "c"], "y_true": [0, 1, 1], "p_1": [0.1, 0.8, 0.7]}
    moved = {**rows, "p_1": [0.1, 0.8, 0.7000000000000001]}
    assert answers({"m": rows}).digests != answers({"m": moved}).digests


def test_the_same_id_of_two_tasks_is_two_examples() -> None:
    """In a suite an example is a task and an id."""
    rows = {"id": ["a", "b", "a", "b"], "task": ["x", "x", "y", "y"], "outcome": [1, 0, 1, 1]}
    found = answers({"m": rows, "k": {**rows, "outcome": [1, 1, 0, 1]}})
    assert len(set(found.keys.tolist())) == 4


def test_rows_of_folds_are_not_found_again() -> None:
    """Predictions of folds have no examples that could be added to."""
    rows = {"id": ["a", "b", "c", "d"], "fold": [0, 0, 1, 1], "y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1]}
    assert len(answers({"m": rows}).keys) == 0
