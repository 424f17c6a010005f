"""Tests and values over folds, data sets and independent test sets agree with R."""

from __future__ import annotations

import collections
import functools
import re
from typing import Any

import pytest

import evalreport
from evalreport.schema.results import Results
from tests.samples.cases import quick

from . import lookup
from .exclusions import reason
from .layout_readers import LAYOUTS, Reader, expected_numbers, name_of, reader_of
from .mapping import clipped_to_range, readers
from .records import CLOSED_FORM, DATA, Record, numbers, records_of

RESAMPLES = 100
"""Nothing here is read from a replicate."""

LOOSER = {
    # The studentised range is an integral: R's ptukey and scipy's stop at about these errors.
    "nemenyi_p": 1e-7,
    "nemenyi_cd_0.05": 1e-7,
    "nemenyi_cd_0.1": 1e-7,
    # baycomp prints what scipy's t gives; the correlation in the file is rounded to its nominal 1/k.
    "Bayesian": 1e-6,
}

OURS_IS_EXACT = "ours is exact here: 50 or fewer differences other than 0"
OURS_IS_NORMAL = "ours is the normal approximation here: more than 50 differences other than 0"


def not_ours(record: Record) -> str | None:
    """Say why a record that could be read is not what ours computes; None where it is."""
    match = reader_of(record)
    kind = match[1].groupdict().get("kind") if match is not None else None
    if kind is not None:
        params = record["params"]
        exact = params["n"] - params["zeros"] <= 50
        if kind == "exact" and not exact:
            return OURS_IS_NORMAL
        if kind == "normal" and exact:
            return OURS_IS_EXACT
    return None


RECORDS = [
    r for name in LAYOUTS for r in records_of(name) if reader_of(r) is not None and not_ours(r) is None
]
FRIEDMAN_OF_EXAMPLES = [r for r in records_of("diabetes_test") if r["group"] == "friedman" and reader_of(r)]
POOLED = [
    r
    for name in LAYOUTS
    for r in records_of(name)
    if reader_of(r) is None
    and r["quantity"] in readers()
    and r["quantity"] != "paired t test on 0/1 correctness"
]


def of_the_quick_files(records: list[Record]) -> list[Record]:
    """Return the records of quick tests: each quantity of the other files is one of `breast_cancer`, too."""
    return [r for r in records if r["dataset"] not in ("default_cv10", "default_5x2cv")]


TESTS = (
    *(
        "corrected_resampled_t",
        "cv_paired_t",
        "5x2cv_t",
        "5x2cv_f",
        "wilcoxon",
        "wilcoxon_pratt",
        "sign",
        "paired_t",
    ),
    *("mcnemar", "mcnemar_corrected", "mcnemar_exact", "mcnemar_midp", "friedman", "iman_davenport"),
    *("nemenyi", "conover"),
)
METRICS = {
    "binary": ("accuracy", "f1"),
    "multiclass": ("accuracy",),
    "regression": ("rmse", "mae", "mse", "r2"),
}


@functools.cache
def evaluated(dataset: str, **options: Any) -> Results:
    """Evaluate a file with the tests that its records are about, or with the options that a record asks for."""
    file, positive, value = LAYOUTS.get(dataset, (f"{dataset}.csv", None, None))
    task = "binary" if positive else "multiclass" if dataset == "iris_loocv" else "regression"
    metrics = () if value else METRICS[task]
    given = {"tests": TESTS, "intervals": ("all",), "resamples": RESAMPLES, "metrics": metrics, **options}
    settled = evalreport.Options(positive=positive, value=value, **given)
    return evalreport.evaluate(DATA / "predictions" / file, options=settled)


def asked_for(record: Record, match: re.Match[str]) -> Results:
    """Evaluate as the record's parameters say: margin, level, correction."""
    groups = match.groupdict()
    dataset = record["dataset"]
    if "rope" in record["params"]:
        return evaluated(dataset, margin=record["params"]["rope"], tests=("bayes_correlated_t",))
    if groups.get("alpha"):
        return evaluated(dataset, confidence=1 - float(groups["alpha"]))
    if groups.get("correction"):
        metrics = (name_of(match),) if groups.get("metric") else ()
        return evaluated(dataset, correction=groups["correction"].lower(), metrics=metrics, tests=("sign",))
    return evaluated(dataset)


def tolerance(record: Record, expected: float) -> float:
    """Return the absolute tolerance of one number: closed forms, or what the sources' integrals are good for."""
    own = next((t for name, t in LOOSER.items() if record["quantity"].startswith(name)), CLOSED_FORM)
    return own * max(1.0, abs(expected))


@pytest.mark.parametrize(
    "record", quick(RECORDS, of_the_quick_files(RECORDS)) + FRIEDMAN_OF_EXAMPLES, ids=lambda r: r["id"]
)
def test_value_agrees_with_r(record: Record) -> None:
    """Each number of the record is ours, to 1e-10 or as the source's own integral is good."""
    found = reader_of(record)
    assert found is not None
    reader: Reader = found[0]
    ours = reader(asked_for(record, found[1]), record, found[1])
    expected = expected_numbers(record)
    compared = 0
    for name, value in ours.items():
        theirs = expected[name]
        assert isinstance(theirs, (int, float)), name
        assert value == pytest.approx(theirs, abs=tolerance(record, theirs)), name
        compared += 1
    assert compared


@pytest.mark.parametrize("record", quick(POOLED, of_the_quick_files(POOLED)), ids=lambda r: r["id"])
def test_pooled_predictions_of_one_cross_validation_agree_with_r(record: Record) -> None:
    """With each id tested once, counts pooled over folds have the intervals and McNemar tests of one test set."""
    interval = "tango" if "Tango" in record["quantity"] else "all"
    results = evaluated(record["dataset"], intervals=(interval,))
    expected = numbers(record["value"])
    if record["quantity"].startswith("difference of accuracies"):
        # The leading row is about the mean over folds, which are not all of one size.
        row, sign = lookup.comparison(
            results, tuple(record["models"]), "accuracy", chosen=lambda r: r.test == "mcnemar"
        )
        assert row.difference is not None
        ours: dict[str, float | None] = {"diff": row.difference * sign}
    else:
        ours = readers()[record["quantity"]](results, record)
    for name, value in ours.items():
        theirs = expected[name]
        assert theirs is not None
        theirs = clipped_to_range(record["quantity"], theirs)
        assert value == pytest.approx(theirs, abs=CLOSED_FORM * max(1.0, abs(theirs))), name


def test_as_many_records_are_compared_as_the_files_hold() -> None:
    """No record is lost: counts by group, and each record that is not compared has its reason."""
    counted = collections.Counter(record["group"] for record in (*RECORDS, *POOLED, *FRIEDMAN_OF_EXAMPLES))
    assert counted == EXPECTED_COUNTS
    for name in LAYOUTS:
        for record in records_of(name):
            compared = reader_of(record) is not None or record["quantity"] in readers()
            assert compared or reason(record["quantity"]) is not None, record["quantity"]


# Counted from the files once, so that a record that is lost on the way is seen.
EXPECTED_COUNTS = {
    "binomial_ci": 45,
    "cv": 184,
    "cv5x2": 24,
    "friedman": 16,
    "p_adjust": 21,
    "paired_accuracy": 60,
    "paired_datasets": 24,
}


# --- independent test sets ------------------------------------------------------------------------------------------

INDEPENDENT = [
    r
    for r in records_of("standalone")
    if r["group"] == "unpaired_proportions" and r["quantity"] in ("diff_wald", "diff_newcombe", "pooled_z")
]
AS_IF_INDEPENDENT = [r for r in records_of("breast_cancer_test") if r["group"] == "unpaired_proportions"]


@functools.cache
def two_test_sets(x1: int, n1: int, x2: int, n2: int, level: float, interval: str) -> Results:
    """Evaluate two models on test sets of their own, right on x1 of n1 and on x2 of n2 examples."""
    source = {}
    for name, right, n in (("A", x1, n1), ("B", x2, n2)):
        truth = [str(i % 2) for i in range(n)]
        source[name] = {
            "id": [f"{name}{i:05d}" for i in range(n)],
            "y_true": truth,
            "y_pred": [t if i < right else str(1 - int(t)) for i, t in enumerate(truth)],
        }
    options = evalreport.Options(
        join="independent",
        task="binary",
        positive="1",
        metrics=("accuracy",),
        confidence=level,
        intervals=(interval,),
        resamples=RESAMPLES,
    )
    return evalreport.evaluate(source, options=options)


@pytest.mark.parametrize(
    "record", quick([*INDEPENDENT, *AS_IF_INDEPENDENT], INDEPENDENT), ids=lambda r: r["id"]
)
def test_independent_test_sets_agree_with_r(record: Record) -> None:
    """The lectures' Wald limits, Newcombe's hybrid score limits and the pooled z of two proportions are R's."""
    params, value = record["params"], record["value"]
    wald = "wald" in record["quantity"].lower()
    counts = (params["x1"], params["n1"], params["x2"], params["n2"])
    results = two_test_sets(*counts, params.get("level", 0.95), "normal" if wald else "newcombe_independent")
    method = "normal" if wald else "newcombe_independent"
    row, sign = lookup.comparison(
        results,
        ("A", "B"),
        "accuracy",
        chosen=lambda r: (r.test, r.interval_method) == ("two_proportions_z", method),
    )
    assert (sign, row.recommended) == (
        1,
        not wald,
    )  # Newcombe's limits lead, Wald's are shown where they are named
    if "p_value" in value:
        assert row.p_value == pytest.approx(value["p_value"], abs=CLOSED_FORM)
        assert row.statistic == pytest.approx(value.get("z", value.get("statistic")), abs=1e-9)
    elif value["lower"] == value["upper"]:
        # All right against all wrong: Wald's limits meet, and ours say that nothing varies instead.
        assert row.low is not None
        assert row.high is not None
        assert row.low < value["lower"] <= row.high
        assert row.reason
    else:
        for ours, theirs in ((row.low, value["lower"]), (row.high, value["upper"])):
            assert ours == pytest.approx(min(1.0, max(-1.0, theirs)), abs=CLOSED_FORM)


# --- shifts of paired losses ----------------------------------------------------------------------------------------

SHIFTS = [r for r in records_of("diabetes_test") if r["quantity"].startswith("Hodges-Lehmann")]
LOSSES = {"squared_error": "mse", "absolute_error": "mae"}


@pytest.mark.parametrize("record", SHIFTS, ids=lambda r: r["id"])
def test_hodges_lehmann_limits_agree_with_r(record: Record) -> None:
    """The limits beside Wilcoxon's test are the order statistics that R's exact interval has."""
    metric = LOSSES[record["quantity"].rsplit(" ", 1)[-1]]
    results = evaluated("diabetes_test", tests=("wilcoxon",), intervals=("hodges_lehmann",))
    row, sign = lookup.comparison(
        results, tuple(record["models"]), metric, chosen=lambda r: r.test == "wilcoxon"
    )
    assert row.interval_method == "hodges_lehmann"
    low, high = lookup.signed_limits(row, sign)
    # Differences are rounded to 10 decimals first, as the test's are.
    assert low == pytest.approx(record["value"]["lower"], abs=1e-9)
    assert high == pytest.approx(record["value"]["upper"], abs=1e-9)


# --- lists of differences -------------------------------------------------------------------------------------------


def of_differences(differences: list[float], folds: int) -> Results:
    """Evaluate fold scores of two models with these differences, repeat by repeat."""
    places = range(len(differences))
    keys = {"repeat": [i // folds + 1 for i in places], "fold": [i % folds + 1 for i in places]}
    source = {"A": {**keys, "value": differences}, "B": {**keys, "value": [0.0] * len(differences)}}
    return evalreport.evaluate(source, options=evalreport.Options(tests=("all",), resamples=RESAMPLES))


def by_test(results: Results) -> dict[str, Any]:
    """Return the rows of the only pair by test."""
    return {row.test: row for row in results.comparisons if row.b is not None}


@pytest.mark.parametrize(
    "record", [r for r in records_of("standalone") if r["group"] == "cv5x2"], ids=lambda r: r["id"]
)
def test_five_by_two_tests_of_ten_differences_agree_with_r(record: Record) -> None:
    """Ten differences in the order r1f1, r1f2, r2f1 ... give Dietterich's t and Alpaydin's F."""
    rows, value = by_test(of_differences(record["params"]["differences"], 2)), record["value"]
    assert rows["5x2cv_t"].statistic == pytest.approx(value["t"], abs=CLOSED_FORM)
    assert rows["5x2cv_t"].p_value == pytest.approx(value["t_p"], abs=CLOSED_FORM)
    assert rows["5x2cv_f"].statistic == pytest.approx(value["f"], abs=CLOSED_FORM)
    assert rows["5x2cv_f"].p_value == pytest.approx(value["f_p"], abs=CLOSED_FORM)


def test_fold_tests_of_ten_differences_agree_with_r() -> None:
    """Ten fold differences with ties and a zero: naive and corrected t (nominal ratio 1/9), and signed ranks."""
    (record,) = (r for r in records_of("standalone") if r["group"] == "cv")
    rows, value = by_test(of_differences(record["params"]["differences"], 10)), record["value"]
    assert rows["cv_paired_t"].statistic == pytest.approx(value["naive_t"], abs=CLOSED_FORM)
    assert rows["cv_paired_t"].p_value == pytest.approx(value["naive_p"], abs=CLOSED_FORM)
    assert rows["corrected_resampled_t"].statistic == pytest.approx(value["nadeau_bengio_t"], abs=CLOSED_FORM)
    assert rows["corrected_resampled_t"].p_value == pytest.approx(value["nadeau_bengio_p"], abs=CLOSED_FORM)
    assert rows["wilcoxon"].statistic == value["wilcoxon_v"]
    assert rows["wilcoxon"].p_value == pytest.approx(value["wilcoxon_p_exact"], abs=CLOSED_FORM)
