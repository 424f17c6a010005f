"""Some rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options
from tests.samples.metrics import ids


def test_rows_that_are_not_analysed_need_no_weight(
    refused: Callable[..., InputError], tmp_path: Path
) -> None:
    """The line that is named is that of a test row; of a training row the weight may be empty."""
    rows = "id,part,y_true,y_pred,w\na,train,1,1,\nb,test,0,1,1\nc,test,1,1,"
    error = refused("m.csv", f"{rows}\n", weight="w")
    assert (error.line, error.column) == (4, "w")
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole/m.csv").write_text(f"{rows}2\n")
    assert load(tmp_path / "whole", options=Options(weight="w")).n == 3


@pytest.mark.parametrize(
    ("parts", "found", "remedy"),
    [
        (["train"], "every row is a training row", "shown beside a metric of test rows, never alone"),
        (["validation"], "every row is a validation row", "write part = test in the validation rows"),
        (["train", "validation"], "is a training row .*or a validation row", "add test predictions"),
    ],
)
def test_rows_of_other_parts_alone_are_refused_by_their_name(
    parts: list[str], found: str, remedy: str
) -> None:
    """A run compares models on test rows: without any, the message says which rows there are and what to do."""
    rows: dict[str, Any] = {"id": ids(6), "y_true": list("101010"), "y_pred": list("100010")}
    source = {"m": {**rows, "part": (parts * 6)[:6], "n_parameters": [2.0] * 6}}
    for metrics in ((), ("aic",)):
        with pytest.raises(InputError, match=f"{found}.*{remedy}"):
            evalreport.evaluate(source, metrics=list(metrics), resamples=50)
