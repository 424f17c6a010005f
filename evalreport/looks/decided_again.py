"""What an earlier look decided about a pair, computed again on the examples that it had."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from evalreport.comparisons.decisions import Decision, decision_family, family_records
from evalreport.comparisons.pairs import compare_all
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.quantities import parse
from evalreport.options import Options
from evalreport.predictions.subsets import alone
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.records import KeptVerdict

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
    plain = replace(options, slices=(), gates=(), baseline=None, looks=None)
    pairs = max(len(predictions.models) * (len(predictions.models) - 1) // 2, 1)

    def at(confidence: float) -> tuple[float | None, Decision]:
        asked = replace(plain, confidence=confidence)
        (compared,) = compare_all(estimate_models(then, [quantity], asked), [quantity], asked)
        family = decision_family([compared] * pairs, quantity, then, replace(plain, confidence=1 - level))
        rows, (decision,) = family_records(family[:1], asked)
        return rows[0].difference, decision

    difference, decision = at(verdict.level)
    limits = decision.limits
    if difference is None or limits is None or not _near(difference, verdict.difference, verdict):
        return False
    if decision.decided == verdict.decided:
        return _same(limits.low, verdict.low, verdict) and _same(limits.high, verdict.high, verdict)
    # Decided by a step of the correction, at a level between the pair's and the look's: the limits were cut at 0.
    cut = 0 in (verdict.low, verdict.high)
    ends = [(now, was) for now, was in ((limits.low, verdict.low), (limits.high, verdict.high)) if was != 0]
    return verdict.decided and cut and at(1 - level)[1].decided and all(_same(*end, verdict) for end in ends)


def _same(now: Limit, then: Limit, verdict: KeptVerdict) -> bool:
    return now is then if now is None or then is None else _near(now, then, verdict)


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
