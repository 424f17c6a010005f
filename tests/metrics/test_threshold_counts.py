"""The counts at every threshold of every model are those of ROCR."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.loading.load import load
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.threshold_counts import ThresholdCounts, all_threshold_counts, counts_at
from evalreport.metrics.units import units_of

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = {
    "breast_cancer_test": ("breast_cancer_test.csv", "malignant"),
    "default_test": ("default_test.csv.gz", "Yes"),
    "ext_two_class": ("ext_two_class.csv", "Class1"),
    "slovak_default_eval": ("slovak_default_eval.csv", "Yes"),
}


def table() -> Mapping[tuple[str, str], np.ndarray]:
    """Return ROCR's table by data set and model: threshold, TP, FP, FN, TN."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    with gzip.open(DATA / "reference" / "thresholds.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            counts = [float(row[name]) for name in ("threshold", "tp", "fp", "fn", "tn")]
            found.setdefault((row["dataset"], row["model"]), []).append(counts)
    return {key: np.array(counts) for key, counts in found.items()}


TABLE = table()


@pytest.fixture(scope="module", params=FILES)
def of_dataset(request: pytest.FixtureRequest) -> tuple[str, dict[str, ThresholdCounts]]:
    """Every model's counts at its thresholds, of one data set."""
    file, positive = FILES[request.param]
    predictions = load(DATA / "predictions" / file, options=evalreport.Options(positive=positive))
    units = units_of(predictions, cluster=None, weight=None)
    sample = estimate_all(predictions, (), units=units, n_resamples=1, seed=0)
    return request.param, {one.model: one for one in all_threshold_counts(sample)}


def test_counts_at_every_threshold(of_dataset: tuple[str, dict[str, ThresholdCounts]]) -> None:
    """TP, FP, FN, TN at each distinct score, for every scored model; ROCR 1.0-11 (tests/data/README.md)."""
    dataset, ours = of_dataset
    expected = {model: counts for (name, model), counts in TABLE.items() if name == dataset}
    assert set(ours) == set(expected)
    for model, counts in expected.items():
        found = np.column_stack(counts_at(ours[model].found, ours[model].wrong))
        assert np.array_equal(found, counts[:, 1:]), model
        # R reads 12 decimal digits to within a few units in the last place, not always to the nearest double.
        np.testing.assert_allclose(ours[model].thresholds, counts[1:, 0], rtol=1e-15, atol=0)


def test_the_table_holds_the_expected_number_of_models() -> None:
    """Twelve rankings, counted once from the file, so that one that is lost on the way is seen."""
    assert len(TABLE) == 12
    assert sum(map(len, TABLE.values())) == 9249
