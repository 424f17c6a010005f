"""Registered metrics by family, and the quantities that a run computes from them.

The order of the imports is the order of the registry, and so of the report: what is read first stands first.
"""

# isort: off
from evalreport.metrics import labels
from evalreport.metrics import probabilities
from evalreport.metrics import attempts
from evalreport.metrics import calibration
from evalreport.metrics import ranking
from evalreport.metrics import regression
from evalreport.metrics import judged
from evalreport.metrics import clustering
from evalreport.metrics import criteria

# isort: on
from evalreport.metrics.registry import METRICS, Metric

__all__ = [
    "METRICS",
    "Metric",
    "labels",
    "probabilities",
    "attempts",
    "calibration",
    "ranking",
    "regression",
    "judged",
    "clustering",
    "criteria",
]
