"""One look at the accepted run: its plain test, and what it counts where looks may be taken every night."""

from __future__ import annotations

import math
from dataclasses import replace

from evalreport.audit.since import Present
from evalreport.audit_records import AuditRecord
from evalreport.comparisons import TESTS
from evalreport.metrics.quantities import Quantity, definition, greater_is_better
from evalreport.records import HistoryRecord
from evalreport.texts import Message, parts

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
    return definition(quantity).greater_is_better is None


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
    count = p * (now.options.resamples + 1)
    resampled = test is not None and test in TESTS and TESTS[test].by_resampling
    drawn = resampled and abs(count - round(count)) < TOLERANCE  # else it was enumerated exactly
    if not drawn or too_large_by <= 1 or round(count) > LEAST_COUNT:
        return None
    needed = math.ceil((now.options.resamples + 1) * too_large_by)
    return Message("spending.resamples", n=now.options.resamples, needed=needed)


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
