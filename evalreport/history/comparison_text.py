"""The comparison of two runs in words: for a terminal, and as Markdown for a review."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from evalreport import numbers
from evalreport.headline.runs import GateOfRuns
from evalreport.history.compare_runs import Compared, ValueChange
from evalreport.report.markdown import escaped
from evalreport.texts import named, say

MOST_OTHERS = 40
"""Other metrics and other changes that Markdown lists at most; JSON has all of them."""


HALF_A_SCREEN = 20
"""Lines that a terminal shows at most, unless all are asked for."""


def half_a_screen(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and where more follow how many these are.

    Examples
    --------
    >>> len(half_a_screen(["a"] * 20)), half_a_screen(["a"] * 21)[-1]
    (20, '2 more lines: --verbose shows them')
    """
    if len(lines) <= HALF_A_SCREEN:
        return list(lines)
    shown = list(lines[: HALF_A_SCREEN - 1])
    return [*shown, say("changes.more_lines", n=len(lines) - len(shown))]


def as_text(found: Compared) -> Iterator[str]:
    """Yield the lines for a terminal."""
    yield say("changes.line.old", run=found.old)
    yield say("changes.line.new", run=found.new)
    yield str(found.headline.text)
    for value in _judged(found):
        yield f"  {_name(value)}: {_side(value, old=True)} -> {_side(value)}: {_change(value)}"
        yield f"    {_words(value)}: {value.change.explanation}"
    if not found.paired and _unsettled(found):
        yield say("changes.alone")
    yield from _models(found)
    for verdict in found.verdicts:
        old, new = (side or say("changes.no_verdict") for side in (verdict.old, verdict.new))
        yield say("changes.line.verdict", a=verdict.a, b=verdict.b, old=old, new=new)
    yield from map(_gate, found.gates)
    for value in _others(found):
        name, old, new = _name(value), _side(value, old=True), _side(value)
        yield say("changes.line.other", name=name, old=old, new=new)
    for other in found.others:
        yield f"{other.kind} {other.what}: {_shown(other.before)} -> {_shown(other.after)}"


def as_markdown(found: Compared) -> str:
    """Return Markdown for a review; texts from files are escaped."""
    marker = hashlib.sha256(f"compare-runs\n{found.primary_metric}".encode("utf-8", "backslashreplace"))
    lines = [f"<!-- evalreport:{marker.hexdigest()[:12]} -->", f"**{escaped(str(found.headline.text))}**", ""]
    judged = list(_judged(found))
    if judged:
        lines += _judged_table(found, "old_interval", judged)
        lines += [f"- {escaped(_name(v))}: {escaped(str(v.change.explanation))}" for v in judged] + [""]
    if not found.paired and _unsettled(found):
        lines += [escaped(say("changes.alone")), ""]
    lines += [f"- {escaped(line)}" for line in _models(found)]
    if found.verdicts:
        none = say("changes.no_verdict")
        rows = [(say("report.versus", a=v.a, b=v.b), v.old or none, v.new or none) for v in found.verdicts]
        lines += ["", *_table(_heads("verdict", "old", "new"), rows)]
    if found.gates:
        before, after = say("changes.not_asked"), say("changes.taken_out")
        gates = [(g.gate, g.old or before, g.new or after, g.text) for g in found.gates]
        lines += ["", *_table((*_heads("gate", "old", "new"), ""), gates)]
    others = [(_name(v), _side(v, old=True), _side(v)) for v in _others(found)]
    lines += _folded(say("changes.other_metrics"), _heads("metric", "old", "new"), others)
    rows = [(f"{c.kind} {c.what}", _shown(c.before), _shown(c.after)) for c in found.others]
    lines += _folded(say("changes.others"), ("", *_heads("old", "new")), rows)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def as_part(found: Compared) -> str:
    """Return the part of a review's comment about the base branch: settled changes, values, changed gates."""
    moved = [value for value in _judged(found) if value.judgement != "same predictions"]
    lines = [f"### {say('changes.since_base')}", "", escaped(str(found.headline.text)), ""]
    if moved:
        lines += _judged_table(found, "base_interval", moved[:MOST_OTHERS])
    if not found.paired and _unsettled(found):
        lines += [escaped(say("changes.alone_in_part")), ""]
    lines += [f"- {escaped(line)}" for line in _models(found)]
    lines += [f"- {escaped(_gate(gate))}" for gate in found.gates if gate.old != gate.new]
    return "\n".join(lines).rstrip("\n") + "\n"


def _judged_table(found: Compared, old: str, values: Sequence[ValueChange]) -> list[str]:
    heads = (*_heads("model", old, level=numbers.percent(found.level)), *_heads("new", "change"), "")
    return _table(heads, [(_name(v), _side(v, old=True), _side(v), _change(v), _words(v)) for v in values])


def _heads(*names: str, **values: object) -> tuple[str, ...]:
    return tuple(say(f"changes.head.{name}", **values) for name in names)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = "|".join("---" for _ in heads)
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return [f"| {' | '.join(map(_cell, heads))} |", f"|{marks}|", *body, ""]


def _cell(text: str) -> str:
    return str(escaped(" ".join(text.split())))


def _folded(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    left = len(rows) - MOST_OTHERS
    more = [say("changes.more", n=left), ""] if left > 0 else []
    summary = f"<details><summary>{title}: {len(rows)}</summary>"
    return ["", summary, "", *_table(heads, rows[:MOST_OTHERS]), *more, "</details>"]


def _judged(found: Compared) -> Iterator[ValueChange]:
    return (value for value in found.values if value.primary and value.within is None)


def _unsettled(found: Compared) -> bool:
    return any(value.judgement == "not settled" for value in _judged(found))


def _others(found: Compared) -> list[ValueChange]:
    """Return the changed values of other metrics and of slices."""
    judged = set(map(id, _judged(found)))
    return [value for value in found.values if id(value) not in judged and value.old != value.new]


def _models(found: Compared) -> list[str]:
    added = [say("changes.model_added", model=model) for model in found.models_added]
    return added + [say("changes.model_removed", model=model) for model in found.models_removed]


def _name(value: ValueChange) -> str:
    inside = "" if value.within is None else f" [{value.within}]"
    return f"{value.model} {value.metric}{inside}"


def _side(value: ValueChange, *, old: bool = False) -> str:
    at, (low, high) = (value.old, value.old_limits) if old else (value.new, value.new_limits)
    decimals = _decimals(value)
    return f"{numbers.number(at, decimals)} {numbers.interval(low, high, decimals)}".strip()


def _change(value: ValueChange) -> str:
    decimals = _decimals(value)
    p = value.p_adjusted
    test = f", Holm {numbers.p_phrase(p)}" if p is not None else ""
    limits = numbers.interval(value.change.low, value.change.high, decimals, signed=True)
    return f"{numbers.number(value.difference, decimals, signed=True)} {limits}".strip() + test


def _decimals(value: ValueChange) -> int:
    pairs = (value.old_limits, value.new_limits, (value.change.low, value.change.high))
    halves = [(high - low) / 4 for low, high in pairs if low is not None and high is not None]
    return max(numbers.decimals_of(halves), 3)


def _words(value: ValueChange) -> str:
    if value.judgement is None:
        return ""
    return named("changes.judgement", value.judgement.replace(" ", "_"))


def _gate(gate: GateOfRuns) -> str:
    old, new = gate.old or say("changes.not_asked"), gate.new or say("changes.taken_out")
    text = f" ({gate.text})" if gate.text else ""
    return say("changes.line.gate", gate=gate.gate, old=old, new=new, text=text)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
