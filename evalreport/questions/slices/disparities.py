"""How slices differ from the other examples.

One family is tested: the primary metric, every model, every slice that is large enough, against the other examples. It
is fixed without a look at the outcomes. Its p-values are adjusted together and its limits are simultaneous.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.decisions import agreeing
from evalreport.intervals import resolved
from evalreport.intervals.inversion import level_where
from evalreport.intervals.proportions import newcombe_independent_limits
from evalreport.intervals.registry import Bounds
from evalreport.intervals.student import half_width
from evalreport.intervals.two_sets import nested, ratio_of_two_sets
from evalreport.metrics.difference import Difference
from evalreport.metrics.registry import Quantity, definition
from evalreport.numbers import decimals_of
from evalreport.options import Options
from evalreport.questions.slices import limits as by
from evalreport.questions.slices.records import DisparityRecord
from evalreport.questions.slices.slice_estimates import Side, direction
from evalreport.schema.metrics import Interval
from evalreport.texts import Message, Text

Key = tuple[str, str, str]
"""Model, column, value."""

SQUARE_AND_ADD = "square_and_add"

NO_OUTCOME = Message("too_small.no_outcome")


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of testing one slice against the other examples.

    Attributes
    ----------
    in_family
        The p-value that the correction is given: the larger of that of the test and of the one with the variance that
        the other examples predict. None: no test at all, so that the family is without it.
    """

    p_value: float | None
    test: str | None
    in_family: float | None
    p_adjusted: float | None = None


def disparity_records(sides: Sequence[Side], options: Options) -> tuple[DisparityRecord, ...]:
    """Return the difference of every slice of all columns, after ``large_enough``, from the other examples."""
    tested, size = test_family(sides, options)
    alpha = 1 - options.confidence
    level = 1 - (alpha if options.correction == "none" else alpha / max(size, 1))
    rows = (_row(side, level, tested[_key(side)], options) for side in sides)
    return tuple(
        replace(row, text=_sentence(side, row, options)) for side, row in zip(sides, rows, strict=True)
    )


# --- the family -----------------------------------------------------------------------------------------------------


def _leaders(sides: Sequence[Side], known: Collection[Key]) -> dict[Key, Key]:
    """Return, for each slice that has a test, the one whose test it is: of two slices each is the other's rest."""
    columns: dict[tuple[str, str], list[Key]] = {}
    for side in sides:
        columns.setdefault((side.model, side.name.column), []).append(_key(side))
    return {
        key: group[0] if len(group) == 2 and group[0] in known else key
        for group in columns.values()
        for key in group
        if key in known
    }


def large_enough(sides: Sequence[Side], options: Options) -> list[Side]:
    """Mark the slices of all columns whose margins let no outcome reach the level as too small.

    Proportions of independent examples only; for other values the number of examples decides. Without
    ``--correction`` each slice is tested separately.
    """
    known = {
        _key(side): side.both
        for side in sides
        if side.small is None and side.both is not None and side.both.n2 > 0
    }
    leaders = _leaders(sides, known)
    smallest = {key: by.smallest_fisher(known[key]) for key, leader in leaders.items() if key == leader}
    alpha = 1 - options.confidence
    kept, _ = by.testable(list(smallest.values()), alpha)
    if options.correction == "none":
        kept = [p <= alpha for p in smallest.values()]
    small = {key for key, keep in zip(smallest, kept, strict=True) if not keep}
    return [replace(side, small=NO_OUTCOME) if leaders.get(_key(side)) in small else side for side in sides]


def test_family(family: Sequence[Side], options: Options) -> tuple[dict[Key, Tested], int]:
    """Test every slice that is large enough against the other examples, and adjust the p-values together.

    Returns
    -------
    tested, size
        By (model, column, value); how many tests there are.
    """
    outcomes = {_key(side): _tested(side) for side in family}
    in_family = {key: found.in_family for key, found in outcomes.items() if found.in_family is not None}
    leaders = _leaders(family, in_family)
    # Clusters that reach over both of two slices give each its own degrees of freedom: the larger p-value counts.
    p_values: dict[Key, float] = {}
    for key, leader in leaders.items():
        p_values[leader] = max(p_values.get(leader, 0.0), in_family[key])
    adjusted = dict(zip(p_values, adjust(list(p_values.values()), options.correction), strict=True))
    tested = {
        key: replace(found, p_adjusted=adjusted[leaders[key]]) if found.p_value is not None else found
        for key, found in outcomes.items()
    }
    return tested, len(p_values)


# A name that begins with "test" is no test.
test_family.__test__ = False  # type: ignore[attr-defined]


def _key(side: Side) -> Key:
    return side.model, side.name.column, side.name.value


def _tested(side: Side) -> Tested:
    """Test one slice against the other examples; no p-value where it is too small, or nothing is left.

    Far out, where a large family puts its smallest p-values, Welch's t is too small on few examples: those of a slice
    whose value is extreme by chance vary little by chance, too. So the family is given the larger of two p-values.
    """
    nothing = Tested(None, None, None)
    if side.small is not None or not side.compared:
        return nothing
    if side.both is not None:
        p = by.fisher(side.both) if side.both.n2 > 0 else None
        return nothing if p is None else Tested(p, "fisher_midp", p)
    contrast = None if side.with_rest is None else side.with_rest.contrast()
    if side.with_rest is None or contrast is None:
        return nothing
    difference = side.value - side.rest_value
    if side.two_sets is not None:
        inverted = level_where(partial(resolved, side.two_sets, SQUARE_AND_ADD), nested=nested(side.two_sets))
        return nothing if inverted is None else Tested(inverted, "interval", inverted)
    if contrast.error <= 0 and difference != 0:
        # Nothing varies anywhere: a test has nothing to go by. That is an outcome, so the slice counts in the family.
        return Tested(None, None, 1.0)
    p, predicted = by.welch(difference, contrast), side.with_rest.predicted()
    return Tested(p, "welch", p if predicted is None else max(p, by.welch(difference, predicted)))


# --- rows -----------------------------------------------------------------------------------------------------------


def _row(side: Side, level: float, tested: Tested, options: Options) -> DisparityRecord:
    """Return the difference of a slice from the other examples, with its limits and its test."""
    value = side.both.proportions[1] if side.both is not None and side.both.n2 > 0 else side.rest_value
    method, difference, ratio = _limits(side, value, level)
    known = side.compared and not math.isnan(value)
    divisible = known and has_ratio(side) and value > 0
    row = DisparityRecord(
        model=side.model,
        **side.quantity.fields,
        slice=side.name,
        reference="rest",
        difference=side.value - value if known else None,
        low=difference.low,
        high=difference.high,
        ratio=side.value / value if divisible else None,
        ratio_low=ratio.low if divisible else None,
        ratio_high=ratio.high if divisible else None,
        level=level,
        method=method,
        test=tested.test,
        p_value=tested.p_value,
        n=0 if side.estimate is None else side.estimate.sampling.n_examples,
        reason=side.small or difference.reason or (ratio.reason if divisible else None),
    )
    p = tested.p_adjusted
    if p is None:
        return row
    flagged = p <= 1 - options.confidence
    return _agreeing(replace(row, p_adjusted=p, correction=options.correction, flagged=flagged))


def _agreeing(row: DisparityRecord) -> DisparityRecord:
    """Let the limits of a difference and a ratio leave 0, or 1, out exactly where the slice is flagged.

    The test and the interval come from different statistics; as those of pairs they must not contradict each other.
    """
    interval = Interval(method=row.method or "", level=row.level, low=row.low, high=row.high)
    agreed = agreeing(interval, row.difference, decided=row.flagged)
    if agreed is interval:
        return row
    row = replace(row, low=agreed.low, high=agreed.high, method=agreed.method)
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return row
    if not row.flagged:
        return replace(row, ratio_low=min(row.ratio_low, 1.0), ratio_high=max(row.ratio_high, 1.0))
    if row.ratio > 1:
        return replace(row, ratio_low=max(row.ratio_low, 1.0))
    return replace(row, ratio_high=min(row.ratio_high, 1.0))


Limited = tuple[str | None, Bounds, Bounds]
"""The method of the limits of a difference, these, and the limits of a ratio."""

NO_RATIO = Bounds(None, None)


def _nothing(why: Text | None) -> Limited:
    """Return no limits of a difference and a ratio, with the reason."""
    return None, Bounds(None, None, why), Bounds(None, None, why)


def _limits(side: Side, value: float, level: float) -> Limited:
    """Return the limits of the difference from the other examples' value, and of the ratio to it."""
    if not side.compared:
        return _nothing(side.small or (None if side.estimate is None else side.estimate.reason))
    if side.both is not None:
        if side.both.n2 <= 0:
            return _nothing(by.NO_OTHERS)
        groups = (side.both.x1, side.both.n1), (side.both.x2, side.both.n2)
        difference = Bounds(*newcombe_independent_limits(*groups, level))
        return "newcombe_independent", difference, by.proportions_ratio(side.both, level)
    if side.small is not None:
        return None, Bounds(None, None, side.small), NO_RATIO
    if math.isnan(value):
        return _nothing(by.NO_OTHERS)
    if side.with_rest is None:
        of_sums = side.estimate is not None and side.estimate.sampling.only_sums
        return _nothing(Message("disparity.of_sums") if of_sums else by.NOT_SMOOTH)
    contrast = side.with_rest.contrast()
    if contrast is None:
        return _nothing(by.NO_OTHERS)
    if side.two_sets is not None:
        return _squared_and_added(side.two_sets, level)
    if contrast.error <= 0:
        return _nothing(Message("disparity.no_variation"))
    half = half_width(contrast, level)
    difference = Bounds(side.value - value - half, side.value - value + half)
    if not (side.value > 0 and value > 0 and has_ratio(side)):
        return "welch", difference, NO_RATIO
    logarithms = side.with_rest.contrast(1 / side.value, 1 / value)
    assert logarithms is not None
    return "welch", difference, by.influence_ratio(side.value / value, logarithms, level)


def _squared_and_added(difference: Difference, level: float) -> Limited:
    """Return the limits of slice less rest, and of their ratio, from the limits of both values."""
    found, (a, b) = resolved(difference, SQUARE_AND_ADD, level), (difference.a, difference.b)
    ratio = ratio_of_two_sets(a, b, level) if a.value > 0 and b.value > 0 else NO_RATIO
    return found.method, Bounds(found.low, found.high, found.reason), ratio


def has_ratio(side: Side) -> bool:
    """Say whether a ratio of two values means something: where none can be below 0."""
    return side.estimate is not None and side.estimate.range[0] >= 0


def in_words(quantity: Quantity) -> str | Message:
    """Name a quantity inside a sentence: ``accuracy``, ``F1 (macro)``, ``recall of class 3``."""
    metric = definition(quantity).display.phrase
    if quantity.label is not None:
        return Message("quantity.of_class", metric=metric, label=quantity.label)
    return (
        Message("quantity.averaged", metric=metric, average=quantity.average) if quantity.average else metric
    )


def _sentence(side: Side, row: DisparityRecord, options: Options) -> Message:
    """Return the sentence on the test of one slice."""
    what = Message(
        "disparity.what",
        model=side.model, column=row.slice.column, value=row.slice.value, metric=in_words(side.quantity),
    )  # fmt: skip
    if row.p_adjusted is None or row.difference is None:
        if side.small:
            return Message("disparity.not_judged", what=what, reason=side.small)
        return Message("disparity.not_tested", what=what)
    decimals = decimals_of([None])
    difference: dict[str, object] = {"difference": row.difference, "p": row.p_adjusted}
    if row.low is not None and row.high is not None:
        decimals = decimals_of([(row.high - row.low) / 4])
        difference["limits"] = (row.low, row.high)
    key = "disparity.evidence" if "limits" in difference else "disparity.evidence_p"
    values = {"here": side.value, "rest": side.value - row.difference, "decimals": decimals}
    evidence = Message(key, decimals=decimals, **difference)
    good = direction(side.quantity, options) * row.difference
    if not row.flagged or not good:
        key = "different" if row.flagged else "not_shown"
        return Message(f"disparity.{key}", what=what, evidence=evidence, **values)
    return Message(
        f"disparity.{'better' if good > 0 else 'worse'}",
        model=side.model, metric=in_words(side.quantity), column=row.slice.column, value=row.slice.value,
        evidence=evidence, **values,
    )  # fmt: skip
