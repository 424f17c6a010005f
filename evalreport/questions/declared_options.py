"""The options of all rooms; written by ``make docs``, do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.questions.algorithms.options import AlgorithmOptions
from evalreport.questions.calibration.options import CalibrationOptions
from evalreport.questions.costs.options import CostOptions
from evalreport.questions.judges.options import JudgeOptions
from evalreport.questions.looks.options import LookOptions
from evalreport.questions.slices.options import SliceOptions
from evalreport.questions.thresholds.options import ThresholdOptions


@dataclass(frozen=True, kw_only=True)
class RoomOptions(
    LookOptions,
    CostOptions,
    SliceOptions,
    JudgeOptions,
    AlgorithmOptions,
    CalibrationOptions,
    ThresholdOptions,
):
    """The options of all rooms, in their order."""
