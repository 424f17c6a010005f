"""Splits have scikit-learn's properties: disjoint, complete, stratified, by whole groups, forward in time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from evalreport.errors import UsageError
from evalreport.refit.examples import Examples
from evalreport.refit.plans import SCHEMES, Complexity, DataSource, Estimator, Plan, Scheme, settle
from evalreport.refit.splits import Fit, fits_of, inner_folds, seed_of
from tests.refit.conftest import examples_of

FOLDED = ("kfold", "stratified-kfold", "repeated-kfold", "repeated-stratified-kfold", "5x2cv", "nested")


def divided(examples: Examples, name: str, *, seed: int = 0, **fields: object) -> tuple[Fit, ...]:
    """The fits of a scheme on the examples, defaults filled in."""
    tree = Estimator(
        name="tree",
        factory=("sklearn.tree:DecisionTreeClassifier",),
        grid={"max_depth": (1, 2)} if name == "nested" else {},
        complexity=Complexity(parameter="max_depth", values=(1, 2)) if name == "complexity-curve" else None,
    )
    source = DataSource(
        file=Path("examples.csv"),
        target="label",
        group="ward" if examples.groups is not None else None,
        time="day" if examples.times is not None else None,
    )
    plan = settle(Plan(data=source, scheme=Scheme(name=name, **fields), estimators=(tree,)))  # type: ignore[arg-type]
    return fits_of(examples, plan.scheme, seed)


@pytest.mark.parametrize("name", [*FOLDED, "leave-one-out"])
def test_folds_are_disjoint_and_complete(folder: Path, name):
    """In each repeat every example is tested exactly once, by a model that did not see it and saw all others."""
    examples = examples_of(folder)
    by_repeat: dict[int, list[Fit]] = {}
    for fit in divided(examples, name):
        assert not set(fit.train) & set(fit.test)
        assert len(fit.train) + len(fit.test) == examples.n
        by_repeat.setdefault(fit.keys["repeat"], []).append(fit)
    for fits in by_repeat.values():
        assert sorted(np.concatenate([fit.test for fit in fits])) == list(range(examples.n))
        assert [fit.keys["fold"] for fit in fits] == list(range(1, len(fits) + 1))


def test_folds_differ_in_size_by_one_at_most(folder: Path):
    """60 examples in 7 folds are 8 or 9 each, as scikit-learn divides."""
    sizes = [len(fit.test) for fit in divided(examples_of(folder), "kfold", folds=7)]
    assert sorted(set(sizes)) == [8, 9]


def test_stratified_folds_are_those_of_scikit_learn(folder: Path):
    """The same rows as StratifiedKFold with the repeat's seed: 20 of 60 are yes, so each of 10 folds holds 2."""
    examples = examples_of(folder)
    fits = divided(examples, "stratified-kfold", seed=3)
    splitter = StratifiedKFold(10, shuffle=True, random_state=seed_of(3, "split", 1))
    for fit, (train, test) in zip(fits, splitter.split(np.zeros(60), examples.labels.codes), strict=True):
        assert (fit.train == train).all()
        assert (fit.test == test).all()
        assert (examples.target[fit.test] == "yes").sum() == 2


@pytest.mark.parametrize("name", sorted(set(SCHEMES) - {"leave-one-out", "time-ordered"}))
def test_groups_never_cross_a_split(examples: Examples, name):
    """No ward is both among the training examples and among those tested out of the sample."""
    assert examples.groups is not None
    fields = {"folds": 3} if "folds" in SCHEMES[name] else {}
    if name == "bootstrap-oob":
        fields = {"replicates": 20}
    stratified = {"stratify": False} if SCHEMES[name].get("stratify") and "test" in SCHEMES[name] else {}
    for fit in divided(examples, name, **fields, **stratified):
        if fit.part == "train":
            continue
        outside = np.setdiff1d(fit.test, fit.train)
        assert not set(examples.groups[outside]) & set(examples.groups[fit.train])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["time-ordered", "holdout"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(times=st.lists(st.integers(0, 12), min_size=60, max_size=60))
def test_time_never_runs_backwards(folder: Path, name, times):
    """Every training time lies before every test time, ties included; later folds train on more."""
    import dataclasses

    coded = np.unique(times, return_inverse=True)[1]
    examples = dataclasses.replace(examples_of(folder, time="day"), times=coded)
    try:
        fits = divided(examples, name, **({"folds": 3} if name == "time-ordered" else {}))
    except UsageError:
        assert len(set(times)) < 4
        return
    for fit in fits:
        assert coded[fit.train].max() < coded[fit.test].min()
    assert all(len(a.train) < len(b.train) for a, b in pairwise(fits))


def test_a_third_is_held_out_and_the_same_for_every_replicate(folder: Path):
    """Bootstrap: 20 of 60 held out; each sample draws 40 of the other 40, with repetitions."""
    fits = divided(examples_of(folder), "bootstrap", replicates=50)
    assert len({fit.test.tobytes() for fit in fits}) == 1
    assert len(fits[0].test) == 20
    for fit in fits:
        assert len(fit.train) == 40
        assert not set(fit.train) & set(fit.test)
    distinct = np.mean([len(set(fit.train)) for fit in fits])
    # 40 (1 - (1 - 1/40)^40) = 25.5 expected, standard deviation 2.4 a sample (occupancy), 0.34 over 50.
    assert abs(distinct - 40 * (1 - (1 - 1 / 40) ** 40)) < 4 * 0.34


def test_samples_of_all_rows_predict_all_rows_and_the_whole_predicts_itself(folder: Path):
    """Out-of-bag: the first fit is resubstitution; each replicate predicts all 60, in the bag or out of it."""
    whole, *replicates = divided(examples_of(folder), "bootstrap-oob", replicates=30)
    assert (whole.part, whole.keys, len(whole.train)) == ("train", {}, 60)
    assert [fit.keys["replicate"] for fit in replicates] == list(range(1, 31))
    assert all(len(fit.train) == len(fit.test) == 60 for fit in replicates)


def test_seeds_change_nothing_but_the_estimators_randomness(folder: Path):
    """One division ten times over; what differs is the fit's own seed."""
    fits = divided(examples_of(folder), "seeds")
    assert [fit.keys for fit in fits] == [{"seed": number} for number in range(1, 11)]
    assert len({fit.train.tobytes() for fit in fits}) == len({fit.test.tobytes() for fit in fits}) == 1


def test_growing_samples_hold_the_smaller_ones(folder: Path):
    """A learning curve's training sets are nested; stratified, each holds the classes in proportion."""
    examples = examples_of(folder)
    fits = divided(examples, "learning-curve", sizes=(0.25, 0.5, 30, 1.0), repeats=2, stratify=True)
    assert [len(fit.train) for fit in fits] == [10, 20, 30, 40] * 2
    for smaller, larger in pairwise(fits):
        if smaller.keys == larger.keys:
            assert set(smaller.train) < set(larger.train)
    for fit in fits:
        # 13 of the 40 training examples are yes.
        assert abs((examples.target[fit.train] == "yes").mean() - 13 / 40) <= 1 / len(fit.train)


@pytest.mark.parametrize("name", sorted(set(SCHEMES) - {"leave-group-out", "time-ordered"}))
def test_splits_depend_on_the_seed_alone(folder: Path, name):
    """The same seed gives the same rows, another seed others (leave-one-out has no choice)."""
    examples = examples_of(folder)
    one, again, other = (divided(examples, name, seed=seed) for seed in (5, 5, 6))
    same = [(a.train == b.train).all() and (a.test == b.test).all() for a, b in zip(one, again, strict=True)]
    assert all(same)
    moved = [a.train.tobytes() != b.train.tobytes() for a, b in zip(one, other, strict=True)]
    assert any(moved) is (name != "leave-one-out")


def test_more_replicates_leave_the_first_ones_as_they_are(folder: Path):
    """A replicate belongs to its number: 30 replicates begin with the 20."""
    examples = examples_of(folder)
    few, many = (divided(examples, "bootstrap", replicates=count) for count in (20, 30))
    assert all((a.train == b.train).all() for a, b in zip(few, many[:20], strict=True))


def test_copies_of_a_row_stay_on_one_side_of_an_inner_split(folder: Path):
    """A bootstrap sample holds rows twice; a search in it never validates on a row that it trained on."""
    examples = examples_of(folder)
    sample = np.sort(np.random.default_rng(1).choice(40, 40))
    for train, validation in inner_folds(examples, sample, folds=4, seed=0, stratify=True):
        assert not set(sample[train]) & set(sample[validation])


@pytest.mark.parametrize(
    "name, fields, message",
    [
        ("kfold", {"folds": 61}, "n_splits=61 greater than the number of samples: n_samples=60"),
        (
            "stratified-kfold",
            {"folds": 21},
            "least populated class in y has only 20 members, which is less than n_splits=21",
        ),
        ("learning-curve", {"sizes": (41,)}, "41 training examples, but the training part has 40"),
        (
            "holdout",
            {"test": 0.999},
            "the scheme holdout cannot divide the 60 examples: .* train set will be empty",
        ),
        ("kfold", {"folds": 2, "gap": 3}, "the scheme kfold has no 'gap'"),
    ],
)
def test_too_few_examples_are_refused_by_name(folder: Path, name, fields, message):
    """N smaller than k, a class with fewer members than folds, a sample larger than what there is."""
    with pytest.raises(UsageError, match=message):
        divided(examples_of(folder), name, **fields)


def test_too_few_groups_are_refused(examples: Examples):
    """Six wards cannot make ten folds."""
    with pytest.raises(UsageError, match="n_splits=10 greater than the number of groups: 6"):
        divided(examples, "kfold")
