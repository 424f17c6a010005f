"""The verdict: one sentence to act on, then at most five facts, all read from the decision table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from evalreport import numbers
from evalreport.report.naming import entry, listed
from evalreport.report.view import (
    Model,
    View,
    comparison_between,
    difference_decimals,
    interval_of,
    metric_decimals,
    metric_record,
    ranking_record,
    text_of,
    verdict_between,
)
from evalreport.texts import Message, Text, coded, has, in_words, joined, named, say, sentences

MOST_FACTS = 5
WITHOUT_CHIP = {
    "verdict.undecided": "undecided.undecided",
    "verdict.not_comparable": "undecided.not_comparable",
}
"""The texts of undecided verdicts that leave out what the chip says."""
KINDS = ("better", "worse", "undecided", "equivalent", "non-inferior", "caution")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: the kind of its chip, the chip's word, the sentence; of a gate the outcome alone."""

    kind: str
    word: str
    text: str
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the section says; ``tone`` is the kind that its frame is coloured by.

    ``judged`` says first of all how many gates failed, where one did: no winner's colour stands around that.
    ``scope`` says what the comparison leaves out where each model was trained once.
    """

    headline: str
    tone: str
    facts: tuple[Fact, ...]
    gates: tuple[Fact, ...]
    judged: str = ""
    scope: str = ""


def describe(view: View) -> Verdict:
    """Say what the decisions allow to say."""
    if len(view.models) == 1:
        headline, tone, facts = _single(view)
    elif not view.results.verdicts:
        headline, tone, facts = say("verdict.no_verdict", metric=view.primary_words), "caution", []
    elif view.results.baseline is not None:
        headline, tone, facts = _against_baseline(view, view.model(view.results.baseline))
    else:
        headline, tone, facts = _leader(view)
    facts = facts[: MOST_FACTS - 1]
    facts += _cautions(view)[: MOST_FACTS - len(facts)]
    failed = sum(gate.outcome == "fail" for gate in view.results.gates)
    judged = say("verdict.gates_failed", n=len(view.results.gates), failed=str(failed)) if failed else ""
    once = view.results.design == "test-set" and bool(view.results.verdicts)
    scope = say("verdict.trained_once") if once else ""
    return Verdict(headline, "worse" if failed else tone, tuple(facts), _gates(view), judged, scope)


def _fact(kind: str, text: str) -> Fact:
    return Fact(kind, named("chip", kind), text)


def _single(view: View) -> tuple[str, str, list[Fact]]:
    model = view.models[0]
    record = metric_record(view, model.id, view.primary)
    if record is None:
        return say("verdict.no_verdict", metric=view.primary_words), "caution", []
    decimals = metric_decimals(view, view.primary)
    value = numbers.number(record.value, decimals)
    if record.intervals:
        value += " " + numbers.interval(record.intervals[0].low, record.intervals[0].high, decimals)
    text = say("verdict.one_model", model=model.name, metric=view.primary_words, value=value.strip())
    return text, "undecided", [Fact("undecided", say("chip.alone"), say("verdict.no_comparison"))]


def _leader(view: View) -> tuple[str, str, list[Fact]]:
    leader, others = view.models[0], view.models[1:]
    sorts = _sorted_by_verdict(view, leader, others)
    beaten, open_, equal = sorts["better"], sorts["undecided"] + sorts["non-inferior"], sorts["equivalent"]
    headline, tone = _headline(view, beaten, open_, equal, worse=bool(sorts["worse"]))
    if {record.verdict for record in view.results.verdicts} == {"undecided"}:
        return headline, tone, _all_alike(view, "undecided", "verdict.none_settled")
    if {record.verdict for record in view.results.verdicts} == {"equivalent"}:
        n = len(view.models)
        headline = say("verdict.all_equivalent", n=n, number=in_words(n), metric=view.primary_words)
        return headline, tone, _all_alike(view, "equivalent", "verdict.every_pair_equivalent")
    facts = _wins(view, leader, beaten)
    facts += [_pair_fact(view, leader, model) for model in [*open_, *equal][:2]]
    return headline, tone, facts + _further(view, leader, open_[2:])


def _headline(
    view: View, beaten: list[Model], open_: list[Model], equal: list[Model], *, worse: bool
) -> tuple[str, str]:
    """Say where the leader stands to the others, and the tone of it."""
    leader, n, metric = view.models[0].name, len(view.models), view.primary_words
    if len(beaten) == n - 1:
        return say("verdict.best_of_all", n=n, number=in_words(n), leader=leader, metric=metric), "better"
    if open_ and not beaten and not equal and not worse:
        return say("verdict.nothing_settled", n=n, number=in_words(n), metric=metric), "undecided"
    extreme, others = _extreme(view), listed([m.name for m in open_ or equal], 3)
    if open_:
        said = say("verdict.leads_without", leader=leader, extreme=extreme, metric=metric, others=others)
        return said, "undecided"
    said = say(
        "verdict.leads_with_equivalents",
        n=len(equal),
        leader=leader,
        extreme=extreme,
        metric=metric,
        others=others,
    )
    return said, "equivalent"


def _against_baseline(view: View, baseline: Model) -> tuple[str, str, list[Fact]]:
    others = tuple(m for m in view.models if m is not baseline)
    better: list[Model] = []
    rest: list[Model] = []
    for model in others:
        verdict = verdict_between(view, model.id, baseline.id)
        (better if verdict is not None and verdict.verdict == "better" else rest).append(model)
    if better:
        names, n = listed([m.name for m in better], 4), len(better)
        headline = say(
            "verdict.better_than_baseline",
            n=n,
            models=names,
            baseline=baseline.name,
            metric=view.primary_words,
        )
    else:
        headline = say("verdict.none_better_than_baseline", baseline=baseline.name, metric=view.primary_words)
    facts = [_pair_fact(view, model, baseline) for model in [*better[:2], *rest[:2], *better[2:], *rest[2:]]]
    return headline, "better" if better else "undecided", facts


def _sorted_by_verdict(view: View, leader: Model, others: tuple[Model, ...]) -> dict[str, list[Model]]:
    sorts: dict[str, list[Model]] = {kind: [] for kind in KINDS}
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
    gap += " " + interval_of(view, closest, decimals)
    adjusted = [r.p_adjusted if r.p_adjusted is not None else r.p_value for _, r in pairs]
    p = numbers.p_phrase(max((value for value in adjusted if value is not None), default=None))
    correction = view.results.options.get("correction", "none")
    if len(view.results.verdicts) > 1 and has(f"correction.{correction}") and correction != "none":
        p = say("verdict.p_adjusted", correction=named("correction", correction), p=p)
    names = [m.name for m, _ in pairs]
    if len(names) > 1 and "<" in p:
        p = say("verdict.p_for_each", p=p)
    elif len(names) > 1:
        p = p.replace("p = ", say("verdict.p_at_most") + " ")
    text = say(
        "verdict.beats",
        n=len(names),
        leader=leader.name,
        others=listed(names, 4),
        closest=names[0],
        metric=view.primary_words,
        gap=gap.strip(),
        p=p,
    )
    return [_fact("better", text)]


def _pair_fact(view: View, a: Model, b: Model) -> Fact:
    """Quote the decision table on one pair, whichever way round it stands there."""
    for record in view.results.verdicts:
        if set(record.about) == {a.id, b.id}:
            turned = verdict_between(view, a.id, b.id)
            kind = turned.verdict if turned is not None else record.verdict
            return _fact(kind, text_of(view, _without_chip(record.text)))
    return _fact("undecided", say("verdict.not_compared", a=a.name, b=b.name))


def _without_chip(text: Text) -> Text:
    """Leave out of a decision's sentence what the chip before it says."""
    first, *notes = joined(text)
    code, params = coded(first)
    return sentences(Message(WITHOUT_CHIP[code], **params), *notes) if code in WITHOUT_CHIP else text


def _extreme(view: View) -> str:
    """Say that the leader has the extreme value, or shares it with the next."""
    places = [ranking_record(view, model.id) for model in view.models[:2]]
    shared = all(place is not None and place.rank == 1 for place in places)
    if view.greater_is_better:
        return say("verdict.shares_highest" if shared else "verdict.has_highest")
    return say("verdict.shares_lowest" if shared else "verdict.has_lowest")


def _all_alike(view: View, kind: str, key: str) -> list[Fact]:
    """Of pairs that are all decided alike, quote the one with the largest difference."""
    pairs = list(combinations(view.models, 2))
    records = [comparison_between(view, view.primary, a.id, b.id) for a, b in pairs]
    sizes = [abs(r.difference) if r is not None and r.difference is not None else -1.0 for r in records]
    a, b = pairs[sizes.index(max(sizes))]
    widest = _pair_fact(view, a, b)
    if len(pairs) == 1:
        return [widest]
    return [_fact(kind, say(key, n=len(pairs), number=in_words(len(pairs)), pair=widest.text))]


def _further(view: View, leader: Model, rest: list[Model]) -> list[Fact]:
    pairs = [say("report.versus", a=leader.name, b=m.name) for m in rest]
    pairs += [
        say("report.versus", a=view.model(record.about[0]).name, b=view.model(record.about[1]).name)
        for record in view.results.verdicts
        if record.verdict == "undecided" and leader.id not in record.about
    ]
    if not pairs:
        return []
    return [_fact("undecided", say("verdict.more_pairs", pairs=listed(pairs, 4)))]


def _cautions(view: View) -> list[Fact]:
    grouped: dict[str, list[str]] = {}
    metric = entry("metric", view.primary.metric)
    for warning in sorted(
        view.results.warnings, key=lambda w: (w.level != "blocker", w.code not in OF_THE_TEST)
    ):
        if warning.level == "info":
            continue  # what changes no reading of the verdict stands under Methods and limits alone
        if warning.code == "majority_class" and metric is not None and not metric.share_of_right:
            continue  # it says that other metrics than the share of right answers tell more
        grouped.setdefault(warning.code, []).append(text_of(view, warning.text))
    facts = [_fact("caution", texts[0]) for texts in grouped.values()]
    if len(facts) > 2:
        codes = listed([code.replace("_", " ") for code in grouped][2:], 4)
        facts = [*facts[:2], _fact("caution", say("verdict.further_cautions", codes=codes))]
    return facts


OF_THE_TEST = frozenset(
    {
        "few_errors_of_a_class",
        "few_flagged",
        "few_clusters",
        "unequal_weights",
        "few_large_losses",
        "few_seeds",
    }
    | {"short_interval", "short_difference_interval", "folds_taken_as_independent", "trained_on_test"}
)
"""Cautions about the error rate of the verdict's own test or interval: they come first."""
GATE_KINDS = {"pass": "better", "fail": "caution", "undecided": "undecided"}


def _gates(view: View) -> tuple[Fact, ...]:
    facts = []
    for gate in view.results.gates:
        outcome, text = named("gate", gate.outcome), text_of(view, f"{gate.gate}: {gate.text}")
        facts.append(Fact(GATE_KINDS[gate.outcome], say("verdict.gate", outcome=outcome), text, outcome))
    return tuple(facts)
