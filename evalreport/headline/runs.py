"""The first sentence of a comparison of two runs: a gate of the new one, then models that are worse, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.gates.conditions import sides
from evalreport.headline.facts import Limited, amount, number_of
from evalreport.headline.rules import params_of
from evalreport.schema.decisions import HeadlineRecord, Tone
from evalreport.texts import Message
from evalreport.texts.visible import visible

MOST_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """One model's value of the primary metric in both runs; ``difference`` is new minus old."""

    model: str
    outcome: Literal["better", "worse", "not settled", "same predictions", "not comparable"]
    old: float | None
    new: float | None
    difference: Limited | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOfRuns:
    """The outcomes of one gate in both runs, None where a run did not have it; value and sentence are the new run's."""

    gate: str
    old: str | None
    new: str | None
    value: Limited | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoRuns:
    """What the rules ask of two runs: the names of the old run and of the metric, and the new run's examples ``n``."""

    old: str
    metric: str
    n: int
    models: Sequence[RunChange]
    gates: Sequence[GateOfRuns] = ()
    gone: Sequence[str] = ()


def headline_of_runs(runs: TwoRuns) -> HeadlineRecord:
    """Return the first sentence about two runs: the worst news first.

    Examples
    --------
    >>> change = RunChange(
    ...     model="forest", outcome="worse", old=0.84, new=0.8, difference=Limited(-0.04, -0.054, -0.026)
    ... )
    >>> found = headline_of_runs(TwoRuns(old="base", metric="accuracy", n=2000, models=[change]))
    >>> str(found.text), found.tone
    ('forest is worse than in base: accuracy 0.800, was 0.840 (change −0.040 [−0.054, −0.026]).', 'bad')
    """
    code, tone, lead, about = _lead(runs)
    clause = _clause(runs, about)
    sentence = lead if clause is None else Message("headline.clause", lead=lead, clause=clause)
    text = Message("headline.sentence", text=sentence)
    return HeadlineRecord(text=text, code=code, params=params_of(text), tone=tone)


def _lead(runs: TwoRuns) -> tuple[str, Tone, Message, str | None]:
    """Return the code, the tone and the lead, and the model that it is about."""
    failed = [g for g in runs.gates if g.new == "fail"]
    if failed:
        text = _gate(failed[0])
        key = "headline.gate_failed" if len(failed) == 1 else "headline.gates_failed"
        return "gate_failed", "bad", Message(key, n=len(failed), gate=text), None
    removed = [g for g in runs.gates if g.new is None and g.old is not None]
    if removed:
        key = "gate_removed_failed" if removed[0].old == "fail" else "gate_removed"
        return "gate_failed", "undecided", Message(f"headline.{key}", gate=_typed(removed[0].gate)), None
    for outcome, tone in (("worse", "bad"), ("better", "neutral")):
        moved = [m for m in runs.models if m.outcome == outcome]
        if outcome == "better" and runs.gone:
            break
        if moved:
            largest = max(moved, key=lambda m: abs(m.difference.value) if m.difference else 0.0)
            text = Message(f"headline.{outcome}_than", old=visible(runs.old), **_values(runs, largest))
            return "changed", "bad" if tone == "bad" else "neutral", text, largest.model
    if runs.gone:
        names = tuple(map(visible, runs.gone))
        return ("changed", "undecided", Message("headline.gone_from", models=names, n=len(names)), None)
    unclear = [m for m in runs.models if m.outcome in ("not settled", "not comparable")]
    if unclear:
        first = unclear[0]
        key = "not_shown_to_change" if first.outcome == "not settled" else "not_comparable"
        return "unchanged", "neutral", Message(f"headline.{key}", **_values(runs, first)), first.model
    if runs.models:
        names = tuple(visible(m.model) for m in runs.models[:MOST_NAMES])
        old, number = visible(runs.old), len(runs.models)
        text = Message("headline.same_as", names=names, n=number, old=old)
        if number > MOST_NAMES:
            text = Message("headline.all_same_as", number=number, old=old)
        return "same_answers", "neutral", text, None
    return "unchanged", "neutral", Message("headline.nothing_in_both", metric=runs.metric), None


def _clause(runs: TwoRuns, about: str | None) -> Message | None:
    """Return the gravest of what is left: worse models, models that are gone, better ones, the same answers."""
    rest = [m for m in runs.models if m.model != about]
    for outcome in ("worse", "better"):
        moved = [m for m in rest if m.outcome == outcome]
        if outcome == "better" and runs.gone and about is not None:
            names = tuple(map(visible, runs.gone))
            return Message("headline.is_gone", models=names, n=len(names))
        if moved:
            first = max(moved, key=lambda m: abs(m.difference.value) if m.difference else 0.0)
            return Message(f"headline.{outcome}_too", **_values(runs, first))
    if (
        runs.models
        and all(m.outcome == "same predictions" for m in runs.models)
        and about is None
        and runs.gates
    ):
        return Message("headline.no_prediction_changed")
    same = [visible(m.model) for m in rest if m.outcome == "same predictions"]
    if same and about is not None:
        return Message("headline.give_the_same", names=tuple(same[:MOST_NAMES]), n=len(same))
    return None


def _values(runs: TwoRuns, change: RunChange) -> dict[str, object]:
    by = change.difference or Limited((change.new or 0.0) - (change.old or 0.0))
    return {
        "model": visible(change.model), "metric": runs.metric, "change": by.as_change(),
        "examples": runs.n, "n": runs.n,
        "now": number_of(change.new or 0.0, by), "then": number_of(change.old or 0.0, by),
    }  # fmt: skip


def _gate(gate: GateOfRuns) -> Message:
    what, sign, bar = sides(gate.gate)
    needs = f"{sign} {bar}"
    if gate.value is None:
        return Message("headline.gate_unknown", what=visible(what), needs=needs)
    return Message("headline.gate", what=visible(what), value=amount(gate.value), needs=needs)


def _typed(gate: str) -> str:
    what, sign, bar = sides(gate)
    return f"{visible(what)} {sign} {bar}".strip()
