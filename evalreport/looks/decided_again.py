"""What an earlier look decided about a pair, computed again on the examples that it had."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from evalreport.comparisons.pairs import compare, records
from evalreport.metrics.estimation import estimate_table
from evalreport.metrics.quantities import parse
from evalreport.options import Options
from evalreport.predictions.subsets import alone
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.records import KeptVerdict
from evalreport.schema.comparisons import ComparisonRecord

Limit = float | None
ROUNDING = 1e-9
"""Other processors and versions of libraries round the last digits differently."""


def decided_so(
    verdict: KeptVerdict,
    level: float,
    predictions: Predictions,
    rows: np.ndarray,
    metric: str,
    options: Options,
) -> bool:
    """Say whether a look's examples give the difference and the limits that it names, and so its verdict.

    Parameters
    ----------
    level
        The look's, by which its pairs were decided together.
    predictions, rows
        All examples of now, and which of them the look had.
    """
    known = {model.name: model for model in predictions.models}
    pair = replace(predictions, models=tuple(known[name] for name in verdict.about))
    then = alone(pair, np.flatnonzero(rows))
    if _lost_classes(predictions, rows):
        return True  # a class that only newer examples have: averages over classes were others then
    quantity = parse(metric, predictions.task, predictions.classes)
    plain = replace(options, slices=(), gates=(), baseline=None, looks=None, confidence=verdict.level)

    def at(confidence: float) -> ComparisonRecord:
        asked = replace(plain, confidence=confidence)
        sample = estimate_table(then, [quantity], asked, seed=options.seed)
        return records(compare(sample, [quantity], asked)[0], asked)[0]

    row = at(verdict.level)
    if row.difference is None or not _near(row.difference, verdict.difference, verdict):
        return False
    if not (_same(row.low, verdict.low, verdict) and _same(row.high, verdict.high, verdict)):
        return False
    if verdict.verdict in ("better", "worse") and 0 in (verdict.low, verdict.high):
        row = at(1 - level)  # decided by a step of its correction, at a level up to the look's
        return row.low is None or row.high is None or not row.low < 0 < row.high
    return True


def _same(now: Limit, then: Limit, verdict: KeptVerdict) -> bool:
    """Compare two limits, of which one may be cut at 0."""
    if now is None or then is None:
        return now is then
    return then == 0 or _near(now, then, verdict)


def _near(now: float, then: float, verdict: KeptVerdict) -> bool:
    """Say whether two numbers are the same but for rounding, which is in the units of the difference."""
    unit = max(abs(verdict.difference), abs(verdict.low or 0.0), abs(verdict.high or 0.0))
    return math.isclose(now, then, rel_tol=ROUNDING, abs_tol=ROUNDING * unit)


def _lost_classes(predictions: Predictions, rows: np.ndarray) -> bool:
    """Say whether a class of now occurs in none of the rows."""
    truth = predictions.y_true
    if truth is None or truth.dtype.kind not in "iu" or any(m.proba is not None for m in predictions.models):
        return False
    there = [truth[rows], *(m.y_pred[rows] for m in predictions.models if m.y_pred is not None)]
    return len(np.setdiff1d(np.arange(len(predictions.classes)), np.concatenate(there))) > 0
