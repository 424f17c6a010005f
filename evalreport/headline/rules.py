"""The rules of the headline: what leads, the one clause, and the tone, in the order of docs/how-to-read.md.

A headline is a lead and at most one clause, the gravest. ``LEADS`` is the table of what leads and ``CLAUSES`` that of
clauses: each a function from the facts of a run to a piece of the sentence, or None where it does not hold. The first
that holds is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalreport.extensions import file_of_room
from evalreport.gates.conditions import BEST, as_ratio, parse
from evalreport.gates.outcomes import leader_of
from evalreport.headline.facts import (
    Facts,
    Limited,
    Pair,
    adds_up,
    all_equal,
    amount,
    at_shares,
    mentions,
    number_of,
    oriented,
    rows_on,
    values_beside,
)
from evalreport.metrics.registry import JUDGED, Quantity
from evalreport.questions.baselines.records import AgainstRuleRecord
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.decisions import GateRecord, HeadlineRecord, Tone
from evalreport.schema.results import Results
from evalreport.texts import PLAIN, Message, Text, coded, in_words, joined
from evalreport.texts.labels import sentence_start
from evalreport.texts.visible import visible

OF_ALGORITHMS = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose verdict is about training again."""
FEWER = 0.5
"""A run with less than this share of the accepted run's rows is said to have lost rows."""
LARGE_BIAS = 0.25
"""A bias of this share of the RMSE is worth a clause."""
MOST_NAMES = 3
DATA_QUESTIONS = ("examples", "labels", "classes", "predicted_labels", "scores", "missing", "column")
"""Questions of an audit about the data, in the order in which the headline names their alarms."""
SIGNS = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}


@dataclass(frozen=True, slots=True)
class Lead:
    """What leads: its code, its text without a full stop, and whom it is about.

    ``first`` and ``second`` are the models of the sentence, the better one first; ``tone`` None: neutral, or good where
    gates were asked and all pass.
    """

    code: str
    text: Message
    first: str | None = None
    second: str | None = None
    tone: Tone | None = None
    about: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)


def headline(results: Results, *, first_of_series: bool = False) -> HeadlineRecord:
    """Return the first sentence of a report.

    Parameters
    ----------
    results
        The records of a run, of an audit with its gates and alarms.
    first_of_series
        Whether it is an audit that has no accepted run to be compared with.
    """
    facts = Facts(results, first_of_series)
    lead = next(found for rule in LEADS if (found := rule(facts)) is not None)
    clause = (
        None if lead.code == "blocked" else next((c for rule in CLAUSES if (c := rule(facts, lead))), None)
    )
    sentence = lead.text if clause is None else Message("headline.clause", lead=lead.text, clause=clause)
    code, more = lead.code, dict(lead.more)
    if first_of_series and lead.tone is None:
        sentence = Message("headline.first_run", rest=sentence)
        code, more = "first_run", more | {"then": lead.code}
    text = Message("headline.sentence", text=sentence)
    return HeadlineRecord(text=text, code=code, params=params_of(text) | more, tone=_tone(facts, lead))


def with_headline(results: Results, *, first_of_series: bool = False) -> Results:
    """Return results with their headline."""
    return replace(results, headline=headline(results, first_of_series=first_of_series))


def _tone(facts: Facts, lead: Lead) -> Tone:
    if lead.tone is not None:
        return lead.tone
    gates = facts.results.gates
    return "good" if gates and all(gate.outcome == "pass" for gate in gates) else "neutral"


def params_of(message: Message) -> dict[str, Any]:
    """Flatten the parameters of a message and of those in it: every model, metric, value and limit of the text."""
    found: dict[str, Any] = {}
    for name, value in message.params.items():
        if isinstance(value, Message) and value.code != PLAIN:
            inner = params_of(value)
            if "value" in inner and set(inner) <= {"value", "limits", "half"}:
                found[name] = inner["value"]
                if "limits" in inner:
                    found[f"{name}_low"], found[f"{name}_high"] = inner["limits"]
            else:
                # A value that is there already takes the name of its part, and its limits with it.
                taken = {k for k in inner if found.keys() & {k, k.removesuffix("_low").removesuffix("_high")}}
                found |= {f"{name}_{k}" if k in taken else k: v for k, v in inner.items()}
        elif isinstance(value, (tuple, list)):
            found[name] = [params_of(v) if isinstance(v, Message) else v for v in value]
        elif name != "half":
            found[name] = str(value) if isinstance(value, Message) else value
    return found


# --- what leads -------------------------------------------------------------------------------------------------------


def blocked(facts: Facts) -> Lead | None:
    """Say that there is no verdict, and why: a blocker, or a primary metric that no test decides."""
    results = facts.results
    blockers = [w for w in results.warnings if w.level == "blocker"]
    if blockers:
        first = blockers[0]
        reason = _why_blocked(facts, first.code, first.text)
        return Lead("blocked", Message("headline.no_verdict", reason=reason), tone="undecided")
    primary = facts.primary
    if primary is None:
        return Lead(
            "blocked", Message("headline.no_verdict", reason=Message("headline.no_primary")), tone="undecided"
        )
    if not facts.ranked:
        reason = Message("headline.no_value", metric=facts.words(primary))
        return Lead("blocked", Message("headline.no_verdict", reason=reason), tone="undecided")
    untested = all(pair.by.low is None for pair in facts.pairs)
    if len(facts.ranked) > 1 and (untested or facts.without_a_test):
        values = tuple(
            Message(
                "headline.model_value",
                model=facts.name(m),
                value=amount(facts.value(m, primary) or Limited(0.0)),
            )
            for m in facts.ranked[:MOST_NAMES]
        )
        key = "no_test"
        reason = Message(f"headline.{key}", metric=sentence_start(facts.words(primary)), values=values)
        return Lead("blocked", Message("headline.no_verdict", reason=reason), tone="undecided")
    return None


def _why_blocked(facts: Facts, code: str, text: Text) -> Text:
    if code == "trained_on_test":
        n = coded(joined(text)[0])[1].get("n")
        models = facts.names(facts.results.models)
        return Message("headline.trained_on_test", n=n, of=facts.results.n, models=models)
    if code == "gold_not_random":
        return Message("headline.gold_not_random")
    return Message("headline.because", text=str(text).rstrip("."))


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
    key = f"headline.{code}" if len(gates) == 1 else f"headline.{code}_of"
    text = Message(key, n=len(gates), total=len(facts.results.gates), gate=gate_text(facts, gates[0]))
    models = [m for m in facts.results.models if mentions(gates[0].gate, m)]
    first = models[0] if models else None
    return Lead(
        code, text, first, tone=tone, about=tuple(g.gate for g in gates), more={"gate": gates[0].gate}
    )


def worst_first(gates: Sequence[GateRecord]) -> list[GateRecord]:
    """Order gates: those that count alarms last, about now before about then, then by the distance from the bar."""

    def distance(gate: GateRecord) -> float:
        _, _, bar = split(gate.gate)
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
    return split(gate)[0] in ("alarms", "drifts", "fallen_slices")


def about_then(gate: str) -> bool:
    """Say whether a gate is about an earlier run."""
    return "accepted" in gate or "last" in gate.replace('"', " ").split() or "every night" in gate


def split(gate: str) -> tuple[str, str, str]:
    """Divide a gate into what it asks of, the sign and the bar.

    Examples
    --------
    >>> split("forest.accuracy >= 0.9"), split("0.9 <= forest.accuracy")
    (('forest.accuracy', '>=', '0.9'), ('forest.accuracy', '>=', '0.9'))
    """
    gate = as_ratio(gate)
    for sign in (">=", "<=", ">", "<"):
        left, found, right = gate.partition(sign)
        if found:
            left, right = left.strip(), right.strip()
            if left.replace(".", "", 1).replace("-", "", 1).isdigit():
                turned = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}[sign]
                return right, turned, left
            return left, sign, right
    return gate, "", ""


def gate_text(facts: Facts, gate: GateRecord) -> Message:
    """Say what a gate asks and what was found."""
    what, sign, bar = split(gate.gate)
    needs = f"{SIGNS.get(sign, sign)} {bar}".replace(" - ", " − ")
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
    if gate.low is None and float(gate.value).is_integer():
        return Message("headline.gate_count", what=name, count=int(gate.value), needs=needs)
    value = amount(Limited(gate.value, gate.low, gate.high))
    key = "gate_change" if about_then(gate.gate) else "gate"
    return Message(f"headline.{key}", what=name, value=value, needs=needs)


def _gate_words(facts: Facts, what: str) -> str | Message:
    """Name one model's metric in words; anything else as it was typed."""
    for model in sorted(facts.results.models, key=len, reverse=True):
        for spelled in (f"{model}.", f'"{model}".'):
            rest = what.removeprefix(spelled)
            if rest != what:
                known = [Quantity.of(r) for r in facts.results.metrics if r.slice is None]
                exact = next((q for q in known if rest in (q.spelled, q.metric)), None)
                if exact is not None:
                    return Message(
                        "headline.models_metric", model=facts.name(model), metric=facts.words(exact)
                    )
    leader = leader_of(facts.results)
    if what.startswith(f"{BEST}.") and leader is not None:
        rest = what.removeprefix(f"{BEST}.")
        quantities = (Quantity.of(r) for r in facts.results.metrics if r.slice is None)
        exact = next((q for q in quantities if rest in (q.spelled, q.metric)), None)
        if exact is not None:
            return Message("headline.best_metric", model=facts.name(leader), metric=facts.words(exact))
    return visible(what)


# --- audits


def alarm(facts: Facts) -> Lead | None:
    """Name the model (then the slice) that fell since the accepted run, by an alarm."""
    models = facts.alarms("worse", "worse_this_run")
    fallen = [r.about for r in models if r.about in facts.results.models]
    if fallen:
        order = sorted(dict.fromkeys(fallen), key=lambda m: (m not in facts.in_service, _fall(facts, m), m))
        model = order[0]
        return Lead("alarm", _fell(facts, model), model, tone="bad", about=tuple(order))
    slices = facts.alarms("slice")
    if slices:
        worst = min(slices, key=lambda r: (-abs(r.effect_size or 0.0), r.about))
        model, _, place = worst.about.partition(", ")
        params = _slice_values(worst)
        primary = facts.primary
        assert primary is not None
        change = Limited(worst.effect_size or 0.0, worst.low, worst.high)
        known = {
            "model": facts.name(model),
            "place": visible(place.replace(" = ", " ")),
            "metric": facts.words(primary),
            "change": Message(
                "headline.change", value=change.value, limits=(change.low, change.high), half=change.half
            )
            if change.low is not None and change.high is not None
            else Message("headline.value", value=change.value, half=None),
        }
        if params is None:
            return Lead("alarm", Message("headline.slice_fell_by", **known), model, tone="bad")
        now, then = (number_of(v, change) for v in params)
        return Lead("alarm", Message("headline.slice_fell", now=now, then=then, **known), model, tone="bad")
    return None


def _slice_values(record: AuditRecord) -> tuple[float, float] | None:
    now, then = record.details.get("now"), record.details.get("then")
    return None if now is None or then is None else (now, then)


def _fall(facts: Facts, model: str) -> float:
    change = facts.change(model)
    return 0.0 if change is None else change.value


def _fell(facts: Facts, model: str) -> Message:
    record, primary = facts.accepted.get(model), facts.primary
    assert primary is not None
    if record is None or record.difference is None:
        return Message("headline.fell_unknown", model=facts.name(model), metric=facts.words(primary))
    row = facts.worse.get(model)
    values = None if row is None else at_shares(row)
    if values is not None:
        now, then = (Message("headline.value", value=value, half=None) for value in values)
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
    primary = facts.primary
    assert primary is not None
    assert record.difference is not None
    change = Limited(record.difference, record.low, record.high)
    now = number_of(record.value or 0.0, change)
    then = number_of(record.reference_value or 0.0, change)
    if change.low is None or change.high is None:
        shown = Message("headline.change_alone", value=change.value, half=None)
    else:
        shown = Message(
            "headline.change", value=change.value, limits=(change.low, change.high), half=change.half
        )
    return {"metric": facts.words(primary), "now": now, "then": then, "change": shown}


def _unusual(facts: Facts, direction: int) -> list[str]:
    """Return the models that moved beyond three of the alarm's standard errors, the furthest first."""
    found = []
    for model in facts.results.models:
        change = facts.change(model)
        if change is not None and facts.moved(model) == direction:
            found.append((model not in facts.in_service, -direction * change.value, model))
    return [model for *_, model in sorted(found)]


def lower(facts: Facts) -> Lead | None:
    """Name a model that is worse than when accepted beyond three errors of the alarm, without an alarm."""
    return _moved(facts, -1, "lower", "undecided")


def higher(facts: Facts) -> Lead | None:
    """Name a model that is better than when accepted beyond three errors of the alarm."""
    return _moved(facts, 1, "higher", "undecided")


def _moved(facts: Facts, direction: int, code: str, tone: Tone) -> Lead | None:
    if not facts.is_audit:
        return None
    moved = _unusual(facts, direction)
    if not moved:
        return None
    model = moved[0]
    text = Message(f"headline.{code}", model=facts.name(model), **_since(facts, model))
    return Lead(code, text, model, tone=tone, about=tuple(moved))


def data_changed(facts: Facts) -> Lead | None:
    """Say that the data are other ones: lost rows, a model gone or new, other labels, classes or scores."""
    if not facts.is_audit:
        return None
    text = _data_fact(facts)
    if text is None:
        return None
    return Lead("data_changed", text, tone="undecided", more={"data": True})


def _data_fact(facts: Facts) -> Message | None:
    gone = [r.model for r in facts.results.history if r.reference == "accepted" and r.status == "gone"]
    new = [r.model for r in facts.results.history if r.reference == "accepted" and r.status == "new"]
    rows = next((r for r in facts.accepted.values() if r.reference_n), None)
    if rows is not None and rows.reference_n and facts.results.n < FEWER * rows.reference_n:
        return Message("headline.rows", n=facts.results.n, then=rows.reference_n)
    if gone:
        return Message("headline.gone", models=tuple(map(visible, gone)), n=len(gone))
    if new:
        return Message("headline.new", models=facts.names(new), n=len(new))
    for question in DATA_QUESTIONS:
        found = facts.alarms(question)
        if found:
            about = visible(found[0].about)
            model = facts.name(found[0].about) if found[0].about in facts.results.models else about
            return Message(f"headline.data.{question}", about=model, what=found[0].text)
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
        now = Message("headline.value", value=record.value, half=None)
        primary = facts.primary
        assert primary is not None
        text = Message("headline.no_alarm_same", model=facts.name(model), n=facts.results.n,
                       metric=facts.words(primary), now=now)  # fmt: skip
        return Lead("same_answers", text, model)
    text = Message("headline.no_alarm", model=facts.name(model), **_since(facts, model))
    return Lead("no_alarm", text, model)


# --- runs


def same_answers(facts: Facts) -> Lead | None:
    """Say that all models give the same answers."""
    models, primary = facts.ranked, facts.primary
    if len(models) < 2 or primary is None or facts.results.design == "datasets":
        return None
    if facts.results.options.get("join") == "independent":
        return None
    compared = [r for r in facts.results.comparisons if r.recommended and r.slice is None and r.b is not None]
    differing = [r for r in compared if r.difference not in (None, 0.0)]
    apart = [r for r in facts.results.agreement if r.only_a or r.only_b]
    own = facts.value(models[0], primary)
    known = {
        "names": facts.names(models),
        "n": facts.results.n,
        "metric": facts.words(primary),
        "value": amount(own or Limited(0.0)),
    }
    same = compared and not differing and not apart
    if same and all_equal(
        [r.value for r in facts.results.metrics if r.slice is None and Quantity.of(r) == primary]
    ):
        key = "same_answers" if len(models) <= MOST_NAMES else "all_same_answers"
        return Lead(
            "same_answers", Message(f"headline.{key}", number=len(models), **known), models[0], models[1]
        )
    if len(models) == 2 and facts.results.agreement and not apart and not _differ(facts, primary):
        return Lead("same_answers", Message("headline.same_labels", **known), models[0], models[1])
    return None


def _differ(facts: Facts, quantity: Quantity) -> bool:
    return any(r.difference != 0 for r in rows_on(facts.results, quantity))


def reversed_scores(facts: Facts) -> Lead | None:
    """Name a model that ranks the wrong way round."""
    auc = facts.overall("roc_auc")
    if auc is None:
        return None
    found = []
    for model in facts.results.models:
        value, pair = facts.value(model, auc), facts.against_rule(model, auc)
        if value is not None and pair is not None and pair.verdict == "worse":
            found.append((value.value, model, value))
    if not found:
        return None
    _, model, value = min(found)
    others = [m for m in facts.results.models if m != model]
    rest = [(v.value, m, v) for m in others if (v := facts.value(m, auc)) is not None]
    known = {"model": facts.name(model), "metric": facts.words(auc), "value": amount(value)}
    if not rest:
        return Lead("reversed", Message("headline.reversed", **known), model)
    _, best, own = max(rest)
    text = Message(
        "headline.reversed_beside", other=facts.name(best), best=number_of(own.value, own), **known
    )
    return Lead("reversed", text, model, best)


def no_skill(facts: Facts) -> Lead | None:
    """Say that no model is shown to beat the rule that needs none."""
    primary = facts.primary
    assert primary is not None
    pairs = [facts.against_rule(m, primary) for m in facts.ranked]
    best, first = facts.ranked[0], pairs[0]
    if first is None or facts.results.design in OF_ALGORITHMS | {"datasets", "seeds"}:
        return None
    # On test sets of their own the rule answers otherwise to each.
    if any(
        p is None or p.verdict == "better" or (p.answer, p.value) != (first.answer, first.value)
        for p in pairs
    ):
        return None
    own = facts.value(best, primary) or Limited(0.0)
    key = "no_skill_alone" if len(pairs) == 1 else "no_skill"
    text = Message(
        f"headline.{key}",
        rule=_words_of_rule(first),
        bar=number_of(first.value, own),
        metric=facts.words(primary),
        model=facts.name(best),
        value=amount(own),
    )
    return Lead("no_skill", text, best, facts.ranked[1] if len(pairs) > 1 else None)


def _rule(facts: Facts, model: str, quantity: Quantity) -> tuple[Message, float] | None:
    """Return the words for the rule that needs none on a metric, and its value."""
    pair = facts.against_rule(model, quantity)
    if pair is not None:
        return _words_of_rule(pair), pair.value
    uninformed = facts.metric(quantity).scale.uninformed
    return None if uninformed is None else (Message("headline.rule.chance"), uninformed)


def _words_of_rule(pair: AgainstRuleRecord) -> Message:
    answer = {} if pair.answer is None else {"label": visible(pair.answer)}
    return Message(f"headline.rule.{pair.rule}", **answer)


def single(facts: Facts) -> Lead | None:
    """Say how good the only model is, and how the rule that needs none does."""
    primary = facts.primary
    if len(facts.ranked) != 1 or primary is None:
        return None
    model = facts.ranked[0]
    own = facts.value(model, primary) or Limited(0.0)
    rule = _rule(facts, model, primary)
    known = {"model": facts.name(model), "metric": facts.words(primary), "value": amount(own)}
    if rule is None:
        text = Message("headline.single", **known)
    else:
        text = Message("headline.single_beside", rule=rule[0], bar=number_of(rule[1], own), **known)
    return Lead("single", text, model)


def against_baseline(facts: Facts) -> Lead | None:
    """Say how the models stand to the baseline: those ahead of it, and those behind it."""
    baseline = facts.baseline
    others = [m for m in facts.ranked if m != baseline]
    if baseline is None or baseline not in facts.ranked or not others:
        return None
    pairs = {m: p for m in others if (p := facts.pair(m, baseline)) is not None}
    if len(pairs) == 1:
        (pair,) = pairs.values()
        return _pair(facts, pair)
    better = [m for m, p in pairs.items() if p.decided and p.ahead]
    worse = [m for m, p in pairs.items() if p.decided and not p.ahead]
    primary = facts.primary
    assert primary is not None
    known: dict[str, object] = {
        "baseline": facts.name(baseline),
        "metric": facts.words(primary),
        "number": len(pairs),
    }
    loss = facts.loss(primary)
    behind = _behind_baseline(facts, worse, pairs) if worse else None
    if better:
        sizes = tuple(_by(pairs[m]) for m in better[:MOST_NAMES])
        key = ("beat_baseline" if len(better) <= MOST_NAMES else "many_beat_baseline") + loss
        if len(better) == 1:
            text = Message(
                f"headline.beats_baseline{loss}", model=facts.name(better[0]), by=sizes[0], **known
            )
        else:
            text = Message(
                f"headline.{key}", models=facts.names(better[:MOST_NAMES]), n=len(better), by=sizes, **known
            )
        code, first = "ahead", better[0]
    elif len(worse) == len(pairs):
        text = Message(
            f"headline.all_behind_baseline{loss}",
            model=facts.name(worse[0]),
            by=_by(pairs[worse[0]], turn=True),
            **known,
        )
        return Lead("ahead", text, baseline, worse[0])
    else:
        best = next(m for m in others if m in pairs and m not in worse)
        kinds = {p.verdict for p in pairs.values()}
        if kinds == {"equivalent"}:
            widest = max(pairs.values(), key=lambda p: abs(p.by.value))
            text = Message(
                "headline.all_equivalent_to_baseline", margin=_margin(facts), by=amount(widest.by), **known
            )
            return Lead("equivalent", text, best, baseline)
        text = Message(
            "headline.none_beats_baseline",
            model=facts.name(best),
            units=_units(facts),
            by=amount(pairs[best].by),
            **known,
        )
        code, first = "undecided", best
    if behind is not None:
        text = Message("headline.and_behind", text=text, behind=behind)
    return Lead(code, text, first, baseline)


def _behind_baseline(facts: Facts, worse: Sequence[str], pairs: Mapping[str, Pair]) -> Message:
    assert facts.primary is not None
    loss = facts.loss(facts.primary)
    if len(worse) == 1:
        model = facts.name(worse[0])
        return Message(f"headline.one_behind{loss}", model=model, by=_by(pairs[worse[0]], turn=True))
    nearest = min(worse, key=lambda m: abs(pairs[m].by.value))
    by = _by(pairs[nearest], turn=True)
    if len(worse) > MOST_NAMES:
        return Message(f"headline.many_behind{loss}", number=len(worse), by=by)
    return Message(f"headline.some_behind{loss}", models=facts.names(worse), by=by)


def two_models(facts: Facts) -> Lead | None:
    """Say how the first of two models stands to the second."""
    if len(facts.ranked) != 2:
        return None
    pair = facts.pair(facts.ranked[0], facts.ranked[1])
    return None if pair is None else _pair(facts, pair)


def several_models(facts: Facts) -> Lead | None:
    """Say who is ahead of whom among several models, and between which it is open."""
    models, primary = facts.ranked, facts.primary
    if len(models) < 3 or primary is None:
        return None
    leader, loss = models[0], facts.loss(primary)
    pairs = {m: p for m in models[1:] if (p := facts.pair(leader, m)) is not None}
    if not pairs:
        return None
    behind = [m for m, p in pairs.items() if p.decided and p.ahead]
    open_ = [m for m in pairs if m not in behind]
    known = {"leader": facts.name(leader), "metric": facts.words(primary), "number": len(models)}
    kinds = {p.verdict for p in facts.pairs}
    if not behind and kinds == {"equivalent"}:
        widest = max(facts.pairs, key=lambda p: abs(p.by.value))
        text = Message("headline.all_equivalent", margin=_margin(facts), by=amount(widest.by), **known)
        return Lead("equivalent", text, leader, models[1])
    if not behind:
        second = open_[0]
        a, b = (facts.value(m, primary) or Limited(0.0) for m in (leader, second))
        by = pairs[second].by
        text = Message(
            "headline.several_undecided", units=_units(facts), first=facts.name(leader), second=facts.name(second),
            **values_beside(a.value, b.value, by), **known,
        )  # fmt: skip
        return Lead("undecided", text, leader, second)
    nearest = min(behind, key=lambda m: pairs[m].by.value)
    if not open_:
        text = Message(
            f"headline.ahead_of_all{loss}", second=facts.name(nearest), by=_by(pairs[nearest]), **known
        )
        return Lead("ahead", text, leader, nearest)
    group = [leader, *open_]
    alike = [p for p in facts.pairs if p.first in group and p.second in group]
    among = "equivalent" if all(p.verdict == "equivalent" for p in alike) else "open"
    first = {
        "n": len(group),
        "names": facts.names(group),
        "units": _units(facts, within=True),
        "margin": facts.margin,
    }
    across = [facts.pair(m, other) for m in group for other in behind]
    if len(group) <= MOST_NAMES and all(p is not None and p.decided and p.ahead for p in across):
        least = min((p for p in across if p is not None), key=lambda p: p.by.value)
        several = len(behind) > 1
        others = {"rest": len(behind)} if several else {"other": facts.name(behind[0])}
        text = Message(
            f"headline.group_ahead{'' if several else '_of_one'}{loss}",
            names=facts.names(group), by=_by(least), among=Message(f"headline.group_{among}", **first), **others,
            **known,
        )  # fmt: skip
    else:
        text = Message(
            f"headline.behind_leader{loss}", n=len(behind), other=facts.name(behind[0]), by=_by(pairs[nearest]),
            start=sentence_start(in_words(len(behind))), among=Message(f"headline.others_{among}", **first), **known,
        )  # fmt: skip
    return Lead("ahead", text, leader, nearest, about=tuple(open_))


def _margin(facts: Facts) -> float:
    assert facts.margin is not None
    return facts.margin


def _by(pair: Pair, *, turn: bool = False) -> Message:
    """Return by how much a pair differs, with its interval, unless that was cut at 0."""
    by = pair.by
    if turn:
        by = oriented(by.value, by.low, by.high, -1)
    if by.low is None or by.high is None:
        return Message("headline.value", value=abs(by.value), half=None)
    if pair.cut:
        return Message("headline.value", value=by.value, half=by.half)
    return Message("headline.limited", value=by.value, limits=(by.low, by.high), half=by.half)


def _pair(facts: Facts, pair: Pair) -> Lead:
    """Say how two models stand to each other: decided, equivalent, not worse, or not decided."""
    quantity = pair.quantity
    if (pair.decided and not pair.ahead) or pair.verdict == "not-better":
        turned = facts.pair(pair.second, pair.first)
        assert turned is not None
        pair = turned
    first, second = pair.first, pair.second
    a, b = (facts.value(m, quantity) or Limited(0.0) for m in (first, second))
    named = {m: facts.name(m) for m in (first, second)}
    if facts.baseline in named and facts.baseline is not None:
        named[facts.baseline] = str(Message("headline.the_baseline", model=named[facts.baseline]))
    known: dict[str, object] = {
        "first": named[first], "second": named[second], "metric": facts.words(quantity),
        "units": _units(facts),
    }  # fmt: skip
    shown = _values_are_shown(facts, pair, a, b)
    with_values = "" if shown else "_by"
    if shown:
        sizes = values_beside(a.value, b.value, pair.by, cut=pair.cut and pair.decided)
    else:
        sizes = {"by": _by(pair) if pair.decided else amount(pair.by)}
    if facts.results.design == "datasets":
        sizes |= {"a": number_of(a.value, pair.by), "b": number_of(b.value, pair.by)}
    known |= sizes
    if pair.decided:
        if facts.results.design == "datasets":
            wins, n = _wins(facts, first, second)
            if n:
                return Lead(
                    "ahead", Message("headline.ahead_datasets", wins=wins, n=n, **known), first, second
                )
        key = "ahead" if facts.sign(quantity) > 0 else "smaller"
        again = "_again" if facts.results.design in OF_ALGORITHMS else ""
        return Lead("ahead", Message(f"headline.{key}{again}{with_values}", **known), first, second)
    if facts.results.design == "datasets" and facts.sign(quantity) * (a.value - b.value) > 0:
        wins, n = _wins(facts, second, first)
        if 2 * wins > n:
            text = Message("headline.undecided_datasets", wins=wins, n=n, **known)
            return Lead("undecided", text, first, second)
    if pair.verdict in ("equivalent", "non-inferior"):
        key = pair.verdict.replace("-", "_")
        text = Message(f"headline.{key}{with_values}", margin=_margin(facts), **known)
        return Lead(key, text, first, second)
    key = "undecided_baseline" if facts.baseline == second else "undecided"
    again = "_again" if facts.results.design in OF_ALGORITHMS and key == "undecided" else ""
    return Lead("undecided", Message(f"headline.{key}{again}{with_values}", **known), first, second)


def _values_are_shown(facts: Facts, pair: Pair, a: Limited, b: Limited) -> bool:
    """Say whether the two values stand beside the difference: where it is theirs, to the digits shown."""
    sign = facts.sign(pair.quantity)
    same = (sign * (a.value - b.value) >= 0) == (pair.by.value >= 0) or pair.by.value == 0
    return same and adds_up(a.value, b.value, pair.by.value, pair.by.half)


def _wins(facts: Facts, first: str, second: str) -> tuple[int, int]:
    """Count on how many data sets the first of two models has the better value, and all of them."""
    primary = facts.primary
    assert primary is not None
    values: dict[str, dict[tuple[object, object], float]] = {first: {}, second: {}}
    for fold in facts.results.folds:
        if (
            fold.model in values
            and fold.metric == primary.metric
            and fold.label is None
            and fold.value is not None
        ):
            values[fold.model][fold.repeat, fold.fold] = fold.value
    shared = values[first].keys() & values[second].keys()
    sign = facts.sign(primary)
    return sum(sign * (values[first][k] - values[second][k]) > 0 for k in shared), len(shared)


def _units(facts: Facts, *, within: bool = False) -> Message:
    """Name what was drawn, and how many: examples, questions, clusters, folds, seeds, data sets."""
    results = facts.results
    column = results.options.get("cluster")
    found = next((r.clusters for r in results.metrics if r.slice is None and r.clusters), None)
    if column and found:
        return Message("headline.units.clusters", n=found, column=visible(str(column)))
    judged = [r.n_gold for r in results.judge_agreement if r.model is not None]
    if judged and facts.primary is not None and facts.primary.metric == JUDGED:
        return Message("headline.units.judged_within" if within else "headline.units.judged", n=max(judged))
    fits = len({(f.repeat, f.fold) for f in results.folds})
    if results.design == "datasets":
        return Message("headline.units.datasets", n=fits or results.n)
    if results.design == "seeds" and fits:
        return Message("headline.units.seeds", n=fits)
    if results.design in OF_ALGORITHMS and fits:
        return Message("headline.units.folds", n=fits)
    if any(m.metric.startswith(("pass@", "pass^")) for m in results.metrics):
        return Message("headline.units.questions", n=results.n)
    return Message(f"headline.units.{'units' if results.task == 'sums' else 'examples'}", n=results.n)


def fallback(facts: Facts) -> Lead:
    """Say what there is, where no other rule holds."""
    primary = facts.primary
    assert primary is not None
    best = facts.ranked[0]
    text = Message(
        "headline.single",
        model=facts.name(best),
        metric=facts.words(primary),
        value=amount(facts.value(best, primary) or Limited(0.0)),
    )
    return Lead("single", text, best)


LEADS: tuple[Callable[[Facts], Lead | None], ...] = (
    blocked,
    gate_failed,
    alarm,
    gate_undecided,
    lower,
    data_changed,
    higher,
    no_alarm,
    same_answers,
    reversed_scores,
    no_skill,
    single,
    against_baseline,
    two_models,
    several_models,
    fallback,
)
"""What leads: the first that holds."""


# --- the clause -------------------------------------------------------------------------------------------------------

OF_RUNS = frozenset(
    {"same_answers", "reversed", "no_skill", "equivalent", "non_inferior", "ahead", "undecided", "single"}
)
"""Leads that are about the models of one run."""
OF_AUDITS = frozenset({"alarm", "lower", "higher", "no_alarm", "data_changed"})


def left_out(facts: Facts, lead: Lead) -> Message | None:
    """Say that a part of the data is left out, weighted, or another one for each model."""
    if lead.code not in OF_RUNS:
        return None
    results = facts.results
    for warning in results.warnings:
        if warning.code == "missing_left_out":
            params = coded(joined(warning.text)[0])[1]
            return Message("headline.missing_left_out", n=params.get("n"), total=params.get("total"))
    if results.options.get("join") == "independent":
        return Message("headline.own_examples")
    for found in results.found:
        if found.what == "tasks left out":
            return Message("headline.tasks_left_out", why=found.value)
        if found.what == "rows left out":
            return Message("headline.rows_left_out", why=found.value)
    column = results.options.get("weight")
    if column:
        return Message("headline.weighted", column=visible(str(column)))
    missing = facts.without_value
    if missing and lead.code != "single":
        primary = facts.primary
        assert primary is not None
        return Message(
            "headline.no_value_of",
            models=facts.names(missing[:MOST_NAMES]),
            n=len(missing),
            metric=facts.words(primary),
        )
    return None


def turns_round(facts: Facts, lead: Lead) -> Message | None:
    """Name a task, slice or class in which the order of the two models turns round, or that is never found."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS or first is None:
        return None
    if second is not None:
        tasks = [v for v in facts.results.task_verdicts if {first, second} == set(v.about)]
        turned = [v for v in tasks if v.verdict == ("worse" if v.about[0] == first else "better")]
        if turned and lead.code in ("ahead", "equivalent", "non_inferior"):
            return Message(
                "headline.task_turns",
                model=facts.name(first),
                tasks=tuple(visible(v.task) for v in turned[:MOST_NAMES]),
            )
        found = _slice_turns(facts, first, second)
        if found is not None:
            return found
    return _never_found(facts, first)


def _slice_turns(facts: Facts, first: str, second: str) -> Message | None:
    primary = facts.primary
    assert primary is not None
    sign, found = facts.sign(primary), []
    rows = [
        r for r in facts.results.comparisons
        if r.slice is not None and r.recommended and Quantity.of(r) == primary and {r.a, r.b} == {first, second}
    ]  # fmt: skip
    for row in rows:
        if row.difference is None or row.p_value is None:
            continue
        by = sign * (row.difference if row.a == first else -row.difference)
        if by < 0 and row.p_value * len(rows) <= facts.alpha:
            assert row.slice is not None
            found.append((by, row.slice))
    if not found:
        return None
    by, place = min(found, key=lambda each: each[0])
    values = {
        r.model: r
        for r in facts.results.metrics
        if r.slice == place and Quantity.of(r) == primary and r.value is not None
    }
    known = {"model": facts.name(first), "place": f"{visible(place.column)} {visible(place.value)}"}
    if first not in values or second not in values:
        return Message("headline.slice_turns_by", by=Message("headline.value", value=-by, half=None), **known)
    a, b = (Message("headline.value", value=values[m].value, half=None) for m in (first, second))
    return Message("headline.slice_turns", a=a, b=b, other=facts.name(second), n=values[first].n, **known)


def _never_found(facts: Facts, model: str) -> Message | None:
    results = facts.results
    if results.task not in ("binary", "multiclass") or not results.confusion:
        return None
    own = [c for c in results.confusion if c.model == model]
    truth: dict[str, float] = {}
    found: dict[str, float] = {}
    for cell in own:
        truth[cell.true] = truth.get(cell.true, 0.0) + cell.count
        if cell.true == cell.predicted:
            found[cell.true] = found.get(cell.true, 0.0) + cell.count
    missed = [c for c, n in truth.items() if n >= 5 and not found.get(c)]
    if not missed or not labels_are_given(facts, model):
        return None
    label = max(missed, key=lambda c: (truth[c], c))
    return Message("headline.never_found", model=facts.name(model), label=visible(label), n=int(truth[label]))


def labels_are_given(facts: Facts, model: str) -> bool:
    """Say whether a model's labels are its own, or those of a threshold that was named."""
    return facts.results.options.get("threshold") is not None or model not in facts.results.labels_at_half


BESIDE: Mapping[str, tuple[str, ...]] = {
    "binary": ("accuracy", "roc_auc", "balanced_accuracy", "log_loss"),
    "multiclass": ("accuracy", "balanced_accuracy", "log_loss"),
    "regression": ("rmse", "mae"),
    "outcome": ("pass_hat_k",),
}
"""Metrics that may decide a pair the other way, by task."""


def otherwise(facts: Facts, lead: Lead) -> Message | None:
    """Name another metric on which the pair is decided the other way, or at all where the primary one is open."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS or first is None or second is None or lead.code == "reversed":
        return None
    names = [
        n for n in BESIDE.get(facts.results.task, ()) if facts.primary is None or n != facts.primary.metric
    ]
    usual = facts.results.usual_metric
    if usual in names:
        names = [usual, *(n for n in names if n != usual)]
    found: list[tuple[Pair, str]] = []
    for name in names:
        quantity = facts.overall(name)
        if quantity is None:
            continue
        of_labels = facts.metric(quantity).needs == "labels"
        if of_labels and not all(labels_are_given(facts, m) for m in (first, second)):
            continue
        pair = facts.pair(first, second, quantity)
        if pair is not None and pair.decided and pair.by.low is not None:
            found.append((pair, name))
    alike = _same_ranking(facts, lead)
    if alike is not None:
        return alike
    against = [p for p, _ in found if not p.ahead]
    if against:
        return _on_metric(facts, against[0])
    if usual and lead.code == "ahead":
        unlike = _not_on_the_usual(facts, first, second, usual)
        if unlike is not None:
            return unlike
    if lead.code in ("undecided", "same_answers", "equivalent", "no_skill") and found:
        return _on_metric(facts, found[0][0])
    return None


def _not_on_the_usual(facts: Facts, first: str, second: str, usual: str) -> Message | None:
    """Say that the metric which the run would have had by itself does not show the difference."""
    quantity = facts.overall(usual)
    pair = None if quantity is None else facts.pair(first, second, quantity)
    if pair is None or quantity is None or not pair.by.holds(0.0):
        return None
    if facts.metric(quantity).needs == "labels" and not all(
        labels_are_given(facts, m) for m in (first, second)
    ):
        return None
    a, b = (facts.value(m, quantity) or Limited(0.0) for m in (first, second))
    key = "not_on" if _values_are_shown(facts, pair, a, b) else "not_on_by"
    return Message(
        f"headline.{key}",
        metric=facts.words(quantity),
        first=facts.name(first),
        second=facts.name(second),
        **values_beside(a.value, b.value, pair.by),
    )


def _on_metric(facts: Facts, pair: Pair) -> Message:
    if not pair.ahead:
        turned = facts.pair(pair.second, pair.first, pair.quantity)
        assert turned is not None
        pair = turned
    a, b = (facts.value(m, pair.quantity) or Limited(0.0) for m in (pair.first, pair.second))
    key = "on_metric" if facts.sign(pair.quantity) > 0 else "on_smaller"
    return Message(
        f"headline.{key}", metric=facts.words(pair.quantity), first=facts.name(pair.first),
        second=facts.name(pair.second), **values_beside(a.value, b.value, pair.by),
    )  # fmt: skip


def _same_ranking(facts: Facts, lead: Lead) -> Message | None:
    """Say that two models rank alike, and differ by their thresholds alone."""
    auc = facts.overall("roc_auc")
    if (
        lead.code != "ahead"
        or auc is None
        or auc == facts.primary
        or lead.first is None
        or lead.second is None
    ):
        return None
    row = next((r for r in rows_on(facts.results, auc) if {r.a, r.b} == {lead.first, lead.second}), None)
    loss = facts.overall("log_loss")
    same_loss = loss is None or not _differ(facts, loss)
    if row is None or row.difference != 0 or not same_loss:
        return None
    return Message("headline.same_ranking", first=facts.name(lead.first), second=facts.name(lead.second))


def biased(facts: Facts, lead: Lead) -> Message | None:
    """Say that the first model predicts too high or too low."""
    bias, rmse, first = facts.overall("bias_error"), facts.overall("rmse"), lead.first
    if lead.code not in OF_RUNS or bias is None or rmse is None or first is None:
        return None
    own, size = facts.value(first, bias), facts.value(first, rmse)
    if own is None or size is None or own.low is None or own.high is None or own.low <= 0 <= own.high:
        return None
    if abs(own.value) < LARGE_BIAS * size.value:
        return None
    key = "too_high" if own.value > 0 else "too_low"
    shown = Message("headline.value", value=abs(own.value), half=own.half)
    return Message(f"headline.{key}", model=facts.name(first), by=shown)


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
            return Message("headline.fell_too", models=facts.names(others[:MOST_NAMES]), n=len(others))
        return None if about_then(str(lead.more["gate"])) else _then(facts, lead.first)
    if lead.code == "alarm" and len(lead.about) > 1:
        others = [m for m in lead.about if m != lead.first]
        return Message("headline.fell_too", models=facts.names(others[:MOST_NAMES]), n=len(others))
    if lead.code in ("lower", "higher") and len(lead.about) > 1:
        return Message(
            "headline.so_are", models=facts.names([m for m in lead.about if m != lead.first][:MOST_NAMES])
        )
    return None


def _then(facts: Facts, model: str | None) -> Message | None:
    """Say where a model of a gate stood when it was accepted."""
    if model is None or facts.accepted.get(model) is None or facts.accepted[model].difference is None:
        return None
    return Message("headline.was", model=facts.name(model), **_since(facts, model))


def data_too(facts: Facts, lead: Lead) -> Message | None:
    """Say that the data changed as well; beside lost rows, where the model in service stands."""
    if lead.code in ("alarm", "lower", "higher", "gate_failed", "no_alarm"):
        found = _data_fact(facts) if facts.is_audit else None
        if found is not None:
            return Message("headline.data_too", fact=found)
    if lead.code == "alarm" and lead.first is not None and lead.first not in facts.in_service:
        standing = [
            m for m in facts.in_service if m in facts.accepted and facts.accepted[m].difference is not None
        ]
        if standing:
            return Message(
                "headline.no_alarm_on", model=facts.name(standing[0]), **_since(facts, standing[0])
            )
    if lead.code == "data_changed":
        standing = [
            m for m in facts.in_service if m in facts.accepted and facts.accepted[m].difference is not None
        ]
        if standing and not facts.alarms("worse", "worse_this_run"):
            return Message(
                "headline.no_alarm_on", model=facts.name(standing[0]), **_since(facts, standing[0])
            )
    return None


@dataclass(frozen=True, slots=True)
class InRoom:
    """The clause of a question, which stands in its room."""

    room: str

    def __call__(self, facts: Facts, lead: Lead) -> Message | None:
        """Return the clause where it holds."""
        clause: Message | None = file_of_room(self.room, "clause").clause(facts, lead)
        return clause


CLAUSES: tuple[Callable[[Facts, Lead], Message | None], ...] = (
    left_out,
    InRoom("looks"),
    turns_round,
    otherwise,
    InRoom("baselines"),
    biased,
    InRoom("judges"),
    further,
    data_too,
    InRoom("costs"),
)
"""The one clause: the first that holds."""
