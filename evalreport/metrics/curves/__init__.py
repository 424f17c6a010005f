"""Registered curves: of rankings, of error rates by threshold, of forecasts."""

# isort: off
from evalreport.metrics.curves import discrimination
from evalreport.metrics.curves import forecasts
from evalreport.metrics.curves import sweeps

# isort: on
from evalreport.metrics.curves.registry import CURVES, Curve, Points, curve

__all__ = ["CURVES", "Curve", "Points", "curve", "discrimination", "forecasts", "sweeps"]
