"""The question whether a model became worse than at its accepted runs, answered at every run of a series.

New examples at each look: the runs' values are compared with those of the accepted runs, or with a declared floor. The
same examples again: the paired test of this look, at its share of the permitted error. Anything else is not decided,
since a test of one look would take the variation between runs for a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.audit.evidence import drop_evidence, floor_evidence, mean_limits, serial_correlation
from evalreport.audit.past import NewExamples, Past, look_of, runs_with_same_accepted
from evalreport.audit.run_values import RunValue, kept_value, value_on_new
from evalreport.comparisons import TESTS
from evalreport.comparisons.pairs import draws_for
from evalreport.gates.conditions import Gate, wrong
from evalreport.gates.conditions import parse as parse_gate
from evalreport.history.run_differences import Present
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.numbers import decimals_of
from evalreport.schema.audit import AuditRecord, EvidenceRecord, HistoryRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, parts

LEAST_COUNT = 2
"""A p-value by resampling of at most LEAST_COUNT / (replicates + 1) may only be that large for want of replicates."""
TOLERANCE = 1e-6
LOOKS_A_YEAR = 365


def share_of_look(look: int) -> float:
    """Return the share of the permitted error that is spent at a look, counted from 1; all shares add up to 1.

    Half is spent as 1 / (k (k + 1)), so that the first looks have power. The other half is spread evenly over the 365
    looks of the first year, with half of that for the second year, and so on, so that late looks have power, too.

    Examples
    --------
    >>> [round(1 / share_of_look(look)) for look in (1, 7, 30, 365)]
    [4, 104, 818, 1452]
    """
    year = (look - 1) // LOOKS_A_YEAR
    return 0.5 / (look * (look + 1)) + 0.5 / (LOOKS_A_YEAR * 2.0 ** min(year + 1, 1000))


def is_worse(quantity: Quantity, difference: float | None, *, lower_is_better: bool) -> bool:
    """Return whether a change now - then is for the worse; any change is, where neither direction is better."""
    if not difference:
        return False
    if without_direction(quantity):
        return True
    return (difference < 0) == greater_is_better(quantity, lower_is_better=lower_is_better)


def without_direction(quantity: Quantity) -> bool:
    """Return whether neither a larger nor a smaller value is better."""
    return definition(quantity).scale.greater_is_better is None


def _by_spending(now: Present, look: int, change: HistoryRecord, quantity: Quantity) -> AuditRecord:
    """Compare the p-value of this look's pairs with the look's share of the permitted error.

    Both runs answer the same examples, so their difference holds no variation between sets of examples.
    """
    row = _answer("worse", look, change, test=change.test, alarm=False)
    if change.p_value is None:
        reason = change.reason or Message("spending.no_test")
        return replace(row, text=Message("audit.not_decided", why=reason), reason=reason)
    alpha, models = 1 - now.options.confidence, len(now.results.models)
    uncut = change.p_value * models / share_of_look(look)
    adjusted = min(1.0, uncut)
    worse = is_worse(quantity, change.difference, lower_is_better=now.options.lower_is_better)
    alarm = worse and adjusted <= alpha
    unclear = None if alarm or not worse else unresolved(change.test, change.p_value, uncut / alpha, now)
    verdict = "worse" if alarm else "undecided" if unclear else "not_worse"
    if change.difference and not worse:  # the p-value is two-sided, and may be small
        verdict = "better"
    text = parts(
        Message(f"spending.said.{verdict}", p=change.p_value, adjusted=adjusted, look=look),
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
    """Say how many replicates a test by resampling would need for a p-value that is small enough; None: it has them."""
    if test is None or test not in TESTS or not TESTS[test].by_resampling:
        return None
    n = now.options.resamples if TESTS[test].needs == "replicates" else draws_for(1, now.options)
    count = p * (n + 1)
    drawn = abs(count - round(count)) < TOLERANCE  # otherwise all resamples were enumerated
    if not drawn or too_large_by <= 1 or round(count) > LEAST_COUNT:
        return None
    return Message("spending.resamples", n=n, needed=math.ceil((n + 1) * too_large_by))


def _this_look(look: int, change: HistoryRecord) -> AuditRecord:
    """Return the plain test of this look, whose errors add up over looks; it raises no alarm."""
    row = _answer("worse_this_run", look, change, test=change.test, alarm=False)
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


def _answer(question: str, look: int, change: HistoryRecord, *, test: str | None, alarm: bool) -> AuditRecord:
    """Return a record about a model with the other fields empty."""
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
    """The least (of a loss: greatest) expected value of every run that a gate declares, and the best possible value."""

    text: str
    value: float
    best: float


def _declared_floors(now: Present, quantity: Quantity) -> dict[str, Floor]:
    """Return the floors that gates with ``every night`` declare, by model.

    Raises
    ------
    UsageError
        The gate is not about the primary metric in its good direction, is the second about a model, or its limit is
        the best possible value.
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
    if parse(term.spelling, now.predictions.task, now.results.classes) != quantity:
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


ENOUGH_ACCEPTED = 7
"""Accepted runs, a week of them, from which on a drop right after them is found soon."""
CORRELATED = 0.05
"""The p-value at which a warning says that the accepted runs depend on each other."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model's values on new examples: of the accepted runs, and of the runs since.

    Attributes
    ----------
    later, looks
        The values since the accepted runs, this run's included, and the look of each.
    today
        This run's value, or the reason why it has none.
    spent
        The share of the permitted error that looks at the same examples spent before the first later value.
    left_out
        The number of accepted runs without new examples of their own.
    assumed
        Examples are taken as new because they have no ids.
    """

    accepted: tuple[RunValue, ...]
    later: tuple[RunValue, ...]
    looks: tuple[int, ...]
    today: RunValue | Text
    spent: float
    left_out: int
    assumed: bool


def worse_than_accepted(now: Present, past: Past) -> Results:
    """Answer for every model whether it is worse than at the accepted runs, over all looks and in this look alone."""
    reference, new = past.references.get("accepted"), past.new_examples
    if reference is None or new is None:
        return now.results
    quantity = parse(now.results.shown_metric, now.predictions.task, now.results.classes)
    floors = _declared_floors(now, quantity)
    rows: list[AuditRecord] = []
    evidence: list[EvidenceRecord] = []
    for change in now.results.history:
        if change.reference != reference.name:
            continue
        series = _series(now, past, new, change, quantity)
        if isinstance(series, Series):
            floor = floors.get(change.model)
            row = (
                _against_accepted(now, new.look, change, quantity, series)
                if floor is None
                else _against_floor(now, new.look, change, series, floor)
            )
        elif change.paired:
            row = _by_spending(now, new.look, change, quantity)
        else:
            row = _answer("worse", new.look, change, test=None, alarm=False)
            row = replace(row, text=Message("audit.not_decided", why=series), reason=series)
        record = _evidence(now, past, new.look, change, quantity, series)
        # The sample of ids is the whole run's; it is kept in the first model's record.
        evidence.append(replace(record, id_sample=new.sample if not evidence else ()))
        rows += [row, _this_look(new.look, change)]
    results = replace(now.results, audit=(*now.results.audit, *rows), evidence=tuple(evidence))
    return replace(results, warnings=(*_cautions(rows), *results.warnings))


def _series(
    now: Present,
    past: Past,
    new: NewExamples,
    change: HistoryRecord,
    quantity: Quantity,
) -> Series | Text:
    """Collect a model's values on new examples, or return the reason why there are none."""
    if change.value is None and change.reason is not None:
        return change.reason
    today: RunValue | Text = new.reason or value_on_new(
        now.predictions, change.model, quantity, now.options, new.new
    )
    if not new.new.any() and new.reason is None:
        today = Message("night.all_seen")
    kept = [(look_of(run), kept_value(run, change.model, quantity)) for run in runs_with_same_accepted(past)]
    later = [(look, value) for look, value in kept if value is not None]
    if isinstance(today, RunValue):
        later.append((new.look, today))
    elif not later:
        return today
    alike = (now.predictions.task, now.predictions.positive)
    found = [
        value_on_new(own, change.model, quantity, now.options, mask)
        for (_, own), mask in zip(past.accepted, new.in_accepted, strict=True)
        if own is not None and mask is not None and (own.task, own.positive) == alike
    ]
    accepted = tuple(value for value in found if isinstance(value, RunValue))
    if not accepted:
        return Message("night.none_accepted", why=next(iter(found), Message("night.lost")))
    return Series(
        accepted=accepted,
        later=tuple(value for _, value in later),
        looks=tuple(look for look, _ in later),
        today=today,
        spent=sum(share_of_look(look) for look, _ in kept if look < later[0][0]),
        left_out=len(past.accepted) - len(accepted),
        assumed=new.assumed,
    )


def _against_accepted(
    now: Present, look: int, change: HistoryRecord, quantity: Quantity, series: Series
) -> AuditRecord:
    """Compare the later values with the accepted ones, by evidence averaged over a drop's beginning and size."""
    log_e, start = _evidence_of_change(now, quantity, series)
    row = _by_evidence(now, look, change, series, log_e=log_e, test="night_alarm")
    then = [value.value for value in series.accepted]
    since = [value.value for value in series.later]
    details: dict[str, float] = {
        "accepted_nights": len(then),
        "nights": len(since),
        "change_look": series.looks[start],
    }
    correlation = serial_correlation(np.array(then))
    if correlation is not None:
        details |= {"lag1_correlation": correlation[0], "lag1_p_value": correlation[1]}
    earlier = Message("alarm.accepted", n=len(then))
    if series.left_out:
        earlier = Message("alarm.accepted_but", accepted=earlier, n=series.left_out)
    recent = series.later[start if row.alarm else 0 :]
    finding = Message(
        "alarm.worse" if row.alarm else "alarm.not_worse",
        metric=change.metric,
        then=_mean(series.accepted),
        accepted=earlier,
        now=_mean(recent),
        nights=Message("alarm.nights", n=len(recent)),
        look=series.looks[start],
    )
    dependence = (
        Message("alarm.correlation", r=correlation[0], p=correlation[1], n=len(then), decimals=2)
        if correlation is not None
        else Message("alarm.correlation_unknown")
    )
    return replace(
        row,
        effect="difference",
        effect_size=float(np.mean(since)) - float(np.mean(then)),
        details=details,
        text=parts(
            finding, *_about_evidence(now, series, log_e), dependence, promise(now.options.confidence)
        ),
    )


def promise(confidence: float) -> Message:
    """Return the sentence about the error rate of the alarm, and its condition."""
    return Message("alarm.promise", alpha=1 - confidence)


def _evidence_of_change(now: Present, quantity: Quantity, series: Series) -> tuple[float, int]:
    """Return log e of a change for the worse, and the number of later values before its likeliest beginning."""
    every = (*series.accepted, *series.later)
    values, errors = np.array([v.value for v in every]), np.array([v.error for v in every])
    better = greater_is_better(quantity, lower_is_better=now.options.lower_is_better)
    signs = (1.0, -1.0) if without_direction(quantity) else (1.0,) if better else (-1.0,)
    found = []
    for sign in signs:
        accepted, later = np.split(sign * values, [len(series.accepted)])
        log_e, start = drop_evidence(accepted, later, errors)
        found.append((float(log_e), int(start)))
    return float(np.logaddexp.reduce([log_e for log_e, _ in found])) - math.log(len(found)), max(found)[1]


def _against_floor(
    now: Present, look: int, change: HistoryRecord, series: Series, floor: Floor
) -> AuditRecord:
    """Bet against the declared floor, which needs no independence of the runs."""
    values = np.array([value.value for value in series.later])
    log_e = floor_evidence(values, floor.value, floor.best)
    row = _by_evidence(now, look, change, series, log_e=log_e, test="night_bet")
    finding = Message(
        "alarm.beyond" if row.alarm else "alarm.not_beyond",
        floor=floor.text,
        metric=change.metric,
        now=_mean(series.later),
        nights=Message("alarm.nights", n=len(values)),
    )
    promised = Message("alarm.promise_of_floor", alpha=1 - now.options.confidence)
    return replace(
        row,
        effect="from_floor",
        effect_size=float(values.mean()) - floor.value,
        details={"nights": len(values)},
        text=parts(finding, *_about_evidence(now, series, log_e), promised),
    )


def _by_evidence(
    now: Present, look: int, change: HistoryRecord, series: Series, *, log_e: float, test: str
) -> AuditRecord:
    """Turn evidence into p-values; alpha is shared with the other models and with the looks before."""
    p = math.exp(-min(max(log_e, 0.0), 700.0))
    adjusted = min(1.0, p * _divisor(now, series))
    row = _answer("worse", look, change, test=test, alarm=adjusted <= 1 - now.options.confidence)
    return replace(row, statistic=math.exp(min(log_e, 700.0)), p_value=p, p_adjusted=adjusted)


def _divisor(now: Present, series: Series) -> float:
    """Return the number by which alpha is divided."""
    return len(now.results.models) / (1 - series.spent)


def _about_evidence(now: Present, series: Series, log_e: float) -> list[Message]:
    goal = _divisor(now, series) / (1 - now.options.confidence)
    e = math.exp(min(log_e, 50.0))
    sentences = [Message("alarm.evidence", e=e, goal=round(goal), decimals=2 if e < 10 else 0)]
    if not isinstance(series.today, RunValue):
        sentences.append(Message("alarm.nothing_today", why=series.today))
    if series.assumed:
        sentences.append(Message("alarm.no_id"))
    return sentences


def _mean(values: Sequence[RunValue]) -> Message:
    decimals = decimals_of(value.error for value in values)
    return Message("night.mean", value=float(np.mean([value.value for value in values])), decimals=decimals)


def _cautions(rows: Sequence[AuditRecord]) -> list[WarningRecord]:
    """Warn of accepted runs that are few, or depend on each other."""
    compared = [row for row in rows if "accepted_nights" in row.details]
    few = [row for row in compared if row.details["accepted_nights"] < ENOUGH_ACCEPTED]
    dependent = [row for row in compared if row.details.get("lag1_p_value", 1.0) <= CORRELATED]
    found = []
    if few:
        least = int(min(row.details["accepted_nights"] for row in few))
        about = tuple(row.about for row in few)
        found.append(warning("few_accepted_nights", about=about, n=least, enough=ENOUGH_ACCEPTED))
    for row in dependent:
        r, p = row.details["lag1_correlation"], row.details["lag1_p_value"]
        found.append(warning("nights_depend", about=(row.about,), model=row.about, r=r, p=p, decimals=2))
    return found


def _evidence(
    now: Present,
    past: Past,
    look: int,
    change: HistoryRecord,
    quantity: Quantity,
    series: Series | Text,
) -> EvidenceRecord:
    """Return the record of a model's values on new examples."""
    plain = EvidenceRecord(
        model=change.model,
        metric=quantity.spelled,
        run=change.run,
        look=look,
        unit="example" if now.options.cluster is None else "cluster",
        n_new=0,
        n_since=0,
        level=now.options.confidence,
        accepted=tuple(run.id for run, _ in past.accepted),
        reason=None if isinstance(series, Series) else series,
        value=None,
        value_since=None,
        low=None,
        high=None,
    )
    if not isinstance(series, Series):
        return plain
    since = np.array([value.value for value in series.later])
    low, high = mean_limits(since, 1 - now.options.confidence) or (None, None)
    today = series.today if isinstance(series.today, RunValue) else None
    return replace(
        plain,
        n_new=0 if today is None else today.n,
        value=None if today is None else today.value,
        standard_error=None if today is None else today.error,
        n_since=sum(value.n for value in series.later),
        value_since=float(since.mean()),
        low=low,
        high=high,
        values_accepted=tuple(value.value for value in series.accepted),
        values_since=tuple(float(value) for value in since),
        reason=None if isinstance(series.today, RunValue) else series.today,
    )
