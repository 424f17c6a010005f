"""The letters of the leaderboard: two models share one exactly if they were compared and not told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from evalreport.comparisons.ranking import compact_letters
from tests.samples.pairs import labels, run, values


@pytest.mark.parametrize("seed", range(30))
def test_letters_say_what_the_decisions_say(seed: int) -> None:
    """On any graph of decisions, two models share a letter if and only if they are not told apart.

    This is the definition of a compact letter display (Piepho 2004); the graphs are random, from nearly
    empty to nearly complete, and of up to 14 models.
    """
    random = np.random.default_rng(seed)
    models = [f"m{k:02d}" for k in range(random.integers(2, 15))]
    share = random.random()
    decided = {frozenset(pair) for pair in combinations(models, 2) if random.random() < share}
    letters = compact_letters(models, decided)
    for pair in combinations(models, 2):
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (frozenset(pair) not in decided), pair


def test_many_groups_have_letters_of_one_character() -> None:
    """60 models all told apart have 60 letters of one character each, so that none looks like two."""
    models = [f"m{k:02d}" for k in range(60)]
    letters = compact_letters(models, {frozenset(pair) for pair in combinations(models, 2)})
    assert len(set(letters.values())) == 60
    assert {len(text) for text in letters.values()} == {1}


def test_pairs_that_were_never_compared_share_no_letter() -> None:
    """With a baseline the other pairs are not tested, so no letter says that they are not distinguishable."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 60)
    said = {name: np.where(random.random(60) < 0.3, 1 - truth, truth) for name in "abc"}
    against = run(labels(truth, **said), metrics=("accuracy",), baseline="a")
    assert [r.letters for r in against.ranking] == ["", "", ""]
    assert all(r.letters for r in run(labels(truth, **said), metrics=("accuracy",)).ranking)
    two = {name: said[name] for name in "ab"}
    assert all(r.letters for r in run(labels(truth, **two), metrics=("accuracy",), baseline="a").ranking)


def test_a_model_without_the_metric_has_no_letter() -> None:
    """A model of labels alone has no AUC: it is ranked last and shares no letter with those that have one."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 80)
    source = labels(truth, c=truth)
    for name in "ab":
        source[name] = {**source["c"], "score": (truth + random.normal(size=80)).tolist()}
    by_model = {r.model: r for r in run(source, metrics=("roc_auc",)).ranking}
    assert (by_model["c"].rank, by_model["c"].letters, by_model["c"].value) == (3, "", None)
    assert by_model["a"].letters


def test_a_metric_without_a_direction_ranks_nobody() -> None:
    """A mean error of -5 is no better than one of +1: all models share rank 1, without letters or verdicts."""
    truth = np.arange(30.0)
    results = run(values(truth, a=truth + 1, b=truth - 5), metrics=("bias_error",))
    assert [(r.model, r.rank, r.letters) for r in results.ranking] == [("a", 1, ""), ("b", 1, "")]
    assert results.verdicts == []


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1 / 3])
def test_values_that_only_rounding_tells_apart_share_a_rank_in_any_unit(unit: float) -> None:
    """The same errors in another order have one RMSE; the order of equal models is that of their names."""
    random = np.random.default_rng(6)
    truth, error = np.round(random.normal(0, 5, 57), 1), np.round(random.normal(0, 1, 57), 1)
    models = {name: (truth + random.permutation(error)) * unit for name in ("c", "a", "b")}
    results = run(values(truth * unit, **models))
    assert [(r.model, r.rank) for r in results.ranking] == [("a", 1), ("b", 1), ("c", 1)]
