"""The one decision table: it feeds the verdicts, the letters, the pairwise table and the sentence on top.

The family is {primary metric x pairs x recommended test}; every other p-value is exploratory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalreport.comparisons.decisions import (
    NO_INTERVAL,
    adjust,
    agreeing,
    decides,
    level_of_each,
    room_within,
    smallest_alpha,
    tost,
)
from evalreport.comparisons.pairs import (
    Comparison,
    family_caution,
    interval_for,
    oriented,
    records,
    tested_difference,
)
from evalreport.comparisons.registry import Pair
from evalreport.comparisons.sample_size import detectable_difference, examples_needed
from evalreport.comparisons.test_selection import lacks
from evalreport.config import Correction, Options
from evalreport.numbers import decimals_of
from evalreport.records import ComparisonRecord, Interval, Verdict, VerdictRecord
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """What is settled of one pair.

    Attributes
    ----------
    limits
        The pair's one interval, which excludes 0 exactly where the pair is decided; None without a pair.
    decided
        Adjusted p-value of the recommended test at or below alpha, in the direction of the difference; ``favours``
        says whom that favours (1: a, -1: b).
    family
        How many pairs were tested; 0 where the decision is withheld.
    """

    comparison: Comparison
    p_adjusted: float | None
    limits: Interval | None
    decided: bool
    favours: int
    family: int


def family_records(
    family: Sequence[Comparison], options: Options
) -> tuple[list[ComparisonRecord], list[Decision]]:
    """Run the family's tests, adjust the recommended ones, and decide.

    Parameters
    ----------
    family
        The primary metric's comparisons, one a pair.

    Returns
    -------
    records, decisions
        Records of all tests of the family, equivalence tests included, in order; one decision a pair.
    """
    by_pair = [records(comparison, options, primary=True) for comparison in family]
    # Where the leading test has no p-value, its reason is the verdict's.
    family = [
        replace(comparison, reason=comparison.reason or rows[0].reason)
        for comparison, rows in zip(family, by_pair, strict=True)
    ]
    decisions = decisions_of(family, [rows[0].p_value for rows in by_pair], options)
    known = [decision.p_adjusted for decision in decisions if decision.p_adjusted is not None]
    written = []
    for comparison, decision, rows in zip(family, decisions, by_pair, strict=True):
        p = decision.p_adjusted
        rows[0] = replace(
            rows[0], p_adjusted=p, correction=options.correction, caution=family_caution(comparison)
        )
        written += rows
        if options.margin is not None and comparison.pair is not None:
            written.append(_equivalence_record(rows[0], comparison, comparison.pair, known, options))
    return written, decisions


def decisions_of(
    family: Sequence[Comparison], p_values: Sequence[float | None], options: Options
) -> list[Decision]:
    """Decide a family of pairs by the p-values of their recommended tests, one a pair."""
    known = adjust([p for p in p_values if p is not None], options.correction)
    adjusted = iter(known)
    return [
        _decide(comparison, None if p is None else next(adjusted), known, options)
        for comparison, p in zip(family, p_values, strict=True)
    ]


def one_intervals(decisions: Sequence[Decision]) -> dict[tuple[str, str], Interval | None]:
    """Return each pair's one interval."""
    return {(decision.comparison.a, decision.comparison.b): decision.limits for decision in decisions}


def withheld(decision: Decision, why: Message) -> Decision:
    """Return the decision on a pair of which nothing may be said, for a reason that is about all pairs."""
    comparison = replace(decision.comparison, pair=None, reason=why)
    return replace(decision, comparison=comparison, limits=None, decided=False, favours=0, family=0)


Settled = Callable[[float], tuple[bool, Interval]]


def settled_at(
    difference: float,
    p: float | None,
    family: Sequence[float],
    limits: Callable[[float], Interval],
    *,
    correction: Correction,
) -> Settled:
    """Return what settles one pair at any alpha: whether it is decided, and its one interval.

    Parameters
    ----------
    difference
        a - b, as the recommended test has it.
    p, family
        The pair's adjusted p-value, and those of all pairs.
    limits
        The recommended interval of the difference at a level.
    """

    def at(alpha: float) -> tuple[bool, Interval]:
        plain = limits(level_of_each(alpha, family, correction))
        decided = decides(difference, p, plain, alpha)
        return decided, agreeing(plain, difference, decided=decided)

    return at


def _settled(
    comparison: Comparison, pair: Pair, p: float | None, family: Sequence[float], options: Options
) -> Settled:
    test = comparison.recommended_test
    return settled_at(
        tested_difference(pair, test),
        p,
        family,
        lambda level: interval_for(pair, test, options, level),
        correction=options.correction,
    )


def _decide(comparison: Comparison, p: float | None, family: Sequence[float], options: Options) -> Decision:
    pair = comparison.pair
    if pair is None:
        return Decision(comparison, p, None, False, 0, len(family))
    decided, limits = _settled(comparison, pair, p, family, options)(1 - options.confidence)
    observed = tested_difference(pair, comparison.recommended_test)
    d = oriented(pair.difference, observed, options)
    return Decision(comparison, p, limits, decided, (d > 0) - (d < 0), len(family))


def _equivalence_record(
    leading: ComparisonRecord, comparison: Comparison, pair: Pair, family: Sequence[float], options: Options
) -> ComparisonRecord:
    """Test a pair for equivalence; adjusted, the p-value is that of its one interval."""
    assert options.margin is not None
    margin, p = options.margin, tost(pair, options.margin)
    at = _settled(comparison, pair, leading.p_adjusted, family, options)
    adjusted = smallest_alpha(lambda alpha: room_within(at(alpha)[1], margin), 1 - options.confidence)
    return replace(
        leading,
        test="tost",
        statistic=None,
        df=None,
        p_value=p,
        p_adjusted=None if p is None else adjusted,
        effect=None,
        effect_size=None,
        recommended=False,
        caution=Message("caution.beyond_margin", margin=margin),
        reason=NO_INTERVAL if p is None else None,
    )


# --- what may be said -----------------------------------------------------------------------------------------------


def verdict(decision: Decision, options: Options) -> VerdictRecord:
    """Say what the data show about one pair, by the mapping in docs/design.md."""
    c = decision.comparison
    kind, text = _words(decision, options)
    limits = decision.limits
    return VerdictRecord(
        about=(c.a, c.b),
        metric=c.quantity.spelled,
        verdict=kind,
        level=options.confidence if limits is None else limits.level,
        low=None if limits is None else limits.low,
        high=None if limits is None else limits.high,
        method=None if limits is None or limits.low is None else limits.method,
        text=text,
    )


def _words(decision: Decision, options: Options) -> tuple[Verdict, Message]:
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
    return "undecided", _undecided(decision, c.pair, limits, options)


def oriented_limits(pair: Pair, limits: Interval, options: Options, *, of: int) -> Interval:
    """Return the limits of a - b as those of one model's advantage (1: the first, -1: the second)."""
    if oriented(pair.difference, of, options) > 0:
        return limits
    low, high = (None if limit is None else 0.0 - limit for limit in (limits.high, limits.low))
    return replace(limits, low=low, high=high)


def _interval(
    where: str, decision: Decision, limits: Interval, options: Options, **params: object
) -> Message:
    """Name the pair's one interval, by what its level holds for: the pair, all pairs, or the decided ones."""
    if limits.low is None or limits.high is None:
        return Message(f"{where}.none")
    params |= {"level": options.confidence, "limits": (limits.low, limits.high)}
    if decision.family < 2 or options.correction == "none":
        return Message(f"{where}.of_one_pair", **params)
    if options.correction == "bh":
        return Message(f"{where}.of_decided_pairs", **params)
    return Message(f"{where}.of_all_pairs", **params, n_pairs=decision.family)


def _better(kind: Verdict, decision: Decision, pair: Pair, limits: Interval, options: Options) -> Message:
    c, margin = decision.comparison, options.margin
    found = oriented_limits(pair, limits, options, of=decision.favours)
    decimals = decimals_of([pair.difference.standard_error])
    params: dict[str, object] = {
        "a": c.a,
        "b": c.b,
        "metric": pair.difference.metric.phrase,
        "difference": abs(tested_difference(pair, c.recommended_test)),
        "decimals": decimals,
        "interval": _interval("interval_beside", decision, found, options, decimals=decimals),
        "p": decision.p_adjusted,
    }
    if found.low is None or margin is None:
        return Message(f"verdict.{kind}.at_all", **params)
    how = "by_the_margin" if found.low > margin else "perhaps_by_less"
    return Message(f"verdict.{kind}.{how}", **params, margin=margin)


def _undecided(decision: Decision, pair: Pair, limits: Interval, options: Options) -> Message:
    c = decision.comparison
    decimals = decimals_of([pair.difference.standard_error])
    further = [_interval("interval_between", decision, limits, options, a=c.a, b=c.b, decimals=decimals)]
    if decision.p_adjusted is not None and decision.p_adjusted <= 1 - options.confidence:
        further.append(Message("detectable.other_direction", p=decision.p_adjusted))
    further.append(_detectable(decision, pair, options, decimals))
    metric = pair.difference.metric.phrase
    return Message("verdict.undecided", a=c.a, b=c.b, metric=metric, further=tuple(further))


def _detectable(decision: Decision, pair: Pair, options: Options, decimals: int) -> Message:
    """Say how small a difference could be detected; or that nothing varies, or that there is no error to go by."""
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(decision.family, 1))
    delta = pair.difference
    detectable, needed = detectable_difference(delta, alpha), examples_needed(delta, alpha)
    if detectable is not None:
        size: dict[str, object] = {"difference": detectable, "decimals": decimals}
        if needed is None or needed <= (delta.n_units if delta.over_datasets else delta.n):
            return Message("detectable.difference", **size)
        if delta.judged is not None:
            size["gold"] = _rounded(max(round(needed * delta.judged.gold / delta.n), 1))
        units = "datasets" if delta.over_datasets else "examples" if delta.judged is None else "judged"
        return Message(f"detectable.difference_and_{units}", **size, needed=_rounded(needed))
    if delta.agreement is not None:
        return Message("detectable.same_answers")
    return Message(
        "detectable.no_standard_error" if delta.standard_error is None else "detectable.no_variation"
    )


def _rounded(n: int) -> int:
    """Round a planned number of examples up to two digits: it is an order of size, no more."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step
