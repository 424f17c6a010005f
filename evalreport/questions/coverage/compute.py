"""Coverage and width of prediction intervals: by level, by tenths of width and of time, and tests of series."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from evalreport.engine.distributions import chi2_tail, t_quantile
from evalreport.intervals import leading
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask, required
from evalreport.predictions.numbers import levels, limits_at
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.predictions.time_order import no_series, rows_in_time
from evalreport.questions.coverage.records import (
    CoverageLists,
    CoverageRecord,
    CoverageTestRecord,
    WidthRatioRecord,
)
from evalreport.questions.question import Run, question
from evalreport.schema.metrics import limit_fields
from evalreport.texts import Message

PARTS, LEAST_IN_PART = 10, 20
"""Rows are divided into tenths where each has as many as this."""


@question("coverage", applies=lambda run: run.predictions.task == "intervals")
def coverage(run: Run) -> CoverageLists:
    """Measure how often intervals hold the truth, and how wide they are."""
    predictions, options = run.predictions, run.options
    named_levels = levels(predictions.models[0].numbers)
    if not named_levels:
        return CoverageLists()
    shown = shown_level(run, named_levels)
    quantities = [quantity for level in named_levels for quantity in _quantities(level)]
    samples = estimate_models(predictions, quantities, options, lambda _: False)
    return CoverageLists(
        coverages=(
            *(
                _record(s, m.name, level, options)
                for s in samples
                for m in s.predictions.models
                for level in named_levels
            ),
            *_by_parts(predictions, shown, options),
        ),
        width_ratios=tuple(_ratios(samples, named_levels, options)),
        coverage_tests=tuple(_of_series(predictions, named_levels, options)),
    )


def shown_level(run: Run, found: tuple[float, ...]) -> float:
    """Return the level that is spoken of: that of the primary metric, else the largest."""
    named = [level for level in found if f"[level={level:.12g}]" in run.data.primary.metric]
    return named[0] if named else found[-1]


def _quantities(level: float) -> tuple[Quantity, Quantity]:
    return Quantity(f"coverage[level={level:.12g}]"), Quantity(f"interval_width[level={level:.12g}]")


def _record(sample: Sample, model: str, level: float, options: Options) -> CoverageRecord:
    """Return one model's coverage and width on all rows of a sample."""
    covered, width = (sample.estimates[model, quantity] for quantity in _quantities(level))
    limits, of_width = (leading(estimate, options.confidence) for estimate in (covered, width))
    return CoverageRecord(
        model=model,
        level=level,
        by="all",
        n=covered.sampling.n_examples,
        coverage=_known(covered),
        **limit_fields(limits),
        width=_known(width),
        **limit_fields(of_width, "width_"),
        reason=limits.reason,
    )


def _known(estimate: Estimate) -> float | None:
    return None if math.isnan(estimate.value) else estimate.value


def _by_parts(predictions: Predictions, level: float, options: Options) -> Iterator[CoverageRecord]:
    """Yield each model's coverage in tenths of its rows by width, and in tenths by time where time is known."""
    in_time = rows_in_time(predictions) if no_series(predictions) is None else None
    for model in predictions.models:
        limits = required(limits_at(model.numbers, level))
        width = limits[1] - limits[0]
        own = np.arange(predictions.n) if model.present is None else np.flatnonzero(model.present)
        if len(own) < PARTS * LEAST_IN_PART or predictions.design != "test-set":
            continue
        if np.ptp(width[own]) > 1e-9 * np.abs(width[own]).max():
            by_width = own[np.argsort(width[own], kind="stable")]
            yield from _of_parts(predictions, model, level, "width", by_width, width, options)
        if in_time is not None:
            yield from _of_parts(
                predictions, model, level, "time", in_time[np.isin(in_time, own)], width, options
            )


def _of_parts(
    predictions: Predictions,
    model: ModelOutputs,
    level: float,
    by: Literal["width", "time"],
    rows: Indices,
    width: Floats,
    options: Options,
) -> Iterator[CoverageRecord]:
    alone = replace(predictions, models=(model,))
    for number, some in enumerate(np.array_split(rows, PARTS), start=1):
        part = subset(alone, np.sort(some))
        (sample,) = estimate_models(part, _quantities(level), replace(options, join="error"), lambda _: False)
        record = _record(sample, model.name, level, options)
        yield replace(
            record, by=by, part=number, begins=float(width[some].min()), ends=float(width[some].max())
        )


def _ratios(samples: list[Sample], found: tuple[float, ...], options: Options) -> Iterator[WidthRatioRecord]:
    """Yield the ratio of mean widths of each pair on the same rows, with limits of its logarithm by the derivatives."""
    if len(samples) > 1:
        return
    (sample,) = samples
    for level in found:
        _, quantity = _quantities(level)
        for one, other in combinations((m.name for m in sample.predictions.models), 2):
            a, b = sample.estimates[one, quantity], sample.estimates[other, quantity]
            if not (a.value > 0 and b.value > 0):
                continue
            low, high = _limits_of_ratio(a, b, options.confidence)
            yield WidthRatioRecord(
                a=one,
                b=other,
                level=level,
                ratio=a.value / b.value,
                low=low,
                high=high,
                confidence=options.confidence,
            )


def _limits_of_ratio(a: Estimate, b: Estimate, level: float) -> tuple[float | None, float | None]:
    """Return t limits on the logarithm, of single examples or clusters that count the same."""
    plain = a.sampling.alike or ("clusters" in a.sampling.meets and not a.sampling.weighted)
    if a.influence is None or b.influence is None or not plain or a.fits is not None:
        return None, None
    u = a.influence.values / a.value - b.influence.values / b.value
    g = len(u)
    error = math.sqrt(g / (g - 1) * float((u**2).sum())) if g > 1 else 0.0
    if error == 0:
        return None, None
    half = t_quantile((1 + level) / 2, g - 1) * error
    ratio = a.value / b.value
    return ratio * math.exp(-half), ratio * math.exp(half)


def _of_series(
    predictions: Predictions, found: tuple[float, ...], options: Options
) -> Iterator[CoverageTestRecord]:
    """Yield the tests of misses in order of time, where the run is of a series."""
    if options.order != "time" or predictions.y_true is None:
        return
    order = rows_in_time(predictions)
    for model in predictions.models:
        for level in found:
            limits = required(limits_at(model.numbers, level))
            y = predictions.y_true[order]
            missed = (y < limits[0][order]) | (y > limits[1][order])
            yield from miss_tests(model.name, level, missed)


def miss_tests(model: str, level: float, missed: Mask) -> tuple[CoverageTestRecord, ...]:
    """Return Kupiec's test, Christoffersen's of independence, and of both.

    Parameters
    ----------
    missed
        (n,) whether the truth lies outside its interval, in order of time.

    References
    ----------
    Kupiec (1995), J Derivatives 3:73; Christoffersen (1998), Int Econ Rev 39:841.

    Examples
    --------
    10 misses in 100 where 5 are expected (LR = 4.131), never two in a row:

    >>> import numpy as np
    >>> found = miss_tests("m", 0.95, np.arange(100) % 10 == 0)
    >>> [round(test.statistic, 3) for test in found]
    [4.131, 2.015, 6.146]
    """
    n, misses = len(missed), int(missed.sum())
    share = 1 - level
    unconditional = 2 * (_likelihood(n - misses, misses, misses / n) - _likelihood(n - misses, misses, share))
    before, after = missed[:-1], missed[1:]
    n00, n01, n10, n11 = (
        int(np.count_nonzero((before == a) & (after == b)))
        for a, b in ((False, False), (False, True), (True, False), (True, True))
    )
    independence = None
    if n > 1 and 0 < misses < n:
        p01, p11 = _share(n01, n00), _share(n11, n10)
        apart = _likelihood(n00, n01, p01) + _likelihood(n10, n11, p11)
        together = _likelihood(n00 + n10, n01 + n11, _share(n01 + n11, n00 + n10))
        independence = max(2 * (apart - together), 0.0)
    why = Message("coverage.no_transition") if independence is None else None
    both = None if independence is None else max(unconditional, 0.0) + independence
    values = (("kupiec", max(unconditional, 0.0), 1, None), ("christoffersen", independence, 1, why))
    return tuple(
        CoverageTestRecord(
            model=model,
            level=level,
            test=name,  # type: ignore[arg-type]
            statistic=statistic,
            df=df,
            p_value=None if statistic is None else chi2_tail(statistic, df),
            n=n,
            misses=misses,
            reason=reason,
        )
        for name, statistic, df, reason in (*values, ("conditional", both, 2, why))
    )


def _share(of: int, rest: int) -> float:
    return of / (of + rest) if of + rest else 0.0


def _likelihood(others: int, misses: int, p: float) -> float:
    """Return the logarithm of (1 - p)^others p^misses, with 0^0 = 1."""
    return float(special.xlogy(others, 1 - p) + special.xlogy(misses, p))
