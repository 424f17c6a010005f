"""One value in two runs, from their results alone: the difference, and what two intervals settle of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evalreport.audit.since import Since, square_and_add
from evalreport.errors import InputError
from evalreport.metrics.quantities import Quantity, greater_is_better
from evalreport.texts import Message, Text

Judgement = Literal["better", "worse", "not settled", "same predictions", "not comparable"]
# What decides which rows and labels a file gives, beside its bytes.
READING = (
    "truth",
    "task",
    "positive",
    "threshold",
    "join",
    "outcome",
    "value",
    "same_input",
    "cluster",
    "weight",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """How one model's value of one metric changed: ``difference`` is new - old.

    Attributes
    ----------
    within
        The slice, as COLUMN=VALUE; None: all examples.
    judgement
        Of the new model seen from the old one. Other metrics than the primary one are shown, not judged: None.
    how
        What was compared with what, and why there is no judgement.
    """

    model: str
    metric: str
    within: str | None
    primary: bool
    old: float | None
    old_low: float | None
    old_high: float | None
    new: float | None
    new_low: float | None
    new_high: float | None
    difference: float | None
    low: float | None
    high: float | None
    method: str | None
    test: str | None
    p_value: float | None
    p_adjusted: float | None
    judgement: Judgement | None
    how: Text


def values_of(
    before: Mapping[str, Any], after: Mapping[str, Any], shared: Sequence[str]
) -> tuple[ValueChange, ...]:
    """Return every value that both runs have, judged as far as two intervals allow."""
    earlier = {_about(row): row for row in before["metrics"]}
    why_not = _why_not(before, after)
    same = {model for model in shared if _same_predictions(before, after, model)}
    found = []
    for row in after["metrics"]:
        then = earlier.get(_about(row))
        if then is not None and row["model"] in shared:
            found.append(_value(then, row, after, why_not=why_not, same=row["model"] in same))
    return tuple(sorted(found, key=lambda change: not change.primary or change.within is not None))


def _value(
    then: Mapping[str, Any],
    now: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    why_not: Message | None,
    same: bool,
) -> ValueChange:
    old, new = _limits(then), _limits(now)
    spelled = quantity_of(now).spelled
    primary = spelled == after["primary_metric"]
    found = Since(reason=why_not)
    if why_not is None and same:
        found = Since(how=Message("since.same_predictions"), difference=_minus(new[0], old[0]))
    elif why_not is None:
        found = _from_limits(new, old)
    change = ValueChange(
        model=now["model"],
        metric=spelled,
        within=_within(now),
        primary=primary,
        old=old[0],
        old_low=old[1],
        old_high=old[2],
        new=new[0],
        new_low=new[1],
        new_high=new[2],
        difference=found.difference,
        low=found.low,
        high=found.high,
        method=found.method,
        test=None,
        p_value=None,
        p_adjusted=None,
        judgement=None,
        how=found.reason or found.how,
    )
    if not primary:
        return change
    if why_not is not None:
        return replace(change, judgement="not comparable")
    if same:
        return replace(change, judgement="same predictions")
    return replace(change, judgement=by_limits(found, greater_in(now, after)))


def _from_limits(new: tuple[Any, Any, Any], old: tuple[Any, Any, Any]) -> Since:
    if None in new or None in old:
        return Since(reason=Message("since.one_without_interval"), difference=_minus(new[0], old[0]))
    return square_and_add(new, old, Message("since.from_limits"))


def by_limits(found: Since, greater: bool) -> Judgement:
    """Judge by an interval of new - old: decided only where it leaves out 0."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return "not settled"
    return "better" if (found.low > 0) == greater else "worse"


def _why_not(before: Mapping[str, Any], after: Mapping[str, Any]) -> Message | None:
    """Say why no value of the one run can be compared with that of the other."""
    for name in ("task", "positive", "classes", "design"):
        if before[name] != after[name]:
            return Message(f"since.differs.{name}", before=_text(before[name]), after=_text(after[name]))
    if level_of(before) != level_of(after):
        return Message("since.other_levels", before=level_of(before), after=level_of(after))
    return None


def _same_predictions(before: Mapping[str, Any], after: Mapping[str, Any], model: str) -> bool:
    """Say whether a model's file and the files that all models share are the same bytes, read the same way."""
    if any(before["options"].get(name) != after["options"].get(name) for name in READING):
        return False
    sides = [
        sorted(row["sha256"] for row in side["inputs"] if row["model"] in (None, model))
        for side in (before, after)
    ]
    # With --join intersect the other models' files decide which examples are kept.
    return sides[0] == sides[1] != [] and before["n"] == after["n"]


# --- records of a results.json --------------------------------------------------------------------------------------


def _about(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["model"], row["metric"], row["average"], row["label"], _within(row)


def _within(row: Mapping[str, Any]) -> str | None:
    part = row["slice"]
    return None if part is None else f"{part['column']}={part['value']}"


def quantity_of(row: Mapping[str, Any]) -> Quantity:
    """Return the metric that a record is about."""
    return Quantity(row["metric"], row["average"], row["label"])


def _limits(row: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    first = row["intervals"][0] if row["intervals"] else {"low": None, "high": None}
    return row["value"], first["low"], first["high"]


def greater_in(row: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Say whether a larger value of a record's metric is better.

    Raises
    ------
    InputError
        A metric of another version.
    """
    lower = content["options"].get("lower_is_better") is True
    try:
        return greater_is_better(quantity_of(row), lower_is_better=lower)
    except KeyError:
        raise InputError(f"the metric {row['metric']!r} is not known to this version") from None


def level_of(content: Mapping[str, Any]) -> float:
    """Return the confidence level of a run; nan where it is no number."""
    level = content["options"].get("confidence", 0.95)
    return float(level) if isinstance(level, (int, float)) else math.nan


def _minus(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None else new - old


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
