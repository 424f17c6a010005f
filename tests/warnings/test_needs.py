"""Conditions of checks: what a run does not have is not met, whatever the condition asks of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalreport.extensions import files_of_rooms
from evalreport.warnings.needs import NEEDS, is_about_a_model, met

ROOMS = list(files_of_rooms("warnings"))
"""Read first, so that their conditions are there in whatever order tests are collected."""


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_missing_fact_meets_nothing(name: str) -> None:
    """A check that has nothing to look at is never passed."""
    assert not met(name, {})


def test_a_condition_is_asked_of_its_facts() -> None:
    """By the names of its parameters."""
    two = SimpleNamespace(models=("a", "b"), design="seeds")
    assert met("models", {"predictions": two})
    assert met("seeds", {"predictions": two})
    assert not met("folds", {"predictions": two})


def test_conditions_of_single_models_are_known() -> None:
    """By their parameter."""
    assert is_about_a_model("scores")
    assert not is_about_a_model("models")
