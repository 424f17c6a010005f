"""Frames of Spark, with a real local Spark: it needs Java and pyspark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import evalreport as er
from evalreport.errors import InputError

pytestmark = [
    pytest.mark.system,
    pytest.mark.machines,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # sockets to the Java process that pyspark leaves open
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # pyspark's own
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Run Spark in this machine with one thread."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "512m"}
    session = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    yield session
    session.stop()


def test_frames_of_spark_are_matched_by_id(spark: Any) -> None:
    """By model, as one frame with a column ``model``, and with the truth apart: the same as columns in memory."""
    # With probabilities of several classes: other frames are counted, and their scores added up, where they are.
    rows = [(f"e{i}", i % 3, (i * 7 // 3) % 3, i / 40, 1 - i / 40, 0.0) for i in range(40)]
    names = ["id", "y_true", "y_pred", "p_0", "p_1", "p_2"]
    frame = spark.createDataFrame(rows, names)
    wanted = er.load({"a": dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))})
    for found in (
        er.load({"a": frame.orderBy("y_pred")}),
        er.load(frame.selectExpr("*", "'a' AS model")),
        er.load({"a": frame.drop("y_true")}, truth=frame.select("id", "y_true")),
    ):
        assert found.ids.to_pylist() == wanted.ids.to_pylist()
        assert found.models[0].y_pred.tolist() == wanted.models[0].y_pred.tolist()


def test_rows_of_spark_have_no_order(spark: Any) -> None:
    """Without an id there is nothing to match by."""
    with pytest.raises(InputError, match="rows of a Spark frame have no order"):
        er.load({"a": spark.createDataFrame([(1, 0), (0, 0)], ["y_true", "y_pred"])})
