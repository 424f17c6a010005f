"""Bootstrap error estimates and bias-variance decompositions of the real files agree with R to 1e-10."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.loading.load import load
from evalreport.questions.algorithms.decomposition import squared
from evalreport.questions.algorithms.records import DecompositionRecord, ErrorEstimateRecord
from evalreport.questions.algorithms.replicates import replicates_of
from evalreport.schema.results import Results
from tests.samples.cases import quick

from .records import CLOSED_FORM, DATA, Record, records_of

Numbers = Mapping[str, float | None]
Reader = Callable[[Results, Record], Numbers]

# The files of each data set, and its positive class.
BOOTSTRAPPED: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "diabetes_bootstrap": (("diabetes_bootstrap.csv.gz",), None),
    "breast_cancer_bootstrap": (("breast_cancer_bootstrap.parquet",), "malignant"),
    "breast_cancer_632_replicas": (
        ("breast_cancer_632_replicas.parquet", "breast_cancer_632_resub.csv"),
        "malignant",
    ),
    "iris_632_replicas": (("iris_632_replicas.csv.gz", "iris_632_resub.csv"), None),
    "smarket2005_632_replicas": (("smarket2005_632_replicas.csv.gz", "smarket2005_632_resub.csv"), "Up"),
    "diabetes_632_replicas": (("diabetes_632_replicas.csv.gz", "diabetes_632_resub.csv"), None),
}


@functools.cache
def evaluated(dataset: str) -> Results:
    """Evaluate a data set; nothing here is read from a replicate of ours."""
    files, positive = BOOTSTRAPPED[dataset]
    paths = [DATA / "predictions" / file for file in files]
    numbers = dataset.startswith("diabetes")
    options = evalreport.Options(
        positive=positive,
        metrics=("rmse", "mse") if numbers else ("accuracy", "error_rate"),
        resamples=10,
        kohavi_wolpert=positive is not None,
    )
    return evalreport.evaluate(paths, options=options)


def estimate(results: Results, record: Record, name: str) -> ErrorEstimateRecord:
    """Return one estimate of the model's error rate or squared error."""
    (model,) = record["models"]
    return next(e for e in results.error_estimates if (e.model, e.estimator) == (model, name))


def decomposition(results: Results, record: Record, loss: str) -> DecompositionRecord:
    """Return the model's decomposition under one loss."""
    (model,) = record["models"]
    return next(d for d in results.decomposition if (d.model, d.loss) == (model, loss))


def components(results: Results, record: Record) -> Numbers:
    """Read the apparent and the out-of-bag errors in their three averages."""
    bag = estimate(results, record, "bootstrap_oob")
    return {
        "resubstitution": estimate(results, record, "resubstitution").value,
        "loo_bootstrap": bag.value,
        "oob_mean_of_replicates": bag.details["mean_over_replicates"],
        "oob_pooled": bag.details["pooled"],
        "never_oob": bag.details["never_out_of_bag"],
        "replicates": bag.details["n_replicates"],
    }


def by_632(results: Results, record: Record) -> Numbers:
    """Read .632 with either average of the out-of-bag error."""
    found = estimate(results, record, "bootstrap_632")
    if record["params"]["oob"] == "loo":
        return {"value": found.value}
    return {"value": found.details["with_mean_over_replicates"]}


def by_632plus(results: Results, record: Record) -> Numbers:
    """Read .632+ with its parts; with the lecture's mean over replicates the estimate alone."""
    found = estimate(results, record, "bootstrap_632plus")
    if record["params"]["oob"] != "loo":
        return {"estimate": found.details["with_mean_over_replicates"]}
    return {
        "estimate": found.value,
        "gamma": found.details["gamma"],
        "R": found.details["R"],
        "weight": found.details["omega"],
    }


def capped(results: Results, record: Record) -> bool:
    """Say whether the out-of-bag error lies above the no-information rate, where other programs do not cap it."""
    plus = estimate(results, record, "bootstrap_632plus").details
    bag = estimate(results, record, "bootstrap_oob")
    errors = (bag.value, bag.details["mean_over_replicates"])
    return any(error is not None and error > plus["gamma"] for error in errors)


def uncapped(results: Results, record: Record) -> Numbers:
    """Read the .632+ of programs that do not cap the out-of-bag error, where the cap is not reached."""
    if capped(results, record):
        return {}
    name = "value" if not isinstance(record["value"], dict) else "estimate"
    found = estimate(results, record, "bootstrap_632plus")
    loo = record["params"]["oob"] == "loo"
    return {name: found.value if loo else found.details["with_mean_over_replicates"]}


def squared_means(results: Results, record: Record) -> Numbers:
    """Read the means over examples of bias^2 and of the variance with both divisors."""
    found = decomposition(results, record, "squared")
    return {
        "mean_bias2": found.bias,
        "mean_variance": found.variance_unbiased,
        "mean_variance_ddof0": found.variance,
        "expected_squared_error": found.expected_loss,
        "replicates": found.n_replicates,
        "n": found.n,
    }


def domingos(results: Results, record: Record) -> Numbers:
    """Read Domingos's parts."""
    found = decomposition(results, record, "0-1")
    names = ("expected_loss", "bias", "variance", "variance_unbiased", "variance_biased")
    return {name: getattr(found, name) for name in names}


def kohavi_wolpert(results: Results, record: Record) -> Numbers:
    """Read Kohavi and Wolpert's parts."""
    found = decomposition(results, record, "kohavi_wolpert")
    return {"bias2": found.bias, "variance": found.variance, "expected_loss": found.expected_loss}


def over_replicates(metric: str) -> Reader:
    """Read the spread of a metric over the replicates."""

    def read(results: Results, record: Record) -> Numbers:
        (model,) = record["models"]
        values = [
            f.value for f in results.folds if (f.model, f.metric) == (model, metric) and f.value is not None
        ]
        return {"mean": fmean(values), "sd": stdev(values), "min": min(values), "max": max(values)}

    return read


def one_example(_results: Results, record: Record) -> Numbers:
    """Read one example's bias and variance from the matrix of its predictions."""
    predictions = load(DATA / "predictions" / "diabetes_bootstrap.csv.gz")
    replicates = replicates_of(predictions)
    assert replicates is not None
    assert predictions.y_true is not None
    model = next(m for m in predictions.models if m.name == record["models"][0])
    place = predictions.ids.to_pylist().index(record["params"]["id"])
    column = int(np.flatnonzero(replicates.examples == place)[0])
    rows = replicates.rows[:, [column]]
    truth = predictions.y_true[rows[0]]
    assert model.y_pred is not None
    found = squared(model.y_pred[rows], np.ones_like(rows, dtype=bool), truth)
    return {
        "y": float(truth[0]),
        "mean_prediction": float(found.main[0]),
        "bias": float(truth[0] - found.main[0]),
        "variance": float(found.unbiased[0]),
    }


READERS: Mapping[str, Reader] = {
    "resubstitution and out-of-bag errors": components,
    "resubstitution plus bootstrap optimism (the Polish slides' e_B1)": lambda results, record: {
        "with_multiplicity": estimate(results, record, "bootstrap_optimism").value
    },
    "leave-one-out bootstrap error": lambda results, record: {
        "value": estimate(results, record, "bootstrap_oob").value
    },
    ".632 estimate": by_632,
    ".632+ estimate": by_632plus,
    ".632+ as ipred computes it": uncapped,
    ".632+ by the Polish slides' literal formula": uncapped,
    "bias^2 and variance averaged over held-out examples": squared_means,
    "bias and variance of one example": one_example,
    "RMSE of the replicas on the held-out third": over_replicates("rmse"),
    "error rate of the replicas on the held-out third": over_replicates("error_rate"),
    "0/1 loss: main prediction (mode), bias, variance (Domingos 2000)": domingos,
    "Kohavi-Wolpert 1996 decomposition of 0/1 loss (noise 0)": kohavi_wolpert,
}
RECORDS = [record for dataset in BOOTSTRAPPED for record in records_of(dataset)]
QUICK = [record for record in RECORDS if record["dataset"] != "smarket2005_632_replicas"]
"""Each quantity of the data set left out is one of `breast_cancer_632_replicas`, too."""


@pytest.mark.parametrize("record", quick(RECORDS, QUICK), ids=lambda r: r["id"])
def test_value_agrees_with_r(record: Record) -> None:
    """Each number of the record is ours, to 1e-10 relative to its size."""
    results = evaluated(record["dataset"])
    ours = READERS[record["quantity"]](results, record)
    expected: Any = record["value"] if isinstance(record["value"], dict) else {"value": record["value"]}
    for name, value in ours.items():
        assert value == pytest.approx(expected[name], rel=CLOSED_FORM, abs=CLOSED_FORM), name
    if not ours:
        assert capped(results, record)


def test_every_record_has_a_reader_and_few_are_capped() -> None:
    """115 records in all; only the Smarket discriminant lies above its no-information rate."""
    assert len(RECORDS) == 115
    assert {r["quantity"] for r in RECORDS} == set(READERS)
    plus = [r for r in RECORDS if r["quantity"] == ".632+ estimate"]
    above = {(r["dataset"], r["models"][0]) for r in plus if capped(evaluated(r["dataset"]), r)}
    assert above == {("smarket2005_632_replicas", "lda")}


FOLDED = (
    ("breast_cancer_cv10", "breast_cancer_cv10.csv", "malignant", ("accuracy", "f1")),
    ("default_cv10", "default_cv10.csv.gz", "Yes", ("accuracy", "f1")),
    ("iris_loocv", "iris_loocv.csv", None, ("accuracy",)),
    ("diabetes_cv10", "diabetes_cv10.csv", None, ("rmse", "mae", "mse")),
)


@pytest.mark.parametrize("dataset, file, positive, metrics", FOLDED, ids=[f[0] for f in FOLDED])
def test_fold_means_agree_with_r(
    dataset: str, file: str, positive: str | None, metrics: tuple[str, ...]
) -> None:
    """Mean and standard deviation over folds stand in the details of the cross-validation estimates."""
    options = evalreport.Options(positive=positive, resamples=10, metrics=metrics)
    results = evalreport.evaluate(DATA / "predictions" / file, options=options)
    compared = 0
    for record in records_of(dataset):
        if not record["quantity"].startswith("mean and standard deviation of the fold"):
            continue
        (model,), metric = record["models"], record["params"]["metric"]
        found = next(
            e
            for e in results.error_estimates
            if (e.model, e.metric) == (model, metric) and e.estimator in ("cv", "loocv")
        )
        assert found.details["mean_over_fits"] == pytest.approx(record["value"]["mean"], rel=CLOSED_FORM)
        spread = found.details["standard_deviation_over_fits"]
        assert spread == pytest.approx(record["value"]["sd"], rel=CLOSED_FORM)
        assert found.details["n_folds"] == record["value"]["folds"]
        compared += 1
    assert compared >= 2
