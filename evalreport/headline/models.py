"""Leads about the models of a run: a single one, a pair, several, and how they stand to a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalreport.headline.facts import (
    Facts,
    Limited,
    Pair,
    add_up,
    all_equal,
    amount,
    number_of,
    values_beside,
)
from evalreport.headline.lead import (
    MOST_NAMES,
    OF_ALGORITHMS,
    Lead,
    all_of,
    beside_margin,
    margin_of,
    one_of,
    primary_words,
    size,
    units,
    value_of,
)
from evalreport.metrics.registry import JUDGED, Quantity
from evalreport.questions.baselines.records import AgainstRuleRecord
from evalreport.schema.lookups import shown_behind
from evalreport.texts import Message, in_words, say, shortened
from evalreport.texts.labels import sentence_start
from evalreport.texts.visible import visible


def no_skill(facts: Facts) -> Lead | None:
    """Say that no model is shown to beat the rule that needs none."""
    primary = facts.quantity
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
    value = value_of(facts, best)
    equal = [m for m in facts.ranked if all_equal([value_of(facts, m).value, value.value])]
    params = {
        "rule": _words_of_rule(first),
        "bar": number_of(first.value, value),
        "metric": primary_words(facts),
        "value": amount(value) if len(equal) == 1 else number_of(value.value, value),
    }
    if len(pairs) == 1:
        text = _beside_why(facts, Message("headline.no_skill_alone", model=facts.name(best), **params))
    elif len(equal) == 1:
        text = Message("headline.no_skill", model=facts.name(best), **params)
    else:
        text = Message("headline.no_skill_equal", models=shortened(facts.names(equal), MOST_NAMES), **params)
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
    if len(facts.ranked) != 1:
        return None
    model = facts.ranked[0]
    value = value_of(facts, model)
    rule = _rule(facts, model, facts.quantity)
    params = {"model": facts.name(model), "metric": primary_words(facts), "value": amount(value)}
    if rule is None:
        return Lead("single", _beside_why(facts, Message("headline.single", **params)), model)
    text = Message("headline.single_beside", rule=rule[0], bar=number_of(rule[1], value), **params)
    return Lead("single", _beside_why(facts, text), model)


def _beside_why(facts: Facts, text: Message) -> Message:
    """Say after a sentence about the only model why its value has no interval; where it has one the sentence alone."""
    record = facts.record(facts.ranked[0], facts.quantity)
    first = record.intervals[0] if record is not None and record.intervals else None
    if first is None or first.low is not None or first.reason is None:
        return text
    return Message("headline.without_interval", text=text, why=first.reason)


def fallback(facts: Facts) -> Lead:
    """Say what there is, where no other rule holds."""
    best = facts.ranked[0]
    text = Message(
        "headline.single", model=facts.name(best), metric=primary_words(facts),
        value=amount(value_of(facts, best)),
    )  # fmt: skip
    return Lead("single", text, best)


# --- a baseline


def against_baseline(facts: Facts) -> Lead | None:
    """Say how the models stand to the baseline: those ahead of it, and those behind it."""
    baseline = facts.baseline
    others = [m for m in facts.ranked if m != baseline]
    if baseline is None or baseline not in facts.ranked or not others:
        return None
    pairs = {m: p for m in others if (p := facts.pair(m, baseline)) is not None}
    if len(pairs) == 1:
        (pair,) = pairs.values()
        return about_pair(facts, pair)
    better = [m for m, p in pairs.items() if p.decided and p.ahead]
    worse = [m for m, p in pairs.items() if p.decided and not p.ahead]
    primary = facts.quantity
    params = {"baseline": facts.name(baseline), "metric": primary_words(facts), "number": len(pairs)}
    loss = facts.loss(primary)
    if better:
        sizes = tuple(beside_margin(facts, pairs[m], size(pairs[m])) for m in better[:MOST_NAMES])
        key = ("beat_baseline" if len(better) <= MOST_NAMES else "many_beat_baseline") + loss
        if len(better) == 1:
            text = Message(
                f"headline.beats_baseline{loss}", model=facts.name(better[0]), by=sizes[0], **params
            )
        else:
            text = Message(
                f"headline.{key}", models=facts.names(better[:MOST_NAMES]), n=len(better), by=sizes, **params
            )
        code, first = "ahead", better[0]
    elif len(worse) == len(pairs):
        nearest = _nearest(worse, pairs)
        by = beside_margin(facts, pairs[nearest], size(pairs[nearest], turn=True), turn=True)
        text = Message(
            f"headline.all_behind_baseline{loss}",
            all=all_of(len(worse)),
            model=facts.name(nearest),
            by=by,
            **params,
        )
        return Lead("ahead", text, baseline, nearest)
    else:
        best = next(m for m in others if m in pairs and m not in worse)
        if {p.verdict for p in pairs.values()} == {"equivalent"}:
            widest = max(pairs.values(), key=lambda p: abs(p.by.value))
            text = Message(
                "headline.all_equivalent_to_baseline", all=all_of(len(pairs)), margin=margin_of(facts),
                by=amount(widest.by), **params,
            )  # fmt: skip
            return Lead("equivalent", text, best, baseline)
        gap = pairs[best].by
        params |= {"model": facts.name(best), "units": units(facts)}
        if gap.value == 0 and gap.low is None:
            text = Message("headline.none_beats_baseline_equal", **params)
        else:
            text = Message("headline.none_beats_baseline", by=amount(gap), **params)
        code, first = "undecided", best
    if worse:
        text = Message("headline.and_behind", text=text, behind=_behind_baseline(facts, worse, pairs))
    return Lead(code, text, first, baseline)


def _nearest(worse: Sequence[str], pairs: Mapping[str, Pair]) -> str:
    return min(worse, key=lambda m: abs(pairs[m].by.value))


def _behind_baseline(facts: Facts, worse: Sequence[str], pairs: Mapping[str, Pair]) -> Message:
    loss, nearest = facts.loss(facts.quantity), _nearest(worse, pairs)
    by = beside_margin(facts, pairs[nearest], size(pairs[nearest], turn=True), turn=True)
    if len(worse) == 1:
        return Message(f"headline.one_behind{loss}", model=facts.name(worse[0]), by=by)
    if len(worse) > MOST_NAMES:
        return Message(f"headline.many_behind{loss}", number=len(worse), nearest=facts.name(nearest), by=by)
    return Message(
        f"headline.some_behind{loss}", models=facts.names(worse), nearest=facts.name(nearest), by=by
    )


# --- two models


def two_models(facts: Facts) -> Lead | None:
    """Say how the first of two models stands to the second."""
    if len(facts.ranked) != 2:
        return None
    pair = facts.pair(facts.ranked[0], facts.ranked[1])
    return None if pair is None else about_pair(facts, pair)


def about_pair(facts: Facts, pair: Pair) -> Lead:
    """Say how two models stand to each other: decided, equivalent, not worse, or not decided."""
    quantity = pair.quantity
    if (pair.decided and not pair.ahead) or pair.verdict == "not-better":
        pair = facts.turned(pair)
    first, second = pair.first, pair.second
    a, b = (facts.value(m, quantity) or Limited(0.0) for m in (first, second))
    named = {m: facts.name(m) for m in (first, second)}
    behind = pair.decided and facts.baseline == first
    if facts.baseline == second or (facts.baseline == first and not behind):
        named[facts.baseline] = str(Message("headline.the_baseline", model=named[facts.baseline]))
    params: dict[str, object] = {
        "first": named[first], "second": named[second], "metric": primary_words(facts),
    }  # fmt: skip
    shown = values_are_shown(facts, pair, a, b)
    with_values = "" if shown else "_by"
    if shown:
        params |= values_beside(a.value, b.value, pair.by, cut=pair.cut and pair.decided)
    else:
        params |= {"by": size(pair) if pair.decided else amount(pair.by)}
    by = params["by"]
    assert isinstance(by, Message)
    if facts.results.design == "datasets":
        params |= {"a": number_of(a.value, pair.by), "b": number_of(b.value, pair.by)}
        if pair.decided:
            wins, n = facts.wins(first, second)
            if n:
                text = Message("headline.ahead_datasets", wins=wins, n=n, **params)
                return Lead("ahead", text, first, second)
        elif facts.sign(quantity) * (a.value - b.value) > 0:
            wins, n = facts.wins(second, first)
            if 2 * wins > n:
                text = Message("headline.undecided_datasets", wins=wins, n=n, units=units(facts), **params)
                return Lead("undecided", text, first, second)
    if pair.decided:
        key = ("behind_baseline" if behind else "ahead") + facts.loss(quantity)
        params["by"] = beside_margin(facts, pair, by)
        return Lead("ahead", Message(f"headline.{key}{with_values}", **params), first, second)
    if pair.verdict in ("equivalent", "non-inferior"):
        key = pair.verdict.replace("-", "_")
        params["first"] = sentence_start(named[first]) if facts.baseline == first else named[first]
        text = Message(f"headline.{key}{with_values}", margin=margin_of(facts), **params)
        return Lead(key, text, first, second)
    if quantity.metric == JUDGED and not shown:
        with_values = "_judged"
        params |= {"a": number_of(a.value, pair.by), "b": number_of(b.value, pair.by)}
    key = "undecided_baseline" if facts.baseline == second and with_values != "_judged" else "undecided"
    return Lead(
        "undecided", Message(f"headline.{key}{with_values}", units=units(facts), **params), first, second
    )


def values_are_shown(facts: Facts, pair: Pair, a: Limited, b: Limited) -> bool:
    """Say whether the two values stand beside the difference: where it is theirs, to the digits shown."""
    sign = facts.sign(pair.quantity)
    same = (sign * (a.value - b.value) >= 0) == (pair.by.value >= 0) or pair.by.value == 0
    return same and add_up(a.value, b.value, pair.by)


# --- several models


def several_models(facts: Facts) -> Lead | None:
    """Say who may be best among several models, and how far the others are behind."""
    models = facts.ranked
    if len(models) < 3:
        return None
    leader, loss = models[0], facts.loss(facts.quantity)
    pairs = {m: p for m in models[1:] if (p := facts.pair(leader, m)) is not None}
    if not pairs:
        return None
    of_leader = [m for m, p in pairs.items() if p.decided and p.ahead]
    undecided = [m for m in pairs if m not in of_leader]
    contenders = [leader, *([m for m in undecided if m not in shown_behind(facts.results)] or undecided)]
    behind = [m for m in pairs if m not in contenders]
    params: dict[str, object] = {
        "leader": facts.name(leader),
        "metric": primary_words(facts),
        "number": len(models),
    }
    if not behind and {p.verdict for p in facts.pairs} == {"equivalent"}:
        widest = max(facts.pairs, key=lambda p: abs(p.by.value))
        text = Message(
            "headline.all_equivalent",
            all=all_of(len(models)),
            margin=margin_of(facts),
            by=amount(widest.by),
            **params,
        )
        return Lead("equivalent", text, leader, models[1])
    if not behind:
        return Lead("undecided", _none_is_best(facts, pairs[contenders[1]], params), leader, contenders[1])
    if len(contenders) == 1:
        second = behind[0]
        pair, a, b = pairs[second], value_of(facts, leader), value_of(facts, second)
        shown = values_are_shown(facts, pair, a, b)
        sizes = values_beside(a.value, b.value, pair.by, cut=pair.cut) if shown else {"by": size(pair)}
        sizes["by"] = beside_margin(facts, pair, sizes["by"])
        text = Message(
            f"headline.ahead_of_all{loss}{'' if shown else '_by'}", others=_others(len(behind)),
            second=facts.name(second), **sizes, **params,
        )  # fmt: skip
        return Lead("ahead", text, leader, second)
    text = Message(
        "headline.two",
        first=_may_be_best(facts, contenders, params),
        second=_the_rest(facts, contenders, behind),
    )
    if not of_leader:
        return Lead("undecided", text, leader, contenders[1], about=tuple(contenders[1:]))
    return Lead("ahead", text, leader, of_leader[0], about=tuple(contenders[1:]))


def _others(number: int) -> str:
    return say("headline.others", n=number, number=number)


def _none_is_best(facts: Facts, pair: Pair, params: Mapping[str, object]) -> Message:
    """Say that the best of all models is not shown, with the first two."""
    a, b = (value_of(facts, m) for m in (pair.first, pair.second))
    names = {"first": facts.name(pair.first), "second": facts.name(pair.second)}
    shown = values_are_shown(facts, pair, a, b)
    of_both = not shown and pair.quantity.metric == JUDGED
    sizes = values_beside(a.value, b.value, pair.by)
    key = "several_undecided" if shown else "several_undecided_judged" if of_both else "several_undecided_by"
    return Message(f"headline.{key}", units=units(facts), **names, **sizes, **params)


def _may_be_best(facts: Facts, contenders: Sequence[str], params: Mapping[str, object]) -> Message:
    """Name the models of which one is best, and say that the data do not show which."""
    pairs = [p for p in facts.pairs if p.first in contenders and p.second in contenders]
    values = [value_of(facts, m) for m in contenders]
    shown = tuple(
        Message("headline.figure", value=v.value, half=(pairs[0].by if pairs else v).half) for v in values
    )
    sizes: dict[str, object] = {"n": len(contenders)}
    names = facts.names(contenders)
    key = "contenders"
    if pairs and all(p.verdict == "equivalent" for p in pairs):
        key = "contenders_equivalent"
        sizes |= {"margin": margin_of(facts), "names": names}
    else:
        sizes |= {"units": units(facts), "one_of": one_of(names)}
    if len(contenders) <= MOST_NAMES and len(set(map(str, shown))) == 1:
        shown = (Message("headline.each", value=shown[0]),)
    if len(contenders) <= MOST_NAMES:
        return Message(f"headline.{key}", values=shown, **sizes, **params)
    return Message(
        f"headline.many_{key}", start=sentence_start(in_words(len(contenders))), first=names[0], last=names[-1],
        a=shown[0], b=shown[-1], **sizes, **params,
    )  # fmt: skip


def _the_rest(facts: Facts, contenders: Sequence[str], behind: Sequence[str]) -> Message:
    """Say how far the other models are behind: all contenders where that is decided, else the first, else another."""
    loss = facts.loss(facts.quantity)
    across = [p for m in contenders for other in behind if (p := facts.pair(m, other)) is not None]
    of_leader = [p for p in across if p.first == contenders[0] and p.decided and p.ahead]
    of_all = len(across) == len(contenders) * len(behind) and all(p.decided and p.ahead for p in across)
    if len(behind) == 1:
        pair = next(_ahead_of(facts, behind[0]))
        whom = facts.name(pair.first)
        if of_all:
            pair, whom = min(across, key=lambda p: p.by.value), say("headline.them", n=len(contenders))
        by = beside_margin(facts, pair, size(pair))
        return Message(f"headline.rest_one{loss}", other=facts.name(behind[0]), whom=whom, by=by)
    if not of_leader:
        return Message(f"headline.rest_each{loss}", number=len(behind))
    nearest = min(across if of_all else of_leader, key=lambda p: p.by.value)
    by = beside_margin(facts, nearest, size(nearest))
    if of_all:
        return Message(f"headline.rest{loss}", number=len(behind), by=by)
    whom = facts.name(contenders[0])
    if len(of_leader) == len(behind):
        return Message(f"headline.rest_of_leader{loss}", number=len(behind), whom=whom, by=by)
    return Message(f"headline.rest_of_several{loss}", number=len(behind), n=len(of_leader), whom=whom, by=by)


def _ahead_of(facts: Facts, model: str) -> Iterator[Pair]:
    """Yield the decided pairs of a model with those ahead of it, the best first, seen from these."""
    pairs = (facts.pair(other, model) for other in facts.ranked if other != model)
    return (p for p in pairs if p is not None and p.decided and p.ahead)
