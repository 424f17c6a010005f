"""What holds of the results of every test set."""

from __future__ import annotations

import json
import math

from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results, to_json

from .strategies import not_finite


def assert_sound(results: Results) -> None:
    """Assert that nothing is NaN or infinite, and that what is missing has a reason."""
    assert not_finite(results) == []
    json.loads(to_json(results))
    for record in results.metrics:
        assert record.value is not None or record.reason, record
        for one in record.intervals:
            # R² of an unevenly spread truth has an upper limit alone (METHODS 6G).
            assert (one.low is None) == (one.high is None) or one.reason, (record.metric, one)
            assert one.low is not None or one.reason, (record.metric, one)
    for row in results.comparisons:
        assert row.p_value is not None or row.reason, row
        assert row.p_value is None or 0 <= row.p_value <= 1, row
        assert row.low is None or row.high is None or row.low <= row.high, row


def assert_intervals_keep_to_the_range(results: Results, task: str) -> None:
    """Assert that every interval lies in its range, and that the recommended one of a bounded metric has a width."""
    for record in results.metrics:
        metric = METRICS[record.metric]
        lowest, highest = metric.scale.range
        if task == "binary" and metric.scale.binary_range is not None:
            lowest, highest = metric.scale.binary_range
        for place, one in enumerate(record.intervals):
            if one.low is None or one.high is None:
                continue
            assert lowest <= one.low <= one.high <= highest, (record.metric, one)
            if place == 0 and math.isfinite(lowest) and math.isfinite(highest):
                assert one.low < one.high, (record.metric, record.value, one)
            if one.low == one.high:
                assert one.reason, (record.metric, one)
