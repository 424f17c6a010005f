"""Traps AP, AT and AU: units of a column, ranking by 1 - p, the first ten of weights, rows of weight 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalreport
from evalreport.schema.results import Results
from tests.samples.pairs import ids

N = 200


def forecasts(weight: np.ndarray | None = None) -> dict[str, dict[str, Any]]:
    """Return one model's forecasts of 200 examples."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, N)
    p = 1 / (1 + np.exp(-(random.normal(0, 1, N) + 1.2 * (2 * y - 1))))
    columns: dict[str, Any] = {"id": ids(N), "y_true": y.astype(str).tolist(), "p_1": p.tolist()}
    if weight is not None:
        columns["w"] = weight.tolist()
    return {"m": columns}


@pytest.mark.parametrize("size", [1 / N, 1e-12, 1500.0, 1e12])
def test_at_ten_counts_examples_and_not_weight(size: float) -> None:
    """AU: the same weights times a constant give the same values; by hand 10 examples of mean weight."""
    own = np.random.default_rng(2).lognormal(0, 0.3, N)

    def values(weight: np.ndarray) -> dict[str, float | None]:
        metrics = ("precision_at_10", "recall_at_10", "f1_at_10", "r_precision", "roc_auc")
        results = evalreport.evaluate(forecasts(weight), weight="w", metrics=metrics, resamples=20)
        return {record.metric: record.value for record in results.metrics}

    mean_1, other = values(own / own.mean()), values(size * own / own.mean())
    assert other == pytest.approx(mean_1, rel=1e-12)
    assert other["precision_at_10"] == 1.0
    positive = np.array(forecasts()["m"]["y_true"]) == "1"
    assert other["recall_at_10"] == pytest.approx(10 * own.mean() / own[positive].sum(), rel=1e-12)


def test_no_value_exceeds_its_range_by_rounding() -> None:
    """AU: a perfect model's weighted areas are 1, not 1.0000000000000002."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 37)
    y[:4] = range(4)
    columns = {f"p_{k}": np.eye(4)[y][:, k].tolist() for k in range(4)}
    w = (random.lognormal(0, 1, 37) * 1500).tolist()
    source = {"m": {"id": ids(37), "y_true": y.astype(str).tolist(), "w": w, **columns}}
    metrics = ("roc_auc_ovr_macro", "roc_auc_ovr_weighted", "balanced_accuracy", "f1_weighted")
    results = evalreport.evaluate(source, weight="w", metrics=metrics, resamples=20)
    for record in results.metrics:
        assert record.value is not None
        assert record.value <= 1.0
        assert record.value == pytest.approx(1.0, abs=1e-12)


def labelled(zeros: int, **options: Any) -> Results:
    """Return a run on 12 examples, two of them wrong, and on so many more of weight 0."""
    y = [k % 2 for k in range(12 + zeros)]
    said = [1 - t if k in (7, 10) else t for k, t in enumerate(y)]
    source = {
        "m": {
            "id": [f"e{k}" for k in range(12 + zeros)],
            "y_true": list(map(str, y)),
            "y_pred": list(map(str, said)),
            "w": [1.0] * 12 + [0.0] * zeros,
            "g": ["left", "right", "right"] * 4 + ["away"] * zeros,
        }
    }
    return evalreport.evaluate(source, weight="w", resamples=50, **options)


def test_rows_of_weight_0_are_no_examples() -> None:
    """AU: 2,000 of them change no value, error, interval, caution, gate, n, slice or count."""
    with_zeros, without = (labelled(zeros, gates=("n >= 500",), slices=("g",)) for zeros in (2000, 0))
    assert with_zeros.n == without.n == 12
    assert [gate.outcome for gate in with_zeros.gates] == ["fail"]
    assert with_zeros.metrics == without.metrics
    assert with_zeros.confusion == without.confusion
    assert {(w.code, str(w.text)) for w in with_zeros.warnings} == {
        (w.code, str(w.text)) for w in without.warnings
    }
    assert "few_examples" in {w.code for w in with_zeros.warnings}
    assert "12 of 2,012" in {str(found.value) for found in with_zeros.found if found.what == "rows"}


def test_a_class_that_only_weightless_rows_have_is_no_class_of_the_examples() -> None:
    """AU: where all positives weigh 0 there is one class, which is said."""
    y = ["1"] * 20 + ["0"] * 40
    random = np.random.default_rng(3)
    source = {
        "m": {
            "id": ids(60),
            "y_true": y,
            "score": random.normal(size=60).tolist(),
            "w": [0.0] * 20 + [1.0] * 40,
        }
    }
    results = evalreport.evaluate(source, weight="w", metrics=("roc_auc",), resamples=20, positive="1")
    assert results.metrics[0].value is None
    assert "one_class" in {w.code for w in results.warnings}


@pytest.mark.parametrize("given", ["p_1", "p_0"])
def test_the_area_does_not_depend_on_which_class_is_positive(given: str) -> None:
    """AT: probabilities below 1e-16 are told apart where the positive class is the other one."""
    random = np.random.default_rng(4)
    y = random.integers(0, 2, 60)
    p = 10.0 ** (-25 + 3 * (y if given == "p_1" else 1 - y) + random.normal(size=60))
    source = {"m": {"id": ids(60), "y_true": y.astype(str).tolist(), given: p.tolist()}}
    found = {
        positive: evalreport.evaluate(source, positive=positive, metrics=("roc_auc",), resamples=20).metrics[
            0
        ]
        for positive in "01"
    }
    assert found["0"].value == pytest.approx(found["1"].value, abs=1e-12)
    assert found["0"].value > 0.9
    assert found["0"].intervals[0].low == pytest.approx(found["1"].intervals[0].low, abs=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_the_unit_of_values_decides_no_p_value(unit: float) -> None:
    """AP: ten data sets that all rank good, mid, bad: Wilcoxon 2/2^10, Friedman 20, ten wins, in any unit."""
    first = unit * np.random.default_rng(5).uniform(1, 2, 10)
    names = [f"d{k}" for k in range(10)]
    source = {
        name: {"dataset": names, "value": (first * 1.3**step).tolist()}
        for step, name in enumerate(("good", "mid", "bad"))
    }
    results = evalreport.evaluate(source, lower_is_better=True, resamples=50)
    leading = [row for row in results.comparisons if row.recommended]
    assert [row.p_value for row in leading] == pytest.approx([2 / 2**10] * 3, rel=1e-12)
    assert next(row.statistic for row in results.omnibus if row.test == "friedman") == pytest.approx(20.0)
    assert {v.verdict for v in results.verdicts} <= {"better", "worse"}
    wins = [e.text for e in results.effects if e.effect == "probability_of_superiority"]
    assert all("tie" not in str(text) for text in wins)
