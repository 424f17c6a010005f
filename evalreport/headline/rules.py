"""The rules of the headline: what leads, the one clause, and the tone, in the order of docs/how-to-read.md.

A headline is a lead and at most one clause, the gravest. ``LEADS`` is the table of what leads and ``CLAUSES`` that of
clauses: each a function from the facts of a run to a piece of the sentence, or None where it does not hold. The first
that holds is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evalreport import numbers
from evalreport.extensions import InRoom
from evalreport.gates.conditions import BEST, needs_of, parse, sides
from evalreport.gates.outcomes import leader_of
from evalreport.headline.clauses import (
    asked,
    biased,
    left_out,
    never_found,
    never_found_by_second,
    one_example,
    one_score_of_second,
    opposite_attempts,
    otherwise,
    turns_round,
    two_alike,
)
from evalreport.headline.degenerate import all_wrong, blocked, one_answer, reversed_scores, same_answers
from evalreport.headline.facts import Facts, Limited, amount, at_shares, mentions, number_of
from evalreport.headline.lead import MOST_NAMES, Lead, size
from evalreport.headline.models import (
    against_baseline,
    fallback,
    no_skill,
    several_models,
    single,
    two_models,
)
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.decisions import GateRecord, HeadlineRecord, Tone
from evalreport.schema.finding_rules import findings_of
from evalreport.schema.results import Results
from evalreport.texts import PLAIN, Message, shortened
from evalreport.texts.visible import visible

UNMOVED = 0.05
"""One-sided p-value above which a slice is said to show no fall."""
FEWER = 0.5
"""A run with less than this share of the accepted run's rows is said to have lost rows."""
MOST_FURTHER_DIGITS = 2
"""So many digits are added to a gate's limits, at most, where one looks as if it met the bar."""
DATA_QUESTIONS = ("examples", "labels", "classes", "predicted_labels", "scores", "missing", "column")
"""Questions of an audit about the data, in the order in which the headline names their alarms; of the rows first."""


def headline(results: Results, *, first_of_series: bool = False) -> HeadlineRecord:
    """Return the first sentence of a report.

    Parameters
    ----------
    results
        The records of a run, of an audit with its gates and alarms.
    first_of_series
        Whether it is an audit that has no accepted run to be compared with.
    """
    facts = Facts(results)
    lead = next(found for rule in LEADS if (found := rule(facts)) is not None)
    clause = (
        None if lead.code == "blocked" else next((c for rule in CLAUSES if (c := rule(facts, lead))), None)
    )
    sentence = lead.text if clause is None else Message("headline.clause", lead=lead.text, clause=clause)
    code, more, tone = lead.code, dict(lead.more), _tone(facts, lead)
    if first_of_series and lead.tone is None:
        sentence = Message("headline.first_run", rest=sentence)
        code, more = "first_run", more | {"then": lead.code}
    if code in ("gate_failed", "gate_undecided") and not facts.is_audit:
        of_models = next(found for rule in OF_MODELS if (found := rule(facts)) is not None)
        if not _says_the_same(of_models, lead):
            sentence = Message("headline.two", first=sentence, second=of_models.text)
    if tone == "good":
        n = len(facts.results.gates)
        sentence = Message("headline.gates_pass", n=n, number=n, rest=sentence)
    text = Message("headline.sentence", text=sentence)
    return HeadlineRecord(text=text, code=code, params=params_of(text) | more, tone=tone)


def _says_the_same(of_models: Lead, of_gate: Lead) -> bool:
    """Say whether a sentence about the only model is no more than its value, which that about a gate has said."""
    alone, said = params_of(of_models.text), params_of(of_gate.text)
    return of_models.text.code == "headline.single" and alone.items() <= said.items()


def with_headline(results: Results, *, first_of_series: bool = False) -> Results:
    """Return results with their headline and their findings, once warnings and gates are known."""
    first = headline(results, first_of_series=first_of_series)
    return replace(results, headline=first, findings=findings_of(results))


def _tone(facts: Facts, lead: Lead) -> Tone:
    if lead.tone is not None:
        return lead.tone
    gates = facts.results.gates
    return "good" if gates and all(gate.outcome == "pass" for gate in gates) else "neutral"


def params_of(message: Message) -> dict[str, Any]:
    """Flatten the parameters of a message and of those in it: every model, metric, value and limit of the text."""
    params: dict[str, Any] = {}
    for name, value in message.params.items():
        if isinstance(value, Message) and value.code != PLAIN:
            inner = params_of(value)
            if "value" in inner and set(inner) <= {"value", "limits", "half", "finer"}:
                params[name] = inner["value"]
                if "limits" in inner:
                    params[f"{name}_low"], params[f"{name}_high"] = inner["limits"]
            else:
                # A value that is there already takes the name of its part, and its limits with it.
                taken = {
                    k for k in inner if params.keys() & {k, k.removesuffix("_low").removesuffix("_high")}
                }
                params |= {f"{name}_{k}" if k in taken else k: v for k, v in inner.items()}
        elif isinstance(value, (tuple, list)):
            params[name] = [params_of(v) if isinstance(v, Message) else v for v in value]
        elif name != "half":
            params[name] = str(value) if isinstance(value, Message) else value
    return params


# --- what leads -------------------------------------------------------------------------------------------------------


def gate_failed(facts: Facts) -> Lead | None:
    """Name the worst failed gate: those about now before those about then."""
    return _gates(facts, "fail", "gate_failed", "bad")


def gate_undecided(facts: Facts) -> Lead | None:
    """Name an undecided gate."""
    return _gates(facts, "undecided", "gate_undecided", "undecided")


def _gates(facts: Facts, outcome: str, code: str, tone: Tone) -> Lead | None:
    gates = worst_first([g for g in facts.results.gates if g.outcome == outcome])
    if not gates:
        return None
    total, open_ = len(facts.results.gates), sum(g.outcome == "undecided" for g in facts.results.gates)
    key = f"headline.{code}" if len(gates) == 1 else f"headline.{code}_of"
    if outcome == "fail" and open_:
        key = "headline.gate_failed_open"
    if outcome == "undecided" and len(gates) == total > 1:
        key = "headline.gate_undecided_all"
    text = Message(key, n=len(gates), number=total, total=total, open=open_, gate=gate_text(facts, gates[0]))
    models = [m for m in facts.results.models if mentions(gates[0].gate, m)]
    first = models[0] if models else None
    return Lead(
        code, text, first, tone=tone, about=tuple(g.gate for g in gates), more={"gate": gates[0].gate}
    )


def worst_first(gates: Sequence[GateRecord]) -> list[GateRecord]:
    """Order gates: those that count alarms last, about now before about then, then by the distance from the bar."""

    def distance(gate: GateRecord) -> float:
        _, _, bar = sides(gate.gate)
        try:
            limit = float(bar)
        except ValueError:
            limit = None
        if limit is None or gate.value is None:
            return 0.0
        half = None if gate.low is None or gate.high is None else (gate.high - gate.low) / 2
        return abs(gate.value - limit) / (half or abs(limit) or 1.0)

    return sorted(gates, key=lambda g: (_counts_alarms(g.gate), about_then(g.gate), -distance(g), g.gate))


def _counts_alarms(gate: str) -> bool:
    """Say whether a gate counts alarms, so that it names no model."""
    return sides(gate)[0] in ("alarms", "drifts", "fallen_slices")


def about_then(gate: str) -> bool:
    """Say whether a gate is about an earlier run."""
    return "accepted" in gate or "last" in gate.replace('"', " ").split() or "every night" in gate


def gate_text(facts: Facts, gate: GateRecord) -> Message:
    """Say what a gate asks and what was found."""
    what, sign, bar = sides(gate.gate)
    needs = needs_of(sign, bar)
    model = next((m for m in facts.results.models if mentions(gate.gate, m)), None)
    record = None if model is None else facts.pinned.get(model)
    if model and record is not None and about_then(gate.gate) and gate.value == record.difference is not None:
        key = "gate_since" if facts.pinned == facts.accepted else "gate_since_run"
        since = _change(facts, record)
        return Message(f"headline.{key}", model=facts.name(model), needs=needs, run=record.run, **since)
    if what.startswith("regressions("):
        new, old = parse(gate.gate, models=facts.results.models).about
        key = "gate_regressions" if gate.outcome == "fail" else "gate_few_attempts"
        return Message(
            f"headline.{key}",
            model=facts.name(new),
            other=facts.name(old),
            n=int(gate.value or 0),
            needs=needs,
        )
    if gate.value is None:
        return Message("headline.gate_unknown", what=visible(what), needs=needs)
    name = _gate_words(facts, what)
    if _counts_alarms(gate.gate):
        return Message(f"headline.gate_{what}", n=int(gate.value), needs=needs)
    if gate.low is None and float(gate.value).is_integer():
        return Message("headline.gate_count", what=name, count=int(gate.value), needs=needs)
    value = amount(Limited(gate.value, gate.low, gate.high), _beside_the_bar(gate, bar))
    key = "gate" if not about_then(gate.gate) else "gate_times" if "*" in bar else "gate_change"
    return Message(f"headline.{key}", what=name, value=value, needs=needs)


def _beside_the_bar(gate: GateRecord, bar: str) -> Limited:
    """Return limits with whose digits no limit that misses the bar looks as if it met it."""
    low, high, value = gate.low, gate.high, gate.value or 0.0
    try:
        limit = float(bar)
    except ValueError:
        return Limited(value, low, high)
    if low is None or high is None:
        return Limited(value, low, high)
    half = (high - low) / 2
    for _ in range(MOST_FURTHER_DIGITS):
        shown = [numbers.shown(x, half)[0] for x in (low, high)]
        if not any(math.isclose(x, limit) and y != limit for x, y in zip(shown, (low, high), strict=True)):
            break
        half /= 10
    return Limited(value, value - half, value + half)


def _gate_words(facts: Facts, what: str) -> str | Message:
    """Name one model's metric in words; anything else as it was typed."""
    for model in sorted(facts.results.models, key=len, reverse=True):
        for spelled in (f"{model}.", f'"{model}".'):
            rest = what.removeprefix(spelled)
            if rest != what:
                exact = facts.spelled(rest)
                if exact is not None:
                    return Message(
                        "headline.models_metric", model=facts.name(model), metric=facts.words(exact)
                    )
    leader = leader_of(facts.results)
    if what.startswith(f"{BEST}.") and leader is not None:
        rest = what.removeprefix(f"{BEST}.")
        exact = facts.spelled(rest)
        if exact is not None:
            return Message("headline.best_metric", model=facts.name(leader), metric=facts.words(exact))
    return visible(what)


# --- audits


def alarm(facts: Facts) -> Lead | None:
    """Name the model (then the slice) that fell since the accepted run, by an alarm."""
    models = facts.alarms("worse", "worse_this_run")
    fallen = [r.about for r in models if r.about in facts.results.models]
    if fallen:
        changes = {m: facts.change(m) or Limited(0.0) for m in fallen}
        order = sorted(changes, key=lambda m: (m not in facts.in_service, changes[m].value, m))
        model = order[0]
        alone = _only_slice(facts, model)
        if alone is not None and len(order) == 1:
            return Lead("alarm", _fell_in(facts, alone), model, tone="bad", more={"whole": model})
        return Lead("alarm", _fell(facts, model), model, tone="bad", about=tuple(order))
    slices = facts.alarms("slice")
    if slices:
        worst = min(slices, key=lambda r: (-abs(r.effect_size or 0.0), r.about))
        return Lead("alarm", _fell_in(facts, worst), worst.about.partition(", ")[0], tone="bad")
    return None


def _only_slice(facts: Facts, model: str) -> AuditRecord | None:
    """Return the slice in which alone a model fell, where none of the others has a low p-value."""
    own = [r for r in facts.results.audit if r.question == "slice" and r.about.partition(", ")[0] == model]
    columns = {r.about.partition(", ")[2].partition(" = ")[0] for r in own}
    fallen = [r for r in own if r.alarm]
    quiet = [r for r in own if not r.alarm and r.p_value is not None and r.p_value > UNMOVED]
    return fallen[0] if len(fallen) == len(columns) == 1 and len(quiet) == len(own) - 1 > 0 else None


def _fell_in(facts: Facts, record: AuditRecord) -> Message:
    """Say that a model fell in a slice."""
    model, _, place = record.about.partition(", ")
    values = (record.details.get("now"), record.details.get("then"))
    primary = facts.quantity
    change = Limited(record.effect_size or 0.0, record.low, record.high)
    known = {
        "model": facts.name(model),
        "place": visible(place.replace(" = ", " ")),
        "metric": facts.words(primary),
        "change": number_of(change.value) if change.half is None else change.as_change(),
    }
    if None in values:
        return Message("headline.slice_fell_by", **known)
    now, then = (number_of(v or 0.0, change) for v in values)
    return Message("headline.slice_fell", now=now, then=then, **known)


def _fell(facts: Facts, model: str) -> Message:
    record, primary = facts.accepted.get(model), facts.quantity
    if record is None or record.difference is None:
        return Message("headline.fell_unknown", model=facts.name(model), metric=facts.words(primary))
    row = facts.worse.get(model)
    values = None if row is None else at_shares(row)
    if values is not None:
        now, then = (number_of(value) for value in values)
        return Message(
            "headline.fell_at_shares",
            model=facts.name(model),
            metric=facts.words(primary),
            now=now,
            then=then,
            change=Message("headline.change_alone", value=values[0] - values[1], half=None),
        )
    key = "worse_on_same" if record.paired else "fell" if facts.sign(primary) > 0 else "got_worse"
    return Message(f"headline.{key}", model=facts.name(model), n=facts.results.n, **_since(facts, model))


def _since(facts: Facts, model: str) -> dict[str, object]:
    """Return the metric, the value now and then, and the change of a model since the accepted run."""
    return _change(facts, facts.accepted[model])


def _change(facts: Facts, record: HistoryRecord) -> dict[str, object]:
    primary = facts.quantity
    assert record.difference is not None
    change = Limited(record.difference, record.low, record.high)
    now = number_of(record.value or 0.0, change)
    then = number_of(record.reference_value or 0.0, change)
    return {"metric": facts.words(primary), "now": now, "then": then, "change": change.as_change()}


def lower(facts: Facts) -> Lead | None:
    """Name a model that is worse than when accepted beyond three errors of the alarm, without an alarm."""
    return _moved(facts, -1, "lower")


def higher(facts: Facts) -> Lead | None:
    """Name a model that is better than when accepted beyond three errors of the alarm."""
    return _moved(facts, 1, "higher")


def _moved(facts: Facts, direction: int, code: str) -> Lead | None:
    changes = {m: c for m in facts.results.models if (c := facts.change(m)) is not None}
    moved = [m for m in changes if facts.moved(m) == direction]
    moved.sort(key=lambda m: (m not in facts.in_service, -direction * changes[m].value, m))
    if not moved:
        return None
    text = Message(f"headline.{code}", model=facts.name(moved[0]), **_since(facts, moved[0]))
    return Lead(code, text, moved[0], tone="undecided", about=tuple(moved))


def data_changed(facts: Facts) -> Lead | None:
    """Say that the data are other ones: lost rows, a model gone or new, other labels, classes or scores."""
    text = _data_fact(facts, group="data_changed") if facts.is_audit else None
    return None if text is None else Lead("data_changed", text, tone="undecided", more={"data": True})


def _data_fact(facts: Facts, *, rows: bool = True, group: str = "data") -> Message | None:
    gone = [r.model for r in facts.results.history if r.reference == "accepted" and r.status == "gone"]
    new = [r.model for r in facts.results.history if r.reference == "accepted" and r.status == "new"]
    then = next((r.reference_n for r in facts.accepted.values() if r.reference_n), None)
    if rows and then and facts.results.n < FEWER * then:
        return Message("headline.rows", n=facts.results.n, then=then)
    if gone and new:
        return Message(
            "headline.new_and_gone", new=facts.names(new), n=len(new), gone=tuple(map(visible, gone))
        )
    if gone:
        return Message("headline.gone", models=tuple(map(visible, gone)), n=len(gone))
    if new:
        return Message("headline.new", models=facts.names(new), n=len(new))
    for question in DATA_QUESTIONS if rows else DATA_QUESTIONS[1:]:
        alarms = facts.alarms(question)
        if alarms:
            about = visible(alarms[0].about)
            model = facts.name(alarms[0].about) if alarms[0].about in facts.results.models else about
            return Message(f"headline.{group}.{question}", about=model, what=alarms[0].text)
    return None


def no_alarm(facts: Facts) -> Lead | None:
    """Say that an audit raised no alarm, and where the model in service stands."""
    if not facts.is_audit:
        return None
    known = [
        m for m in facts.in_service if facts.accepted.get(m) and facts.accepted[m].difference is not None
    ]
    known = known or [m for m, r in facts.accepted.items() if r.difference is not None]
    if not known:
        return None
    model = known[0]
    record = facts.accepted[model]
    if record.status == "same":
        now = number_of(record.value or 0.0)
        primary = facts.quantity
        text = Message("headline.no_alarm_same", model=facts.name(model), n=facts.results.n,
                       metric=facts.words(primary), now=now)  # fmt: skip
        return Lead("same_answers", text, model)
    row = facts.worse.get(model)
    if row is not None and row.p_value is None and row.reason is not None:
        known_values = _since(facts, model)
        text = Message("headline.not_compared_with", model=facts.name(model), why=row.reason, **known_values)
        return Lead("not_compared", text, model, tone="undecided")
    text = Message("headline.no_alarm", model=facts.name(model), **_since(facts, model))
    return Lead("no_alarm", text, model)


# --- runs


OF_MODELS: tuple[Callable[[Facts], Lead | None], ...] = (
    one_answer,
    all_wrong,
    same_answers,
    reversed_scores,
    no_skill,
    single,
    against_baseline,
    two_models,
    several_models,
    fallback,
)
"""What leads of the models: the first that holds. It also stands second, behind a gate that fails or is undecided."""
LEADS: tuple[Callable[[Facts], Lead | None], ...] = (
    blocked,
    gate_failed,
    alarm,
    gate_undecided,
    lower,
    data_changed,
    higher,
    no_alarm,
    *OF_MODELS,
)
"""What leads: the first that holds."""


# --- the clause -------------------------------------------------------------------------------------------------------


def further(facts: Facts, lead: Lead) -> Message | None:
    """Name a further gate that fails, or a further model that fell; else where the model in service stands."""
    if lead.code in ("gate_failed", "gate_undecided"):
        outcome = "fail" if lead.code == "gate_failed" else "undecided"
        gates = worst_first([g for g in facts.results.gates if g.outcome == outcome])
        other = next((g for g in gates[1:] if not (lead.first and mentions(g.gate, lead.first))), None)
        if other is not None:
            return Message("headline.further_gate", gate=gate_text(facts, other))
        fallen = [r.about for r in facts.alarms("worse", "worse_this_run") if r.about in facts.accepted]
        others = [m for m in dict.fromkeys(fallen) if m != lead.first]
        if others:
            return _of_others("headline.fell_too", facts, others)
        return None if about_then(str(lead.more["gate"])) else _then(facts, lead.first)
    if lead.code == "alarm" and "whole" in lead.more and lead.first is not None:
        return Message("headline.over_all", **_since(facts, lead.first))
    if lead.code == "alarm" and len(lead.about) > 1:
        return _of_others("headline.fell_too", facts, [m for m in lead.about if m != lead.first])
    if lead.code in ("lower", "higher") and len(lead.about) > 1:
        return _of_others("headline.so_are", facts, [m for m in lead.about if m != lead.first])
    return None


def _of_others(text: str, facts: Facts, models: Sequence[str]) -> Message:
    return Message(text, models=shortened(facts.names(models), MOST_NAMES), n=len(models))


def _then(facts: Facts, model: str | None) -> Message | None:
    """Say where a model of a gate stood when it was accepted."""
    if model is None or facts.accepted.get(model) is None or facts.accepted[model].difference is None:
        return None
    return Message("headline.was", model=facts.name(model), **_since(facts, model))


def data_too(facts: Facts, lead: Lead) -> Message | None:
    """Say that the data changed as well; beside lost rows, where the model in service stands."""
    if lead.code in ("alarm", "lower", "higher", "gate_failed", "no_alarm"):
        asked = sides(str(lead.more.get("gate", "")))[0] if lead.code == "gate_failed" else ""
        counted = asked == "n"
        fact = _data_fact(facts, rows=not counted) if facts.is_audit else None
        if fact is not None:
            # Beside a gate that counts such changes it is what the gate counted.
            return fact if asked == "drifts" else Message("headline.data_too", fact=fact)
        if counted and facts.is_audit:
            return _no_alarm_on(facts)
    if lead.code == "alarm" and lead.first is not None and lead.first not in facts.in_service:
        return _no_alarm_on(facts)
    if lead.code == "data_changed":
        quiet, behind = _no_alarm_on(facts), _new_and_behind(facts)
        if quiet is None or behind is None:
            return quiet or behind
        return Message("headline.and_behind", text=behind, behind=quiet)
    return None


def _no_alarm_on(facts: Facts) -> Message | None:
    """Say that there is no alarm about the model in service, with its values; None where there is one, or no value."""
    standing = next(
        (m for m in facts.in_service if m in facts.accepted and facts.accepted[m].difference is not None),
        None,
    )
    if standing is None or standing in {r.about for r in facts.alarms("worse", "worse_this_run")}:
        return None
    return Message("headline.no_alarm_on", model=facts.name(standing), **_since(facts, standing))


def _new_and_behind(facts: Facts) -> Message | None:
    """Name the new model that is furthest behind the baseline, where that is decided."""
    if facts.baseline is None or facts.baseline not in facts.ranked:
        return None
    new = [r.model for r in facts.results.history if r.reference == "accepted" and r.status == "new"]
    pairs = {m: p for m in new if m in facts.ranked and (p := facts.pair(facts.baseline, m)) is not None}
    behind = [m for m, p in pairs.items() if p.decided and p.ahead]
    if not behind:
        return None
    model = max(behind, key=lambda m: (abs(pairs[m].by.value), m))
    return Message(
        f"headline.behind_baseline{facts.loss(facts.quantity)}_by",
        first=facts.name(facts.baseline), second=facts.name(model), metric=facts.words(facts.quantity),
        by=size(pairs[model]),
    )  # fmt: skip


_clause_of = partial(InRoom, file="clause", function="clause")
CLAUSES: tuple[Callable[[Facts, Lead], Message | None], ...] = (
    left_out,
    two_alike,
    _clause_of("looks"),
    asked,
    _clause_of("costs"),
    turns_round,
    never_found,
    _clause_of("attempts"),
    otherwise,
    one_score_of_second,
    never_found_by_second,
    opposite_attempts,
    _clause_of("algorithms"),
    _clause_of("baselines"),
    biased,
    one_example,
    _clause_of("judges"),
    further,
    data_too,
)
"""The one clause: the first that holds."""
