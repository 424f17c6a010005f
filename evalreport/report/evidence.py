"""The last pages of a report that is signed: the flow of cases, lines to sign, and checklists."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalreport import numbers
from evalreport.report.view import View
from evalreport.schema.inputs import FlowRecord
from evalreport.schema.results import Results
from evalreport.texts import say
from evalreport.texts.visible import visible

EMPTY_LINES = 3
"""Lines to sign where no name is given."""
DIGITS = 12
"""Digits of a digest that stand in the block that is signed."""

State = Literal["answered", "in_part", "cannot"]


@dataclass(frozen=True, slots=True)
class Step:
    """A number of cases, what they are, and those that are left out before them (None: none)."""

    n: str
    text: str
    left_out: Step | None = None


@dataclass(frozen=True, slots=True)
class ModelFlow:
    """One model's rows: read, with an empty prediction, and used."""

    name: str
    read: str
    empty: str
    used: str


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a checklist: what it asks for, whether the report answers it, and where, or what is missing."""

    number: str
    asks: str
    state: State
    word: str
    where: str


Checklist = tuple[str, tuple[Item, ...]]
"""The name of a checklist, and its items."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The flow of cases, the lines to sign and the checklists."""

    title: str
    flow_title: str
    checklist_title: str
    headline: str
    digests: str
    steps: tuple[Step, ...]
    models: tuple[ModelFlow, ...]
    lines: tuple[str, ...]
    checklists: tuple[Checklist, ...]


def describe_evidence(view: View, signed: Sequence[str], *, data: bytes, names: frozenset[str]) -> Evidence:
    """Describe what stands on the last pages.

    Parameters
    ----------
    signed
        The names and roles of those who sign; empty: lines without a name.
    data
        The bytes of results.json.
    names
        The sections of the report.
    """
    results = view.results
    checklists = checklists_of(results, names, signed=bool(signed))
    states = [item.state for _, items in checklists for item in items]
    counts = {state: states.count(state) for state in ("answered", "in_part", "cannot")}
    steps, used = _steps(results.flow), next((r.n for r in results.flow if r.step == "used"), results.n)
    read = next((r.n for r in results.flow if r.step == "read" and r.model is None), used)
    headline = "" if results.headline is None else str(results.headline.text)
    return Evidence(
        title=say("signed.title" if read != used else "signed.title_all", used=used, read=read),
        flow_title=say("signed.flow" if steps else "signed.nothing_left_out"),
        steps=steps,
        models=_models(view, used),
        headline=headline,
        digests=say(
            "signed.digests", results=_short(hashlib.sha256(data).hexdigest()), inputs=len(results.inputs)
        ),
        lines=tuple(visible(line) for line in signed) or ("",) * EMPTY_LINES,
        checklists=checklists,
        checklist_title=say("checklist.title", total=len(states), **counts),
    )


def _short(digest: str) -> str:
    """Return the first digits of a digest in groups of four."""
    return " ".join(digest[k : k + 4] for k in range(0, DIGITS, 4))


def _steps(flow: Sequence[FlowRecord]) -> tuple[Step, ...]:
    """Return the steps from the cases read to those used; none where nothing was left out."""
    whole = [r for r in flow if r.model is None]
    lost = [r for r in whole if r.step == "left_out"]
    if not lost:
        return ()
    n = whole[0].n
    steps = [Step(numbers.count(n), say("signed.step.read"))]
    for record in lost:
        n -= record.n
        out = Step(numbers.count(record.n), say(f"signed.left_out.{record.reason}"))
        last = record is lost[-1]
        kept = say("signed.step.used") if last else say(f"signed.step.{record.reason}")
        steps.append(Step(numbers.count(n), kept, out))
    return tuple(steps)


def _models(view: View, used: int) -> tuple[ModelFlow, ...]:
    rows = {r.model: r.n for r in view.results.flow if r.step == "read"}
    empty = {r.model: r.n for r in view.results.flow if r.step == "left_out" and r.model is not None}
    return tuple(
        ModelFlow(m.name, numbers.count(rows[m.id]), numbers.count(empty.get(m.id, 0)), numbers.count(used))
        for m in view.models
        if m.id in rows
    )


# --- checklists -----------------------------------------------------------------------------------------------------

ITEMS = tomllib.loads(Path(__file__).with_name("checklists.toml").read_text(encoding="utf-8"))
"""The items that an evaluation can answer, by checklist and number."""


def _facts(results: Results, sections: frozenset[str], *, signed: bool) -> frozenset[str]:
    """Return what holds of a report, as the answers of ``ITEMS`` name it."""
    holds = {"signed": signed, "flow": results.flow, "audit": results.audit}
    holds |= {f"option {name}": value for name, value in results.options.items()}
    return frozenset(name for name, value in holds.items() if value) | {
        f"section {name}" for name in sections
    }


def checklists_of(results: Results, sections: frozenset[str], *, signed: bool) -> tuple[Checklist, ...]:
    """Say of every item whether the report answers it, and where."""
    facts = _facts(results, sections, signed=signed)
    checklists = []
    for name, items in ITEMS["items"].items():
        rows = []
        for number, (asks, answer) in items.items():
            state, where = next(
                told for condition, *told in ITEMS["answers"][answer] if condition in ("", *facts)
            )
            text = say(f"checklist.where.{where}")
            rows.append(Item(number, say(f"checklist.asks.{asks}"), state, say(f"checklist.{state}"), text))
        checklists.append((say(f"checklist.name.{name}"), tuple(rows)))
    return tuple(checklists)
