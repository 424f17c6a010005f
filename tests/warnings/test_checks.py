"""Every check that the program knows has a state; what had nothing to look at did not pass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.schema.results import to_json
from evalreport.texts import group_of
from evalreport.warnings import all_checks
from evalreport.warnings.needs import NEEDS


def probabilities(n=60):
    """Return two models that give the probability of the positive class, by a fixed seed."""
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, n)
    ids = [f"e{i:03}" for i in range(n)]
    return {
        name: pd.DataFrame({"id": ids, "y_true": true, "proba": 1 / (1 + np.exp(-x))})
        for name, x in (("a", rng.normal(2 * true - 1, 1)), ("b", np.zeros(n)))
    }


@pytest.fixture(scope="module")
def results():
    """A run in which model b gives all examples the same score."""
    return er.evaluate(probabilities(), resamples=50)


def state(results, code, model=None):
    """Return the state of a check, of a model where it is about models."""
    return next(c.state for c in results.checks if c.code == code and (model is None or c.about == (model,)))


def test_every_code_is_there(results):
    """Once a run, and once a model where it is about models: no code more or less than `evalreport list warnings`."""
    rows = [(c.code, c.about) for c in results.checks if c.state != "fired"]
    assert len(rows) == len(set(rows))
    assert {c.code for c in results.checks} == set(group_of("meaning"))


def test_what_was_raised_fired_and_nothing_else(results):
    """The warnings of the run and the checks that fired have the same codes."""
    assert {c.code for c in results.checks if c.state == "fired"} == {w.code for w in results.warnings}


def test_a_check_about_models_fires_for_the_model_alone(results):
    """Model b ranks nothing; a ranks all examples apart."""
    assert state(results, "constant_scores", "b") == "fired"
    assert state(results, "constant_scores", "a") == "passed"


def test_what_there_is_nothing_to_look_at_does_not_pass(results):
    """No costs, slices, folds, judge, suite or earlier run: each says so."""
    for code in ("one_large_cost", "slice_differs", "small_folds", "few_gold", "alike_in_task", "slice_fell"):
        rows = [c for c in results.checks if c.code == code]
        assert {c.state for c in rows} == {"not_applicable"}
        assert all(c.reason for c in rows)


def test_a_reason_stands_where_a_check_does_not_apply_and_nowhere_else(results):
    """Of a check that passed or fired there is nothing to explain."""
    assert all((c.reason is not None) == (c.state == "not_applicable") for c in results.checks)


def test_every_condition_has_its_reason():
    """A condition of a check, and every answer that one asks of, has a text under [check_lacks]."""
    every = all_checks()
    names = {name for check in every for name in check.needs}
    assert names <= set(NEEDS)
    assert names <= set(group_of("check_lacks"))
    always = {"predictions", "options", "rows", "family", "sample", "whole"}
    assert {fact for check in every for fact in check.asks} - always <= set(group_of("check_lacks"))


def test_states_are_saved_and_read_again(results, tmp_path):
    """results.json holds them."""
    path = tmp_path / "results.json"
    path.write_bytes(to_json(results))
    assert er.Results.from_json(path).checks == results.checks
