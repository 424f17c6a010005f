"""The judge: what it gains over the few human outcomes, how it agrees with people, and whether it favours a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from evalreport import numbers
from evalreport.questions.judges.records import JudgeAgreementRecord, JudgeBiasRecord, JudgeEstimateRecord
from evalreport.report.naming import count_range, label_of, listed
from evalreport.report.table import Cell, Row, Table, Tables, limited_cell, pair_row
from evalreport.report.view import Model, View
from evalreport.schema.pairs import seen_from
from evalreport.texts import say

MOST_PAIRS = 10
"""Pairs that are shown; results.json has all."""


def describe(view: View) -> Tables | None:
    """Lay out what the judge gains and where it misleads; nothing without outcomes that people gave."""
    agreements = {r.model: r for r in view.results.judge_agreement}
    if not agreements:
        return None
    estimates = view.results.judge_estimates
    whole = agreements.get(None) or next(iter(agreements.values()))
    shown = [m for m in view.models if m.id in agreements]
    rows = [Row(m, _estimate(view, r)) for m in shown for r in estimates if r.a == m.id and r.b is None]
    pairs = [r for r in estimates if r.b is not None]
    tables = [
        Table(say("judge.estimates"), _heads(), tuple(rows), _levels(view, estimates)),
        Table(
            say("judge.agreement"),
            tuple(
                say(f"judge.{name}")
                for name in ("both", "judge_only", "human_only", "neither", "kappa", "bias")
            ),
            tuple(_agreement(agreements[m.id], m) for m in shown),
            say("judge.kappa_note"),
        ),
    ]
    tables += [_pairs(view, pairs)] if pairs else []
    return Tables(tuple(tables), _heading(view, whole), " ".join(_sentences(view, estimates)))


def _heading(view: View, whole: JudgeAgreementRecord) -> str:
    """Say which model the judge favours, or how well it agrees where it favours none."""
    flagged = [r for r in view.results.judge_bias if r.flagged]
    if flagged:
        clearest = min(flagged, key=lambda r: (r.p_adjusted or 0.0, r.a, r.b))
        favours_a = (clearest.difference > 0) == view.greater_is_better
        pair = (clearest.a, clearest.b)
        model, other = (view.model(m).name for m in (pair if favours_a else pair[::-1]))
        difference = numbers.to_digits(abs(clearest.difference), 2)
        return say("judge.favours", model=model, other=other, difference=difference)
    n = numbers.count(whole.n_gold)
    if whole.bias is None:
        return say("judge.heading_scales")
    if whole.agreement is None:
        return say("judge.heading_bias", bias=whole.bias, n=n)
    return say("judge.heading_agrees", share=numbers.percent(round(whole.agreement, 3)), n=n)


def _sentences(view: View, estimates: Sequence[JudgeEstimateRecord]) -> Iterator[str]:
    """Yield who leads by the judge alone and by people, what the judge is worth, and whether any pair was flagged."""
    own = [r for r in estimates if r.b is None and r.value is not None]
    if len(own) > 1:
        turned = 1 if view.greater_is_better else -1
        by_judge = view.model(max(own, key=lambda r: turned * r.judge).a)
        by_both = view.model(max(own, key=lambda r: turned * (r.value or 0.0)).a)
        same = by_judge is by_both
        yield say(
            "judge.same_leader" if same else "judge.other_leader", judge=by_judge.name, estimate=by_both.name
        )
    gains = [r.gold_effective for r in own if r.gold_effective is not None]
    if gains:
        many = count_range([round(gain) for gain in gains])
        yield say("judge.worth", gold=count_range([r.n_gold for r in own]), effective=many)
    flagged = [r for r in view.results.judge_bias if r.flagged]
    if view.results.judge_bias and not flagged:
        yield say("judge.none_favoured", n=len(view.results.judge_bias))


def _heads() -> tuple[str, ...]:
    return tuple(say(f"judge.{name}") for name in ("by_judge", "by_people", "by_both", "weight", "effective"))


def _levels(view: View, estimates: Sequence[JudgeEstimateRecord]) -> str:
    methods = dict.fromkeys(r.human_method for r in estimates if r.b is None and r.human_method)
    names = listed([label_of("interval", name) for name in methods])
    note = say("judge.estimates_note", level=numbers.percent(view.confidence), methods=names)
    by_task = any(r.lam is None and r.value is not None for r in estimates)
    return f"{note} {say('judge.weight_by_task')}" if by_task else note


def _estimate(view: View, record: JudgeEstimateRecord) -> tuple[Cell | str, ...]:
    signed = record.b is not None
    decimals = view.digits_of_difference(view.primary) if signed else view.digits(view.primary)

    value = partial(limited_cell, decimals=decimals, signed=signed)
    return (
        numbers.number(record.judge, decimals, signed=signed),
        value(record.human, record.human_low, record.human_high),
        value(record.value, record.low, record.high, note=record.reason or ""),
        numbers.number(record.lam, 2),
        numbers.MISSING
        if record.gold_effective is None
        else say("judge.effective_of", effective=round(record.gold_effective), n=record.n_gold),
    )


def _agreement(record: JudgeAgreementRecord, model: Model) -> Row:
    cells = (record.both, record.judge_only, record.human_only, record.neither)
    return Row(
        model,
        (
            *(numbers.MISSING if n is None else numbers.count(n) for n in cells),
            limited_cell(record.kappa, record.kappa_low, record.kappa_high, 2, note=record.reason or ""),
            limited_cell(record.bias, record.bias_low, record.bias_high, signed=True),
        ),
    )


def _pairs(view: View, pairs: Sequence[JudgeEstimateRecord]) -> Table:
    """Lay out the pairs, better minus worse by the estimate, and the judge's bias between them."""
    order = {m.id: m.index for m in view.models}
    biases = {frozenset((r.a, r.b)): r for r in view.results.judge_bias}
    rows = []
    for record in sorted(pairs, key=lambda r: sorted((order[r.a], order[r.b or ""]))):
        a, b = sorted((view.model(record.a), view.model(record.b or "")), key=lambda m: m.index)
        seen = seen_from(
            a.id, record, ("judge",), ("human", "human_low", "human_high"), ("value", "low", "high")
        )
        bias = biases.get(frozenset((record.a, record.b or "")))
        rows.append(pair_row(a, b, (*_estimate(view, seen), _bias(bias, a.id))))
    more = len(rows) - MOST_PAIRS
    note = say("judge.pairs_note", level=numbers.percent(view.results.deciding_level))
    note += " " + say("judge.more_pairs", n=more) if more > 0 else ""
    heads = (*_heads(), say("judge.bias_between"))
    return Table(say("judge.pairs"), heads, tuple(rows[:MOST_PAIRS]), note, first=say("table.pair"))


def _bias(record: JudgeBiasRecord | None, first: str) -> Cell | str:
    if record is None:
        return numbers.MISSING
    seen = seen_from(first, record)
    beside = f"{numbers.interval(seen.low, seen.high, signed=True)} {say('judge.p', p=seen.p_adjusted)}"
    return Cell(numbers.number(seen.difference, signed=True), beside.strip(), seen.difference)
