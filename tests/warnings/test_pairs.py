"""Warnings about pairs of models, and about too few replicates."""

from __future__ import annotations

from tests.samples.warnings import evaluate, given


def test_metrics_disagree():
    """A model that finds all positives and one that calls few: each is ahead on something; against itself none is."""
    truth = ["1"] * 100 + ["0"] * 300
    bold = ["1"] * 100 + ["1"] * 120 + ["0"] * 180
    shy = ["1"] * 40 + ["0"] * 60 + ["0"] * 300
    ids = [f"{i:04d}" for i in range(400)]
    models = {
        name: {"id": ids, "y_true": truth, "y_pred": said} for name, said in (("bold", bold), ("shy", shy))
    }
    (warning,) = given(evaluate(models), "metrics_disagree")
    ahead, behind = str(warning.text).split("shy leads on")
    assert "recall" in ahead
    assert "precision" in behind
    assert "Decide first which errors matter" in warning.text
    assert not given(evaluate({"a": models["shy"], "b": models["shy"]}), "metrics_disagree")
