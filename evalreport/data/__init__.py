"""Files and data frames -> ``Predictions``: columns understood, aligned by id, validated, design found."""

from __future__ import annotations

from evalreport.data.loading import load
from evalreport.data.predictions import Column, Design, ModelOutputs, Predictions
from evalreport.data.selection import ANALYSED_DESIGNS, Possible, survey, why_not_analysed

__all__ = [
    "load",
    "survey",
    "Predictions",
    "ModelOutputs",
    "Column",
    "Design",
    "Possible",
    "ANALYSED_DESIGNS",
    "why_not_analysed",
]
