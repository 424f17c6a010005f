"""Results: what they print."""

from __future__ import annotations

import numpy as np

import evalreport as er
from tests.samples.labels import FOREST, TRUTH


def test_results_that_are_printed_take_one_screen(several):
    """With the verdict and what to do next, whatever the number of models and the length of their names."""
    shown = repr(several)
    assert "forest" in shown
    assert 'results.to_frame("metrics")' in shown
    many = {f"{'a very long name ' * 9}{i}": {"y_pred": FOREST} for i in range(40)}
    for results in (several, er.evaluate(many, truth=TRUTH, metrics="accuracy", resamples=20)):
        shown = repr(results)
        assert len(shown) <= 4000
        assert len(shown.splitlines()) <= 45
        assert shown.endswith("writes the report.")


def test_results_that_are_printed_say_what_was_guessed():
    """A line each, as the command line says it."""
    graded = {"forest": np.array([[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.9, 0.1]])}
    shown = repr(er.evaluate(graded, truth=[1, 0, 1, 0], metrics="accuracy", resamples=20)).splitlines()
    assert [line.partition(" (")[0] for line in shown[1:6]] == [
        "task: binary",
        "positive class: 1",
        "ids: row numbers",
        "probabilities: y_prob",
        "threshold: forest",
    ]


def test_results_without_models_or_metrics_can_be_printed():
    """Whatever a debugger prints."""
    empty = dict.fromkeys(("signature", "task", "design", "primary_metric"), "x")
    results = er.Results(
        **empty, options={}, n=0, classes=(), positive=None, models=(), baseline=None, inputs=()
    )
    assert repr(results).startswith("Results of 0 models on 0 examples")
    assert results.to_frame("metrics").empty
    assert {"model", "value", "low", "high", "interval_method"} <= set(results.to_frame("metrics").columns)


def test_the_summary_is_that_of_the_report(several, tmp_path):
    """The text of summary.md."""
    er.render(several, tmp_path / "out", formats="md")
    assert several.summary() == (tmp_path / "out" / "summary.md").read_text()
