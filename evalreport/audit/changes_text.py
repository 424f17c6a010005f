"""What changed between two runs, in words: lines for a terminal, Markdown for a review."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from evalreport import numbers
from evalreport.audit.compare_runs import Compared
from evalreport.audit.values_compared import ValueChange
from evalreport.report.markdown import escaped

MOST_OTHERS = 40
"""Other metrics, and other things that changed, are listed up to so many in a review; JSON has them all."""
WORDS = {
    "better": "better",
    "worse": "WORSE",
    "not settled": "not settled",
    "same predictions": "the same predictions",
    "not comparable": "not comparable",
}
ALONE = (
    "Judged from the two results alone, each value by its interval: where the examples are the same, --inputs OLD_DIR"
    " NEW_DIR compares pair by pair and settles more."
)


def headline(found: Compared) -> str:
    """Say the most important thing in one sentence."""
    judged = [value for value in found.values if value.primary and value.within is None]
    by_word = {word: [v.model for v in judged if v.judgement == word] for word in WORDS}
    parts = [
        f"{', '.join(models)}: {WORDS[word]}"
        for word, models in by_word.items()
        if models and word in ("worse", "better", "not comparable")
    ]
    if not judged:
        return f"No model of the old run has {found.primary_metric} in both runs."
    if not parts:
        same = len(by_word["same predictions"]) == len(judged)
        return "No predictions changed." if same else f"No change of {found.primary_metric} is settled."
    return f"{found.primary_metric}: {'; '.join(parts)}."


def as_text(found: Compared) -> Iterator[str]:
    """Write lines for a terminal."""
    yield f"old: {found.old}"
    yield f"new: {found.new}"
    yield headline(found)
    for value in _judged(found):
        yield f"  {_name(value)}: {_side(value, old=True)} -> {_side(value)}: {_change(value)}"
        yield f"    {_words(value)}: {value.how}"
    if not found.paired and _unsettled(found):
        yield ALONE
    yield from _models(found)
    for verdict in found.verdicts:
        yield f"verdict {verdict.a} vs {verdict.b}: {verdict.old or 'none'} -> {verdict.new or 'none'}"
    for gate in found.gates:
        yield f"gate {gate.gate}: {gate.old or 'not asked'} -> {gate.new or 'TAKEN OUT'}{_said(gate.text)}"
    for value in _others(found):
        yield f"  {_name(value)}: {_side(value, old=True)} -> {_side(value)} (not judged)"
    for other in found.others:
        yield f"{other.kind} {other.what}: {_shown(other.before)} -> {_shown(other.after)}"


def as_markdown(found: Compared) -> str:
    """Write Markdown for a review; every text from a file is escaped."""
    marker = hashlib.sha256(f"compare-runs\n{found.primary_metric}".encode("utf-8", "backslashreplace"))
    level = numbers.percent(found.level)
    lines = [f"<!-- evalreport:{marker.hexdigest()[:12]} -->", f"**{escaped(headline(found))}**", ""]
    judged = list(_judged(found))
    if judged:
        lines += _table(
            ("Model", f"Old ({level} interval)", "New", "New − old", ""),
            [(_name(v), _side(v, old=True), _side(v), _change(v), _words(v)) for v in judged],
        )
        lines += [f"- {escaped(_name(v))}: {escaped(v.how)}" for v in judged] + [""]
    if not found.paired and _unsettled(found):
        lines += [escaped(ALONE), ""]
    lines += [f"- {escaped(line)}" for line in _models(found)]
    if found.verdicts:
        rows = [(f"{v.a} vs {v.b}", v.old or "none", v.new or "none") for v in found.verdicts]
        lines += ["", *_table(("Verdict", "Old", "New"), rows)]
    if found.gates:
        gates = [(g.gate, g.old or "not asked", g.new or "TAKEN OUT", g.text) for g in found.gates]
        lines += ["", *_table(("Gate", "Old", "New", ""), gates)]
    others = [(_name(v), _side(v, old=True), _side(v)) for v in _others(found)]
    lines += _folded("Other metrics (shown, not judged)", ("Metric", "Old", "New"), others)
    rows = [(f"{c.kind} {c.what}", _shown(c.before), _shown(c.after)) for c in found.others]
    lines += _folded("Data, options, inputs, versions, warnings", ("", "Old", "New"), rows)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


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
    more = [f"{left} more stand in the JSON (`-f json`).", ""] if left > 0 else []
    summary = f"<details><summary>{title}: {len(rows)}</summary>"
    return ["", summary, "", *_table(heads, rows[:MOST_OTHERS]), *more, "</details>"]


# --- parts ----------------------------------------------------------------------------------------------------------


def _judged(found: Compared) -> Iterator[ValueChange]:
    return (value for value in found.values if value.primary and value.within is None)


def _unsettled(found: Compared) -> bool:
    return any(value.judgement == "not settled" for value in _judged(found))


def _others(found: Compared) -> list[ValueChange]:
    """Return the other values that are not the same; within slices too."""
    judged = set(map(id, _judged(found)))
    return [value for value in found.values if id(value) not in judged and value.old != value.new]


def _models(found: Compared) -> list[str]:
    added = [f"model {model}: new, with nothing to compare it with" for model in found.models_added]
    return added + [f"model {model}: is not in the new run" for model in found.models_removed]


def _name(value: ValueChange) -> str:
    inside = "" if value.within is None else f" [{value.within}]"
    return f"{value.model} {value.metric}{inside}"


def _side(value: ValueChange, *, old: bool = False) -> str:
    at, low, high = (
        (value.old, value.old_low, value.old_high) if old else (value.new, value.new_low, value.new_high)
    )
    decimals = _decimals(value)
    return f"{numbers.number(at, decimals)} {numbers.interval(low, high, decimals)}".strip()


def _change(value: ValueChange) -> str:
    decimals = _decimals(value)
    p = value.p_adjusted
    said = f", Holm {numbers.p_phrase(p)}" if p is not None else ""
    limits = numbers.interval(value.low, value.high, decimals, signed=True)
    return f"{numbers.number(value.difference, decimals, signed=True)} {limits}".strip() + said


def _decimals(value: ValueChange) -> int:
    pairs = ((value.old_low, value.old_high), (value.new_low, value.new_high), (value.low, value.high))
    return max(
        numbers.decimals_of(
            [(high - low) / 4 for low, high in pairs if low is not None and high is not None]
        ),
        3,
    )


def _words(value: ValueChange) -> str:
    return WORDS[value.judgement] if value.judgement is not None else ""


def _said(text: str) -> str:
    return f" ({text})" if text else ""


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
