"""Calibration of every model that gives probabilities: level, spread, shape, and its curve."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from evalreport.questions.calibration.described import calibration_records
from evalreport.questions.calibration.records import CalibrationLists
from evalreport.questions.question import Run, question
from evalreport.questions.thresholds.records import CurveRecord


@dataclass(frozen=True, kw_only=True)
class Calibration(CalibrationLists):
    """The lists of results.json about calibration; its curves stand among the curves."""

    curves: tuple[CurveRecord, ...] = ()


@question("calibration", applies=lambda run: any(m.proba is not None for m in run.predictions.models))
def calibration(run: Run) -> Calibration:
    """Describe the calibration of every model, by the column of ``--grade`` or by deciles of risk."""
    described = [calibration_records(s, run.options, grades=run.options.grade) for s in run.samples]
    return Calibration(
        calibration=tuple(chain.from_iterable(d.records for d in described)),
        calibration_table=tuple(chain.from_iterable(d.table for d in described)),
        curves=tuple(chain.from_iterable(d.curves for d in described)),
    )
