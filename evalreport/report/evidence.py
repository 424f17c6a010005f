"""The last pages of a report that is signed: the flow of cases, lines to sign, and checklists."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    steps: tuple[Step, ...]
    models: tuple[ModelFlow, ...]
    headline: str
    digests: str
    lines: tuple[str, ...]
    checklists: tuple[Checklist, ...]
    checklist_title: str


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
    steps, used = _steps(results.flow), _used(results)
    read = next((r.n for r in results.flow if r.step == "read" and r.model is None), used)
    headline = "" if results.headline is None else str(results.headline.text)
    return Evidence(
        title=say("signed.title", used=used, read=read)
        if read != used
        else say("signed.title_all", used=used),
        flow_title=say("signed.flow") if steps else say("signed.nothing_left_out"),
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


def _used(results: Results) -> int:
    return next((r.n for r in results.flow if r.step == "used"), results.n)


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

Answer = tuple[State, str]
"""The state of an item, and the key of the text that says where, or what is missing."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides whether an item is answered: the results, the sections of the report, and whether it is signed."""

    results: Results
    sections: frozenset[str]
    signed: bool

    @property
    def has_groups(self) -> bool:
        """Whether values by groups are there."""
        return "slices" in self.sections

    @property
    def options(self) -> Mapping[str, object]:
        """The options of the run."""
        return self.results.options


def _flow(facts: Facts) -> Answer:
    return ("answered", "flow") if facts.results.flow else ("in_part", "flow_unknown")


def _groups(facts: Facts) -> Answer:
    return ("in_part", "groups") if facts.has_groups else ("cannot", "no_groups")


def _clusters(facts: Facts) -> Answer:
    if facts.options.get("cluster"):
        return ("in_part", "clusters")
    return ("in_part", "groups_not_clusters") if facts.has_groups else ("cannot", "no_clusters")


def _performance(facts: Facts) -> Answer:
    return ("answered", "performance_groups") if facts.has_groups else ("in_part", "performance")


def _cut_offs(facts: Facts) -> Answer:
    if facts.options.get("criteria"):
        return ("answered", "cut_offs_declared")
    return ("in_part", "cut_offs") if "thresholds" in facts.sections else ("cannot", "no_cut_offs")


def _output(facts: Facts) -> Answer:
    return ("in_part", "output_thresholds") if "thresholds" in facts.sections else ("in_part", "output")


def _cross_table(facts: Facts) -> Answer:
    return ("answered", "cases") if "cases" in facts.sections else ("cannot", "no_cases")


def _size(facts: Facts) -> Answer:
    return ("answered", "n_max") if facts.options.get("n_max") else ("cannot", "no_n_max")


def _signed(facts: Facts) -> Answer:
    return ("answered", "signed") if facts.signed else ("in_part", "not_signed")


def _monitoring(facts: Facts) -> Answer:
    return ("in_part", "audited") if facts.results.audit else ("cannot", "audit_can")


def _always(state: State, where: str) -> Callable[[Facts], Answer]:
    return lambda _facts: (state, where)


ITEMS: tuple[tuple[str, tuple[tuple[str, str, Callable[[Facts], Answer]], ...]], ...] = (
    (
        "tripod",
        (
            ("5a, 6a", "data", _always("cannot", "yours_files")),
            ("8a", "outcome", _always("cannot", "yours")),
            ("10", "size", _always("in_part", "settle")),
            ("11", "missing", _flow),
            ("12e", "measures", _always("answered", "methods")),
            ("14", "fairness", _always("cannot", "yours_fairness")),
            ("15", "output", _output),
            ("20a", "flow", _flow),
            ("21", "numbers", _always("answered", "numbers")),
            ("23a", "performance", _performance),
            ("23b", "heterogeneity", _clusters),
            ("26", "limitations", _always("in_part", "cautions")),
        ),
    ),
    (
        "stard",
        (
            ("15c (12a)", "cut_offs", _cut_offs),
            ("18 (14)", "methods", _always("answered", "methods")),
            ("19, 20 (15, 16)", "indeterminate", _flow),
            ("21 (17)", "variability", _groups),
            ("22 (18)", "intended_size", _size),
            ("23", "bias", _groups),
            ("24 (19)", "flow", _flow),
            ("30 (23)", "cross_table", _cross_table),
            ("31 (24)", "accuracy", _always("answered", "decision")),
            ("33 (26)", "limitations", _always("in_part", "cautions")),
        ),
    ),
    (
        "annex",
        (
            ("2 (g)", "testing", _signed),
            ("3", "persons", _groups),
            ("4", "appropriate", _always("in_part", "purpose")),
            ("9", "monitoring", _monitoring),
        ),
    ),
)
"""The items that an evaluation can answer: of TRIPOD+AI (Collins et al. 2024, BMJ 385:e078378), of STARD-AI (2025,
Sounderajah et al.), in brackets the numbers of STARD 2015 (Bossuyt et al., BMJ 351:h5527), and of Annex IV of
Regulation (EU) 2024/1689. Numbers and wording were compared with copies of these lists on 26 November 2026."""


def checklists_of(results: Results, sections: frozenset[str], *, signed: bool) -> tuple[Checklist, ...]:
    """Say of every item whether the report answers it, and where."""
    facts = Facts(results, sections, signed)
    checklists = []
    for name, items in ITEMS:
        rows = []
        for number, asks, answer in items:
            state, where = answer(facts)
            text = say(f"checklist.where.{where}")
            rows.append(Item(number, say(f"checklist.asks.{asks}"), state, say(f"checklist.{state}"), text))
        checklists.append((say(f"checklist.name.{name}"), tuple(rows)))
    return tuple(checklists)
