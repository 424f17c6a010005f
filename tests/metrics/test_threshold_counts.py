"""The counts at every threshold of every model are those of ROCR."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

import evalreport
from evalreport.loading.load import load
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.sample_rankings import all_threshold_counts
from evalreport.metrics.threshold_counts import ThresholdCounts, counts_at, hull_corners
from evalreport.samplings import sampling_of

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
    units = sampling_of(predictions, cluster=None, weight=None)
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


@pytest.mark.parametrize("kind", ["noise", "sorted", "reversed", "two arcs", "weights"])
def test_hulls_are_those_of_isotonic_regression(kind: str) -> None:
    """The value on the hull at every corner of the curve is the running sum of scipy's isotonic regression."""
    for seed in range(60):
        random = np.random.default_rng(seed)
        size = int(random.integers(1, 120))
        positives = random.integers(0, 4, size) * (random.random(size) < 0.7).astype(float)
        negatives = random.integers(0, 4, size) * (random.random(size) < 0.7).astype(float)
        positives[0] += 1
        if kind == "weights":
            positives, negatives = positives * random.random(size), negatives * random.random(size)
        if kind in ("sorted", "reversed", "two arcs"):
            order = np.argsort(-positives / np.maximum(positives + negatives, 1e-9))
            order = order[::-1] if kind == "reversed" else order
            order = np.concatenate([order[::2], order[1::2]]) if kind == "two arcs" else order
            positives, negatives = positives[order], negatives[order]
        found, wrong = (np.concatenate([[0], np.cumsum(x)]) for x in (positives, negatives))
        corners = hull_corners(found, wrong)
        held = positives + negatives > 0
        weight = (positives + negatives)[held]
        shares = optimize.isotonic_regression(positives[held] / weight, weights=weight, increasing=False).x
        expected = np.concatenate([[0], np.cumsum(shares * weight)])
        along = np.concatenate([[0], np.cumsum(weight)])
        at = found[corners] + wrong[corners]
        assert np.interp(along, at, found[corners]) == pytest.approx(expected, abs=1e-9), seed
        slopes = np.diff(found[corners]) / np.diff(at)
        assert (np.diff(slopes) < 0).all()
