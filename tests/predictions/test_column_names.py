"""The names of columns that mean something, and the other names under which each is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalreport.loading.roles import understand
from evalreport.options import Options
from evalreport.predictions.column_names import ALIASES
from evalreport.predictions.table import Predictions

Loaded = Callable[..., Predictions]

# CONTRACT: "also accepted (only where the first is absent)".
CONTRACT_ALIASES = {
    "id": ["sample_id", "example_id", "doc_id", "index"],
    "model": ["algorithm", "system"],
    "y_true": ["target", "label", "actual", "truth"],
    "y_pred": ["prediction", "pred", "predicted"],
    "score": ["y_score", "decision"],
    "replicate": ["replica"],
    "inbag": ["in_bag"],
    "part": ["split"],
    "seed": ["run"],
    "outcome": ["correct", "passed"],
    "attempt": ["epoch"],
    "task": ["benchmark"],
}

# Accepted beside an outcome only: what a person said of what a judge said.
BESIDE_OUTCOME = {"gold": ["human"]}


@pytest.mark.parametrize("standard, alias", [(s, a) for s, names in CONTRACT_ALIASES.items() for a in names])
def test_an_alias_stands_for_the_absent_standard_name(standard: str, alias: str) -> None:
    """Every alias of the contract is read as its standard column."""
    assert understand([alias, "x"], file="m.csv", options=Options()).columns == {standard: alias}


@pytest.mark.parametrize("standard, alias", [(s, a) for s, names in CONTRACT_ALIASES.items() for a in names])
def test_the_standard_name_wins_over_its_alias(standard: str, alias: str) -> None:
    """Where both stand, the alias is not used, and that is said."""
    roles = understand([alias, standard], file="m.csv", options=Options())
    assert roles.columns == {standard: standard}
    assert standard in roles.unused[alias]


def test_no_other_alias_is_accepted() -> None:
    """The list of aliases is the contract's, no more."""
    assert {s: list(names) for s, names in ALIASES.items() if names} == CONTRACT_ALIASES | BESIDE_OUTCOME


def test_human_stands_for_gold_beside_an_outcome() -> None:
    """Alone it is metadata; beside outcome it is gold, unless that is there, too."""
    options = Options()
    assert understand(["human", "y_pred"], file="m.csv", options=options).metadata == ("human",)
    assert understand(["human", "correct"], file="m.csv", options=options).columns["gold"] == "human"
    both = understand(["human", "gold", "outcome"], file="m.csv", options=options)
    assert both.columns["gold"] == "gold"
    assert "gold" in both.unused["human"]


def test_an_unused_alias_is_a_warning(loaded: Loaded) -> None:
    """The reader is told which of two columns was taken."""
    predictions = loaded("id,y_true,label,y_pred\na,1,0,1\nb,0,1,0\n")
    (warning,) = [w for w in predictions.warnings if w.code == "unused_column"]
    assert "'label'" in warning.text
    assert predictions.y_true is not None
    assert predictions.y_true.tolist() == [1, 0]
