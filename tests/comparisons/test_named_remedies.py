"""A warning names only what the run has."""

from __future__ import annotations

import pytest

import evalreport as er


@pytest.mark.parametrize(
    "metrics, ending",
    [
        (("accuracy",), "scores 90 %."),
        (("accuracy", "mcc"), "scores 90 %. Look at MCC first."),
        (("accuracy", "mcc", "balanced_accuracy"), "Look at balanced accuracy and MCC first."),
    ],
)
def test_the_majority_warning_names_metrics_of_this_run(metrics: tuple[str, ...], ending: str) -> None:
    """90 of 100 examples are of one class: what was not computed is not named."""
    truth = [0] * 90 + [1] * 10
    models = {"tree": {"y_pred": [0] * 85 + [1] * 15}, "svm": {"y_pred": [0] * 95 + [1] * 5}}
    results = er.evaluate(models, truth=truth, metrics=metrics, resamples=50)
    said = next(str(w.text) for w in results.warnings if w.code == "majority_class")
    assert said.endswith(ending)


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
