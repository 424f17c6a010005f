"""Registered metrics by family, and the quantities that a run computes from them."""

from evalreport.metrics import (
    association,
    calibration,
    class_ranking,
    cuts,
    labels,
    means,
    probabilities,
    ranking,
    regression,
)
from evalreport.metrics.registry import METRICS, Metric

__all__ = [
    "METRICS",
    "Metric",
    "labels",
    "association",
    "ranking",
    "class_ranking",
    "cuts",
    "means",
    "probabilities",
    "calibration",
    "regression",
]
