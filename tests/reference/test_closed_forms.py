"""Every closed form on the real files agrees with R to 1e-10."""

from __future__ import annotations

import collections

import pytest

from evalreport.schema.results import Results
from tests.samples.cases import quick

from . import lookup
from .conftest import Evaluated
from .exclusions import reason
from .mapping import clipped_to_range, readers
from .records import DATASETS, Record, all_records, numbers, records_of, tolerance_of

# Adjusted p values are about the primary metric: these need an evaluation of their own.
ADJUSTED = "-adjusted p values of the paired DeLong tests"

CASES = sorted(
    {
        (dataset, record["quantity"])
        for dataset in DATASETS
        for record in records_of(dataset)
        if record["quantity"] in readers() and ADJUSTED not in record["quantity"]
    }
)


QUICK = [case for case in CASES if case[0] not in ("breast_cancer_test", "ext_two_class")]
"""Each quantity of the data sets left out is one of `default_test`, too."""


def disagreements(results: Results, record: Record) -> tuple[int, list[str]]:
    """Compare one record with our results: how many numbers were compared, and which differ."""
    expected = numbers(record["value"])
    ours = readers()[record["quantity"]](results, record)
    wrong = []
    for name, value in ours.items():
        theirs = expected[name]
        if theirs is not None:
            theirs = clipped_to_range(record["quantity"], theirs)
        if not agrees(record, name, value, theirs):
            wrong.append(f"{record['id']} {name}: ours {value!r}, {record['source']} {theirs!r}")
    return len(ours), wrong


def agrees(record: Record, name: str, ours: float | None, theirs: float | None) -> bool:
    """Tell whether two numbers agree; an infinite or undefined one must be null in our results."""
    if theirs is None or theirs in (float("inf"), float("-inf")):
        return ours is None
    allowed = tolerance_of(record, theirs)
    if name == "p_value":
        # A small p value has to agree in its digits, too: both tails keep about eight of them.
        allowed = min(allowed, 1e-8 * theirs + 1e-15)
    return ours is not None and abs(ours - theirs) <= allowed


@pytest.mark.parametrize("dataset, quantity", quick(CASES, QUICK))
def test_closed_form_agrees_with_r(evaluated: Evaluated, dataset: str, quantity: str) -> None:
    """Our value equals the one that R computed from the same file, for every model, pair and level."""
    compared, wrong = 0, []
    for record in records_of(dataset):
        if record["quantity"] == quantity:
            results = evaluated(dataset, record["params"].get("level", 0.95), lookup.shown_interval(quantity))
            count, differing = disagreements(results, record)
            compared += count
            wrong += differing
    assert not wrong, "\n".join(wrong)
    assert compared


def test_no_reference_quantity_falls_out_silently() -> None:
    """Every reference quantity is compared or excluded with a stated reason, never both."""
    quantities = {record["quantity"] for record in all_records()}
    neither = {q for q in quantities if q not in readers() and reason(q) is None}
    both = {q for q in quantities if q in readers() and reason(q) is not None}
    assert not neither
    assert not both


def test_as_many_records_are_compared_as_the_files_hold() -> None:
    """The number of records of each group that are compared one by one is the expected one."""
    counts = collections.Counter(
        record["group"]
        for dataset in DATASETS
        for record in records_of(dataset)
        if record["quantity"] in readers()
    )
    assert counts == EXPECTED_COUNTS


# Counted from the files once, so that a record that is lost on the way is seen.
EXPECTED_COUNTS = {
    "confusion": 299,
    "binomial_ci": 475,
    "roc": 186,
    "pr": 36,
    "probability": 50,
    "p_adjust": 6,
    "paired_accuracy": 240,
    "paired_many": 3,
    "regression": 90,
    "paired_regression": 105,
    "multiclass": 120,
}
