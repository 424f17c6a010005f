"""Inputs that a results.json records, found again."""

from __future__ import annotations

import pytest

from tests.samples.compared_runs import judged


def test_with_the_predictions_models_are_compared_pair_by_pair(compare):
    """On the same examples the interval is narrower, by the paired test, adjusted over the models."""
    alone = judged(compare("worse", "-f", "json")[1])["forest"]
    code, said = compare("worse", "-f", "json", inputs=True)
    forest = judged(said)["forest"]
    assert code == 1  # its gate fails
    assert forest["how"] == "pair by pair on the same 120 examples"
    assert (forest["test"], forest["method"], forest["judgement"]) == ("mcnemar_midp", "plus_two", "worse")
    assert forest["high"] - forest["low"] < alone["high"] - alone["low"]
    assert forest["difference"] == pytest.approx(forest["new"] - forest["old"], abs=1e-12)
    # one model changed: Holm over one test leaves the p-value as it is
    assert forest["p_adjusted"] == forest["p_value"] < 0.05


def test_inputs_must_be_those_that_were_analysed(compare, made):
    """Other files of the same name are refused, not compared."""
    code, said = compare("better", "--inputs", made / "better", made / "better")
    assert code == 2
    assert "forest.csv: the file has changed since" in said
