"""Calibration of every model that gives probabilities: level, spread, shape, and its curve."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy import special

from evalreport.calibration import level as of_level
from evalreport.calibration.deciles import decile_test
from evalreport.calibration.isotonic import Band, Curve, consistency_band, isotonic, parts
from evalreport.calibration.line import calibration_line
from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import ScoreTest, score_test
from evalreport.calibration.squared_error import BINS, bins_by_rank, calibration_error, squared_error_limits
from evalreport.engine.distributions import beta_quantile
from evalreport.engine.parallel import mapped
from evalreport.metrics.curves import CURVES, MOST_POINTS, Points
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import ModelView, forecast, view
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.questions.calibration.records import (
    CalibrationLists,
    CalibrationRecord,
    CalibrationTableRecord,
    Part,
)
from evalreport.questions.question import Run, question
from evalreport.questions.thresholds.records import CurveRecord
from evalreport.schema.metrics import Slice
from evalreport.texts import Message, Text


@dataclass(frozen=True, kw_only=True)
class Calibration(CalibrationLists):
    """The lists of results.json about calibration; its curves stand among the curves."""

    curves: tuple[CurveRecord, ...] = ()


@question("calibration", applies=lambda run: any(m.proba is not None for m in run.predictions.models))
def calibration(run: Run) -> Calibration:
    """Describe the calibration of every model, by the column of ``--grade`` or by deciles of risk."""
    described = [calibration_records(s, run.options, grades=run.options.grade) for s in run.samples]
    return Calibration(
        calibration=tuple(chain.from_iterable(d.calibration for d in described)),
        calibration_table=tuple(chain.from_iterable(d.calibration_table for d in described)),
        curves=tuple(chain.from_iterable(d.curves for d in described)),
    )


CORP = CURVES["corp"]

MOST_CLASSES, MOST_CURVES = 5, 3
"""Of more classes a model has curves and bands of so many, as a page shows: those with the smallest p-values.

And of the one that is furthest off in level, which the heading names.
"""

OF_SCORES, OF_DECILES = 0.8, 0.2
"""How the level is shared between the test of scores and that of deciles."""

NO_GRADE = "(empty)"
"""The grade of examples whose cell is empty."""

DECILES = tuple(str(number) for number in range(1, BINS + 1))
"""Grades of a model where none are given: deciles of risk, the lowest first."""


@dataclass(frozen=True, slots=True)
class _Event:
    """One model's probabilities of one event: of a class, or of being right (label None, several classes)."""

    model: str
    label: str | None
    risks: Risks
    n: int
    grades: tuple[Sequence[str], Indices] | None


def describes_calibration(quantities: Sequence[Quantity], options: Options) -> bool:
    """Say whether a run describes calibration: one that names no metric, or one of calibration or proper scores."""
    return not options.metrics or any(definition(q).display.of_calibration for q in quantities)


def calibration_records(
    sample: Sample, options: Options, *, within: Slice | None = None, grades: str | None = None
) -> Calibration:
    """Describe the calibration of every model that gives probabilities.

    Parameters
    ----------
    within
        The slice that the sample is of; a slice has no curve, no table and no expected miscalibration.
    grades
        The column of rating grades; None: deciles of risk.
    """
    units = sample.units
    if not describes_calibration(sample.quantities, options) or units.times is not None:
        return Calibration()
    if "any_order" not in units.meets:
        return Calibration()  # the test and the band take examples as independent; a warning says so
    events = list(_events(sample, grades))
    described = [*mapped(lambda event: _described(event, options, within), events)]
    records = [record for record, _ in described]
    if within is not None:
        return Calibration(calibration=tuple(records))

    def curve_of(place: int) -> _Drawn:
        return described[place][1] or _curve(events[place], isotonic(events[place].risks), options)

    drawn = _with_curve(records, 1 - options.confidence)
    curves = dict(zip(drawn, mapped(curve_of, drawn), strict=True))
    for place, (_, band) in curves.items():
        if band is not None:
            records[place] = replace(
                records[place],
                mcb_expected=_finite(band.miscalibration),
                mcb_log_expected=_finite(band.miscalibration_log),
            )
    table = (_table(event, options.confidence) for event in events if event.label is None)
    return Calibration(
        calibration=tuple(records),
        curves=tuple(_curve_record(events[place], *described) for place, described in curves.items()),
        calibration_table=tuple(row for rows in table for row in rows),
    )


def _with_curve(records: Sequence[CalibrationRecord], alpha: float) -> list[int]:
    """Return the places of the records that have a curve: of all classes together, and each model's most doubtful."""
    by_model: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        if record.label is not None:
            by_model.setdefault(record.model, []).append(place)
    kept = {place for places in by_model.values() for place in _most_doubtful(places, records, alpha)}
    return [place for place, record in enumerate(records) if record.label is None or place in kept]


def _most_doubtful(
    places: Sequence[int], records: Sequence[CalibrationRecord], alpha: float
) -> Sequence[int]:
    """Return the places of those of one model's classes that a page may show."""
    if len(places) <= MOST_CLASSES:
        return places
    by_doubt = sorted(places, key=lambda place: _doubt(records[place]))
    off = [place for place in places if _doubt(records[place]) <= alpha / len(places)]
    furthest = sorted(off, key=lambda place: _factor(records[place]))[-1:]
    return [*by_doubt[:MOST_CURVES], *furthest]


def _factor(record: CalibrationRecord) -> float:
    ratio = record.observed_expected
    return max(ratio, 1 / ratio) if ratio else math.inf


def _doubt(record: CalibrationRecord) -> float:
    return 1.0 if record.p_value is None else record.p_value


def _events(sample: Sample, grades: str | None) -> Iterator[_Event]:
    predictions = sample.predictions
    for outputs in predictions.models:
        seen = view(predictions, outputs)
        if seen.proba is None or seen.true is None or outputs.present is not None or not len(seen.true):
            continue
        given = _grades_of(sample, grades)
        n = predictions.n_examples
        for label in (None, *(predictions.classes if seen.positive_code is None else ())):
            yield _Event(outputs.name, label, _risks(sample, seen, outputs.name, label), n, given)


def _risks(sample: Sample, seen: ModelView, model: str, label: str | None) -> Risks:
    """Return the probabilities of a model's event, which its estimates may have described already."""
    units = sample.units
    for (name, quantity), estimate in sample.estimates.items():
        if name == model and quantity.label == label and isinstance(estimate.evidence, Risks):
            return estimate.evidence
    code = None if label is None else sample.predictions.labels.codes[label]
    own = seen if code is None else replace(seen, positive_code=code)
    return Risks(*forecast(own), units.weight, units.cluster)


def _grades_of(sample: Sample, column: str | None) -> tuple[Sequence[str], Indices] | None:
    """Return the names of the grades and the code of each row's; None without a column."""
    if column is None:
        return None
    cells = {**sample.predictions.keys, **sample.predictions.metadata}[column]
    if cells.categories is not None:
        names, codes = list(cells.categories), cells.values.astype(np.int64)
    else:
        distinct, inverse = np.unique(cells.values, return_inverse=True)
        names, codes = [f"{value:g}" for value in distinct], inverse.ravel().astype(np.int64)
        codes = np.where(np.isnan(cells.values), -1, codes)
    # An empty cell is a grade of its own.
    return [*names, NO_GRADE], np.where(codes < 0, len(names), codes)


_Drawn = tuple[Points, Band | None]


def _described(
    event: _Event, options: Options, within: Slice | None
) -> tuple[CalibrationRecord, _Drawn | None]:
    """Return an event's record, and the curve of all classes together, which is drawn in any case; none of a slice."""
    fit = isotonic(event.risks)
    record = replace(_record(event, fit, options), slice=within)
    return record, _curve(event, fit, options) if within is None and event.label is None else None


def _curve(event: _Event, fit: Curve, options: Options) -> _Drawn:
    """Return the curve without bins, of independent examples with its band at the points that are kept."""
    points = required(CORP.function(fit))
    if not event.risks.plain:
        return points, None
    band = consistency_band(
        points.x, required(points.count), level=options.confidence, seed=options.seed, at=_visible(points.y)
    )
    return points, band


def _record(event: _Event, curve: Curve, options: Options) -> CalibrationRecord:
    risks, level = event.risks, options.confidence
    impossible, certain = risks.contradicted
    contradicted = bool(impossible or certain)
    ratio = of_level.observed_expected(risks)
    low, high = of_level.observed_expected_limits(risks, level)
    brier, logarithmic = (parts(curve, logarithmic=log) for log in (False, True))
    record = CalibrationRecord(
        model=event.model,
        label=event.label,
        n=event.n,
        n_weighed=float(risks.w.sum()),
        observed=float((risks.w * risks.y).sum()),
        expected=float((risks.w * risks.p).sum()),
        observed_expected=_finite(ratio),
        observed_expected_low=low,
        observed_expected_high=high,
        mcb=_finite(brier.miscalibration),
        dsc=_finite(brier.discrimination),
        unc=_finite(brier.uncertainty),
        mcb_log=_finite(logarithmic.miscalibration),
        dsc_log=_finite(logarithmic.discrimination),
        unc_log=_finite(logarithmic.uncertainty),
        left_out=risks.n - risks.open.n - impossible - certain,
        impossible=impossible,
        certain=certain,
    )
    record = _with_error(record, risks, level)
    if contradicted:
        why = Message("calibration.contradicted", impossible=impossible, certain=certain)
        return replace(record, p_value=0.0, p_method="score", part="level", reason=why)
    return _with_test(record, risks, options)


def _with_error(record: CalibrationRecord, risks: Risks, level: float) -> CalibrationRecord:
    """Add the debiased error; null under weights, without limits in clusters."""
    bins = risks.equal_bins
    if bins is None:
        return record
    record = replace(record, calibration_error=calibration_error(bins))
    low, high = squared_error_limits(bins, level) if risks.plain else (0.0, 0.0)
    if high == 0:
        return record  # clusters; or far fewer gaps than chance gives: no width, so no limits
    return replace(record, calibration_error_low=math.sqrt(low), calibration_error_high=math.sqrt(high))


def _with_test(record: CalibrationRecord, risks: Risks, options: Options) -> CalibrationRecord:
    used, level = risks.open, options.confidence
    if not used.n:
        return replace(record, reason=Message("undefined.all_certain"))
    citl_low, citl_high = of_level.in_the_large_limits(used, level)
    record = replace(record, citl=_finite(used.shift), citl_low=citl_low, citl_high=citl_high)
    why: Text | None = used.no_line
    if why is None:
        slope_low, slope_high = of_level.line_limits(used, 1, level)
        slope = _finite(float(calibration_line(used, used.w)[1]))
        record = replace(record, slope=slope, slope_low=slope_low, slope_high=slope_high)
    test = score_test(risks, seed=options.seed)
    if test is None:
        return replace(record, reason=why or Message("calibration.one_cluster"))
    of_deciles = decile_test(risks, seed=options.seed)
    p_value, p_method = joined(test, of_deciles)
    record = replace(
        record, score=test.score, curvature=test.curvature, p_line=test.p_line, p_curvature=test.p_curvature,
        p_score=test.p_value, p_deciles=of_deciles, p_value=p_value, p_method=p_method, reason=why,
    )  # fmt: skip
    return replace(record, part=_part(record, 1 - level))


def joined(test: ScoreTest, of_deciles: float | None) -> tuple[float, str]:
    """Return the p-value of both tests and the method of the one that decides: 4 % for the scores, 1 % for the deciles.

    Examples
    --------
    >>> scores = ScoreTest(score=6.0, curvature=0.1, p_line=0.05, p_curvature=0.7, p_value=0.0625, method="score")
    >>> joined(scores, None), joined(scores, 0.002), joined(scores, 0.02)
    ((0.0625, 'score'), (0.01, 'monte_carlo'), (0.078125, 'score'))
    """
    if of_deciles is None:
        return test.p_value, test.method
    first, second = test.p_value / OF_SCORES, of_deciles / OF_DECILES
    return min(1.0, first, second), "monte_carlo" if second < first else test.method


def _part(record: CalibrationRecord, alpha: float) -> Part:
    """Say what a rejected test is about: the level, else the spread, where their own limits leave out what is right."""
    if record.p_value is None or record.p_value > alpha:
        return "none"
    if by_deciles(record):
        return "shape"
    if _leaves_out(record.citl_low, record.citl_high, 0.0):
        return "level"
    return "spread" if _leaves_out(record.slope_low, record.slope_high, 1.0) else "shape"


def by_deciles(record: CalibrationRecord) -> bool:
    """Say whether the test of deciles decides, and not that of the scores."""
    if record.p_deciles is None or record.p_score is None:
        return False
    return record.p_deciles / OF_DECILES < min(1.0, record.p_score / OF_SCORES)


def _leaves_out(low: float | None, high: float | None, right: float) -> bool:
    return (low is not None and low > right) or (high is not None and high < right)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _curve_record(event: _Event, points: Points, band: Band | None) -> CurveRecord:
    kept = _visible(points.y)
    return CurveRecord(
        model=event.model,
        curve=CORP.name,
        label=event.label,
        x=_floats(points.x[kept]),
        y=_floats(points.y[kept]),
        low=None if band is None else _floats(band.low),
        high=None if band is None else _floats(band.high),
        count=_floats(np.diff(np.concatenate([[0.0], np.cumsum(required(points.count))[kept]]))),
        band=None if band is None else "pointwise",
    )


def _visible(fit: Floats) -> Indices:
    """Return the points to keep: the ends of the steps, and others evenly; both thinned to ``MOST_POINTS``."""
    m = len(fit)
    if m <= MOST_POINTS:
        return np.arange(m)
    jumps = np.flatnonzero(np.diff(fit) > 0)
    ends = np.unique(np.concatenate([[0], jumps, jumps + 1, [m - 1]]))
    if len(ends) > MOST_POINTS // 2:
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, MOST_POINTS // 2).round().astype(np.int64))]
    evenly = np.linspace(0, m - 1, MOST_POINTS - len(ends)).round().astype(np.int64)
    return np.unique(np.concatenate([ends, evenly]))


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())


def _table(event: _Event, level: float) -> Iterator[CalibrationTableRecord]:
    """Yield one row a grade, in the order of their mean probability; deciles of risk where no grades are given."""
    risks = event.risks
    deciles = bins_by_rank(risks.p) if risks.bins is None else risks.bins.bin
    names, codes = event.grades or (DECILES, deciles)
    count = np.bincount(codes, minlength=len(names))
    weight, events, expected = (
        np.bincount(codes, weights=values, minlength=len(names))
        for values in (risks.w, risks.w * risks.y, risks.w * risks.p)
    )
    held = [grade for grade in range(len(names)) if count[grade] and weight[grade] > 0]
    for grade in ordered_grades(held, names, expected / np.where(weight > 0, weight, 1)):
        predicted, share = float(expected[grade] / weight[grade]), float(events[grade] / weight[grade])
        row = CalibrationTableRecord(
            model=event.model, label=event.label, grade=names[grade], n=int(count[grade]), predicted=predicted,
            observed=share,
        )  # fmt: skip
        if risks.plain:
            low, high, p = jeffreys_grade(float(events[grade]), float(count[grade]), predicted, level)
            row = replace(row, low=low, high=high, p_value=p)
        yield row


def ordered_grades(held: Sequence[int], names: Sequence[str], predicted: Floats) -> list[int]:
    """Return grades in order: of their numbers where all are numbers, else of their mean probability."""
    try:
        return sorted(held, key=lambda grade: float(names[grade]))
    except ValueError:
        return sorted(held, key=lambda grade: (float(predicted[grade]), names[grade]))


def jeffreys_grade(events: float, n: float, predicted: float, level: float) -> tuple[float, float, float]:
    """Test a grade's mean probability as the ECB's validation reporting asks: small p where it is too low.

    p = P(Beta(D + 1/2, N - D + 1/2) <= PD) for D events among N; the limits of D / N are the same distribution's.

    Returns
    -------
    low, high, p_value

    References
    ----------
    European Central Bank (2019), Instructions for reporting the validation results of internal models, section 2.5.3.

    Examples
    --------
    >>> low, high, p_value = jeffreys_grade(3, 941, 0.0055, 0.95)
    >>> round(p_value, 4)
    0.8312
    """
    a, b, tail = events + 0.5, n - events + 0.5, (1 - level) / 2
    low = 0.0 if events == 0 else beta_quantile(tail, a, b)
    high = 1.0 if events == n else beta_quantile(1 - tail, a, b)
    return low, high, float(special.betainc(a, b, predicted))
