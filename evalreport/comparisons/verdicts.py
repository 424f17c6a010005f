"""The verdict on each pair, in the terms of a reader: better, equivalent, non-inferior or undecided."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from evalreport.comparisons.decisions import Decision, decisions_of
from evalreport.comparisons.equivalence import room_within
from evalreport.comparisons.fits import trained_once
from evalreport.comparisons.pairs import Comparison, oriented, tested_difference
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.comparisons.sample_size import POWER, detectable_difference, examples_needed
from evalreport.comparisons.spending import error_of_second_look
from evalreport.comparisons.test_needs import lacks
from evalreport.engine.distributions import normal_quantile
from evalreport.metrics.difference import Difference
from evalreport.metrics.evidence import PredictionPowered
from evalreport.metrics.metric import Ranks
from evalreport.metrics.registry import Quantity, definition
from evalreport.numbers import decimals_of, to_digits
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.records import LookRecord
from evalreport.questions.thresholds.records import DominanceRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import CUT, DetectableRecord, Verdict, VerdictRecord
from evalreport.schema.metrics import COMPANIONS, Interval, limit_fields
from evalreport.texts import Message, Text, sentences, shortened

MOST_RATES = 3
"""Crossings of two curves that a verdict names."""


def verdict_records(
    decisions: Sequence[Decision],
    predictions: Predictions,
    options: Options,
    dominance: Sequence[DominanceRecord],
    *,
    look: LookRecord | None,
    alpha: float | None,
) -> tuple[VerdictRecord, ...]:
    """Return the verdict of each pair on the primary metric.

    Where the metric is an area under a curve and the pair's curves cross, the sentence says so: an area settles nothing
    for one operating point. Where a model was trained with one seed, it says that the verdict is about the models as
    they were trained. The verdict itself stays that of the declared metric's test.

    Parameters
    ----------
    look
        This look, where the comparison may be repeated; ``options`` then have one minus its level.
    alpha
        The error of all looks together, for which examples are planned (default: that of ``options``).
    """
    crossing = {frozenset((record.a, record.b)): record for record in dominance if record.decided}
    verdicts = []
    decided = sum(decision.decided for decision in decisions)
    for decision in decisions:
        record, notes = verdict(decision, options, alpha, decided=decided), list[Text]()
        if look is not None:
            record = _at_look(record, decision, look)
        if decision.kept is not None:
            then, now = decision.kept, predictions.n_examples
            notes.append(Message("verdict.decided_at", look=then.decided_at, n=then.n, now=now))
        curves = crossing.get(frozenset(record.about))
        computation = definition(decision.comparison.quantity).computation
        if curves is not None and isinstance(computation, Ranks) and computation.area:
            notes.append(_crossing(curves, settled=record.verdict in ("better", "worse")))
        pair = decision.comparison.pair
        once = None if pair is None else trained_once(pair, predictions)
        if once is not None:
            notes.append(once)
        verdicts.append(replace(record, text=sentences(record.text, *notes)) if notes else record)
    return tuple(verdicts)


def second_verdicts(
    compared: Sequence[Comparison],
    rows: Sequence[ComparisonRecord],
    decisions: Sequence[Decision],
    task: str,
    options: Options,
    at_half: Collection[str] = (),
) -> tuple[VerdictRecord, ...]:
    """Decide the pairs on the metric that a reader asks for next, as a family of its own; none with a blocker.

    That is no metric of labels where some model's are its probabilities cut at 0.5 (``at_half``): nobody chose that.
    """
    primary = decisions[0].comparison.quantity if decisions else None
    own = replace(options, margin=None)  # a margin is in the primary metric's units
    p_values = {
        (row.a, row.b, Quantity.of(row)): row.p_value for row in rows if row.recommended and row.slice is None
    }
    for name in COMPANIONS.get(task, ()) if decisions else ():
        family = [
            c
            for c in compared
            if c.quantity != primary
            and c.quantity.metric == name
            and c.quantity.average in (None, "macro")
            and definition(c.quantity).display.headline
            and not (at_half and definition(c.quantity).needs == "labels")
        ]
        if family:
            found = decisions_of(family, [p_values.get((c.a, c.b, c.quantity)) for c in family], own)
            return tuple(verdict(decision, own) for decision in found)
    return ()


def _at_look(record: VerdictRecord, decision: Decision, look: LookRecord) -> VerdictRecord:
    """Say at which look a pair was decided; of an earlier one also by how much, and on how many examples."""
    kept = decision.kept
    if kept is not None:
        return replace(record, decided_at=kept.decided_at, difference=kept.difference, n=kept.n)
    return record if record.verdict == "undecided" else replace(record, decided_at=look.look)


def verdict(
    decision: Decision, options: Options, alpha: float | None = None, *, decided: int = 0
) -> VerdictRecord:
    """Return the verdict on one pair, by the table in docs/how-to-choose-a-test.md.

    ``alpha`` is the level for which further examples are planned (default: that of ``options``), ``decided`` how many
    pairs of the family are decided, so that Holm's step of this pair is over the others.
    """
    c = decision.comparison
    planned = 1 - options.confidence if alpha is None else alpha
    detectable = None if decision.decided else _detectable(decision, options, planned, decided)
    kind, text = _words(decision, detectable, options)
    limits = decision.limits
    return VerdictRecord(
        about=(c.a, c.b),
        metric=c.quantity.spelled,
        verdict=kind,
        level=options.confidence if limits is None else limits.level,
        **limit_fields(limits),
        method=None if limits is None or limits.low is None else limits.method,
        text=text,
        detectable=detectable if kind == "undecided" else None,
    )


def _words(
    decision: Decision, detectable: DetectableRecord | None, options: Options
) -> tuple[Verdict, Message]:
    c, margin, limits = decision.comparison, options.margin, decision.limits
    who = {"a": c.a, "b": c.b}
    if c.pair is not None and limits is not None and margin is not None and room_within(limits, margin) >= 0:
        how = "but_different" if decision.decided else "within"
        return "equivalent", Message(f"verdict.equivalent.{how}", **who, margin=margin)
    if c.pair is not None and limits is not None and decision.decided:
        kind: Verdict = "better" if decision.favours > 0 else "worse"
        return kind, _better(kind, decision, c.pair, limits, options)
    least = None if c.pair is None or limits is None else oriented_limits(c.pair, limits, options, of=1).low
    if margin is not None and least is not None and least > -margin:
        return "non-inferior", Message("verdict.non_inferior", **who, margin=margin)
    if c.pair is None or limits is None or decision.p_adjusted is None:
        missing = None if c.pair is None else lacks(c.pair, c.recommended_test)
        why = missing or c.reason or Message("reason.no_p_value")
        return "undecided", Message("verdict.not_comparable", **who, why=why)
    return "undecided", _undecided(decision, c.pair, limits, detectable, options)


def oriented_limits(pair: Pair, limits: Interval, options: Options, *, of: int) -> Interval:
    """Return the limits of a - b as the limits of one model's advantage (1: the first, -1: the second)."""
    if oriented(pair.difference, of, options) > 0:
        return limits
    low, high = (None if limit is None else 0.0 - limit for limit in (limits.high, limits.low))
    return replace(limits, low=low, high=high)


def _interval(
    where: str, decision: Decision, limits: Interval, options: Options, **params: object
) -> Message:
    """Name the pair's one interval, and for which pairs its level holds: this one, all, or the decided ones."""
    if limits.low is None or limits.high is None:
        return Message(f"{where}.none")
    if (limits.method or "").endswith(CUT):
        return Message(f"{where}.cut")
    params |= {"level": options.confidence, "limits": (limits.low, limits.high)}
    if decision.family < 2 or options.correction == "none":
        return Message(f"{where}.of_one_pair", **params)
    if options.correction == "bh":
        return Message(f"{where}.of_decided_pairs", **params)
    return Message(f"{where}.of_all_pairs", **params, n_pairs=decision.family)


def _interval_then(found: Interval, decimals: int) -> Message:
    """Name the interval of an earlier look, at the level that it had."""
    if found.low is None or found.high is None:
        return Message("interval_beside.none")
    limits = (found.low, found.high)
    return Message("interval_beside.of_one_pair", level=found.level, limits=limits, decimals=decimals)


def _better(kind: Verdict, decision: Decision, pair: Pair, limits: Interval, options: Options) -> Message:
    c, margin = decision.comparison, options.margin
    found = oriented_limits(pair, limits, options, of=decision.favours)
    decimals, then = decimals_of([pair.difference.standard_error]), decision.kept
    params: dict[str, object] = {
        "a": c.a,
        "b": c.b,
        "metric": pair.difference.metric.display.phrase,
        "difference": abs(tested_difference(pair, c.recommended_test) if then is None else then.difference),
        "decimals": decimals,
        "interval": _interval("interval_beside", decision, found, options, decimals=decimals),
        "p": decision.p_adjusted,
    }
    if then is not None:
        params["interval"] = _interval_then(found, decimals)
        return Message(f"verdict.{kind}.then", **params)
    if found.low is None or margin is None:
        return Message(f"verdict.{kind}.at_all", **params)
    how = "by_the_margin" if found.low > margin else "perhaps_by_less"
    return Message(f"verdict.{kind}.{how}", **params, margin=margin)


def _undecided(
    decision: Decision, pair: Pair, limits: Interval, detectable: DetectableRecord | None, options: Options
) -> Message:
    c = decision.comparison
    decimals = decimals_of([pair.difference.standard_error])
    further = [_interval("interval_between", decision, limits, options, a=c.a, b=c.b, decimals=decimals)]
    if decision.p_adjusted is not None and decision.p_adjusted <= 1 - options.confidence:
        further.append(Message("detectable.other_direction", p=decision.p_adjusted))
    further.append(_detectable_in_words(pair, detectable, decimals))
    metric = pair.difference.metric.display.phrase
    return Message("verdict.undecided", a=c.a, b=c.b, metric=metric, further=tuple(further))


def _detectable(decision: Decision, options: Options, alpha: float, decided: int) -> DetectableRecord | None:
    """Return the smallest detectable difference; None where nothing varies, or there is no test or standard error."""
    pair = decision.comparison.pair
    if pair is None or decision.limits is None or decision.p_adjusted is None:
        return None
    error = alpha
    alpha /= 1 if options.correction == "none" else max(decision.family, 1)
    delta = pair.difference
    clusters, evidence = delta.sampling.clusters, delta.evidence
    shown, needed = _shown(decision, delta, options, decided), examples_needed(delta, alpha)
    if shown is None or (delta.over_datasets and decision.limits.low is None):
        return None  # so few data sets can show nothing
    unit: Literal["examples", "clusters", "judged", "datasets"] = "examples"
    gold = None
    if delta.over_datasets:
        unit = "datasets"
    elif isinstance(evidence, PredictionPowered):
        unit = "judged"
    elif options.cluster is not None and clusters:
        unit = "clusters"
    present = delta.sampling.n_units if delta.over_datasets else delta.sampling.n_examples
    if needed is not None and delta.sampling.two_sets and _by_interval(decision):
        # Limits of RMSE, squared and added, are wider than its standard error at any n.
        needed = max(
            needed, math.ceil(present * (_by_limits(delta, decision.limits, alpha) / delta.value) ** 2)
        )
    if needed is None or needed <= present:
        return DetectableRecord(difference=shown, unit=unit)
    if isinstance(evidence, PredictionPowered):
        gold = _rounded(max(round(needed * evidence.gold / delta.sampling.n_examples), 1))
    twice = error_of_second_look(present, needed, error)
    planned, of_each = needed, None
    if delta.sampling.two_sets and unit == "examples":
        first, second = (
            _rounded(math.ceil(needed * s.n_examples / present)) for s in (delta.a.sampling, delta.b.sampling)
        )
        of_each, needed = (first, second), first + second
    else:
        needed = _rounded(needed)
    if unit == "clusters" and clusters:
        needed = _rounded(math.ceil(planned * clusters / delta.sampling.n_examples))
    return DetectableRecord(
        difference=shown, unit=unit, needed=needed, gold=gold, of_each=of_each, second_look=twice
    )


def _shown(decision: Decision, delta: Difference, options: Options, decided: int) -> float | None:
    """Return the difference that the pair's test shows with a probability of 0.8: by this look's level and Holm's step.

    By the limits where these decide, and where 2.8 standard errors are no more than the undecided difference.
    """
    pairs = decision.family - decided if options.correction == "holm" else decision.family
    level = (1 - options.confidence) / (1 if options.correction == "none" else max(pairs, 1))
    shown = detectable_difference(delta, level)
    if shown is None or decision.limits is None:
        return shown
    if _by_interval(decision) or shown <= abs(delta.value):
        return _by_limits(delta, decision.limits, level)
    return shown


def _by_interval(decision: Decision) -> bool:
    return TESTS[decision.comparison.recommended_test].needs == "interval"


def _by_limits(delta: Difference, limits: Interval, alpha: float) -> float:
    """Return the difference that these examples show with a probability of 0.8, by the limits that decide.

    The estimate has to be as far from 0 as its limit on that side lies from it, at this pair's own level, and exceeds
    that in 80 % of samples where the true difference is z(0.8) standard errors larger. An undecided pair's observed
    difference is always smaller.
    """
    error = delta.standard_error
    if limits.low is None or limits.high is None or error is None:
        return abs(delta.value)
    sides = {1: delta.value - limits.low, -1: limits.high - delta.value}
    side = sides[1 if delta.value > 0 else -1] if delta.value else max(sides.values())
    side *= normal_quantile(1 - alpha / 2) / normal_quantile((1 + limits.level) / 2)
    return max(side, abs(delta.value)) + normal_quantile(POWER) * error


def _detectable_in_words(pair: Pair, found: DetectableRecord | None, decimals: int) -> Message:
    """Name the smallest detectable difference; or say that nothing varies or there is no standard error."""
    if found is None:
        if pair.difference.over_datasets and pair.difference.standard_error:
            return Message("detectable.nothing")
        if pair.difference.agreement is not None:
            return Message("detectable.same_answers")
        unknown = pair.difference.standard_error is None
        return Message("detectable.no_standard_error" if unknown else "detectable.no_variation")
    size: dict[str, object] = {"difference": found.difference, "decimals": decimals}
    if found.needed is None:
        return Message("detectable.difference", **size)
    if found.gold is not None:
        size["gold"] = found.gold
    if found.of_each is not None:
        first, second = found.of_each
        sets = {"a": pair.a.model, "b": pair.b.model, "of_a": first, "of_b": second}
        return Message("detectable.difference_and_two_sets", **size, **sets)
    return Message(f"detectable.difference_and_{found.unit}", **size, needed=found.needed)


def _rounded(n: int) -> int:
    """Round a planned number of examples up to two digits: it is an order of magnitude."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step


def _crossing(record: DominanceRecord, *, settled: bool) -> Message:
    """Return the sentence for a verdict on an area whose curves cross clearly."""
    rates = shortened([to_digits(rate) for rate in record.clear_crossings], MOST_RATES)
    return Message("verdict.not_at_every_point" if settled else "verdict.no_overall_winner", rates=rates)
