"""One metric of one model, and the outcome of a gate on it."""

from __future__ import annotations

from evalreport.gates.outcomes import decide, parse
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results


def metric(model, name, value, low, high, *, average=None, label=None, slice=None, reason=None):  # noqa: A002
    """One record whose recommended interval, the first, is narrower than the second."""
    intervals = (
        Interval(method="wilson", level=0.95, low=low, high=high, reason=reason),
        Interval(method="normal", level=0.95, low=-9.0, high=9.0),
    )
    return MetricRecord(
        model=model,
        metric=name,
        average=average,
        label=label,
        slice=slice,
        value=value,
        standard_error=0.01,
        n=500,
        intervals=intervals,
        reason=None,
    )


def results_with(metrics=(), comparisons=(), *, task="binary", models=("forest", "logreg")):
    """Results that hold just these records."""
    classes = ("0", "1") if task == "binary" else ("1", "2", "3")
    return Results(
        signature="s", options={}, task=task, design="test-set", n=500, classes=classes,
        positive="1" if task == "binary" else None, models=models, primary_metric="accuracy",
        inputs=(), metrics=tuple(metrics), comparisons=tuple(comparisons), baseline=None,
    )  # fmt: skip


def outcome(text, results):
    """Parse and decide one gate."""
    return decide(parse(text, models=results.models), results)
