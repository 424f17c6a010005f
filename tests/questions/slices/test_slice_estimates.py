"""A slice is a run on its rows: the same values, the same intervals, the same tests."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.properties.layouts import KEYS, predictions
from tests.samples.cases import every, quick
from tests.samples.slices import Source, comparisons_in, rows_of, run, within

FITS = ("corrected_t", "cv_t")
"""Intervals between folds, which a slice does not have: its values are pooled."""


def with_groups(source: Source) -> Source:
    """Add a column that divides the ids into two groups with both classes in each."""
    return {
        name: {**columns, "group": ["a" if int(i) // 2 % 3 else "b" for i in columns["id"]]}
        for name, columns in source.items()
    }


def one_model(layout):
    """Return one model of a layout: values and intervals of one do not depend on the others, which are below."""
    return {"m1": with_groups(predictions(layout))["m1"]}


def keys(records):
    """Index metrics by model and quantity."""
    return {(r.model, r.metric, r.average, r.label): r for r in records}


@pytest.mark.parametrize("layout", quick(KEYS, ["test-set", "seeds", "weights"]))
def test_values_of_a_slice_are_those_of_its_rows_alone(layout):
    """Every value and every n, in every layout, equals that of a run which never saw the other rows."""
    source = one_model(layout)
    whole = run(source, slices=["group"], resamples=1)
    value = "ab"[[*KEYS].index(layout) % 2]
    part = rows_of(source, [g == value for g in source["m1"]["group"]])
    alone = keys(r for r in run(part, resamples=1).metrics if r.slice is None)
    found = keys(within(whole, "group", value))
    assert set(found) == {key for key in alone if key[1] not in ("aic", "bic", "mdl", "vc_bound")}
    for key, record in found.items():
        assert record.value == alone[key].value, key
        assert record.n == alone[key].n, key


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["test-set", "bootstrap", "seeds", "datasets"])
def test_intervals_of_a_slice_are_those_of_its_rows_alone(layout):
    """Every interval, bootstrap included, equals that of a run on the rows: slices are drawn from by themselves."""
    source = one_model(layout)
    whole = run(source, slices=["group"], intervals=["all"])
    for value in "ab":
        part = rows_of(source, [g == value for g in source["m1"]["group"]])
        alone = keys(run(part, intervals=["all"]).metrics)
        for key, record in keys(within(whole, "group", value)).items():
            assert record.intervals == alone[key].intervals, key
            assert record.standard_error == alone[key].standard_error, key


@pytest.mark.parametrize(
    "layout", every(4, ["cross-validation", "repeated cross-validation", "5x2cv", "repeated-holdout"])
)
def test_over_folds_the_intervals_by_example_are_those_of_the_rows_alone(layout):
    """Of folds the normal and the bootstrap interval agree with a run on the rows; none is between folds."""
    source = one_model(layout)
    whole = run(source, slices=["group"])
    part = rows_of(source, [g == "a" for g in source["m1"]["group"]])
    alone = keys(run(part).metrics)
    compared = 0
    for key, record in keys(within(whole, "group", "a")).items():
        assert not {i.method for i in record.intervals} & set(FITS), key
        other = {i.method: i for i in alone[key].intervals}
        for interval in record.intervals:
            if interval.method in other and interval.method.startswith(("normal", "bootstrap")):
                # Where it leads instead of one between folds, its reason says so in the run.
                expected = other[interval.method]
                assert (interval.low, interval.high) == (expected.low, expected.high), key
                compared += 1
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"cluster": "site"}, {"weight": "w"}, {"fixed_class_counts": True}])
def test_clusters_weights_and_fixed_classes_hold_within_slices(options):
    """The units of a slice are those of its rows: the same intervals as in a run on them."""
    source = with_groups(predictions("test-set"))
    for columns in source.values():
        columns["site"] = [f"s{int(i) // 4}" for i in columns["id"]]
        columns["w"] = [1 + int(i) % 3 for i in columns["id"]]
    whole = run(source, slices=["group"], **options)
    part = rows_of(source, [g == "b" for g in source["m0"]["group"]])
    alone = keys(run(part, **options).metrics)
    for key, record in keys(within(whole, "group", "b")).items():
        assert (record.value, record.standard_error) == (alone[key].value, alone[key].standard_error), key
        assert record.intervals == of_a_slice(alone[key].intervals), key


def of_a_slice(intervals):
    """Return the intervals that a slice has by default: the recommended one and the normal one."""
    return tuple(i for i in intervals if i == intervals[0] or i.method == "normal")


@pytest.mark.slow
def test_separate_test_sets_are_sliced_apart():
    """With --join independent each model's slice holds its own examples, and equals a run on them."""
    random = np.random.default_rng(3)
    source: Source = {}
    for place, name in enumerate("ab"):
        truth = random.integers(0, 2, 80)
        source[name] = {
            "id": [f"{name}{i}" for i in range(80)],
            "y_true": truth.tolist(),
            "y_pred": np.where(random.random(80) < 0.7 + 0.1 * place, truth, 1 - truth).tolist(),
            "group": ["u" if i % 3 else "v" for i in range(80)],
        }
    whole = run(source, slices=["group"], join="independent")
    part = {name: rows_of({name: c}, [g == "u" for g in c["group"]])[name] for name, c in source.items()}
    alone = keys(run(part, join="independent").metrics)
    for key, record in keys(within(whole, "group", "u")).items():
        assert record.value == alone[key].value
        assert record.intervals == of_a_slice(alone[key].intervals)


def test_a_model_without_examples_in_a_slice_says_so():
    """With separate test sets a model may have no example of a slice: null, n = 0 and the reason."""
    source: Source = {
        "a": {"id": ["1", "2", "3", "4"], "outcome": [1, 0, 1, 1], "group": ["u", "u", "v", "v"]},
        "b": {"id": ["5", "6", "7"], "outcome": [1, 0, 0], "group": ["u", "u", "u"]},
    }
    results = run(source, slices=["group"], join="independent")
    (record,) = [r for r in within(results, "group", "v") if r.model == "b"]
    assert (record.value, record.n, record.intervals) == (None, 0, ())
    assert record.reason == "the model has no example in this slice"


def test_pairs_within_a_slice_are_compared_as_on_its_rows_alone():
    """The recommended test of the primary metric, exploratory, with the slice named."""
    source = with_groups(predictions("test-set"))
    whole = run(source, slices=["group"], metrics=["accuracy"])
    part = rows_of(source, [g == "a" for g in source["m0"]["group"]])
    alone = [r for r in run(part, metrics=["accuracy"]).comparisons if r.recommended]
    found = comparisons_in(whole, "a")
    assert len(found) == len(alone) == 3
    for mine, other in zip(found, alone, strict=True):
        assert mine.p_adjusted is None
        assert mine.caution is not None
        assert str(mine.caution).startswith("exploratory")
        same = {"slice": None, "p_adjusted": None, "correction": None, "caution": None}
        assert dataclasses.replace(mine, **same) == dataclasses.replace(other, **same)


@pytest.mark.slow
def test_another_slice_changes_no_figure():
    """What is sliced by beside a column moves none of its figures, nor those of the whole."""
    source = with_groups(predictions("test-set"))
    for columns in source.values():
        columns["half"] = ["x" if int(i) < 30 else "y" for i in columns["id"]]
    one, both = run(source, slices=["group"]), run(source, slices=["half", "group"])
    assert within(one, "group", "a") == within(both, "group", "a")
    assert [r for r in one.metrics if r.slice is None] == [r for r in both.metrics if r.slice is None]


@pytest.mark.slow
def test_large_slices_of_very_many_rows_are_resampled_from_bins_as_the_whole_is():
    """Above 200,000 rows: bootstrap errors of a slice agree with influence values, within Monte Carlo error."""
    random = np.random.default_rng(12)
    n = 210_000
    truth = random.integers(0, 2, n)
    score = truth + random.normal(size=n) * 1.5
    source = {
        "a": {
            "y_true": truth,
            "score": score,
            "y_pred": (score > 0.5).astype(int),
            "g": np.arange(n) % 7 // 3,
        }
    }
    options = {
        "metrics": ["roc_auc", "average_precision"],
        "intervals": ["bootstrap_normal"],
        "resamples": 400,
    }
    records = [r for value in "012" for r in within(run(source, slices=["g"], **options), "g", value)]
    assert len(records) == 6
    for record in records:
        (interval,) = [i for i in record.intervals if i.method == "bootstrap_normal"]
        error = (interval.high - interval.low) / (2 * 1.959963984540054)
        # The standard deviation of 400 replicates has a standard error of 3.5 %.
        assert error == pytest.approx(record.standard_error, rel=0.12), record.metric
