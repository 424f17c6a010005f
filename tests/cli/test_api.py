"""The Python API: the same analysis, from the same options, in a notebook."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import UsageError
from evalreport.results import to_json

TRUTH = [i // 2 % 2 for i in range(60)]
FOREST = [t if i % 10 else 1 - t for i, t in enumerate(TRUTH)]
LOGREG = [t if i % 3 else 1 - t for i, t in enumerate(TRUTH)]
MODELS = {"forest": {"y_pred": FOREST}, "logreg": {"y_pred": LOGREG}}


def test_fields_replace_those_of_the_options():
    """Options can be given whole, field by field, or both."""
    options = er.Options(seed=5, resamples=50)
    results = er.evaluate(MODELS, truth=TRUTH, options=options, resamples=60, metrics="f1")
    assert (results.options["seed"], results.options["resamples"]) == (5, 60)
    assert {row.metric for row in results.metrics} == {"f1"}


def test_an_unknown_field_or_a_wrong_value_is_refused():
    """Before anything is read, with the close matches."""
    with pytest.raises(UsageError, match="did you mean confidence"):
        er.evaluate("models", confidnce=0.9)
    with pytest.raises(UsageError, match="between 0 and 1"):
        er.evaluate("models", confidence=90)
    with pytest.raises(UsageError, match="did you mean formats"):
        er.render(None, "out", format="html")


def test_gates_are_decided_in_the_api_as_well():
    """54 of 60 right is Wilson's [0.80, 0.95] (closed form): above 0.7; n is 60."""
    gates = ["forest.accuracy >= 0.7", "n >= 61"]
    results = er.evaluate(MODELS, truth=np.array(TRUTH), resamples=50, gates=gates)
    assert [gate.outcome for gate in results.gates] == ["pass", "fail"]


def test_the_records_open_as_data_frames():
    """A list of records is a table: pandas takes dataclasses, polars their dictionaries."""
    import pandas as pd
    import polars as pl

    results = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    frame = pd.DataFrame(results.metrics)
    assert list(frame[frame.metric == "accuracy"].value) == [54 / 60, 40 / 60]
    assert "model" in pl.DataFrame([asdict(row) for row in results.confusion]).columns


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


def test_render_writes_what_the_command_line_would(tmp_path):
    """results.json holds exactly the results; a folder as text or as a path."""
    results = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    outcome = er.render(results, str(tmp_path / "out"), formats="json")
    assert [Path(path).name for path in outcome.paths] == ["results.json"]
    assert (tmp_path / "out" / "results.json").read_bytes() == to_json(results)


def test_load_and_check_say_what_there_is():
    """Labels of two classes allow label metrics, and no ranking ones."""
    assert er.load(MODELS, truth=TRUTH).task == "binary"
    survey = {row.analysis: row.possible for row in er.check(MODELS, truth=TRUTH)}
    assert survey["label metrics"]
    assert not survey["ranking metrics and curves"]


def test_names_that_are_not_there_are_an_attribute_error():
    """As for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        er.nonsense  # noqa: B018 - the lookup is what is tested
    assert set(er.__all__) <= set(dir(er))
    assert all(getattr(er, name) is not None for name in er.__all__)
