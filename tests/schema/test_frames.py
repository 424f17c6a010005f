"""Lists of records as flat data frames."""

from __future__ import annotations

import sys
from dataclasses import asdict

import numpy as np
import pytest

import evalreport as er
from evalreport.errors import UsageError
from tests.samples.labels import MODELS, TRUTH


def test_every_list_opens_as_a_flat_frame(several):
    """A value in every cell; metrics have the recommended interval, curves a row for each point."""
    from evalreport.schema.frames import record_lists

    for name in record_lists(er.Results):
        frame = several.to_frame(name)
        cells = [cell for column in frame for cell in frame[column]]
        assert all(cell is None or isinstance(cell, (str, bool, int, float, np.generic)) for cell in cells), (
            name
        )
        assert len(frame) >= len(getattr(several, name)), name
    metrics = several.to_frame("metrics")
    row = metrics[
        (metrics.model == "forest") & (metrics.metric == "accuracy") & metrics.slice_column.isna()
    ].iloc[0]
    record = next(r for r in several.metrics if r.model == "forest" and r.metric == "accuracy")
    first = record.intervals[0]
    assert (row.value, row.low, row.high) == (record.value, first.low, first.high)
    assert row.interval_method == first.method
    curve = next(c for c in several.curves if c.curve == "roc")
    points = several.to_frame("curves").query("curve == 'roc' and model == @curve.model")
    assert tuple(points.x) == curve.x
    assert list(several.to_frame("verdicts")[["a", "b"]].iloc[0]) == list(several.verdicts[0].about)
    assert several.to_frame("warnings").text[0] == str(several.warnings[0].text)
    with pytest.raises(UsageError, match="did you mean metrics"):
        several.to_frame("metric")
    with pytest.raises(UsageError, match="unknown list 'models'"):
        several.to_frame("models")


def test_without_pandas_a_frame_says_what_to_install(several, monkeypatch):
    """Pandas is no requirement of the program."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        several.to_frame("metrics")


def test_the_records_open_as_data_frames():
    """A list of records is a table: pandas takes dataclasses, polars their dictionaries."""
    import pandas as pd
    import polars as pl

    results = er.evaluate(MODELS, truth=TRUTH, resamples=50)
    frame = pd.DataFrame(results.metrics)
    assert list(frame[frame.metric == "accuracy"].value) == [54 / 60, 40 / 60]
    assert "model" in pl.DataFrame([asdict(row) for row in results.confusion]).columns
