"""What differs between two results.json, kind by kind."""

from __future__ import annotations

from typing import Any

from evalreport.history.changes import Change, changes


def results(**given: Any) -> dict[str, Any]:
    """Return the parts of a results.json that are compared."""
    metric = {"model": "a", "metric": "f1", "average": "macro", "label": None, "slice": None, "value": 0.8}
    whole = {
        "n": 500, "task": "binary", "models": ["a", "b"], "options": {"seed": 0, "confidence": 0.95},
        "inputs": [{"path": "a.csv", "sha256": "0" * 64, "rows": 500}], "environment": {"numpy": "2.3.4"},
        "metrics": [metric], "gates": [{"gate": "a.f1 > 0.7", "outcome": "passed"}], "warnings": [],
    }  # fmt: skip
    return {**whole, **given}


def test_equal_results_have_no_changes() -> None:
    """Nothing differs from itself."""
    assert changes(results(), results()) == ()


def test_each_kind_is_named() -> None:
    """Data, options, inputs, versions, values, gates and warnings, in this order."""
    after = results(
        n=480,
        options={"seed": 1, "confidence": 0.95},
        inputs=[{"path": "a.csv", "sha256": "1" * 64, "rows": 480}],
        environment={"numpy": "2.3.5"},
        metrics=[{**results()["metrics"][0], "value": 0.7}],
        gates=[{"gate": "a.f1 > 0.7", "outcome": "failed"}],
        warnings=[{"code": "few-examples", "about": None}],
    )
    found = changes(results(), after)
    assert [change.kind for change in found] == [
        "data", "option", "input", "version", "value", "gate", "warning",
    ]  # fmt: skip
    assert Change("value", "a.f1_macro", 0.8, 0.7) in found
    assert Change("input", "a.csv", "000000000000, 500 rows", "111111111111, 480 rows") in found


def test_a_model_that_left_has_no_value_after() -> None:
    """Its value of before stands beside nothing."""
    found = changes(results(), results(models=["b"], metrics=[]))
    assert Change("data", "models", "a, b", "b") in found
    assert Change("value", "a.f1_macro", 0.8, None) in found


def test_values_of_slices_and_classes_are_spelled_as_in_a_gate() -> None:
    """The class and the slice in brackets."""
    row = {"model": "a", "metric": "recall", "average": None, "label": "spam", "value": 0.5}
    before = results(metrics=[{**row, "slice": {"column": "sex", "value": "f"}}])
    assert [change.what for change in changes(before, results(metrics=[]))] == ["a.recall[class=spam,sex=f]"]


def test_costs_are_spelled_as_in_a_gate() -> None:
    """Each figure, overall and within a slice."""
    row = {
        "model": "m",
        "column": "cost",
        "slice": None,
        "mean": 2.0,
        "median": 1.0,
        "p95": 4.0,
        "sum": 20.0,
        "per_success": 3.0,
    }
    within = row | {"slice": {"column": "lang", "value": "de"}}
    found = changes(
        results(costs=[row, within]), results(costs=[row | {"mean": 2.5}, within | {"sum": 30.0}])
    )
    assert [(c.kind, c.what, c.before, c.after) for c in found] == [
        ("value", "m.cost_mean", 2.0, 2.5),
        ("value", "m.cost_sum[lang=de]", 20.0, 30.0),
    ]
