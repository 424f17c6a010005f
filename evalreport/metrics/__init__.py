"""Registered metrics by family, and the quantities that a run computes from them."""

from evalreport.metrics import labels, means, ranking
from evalreport.metrics.registry import METRICS, Metric

__all__ = ["METRICS", "Metric", "labels", "means", "ranking"]
