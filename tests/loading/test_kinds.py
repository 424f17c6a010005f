"""Which columns are limits and quantiles of predictions, and which only look so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.errors import InputError


def loaded(tmp_path: Path, header: str, **options: Any) -> er.Predictions:
    """Load four rows with the same numbers in every column but the id."""
    n = header.count(",")
    path = tmp_path / "m.csv"
    path.write_text("\n".join([header, *(f"r{k}" + f",{k}.5" * n for k in range(4))]) + "\n")
    return er.load(path, **options)


@pytest.mark.parametrize(
    ("header", "column", "example"),
    [
        ("id,y_true,q_0.1,q_0.9,q_1.9", "q_1.9", "q_0.019"),
        ("id,y_true,y_pred,q_1.9", "q_1.9", "q_0.019"),
        ("id,y_true,q_10,q_90", "q_10", "q_0.1"),
        ("id,y_true,q10,q50,q90", "q10", "q_0.1"),
        ("id,y_true,q_0,q_0.5,q_1", "q_0", "q_0.05"),
        ("id,y_true,Q_0.0,q_0.5", "Q_0.0", "q_0.05"),
    ],
)
def test_a_name_like_a_quantile_s_outside_0_and_1_is_refused_with_the_name_that_it_should_have(
    tmp_path: Path, header: str, column: str, example: str
) -> None:
    """Never metadata without a word, nor "if each is a class's probability: p_q_10"."""
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, header)
    message = str(caught.value)
    assert f"m.csv, line 1, column {column!r}: a quantile is between 0 and 1" in message
    assert f"rename it {example} if" in message
    assert "p_" not in message.replace("m.csv", "")


def test_numbered_questions_beside_predictions_are_metadata(tmp_path: Path) -> None:
    """q1 and q2 of a survey, or of quarters, are no quantiles where nothing else is."""
    assert sorted(loaded(tmp_path, "id,y_true,y_pred,q1,q2").metadata) == ["q1", "q2"]
