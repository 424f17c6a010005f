"""The clause that the learning curves of two algorithms cross."""

from __future__ import annotations

from evalreport.headline.facts import Facts, metric_words
from evalreport.headline.lead import Lead
from evalreport.metrics.registry import METRICS
from evalreport.texts import Message

SAME = 1e-9
"""A share and an error rate whose sum is this near 1 are one quantity."""


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say on how few training rows the model that is behind has the better value."""
    first, second = lead.first, lead.second
    points = [p for p in facts.results.learning_curves if p.axis == "train_size" and p.part == "test"]
    if lead.code != "ahead" or first is None or second is None or not points:
        return None
    metric = points[0].metric
    sign = -1 if METRICS[metric].scale.greater_is_better is False else 1
    values = {(p.model, p.x): p.value for p in points if p.value is not None and p.metric == metric}
    used = {p.x for p in points if p.used}
    sizes = sorted(x for model, x in values if model == first and (second, x) in values)
    turned = [x for x in sizes if sign * (values[second, x] - values[first, x]) > 0]
    if len(used) != 1 or not turned or turned != sizes[: len(turned)] or max(turned) >= min(used):
        return None
    key = "fewer_rows" if len(turned) > 1 else "few_rows"
    whole = None if facts.primary is None else facts.value(first, facts.primary)
    if facts.primary is not None and whole is not None:
        error = values.get((first, min(used)))
        if error is not None and abs(whole.value + error - 1) < SAME:
            metric = facts.primary.metric  # the curve is of what the primary metric leaves of 1
    rows = int(max(turned))
    return Message(f"headline.{key}", rows=rows, model=facts.name(second), metric=metric_words(metric))
