"""The one decision table: it feeds the verdicts, the letters, the pairwise table and the sentence on top.

The family is {primary metric x pairs x recommended test}; every other p-value is exploratory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalreport.comparisons.equivalence import tost
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
from evalreport.config import Options
from evalreport.numbers import count, decimals_of, interval, number, p_phrase
from evalreport.records import ComparisonRecord, Interval, Verdict, VerdictRecord

BORDERLINE = (
    "; borderline: test and interval rest on different methods and disagree, the verdict follows the test"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the recommended test and the simultaneous interval of one pair settle.

    Attributes
    ----------
    decided
        Adjusted p-value of the recommended test at or below alpha; ``better`` says in whose favour (1: a, -1: b).
    equivalent
        Adjusted p-value of the equivalence test at or below alpha; False without a declared margin.
    """

    comparison: Comparison
    p_adjusted: float | None
    p_equivalence: float | None
    limits: Interval | None
    decided: bool
    favours: int
    equivalent: bool
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
    known = [row.p_value for row in leading if row.p_value is not None]
    adjusted = iter(adjust(known, options.correction))
    decisions, written = [], []
    margins = _equivalences(family, options)
    for comparison, rows, margin in zip(family, by_pair, margins, strict=True):
        p = None if rows[0].p_value is None else next(adjusted)
        rows[0] = replace(
            rows[0], p_adjusted=p, correction=options.correction, caution=family_caution(comparison)
        )
        decisions.append(_decide(comparison, p, margin, len(known), options))
        written += rows
        if margin is not None and comparison.pair is not None:
            written.append(_equivalence_record(rows[0], margin, options))
    return written, decisions


@dataclass(frozen=True, slots=True)
class _Equivalence:
    p_value: float
    p_adjusted: float


def _equivalences(family: Sequence[Comparison], options: Options) -> list[_Equivalence | None]:
    """Test each pair for equivalence within the declared margin, Holm over the family of these tests."""
    if options.margin is None:
        return [None] * len(family)
    raw = [None if c.pair is None else tost(c.pair, options.margin) for c in family]
    adjusted = iter(adjust([p for p in raw if p is not None], "holm"))
    return [None if p is None else _Equivalence(p, next(adjusted)) for p in raw]


def _equivalence_record(leading: ComparisonRecord, found: _Equivalence, options: Options) -> ComparisonRecord:
    return replace(
        leading,
        test="tost",
        statistic=None,
        df=None,
        p_value=found.p_value,
        p_adjusted=found.p_adjusted,
        correction="holm",
        effect=None,
        effect_size=None,
        recommended=False,
        caution=f"null hypothesis: the difference is {options.margin:g} or more, either way",
        reason=None,
    )


def _decide(
    comparison: Comparison, p: float | None, margin: _Equivalence | None, family: int, options: Options
) -> Decision:
    alpha = 1 - options.confidence
    limits = None
    favours = 0
    if comparison.pair is not None:
        each = alpha if options.correction == "none" else alpha / max(family, 1)
        limits = interval_for(comparison.pair, comparison.recommended_test, options, 1 - each)
        observed = tested_difference(comparison.pair, comparison.recommended_test)
        d = oriented(comparison.pair.difference, observed, options)
        favours = (d > 0) - (d < 0)
    decided = p is not None and p <= alpha and favours != 0
    equivalent = margin is not None and margin.p_adjusted <= alpha
    return Decision(
        comparison,
        p,
        None if margin is None else margin.p_adjusted,
        limits,
        decided,
        favours,
        equivalent,
        family,
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
        text=text,
    )


def _words(decision: Decision, options: Options) -> tuple[Verdict, str]:
    c, margin = decision.comparison, options.margin
    if c.pair is None or decision.p_adjusted is None or decision.limits is None:
        why = c.reason or "the recommended test has no p-value here"
        return "undecided", f"Not settled: {c.a} and {c.b} cannot be compared ({why})."
    if decision.equivalent and margin is not None:
        size = f"{margin:g}"
        if decision.decided:
            return (
                "equivalent",
                f"{c.a} and {c.b}: a detectable but negligible difference by your margin (±{size}).",
            )
        return "equivalent", f"{c.a} and {c.b} are practically equivalent within ±{size}."
    if decision.decided:
        return ("better" if decision.favours > 0 else "worse"), _better(decision, c.pair, options)
    least = _least_advantage(decision, c.pair, options, of=1)
    if margin is not None and least is not None and least > -margin:
        text = f"{c.a} is not worse than {c.b} by more than {margin:g}; whether it is better is not settled."
        return "non-inferior", text
    return "undecided", _not_settled(decision, c.pair, options)


def _advantage(decision: Decision, pair: Pair, options: Options, *, of: int) -> tuple[float, Interval]:
    """Return the difference and its limits as the advantage of one model (1: the first, -1: the second)."""
    assert decision.limits is not None
    d, limits = tested_difference(pair, decision.comparison.recommended_test), decision.limits
    if oriented(pair.difference, of, options) > 0:
        return d, limits
    low, high = (None if limit is None else -limit for limit in (limits.high, limits.low))
    return -d, replace(limits, low=low, high=high)


def _least_advantage(decision: Decision, pair: Pair, options: Options, *, of: int) -> float | None:
    """Return how small the advantage of one model may be; None without limits."""
    return _advantage(decision, pair, options, of=of)[1].low


def _limits_in_words(limits: Interval, decimals: int, family: int, options: Options) -> str:
    shown = interval(limits.low, limits.high, decimals, signed=True)
    if not shown:
        return "no interval"
    several = family > 1 and options.correction != "none"
    return f"{'simultaneous ' if several else ''}{100 * limits.level:.4g} % interval {shown}"


def _better(decision: Decision, pair: Pair, options: Options) -> str:
    c, margin = decision.comparison, options.margin
    winner, loser = (c.a, c.b) if decision.favours > 0 else (c.b, c.a)
    advantage, limits = _advantage(decision, pair, options, of=decision.favours)
    decimals = decimals_of([pair.difference.standard_error])
    within = _limits_in_words(limits, decimals, decision.family, options)
    text = f"{winner} is better than {loser} on {pair.difference.metric.phrase} by"
    text += f" {number(advantage, decimals, signed=True)} ({within}; {p_phrase(decision.p_adjusted)})"
    if limits.low is not None and limits.high is not None:
        if margin is not None:
            text += (
                f", above your margin {margin:g}"
                if limits.low > margin
                else f"; whether by more than {margin:g} is not settled"
            )
        if limits.low <= 0 <= limits.high:
            text += BORDERLINE
    return text + "."


def _not_settled(decision: Decision, pair: Pair, options: Options) -> str:
    c = decision.comparison
    assert decision.limits is not None
    decimals = decimals_of([pair.difference.standard_error])
    limits = _limits_in_words(decision.limits, decimals, decision.family, options)
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(decision.family, 1))
    text = f"Not settled: the data do not show which of {c.a} and {c.b} is better on {pair.difference.metric.phrase}"
    text += f" ({limits} of the difference, first minus second)"
    detectable = detectable_difference(pair.difference, alpha)
    if detectable is None:
        return text + _why_not_detectable(pair) + "."
    text += f". This test could reliably detect only a difference of {number(detectable, decimals)} or more"
    needed = examples_needed(pair.difference, alpha)
    over_datasets = pair.difference.over_datasets
    have, units = (pair.difference.n_units, "data sets") if over_datasets else (pair.difference.n, "examples")
    if needed is not None and needed > have:
        text += f"; a true difference as small as the observed one would need about {count(_rounded(needed))} {units}"
    low, high = decision.limits.low, decision.limits.high
    if low is not None and high is not None and not low <= 0 <= high:
        text += BORDERLINE
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
