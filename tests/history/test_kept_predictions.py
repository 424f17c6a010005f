"""Predictions come back from the history as they went in."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalreport.errors import EvalreportError, HistoryError
from evalreport.history.kept_predictions import packed, unpacked
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import Column, ModelOutputs
from tests.samples.cases import every, quick

FILES = sorted((Path(__file__).parents[1] / "data" / "predictions").glob("*"))
PLAIN = ("task", "design", "classes", "positive")


def same_columns(first, second):
    """Names in order, categories, values with their type."""
    assert list(first) == list(second)
    for name, column in first.items():
        assert column.categories == second[name].categories
        np.testing.assert_array_equal(column.values, second[name].values, strict=True)


def same_outputs(first: ModelOutputs, second: ModelOutputs):
    """Every output with its type; what was not given stays not given."""
    assert first.name == second.name
    for entry in fields(ModelOutputs):
        values, others = getattr(first, entry.name), getattr(second, entry.name)
        if entry.name == "columns":
            same_columns(values, others)
        elif entry.name != "name":
            assert (values is None) == (others is None), entry.name
            if values is not None:
                np.testing.assert_array_equal(values, others, strict=True)


def same(first, second):
    """Everything that an analysis reads."""
    for name in PLAIN:
        assert getattr(first, name) == getattr(second, name)
    assert first.ids.to_pylist() == second.ids.to_pylist()
    np.testing.assert_array_equal(first.example, second.example, strict=True)
    assert (first.y_true is None) == (second.y_true is None)
    if first.y_true is not None:
        np.testing.assert_array_equal(first.y_true, second.y_true, strict=True)
    for one, other in zip(first.models, second.models, strict=True):
        same_outputs(one, other)
    same_columns(first.keys, second.keys)


@pytest.mark.parametrize("path", every(2, FILES), ids=lambda path: path.name)
def test_every_example_file_comes_back_bit_for_bit(path):
    """All tasks and designs among the example files: ids, codes, types, empty cells."""
    try:
        predictions = load(path)
    except EvalreportError:
        pytest.skip("the file is no predictions")
    again = unpacked(packed(predictions, Options()))
    same(predictions, again)


def test_only_the_metadata_that_the_options_use_is_kept():
    """A history of figures has no business with the prompts of the examples."""
    columns = {"id": ["a", "b"], "y_true": [0, 1], "y_pred": [0, 1], "sex": ["f", "m"], "prompt": ["x", "y"]}
    options = Options(cluster="sex")
    again = unpacked(packed(load({"tree": columns}, options=options), options))
    assert again.metadata == {"sex": Column(again.metadata["sex"].values, ("f", "m"))}
    assert b"prompt" not in packed(load({"tree": columns}, options=options), options)


def test_models_with_rows_of_their_own_come_back():
    """Independent test sets: which rows a model has is kept."""
    source = {
        "a": {"id": ["1", "2", "3"], "y_true": [0, 1, 1], "y_pred": [0, 1, 0]},
        "b": {"id": ["7", "8"], "y_true": [1, 0], "y_pred": [1, 1]},
    }
    predictions = load(source, options=Options(join="independent"))
    again = unpacked(packed(predictions, Options()))
    same(predictions, again)
    assert again.models[1].present.sum() == 2


def test_names_that_would_break_a_header_come_back():
    """Quotes, line breaks, dots and other scripts in the names of models, ids and labels."""
    source = {'a"b\n0.y_pred': {"id": ["é", "'"], "y_true": ["–", "a\tb"], "y_pred": ["–", "–"]}}
    predictions = load(source)
    same(predictions, unpacked(packed(predictions, Options())))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet"])
def test_bytes_that_are_no_predictions_are_refused(content):
    """A message, not a traceback of the reader."""
    with pytest.raises(HistoryError, match="cannot be read"):
        unpacked(content)


def test_a_newer_format_is_refused():
    """The head says which format it is."""
    buffer = io.BytesIO()
    table = pa.table({"id": ["a"]}).replace_schema_metadata({b"evalreport": b'{"format": 99}'})
    pq.write_table(table, buffer)
    with pytest.raises(HistoryError, match="newer evalreport"):
        unpacked(buffer.getvalue())


@pytest.mark.parametrize("step", quick([10, 60], [60]))
def test_a_damaged_page_ends_in_words(step):
    """Bytes of the file turned round, one at a time: it comes back, or is refused, and nothing else."""
    rows = {
        "id": [f"e{k}" for k in range(400)],
        "y_true": ["a", "b"] * 200,
        "y_pred": ["a", "b", "b", "a"] * 100,
    }
    content = packed(load({"m": rows}, options=Options()), Options())
    said = set()
    for place in range(4, len(content) - 4, step):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            unpacked(bytes(damaged))
        except HistoryError as error:
            said.add(str(error).split(":")[0])
    assert "the stored predictions cannot be read" in said
