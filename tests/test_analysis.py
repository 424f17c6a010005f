"""The whole flow, from Python: gates decided, files and frames alike."""

from __future__ import annotations

import numpy as np

import evalreport as er
from tests.samples.labels import FOREST, LOGREG, MODELS, TRUTH


def test_gates_are_decided_in_the_api_as_well():
    """54 of 60 right is Wilson's [0.80, 0.95] (closed form): above 0.7; n is 60."""
    gates = ["forest.accuracy >= 0.7", "n >= 61"]
    results = er.evaluate(MODELS, truth=np.array(TRUTH), resamples=50, gates=gates)
    assert [gate.outcome for gate in results.gates] == ["pass", "fail"]


def test_files_and_frames_give_the_same_figures(tmp_path):
    """The truth as a file or as an array; the columns from a file or from memory."""
    ids = [f"{i:02}" for i in range(60)]
    (tmp_path / "models").mkdir()
    for name, labels in (("forest", FOREST), ("logreg", LOGREG)):
        rows = "".join(f"{i},{label}\n" for i, label in zip(ids, labels, strict=True))
        (tmp_path / "models" / f"{name}.csv").write_text("id,y_pred\n" + rows)
    truth = "".join(f"{i},{label}\n" for i, label in zip(ids, TRUTH, strict=True))
    (tmp_path / "true.csv").write_text("id,y_true\n" + truth)
    by_file = er.evaluate(tmp_path / "models", truth=tmp_path / "true.csv", resamples=50)
    in_memory = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    assert by_file.metrics == in_memory.metrics
    assert by_file.comparisons == in_memory.comparisons
