"""The difference of two models' estimates, on the same examples or on test sets of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evalreport.metrics.estimate import Estimate, Floats, Judged
from evalreport.texts import Message, parts


def difference(a: Estimate, b: Estimate) -> Estimate:
    """Return a - b on the same examples under the same draws: that is the pairing."""
    low, high = a.range
    derivative = None
    if a.derivative is not None and b.derivative is not None:
        derivative = _subtracted(a.derivative, b.derivative)
    replicates = None if a.replicates is None or b.replicates is None else a.replicates - b.replicates
    fits = by_fit = None
    if a.fits is not None and b.fits is not None and a.fits.names == b.fits.names:
        by_fit = _subtracted_by_fit(a.by_fit, b.by_fit)
        fits = replace(a.fits, values=a.fits.values - b.fits.values)
    reasons = [Message("undefined.of_model", model=e.model, reason=e.reason) for e in (a, b) if e.reason]
    return replace(
        a,
        value=a.value - b.value,
        reason=parts(*reasons) if reasons else None,
        range=(low - high, high - low),
        derivative=derivative,
        replicates=replicates,
        successes=None,
        trials=None,
        jaccard=None,
        trials_effective=None,
        fits=fits,
        by_fit=by_fit,
        table=None,
        judged=None,
        sides=(a, b),
        is_difference=True,
    )


def _subtracted_by_fit(
    a: Callable[[], Floats] | None, b: Callable[[], Floats] | None
) -> Callable[[], Floats] | None:
    return None if a is None or b is None else lambda: _subtracted(a(), b())


def _subtracted(a: Floats, b: Floats) -> Floats:
    """Return a - b; influences that cancel up to rounding cancel: a model against itself has no error at all."""
    apart = np.empty_like(a)
    step = 1 << 14
    for start in range(0, len(a), step):
        one, other, found = (values[start : start + step] for values in (a, b, apart))
        np.subtract(one, other, out=found)
        size = np.abs(found)
        # Nearly always nothing does: one number of each says so.
        if size.min() <= 1e-12 * max(one.max(), -one.min()):
            np.copyto(found, 0.0, where=size <= 1e-12 * np.abs(one))
    return apart


def unpaired_difference(a: Estimate, b: Estimate) -> Estimate:
    """Return a - b on two independent test sets: variances add, and the replicates must come from separate draws."""
    paired = difference(replace(a, derivative=None, fits=None), replace(b, derivative=None, fits=None))
    derivative = counts = None
    if not (a.derivative is None or b.derivative is None or a.counts is None or b.counts is None):
        derivative = np.concatenate([a.derivative, -b.derivative])
        counts = np.concatenate([a.counts, b.counts])
    proportions = None
    if a.trials and b.trials and a.successes is not None and b.successes is not None:
        proportions = ((a.successes, a.trials), (b.successes, b.trials))
    clustered = a.sizes is not None or b.sizes is not None
    weights = (a.n_effective, b.n_effective)
    return replace(
        paired,
        n=a.n + b.n,
        derivative=derivative,
        counts=counts,
        independent=proportions,
        sizes=np.concatenate([_sizes(a), _sizes(b)]) if clustered else None,
        n_effective=None if None in weights else sum(n for n in weights if n is not None),
        positive=None,
        judged=_of_both(a.judged, b.judged),
        sides=(a, b),
        is_unpaired=True,
    )


def _of_both(a: Judged | None, b: Judged | None) -> Judged | None:
    return None if a is None or b is None else Judged(min(a.gold, b.gold), min(a.rest, b.rest), np.nan)


def _sizes(estimate: Estimate) -> Floats:
    return np.ones(estimate.n) if estimate.sizes is None else estimate.sizes
