"""What holds for every way of drawing examples: a new one is listed in ``SAMPLINGS`` and has all of it."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.comparisons.registry import TESTS
from evalreport.intervals import INTERVALS
from evalreport.intervals.registry import NEEDS, OF_SAMPLINGS
from evalreport.samplings import (
    STUDENTS,
    WORDS,
    Attempts,
    DataSets,
    JudgedAnswers,
    Sampling,
    Seeds,
    Sums,
    TwoTestSets,
    sampling_by,
)
from evalreport.samplings.linear import error_of_mean
from evalreport.texts import english

N = 240
CLUSTER = np.repeat(np.arange(40), 6)
WEIGHT = np.linspace(0.5, 1.5, N)
TASK = np.repeat(np.arange(3), 80)
VALUES = np.random.default_rng(5).normal(size=40)[CLUSTER] + np.random.default_rng(6).normal(size=N)

SAMPLINGS: dict[str, Sampling] = {
    "examples": sampling_by(N),
    "fixed classes": sampling_by(N, strata=np.arange(N) % 2),
    "weighted": sampling_by(N, weight=WEIGHT),
    "clusters": sampling_by(N, CLUSTER),
    "weighted clusters": sampling_by(N, CLUSTER, WEIGHT),
    "attempts": sampling_by(N, CLUSTER, of_clusters=Attempts),
    "seeds": sampling_by(N, CLUSTER, of_clusters=Seeds),
    "tasks": sampling_by(N, task=TASK),
    "clusters within tasks": sampling_by(N, np.repeat(np.arange(60), 4), task=TASK),
    "in order": sampling_by(N, order=np.arange(N)),
}
WITHOUT_DRAWS: dict[str, Sampling] = {
    "sums": Sums(N),
    "data sets": DataSets(N, defined=np.ones(N, dtype=bool)),
    "judged": JudgedAnswers(N, people=np.arange(N) < 60),
    "judged clusters": JudgedAnswers(N, CLUSTER, people=np.arange(N) < 60),
    "judged tasks": JudgedAnswers(N, task=TASK, people=np.arange(N) % 2 == 0),
    "two test sets": TwoTestSets.of(sampling_by(N), sampling_by(N)),
    "two test sets of clusters": TwoTestSets.of(sampling_by(N, CLUSTER), sampling_by(N)),
}
EVERY = SAMPLINGS | WITHOUT_DRAWS


def of(names: dict[str, Sampling]) -> pytest.MarkDecorator:
    """Run a test for each sampling."""
    return pytest.mark.parametrize("sampling", names.values(), ids=names)


@of(SAMPLINGS)
def test_draws_keep_the_number_of_units_and_the_weights_of_rows(sampling: Sampling) -> None:
    """Each draw has as many units as the data; with every unit once the rows have their own weights."""
    blocks = np.concatenate(list(sampling.unit_draws(50, seed=3)))
    assert blocks.shape == (50, sampling.count)
    assert (blocks.sum(axis=1) == sampling.count).all()
    assert (sampling.expand(np.ones((1, sampling.count)))[0] == sampling.base).all()


@of(SAMPLINGS)
def test_draws_spread_as_the_influence_values_say(sampling: Sampling) -> None:
    """The standard deviation of a mean over draws is the error by influence values with divisor n.

    4,000 draws: five Monte Carlo errors, 1.1 % each; a ratio of weighted sums is linear to 1 / 40. Blocks of neighbours
    have the variance of the first lags, cosine series that of low frequencies: here values are not in order, so that
    both agree with the rest to 25 %.
    """
    weights = sampling.expand(np.concatenate(list(sampling.unit_draws(4_000, seed=4))))
    values = VALUES if "any_order" in sampling.meets else np.random.default_rng(1).permutation(VALUES)
    if sampling.strata is not None:
        values = values + sampling.strata
    # Tasks are of one size: the mean over tasks is that of all rows.
    drawn = (weights @ values) / weights.sum(axis=1)
    derivative = (values - (sampling.base @ values) / sampling.base.sum()) / sampling.base.sum()
    error = float(np.sqrt((sampling.influence(derivative) ** 2).sum()))
    tolerance = 0.25 if "any_order" not in sampling.meets else 0.055 + 0.025
    assert drawn.std() == pytest.approx(error, rel=tolerance)


@of(SAMPLINGS)
def test_the_error_of_a_mean_has_degrees_of_freedom_and_does_not_depend_on_units_of_measurement(
    sampling: Sampling,
) -> None:
    """Ten times the values have ten times the error, with the same degrees of freedom, at most those of the units."""
    mean, student = error_of_mean(VALUES, sampling)
    ten, tenfold = error_of_mean(10 * VALUES, sampling)
    assert student is not None
    assert tenfold is not None
    assert ten == pytest.approx(10 * mean, rel=1e-12)
    assert tenfold.error == pytest.approx(10 * student.error, rel=1e-12)
    assert 0 < student.df <= sampling.count
    assert tenfold.df == pytest.approx(student.df, rel=1e-12)


@of(EVERY)
def test_a_sampling_says_only_what_tables_and_texts_know(sampling: Sampling) -> None:
    """Its words are those of the tables, its needs those of intervals, its t is registered and meets what it needs."""
    assert set(sampling.words) <= set(WORDS)
    assert sampling.meets <= {*OF_SAMPLINGS, "any_order"}
    assert {sampling.alone.code, sampling.same.code} <= set(english())
    for student in sampling.students:
        assert student in STUDENTS
        assert student.name in INTERVALS
        assert not student.test or student.name in TESTS
        # What a report calls the test that decides; why it does is said where there is more to say than that it leads.
        assert not student.test or f"test_in_words.{student.name}" in english(), student.name
        left_out = {need for need in student.needs if need in OF_SAMPLINGS} - sampling.meets
        assert not left_out, (student.name, left_out)


@of(EVERY)
def test_examples_alike_are_single_and_of_one_kind(sampling: Sampling) -> None:
    """What leads for examples alike is the metric's own; every other sampling supplies its t."""
    assert sampling.n_units <= sampling.n_examples
    assert sampling.effective_n <= sampling.n_units + 1e-9
    if sampling.alike and "no_gold" in sampling.meets:
        assert not sampling.students
        assert set(sampling.words) <= {"test sets of their own"}
    else:
        assert sampling.students


def test_every_need_of_a_sampling_has_a_text() -> None:
    """A need that is not met is said in words."""
    assert {f"interval_needs.{need}" for need in OF_SAMPLINGS} <= set(english())
    assert set(OF_SAMPLINGS) <= set(NEEDS)


def test_every_sampling_is_tried_here() -> None:
    """A class of ``evalreport.samplings`` that draws examples is in ``SAMPLINGS``, or among those without draws."""

    def below(kind: type[Sampling]) -> set[type[Sampling]]:
        return {kind, *(lower for one in kind.__subclasses__() for lower in below(one))}

    inside = {kind for kind in below(Sampling) if kind.__module__.startswith("evalreport.")}
    tried = {upper for one in EVERY.values() for upper in type(one).__mro__}
    assert {kind.__name__ for kind in inside - tried} == set()
