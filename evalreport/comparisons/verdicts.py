"""The one decision table: it feeds the verdicts, the letters, the pairwise table and the sentence on top.

The family is {primary metric x pairs x recommended test}; every other p-value is exploratory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalreport.comparisons.equivalence import NO_INTERVAL, smallest_alpha, tost
from evalreport.comparisons.layouts import lacks
from evalreport.comparisons.multiplicity import adjust
from evalreport.comparisons.pairs import (
    Comparison,
    family_caution,
    interval_for,
    oriented,
    records,
    tested_difference,
)
from evalreport.comparisons.power import detectable_difference, examples_needed
from evalreport.comparisons.registry import Pair
from evalreport.comparisons.verdict_interval import agreeing, decides, level_of_each, room_within
from evalreport.config import Options
from evalreport.keys import Correction
from evalreport.numbers import count, decimals_of, interval, number, p_phrase, percent
from evalreport.records import ComparisonRecord, Interval, Verdict, VerdictRecord


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
        How many pairs were tested.
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
    leading = [rows[0] for rows in by_pair]
    known = adjust([row.p_value for row in leading if row.p_value is not None], options.correction)
    adjusted = iter(known)
    decisions, written = [], []
    for comparison, rows in zip(family, by_pair, strict=True):
        p = None if rows[0].p_value is None else next(adjusted)
        rows[0] = replace(
            rows[0], p_adjusted=p, correction=options.correction, caution=family_caution(comparison)
        )
        decisions.append(_decide(comparison, p, known, options))
        written += rows
        if options.margin is not None and comparison.pair is not None:
            written.append(_equivalence_record(rows[0], comparison, comparison.pair, known, options))
    return written, decisions


def one_intervals(decisions: Sequence[Decision]) -> dict[tuple[str, str], Interval | None]:
    """Return each pair's one interval."""
    return {(decision.comparison.a, decision.comparison.b): decision.limits for decision in decisions}


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
        caution=f"null hypothesis: the difference is {margin:g} or more, either way",
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


def _words(decision: Decision, options: Options) -> tuple[Verdict, str]:
    c, margin, limits = decision.comparison, options.margin, decision.limits
    if c.pair is not None and limits is not None and margin is not None and room_within(limits, margin) >= 0:
        size = f"{margin:g}"
        if decision.decided:
            return (
                "equivalent",
                f"{c.a} and {c.b}: a detectable but negligible difference by your margin (±{size}).",
            )
        return "equivalent", f"{c.a} and {c.b} are practically equivalent within ±{size}."
    if c.pair is not None and limits is not None and decision.decided:
        return ("better" if decision.favours > 0 else "worse"), _better(decision, c.pair, limits, options)
    least = None if c.pair is None or limits is None else oriented_limits(c.pair, limits, options, of=1).low
    if margin is not None and least is not None and least > -margin:
        text = f"{c.a} is not worse than {c.b} by more than {margin:g}; whether it is better is not settled."
        return "non-inferior", text
    if c.pair is None or limits is None or decision.p_adjusted is None:
        missing = None if c.pair is None else lacks(c.pair, c.recommended_test)
        why = c.reason or missing or "the recommended test has no p-value here"
        return "undecided", f"Not settled: {c.a} and {c.b} cannot be compared ({why})."
    return "undecided", _not_settled(decision, c.pair, limits, options)


def oriented_limits(pair: Pair, limits: Interval, options: Options, *, of: int) -> Interval:
    """Return the limits of a - b as those of one model's advantage (1: the first, -1: the second)."""
    if oriented(pair.difference, of, options) > 0:
        return limits
    low, high = (None if limit is None else 0.0 - limit for limit in (limits.high, limits.low))
    return replace(limits, low=low, high=high)


def _limits_in_words(
    limits: Interval, decimals: int, decision: Decision, options: Options, excluded: float | None = None
) -> str:
    shown = interval(limits.low, limits.high, decimals, signed=True, excluded=excluded)
    if not shown:
        return "no interval"
    level = percent(options.confidence)
    if decision.family < 2 or options.correction == "none":
        return f"{level} interval {shown}"
    over = "the decided pairs" if options.correction == "bh" else f"all {decision.family} pairs"
    return f"simultaneous interval {shown}, {level} over {over}"


def _better(decision: Decision, pair: Pair, limits: Interval, options: Options) -> str:
    c, margin = decision.comparison, options.margin
    winner, loser = (c.a, c.b) if decision.favours > 0 else (c.b, c.a)
    found = oriented_limits(pair, limits, options, of=decision.favours)
    advantage = abs(tested_difference(pair, c.recommended_test))
    decimals = decimals_of([pair.difference.standard_error])
    within = _limits_in_words(found, decimals, decision, options, excluded=0.0)
    text = f"{winner} is better than {loser} on {pair.difference.metric.phrase} by"
    text += f" {number(advantage, decimals, signed=True)} ({within}; {p_phrase(decision.p_adjusted)})"
    if found.low is not None and margin is not None:
        text += (
            f", above your margin {margin:g}"
            if found.low > margin
            else f"; whether by more than {margin:g} is not settled"
        )
    return text + "."


def _not_settled(decision: Decision, pair: Pair, limits: Interval, options: Options) -> str:
    c = decision.comparison
    decimals = decimals_of([pair.difference.standard_error])
    shown = _limits_in_words(limits, decimals, decision, options)
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(decision.family, 1))
    text = f"Not settled: the data do not show which of {c.a} and {c.b} is better on {pair.difference.metric.phrase}"
    text += f" ({shown} of the difference, first minus second)"
    if decision.p_adjusted is not None and decision.p_adjusted <= 1 - options.confidence:
        text += f"; the test rejects ({p_phrase(decision.p_adjusted)}), but not in the direction of the difference"
    detectable = detectable_difference(pair.difference, alpha)
    if detectable is None:
        return text + _why_not_detectable(pair) + "."
    text += f". This test could reliably detect only a difference of {number(detectable, decimals)} or more"
    needed = examples_needed(pair.difference, alpha)
    over_datasets = pair.difference.over_datasets
    have, units = (pair.difference.n_units, "data sets") if over_datasets else (pair.difference.n, "examples")
    if needed is not None and needed > have:
        text += f"; a true difference as small as the observed one would need about {count(_rounded(needed))} {units}"
    return text + "."


def _why_not_detectable(pair: Pair) -> str:
    """Say why there is no detectable difference: nothing varies, or there is no standard error to go by."""
    if pair.difference.agreement is not None:
        return "; the two models are right and wrong on the same examples"
    if pair.difference.standard_error is None:
        return (
            "; how small a difference could be detected is not known, since this metric has no standard error"
        )
    return "; on this test set no example changes the difference"


def _rounded(n: int) -> int:
    """Round a planned number of examples up to two digits: it is an order of size, no more."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step
