"""The one decision table: it feeds the verdicts, the letters, the pairwise table and the sentence on top.

The family is {primary metric x pairs x recommended test}; every other p-value is exploratory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from evalreport.comparisons.pairs import (
    Comparison,
    family_caution,
    interval_for,
    oriented,
    records,
    tested_difference,
)
from evalreport.comparisons.registry import Outcome, Pair, comparison_test, probability
from evalreport.comparisons.sample_size import detectable_difference, examples_needed
from evalreport.comparisons.test_selection import lacks
from evalreport.engine.distributions import root
from evalreport.engine.parallel import mapped
from evalreport.intervals import INTERVALS, recommended, resolved
from evalreport.metrics.estimate import Floats
from evalreport.numbers import decimals_of
from evalreport.options import Correction, Options
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import CUT, STRETCHED, DetectableRecord, Verdict, VerdictRecord
from evalreport.schema.metrics import Interval
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
    by_pair = list(mapped(partial(records, options=options, primary=True), family))
    # Where the leading test has no p-value, its reason is the verdict's.
    for comparison, rows in zip(family, by_pair, strict=True):
        comparison.untested = rows[0].reason
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
    comparison = replace(decision.comparison, set_up=lambda: why)
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
    # An interval that --interval names stands in the rows of the tests; what is decided does not hang on it.
    test, as_recommended = comparison.recommended_test, replace(options, intervals=())
    return settled_at(
        tested_difference(pair, test),
        p,
        family,
        lambda level: interval_for(pair, test, as_recommended, level),
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
    """Say what the data show about one pair, by the table in docs/how-to-choose-a-test.md."""
    c = decision.comparison
    detectable = None if decision.decided else _detectable(decision, options)
    kind, text = _words(decision, detectable, options)
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


def _undecided(
    decision: Decision, pair: Pair, limits: Interval, detectable: DetectableRecord | None, options: Options
) -> Message:
    c = decision.comparison
    decimals = decimals_of([pair.difference.standard_error])
    further = [_interval("interval_between", decision, limits, options, a=c.a, b=c.b, decimals=decimals)]
    if decision.p_adjusted is not None and decision.p_adjusted <= 1 - options.confidence:
        further.append(Message("detectable.other_direction", p=decision.p_adjusted))
    further.append(_detectable_in_words(pair, detectable, decimals))
    metric = pair.difference.metric.phrase
    return Message("verdict.undecided", a=c.a, b=c.b, metric=metric, further=tuple(further))


def _detectable(decision: Decision, options: Options) -> DetectableRecord | None:
    """Return the smallest detectable difference; None where nothing varies, or there is no test or standard error."""
    pair = decision.comparison.pair
    if pair is None or decision.limits is None or decision.p_adjusted is None:
        return None
    alpha = (1 - options.confidence) / (1 if options.correction == "none" else max(decision.family, 1))
    delta = pair.difference
    least, needed = detectable_difference(delta, alpha), examples_needed(delta, alpha)
    if least is None:
        return None
    unit: Literal["examples", "clusters", "judged", "datasets"] = "examples"
    gold = None
    if delta.over_datasets:
        unit = "datasets"
    elif delta.judged is not None:
        unit = "judged"
    elif options.cluster is not None and delta.clusters:
        unit = "clusters"
    if needed is None or needed <= (delta.n_units if delta.over_datasets else delta.n):
        return DetectableRecord(difference=least, unit=unit)
    if delta.judged is not None:
        gold = _rounded(max(round(needed * delta.judged.gold / delta.n), 1))
    if unit == "clusters" and delta.clusters:
        needed = math.ceil(needed * delta.clusters / delta.n)
    return DetectableRecord(difference=least, unit=unit, needed=_rounded(needed), gold=gold)


def _detectable_in_words(pair: Pair, found: DetectableRecord | None, decimals: int) -> Message:
    """Say how small a difference could be detected; or that nothing varies, or that there is no standard error."""
    if found is None:
        if pair.difference.agreement is not None:
            return Message("detectable.same_answers")
        unknown = pair.difference.standard_error is None
        return Message("detectable.no_standard_error" if unknown else "detectable.no_variation")
    size: dict[str, object] = {"difference": found.difference, "decimals": decimals}
    if found.needed is None:
        return Message("detectable.difference", **size)
    if found.gold is not None:
        size["gold"] = found.gold
    return Message(f"detectable.difference_and_{found.unit}", **size, needed=found.needed)


def _rounded(n: int) -> int:
    """Round a planned number of examples up to two digits: it is an order of size, no more."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step


def adjust(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Adjust p-values so that they can be compared with the level itself.

    Parameters
    ----------
    p_values
        One family, each in (0, 1].
    correction
        ``holm`` (step-down Bonferroni: family-wise error, any dependence), ``bonferroni``,
        ``bh`` (false discovery rate) or ``none``.

    References
    ----------
    Holm (1979), Scand J Stat 6:65; Benjamini and Hochberg (1995), J R Stat Soc B 57:289.

    Examples
    --------
    >>> [round(p, 3) for p in adjust([0.01, 0.04, 0.03], "holm")]
    [0.03, 0.06, 0.06]
    """
    return [float(p) for p in _adjusted(np.asarray(p_values, dtype=np.float64), correction)]


def _adjusted(p: Floats, correction: Correction) -> Floats:
    m = len(p)
    if correction == "none" or m == 0:
        return p
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(m)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    else:
        ranks = np.arange(1, m + 1)
        adjusted[order] = np.minimum.accumulate((p[order] * m / ranks)[::-1])[::-1]
    return np.minimum(adjusted, 1)


def level_of_each(alpha: float, adjusted: Sequence[float], correction: Correction) -> float:
    """Return the level of each pair's limits, so that what ``alpha`` promises holds over the family.

    1 - alpha / m for ``holm`` and ``bonferroni``: all m intervals hold together. 1 - alpha max(r, 1) / m with r decided
    pairs for ``bh``: the expected share of the decided pairs' intervals that miss is at most alpha. 1 - alpha for
    ``none``.

    Parameters
    ----------
    adjusted
        The adjusted p-values of the family's m pairs.

    References
    ----------
    Benjamini and Yekutieli (2005), J Am Stat Assoc 100:71.

    Examples
    --------
    >>> [round(level_of_each(0.05, [0.01, 0.04, 0.3, 0.5], how), 4) for how in ("holm", "bh", "none")]
    [0.9875, 0.975, 0.95]
    """
    m = max(len(adjusted), 1)
    if correction == "none":
        return 1 - alpha
    decided = sum(p <= alpha for p in adjusted) if correction == "bh" else 1
    return 1 - alpha * max(decided, 1) / m


def decides(difference: float | None, p: float | None, limits: Interval, alpha: float) -> bool:
    """Say whether a pair is decided: the test rejects, and its direction is that of the difference.

    Where the limits lie wholly on the other side of 0 than the difference (a mean of data sets that one of them turns
    round, against their ranks) nothing is decided.
    """
    if p is None or p > alpha or not difference:
        return False
    if limits.low is None or limits.high is None:
        return True
    return limits.high > 0 if difference > 0 else limits.low < 0


def agreeing(limits: Interval, difference: float | None, *, decided: bool) -> Interval:
    """Return limits that exclude 0 exactly where the pair is decided.

    A decided pair's are cut at 0, which is then no part of them; an undecided one's are stretched to 0.

    Examples
    --------
    >>> agreeing(Interval(method="t", level=0.95, low=-0.01, high=0.09), 0.04, decided=True)
    Interval(method='t, cut at 0', level=0.95, low=0.0, high=0.09, reason=None)
    >>> agreeing(Interval(method="t", level=0.95, low=-0.09, high=-0.01), -0.05, decided=False).method
    't, stretched to 0'
    """
    low, high = limits.low, limits.high
    if low is None or high is None:
        return limits
    if decided and difference is not None and low <= 0 <= high:
        cut = (0.0, high) if difference > 0 else (low, 0.0)
        return replace(limits, method=f"{limits.method}, {CUT}", low=cut[0], high=cut[1])
    if not decided and not low <= 0 <= high:
        return replace(limits, method=f"{limits.method}, {STRETCHED}", low=min(low, 0.0), high=max(high, 0.0))
    return limits


def room_within(limits: Interval, margin: float) -> float:
    """Return how far limits lie inside [-margin, margin]; below 0 where they do not, or where there are none."""
    if limits.low is None or limits.high is None:
        return -float("inf")
    return min(margin - limits.high, limits.low + margin)


def tost(pair: Pair, margin: float) -> float | None:
    """Return the smallest alpha at which the 1 - 2 alpha interval lies inside (-margin, margin).

    Parameters
    ----------
    pair
        Its recommended interval is inverted.
    margin
        Smallest difference that matters, in the metric's units, > 0.

    Returns
    -------
    float or None
        1 where no level does (the observed difference is not inside); None where there is no interval.

    References
    ----------
    Schuirmann (1987), J Pharmacokinet Biopharm 15:657; Westlake (1981).
    """
    name = recommended(pair.difference)

    def room(alpha: float) -> float:
        return room_within(resolved(pair.difference, name, 1 - 2 * alpha), margin)

    # No replicate lies beyond the extreme ones, so a bootstrap interval resolves no smaller alpha than this.
    resampled = INTERVALS[name].kind == "bootstrap" and pair.difference.replicates is not None
    smallest = 1 / (len(pair.difference.replicates_used) + 1) if resampled else SMALLEST_ALPHA
    largest = 0.5 - SMALLEST_ALPHA
    if resolved(pair.difference, name, 1 - 2 * largest).low is None:
        return None
    return smallest_alpha(room, smallest, smallest=smallest, largest=largest)


NO_INTERVAL = Message("reason.no_interval_to_invert")
SMALLEST_ALPHA = 1e-9
"""No p-value of an inverted interval is computed below this."""


def smallest_alpha(
    room: Callable[[float], float],
    at: float,
    *,
    smallest: float = SMALLEST_ALPHA,
    largest: float = 1 - SMALLEST_ALPHA,
) -> float:
    """Return the smallest alpha at which an interval lies inside the margin; 1 where none does.

    Parameters
    ----------
    room
        How far the interval at alpha lies inside the margin: below 0 where it does not. It grows with alpha.
    at
        The alpha that is decided at: the answer is at or below it exactly where the interval lies inside there, even
        where limits change their method on the way.
    """
    if room(at) >= 0:
        return probability(smallest if room(smallest) >= 0 else root(room, smallest, at, tolerance=1e-10))
    if room(largest) < 0:
        return 1.0
    return probability(max(root(room, at, largest, tolerance=1e-10), math.nextafter(at, 1)))


@comparison_test("Equivalence, two one-sided tests", "margin", name="tost")
def equivalence(pair: Pair) -> Outcome:
    """Smallest level at which the recommended interval of the difference lies inside the declared margin."""
    assert pair.margin is not None
    p = tost(pair, pair.margin)
    return Outcome(None, p, reason=None if p is not None else NO_INTERVAL)
