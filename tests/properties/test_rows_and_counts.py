"""Every registered test finds the same of rows, of the same rows in another order, and of their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport
from evalreport.comparisons import registry
from evalreport.comparisons.registry import TESTS, Outcome, Pair, Ranked, comparison_test, probability
from evalreport.engine.counts import Cells
from evalreport.metrics.counted_rows import CountedRows
from evalreport.metrics.evidence import PairedMean, PairedProportion
from evalreport.questions.ranks.records import OmnibusRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results
from tests.samples.cases import quick

Found = ComparisonRecord | OmnibusRecord

MODELS = ("m0", "m1", "m2")
N = 200


@dataclass(frozen=True)
class Situation:
    """Rows (truth, a column a model, further columns), the column that the models fill, and the options of the run."""

    frame: pd.DataFrame
    filled: str
    options: dict[str, Any]

    @property
    def counted(self) -> bool:
        """Whether a table of counts holds it: only labels can be counted."""
        return self.filled == "y_pred"

    @property
    def others(self) -> list[str]:
        """Columns beside those of the models."""
        return [name for name in self.frame if name not in MODELS]


def labels(*classes: str, **options: Any) -> Situation:
    """Return models that are right more or less often; with options that name columns, those too."""
    random = np.random.default_rng(len(classes))
    true = random.choice(classes, N)
    columns = {"y_true": true}
    for model, share in zip(MODELS, (0.9, 0.75, 0.7), strict=True):
        columns[model] = np.where(random.random(N) < share, true, random.choice(classes, N))
    if "cluster" in options:
        columns["ward"] = np.array([f"w{k}" for k in random.integers(0, 12, N)])
    if "weight" in options:
        columns["weight"] = random.integers(1, 4, N)
    metrics = ("accuracy", "f1", "balanced_accuracy", "precision")
    return Situation(pd.DataFrame(columns), "y_pred", {"metrics": metrics, **options})


def numbers(filled: str, values: tuple[float, ...], metrics: tuple[str, ...]) -> Situation:
    """Return models that give one of a few numbers."""
    random = np.random.default_rng(5)
    columns: dict[str, Any] = {}
    if filled != "outcome":
        columns["y_true"] = random.choice(values, N)
    for model, share in zip(MODELS, (0.9, 0.7, 0.5), strict=True):
        held = np.full(N, values[-1]) if filled == "outcome" else columns["y_true"]
        columns[model] = np.where(random.random(N) < share, held, random.choice(values, N))
    return Situation(pd.DataFrame(columns), filled, {"metrics": metrics})


def scores() -> Situation:
    """Return models that give one of a few probabilities of class 1."""
    random = np.random.default_rng(7)
    true = random.integers(0, 2, N)
    columns: dict[str, Any] = {"y_true": true.astype(str)}
    for model, strength in zip(MODELS, (3, 2, 1), strict=True):
        columns[model] = np.clip(random.integers(0, 6, N) + strength * true, 0, 8) / 8
    return Situation(pd.DataFrame(columns), "p_1", {"metrics": ("roc_auc",)})


GRADES = ("quadratic_kappa", "linear_kappa", "mean_class_distance", "within_one_class")
OF_GRADES = ("grades", "grades in clusters", "grades under weights")


def grades(**options: str) -> Situation:
    """Return models that give one of four classes in an order."""
    situation = labels("1", "2", "3", "4", **options)
    return replace(situation, options=situation.options | {"metrics": GRADES})


SITUATIONS: dict[str, Callable[[], Situation]] = {
    "two classes": lambda: labels("0", "1", positive="1"),
    "three classes": lambda: labels("ant", "bee", "cat"),
    "grades": lambda: grades(),
    "grades in clusters": lambda: grades(cluster="ward"),
    "grades under weights": lambda: grades(weight="weight"),
    "clusters": lambda: labels("0", "1", positive="1", cluster="ward"),
    "weights": lambda: labels("0", "1", positive="1", weight="weight"),
    "outcomes": lambda: numbers("outcome", (0.0, 1.0), ("mean_outcome",)),
    "few values": lambda: numbers("y_pred", (1.0, 2.0, 4.0), ("mae", "mse")),
    "scores": scores,
}
COUNTED = ("two classes", "three classes", *OF_GRADES, "clusters", "weights")
FEW = ("two classes", "clusters")
"""Situations of quick tests: each costs a run of every test."""

ELSEWHERE = {"judged", "suite", "independent", "one_model", "time_order", "horizon"}
"""Needs of examples that are no matter of alike rows: people’s word, tasks, own test sets, one model, order in time."""


OF_OTHER_SAMPLINGS = {"hac_t", "ppi", "suite_t"}
"""Names of the t test in samplings that no situation has: order in time, people's word, tasks."""


def of_rows(situation: Situation, order: np.ndarray | None = None) -> Results:
    """Evaluate a table a model with ids, in any order."""
    frame = situation.frame.assign(id=[f"e{i:03d}" for i in range(len(situation.frame))])
    frame = frame if order is None else frame.iloc[order]
    models = {
        name: frame[["id", *situation.others]].assign(**{situation.filled: frame[name]}) for name in MODELS
    }
    return evaluated(models, situation)


def of_counts(situation: Situation) -> Results:
    """Evaluate the table of counts of the same rows."""
    named = situation.frame.rename(columns={name: f"y_pred.{name}" for name in MODELS})
    return evaluated(named.groupby(list(named)).size().reset_index(name="count"), situation)


def evaluated(source: Any, situation: Situation) -> Results:
    """Run every registered test by its name: one that cannot be had is refused with its reason."""
    task = {"task": "regression"} if set(situation.options["metrics"]) & {"mae", "mse"} else {}
    ranks = "roc_auc" in situation.options["metrics"]  # of which a permutation test by name is refused
    named = tuple(test for test in TESTS if not (ranks and test == "permutation"))
    fields = {"tests": named, "margin": 0.02, "resamples": 100, **task, **situation.options}
    return evalreport.evaluate(source, options=evalreport.Options(**fields))


@cache
def rows_found(name: str) -> Results:
    """Return what the rows of a situation give."""
    return of_rows(SITUATIONS[name]())


def differing(one: Results, other: Results) -> list[str]:
    """Return the tests of which two runs found something else."""
    return [a.test for a, b in in_pairs(one, other) if not alike(a, b)]


def alike(one: Found, other: Found) -> bool:
    """Say whether two records hold the same figures; sums over rows and over their counts are rounded apart."""
    pairs = [
        (getattr(one, name, None), getattr(other, name, None))
        for name in ("statistic", "df", "p_value", "difference")
    ]
    return all(a == (b if b is None else pytest.approx(b, rel=1e-9, abs=1e-12)) for a, b in pairs)


def in_pairs(one: Results, other: Results) -> list[tuple[Found, Found]]:
    """Return the records of tests of two runs side by side."""
    assert [r.test for r in records_of(one)] == [r.test for r in records_of(other)]
    return list(zip(records_of(one), records_of(other), strict=True))


def records_of(results: Results) -> list[Found]:
    """Return the records of all tests of a run."""
    return [*results.comparisons, *results.omnibus]


@pytest.mark.parametrize("name", quick(SITUATIONS, FEW))
def test_the_order_of_rows_changes_no_test(name: str) -> None:
    """The same examples in another order give the same records of every test."""
    order = np.random.default_rng(11).permutation(N)
    assert differing(rows_found(name), of_rows(SITUATIONS[name](), order)) == []


@pytest.mark.parametrize("name", quick(COUNTED, FEW))
def test_counts_give_what_their_rows_give(name: str) -> None:
    """A line with its count gives every test the same p-value, statistic, degrees of freedom and difference."""
    rows, counts = rows_found(name), of_counts(SITUATIONS[name]())
    drawn = {"bootstrap_difference"} if name in OF_GRADES else set()  # drawn by row there, by cell here
    assert set(differing(rows, counts)) <= drawn
    for one, other in in_pairs(rows, counts):
        if one.test in drawn:
            assert one.p_value == pytest.approx(other.p_value, abs=0.2), one  # of 100 replicates each


@pytest.mark.parametrize("name", quick(SITUATIONS, FEW))
def test_alike_examples_written_out_one_by_one_change_no_test(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that drops the counts of alike examples finds something else where each example has its own row."""
    assert written_out_differs(rows_found(name), name, monkeypatch) == []


def written_out_differs(counted: Results, name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tests that find something else than a run where each example has its own row."""
    run = registry.Test.run
    monkeypatch.setattr(registry.Test, "run", lambda test, subject: run(test, written_out(subject)))
    apart = of_rows(SITUATIONS[name]())
    monkeypatch.undo()
    return differing(counted, apart)


def written_out(subject: Any) -> Any:
    """Return what a test is given with a row for each example."""
    if isinstance(subject, CountedRows):
        return CountedRows(subject.expanded())
    if isinstance(subject, Ranked):
        return replace(subject, ranks=CountedRows(subject.ranks, subject.counts).expanded(), counts=None)
    if isinstance(subject, Cells):
        times = subject.counts.astype(int)
        return replace(
            subject,
            counts=np.ones(times.sum()),
            true=np.repeat(subject.true, times),
            predicted=np.repeat(subject.predicted, times, axis=1),
        )
    if isinstance(subject, Pair):
        evidence = subject.difference.evidence
        if isinstance(evidence, PairedProportion | PairedMean):
            evidence = replace(evidence, differences=written_out(evidence.differences))
        return replace(
            subject,
            by_example=written_out(subject.by_example),
            labels=written_out(subject.labels),
            difference=replace(subject.difference, evidence=evidence),
            ranking=lambda: written_out(subject.ranked),
        )
    return subject


@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_the_situations_hold_alike_examples(name: str) -> None:
    """Were every cell different, nothing could be dropped."""
    assert len(SITUATIONS[name]().frame.drop_duplicates()) < N / 4


@pytest.mark.slow
def test_every_test_of_examples_is_reached() -> None:
    """Each test that is about examples has a p-value in some situation (or a posterior), and the others are refused."""
    results = [rows_found(name) for name in SITUATIONS]
    records = [r for found in results for r in records_of(found)]
    reached = {r.test for r in records if r.p_value is not None}
    about = {
        t.name
        for t in TESTS.values()
        if (t.of_examples or t.needs == "all_ranks") and t.needs not in ELSEWHERE
    }
    assert about - reached == OF_OTHER_SAMPLINGS
    assert all(r.reason for r in records if r.p_value is None)


@pytest.fixture
def careless() -> Iterator[str]:
    """Register a sign test that drops the counts, and take it out again."""

    @comparison_test("Careless sign test", "losses", null_hypothesis="-", assumptions="-", source="-")
    def careless_sign(pair: Pair) -> Outcome:
        """Count the distinct rows as if each were an example."""
        assert pair.by_example is not None
        above, below = (pair.by_example.values[:, [0, 1]] > pair.by_example.values[:, [1, 0]]).sum(axis=0)
        return Outcome(float(above), probability(1 / (1 + abs(int(above) - int(below)))))

    yield "careless_sign"
    TESTS.remove("careless_sign")


def test_a_test_that_drops_counts_is_found(careless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and counts are both kept as distinct cells, so only rows written out show it."""
    counted = of_rows(SITUATIONS["two classes"]())
    assert careless in written_out_differs(counted, "two classes", monkeypatch)


@pytest.fixture
def one_by_one() -> Iterator[str]:
    """Register a test that goes through the losses of single examples, and take it out again."""

    @comparison_test("Smaller losses", "losses", null_hypothesis="-", assumptions="-", source="-")
    def smaller_losses(pair: Pair) -> Outcome:
        """Count the examples."""
        return Outcome(float(len(pair.losses)), 1.0)

    yield "smaller_losses"
    TESTS.remove("smaller_losses")


def test_more_counts_than_can_be_written_out_are_refused(one_by_one: str) -> None:
    """Ten billion examples have no row each: a test of rows says so, the weighted ones have their p-values."""
    table = pd.DataFrame(
        {
            "y_true": ["a", "a", "b"],
            "y_pred.m0": ["a", "a", "b"],
            "y_pred.m1": ["a", "b", "a"],
            "count": [9_000_000_000, 700_000_000, 300_000_000],
        }
    )
    options = evalreport.Options(
        tests=(one_by_one, "paired_t", "sign"), metrics=("accuracy",), resamples=100, positive="a"
    )
    found = {r.test: r for r in evalreport.evaluate(table, options=options).comparisons}
    assert found[one_by_one].p_value is None
    assert "refused: takes the examples one by one" in str(found[one_by_one].reason)
    assert found["paired_t"].p_value is not None
    assert found["sign"].p_value is not None
