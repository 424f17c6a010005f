"""A metric's keywords go to the record that they belong to, and the others are refused."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from evalreport.metrics import metric as records
from evalreport.metrics.registry import FAMILIES, METRICS, affine, binary_table, moments


def made_up(counts: Any) -> Any:
    """Some metric."""
    return counts


def twice(auc: Any) -> Any:
    """Twice the area."""
    return 2 * auc


@pytest.mark.parametrize(
    ("keyword", "message"),
    [
        (
            {"derivative": made_up},
            "metric 'made_up': 'derivative' belongs to Ranks and RowWise, not to ClassCounts",
        ),
        ({"undefind": "never"}, "metric 'made_up': unknown keyword 'undefind'; did you mean undefined?"),
    ],
)
def test_a_keyword_that_does_not_fit_is_refused(keyword: dict[str, Any], message: str) -> None:
    """The message names the families that have it, or the keyword that was meant."""
    with pytest.raises(TypeError, match="^" + message.replace("?", r"\?")):
        binary_table("Made up", "none", **keyword)(made_up)
    assert "made_up" not in METRICS


def test_a_metric_on_another_scale_takes_only_what_is_shown() -> None:
    """Everything else holds of it because it holds of the base."""
    with pytest.raises(TypeError, match="range"):
        affine("Made up", "none", of="roc_auc", range=(0.0, 2.0))(twice)


def test_a_keyword_that_is_needed_is_asked_for() -> None:
    """Moments have no value without their columns."""
    with pytest.raises(TypeError, match="columns"):
        moments("Made up", "none", tasks=("regression",), needs="values")(made_up)


def test_every_keyword_has_one_record() -> None:
    """No record of a metric has more than 12 fields, and no name is a field of two that a metric has together."""
    shared = [records.Scale, records.Inference, records.Display, records.Metric]
    for family in FAMILIES:
        names = [field.name for record in (family, *shared) for field in fields(record)]
        assert len(names) == len(set(names))
    assert all(len(fields(record)) <= 12 for record in (*FAMILIES, *shared))
