"""Warnings about classes, values and scores."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from tests.samples.warnings import evaluate, given


def test_truth_near_zero():
    """One true value of a millionth makes most of the MAPE; with ordinary values nothing does."""
    random = np.random.default_rng(4)
    truth = random.uniform(5, 15, 100)
    said = truth + random.normal(size=100)
    ids = [f"{i:03d}" for i in range(100)]
    plain = {"a": {"id": ids, "y_true": truth.tolist(), "y_pred": said.tolist()}}
    assert not given(evaluate(plain), "truth_near_zero")
    truth[0] = 1e-6
    tiny = {"a": {"id": ids, "y_true": truth.tolist(), "y_pred": said.tolist()}}
    assert "one example whose" in given(evaluate(tiny), "truth_near_zero")[0].text


def test_repeated_examples_count_once():
    """Ten repeats of ten positives are ten positives, not a hundred."""
    ids = [f"{i:03d}" for _ in range(10) for i in range(60)]
    truth = ["1" if int(i) < 10 else "0" for i in ids]
    repeat = [str(r) for r in range(10) for _ in range(60)]
    fold = [str(int(i) % 2) for i in ids]
    model = {"id": ids, "y_true": truth, "y_pred": truth, "repeat": repeat, "fold": fold}
    results = evaluate({"a": model, "b": model})
    assert "10 examples of class 1" in given(results, "few_of_a_class")[0].text


@pytest.mark.parametrize("right, said", [(9, True), (10, False), (20, False), (21, True)])
def test_few_right_or_few_wrong(right: int, said: bool):
    """Of 30 answers fewer than 10 right, or fewer than 10 wrong, are too few for a normal interval."""
    truth = [str(i % 2) for i in range(30)]
    label = [t if i < right else str(1 - int(t)) for i, t in enumerate(truth)]
    model = {"id": [f"{i:02d}" for i in range(30)], "y_true": truth, "y_pred": label}
    assert bool(given(evaluate({"a": model}), "few_successes_or_failures")) == said


@pytest.mark.parametrize("shift, said", [(0.5, False), (2.0, True)])
def test_worse_than_the_mean(shift: float, said: bool):
    """Truth 0 to 4 varies by 2 about its mean: errors of 0.5 give R^2 = 1 - 0.25 / 2, errors of 2 give 1 - 4 / 2."""
    truth = [float(i % 5) for i in range(50)]
    model = {"id": [f"{i:02d}" for i in range(50)], "y_true": truth, "y_pred": [t + shift for t in truth]}
    results = evaluate({"a": model}, task="regression", metrics=("r2",))
    assert results.metrics[0].value == pytest.approx(1 - shift**2 / 2)
    assert bool(given(results, "worse_than_mean")) == said


@pytest.mark.parametrize(
    "metrics, ending",
    [
        (("mape",), "is nearly 0."),
        (("mape", "rmse"), ": read RMSE."),
        (("mape", "mae", "rmse"), ": read MAE or RMSE."),
    ],
)
def test_the_warning_of_values_near_0_names_metrics_of_this_run(
    metrics: tuple[str, ...], ending: str
) -> None:
    """One true value of 0.001 among values near 10."""
    truth = [0.001, *(10.0 + i for i in range(40))]
    models = {"ridge": {"y_pred": [t + 0.5 for t in truth]}}
    results = er.evaluate(models, truth=truth, task="regression", metrics=metrics, resamples=50)
    said = next(str(w.text) for w in results.warnings if w.code == "truth_near_zero")
    assert said.endswith(ending)
