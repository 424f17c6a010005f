"""Gates on slices: how they are written, what is computed for them, and that the slice's interval decides."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.errors import UsageError
from evalreport.intervals.proportions import clopper_pearson_limits, tango_limits
from tests.samples.slices import Source, run, values_of

RANDOM = np.random.default_rng(6)

N = 300

TRUTH = RANDOM.integers(0, 3, N).astype(str)

SEX = RANDOM.choice(["f", "m"], N)

REGION = RANDOM.choice(["north", "south"], N)


def three_classes(**columns) -> Source:
    """Return two models of three classes with facts to slice by."""
    facts = {"y_true": TRUTH.tolist(), "sex": SEX.tolist(), "region": REGION.tolist(), **columns}
    random = np.random.default_rng(7)
    wrong = {"a": random.random(N) < 0.2, "b": random.random(N) < 0.4}
    return {name: {**facts, "y_pred": np.where(w, "0", TRUTH).tolist()} for name, w in wrong.items()}


@pytest.mark.slow
def test_the_interval_of_the_slice_decides():
    """Pass below its lower limit, undecided inside, fail above: the exact interval of the slice's recall."""
    source = three_classes()
    probe = run(source, slices=["sex"])
    (record,) = [
        r for r in probe.metrics
        if r.slice is not None and (r.slice.value, r.model, r.metric, r.label) == ("f", "a", "recall", "1")
    ]  # fmt: skip
    low, high = clopper_pearson_limits(round(record.value * record.trials), record.trials, 0.95)
    limits = {"pass": low - 0.001, "undecided": (low + high) / 2, "fail": high + 0.001}
    results = run(source, gates=[f"a.recall[class=1,sex=f] >= {x}" for x in limits.values()])
    assert [g.outcome for g in results.gates] == list(limits)
    assert {g.value for g in results.gates} == {record.value}
    assert all((g.low, g.high) == (low, high) for g in results.gates)


def test_a_gate_computes_the_slices_that_it_names():
    """Without --slice the column of a gate is divided, and nothing else."""
    results = run(three_classes(age=list(range(N))), metrics=["accuracy"], gates=["a.accuracy[sex=f] > 0"])
    assert values_of(results, "sex") == ["f", "m"]
    assert {r.slice.column for r in results.metrics if r.slice} == {"sex"}


def test_two_columns_in_either_order_and_as_one_name():
    """Sex and region, region and sex, and the pair by its name are the same slice."""
    gates = [
        "a.accuracy[sex=f,region=north] > 0",
        "a.accuracy[region=north,sex=f] > 0",
        "a.accuracy[sex*region=f * north] > 0",
    ]
    source = three_classes()
    found = run(source, metrics=["accuracy"], slices=["sex*region"], gates=gates).gates
    inside = (SEX == "f") & (REGION == "north")
    right = np.mean(np.array(source["a"]["y_pred"])[inside] == TRUTH[inside])
    assert [g.value for g in found] == pytest.approx([right] * 3, abs=1e-12)
    assert len({(g.low, g.high) for g in found}) == 1


@pytest.mark.slow
def test_bins_of_the_option_are_those_of_the_gate():
    """--slice age:100, gives two bins, and a gate on sex and age means the same ones."""
    gates = ["a.accuracy[age=under 100] > 0", "a.accuracy[sex=f,age=100 or over] > 0"]
    results = run(three_classes(age=list(range(N))), slices=["age:100,"], gates=gates)
    assert [g.outcome for g in results.gates] == ["pass", "pass"]


def test_a_difference_within_a_slice_is_decided_by_its_own_comparison():
    """The recommended comparison of the slice's pair, turned round where the gate names the other model first."""
    results = run(
        three_classes(),
        metrics=["accuracy"],
        gates=["a.accuracy[sex=f] - b.accuracy[sex=f] > -0.5", "b.accuracy[sex=f] - a.accuracy[sex=f] > 0"],
    )
    one, other = results.gates
    (row,) = [r for r in results.comparisons if r.slice and r.slice.value == "f"]
    counts = row.details
    low, high = tango_limits(counts["only_a"], counts["only_b"], counts["n"], 0.95)
    assert (one.value, one.low, one.high) == (row.difference, low, high)
    assert one.outcome == "pass"
    assert (other.low, other.high) == (-row.high, -row.low)


@pytest.mark.parametrize(
    "gate, message",
    [
        ("a.accuracy[sxe=f] > 0", "unknown column 'sxe'; did you mean sex?"),
        ("a.accuracy[sex=w] > 0", "unknown value of sex 'w'; known: f, m"),
        ("a.mcc[sex=f] > 0", "mcc is not computed for a"),
        ("a.f1[sex=f] - b.f1[sex=f] > 0", "within slices accuracy is: name it first, -m"),
    ],
)
def test_what_is_not_there_is_said(gate, message):
    """A column, a value, a metric or a comparison that the results cannot hold is bad usage."""
    with pytest.raises(UsageError, match="gate") as error:
        run(three_classes(), metrics=["accuracy", "f1"], gates=[gate])
    assert message in str(error.value)


def test_a_model_whose_name_holds_brackets_is_no_slice():
    """x[lr=0.1] is a model: its gate asks for no slices."""
    source = three_classes()
    results = run(
        {"x[lr=0.1]": source["a"], "b": source["b"]},
        metrics=["accuracy", "f1"],
        gates=['"x[lr=0.1]".accuracy > 0.1', "x[lr=0.1].f1 > 0"],
    )
    assert not [r for r in results.metrics if r.slice]
    assert [g.outcome for g in results.gates] == ["pass", "pass"]


@pytest.mark.slow
def test_single_classes_within_many_slices_are_computed_where_a_gate_names_them():
    """Classes times slices beyond 200: only what is named."""
    city = [f"c{i % 45:02}" for i in range(N)]
    label = [f"{i % 5}" for i in range(N)]
    source = {"a": {"y_true": label, "y_pred": label, "city": city}}
    results = run(source, slices=["city"], gates=["a.recall[class=1,city=c01] > 0"])
    found = {(r.metric, r.label) for r in results.metrics if r.slice and r.label is not None}
    assert found == {("recall", "1")}
    assert results.gates[0].value == 1.0


def test_a_blocker_flags_no_slice():
    """Examples that were trained on leave the numbers and take the flags, as they take the verdicts."""
    n = 400
    right = [0] * 60 + [1] * 40 + [1] * 300
    rows = {"id": [f"{i:03}" for i in range(n)], "y_true": ["1", "0"] * 200, "g": ["u"] * 100 + ["v"] * 300}
    rows["y_pred"] = [
        t if r else ("0" if t == "1" else "1") for t, r in zip(rows["y_true"], right, strict=True)
    ]
    both = {key: values + values[:5] for key, values in rows.items()}
    both["part"] = ["test"] * n + ["train"] * 5
    clean, leaked = (run({"a": one}, metrics=["accuracy"], slices=["g"]) for one in (rows, both))
    assert any(r.flagged for r in clean.disparities)
    assert any(w.level == "blocker" for w in leaked.warnings)
    assert not any(r.flagged for r in leaked.disparities)
