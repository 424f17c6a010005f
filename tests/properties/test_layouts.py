"""Every registered test inherits the same invariances, in every layout of the data."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest

from evalreport.comparisons.registry import TESTS
from evalreport.loading.load import load
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results
from tests.samples.cases import every, quick
from tests.samples.prediction_files import arrays_of

from .layouts import LAYOUTS, MODELS, evaluate, options_of, source_of
from .strategies import same

RECOMMENDED = {
    "test-set": "mcnemar_midp",
    "cross-validation": "corrected_resampled_t",
    "repeated cross-validation": "corrected_resampled_t",
    "5x2cv": "5x2cv_f",
    "repeated-holdout": "corrected_resampled_t",
    "clusters": "cluster_t",
    "time": "hac_t",
    "weights": "weighted_t",
    "bootstrap": "cluster_t",
    "seeds": "seeds_t",
    "datasets": "wilcoxon",
    "attempts": "cr2_t",
    "answers": "paired_t",
    "suite": "suite_t",
    "scores": "wilcoxon",
    "judged": "ppi",
    "independent": "two_proportions_z",
}

WITHOUT_RANKS = ("answers", "scores", "judged")
"""Layouts without a metric of ranks, of which the permutation test is refused by name."""

FEW = ("test-set", "repeated cross-validation", "scores", "judged")
"""Layouts of quick tests where each costs a run of its own: examples, fits, data sets, and people's word on some."""

MONTE_CARLO_LIMITS = "bootstrap"
"""Quantiles of finitely many replicates are not exactly symmetric."""


@cache
def run_of(layout: str, **fields: Any) -> Results:
    """Return the run of a layout, made once for all tests."""
    return evaluate(source_of(layout), layout, margin=0.05, **fields)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_test_of_the_layout_leads(layout: str) -> None:
    """One test a pair is recommended on the primary metric; it, and the test of the margin, are adjusted."""
    results = run_of(layout)
    whole = [r for r in results.comparisons if r.slice is None]
    leading = [r for r in whole if r.recommended and r.metric == results.primary_metric and r.b]
    assert [r.test for r in leading] == [RECOMMENDED[layout]] * 3
    assert all(r.p_adjusted is not None for r in leading)
    others = [r for r in results.comparisons if r not in leading and r.test != "tost"]
    assert all(r.p_adjusted is None and str(r.caution).startswith("exploratory") for r in others)


@pytest.mark.parametrize("layout", quick(LAYOUTS, FEW))
def test_a_model_against_itself(layout: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A model against itself has difference 0 and p = 1 in every test, and nothing stands on stderr."""
    source = source_of(layout)
    twin = {"a": source["m0"], "b": source["m0"], "c": source["m0"]}
    results = evaluate(twin, layout, margin=0.05)
    rows = [r for r in results.comparisons if r.b is not None and r.test != "tost"]
    assert rows
    for row in rows:
        assert row.difference == 0, row
        assert row.p_value == 1 or (row.p_value is None and row.reason), row
    assert all(row.p_value == 1 for row in rows if row.recommended)
    assert all(row.p_value == 1 for row in results.omnibus)
    assert not {v.verdict for v in results.verdicts} & {"better", "worse"}
    assert capfd.readouterr().err == ""


def key(row: ComparisonRecord) -> tuple[Any, ...]:
    """Return what a row is about, without the order of its models."""
    return frozenset((row.a, row.b)), row.test, row.metric, row.slice


@pytest.mark.parametrize("layout", quick(LAYOUTS, FEW))
def test_swapped_models(layout: str) -> None:
    """Renaming models so that pairs turn round keeps every p and flips every difference with its limits."""
    source = source_of(layout)
    new = {"m0": "z", "m1": "y", "m2": "x"}
    one = run_of(layout)
    renamed = evaluate({new[name]: columns for name, columns in source.items()}, layout, margin=0.05)
    back = {name: old for old, name in new.items()}
    image = {
        (frozenset((back[r.a], back[r.b])), r.test, r.metric, r.slice): r
        for r in renamed.comparisons
        if r.b is not None
    }
    for row in one.comparisons:
        if row.b is None:
            continue
        mirror = image[key(row)]
        assert same(row.p_value, mirror.p_value), row
        assert row.difference is not None
        assert mirror.difference is not None
        assert same(row.difference, -mirror.difference), row
        if row.low is not None and not (row.interval_method or "").startswith(MONTE_CARLO_LIMITS):
            assert mirror.high is not None
            assert same(row.low, -mirror.high), row
        if row.test.startswith("bayes"):
            assert same(row.details["a_better"], mirror.details["b_better"]), row
    assert [(r.test, r.metric, r.p_value) for r in one.omnibus] == [
        (r.test, r.metric, pytest.approx(r.p_value, rel=1e-9)) for r in renamed.omnibus
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_p_values_are_probabilities(layout: str) -> None:
    """Every p lies in (0, 1]; where there is none, a reason stands."""
    results = run_of(layout)
    for row in (*results.comparisons, *results.omnibus):
        if row.p_value is None:
            assert row.reason, row
        else:
            assert 0 < row.p_value <= 1, row
            assert math.isfinite(row.p_value)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_order_of_rows_changes_nothing(layout: str) -> None:
    """Another order of the rows, another one for each model, gives the same table, which all else is computed from."""
    source = source_of(layout)
    one, other = (
        dict(arrays_of(load(rows, options=options_of(layout)))) for rows in (source, turned(source))
    )
    assert one == other


def turned(source: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the same rows in another order, another one for each model."""
    return {
        name: {column: values[::-1] if k else values[7:] + values[:7] for column, values in columns.items()}
        for k, (name, columns) in enumerate(source.items())
    }


@pytest.mark.parametrize("layout", quick(["test-set", "attempts"], ["attempts"]))
def test_order_of_rows_changes_no_record(layout: str) -> None:
    """The same tests, in the same order."""
    one, other = run_of(layout), evaluate(turned(source_of(layout)), layout, margin=0.05)
    assert one.comparisons == other.comparisons
    assert (one.omnibus, one.average_ranks, one.variance) == (
        other.omnibus,
        other.average_ranks,
        other.variance,
    )


def reached(results: Results) -> set[str]:
    """Return the tests that found something: a p-value or posterior probabilities."""
    rows = {r.test for r in results.comparisons if r.p_value is not None or "a_better" in r.details}
    return rows | {r.test for r in results.omnibus if r.p_value is not None}


def test_every_registered_test_is_reached() -> None:
    """The invariances above see every registered test find something in one of the layouts."""
    seen: set[str] = set()
    for layout in LAYOUTS:
        seen |= reached(run_of(layout))
    assert seen == set(TESTS)


@pytest.mark.parametrize("layout", quick(LAYOUTS, FEW))
def test_a_named_test_is_made_or_refused_with_a_remedy(layout: str) -> None:
    """A test that is named finds something, or is there refused with what is missing."""
    named = tuple(TESTS) if layout in WITHOUT_RANKS else tuple(sorted(set(TESTS) - {"permutation"}))
    results = run_of(layout, tests=named)
    rows = [*results.comparisons, *results.omnibus]
    assert {row.test for row in rows} >= set(named)
    for row in rows:
        if row.p_value is None and not getattr(row, "details", {}):
            assert str(row.reason).startswith("refused: "), row


@pytest.mark.parametrize("test", every(4, sorted(TESTS)))
def test_a_test_that_is_named_alone_is_there(test: str) -> None:
    """Named alone, each test has its rows: it needs none of the others."""
    metrics = ("accuracy",) if test == "permutation" else ("accuracy", "roc_auc")
    results = run_of("test-set", tests=(test,), metrics=metrics)
    assert test in {row.test for row in (*results.comparisons, *results.omnibus)}


def test_three_models_are_enough_for_posthoc_tests() -> None:
    """The layouts hold the three models that omnibus and post hoc tests need."""
    assert len(MODELS) == 3
