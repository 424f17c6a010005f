"""The clause that the learning curves of two algorithms cross."""

from __future__ import annotations

import math

from evalreport.headline.facts import Facts, metric_words
from evalreport.headline.lead import Lead
from evalreport.metrics.registry import METRICS
from evalreport.questions.algorithms.records import LearningPointRecord
from evalreport.texts import Message

SAME = 1e-9
"""A share and an error rate whose sum is this near 1 are one quantity."""


def clause(facts: Facts, lead: Lead) -> Message | None:
    """Say on how few training rows the model that is behind is shown to have the better value."""
    first, second = lead.first, lead.second
    points = [p for p in facts.results.learning_curves if p.axis == "train_size" and p.part == "test"]
    if lead.code != "ahead" or first is None or second is None or not points:
        return None
    metric = points[0].metric
    sign = -1 if METRICS[metric].scale.greater_is_better is False else 1
    drawn = {(p.model, p.x): p for p in points if p.value is not None and p.metric == metric}
    used = {p.x for p in points if p.used}
    sizes = sorted(x for model, x in drawn if model == first and (second, x) in drawn)
    turned = [x for x in sizes if _above(drawn[second, x], drawn[first, x], sign)]
    if len(used) != 1 or not turned or turned != sizes[: len(turned)] or max(turned) >= min(used):
        return None
    key = "fewer_rows" if len(turned) > 1 else "few_rows"
    whole = None if facts.primary is None else facts.value(first, facts.primary)
    if facts.primary is not None and whole is not None:
        point = drawn.get((first, min(used)))
        if point is not None and point.value is not None and abs(whole.value + point.value - 1) < SAME:
            metric = facts.primary.metric  # the curve is of what the primary metric leaves of 1
    rows = int(max(turned))
    return Message(f"headline.{key}", rows=rows, model=facts.name(second), metric=metric_words(metric))


def _above(first: LearningPointRecord, second: LearningPointRecord, sign: int) -> bool:
    """Say whether the first of two points is shown to be the better one: by both limits, squared and added."""
    a, b = ((p.value, p.low, p.high) for p in (first, second))
    if None in (*a, *b):
        return False
    (x, low_x, high_x), (y, low_y, high_y) = ((float(v or 0.0) for v in side) for side in (a, b))
    near = math.hypot(x - low_x, high_y - y) if sign > 0 else math.hypot(high_x - x, y - low_y)
    return sign * (x - y) > near
