"""What an audit has to say first: what changed since the accepted run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport import numbers
from evalreport.report.naming import entry
from evalreport.report.view import View, text_of
from evalreport.texts import Message, coded, named, say

if TYPE_CHECKING:
    from evalreport.results import AuditRecord

OF_MODELS = ("worse", "worse_this_run", "slice")
"""The questions of an audit that are about models; the others are about data."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What an audit has to say first: what changed most since the accepted run, or that nothing did."""

    text: str
    about: str
    alarm: bool


def headline(view: View) -> Changed | None:
    """Say what changed since the accepted run; nothing where this is no audit of an accepted run."""
    records = view.results.audit
    if not records:
        return None
    look = say("audit.look", look=records[0].look, run=records[0].run, examples=numbers.count(view.results.n))
    alarms = sorted(
        (r for r in records if r.alarm), key=lambda r: (r.question not in OF_MODELS, r.question != "slice")
    )
    if not alarms:
        return Changed(say("audit.nothing_changed", value=_now(view)), look, False)
    first = alarms[0]
    texts = [_change(view, first)]
    if len(alarms) > 1:
        texts.append(say("audit.more_alarms", n=len(alarms) - 1))
    return Changed(" ".join(texts), f"{_now(view)} · {look}", True)


def _now(view: View) -> str:
    """Say where the first model stands now, and where it stood at the accepted run."""
    found = next((r for r in view.results.history if r.reference == "accepted" and r.value is not None), None)
    if found is None:
        return say("report.examples", n=view.results.n)
    known = {"model": view.model(found.model).name, "metric": view.primary_words}
    now, then = (_size(view, value) for value in (found.value, found.reference_value))
    return say("audit.now", now=now, then=then, **known)


def _size(view: View, value: float | None) -> str:
    """Write a share of right answers in percent, any other value with three digits."""
    if value is None:
        return numbers.MISSING
    known = entry("metric", view.primary.metric)
    of_right = known is not None and known.share_of_right
    return numbers.share(value, 1.0) if of_right else numbers.to_digits(value)


def _change(view: View, record: AuditRecord) -> str:
    """Say one alarm as a change: from what to what; where the record does not hold both, in its own words."""
    code, params = coded(record.text)
    model, _, place = record.about.partition(", ")
    about = place.replace(" = ", " ") if record.question == "slice" else record.about
    now, then = params.get("now"), params.get("then")
    if record.question in ("worse", "worse_this_run"):
        found = next(
            (r for r in view.results.history if r.reference == "accepted" and r.model == record.about), None
        )
        if found is not None and found.difference is not None:
            then, now = _size(view, found.reference_value), _size(view, found.value)
            return say("audit.changed", about=text_of(view, record.about), then=then, now=now)
    if code != "slice_since.fell" or not isinstance(now, float) or not isinstance(then, float):
        return f"{named_alarm(view, record)}: {text_of(view, record.text)}."
    how = coded(params["how"])[1] if isinstance(params.get("how"), Message) else {}  # type: ignore[arg-type]
    sizes = [_size(view, value) for value in (then, now)]
    for i, name in enumerate(("then", "now")):
        if isinstance(how.get(name), int):
            sizes[i] += f" (n = {how[name]:,})"
    many = len({r.about.split(",")[0] for r in view.results.audit if r.question == "slice"}) > 1
    about = about[:1].upper() + about[1:]
    return say(
        "audit.fell_of" if many else "audit.fell",
        model=text_of(view, model),
        about=text_of(view, about),
        then=sizes[0],
        now=sizes[1],
    )


def named_alarm(view: View, record: AuditRecord) -> str:
    """Name what an alarm is about."""
    if record.question in OF_MODELS:
        return text_of(view, record.about)
    return f"{named('audit.question', record.question)} {text_of(view, record.about)}".strip()
