"""The one decision table: p-values adjusted over the family, and one interval a pair.

The family is {primary metric x pairs x recommended test}; every other p-value is exploratory. The table feeds the
verdicts, the letters, the pairwise table and the headline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalreport.comparisons.adjustment import adjust, level_of_each
from evalreport.comparisons.equivalence import equivalence_record
from evalreport.comparisons.pairs import (
    MOST_PAIRS,
    Comparison,
    compare_all,
    draws_for,
    family_caution,
    oriented,
    recommended_interval,
    records,
    tested_difference,
)
from evalreport.comparisons.registry import TESTS, Pair
from evalreport.engine.parallel import mapped
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.registry import Quantity, definition
from evalreport.options import Correction, Options
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.records import KeptVerdict
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import CUT, STRETCHED
from evalreport.schema.metrics import Interval
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one pair.

    Attributes
    ----------
    limits
        The pair's one interval, which excludes 0 exactly where the pair is decided; None without a pair.
    decided
        Adjusted p-value of the recommended test at or below alpha, in the direction of the difference; ``favours``
        says whom that favours (1: a, -1: b).
    family
        How many pairs were tested; 0 where the decision is withheld.
    kept
        The verdict of an earlier look, which stays.
    """

    comparison: Comparison
    p_adjusted: float | None
    limits: Interval | None
    decided: bool
    favours: int
    family: int
    kept: KeptVerdict | None = None


NOT_RANDOM = "gold_not_random"
"""The blocker that leaves every pair undecided, and the numbers as they are."""

MOST_WEIGHTS = 2e9
"""The most rows times replicates drawn again (about a minute); beyond it a warning names --resamples."""


def decision_family(
    compared: Sequence[Comparison], primary: Quantity, predictions: Predictions, options: Options
) -> list[Comparison]:
    """Return the primary metric's comparisons, which the verdict is about.

    They are drawn again where intervals of replicates decide and these are too few for the number of pairs.
    """
    family = [c for c in compared if c.quantity == primary]
    enough = draws_for(len(family), options)
    few = options.resamples < enough and predictions.n * enough <= MOST_WEIGHTS
    if not few or definition(primary).untested or not any(decided_by_replicates(c) for c in family):
        return family
    more = replace(options, resamples=enough)
    return compare_all(estimate_models(predictions, [primary], more), [primary], options)


def decided_by_replicates(comparison: Comparison) -> bool:
    """Say whether the interval that decides a pair is made of replicates."""
    pair = comparison.pair
    if pair is None or TESTS[comparison.recommended_test].needs != "interval":
        return False
    return pair.decided_by_replicates


def decide(
    family: Sequence[Comparison], predictions: Predictions, options: Options
) -> tuple[list[ComparisonRecord], list[Decision]]:
    """Return the family's rows and decisions: with a blocker, or on a metric without a test, the rows alone.

    Where the answers that people saw are no random part, every pair is undecided for that reason.
    """
    if family and definition(family[0].quantity).untested:
        return [row for comparison in family for row in records(comparison, options)], []
    rows, decisions = family_records(family, options)
    blockers = {warning.code for warning in predictions.warnings if warning.level == "blocker"}
    if blockers == {NOT_RANDOM}:
        why = Message("reason.gold_not_random")
        return rows, [withheld(decision, why) for decision in decisions]
    return rows, [] if blockers else decisions


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
    tested = partial(records, options=options, primary=True, beside=len(family) <= MOST_PAIRS)
    by_pair = list(mapped(tested, family))
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
            settled = _settled(comparison, comparison.pair, p, known, options)
            record = equivalence_record(rows[0], comparison.pair, settled, options.margin, options.confidence)
            written.append(record)
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


def with_earlier(
    decisions: Sequence[Decision], kept: Sequence[KeptVerdict], options: Options
) -> list[Decision]:
    """Put the verdicts of earlier looks in the place of this look's."""
    earlier = {one.about: one for one in kept}
    return [
        _as_then(decision, earlier.get((decision.comparison.a, decision.comparison.b)), options)
        for decision in decisions
    ]


def _as_then(decision: Decision, kept: KeptVerdict | None, options: Options) -> Decision:
    pair = decision.comparison.pair
    if kept is None or pair is None or not decision.family:
        return decision
    limits = Interval(method=kept.method or "", level=kept.level, low=kept.low, high=kept.high)
    d = oriented(pair.difference, kept.difference, options)
    return replace(decision, limits=limits, decided=kept.decided, favours=(d > 0) - (d < 0), kept=kept)


def withheld(decision: Decision, why: Message) -> Decision:
    """Withdraw the decision on a pair, for a reason that is about all pairs."""
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
    """Return a function of alpha: whether the pair is decided at that level, and its one interval.

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
        lambda level: recommended_interval(pair, test, level),
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


def decides(difference: float | None, p: float | None, limits: Interval, alpha: float) -> bool:
    """Return whether a pair is decided: the test rejects, in the direction of the difference.

    Nothing is decided where the limits exclude the side of 0 of the difference (as when one data set reverses a mean
    against the ranks).
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
