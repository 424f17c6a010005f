"""Did a model get worse than at its accepted runs? An answer that may be asked for every night.

Examples that are new at each look: nights are the units, compared with the accepted nights or with a declared floor.
The same examples again: the test of the pairs of this look, at its share of the permitted error. Anything else is not
decided: a test of this look alone would take what nights have in common for a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparisons import TESTS
from evalreport.comparisons.pairs import draws_for
from evalreport.gates.conditions import Gate, wrong
from evalreport.gates.conditions import parse as parse_gate
from evalreport.history.past import Fresh, Past
from evalreport.history.run_differences import Present
from evalreport.history.run_values import (
    Night,
    compared_with,
    drop_evidence,
    floor_evidence,
    kept_night,
    look_of,
    mean_limits,
    night_of,
    serial_correlation,
)
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.metrics.sample import parse
from evalreport.numbers import decimals_of
from evalreport.predictions.arrays import Floats
from evalreport.schema.audit import AuditRecord, EvidenceRecord, HistoryRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, parts

LEAST_COUNT = 2
"""The smallest p-value of a test by resampling is 1 or 2 over the number of replicates and one."""
TOLERANCE = 1e-6
LOOKS_A_YEAR = 365


def share_of_look(look: int) -> float:
    """Return the share of the permitted error that is spent at a look, counted from 1; all shares add up to 1.

    Half goes as 1 / (k (k + 1)), so that the first looks see something, half evenly over the 365 looks of a year, half
    of that over those of the next, and so on, so that a change late in the year is not paid for dearly.

    Examples
    --------
    >>> [round(1 / share_of_look(look)) for look in (1, 7, 30, 365)]
    [4, 104, 818, 1452]
    """
    year = (look - 1) // LOOKS_A_YEAR
    return 0.5 / (look * (look + 1)) + 0.5 / (LOOKS_A_YEAR * 2.0 ** min(year + 1, 1000))


def is_worse(quantity: Quantity, difference: float | None, *, lower_is_better: bool) -> bool:
    """Say whether a change now - then is one for the worse; any change, where neither direction is better."""
    if not difference:
        return False
    if without_direction(quantity):
        return True
    return (difference < 0) == greater_is_better(quantity, lower_is_better=lower_is_better)


def without_direction(quantity: Quantity) -> bool:
    """Say whether neither a larger nor a smaller value is better."""
    return definition(quantity).scale.greater_is_better is None


def by_spending(now: Present, look: int, change: HistoryRecord, quantity: Quantity) -> AuditRecord:
    """Compare the p-value of this look's pairs with the look's share of the permitted error.

    Both runs answer the same examples, so nothing that differs from night to night is in their difference.
    """
    row = answer("worse", look, change, test=change.test, alarm=False)
    if change.p_value is None:
        reason = change.reason or Message("spending.no_test")
        return replace(row, text=Message("audit.not_decided", why=reason), reason=reason)
    alpha, models = 1 - now.options.confidence, len(now.results.models)
    uncut = change.p_value * models / share_of_look(look)
    adjusted = min(1.0, uncut)
    worse = is_worse(quantity, change.difference, lower_is_better=now.options.lower_is_better)
    alarm = worse and adjusted <= alpha
    unclear = None if alarm or not worse else unresolved(change.test, change.p_value, uncut / alpha, now)
    said = "worse" if alarm else "undecided" if unclear else "not_worse"
    if change.difference and not worse:  # the p-value is of a change either way, and may be small
        said = "better"
    text = parts(
        Message(f"spending.said.{said}", p=change.p_value, adjusted=adjusted, look=look),
        change.text,
        Message("alarm.promise_of_floor", alpha=alpha),
    )
    return replace(
        row,
        p_value=change.p_value,
        p_adjusted=adjusted,
        effect="difference",
        effect_size=change.difference,
        alarm=alarm,
        text=text if unclear is None else parts(text, unclear),
        reason=unclear,
    )


def unresolved(test: str | None, p: float, too_large_by: float, now: Present) -> Message | None:
    """Say how many replicates would decide where a test by resampling cannot give a p-value that is small enough."""
    if test is None or test not in TESTS or not TESTS[test].by_resampling:
        return None
    n = now.options.resamples if TESTS[test].needs == "replicates" else draws_for(1, now.options)
    count = p * (n + 1)
    drawn = abs(count - round(count)) < TOLERANCE  # else it was enumerated exactly
    if not drawn or too_large_by <= 1 or round(count) > LEAST_COUNT:
        return None
    return Message("spending.resamples", n=n, needed=math.ceil((n + 1) * too_large_by))


def this_look(look: int, change: HistoryRecord) -> AuditRecord:
    """The plain test of this look, which errs again at every look; no alarm hangs on it."""
    row = answer("worse_this_run", look, change, test=change.test, alarm=False)
    text = (
        Message("audit.this_look", change=change.text)
        if change.reason is None
        else Message("audit.reason_alone", why=change.reason)
    )
    return replace(
        row,
        p_value=change.p_value,
        effect="difference",
        effect_size=change.difference,
        low=change.low,
        high=change.high,
        text=text,
        reason=change.reason,
    )


def answer(question: str, look: int, change: HistoryRecord, *, test: str | None, alarm: bool) -> AuditRecord:
    """Return a record of a model's answer, to be filled in."""
    empty = dict.fromkeys(
        ("statistic", "p_value", "p_adjusted", "effect", "effect_size", "low", "high", "reason")
    )
    return AuditRecord(
        question=question,
        about=change.model,
        run=change.run,
        look=look,
        test=test,
        alarm=alarm,
        text="",
        **empty,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, slots=True)
class Floor:
    """What a gate declares that every night's expected value is, at least (or at most), and the best value."""

    text: str
    value: float
    best: float


def declared_floors(now: Present, quantity: Quantity) -> dict[str, Floor]:
    """Return the floor of each model that a gate declares.

    Raises
    ------
    UsageError
        A gate about every night that is not about the primary metric in its good direction, is the second about a
        model, or leaves the bets no bound.
    """
    floors: dict[str, Floor] = {}
    for text in now.options.gates:
        gate = parse_gate(text, models=now.results.models)
        if gate.every_night:
            model = gate.terms[0].model
            if model in floors:
                raise wrong(text, 0, f"every night stands there twice about {model}")
            floors[model] = _floor(gate, now, quantity)
    return floors


def _floor(gate: Gate, now: Present, quantity: Quantity) -> Floor:
    term, metric = gate.terms[0], definition(quantity)
    asked = parse(term.spelling, now.predictions.task, now.results.classes)
    if asked != quantity:
        raise wrong(
            gate.text,
            term.metric_at,
            f"every night is about the primary metric, {quantity.spelled}: name it first, -m",
        )
    upwards = gate.comparator in (">=", ">")
    better = greater_is_better(quantity, lower_is_better=now.options.lower_is_better)
    if upwards != better and not without_direction(quantity):
        sign = ">= or >" if better else "<= or <"
        raise wrong(gate.text, 0, f"every night says what {quantity.spelled} must hold: write {sign}")
    bounds = metric.scale.range_of(now.predictions.task)
    best = bounds[1] if upwards else bounds[0]
    if not math.isfinite(best) or (gate.limit >= best if upwards else gate.limit <= best):
        end = "greatest" if upwards else "least"
        raise wrong(
            gate.text,
            0,
            f"every night bets between the limit and the {end} value of {quantity.spelled}, {best:g}",
        )
    return Floor(gate.text, gate.limit, best)


ENOUGH_NIGHTS = 7
"""Accepted nights, a week of them, from which on a drop soon after them is seen soon."""
CORRELATED = 0.05
"""The p-value at which the accepted nights are said to depend on each other."""


@dataclass(frozen=True, slots=True)
class Series:
    """The nights of one model: the accepted ones, and those since with the looks at which they came.

    Attributes
    ----------
    today
        This run's own; or why it has none.
    spent
        The share of the error that looks at the same examples spent before the first night.
    left_out
        How many accepted runs are no night of their own.
    taken
        Whether examples are taken as new because they have no ids.
    """

    accepted: tuple[Night, ...]
    nights: tuple[Night, ...]
    looks: tuple[int, ...]
    today: Night | Text
    spent: float
    left_out: int
    taken: bool


def worse_than_accepted(now: Present, past: Past) -> Results:
    """Ask of every model whether it became worse than at the accepted runs, over all looks and by this look alone."""
    reference, fresh = past.references.get("accepted"), past.fresh
    if reference is None or fresh is None:
        return now.results
    quantity = parse(now.results.primary_metric, now.predictions.task, now.results.classes)
    floors = declared_floors(now, quantity)
    rows: list[AuditRecord] = []
    evidence: list[EvidenceRecord] = []
    for change in now.results.history:
        if change.reference != reference.name:
            continue
        series = _series(now, past, fresh, change, quantity)
        row = _over_looks(now, fresh, change, quantity, series, floors.get(change.model))
        record = _evidence(now, past, fresh, change, quantity, series)
        # What belongs to the whole run stands with its first model.
        evidence.append(replace(record, id_sample=fresh.sample if not evidence else ()))
        rows += [row, this_look(fresh.look, change)]
    results = replace(now.results, audit=(*now.results.audit, *rows), evidence=tuple(evidence))
    return replace(results, warnings=(*_cautions(rows), *results.warnings))


def _series(
    now: Present,
    past: Past,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
) -> Series | Text:
    """Gather the nights of a model, or say why there are none."""
    if change.value is None and change.reason is not None:
        return change.reason
    today: Night | Text = fresh.reason or night_of(
        now.predictions, change.model, quantity, now.options, fresh.new
    )
    if not fresh.new.any() and fresh.reason is None:
        today = Message("night.all_seen")
    runs = compared_with(past.runs, past)
    kept = [(look_of(run), kept_night(run, change.model, quantity)) for run in runs]
    nights = [(look, night) for look, night in kept if night is not None]
    if isinstance(today, Night):
        nights.append((fresh.look, today))
    elif not nights:
        return today
    alike = (now.predictions.task, now.predictions.positive)
    found = [
        night_of(own, change.model, quantity, now.options, mask)
        for (_, own), mask in zip(past.nights, fresh.accepted, strict=True)
        if own is not None and mask is not None and (own.task, own.positive) == alike
    ]
    accepted = tuple(night for night in found if isinstance(night, Night))
    if not accepted:
        return Message("night.none_accepted", why=next(iter(found), Message("night.lost")))
    return Series(
        accepted=accepted,
        nights=tuple(night for _, night in nights),
        looks=tuple(look for look, _ in nights),
        today=today,
        spent=sum(share_of_look(look) for look, _ in kept if look < nights[0][0]),
        left_out=len(past.nights) - len(accepted),
        taken=fresh.taken,
    )


# --- the alarm ------------------------------------------------------------------------------------------------------


def _over_looks(
    now: Present,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
    series: Series | Text,
    floor: Floor | None,
) -> AuditRecord:
    if isinstance(series, Series):
        if floor is not None:
            return _against_floor(now, fresh, change, series, floor)
        return _against_accepted(now, fresh, change, quantity, series)
    if change.paired:
        return by_spending(now, fresh.look, change, quantity)
    row = answer("worse", fresh.look, change, test=None, alarm=False)
    return replace(row, text=Message("audit.not_decided", why=series), reason=series)


def _against_accepted(
    now: Present, fresh: Fresh, change: HistoryRecord, quantity: Quantity, series: Series
) -> AuditRecord:
    """Compare the nights since with the accepted ones: a mixture over when a drop began and how large it is."""
    log_e, start = _evidence_of_change(now, quantity, series)
    row = _of_evidence(now, fresh, change, series, log_e=log_e, test="night_alarm")
    then = [night.value for night in series.accepted]
    since = [night.value for night in series.nights]
    details: dict[str, float] = {
        "accepted_nights": len(then),
        "nights": len(since),
        "change_look": series.looks[start],
    }
    related = serial_correlation(np.array(then))
    if related is not None:
        details |= {"lag1_correlation": related[0], "lag1_p_value": related[1]}
    earlier = Message("alarm.accepted", n=len(then))
    if series.left_out:
        earlier = Message("alarm.accepted_but", accepted=earlier, n=series.left_out)
    recent = series.nights[start if row.alarm else 0 :]
    said = Message(
        "alarm.worse" if row.alarm else "alarm.not_worse",
        metric=change.metric,
        then=_mean(series.accepted),
        accepted=earlier,
        now=_mean(recent),
        nights=Message("alarm.nights", n=len(recent)),
        look=series.looks[start],
    )
    related_so = (
        Message("alarm.correlation", r=related[0], p=related[1], n=len(then), decimals=2)
        if related is not None
        else Message("alarm.correlation_unknown")
    )
    return replace(
        row,
        effect="difference",
        effect_size=float(np.mean(since)) - float(np.mean(then)),
        details=details,
        text=parts(said, *_evidence_said(now, series, log_e), related_so, promise(now.options.confidence)),
    )


def promise(confidence: float) -> Message:
    """Say what the alarm over nights promises, and on what condition."""
    return Message("alarm.promise", alpha=1 - confidence)


def _evidence_of_change(now: Present, quantity: Quantity, series: Series) -> tuple[float, int]:
    """Return log e of a change for the worse, and how many nights since lie before its likeliest beginning."""
    nights = (*series.accepted, *series.nights)
    values, errors = np.array([n.value for n in nights]), np.array([n.error for n in nights])
    better = greater_is_better(quantity, lower_is_better=now.options.lower_is_better)
    turned = (1.0, -1.0) if without_direction(quantity) else (1.0,) if better else (-1.0,)
    found = [_one_way(sign * values, errors, len(series.accepted)) for sign in turned]
    log_e = float(np.logaddexp.reduce([log for log, _ in found])) - math.log(len(found))
    return log_e, max(found)[1]


def _one_way(values: Floats, errors: Floats, accepted: int) -> tuple[float, int]:
    log_e, start = drop_evidence(values[:accepted], values[accepted:], errors)
    return float(log_e), int(start)


def _against_floor(
    now: Present, fresh: Fresh, change: HistoryRecord, series: Series, floor: Floor
) -> AuditRecord:
    """Bet against the declared floor: no accepted night is needed, and no independence."""
    values = np.array([night.value for night in series.nights])
    log_e = floor_evidence(values, floor.value, floor.best)
    row = _of_evidence(now, fresh, change, series, log_e=log_e, test="night_bet")
    said = Message(
        "alarm.beyond" if row.alarm else "alarm.not_beyond",
        floor=floor.text,
        metric=change.metric,
        now=_mean(series.nights),
        nights=Message("alarm.nights", n=len(values)),
    )
    promised = Message("alarm.promise_of_floor", alpha=1 - now.options.confidence)
    return replace(
        row,
        effect="from_floor",
        effect_size=float(values.mean()) - floor.value,
        details={"nights": len(values)},
        text=parts(said, *_evidence_said(now, series, log_e), promised),
    )


def _of_evidence(
    now: Present, fresh: Fresh, change: HistoryRecord, series: Series, *, log_e: float, test: str
) -> AuditRecord:
    """Turn evidence into p-values: alpha is shared by the models, and by the looks that spent of it before."""
    p = math.exp(-min(max(log_e, 0.0), 700.0))
    adjusted = min(1.0, p * _divided(now, series))
    row = answer("worse", fresh.look, change, test=test, alarm=adjusted <= 1 - now.options.confidence)
    return replace(row, statistic=math.exp(min(log_e, 700.0)), p_value=p, p_adjusted=adjusted)


def _divided(now: Present, series: Series) -> float:
    return len(now.results.models) / (1 - series.spent)


def _evidence_said(now: Present, series: Series, log_e: float) -> list[Message]:
    goal = _divided(now, series) / (1 - now.options.confidence)
    e = math.exp(min(log_e, 50.0))
    said = [Message("alarm.evidence", e=e, goal=round(goal), decimals=2 if e < 10 else 0)]
    if not isinstance(series.today, Night):
        said.append(Message("alarm.nothing_today", why=series.today))
    if series.taken:
        said.append(Message("alarm.no_id"))
    return said


def _mean(nights: Sequence[Night]) -> Message:
    decimals = decimals_of(night.error for night in nights)
    return Message("night.mean", value=float(np.mean([night.value for night in nights])), decimals=decimals)


def _cautions(rows: Sequence[AuditRecord]) -> list[WarningRecord]:
    """Warn where the accepted nights are few, or depend on each other."""
    over_nights = [row for row in rows if "accepted_nights" in row.details]
    few = [row for row in over_nights if row.details["accepted_nights"] < ENOUGH_NIGHTS]
    tied = [row for row in over_nights if row.details.get("lag1_p_value", 1.0) <= CORRELATED]
    found = []
    if few:
        least = int(min(row.details["accepted_nights"] for row in few))
        about = tuple(row.about for row in few)
        found.append(warning("few_accepted_nights", about=about, n=least, enough=ENOUGH_NIGHTS))
    for row in tied:
        r, p = row.details["lag1_correlation"], row.details["lag1_p_value"]
        found.append(warning("nights_depend", about=(row.about,), model=row.about, r=r, p=p, decimals=2))
    return found


# --- what is kept ---------------------------------------------------------------------------------------------------


def _evidence(
    now: Present,
    past: Past,
    fresh: Fresh,
    change: HistoryRecord,
    quantity: Quantity,
    series: Series | Text,
) -> EvidenceRecord:
    plain = EvidenceRecord(
        model=change.model,
        metric=quantity.spelled,
        run=change.run,
        look=fresh.look,
        unit="example" if now.options.cluster is None else "cluster",
        n_new=0,
        n_since=0,
        level=now.options.confidence,
        accepted=tuple(run.id for run, _ in past.nights),
        reason=None if isinstance(series, Series) else series,
        value=None,
        value_since=None,
        low=None,
        high=None,
    )
    if not isinstance(series, Series):
        return plain
    today, since = series.today, np.array([night.value for night in series.nights])
    low, high = mean_limits(since, 1 - now.options.confidence) or (None, None)
    night = today if isinstance(today, Night) else None
    return replace(
        plain,
        n_new=0 if night is None else night.n,
        value=None if night is None else night.value,
        standard_error=None if night is None else night.error,
        n_since=sum(night.n for night in series.nights),
        value_since=float(since.mean()),
        low=low,
        high=high,
        values_accepted=tuple(night.value for night in series.accepted),
        values_since=tuple(float(value) for value in since),
        reason=None if isinstance(today, Night) else today,
    )
