"""A metric lists the intervals that hold for it; where none does, its record is null and says why."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport
from evalreport.errors import UsageError
from evalreport.intervals import INTERVALS
from evalreport.metrics.registry import METRICS
from tests.samples.metrics import ROWS, binary_rows, ids, options

CRITERIA = {"aic", "bic", "mdl", "vc_bound"}
VALUE_ONLY = {"soft_auc", "deviance", "ece", "mce", "ks", "max_error"} | CRITERIA
NOT_SMOOTH = {
    "max_accuracy",
    "eer",
    "precision_at_10",
    "recall_at_10",
    "f1_at_10",
    "r_precision",
    "medae",
} | VALUE_ONLY
NOT_SMOOTH |= {"calibration_error", "recall_at_fpr", "precision_at_rate", "recall_at_rate"}
NOT_SMOOTH |= {"precision_at_recall", "specificity_at_recall", "accuracy_at_coverage"}


def test_what_is_smooth_and_what_has_no_interval() -> None:
    """The registry says of each metric whether influence values exist and whether any interval holds."""
    assert {m.name for m in METRICS.values() if m.inference.no_interval} == VALUE_ONLY
    assert {m.name for m in METRICS.values() if not m.inference.smooth} == NOT_SMOOTH
    for metric in METRICS.values():
        assert bool(metric.inference.intervals) != bool(metric.inference.no_interval), metric.name
        assert set(metric.inference.intervals) <= set(INTERVALS), metric.name


@pytest.mark.parametrize("task", ROWS)
def test_every_record_has_limits_or_a_reason(task: str) -> None:
    """All intervals asked for: null ones have a reason, and what is not smooth has no normal one."""
    results = evalreport.evaluate(
        {"m": ROWS[task]()}, options=options(task, resamples=60, intervals=("all",))
    )
    for record in results.metrics:
        metric = METRICS[record.metric]
        for one in record.intervals:
            assert one.low is not None or one.reason, (record.metric, one.method)
            if metric.inference.no_interval and record.value is not None:
                assert one.low is None, (record.metric, one.method)
            if not metric.inference.smooth and one.method in ("normal", "bootstrap_bca"):
                assert one.low is None, (record.metric, one.method)
        if record.value is not None and not metric.inference.no_interval:
            assert record.intervals[0].low is not None, record.metric


def test_refused_intervals_show_the_metrics_own_reason() -> None:
    """ECE's record says why its percentile interval is not shown."""
    results = evalreport.evaluate(
        {"m": binary_rows()}, options=options("binary", resamples=60, metrics=("ece",))
    )
    (record,) = results.metrics
    assert record.value is not None
    assert {one.reason for one in record.intervals} == {METRICS["ece"].inference.no_interval}


def test_few_positives_refuse_the_percentiles_of_the_equal_error_rate() -> None:
    """With 6 positives the percentile limits are refused; the score limits lead, and they are as wide as of 6."""
    random = np.random.default_rng(0)
    truth = ["1"] * 6 + ["0"] * 60
    scores = [float(0.6 * (t == "1") + 0.4 * random.random()) for t in truth]
    rows = {"id": ids(66), "y_true": truth, "p_1": scores}
    results = evalreport.evaluate({"m": rows}, options=options("binary", resamples=60, metrics=("eer",)))
    first, *others = results.metrics[0].intervals
    assert first.method == "threshold_wilson"
    assert first.low == 0
    assert first.high is not None
    assert first.high > 0.3
    assert first.reason is None
    assert all(one.low is None for one in others)
    assert any("fewer than 20" in (one.reason or "") for one in others)


def test_a_value_that_no_replicate_moves_is_not_known_exactly() -> None:
    """A median error of 0, of one example, or a perfect ranking in each task: no limits, with the reason."""
    truth = np.sin(np.arange(40.0))
    exact = {"id": ids(40), "y_true": truth.tolist(), "y_pred": truth.tolist()}
    one = {"id": ["1"], "y_true": [1.5], "y_pred": [2.25]}
    called = (np.arange(60) % 3 == 0).astype(int)
    suite = {
        "id": ids(60),
        "task": ["u", "v"] * 30,
        "y_true": called.tolist(),
        "score": (called * 2.0).tolist(),
    }
    for rows, metric, value in (
        (exact, "medae", 0),
        (one, "medae", 0.75),
        (suite, "eer", 0),
        (suite, "r_precision", 1),
    ):
        results = evalreport.evaluate({"m": rows}, resamples=400, metrics=[metric])
        first = next(r for r in results.metrics if r.metric == metric and r.slice is None)
        assert first.value == value
        assert (first.intervals[0].low, first.intervals[0].high) == (None, None), metric
        assert first.intervals[0].reason, metric


def test_what_has_no_honest_test_is_compared_only_by_name() -> None:
    """A run that names no metric tests no value-only metric; of a named one the difference is shown."""
    rows = {"a": binary_rows(1), "b": binary_rows(1) | {"p_1": binary_rows(1)["p_1"][::-1]}}
    everything = evalreport.evaluate(rows, options=options("binary", resamples=60))
    compared = {row.metric for row in everything.comparisons}
    assert {"soft_auc", "deviance", "max_accuracy", "precision_at_10", "ece", "mce"}.isdisjoint(compared)
    assert {"eer", "informedness", "pr_auc"} <= compared
    named = evalreport.evaluate(rows, options=options("binary", resamples=60, metrics=("max_accuracy",)))
    (row,) = named.comparisons
    assert (row.test, row.p_value, row.low) == (None, None, None)
    assert row.difference is not None
    assert "threshold is chosen on the examples" in (row.reason or "")


def test_trivial_metrics_are_left_out_and_averages_that_are_not_there_refused() -> None:
    """Top-5 accuracy of four classes says nothing, unless it is named; a micro AUC does not exist."""
    rows = {"m": ROWS["multiclass"]()}
    default = evalreport.evaluate(rows, options=options("multiclass", resamples=20))
    seen = {record.metric for record in default.metrics}
    assert "top_3_accuracy" in seen
    assert "top_5_accuracy" not in seen
    named = evalreport.evaluate(
        rows, options=options("multiclass", resamples=20, metrics=("top_5_accuracy",))
    )
    assert named.metrics[0].value == 1.0
    with pytest.raises(UsageError, match="macro, weighted"):
        evalreport.evaluate(rows, options=options("multiclass", metrics=("roc_auc_ovr_micro",)))
