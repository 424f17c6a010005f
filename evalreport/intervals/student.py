"""The t interval: value plus or minus t standard errors, both from the sampling behind the value."""

from __future__ import annotations

from functools import partial

from evalreport.engine.distributions import t_quantile
from evalreport.intervals.registry import INTERVALS, Bounds, IntervalMethod, Value
from evalreport.metrics.difference import Difference
from evalreport.metrics.estimate import Estimate
from evalreport.samplings import STUDENTS, Student, StudentError
from evalreport.texts import Message

NOT_SMOOTH = Bounds(None, None, Message("limits.not_smooth"))
NO_SPREAD = Message("limits.no_spread")


def t(value: Value, level: float, *, student: Student) -> Bounds:
    """Return the interval of a value under one of its names (``samplings.STUDENTS``)."""
    error = (student.error_of_limits or student.error)(value)
    return around(value, error, level, may_be_same=student.over_fits)


def around(value: Value, error: StudentError | None, level: float, *, may_be_same: bool = False) -> Bounds:
    """Return the value plus or minus t errors; reasons where there is no error, and where it is 0.

    Parameters
    ----------
    may_be_same
        Whether a value without spread between its units has limits, whatever the sampling says.
    """
    if value.influence is None:
        return NOT_SMOOTH
    if error is None:
        return Bounds(None, None, value.sampling.alone)
    if error.error == 0 and not may_be_same and not value.sampling.limits_if_same:
        return Bounds(None, None, value.sampling.same)
    half, centre = half_width(error, level), value.value if error.centre is None else error.centre
    return Bounds(centre - half, centre + half, NO_SPREAD if half == 0 else None)


def half_width(error: StudentError, level: float) -> float:
    """Return t times the error."""
    return t_quantile((1 + level) / 2, error.df) * error.error


for _student in STUDENTS:
    INTERVALS.add(
        IntervalMethod(
            _student.name,
            _student.label,
            _student.interval,
            (Estimate, Difference),
            _student.needs,
            partial(t, student=_student),
            _student.source,
        )
    )
