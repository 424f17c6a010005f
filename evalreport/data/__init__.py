"""Files and data frames -> ``Predictions``: columns understood, aligned by id, validated, design found."""

from __future__ import annotations

from evalreport.data.loading import load
from evalreport.data.predictions import Column, Design, ModelOutputs, Predictions

__all__ = ["Column", "Design", "ModelOutputs", "Predictions", "load"]
