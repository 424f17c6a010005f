"""Gates that count questions: those that got worse, and those below a floor."""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.errors import UsageError
from evalreport.gates.conditions import Gate
from evalreport.gates.deciding import gate_record, outcome_of
from evalreport.intervals.proportions import clopper_pearson_limits
from evalreport.questions.attempts.compute import could_be_decided
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, parts, shortened

MOST_NAMES = 5


def decide(gate: Gate, results: Results) -> GateRecord | None:
    """Decide a gate that counts questions; None for any other gate.

    Raises
    ------
    UsageError
        No question is answered several times, outcomes are not 0 or 1 where passes are counted, or the two models are
        not compared.
    """
    if gate.count not in ("regressions", "questions_below"):
        return None
    if not results.questions:
        raise UsageError(
            f"gate {gate.text!r}: {gate.count} needs several attempts at each question (column attempt), on one test"
            " set"
        )
    return _regressions(gate, results) if gate.count == "regressions" else _below(gate, results)


def _regressions(gate: Gate, results: Results) -> GateRecord:
    """Count the questions that are worse with the new model; undecided where none could have been decided."""
    new, old = gate.about
    rows = [row for row in results.questions if {row.a, row.b} == {new, old}]
    if not rows:
        raise UsageError(
            f"gate {gate.text!r}: {new} and {old} are not compared; leave --baseline out, or make one of them the"
            " baseline"
        )
    worse = [row for row in rows if row.verdict == ("worse" if row.a == new else "better")]
    count = float(len(worse))
    outcome = outcome_of(gate.comparator, gate.limit, low=count, high=count)
    text: Text = Message("gates.regressions", total=len(rows))
    if worse:
        names = shortened([row.id for row in worse], MOST_NAMES)
        text = Message("gates.regressions_named", n=len(worse), total=len(rows), names=names)
    m, alpha = 1 if results.options["correction"] == "none" else len(rows), 1 - results.deciding_level
    if outcome == "pass" and not any(could_be_decided(r.n_a, r.n_b or 0, m, alpha) for r in rows):
        outcome, text = "undecided", Message("gates.few_attempts")
    return gate_record(gate, outcome, text, value=count)


def _below(gate: Gate, results: Results) -> GateRecord:
    """Count the questions that are below a floor by Clopper and Pearson's limits, all of them together."""
    passes = _passes(gate, results)
    level = 1 - (1 - results.deciding_level) / len(passes)
    below, open_ = [], 0
    for (_, _, name), (passed, attempts) in passes.items():
        low, high = clopper_pearson_limits(passed, attempts, level)
        if high < gate.floor:
            below.append(name)
        elif low < gate.floor:
            open_ += 1
    count = float(len(below))
    outcome = outcome_of(gate.comparator, gate.limit, low=count, high=count + open_)
    text: Text = Message("gates.below", total=len(passes), floor=gate.floor)
    if below:
        names = shortened(below, MOST_NAMES)
        text = Message("gates.below_named", n=len(below), total=len(passes), floor=gate.floor, names=names)
    if outcome == "undecided":
        text = parts(text, Message("gates.open_questions", n=open_))
    return gate_record(gate, outcome, text, value=count)


def _passes(gate: Gate, results: Results) -> Mapping[tuple[str, str | None, str], tuple[int, int]]:
    """Return the passes and attempts of every question, by model, task and id."""
    counts: dict[tuple[str, str | None, str], tuple[int, int]] = {}
    for row in results.questions:
        for model, passed, attempts in ((row.a, row.passes_a, row.n_a), (row.b, row.passes_b, row.n_b)):
            if model is None or attempts is None or (gate.about and model not in gate.about):
                continue
            if passed is None:
                raise UsageError(f"gate {gate.text!r}: passes are counted, and outcomes are not all 0 or 1")
            counts[model, row.task, row.id] = (passed, attempts)
    return counts
