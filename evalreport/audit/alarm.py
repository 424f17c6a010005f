"""Did a model get worse than at its accepted run? An answer that may be asked for every night.

New examples, and a metric that is a mean of bounded losses: a confidence sequence over all of them since the accepted
run. The same examples again, or any other metric: the test of this look, at its share of the permitted error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport import numbers
from evalreport.audit.confidence_sequences import (
    Evidence,
    highest_mean,
    level_reached,
    log_wealth,
    mean_limits,
    share_of_look,
    together,
)
from evalreport.audit.evidence import Fresh, Losses, compared_with, condensed, evidence_of, look_of, losses_of
from evalreport.audit.reference import Past, Reference
from evalreport.audit.since import Present
from evalreport.audit_records import AuditRecord, EvidenceRecord
from evalreport.metrics.quantities import TURNED, Quantity, definition, greater_is_better, parse
from evalreport.records import HistoryRecord
from evalreport.results import Results

REFERENCE_SHARE = 0.8
"""Of the permitted error, what the uncertainty of the accepted run itself is given: it is the larger one."""
BY_RESAMPLING = frozenset({"permutation", "bootstrap_difference"})
LEAST_COUNT = 2
"""The smallest p-value of a test by resampling is 1 or 2 over the number of replicates and one."""
TOLERANCE = 1e-6
SMALLEST_P = 1e-15
"""Smaller p-values of a sequence are not told apart."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one model since the accepted run: its losses then, and what was new at each look."""

    losses: Losses
    then: Evidence
    looks: tuple[tuple[int, Evidence], ...]
    today: Evidence

    def metric(self, loss: float) -> float:
        """Turn a mean loss into the metric."""
        return self.losses.at_zero + self.losses.slope * loss


def worse_than_accepted(now: Present, past: Past) -> Results:
    """Ask of every model whether it became worse than at the accepted run, over all looks and by this look alone."""
    reference, fresh = past.references.get("accepted"), past.fresh
    if reference is None or fresh is None:
        return now.results
    quantity = parse(now.results.primary_metric, now.predictions.task, now.results.classes)
    rows: list[AuditRecord] = []
    evidence: list[EvidenceRecord] = []
    for change in now.results.history:
        if change.reference != reference.name:
            continue
        known = _known(now, past, reference, fresh, change, quantity)
        # What belongs to the whole run stands with its first model.
        sample = fresh.sample if not evidence else ()
        evidence.append(replace(_evidence(now, reference, fresh, change, quantity, known), id_sample=sample))
        rows += [_over_looks(now, fresh, change, quantity, known), _this_look(fresh, change)]
    return replace(now.results, audit=(*now.results.audit, *rows), evidence=tuple(evidence))


def is_worse(quantity: Quantity, difference: float | None, *, lower_is_better: bool) -> bool:
    """Say whether a change now - then is one for the worse; any change, where neither direction is better."""
    if not difference:
        return False
    if definition(quantity).greater_is_better is None and quantity.metric not in TURNED:
        return True
    return (difference < 0) == greater_is_better(quantity, lower_is_better=lower_is_better)


def _known(
    now: Present,
    past: Past,
    reference: Reference,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
) -> Known | str:
    """Gather the evidence of a model, or say why there can be none."""
    if change.value is None or reference.predictions is None:
        return change.reason or "the predictions of the accepted run are not kept"
    if fresh.reason is not None:
        return fresh.reason
    today = losses_of(now.predictions, change.model, quantity, now.options)
    then = losses_of(reference.predictions, change.model, quantity, now.options)
    for found in (today, then):
        if isinstance(found, str):
            return found
    assert not isinstance(today, str)
    assert not isinstance(then, str)
    new = condensed(today, fresh.new)
    runs = compared_with(past.runs, reference.run.id)
    earlier = [(look_of(run), evidence_of(run, change.model, quantity)) for run in runs]
    looks = [(look, evidence) for look, evidence in earlier if evidence is not None]
    if new.n:
        looks.append((fresh.look, new))
    if not looks:
        return "all examples were seen before: no new evidence"
    return Known(today, condensed(then), tuple(looks), new)


# --- the alarm ------------------------------------------------------------------------------------------------------


def _over_looks(
    now: Present, fresh: Fresh, change: HistoryRecord, quantity: Quantity, known: Known | str
) -> AuditRecord:
    alpha, models = 1 - now.options.confidence, len(now.results.models)
    if isinstance(known, Known):
        return _by_sequence(fresh, change, known, alpha=alpha, models=models)
    return _by_spending(now, fresh, change, quantity, why=known, alpha=alpha, models=models)


def _by_sequence(
    fresh: Fresh, change: HistoryRecord, known: Known, *, alpha: float, models: int
) -> AuditRecord:
    """Bet against "the mean loss was never above what the accepted run's may have been".

    The accepted run's mean loss has an upper limit that is too low with four fifths of the probability alpha / models;
    with the last fifth the bets against that limit win the inverse of it, at whatever look.
    """
    of_looks = (1 - REFERENCE_SHARE) * alpha / models
    limit = highest_mean(known.then, REFERENCE_SHARE * alpha / models)
    wealth = log_wealth(known.looks, limit) if limit < 1 else 0.0
    bound = known.losses.slope * (level_reached(known.looks, of_looks) - limit)
    alarm = wealth >= -math.log(of_looks)
    p = _smallest_alpha(known)
    since = together([evidence for _, evidence in known.looks])
    change_since = known.metric(since.mean) - known.metric(known.then.mean)
    row = _row("worse", fresh, change, test="betting", alarm=alarm)
    return replace(
        row,
        statistic=math.exp(min(wealth, 700.0)),
        p_value=p,
        p_adjusted=min(1.0, p * models),
        effect="difference",
        effect_size=change_since,
        low=bound if known.losses.slope > 0 else None,
        high=bound if known.losses.slope < 0 else None,
        text=_sequence_text(change, known, alarm=alarm, bound=bound),
    )


def _smallest_alpha(known: Known) -> float:
    """Return the smallest error at which one model would be alarming: its p-value, whenever one looks."""

    def alarming(alpha: float) -> bool:
        limit = highest_mean(known.then, REFERENCE_SHARE * alpha)
        return limit < 1 and log_wealth(known.looks, limit) >= -math.log((1 - REFERENCE_SHARE) * alpha)

    low, high = math.log(SMALLEST_P), 0.0
    if not alarming(1.0):
        return 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if alarming(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _sequence_text(change: HistoryRecord, known: Known, *, alarm: bool, bound: float) -> str:
    since = together([evidence for _, evidence in known.looks])
    looks = f"{len(known.looks)} look{'s' if len(known.looks) > 1 else ''}"
    facts = (
        f"{change.metric} {numbers.number(known.metric(since.mean), 4)} on {numbers.count(since.n)} new examples of"
        f" {looks} since, {numbers.number(known.metric(known.then.mean), 4)} on {numbers.count(known.then.n)} at the"
        f" accepted run {change.run}"
    )
    if not known.today.n:
        facts += "; today's examples were all seen before and are no new evidence"
    if alarm:
        fallen = f"{numbers.number(abs(bound), 4)} {'lower' if known.losses.slope < 0 else 'higher'}"
        return f"worse than the accepted run: at some look since it has been at least {fallen}; {facts}"
    return f"not shown to be worse; {facts}"


def _by_spending(
    now: Present,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
    *,
    why: str,
    alpha: float,
    models: int,
) -> AuditRecord:
    """Compare the p-value of this look with the look's share of the permitted error."""
    row = _row("worse", fresh, change, test=change.test, alarm=False)
    if change.p_value is None:
        reason = change.reason or "this change has an interval and no test"
        return replace(row, text=f"not decided: {reason}", reason=reason)
    share = share_of_look(fresh.look)
    uncut = change.p_value * models / share
    adjusted = min(1.0, uncut)
    worse = is_worse(quantity, change.difference, lower_is_better=now.options.lower_is_better)
    alarm = worse and adjusted <= alpha
    unclear = None if alarm or not worse else unresolved(change.test, change.p_value, uncut / alpha, now)
    said = "worse than the accepted run" if alarm else "not decided" if unclear else "not shown to be worse"
    if change.difference and not worse:  # the p-value is of a change either way, and may be small
        said += ", the change being for the better"
    text = (
        f"{said}: {numbers.p_phrase(change.p_value)} at look {fresh.look} counts as {numbers.p_phrase(adjusted)},"
        f" the permitted error being spread over all looks; {change.text}; no sequence: {why}"
    )
    return replace(
        row,
        p_value=change.p_value,
        p_adjusted=adjusted,
        effect="difference",
        effect_size=change.difference,
        alarm=alarm,
        text=text if unclear is None else f"{text}; {unclear}",
        reason=unclear,
    )


def unresolved(test: str | None, p: float, too_large_by: float, now: Present) -> str | None:
    """Say how many replicates would decide where a test by resampling cannot give a p-value that is small enough."""
    count = p * (now.options.resamples + 1)
    drawn = test in BY_RESAMPLING and abs(count - round(count)) < TOLERANCE  # else it was enumerated exactly
    if not drawn or too_large_by <= 1 or round(count) > LEAST_COUNT:
        return None
    needed = math.ceil((now.options.resamples + 1) * too_large_by)
    return f"{now.options.resamples:,} replicates cannot decide at this look: --resamples {needed} can"


def _this_look(fresh: Fresh, change: HistoryRecord) -> AuditRecord:
    """The plain test of this look, which errs again at every look; no alarm hangs on it."""
    row = _row("worse_this_run", fresh, change, test=change.test, alarm=False)
    text = f"this look alone, not corrected: asked every night it errs sooner or later; {change.text}"
    return replace(
        row,
        p_value=change.p_value,
        effect="difference",
        effect_size=change.difference,
        low=change.low,
        high=change.high,
        text=text if change.reason is None else f"this look alone: {change.reason}",
        reason=change.reason,
    )


def _row(question: str, fresh: Fresh, change: HistoryRecord, *, test: str | None, alarm: bool) -> AuditRecord:
    empty = dict.fromkeys(
        ("statistic", "p_value", "p_adjusted", "effect", "effect_size", "low", "high", "reason")
    )
    return AuditRecord(
        question=question,
        about=change.model,
        run=change.run,
        look=fresh.look,
        test=test,
        alarm=alarm,
        text="",
        **empty,  # type: ignore[arg-type]
    )


# --- what is kept ---------------------------------------------------------------------------------------------------


def _evidence(
    now: Present,
    reference: Reference,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
    known: Known | str,
) -> EvidenceRecord:
    plain = EvidenceRecord(
        model=change.model,
        metric=quantity.spelled,
        run=reference.run.id,
        look=fresh.look,
        unit="example" if now.options.cluster is None else "cluster",
        n_new=0,
        value=None,
        n_since=0,
        value_since=None,
        level=now.options.confidence,
        low=None,
        high=None,
        reason=known if isinstance(known, str) else None,
    )
    if isinstance(known, str):
        return plain
    since = together([evidence for _, evidence in known.looks])
    limits = sorted(known.metric(loss) for loss in mean_limits(since, 1 - now.options.confidence))
    return replace(
        plain,
        n_new=round(known.today.n),
        value=known.metric(known.today.mean) if known.today.n else None,
        n_since=round(since.n),
        value_since=known.metric(since.mean),
        low=limits[0],
        high=limits[1],
        levels=_plain(known.today.levels),
        weights=_plain(known.today.weights),
    )


def _plain(values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
