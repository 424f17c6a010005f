"""Registered metrics by family, and the quantities that a run computes from them.

The order of the imports is the order of the registry, and so of the report.
"""

# isort: off
from evalreport.metrics import (
    labels, probabilities, calibration, ranking, at_rates, regression, prediction_powered, clustering, criteria, sums,
    quantiles, ordered, rejection,
)  # fmt: skip

# isort: on
from evalreport.metrics.metric import Metric
from evalreport.metrics.registry import METRICS

__all__ = ["METRICS", "Metric"]
