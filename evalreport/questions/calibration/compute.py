"""Calibration of every model that gives probabilities: level, spread, shape, and its curve."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from evalreport.intervals.calibration_records import calibration_records
from evalreport.questions.question import Run, question
from evalreport.schema.calibration import CalibrationRecord, CalibrationTableRecord
from evalreport.schema.curves import CurveRecord


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The lists of results.json about calibration; its curves stand among the curves."""

    calibration: tuple[CalibrationRecord, ...] = ()
    calibration_table: tuple[CalibrationTableRecord, ...] = ()
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
