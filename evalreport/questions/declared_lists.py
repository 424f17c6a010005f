"""The lists of results.json of all rooms; written by ``make docs``, do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.questions.algorithms.records import AlgorithmLists
from evalreport.questions.attempts.records import AttemptLists
from evalreport.questions.baselines.records import BaselineLists
from evalreport.questions.calibration.records import CalibrationLists
from evalreport.questions.costs.records import CostLists
from evalreport.questions.coverage.records import CoverageLists
from evalreport.questions.estimand.records import EstimandLists
from evalreport.questions.fragility.records import FragilityLists
from evalreport.questions.judges.records import JudgeLists
from evalreport.questions.looks.records import LookLists
from evalreport.questions.ranks.records import RankLists
from evalreport.questions.slices.records import SliceLists
from evalreport.questions.thresholds.records import ThresholdLists


@dataclass(frozen=True, kw_only=True)
class RoomLists(
    FragilityLists,
    EstimandLists,
    LookLists,
    CostLists,
    CoverageLists,
    SliceLists,
    AttemptLists,
    JudgeLists,
    AlgorithmLists,
    RankLists,
    BaselineLists,
    CalibrationLists,
    ThresholdLists,
):
    """The lists of results.json of all rooms, in their order."""
