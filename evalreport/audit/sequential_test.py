"""The question whether a model became worse than at its accepted runs, answered at every run of a series.

Two rules share the permitted error. The one-run alarm compares this run with the accepted ones: on other examples by
its value, on the same examples pair by pair. The mixture beside it gathers evidence of a smaller change that lasts,
over the runs of other examples since. A limit that a gate declares for every night replaces both by bets against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.audit.evidence import drop_evidence, floor_evidence, mean_limits, serial_correlation
from evalreport.audit.past import (
    NewExamples,
    Past,
    answers_digest,
    evidence_kept,
    look_of,
    runs_with_same_accepted,
    shared_ids,
    year_of,
)
from evalreport.audit.run_alarm import (
    Comparison,
    compare_run,
    fall_midp,
    moved,
    one_sided,
    same_rows_between_runs,
    share_of_run,
)
from evalreport.audit.run_values import (
    LEAST_ACCEPTED,
    Measured,
    RunValue,
    Shares,
    class_shares,
    kept_value,
    value_on_new,
)
from evalreport.engine.distributions import t_quantile, t_tail
from evalreport.gates.conditions import Gate, wrong
from evalreport.gates.conditions import parse as parse_gate
from evalreport.history.run_differences import ModelChange, Present, change_on_shared
from evalreport.intervals.proportions import quantile
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity, definition, greater_is_better
from evalreport.numbers import decimals_of
from evalreport.predictions.arrays import Mask
from evalreport.predictions.table import Predictions
from evalreport.schema.audit import AuditRecord, EvidenceRecord, HistoryRecord
from evalreport.schema.metrics import limit_fields
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, parts, plain
from evalreport.warnings import with_warnings

LEAST_ROWS = 2
"""Rows (of a metric of classes: of the rarest class) below which a run is compared with nothing."""
LOOKS_A_YEAR = 365
SAME = 1e-9
"""Two values this near are one, but for rounding."""


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


@dataclass(frozen=True, slots=True)
class Spending:
    """What one run may spend of the permitted error.

    Attributes
    ----------
    t
        The number of this comparison in its year, counted from 1.
    models
        The most models of any run so far, among which the error is divided.
    alpha
        The permitted error of a year; each of the two rules has half of it.
    """

    t: int
    horizon: int
    models: int
    alpha: float

    def adjusted(self, p_value: float, *, models: int | None = None) -> float:
        """Return the p-value of a one-run comparison that is an alarm at or below alpha; not cut at 1."""
        return p_value * 2 * (self.models if models is None else models) / share_of_run(self.t, self.horizon)

    @property
    def level(self) -> float:
        """The p-value at or below which a run is alarming."""
        return self.alpha / 2 * share_of_run(self.t, self.horizon) / self.models


def spending_of(now: Present, past: Past) -> Spending:
    """Return what a run may spend; a run that repeats an earlier one's answers has that one's place."""
    before = _repeated(now, past)
    place = past.place if before is None else replace(past.place, before=before)
    models = max(place.models, len(now.results.models))
    return Spending(place.t, place.horizon, models, alpha=1 - now.options.confidence)


def _repeated(now: Present, past: Past) -> int | None:
    """Return how many comparisons came before the one that a run repeats, answer by answer; None: it is a new one."""
    if not on_same_examples(now, past):
        return None
    digest = answers_digest(now.predictions)
    for run in runs_with_same_accepted(past):
        kept = evidence_kept(run)
        if kept.get("answers") == digest and kept.get("compared"):
            return int(kept["compared"]) - 1
    return None


def on_same_examples(now: Present, past: Past) -> bool:
    """Return whether at least half of the examples are those of the newest accepted run."""
    reference = past.references.get("accepted")
    if reference is None:
        return False
    shared = shared_ids(now.predictions, reference.predictions)
    return shared is not None and bool(shared.mean() >= HALF)


def fall_on_same(found: ModelChange, quantity: Quantity, now: Present) -> float | None:
    """Return the one-sided p-value of a fall on the same examples; None where the change has no test."""
    lower_is_better = now.options.lower_is_better
    worse = is_worse(quantity, found.difference, lower_is_better=lower_is_better)
    between = now.options.between_runs
    if between is not None:
        if found.low is None or found.high is None or found.difference is None or found.n is None:
            return None
        error = (found.high - found.low) / 2 / quantile(now.options.confidence)
        fall = abs(found.difference) if worse else -abs(found.difference)
        return same_rows_between_runs(fall, error, found.n, between)
    if found.p_value is None or without_direction(quantity):
        return found.p_value
    return one_sided(found.p_value, worse=worse)


def _by_pairs(
    now: Present, look: int, change: HistoryRecord, quantity: Quantity, found: ModelChange, spending: Spending
) -> AuditRecord:
    """Compare this run's answers with those of the accepted run on the same examples."""
    row = _answer("worse", look, change, test=found.test, alarm=False)
    p = fall_on_same(found, quantity, now)
    if p is None:
        reason = found.reason or Message("spending.no_test")
        return replace(row, text=Message("audit.not_decided", why=reason), reason=reason)
    adjusted = min(1.0, spending.adjusted(p))
    worse = is_worse(quantity, found.difference, lower_is_better=now.options.lower_is_better)
    alarm = worse and adjusted <= spending.alpha
    verdict = "worse" if alarm else "not_worse"
    if found.difference and not worse:
        verdict = "better"
    promised = Message("alarm.promise_of_pairs", alpha=spending.alpha, horizon=spending.horizon)
    if now.options.between_runs is not None:
        promised = _promise_of_runs(spending, now.options.between_runs)
    said = Message(f"spending.said.{verdict}", p=p, level=spending.level, digits=2)
    moves = moved(p, 1.0 if without_direction(quantity) else 1 - p)
    details: dict[str, float] = {"t": spending.t, "horizon": spending.horizon, "moved": moves}
    details |= found.then_and_now
    if found.low is not None and found.high is not None:
        details |= {"change_low": found.low, "change_high": found.high}
    row = replace(row, effect="difference", effect_size=found.difference, alarm=alarm, details=details)
    return replace(row, p_value=p, p_adjusted=adjusted, text=parts(said, found.how, promised))


def _this_look(look: int, change: HistoryRecord) -> AuditRecord:
    """Return the plain test of this look, whose errors add up over looks; it raises no alarm."""
    row = _answer("worse_this_run", look, change, test=change.test, alarm=False)
    text = Message("audit.this_look", change=change.text)
    if change.reason is not None:
        text = Message("audit.reason_alone", why=change.reason)
    row = replace(row, effect="difference", effect_size=change.difference, **limit_fields(change))
    return replace(row, p_value=change.p_value, text=text, reason=change.reason)


def _answer(question: str, look: int, change: HistoryRecord, *, test: str | None, alarm: bool) -> AuditRecord:
    """Return a record about a model with the other fields empty."""
    about, run = change.model, change.run
    return AuditRecord(
        question=question, about=about, run=run, look=look, test=test, alarm=alarm, text=plain("")
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


HALF = 0.5
"""Share of a run's examples that are those of the accepted run, from which on these are compared pair by pair."""
ENOUGH_ACCEPTED = 3
"""Accepted runs from which on a fall right after them is found soon."""
CORRELATED = 0.05
"""The p-value at which a warning says that the accepted runs depend on each other."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model's values on new examples: of the accepted runs, and of the runs since.

    Attributes
    ----------
    accepted
        The accepted runs' values.
    later, looks
        The values since the accepted runs, this run's included, and the look of each.
    today
        This run's value, or the reason why it has none.
    left_out
        The number of accepted runs without new examples of their own.
    assumed
        Examples are taken as new because they have no ids.
    """

    accepted: tuple[Measured, ...]
    later: tuple[RunValue, ...]
    looks: tuple[int, ...]
    today: Measured | Text
    left_out: int
    assumed: bool


def worse_than_accepted(now: Present, past: Past) -> Results:
    """Answer for every model whether it is worse than at the accepted runs, by this run and over the runs since."""
    reference, new = past.references.get("accepted"), past.new_examples
    if reference is None or new is None:
        return now.results
    quantity = parse(now.results.shown_metric, now.predictions.task, now.results.classes)
    floors = _declared_floors(now, quantity)
    spending, same = spending_of(now, past), on_same_examples(now, past)
    rows: list[AuditRecord] = []
    evidence: list[EvidenceRecord] = []
    for change in now.results.history:
        if change.reference != reference.name or change.status == "gone":
            continue
        series = _series(now, past, new, change, quantity, same=same)
        if isinstance(series, Series):
            if change.model in floors:
                row = _against_floor(now, past, new.look, change, series, floors[change.model])
            else:
                row = _against_accepted(now, new.look, change, quantity, series, spending)
        elif same:
            shared = change_on_shared(reference, now, change.model, quantity)
            row = _by_pairs(now, new.look, change, quantity, shared, spending)
        else:
            row = _answer("worse", new.look, change, test=None, alarm=False)
            row = replace(row, text=Message("audit.not_decided", why=series), reason=series)
        evidence.append(_evidence(now, past, new.look, change, quantity, series))
        rows += [row, _this_look(new.look, change)]
    placed = _with_place(evidence, rows, now, past, new, same=same)
    results = replace(now.results, audit=(*now.results.audit, *rows), evidence=placed)
    looked = ("few_accepted_nights", "nights_depend", "runs_differ") if rows else ()
    return with_warnings(results, _cautions(rows), looked=looked)


def _with_place(
    evidence: list[EvidenceRecord],
    rows: Sequence[AuditRecord],
    now: Present,
    past: Past,
    new: NewExamples,
    *,
    same: bool,
) -> tuple[EvidenceRecord, ...]:
    """Add the place of the run in its series, and what later runs know it by, to the first model's record."""
    if not evidence:
        return ()
    compared = any(row.question == "worse" and row.p_value is not None for row in rows)
    unchanged = all(row.status == "same" for row in now.results.history if row.reference == "accepted")
    moves = compared and not unchanged and _repeated(now, past) is None
    horizon = past.place.horizon if compared else None
    answers = answers_digest(now.predictions) if same else None
    first = replace(evidence[0], id_sample=new.sample, compared=past.place.before + moves)
    return (replace(first, horizon=horizon, answers=answers), *evidence[1:])


def _series(
    now: Present, past: Past, new: NewExamples, change: HistoryRecord, quantity: Quantity, *, same: bool
) -> Series | Text:
    """Collect a model's values on new examples, or return the reason why there are none."""
    if change.value is None and change.reason is not None:
        return change.reason
    if same:
        return Message("night.same_examples")
    runs = accepted_runs(now, past, new)
    shares = class_shares([(own, rows) for own, _, rows in runs], now.options)
    today: Measured | Text = new.reason or value_on_new(
        now.predictions, change.model, quantity, now.options, new.new, shares=shares
    )
    if not new.new.any() and new.reason is None:
        today = Message("night.all_seen")
    kept = [
        (look_of(run), kept_value(run, change.model, quantity))
        for run in runs_with_same_accepted(past)
        if year_of(run, past.place) == past.place.year
    ]
    later = [(look, value) for look, value in kept if value is not None]
    if isinstance(today, Measured):
        later.append((new.look, today.value))
    elif not later:
        return today
    series = accepted_values(now, runs, change.model, quantity, shares)
    accepted = tuple(value for value in series if isinstance(value, Measured))
    if not accepted:
        why = next((value for value in series if not isinstance(value, Measured)), Message("night.lost"))
        return Message("night.none_accepted", why=why)
    looks, values = zip(*later, strict=True)
    return Series(accepted, values, looks, today, len(past.accepted) - len(accepted), new.assumed)


AcceptedRun = tuple[Predictions, Mask, Mask]
"""An accepted run: its predictions, which examples no run before it held, and which rows count."""


def accepted_runs(
    now: Present, past: Past, new: NewExamples, within: Callable[[Predictions], Mask | None] | None = None
) -> list[AcceptedRun]:
    """Return the accepted runs of the same task whose predictions are kept, with the rows that count.

    Parameters
    ----------
    within
        Returns the rows of a slice in an accepted run; None: it has none there.
    """
    alike = (now.predictions.task, now.predictions.positive)
    accepted = []
    for (_, own), mask in zip(past.accepted, new.in_accepted, strict=True):
        if own is None or mask is None or (own.task, own.positive) != alike:
            continue
        rows = mask[own.example]
        inside = rows if within is None else within(own)
        if inside is not None:
            accepted.append((own, mask, rows & inside))
    return accepted


def accepted_values(
    now: Present, runs: Sequence[AcceptedRun], model: str, quantity: Quantity, shares: Shares | None
) -> list[Measured | Text]:
    """Return a model's value at each accepted run, on the examples that no run before it held, or why it has none."""
    value = partial(value_on_new, model=model, quantity=quantity, options=now.options, least=LEAST_ACCEPTED)
    return [value(own, new=mask, within=rows, shares=shares) for own, mask, rows in runs]


def compare_values(accepted: Sequence[Measured], today: Measured, now: Present) -> Comparison | Text:
    """Compare a run's value with those of the accepted runs, or return the reason why that cannot be."""
    every = (*accepted, today)
    least_n = min(value.least_n for value in every)
    if any(value.from_interval is None for value in every):
        return Message("night.no_interval")
    if least_n < LEAST_ROWS:
        return Message("night.too_rare", n=least_n)
    rise = today.value.compared[0] > float(np.mean([v.value.compared[0] for v in accepted]))
    return compare_run(
        [(v.value.compared[0], v.accepted_error(rise=rise)) for v in accepted],
        (today.value.compared[0], today.error_now),
        of=today.scale,
        least_n=least_n,
        between_runs=now.options.between_runs,
        exact_p_value=_exact(accepted, today, rise=rise),
    )


def change_limits(
    accepted: Sequence[Measured], today: Measured, by: Comparison, confidence: float
) -> tuple[float, float]:
    """Return limits of a run's value less the mean of the accepted ones, with what runs differ by themselves.

    The distances of the values from their limits are squared and added; a fall has the error of the alarm.
    """
    change, count = today.value.value - _mean_value(accepted), len(accepted)
    between = by.between**2 * (1 + 1 / count)
    least, greatest = today.scale.least, today.scale.greatest

    def distance(own: float, others: Sequence[float]) -> float:
        error = math.sqrt(own**2 + math.fsum(x**2 for x in others) / count**2 + between)
        return error * t_quantile((1 + confidence) / 2, by.df)

    low = change - distance(today.below, [v.above for v in accepted])
    high = change + distance(today.above, [v.below for v in accepted])
    return max(low, least - greatest), min(high, greatest - least)


def _mean_value(values: Sequence[Measured]) -> float:
    return math.fsum(v.value.value for v in values) / len(values)


def _moves(value: RunValue) -> bool:
    """Say whether a value is another one at the accepted shares of the classes."""
    return abs(value.compared[0] - value.value) > SAME * max(abs(value.value), 1.0)


def _exact(accepted: Sequence[Measured], today: Measured, *, rise: bool) -> float | None:
    """Return the p-value of a share's change for the worse by Fisher's test; None: another metric."""
    strata, own = [value.strata for value in accepted if value.strata is not None], today.strata
    if own is None or len(strata) < len(accepted):
        return None
    if len(own) == 1 and any(_moves(value.value) for value in (*accepted, today)):
        return None  # such as precision: which of the examples count depends on the classes
    if any(other.shape != own.shape for other in strata):
        strata, own = [other.sum(axis=0, keepdims=True) for other in strata], own.sum(axis=0, keepdims=True)
    then, now = np.sum(strata, axis=0), own
    better = today.scale.greater_is_better
    if rise if better is None else not better:  # the failures fall
        then, now = (np.column_stack([n - x, n]) for x, n in (then.T, now.T))
    p = fall_midp(then, now)
    return p if better is not None else min(1.0, 2 * p)


def _against_accepted(
    now: Present, look: int, change: HistoryRecord, quantity: Quantity, series: Series, spending: Spending
) -> AuditRecord:
    """Compare this run's value with the accepted ones, and the values since with them."""
    today = series.today
    one = compare_values(series.accepted, today, now) if isinstance(today, Measured) else today
    log_e, start = _evidence_of_change(now, quantity, series, spending.horizon)
    e = math.exp(min(log_e, 700.0))
    lasting = min(1.0, 2 * spending.models / e)
    alone = min(1.0, spending.adjusted(one.p_value)) if isinstance(one, Comparison) else None
    by_run = alone is not None and alone <= lasting
    alarm = min(lasting, 1.0 if alone is None else alone) <= spending.alpha
    row = _answer("worse", look, change, test="run_alarm" if by_run else "night_alarm", alarm=alarm)
    unit = "examples" if now.options.cluster is None else "clusters"
    then = [v.value for v in series.accepted]
    correlation = serial_correlation(np.array([value.compared[0] for value in then]))
    value, statistic, p_value = float(np.mean([v.value for v in series.later])), e, min(1.0, 1 / e)
    promised, reason = promise(now.options.confidence), None if isinstance(one, Comparison) else one
    if isinstance(one, Comparison) and isinstance(today, Measured):
        promised = _promise_of_runs(spending, one.promised)
        if by_run:
            value, statistic, p_value = today.value.value, one.z, one.p_value
    return replace(
        row,
        statistic=statistic,
        p_value=p_value,
        p_adjusted=alone if by_run else lasting,
        effect="difference",
        effect_size=value - float(np.mean([v.value for v in then])),
        details=_details(series, spending, one, e, start, correlation, confidence=now.options.confidence),
        text=parts(
            _finding(change, series, one, start, spending, alarm=alarm, by_run=by_run, unit=unit),
            *_about_shares(series, one),
            *_about_evidence(series, e, 2 * spending.models / spending.alpha, "alarm.evidence"),
            promised,
        ),
        reason=reason,
    )


def _details(
    series: Series,
    spending: Spending,
    one: Comparison | Text,
    e: float,
    start: int,
    correlation: tuple[float, float] | None,
    *,
    confidence: float,
) -> dict[str, float]:
    details: dict[str, float] = {"accepted_nights": len(series.accepted), "nights": len(series.later)}
    details |= {"change_look": series.looks[start], "t": spending.t}
    details |= {"horizon": spending.horizon, "evidence": e}
    details |= _then_and_now(series)
    if isinstance(one, Comparison) and isinstance(series.today, Measured):
        low, high = change_limits(series.accepted, series.today, one, confidence)
        if _shares_matter(series, series.today):
            details["now_at_shares"] = series.today.value.compared[0]
        details |= {"change_low": low, "change_high": high, "reference": one.reference}
        details |= {"moved": moved(one.p_value, t_tail(-one.z, one.df)), "z": one.z, "df": one.df}
        details |= {"p_run": one.p_value, "between_runs": one.between, "least_between_runs": one.least}
        if one.estimated is not None:
            details["estimated_between_runs"] = one.estimated
    if correlation is not None:
        details |= {"lag1_correlation": correlation[0], "lag1_p_value": correlation[1]}
    return details


def _then_and_now(series: Series) -> dict[str, float]:
    """Return the mean of the accepted values and this run's value, where it has one."""
    if not isinstance(series.today, Measured):
        return {}
    return {"then": _mean_value(series.accepted), "now": series.today.value.value}


def _finding(
    change: HistoryRecord,
    series: Series,
    one: Comparison | Text,
    start: int,
    spending: Spending,
    *,
    alarm: bool,
    by_run: bool,
    unit: str,
) -> Message:
    """Say what was found: of this run, or of the runs since a change began."""
    earlier = Message("alarm.accepted", n=len(series.accepted))
    if series.left_out:
        earlier = Message("alarm.accepted_but", accepted=earlier, n=series.left_out)
    known = {"metric": change.metric, "then": _mean([v.value for v in series.accepted]), "accepted": earlier}
    if isinstance(one, Comparison) and isinstance(series.today, Measured) and (by_run or not alarm):
        key = "alarm.run_worse" if alarm else "alarm.run_not_worse"
        now = _mean([series.today.value])
        units = Message(f"alarm.new_{unit}", n=series.today.value.n)
        return Message(key, now=now, units=units, p=one.p_value, level=spending.level, digits=2, **known)
    recent = series.later[start if alarm else 0 :]
    nights = Message("alarm.nights", n=len(recent))
    key = "alarm.worse" if alarm else "alarm.not_worse"
    return Message(key, now=_mean(recent), nights=nights, look=series.looks[start], **known)


def _shares_matter(series: Series, today: Measured) -> bool:
    """Say whether the comparison with the accepted runs is another one at their shares of the classes."""
    return _moves(today.value) or any(_moves(value.value) for value in series.accepted)


def _about_shares(series: Series, one: Comparison | Text) -> list[Message]:
    """Return the values that are compared, where the shares of the classes moved the others."""
    if not isinstance(one, Comparison) or not isinstance(series.today, Measured):
        return []
    if not _shares_matter(series, series.today):
        return []
    now, then = series.today.value.compared[0], one.reference
    decimals = decimals_of([one.standard_error])
    return [Message("alarm.at_shares", now=now, then=then, decimals=decimals)]


def _promise_of_runs(spending: Spending, between: float) -> Message:
    """Return the sentence about the error rate of the alarm, and its condition."""
    return Message(
        "alarm.promise", alpha=spending.alpha, horizon=spending.horizon, between=between, decimals=3
    )


def promise(confidence: float) -> Message:
    """Return the sentence about the error rate of the alarm without the figures of one run."""
    return Message("alarm.promise_of_series", alpha=1 - confidence)


def _evidence_of_change(now: Present, quantity: Quantity, series: Series, horizon: int) -> tuple[float, int]:
    """Return log e of a change for the worse, and the number of later values before its likeliest beginning."""
    every = (*(v.value for v in series.accepted), *series.later)
    values, later = np.array([v.compared[0] for v in every]), [v.compared[1] for v in series.later]
    better = greater_is_better(quantity, lower_is_better=now.options.lower_is_better)
    signs = (1.0, -1.0) if without_direction(quantity) else (1.0,) if better else (-1.0,)
    found = []
    for sign in signs:
        # A small accepted run that is perfect has no spread of its own.
        accepted = [v.accepted_error(rise=sign < 0) for v in series.accepted]
        then, since = np.split(sign * values, [len(accepted)])
        log_e, start = drop_evidence(then, since, np.array([*accepted, *later]), horizon=horizon)
        found.append((float(log_e), int(start)))
    return float(np.logaddexp.reduce([log_e for log_e, _ in found])) - math.log(len(found)), max(found)[1]


def _against_floor(
    now: Present, past: Past, look: int, change: HistoryRecord, series: Series, floor: Floor
) -> AuditRecord:
    """Bet against the declared floor, which needs no independence of the runs."""
    values = np.array([value.value for value in series.later])
    log_e = floor_evidence(values, floor.value, floor.best)
    e = math.exp(min(log_e, 700.0))
    # Pairs of the same examples at an earlier run had half of the error.
    paired = any(evidence_kept(run).get("answers") for run in past.runs)
    divisor = max(past.place.models, len(now.results.models)) * (2 if paired else 1)
    alpha = 1 - now.options.confidence
    adjusted = min(1.0, divisor / e)
    row = _answer("worse", look, change, test="night_bet", alarm=adjusted <= alpha)
    said = {"floor": floor.text, "metric": change.metric, "now": _mean(series.later)}
    nights = Message("alarm.nights", n=len(values))
    finding = Message("alarm.beyond" if row.alarm else "alarm.not_beyond", nights=nights, **said)
    promised = Message("alarm.promise_of_floor", alpha=alpha)
    return replace(
        row,
        statistic=e,
        p_value=min(1.0, 1 / e),
        p_adjusted=adjusted,
        effect="from_floor",
        effect_size=float(values.mean()) - floor.value,
        details={"nights": len(values), **_then_and_now(series)},
        text=parts(finding, *_about_evidence(series, e, divisor / alpha, "alarm.evidence_of_bets"), promised),
    )


def _about_evidence(series: Series, e: float, goal: float, key: str) -> list[Message]:
    sentences = [Message(key, e=e, goal=round(goal), decimals=2 if e < 10 else 0)]
    if not isinstance(series.today, Measured):
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
    unlike = [
        row
        for row in compared
        if row.details.get("estimated_between_runs", 0.0) > row.details.get("least_between_runs", math.inf)
        and row.details["between_runs"] <= row.details["estimated_between_runs"]
    ]
    cautions = []
    if few:
        least = int(min(row.details["accepted_nights"] for row in few))
        about = tuple(row.about for row in few)
        cautions.append(warning("few_accepted_nights", about=about, n=least, enough=ENOUGH_ACCEPTED))
    for row in dependent:
        r, p = row.details["lag1_correlation"], row.details["lag1_p_value"]
        cautions.append(warning("nights_depend", about=(row.about,), model=row.about, r=r, p=p, decimals=2))
    for row in unlike:
        estimated, allowed = row.details["estimated_between_runs"], row.details["least_between_runs"]
        about = (row.about,)
        cautions.append(
            warning("runs_differ", about=about, model=row.about, found=estimated, allowed=allowed, decimals=3)
        )
    return cautions


def _newest_error(series: Series) -> float:
    if isinstance(series.today, Measured) and series.today.from_interval is not None:
        return series.today.from_interval
    return series.later[-1].error


def _evidence(
    now: Present, past: Past, look: int, change: HistoryRecord, quantity: Quantity, series: Series | Text
) -> EvidenceRecord:
    """Return the record of a model's values on new examples."""
    plain = EvidenceRecord(
        model=change.model,
        metric=quantity.spelled,
        run=change.run,
        look=look,
        unit="example" if now.options.cluster is None else "cluster",
        level=now.options.confidence,
        accepted=tuple(run.id for run, _ in past.accepted),
        reason=None if isinstance(series, Series) else series,
    )
    if not isinstance(series, Series):
        return plain
    since = np.array([value.value for value in series.later])
    low, high = mean_limits(since, 1 - now.options.confidence) or (None, None)
    today = series.today.value if isinstance(series.today, Measured) else None
    return replace(
        plain,
        n_new=0 if today is None else today.n,
        value=None if today is None else today.value,
        standard_error=None if today is None else today.error,
        at_shares=() if today is None else today.at_shares or (),
        n_since=sum(value.n for value in series.later),
        value_since=float(since.mean()),
        low=low,
        high=high,
        values_accepted=tuple(v.value.value for v in series.accepted),
        values_since=tuple(float(value) for value in since),
        errors_accepted=tuple(v.from_interval or v.value.error for v in series.accepted),
        errors_since=(*(v.error for v in series.later[:-1]), _newest_error(series)),
        reason=None if isinstance(series.today, Measured) else series.today,
    )
