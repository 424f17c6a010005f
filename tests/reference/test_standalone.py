"""Published tables and counts without a file: expanded into rows, evaluated, compared with R."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pytest

import evalreport
from evalreport.schema.results import Results
from tests.samples.cases import every

from . import lookup
from .conftest import Evaluated
from .exclusions import reason
from .mapping import BINOMIAL_INTERVALS, clipped_to_range, readers
from .records import CLOSED_FORM, DATA, DATASETS, Record, numbers, records_of, tolerance_of

BINOMIAL = [r for r in records_of("standalone") if r["group"] == "binomial_ci" and "x" in r["params"]]
PROPORTIONS = [r for r in BINOMIAL if r["quantity"].removeprefix("proportion ") in BINOMIAL_INTERVALS]
PAIRED = [r for r in records_of("standalone") if r["group"] == "paired_accuracy"]


def table_of(record: Record) -> tuple[int, ...]:
    """Return right/right, right/wrong, wrong/right, wrong/wrong, which the record's id holds."""
    return tuple(int(count) for count in record["id"].split(".")[0].split("_")[1:])


def test_standalone_records_are_all_there() -> None:
    """30 counts and levels with five intervals each, six paired tables, four lists of p values."""
    assert len(PROPORTIONS) == 150
    assert len({table_of(r) for r in PAIRED}) == 6
    assert len(adjusted_lists()) == 12


@functools.cache
def right_and_wrong(right: int, n: int, level: float) -> Results:
    """Evaluate one model that is right on ``right`` of ``n`` examples of two equally frequent classes."""
    truth = [str(i % 2) for i in range(n)]
    said = [label if i < right else str(1 - int(label)) for i, label in enumerate(truth)]
    source = {"model": {"id": [f"{i:05d}" for i in range(n)], "y_true": truth, "y_pred": said}}
    options = evalreport.Options(
        task="binary",
        positive="1",
        metrics=("accuracy",),
        intervals=("all",),
        confidence=level,
        resamples=100,
    )
    return evalreport.evaluate(source, options=options)


@pytest.mark.parametrize("record", PROPORTIONS, ids=lambda record: record["id"])
def test_interval_of_a_proportion_agrees_with_r(record: Record) -> None:
    """An accuracy of x in n has R's limits of each kind, cut to [0, 1]."""
    params = record["params"]
    results = right_and_wrong(params["x"], params["n"], params["level"])
    method = BINOMIAL_INTERVALS[record["quantity"].removeprefix("proportion ")]
    one = lookup.interval(lookup.metric(results, "model", "accuracy"), method)
    for ours, theirs in ((one.low, record["value"]["lower"]), (one.high, record["value"]["upper"])):
        assert ours == pytest.approx(min(1.0, max(0.0, theirs)), rel=CLOSED_FORM, abs=CLOSED_FORM)


@functools.cache
def paired_table(table: tuple[int, ...], interval: str) -> Results:
    """Evaluate two models A and B with these numbers right by both, by A, by B, by none."""
    both, a_only, b_only, neither = table
    rights = [(1, 1)] * both + [(1, 0)] * a_only + [(0, 1)] * b_only + [(0, 0)] * neither
    truth = [i % 2 for i in range(len(rights))]
    ids = [f"{i:05d}" for i in range(len(rights))]
    source: Mapping[str, Mapping[str, Any]] = {
        name: {
            "id": ids,
            "y_true": [str(t) for t in truth],
            "y_pred": [str(t if right[place] else 1 - t) for t, right in zip(truth, rights, strict=True)],
        }
        for place, name in enumerate("AB")
    }
    options = evalreport.Options(
        task="binary",
        positive="1",
        metrics=("accuracy",),
        intervals=(interval,),
        tests=("all",),
        resamples=100,
    )
    return evalreport.evaluate(source, options=options)


@pytest.mark.parametrize(
    "record", [r for r in PAIRED if r["quantity"] in readers()], ids=lambda record: record["id"]
)
def test_paired_table_agrees_with_r(record: Record) -> None:
    """McNemar's tests and the intervals of the difference equal R's on published paired tables."""
    results = paired_table(table_of(record), lookup.shown_interval(record["quantity"]))
    expected = numbers(record["value"])
    for name, ours in readers()[record["quantity"]](results, record | {"models": ["A", "B"]}).items():
        theirs = clipped_to_range(record["quantity"], expected[name] or 0.0)
        assert ours == pytest.approx(theirs, abs=tolerance_of(record, theirs)), name


def test_paired_counts_equal_the_files_own(evaluated: Evaluated) -> None:
    """McNemar's difference is (n10 - n01) / n with the counts that R's table() gives for every pair."""
    compared = 0
    for dataset in DATASETS:
        for record in records_of(dataset):
            if record["quantity"] == "paired table of right/wrong":
                row, sign = lookup.comparison(
                    evaluated(dataset),
                    tuple(record["models"]),
                    "accuracy",
                    chosen=lambda r: r.test == "mcnemar_midp",
                )
                value = record["value"]
                assert row.difference is not None
                assert row.difference * sign == pytest.approx(
                    (value["n10"] - value["n01"]) / value["n"], abs=1e-12
                )
                compared += 1
    assert compared == 30


CORRECTIONS = {"bonferroni": "bonferroni", "holm": "holm", "BH": "bh"}


@pytest.mark.parametrize("kind", CORRECTIONS)
@pytest.mark.parametrize("dataset", every(2, ["breast_cancer_test", "default_test"]))
def test_adjusted_delong_p_values_agree_with_r(dataset: str, kind: str) -> None:
    """DeLong's p-values of all pairs are adjusted as R's p.adjust does."""
    quantity = f"{kind}-adjusted p values of the paired DeLong tests"
    (record,) = (r for r in records_of(dataset) if r["quantity"] == quantity)
    file, positive = DATASETS[dataset]
    options = evalreport.Options(
        positive=positive,
        metrics=("roc_auc",),
        correction=CORRECTIONS[kind],
        tests=("delong",),
        resamples=100,
    )
    results = evalreport.evaluate(DATA / "predictions" / file, options=options)
    ours = readers()[quantity](results, record)
    assert len(ours) == 10
    for pair, theirs in numbers(record["value"]).items():
        assert ours[pair] == pytest.approx(theirs, rel=1e-8, abs=CLOSED_FORM), pair


def test_verdicts_carry_simultaneous_limits() -> None:
    """The limits of a verdict among ten pairs are those that lead, at level 1 - 0.05 / 10 (Bonferroni).

    The limits themselves are compared with reference values; here only the level is in question.
    """
    file, positive = DATASETS["default_test"]
    family, single = (
        evalreport.evaluate(
            DATA / "predictions" / file,
            positive=positive,
            metrics=("accuracy",),
            resamples=100,
            confidence=level,
        )
        for level in (0.95, 0.995)
    )
    assert len(family.verdicts) == 10
    for verdict in family.verdicts:
        own, _ = lookup.comparison(single, verdict.about, "accuracy", chosen=lambda r: r.recommended)
        assert verdict.level == pytest.approx(0.995, abs=1e-12)
        assert (verdict.low, verdict.high) == pytest.approx((own.low, own.high), abs=1e-9)


def adjusted_lists() -> list[Record]:
    """Return the records with lists of raw p values and the corrections that we offer."""
    wanted = {f"{kind}-adjusted p values of a list of p values" for kind in CORRECTIONS}
    return [r for r in records_of("standalone") if r["quantity"] in wanted]


def test_excluded_standalone_quantities_have_reasons() -> None:
    """What is not compared here is excluded by name with a reason."""
    compared = {r["quantity"] for r in (*PROPORTIONS, *adjusted_lists())} | set(readers())
    missing = {r["quantity"] for r in records_of("standalone")} - compared
    assert all(reason(quantity) for quantity in missing)


def test_normal_critical_values_agree_with_r() -> None:
    """The normal interval of 50 right in 100 has R's qnorm as its half width in standard errors."""
    (record,) = (r for r in records_of("standalone") if r["quantity"] == "two-sided normal critical values")
    for level, z in record["value"].items():
        accuracy = lookup.metric(right_and_wrong(50, 100, float(level)), "model", "accuracy")
        one = lookup.interval(accuracy, "normal")
        assert one.high is not None
        assert (one.high - 0.5) / 0.05 == pytest.approx(z, abs=CLOSED_FORM)
