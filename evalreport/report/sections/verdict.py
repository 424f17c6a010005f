"""The verdict: one sentence to act on, then at most five facts, all read from the decision table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from evalreport import numbers
from evalreport.report import wording
from evalreport.report.naming import listed
from evalreport.report.view import (
    Model,
    View,
    comparison_between,
    difference_decimals,
    metric_decimals,
    metric_record,
    ranking_record,
    text_of,
    verdict_between,
)

MOST_FACTS = 5


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: the kind of its chip, the chip's word, the sentence."""

    kind: str
    word: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the section says; ``tone`` is the kind that its frame is coloured by."""

    headline: str
    tone: str
    facts: tuple[Fact, ...]
    gates: tuple[Fact, ...]


def describe(view: View) -> Verdict:
    """Say what the decisions allow to say."""
    if len(view.models) == 1:
        headline, tone, facts = _single(view)
    elif not view.results.verdicts:
        headline, tone, facts = wording.no_verdict(view.primary_words), "caution", []
    elif view.results.baseline is not None:
        headline, tone, facts = _against_baseline(view, view.model(view.results.baseline))
    else:
        headline, tone, facts = _leader(view)
    facts = facts[: MOST_FACTS - 1]
    return Verdict(headline, tone, (*facts, *_cautions(view)[: MOST_FACTS - len(facts)]), _gates(view))


def _fact(kind: str, text: str) -> Fact:
    return Fact(kind, wording.CHIPS[kind], text)


def _single(view: View) -> tuple[str, str, list[Fact]]:
    model = view.models[0]
    record = metric_record(view, model.id, view.primary)
    if record is None:
        return wording.no_verdict(view.primary_words), "caution", []
    decimals = metric_decimals(view, view.primary)
    value = numbers.number(record.value, decimals)
    if record.intervals:
        value += " " + numbers.interval(record.intervals[0].low, record.intervals[0].high, decimals)
    text = wording.one_model(model.name, view.primary_words, value.strip())
    return text, "undecided", [Fact("undecided", wording.ALONE, wording.NO_COMPARISON)]


def _leader(view: View) -> tuple[str, str, list[Fact]]:
    leader, others = view.models[0], view.models[1:]
    sorts = _sorted_by_verdict(view, leader, others)
    beaten, open_, equal = sorts["better"], sorts["undecided"] + sorts["non-inferior"], sorts["equivalent"]
    extreme = _verb(view) + (" highest" if view.greater_is_better else " lowest")
    metric, names = view.primary_words, [m.name for m in open_]
    if len(beaten) == len(others):
        headline, tone = wording.best_of_all(leader.name, len(view.models), metric), "better"
    elif open_ and not beaten and not equal and not sorts["worse"]:
        headline, tone = wording.nothing_settled(len(view.models), metric), "undecided"
    elif open_:
        headline, tone = wording.leads_without(leader.name, extreme, metric, names), "undecided"
    else:
        equals = [m.name for m in equal]
        headline, tone = wording.leads_with_equivalents(leader.name, extreme, metric, equals), "equivalent"
    if {record.verdict for record in view.results.verdicts} == {"undecided"}:
        return headline, tone, _all_alike(view, "undecided", wording.none_settled)
    if {record.verdict for record in view.results.verdicts} == {"equivalent"}:
        headline = wording.all_equivalent(len(view.models), metric)
        return headline, tone, _all_alike(view, "equivalent", wording.every_pair_equivalent)
    facts = _wins(view, leader, beaten)
    facts += [_pair_fact(view, leader, model) for model in [*open_, *equal][:2]]
    return headline, tone, facts + _further(view, leader, open_[2:])


def _against_baseline(view: View, baseline: Model) -> tuple[str, str, list[Fact]]:
    others = tuple(m for m in view.models if m is not baseline)
    better: list[Model] = []
    rest: list[Model] = []
    for model in others:
        verdict = verdict_between(view, model.id, baseline.id)
        (better if verdict is not None and verdict.verdict == "better" else rest).append(model)
    if better:
        names = [m.name for m in better]
        headline = wording.better_than_baseline(names, baseline.name, view.primary_words)
    else:
        headline = wording.none_better_than_baseline(baseline.name, view.primary_words)
    facts = [_pair_fact(view, model, baseline) for model in [*better[:2], *rest[:2], *better[2:], *rest[2:]]]
    return headline, "better" if better else "undecided", facts


def _sorted_by_verdict(view: View, leader: Model, others: tuple[Model, ...]) -> dict[str, list[Model]]:
    sorts: dict[str, list[Model]] = {kind: [] for kind in wording.CHIPS}
    for model in others:
        verdict = verdict_between(view, leader.id, model.id)
        sorts[verdict.verdict if verdict is not None else "undecided"].append(model)
    return sorts


def _wins(view: View, leader: Model, beaten: list[Model]) -> list[Fact]:
    records = [comparison_between(view, view.primary, leader.id, m.id) for m in beaten]
    pairs = [
        (m, r) for m, r in zip(beaten, records, strict=True) if r is not None and r.difference is not None
    ]
    if not pairs:
        return []
    pairs.sort(key=lambda pair: abs(pair[1].difference or 0.0))
    decimals = difference_decimals(view, view.primary)
    closest = pairs[0][1]
    gap = numbers.number(closest.difference, decimals, signed=True)
    gap += " " + numbers.interval(closest.low, closest.high, decimals, signed=True)
    adjusted = [r.p_adjusted if r.p_adjusted is not None else r.p_value for _, r in pairs]
    p = numbers.p_phrase(max((value for value in adjusted if value is not None), default=None))
    correction = view.results.options.get("correction", "none")
    if len(view.results.verdicts) > 1 and correction in wording.CORRECTIONS and correction != "none":
        p = f"{wording.CORRECTIONS[correction]}-adjusted {p}"
    decided = verdict_between(view, leader.id, pairs[0][0].id)
    low, high = (None, None) if decided is None else (decided.low, decided.high)
    if low is not None and high is not None and low <= 0 <= high:
        gap += wording.BORDERLINE
    text = wording.beats(leader.name, [m.name for m, _ in pairs], view.primary_words, p, gap.strip())
    return [_fact("better", text)]


def _pair_fact(view: View, a: Model, b: Model) -> Fact:
    """Quote the decision table on one pair, whichever way round it stands there."""
    for record in view.results.verdicts:
        if set(record.about) == {a.id, b.id}:
            turned = verdict_between(view, a.id, b.id)
            kind = turned.verdict if turned is not None else record.verdict
            names = "" if a.name in record.text and b.name in record.text else f"{a.name} and {b.name}: "
            return _fact(kind, names + wording.without_chip(text_of(view, record.text)))
    return _fact("undecided", f"{a.name} and {b.name} were not compared.")


def _verb(view: View) -> str:
    """Say that the leader has the extreme value, or shares it with the next."""
    places = [ranking_record(view, model.id) for model in view.models[:2]]
    return "shares the" if all(place is not None and place.rank == 1 for place in places) else "has the"


def _all_alike(view: View, kind: str, said: Callable[[int], str]) -> list[Fact]:
    """Of pairs that are all decided alike, quote the one with the largest difference."""
    pairs = list(combinations(view.models, 2))
    records = [comparison_between(view, view.primary, a.id, b.id) for a, b in pairs]
    sizes = [abs(r.difference) if r is not None and r.difference is not None else -1.0 for r in records]
    a, b = pairs[sizes.index(max(sizes))]
    widest = _pair_fact(view, a, b)
    if len(pairs) == 1:
        return [widest]
    return [_fact(kind, f"{said(len(pairs))} {widest.text}")]


def _further(view: View, leader: Model, rest: list[Model]) -> list[Fact]:
    pairs = [f"{leader.name} vs {m.name}" for m in rest]
    pairs += [
        " vs ".join(view.model(name).name for name in record.about)
        for record in view.results.verdicts
        if record.verdict == "undecided" and leader.id not in record.about
    ]
    if not pairs:
        return []
    return [_fact("undecided", wording.more_pairs(pairs))]


def _cautions(view: View) -> list[Fact]:
    grouped: dict[str, list[str]] = {}
    for warning in view.results.warnings:
        if warning.level == "info":
            continue  # what changes no reading of the verdict stands under Methods and limits alone
        grouped.setdefault(warning.code, []).append(text_of(view, warning.text))
    facts = [_fact("caution", texts[0]) for texts in grouped.values()]
    if len(facts) > 2:
        more = f"Further cautions stand under Methods and limits: {listed(list(grouped)[2:], 4)}."
        facts = [*facts[:2], _fact("caution", more.replace("_", " "))]
    return facts


GATE_KINDS = {"pass": "better", "fail": "caution", "undecided": "undecided"}


def _gates(view: View) -> tuple[Fact, ...]:
    return tuple(
        Fact(GATE_KINDS[gate.outcome], f"gate: {gate.outcome}", text_of(view, f"{gate.gate}: {gate.text}"))
        for gate in view.results.gates
    )
