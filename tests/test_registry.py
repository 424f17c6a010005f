"""Registries: a name is taken once, and an unknown one is answered with those like it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from evalreport.errors import UsageError
from evalreport.registry import Registry, close_names, summary_of, unknown_name, words


@dataclass(frozen=True)
class Named:
    """An entry."""

    name: str


def filled(*names: str) -> Registry[Named]:
    """Return a registry of these names."""
    registry: Registry[Named] = Registry("metric")
    for name in names:
        registry.add(Named(name))
    return registry


def test_a_name_is_registered_once() -> None:
    """The second one raises and leaves the first; entries keep the order in which they came."""
    registry = filled("recall", "accuracy")
    first = registry["recall"]
    with pytest.raises(ValueError, match="metric 'recall' is registered twice"):
        registry.add(Named("recall"))
    assert registry["recall"] is first
    assert list(registry) == ["recall", "accuracy"]
    assert len(registry) == 2


def test_an_entry_can_be_taken_out_again() -> None:
    """Afterwards its name is free."""
    registry = filled("recall")
    registry.remove("recall")
    assert "recall" not in registry
    assert registry.add(Named("recall")) == Named("recall")


@pytest.mark.parametrize(
    "name, hint", [("acuracy", "did you mean accuracy?"), ("zzz", "known: recall, accuracy.")]
)
def test_an_unknown_name_is_answered_with_those_like_it(name: str, hint: str) -> None:
    """The error is one of usage, with the closest names, or with all where none is close."""
    with pytest.raises(UsageError, match=f"unknown metric '{name}'; {hint}"):
        filled("recall", "accuracy")[name]
    assert unknown_name("metric", "x", []) == "unknown metric 'x'; known: none."


def test_close_names_ignore_case_and_joints() -> None:
    """A name that differs in nothing else comes alone; at most three come."""
    assert close_names("Log-Loss", ["log_loss", "log_loss_macro"]) == ["log_loss"]
    assert len(close_names("f", ["f1", "f2", "f3", "f4"])) <= 3


def test_a_summary_is_the_first_paragraph_of_a_docstring() -> None:
    """An entry without one is refused, for the report prints it."""

    def documented() -> None:
        """Say one thing
        on two lines.

        And more.
        """

    assert summary_of(documented) == "Say one thing on two lines."
    with pytest.raises(ValueError, match="needs a docstring"):
        summary_of(lambda: None)


def test_abbreviations_are_written_in_capitals() -> None:
    """Other words stay small."""
    assert words("roc_auc_ovr") == "ROC AUC ovr"
