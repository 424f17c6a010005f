"""The examples on which the models disagree most."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import isfinite

from evalreport import numbers
from evalreport.report.naming import listed
from evalreport.report.table import MANY_MODELS, Cell, Column, Row, Table, Tables
from evalreport.report.view import View
from evalreport.texts import coded, in_words, say
from evalreport.texts.visible import shorten

MOST_COLUMNS, MOST_OPEN = 8, 5
LONGEST_CELL = 40


def describe_failures(view: View) -> Tables | None:
    """Lay out the examples on which the models disagree most; nothing where they agree on all."""
    records = view.results.disagreements
    if not records:
        return None
    held = {r.model for r in records}
    models = tuple(m for m in view.models if m.id in held)[:MOST_COLUMNS]
    rows, digits, graded = [], _answer_digits(view), any(r.truth is not None for r in records)
    for _, of_one in groupby(records, key=lambda r: r.id):
        by_model = {r.model: r for r in of_one}
        first = next(iter(by_model.values()))
        answers = tuple(_answer(by_model[m.id].answer, by_model[m.id].correct, digits) for m in models)
        truth = numbers.MISSING if first.truth is None else _written(first.truth, digits)
        label, cells = shorten(first.id, LONGEST_CELL), (shorten(truth, LONGEST_CELL),) if graded else ()
        rows.append(Row(None, (*cells, *answers), label))
    # Outcomes that were graded elsewhere have no true value.
    heads = (*((Column(say("table.true"), "truth"),) if graded else ()), *models)
    look = "examples" + (" many" if len(models) > MANY_MODELS else "")
    first_rows = tuple(rows[:MOST_OPEN])
    table = Table(say("failures.box"), heads, first_rows, look=look, first=say("table.id"), cut=0)
    more = replace(table, title=say("failures.box_more"), rows=tuple(rows[MOST_OPEN:]))
    tables = (table, more) if more.rows else (table,)
    left_out = [m.name for m in view.models if m.id in held and m not in models]
    heading, text = _found(view, records[0].id, digits)
    note = say("report.left_out", names=listed(left_out)) if left_out else ""
    if view.results.judge_agreement:
        note = f"{say('judge.word')} {note}".strip()
    if not text:
        unit, key = digits.unit if digits is not None else "", "failures.furthest"
        if coded(records[0].measure)[0] == "spread.disagreeing_pairs":
            key = "failures.furthest_labels"
        elif unit:
            named_unit = digits is not None and digits.power in numbers.UNITS
            key = "failures.furthest_in" if named_unit else "failures.furthest_times"
        text = say(key, unit=unit)
    return Tables(tables, heading, text, note=note)


def _answer_digits(view: View) -> numbers.Digits | None:
    """Return how answers that are numbers are written, all alike; None where they are labels, or 0 and 1."""
    records = view.results.disagreements
    values = [_as_number(r.answer) for r in records if r.correct is None]
    if len(values) < len(records) or any(value is None for value in values):
        return None
    if all(value is not None and value.is_integer() and abs(value) < numbers.LONG for value in values):
        return None
    return numbers.digits_of(values, [max(r.spread for r in records) / 100])


def _as_number(text: str) -> float | None:
    """Read an answer as a number; None where it is a label, or not finite."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _written(text: str, digits: numbers.Digits | None) -> str:
    value = None if digits is None else _as_number(text)
    return text if value is None else numbers.number(value, digits or 3)


def _answer(text: str, correct: bool | None, digits: numbers.Digits | None) -> Cell:
    text = shorten(_written(text, digits), LONGEST_CELL)
    word = "" if correct is None else say("differences.right" if correct else "differences.wrong")
    return Cell(text, word, look="wrong" if correct is False else "right", strong=False)


def _found(view: View, first: str, digits: numbers.Digits | None) -> tuple[str, str]:
    """Say on how many examples the models disagree and none is right; else the range of their answers."""
    counts = {record.label: record for record in view.results.unanimity}
    whole = counts.get(None)
    if whole is None:
        answers = [r for r in view.results.disagreements if r.id == first]
        values = [(value, r.model) for r in answers if (value := _as_number(r.answer)) is not None]
        if len(values) < len(answers):
            return say("failures.disagree"), ""
        ends = (min(values), max(values))
        low, high = (numbers.to_digits(v, 4) if digits is None else digits.single(v) for v, _ in ends)
        lowest, highest = (view.model(model).name for _, model in ends)
        key = "failures.widest" if view.results.task == "regression" else "failures.widest_outcome"
        said = {"id": shorten(first, LONGEST_CELL), "low": low, "high": high}
        return say(key, lowest=lowest, highest=highest, **said), ""
    positive = counts.get(view.results.positive) if view.results.positive is not None else None
    n, number = len(view.models), in_words(len(view.models))
    if positive is not None and positive.all_wrong:
        heading = say(
            "failures.missed_by_all", n=n, number=number, all_wrong=positive.all_wrong, of=positive.n,
            label=str(positive.label),
        )  # fmt: skip
    else:
        key = "failures.wrong_for_all" if whole.all_wrong else "failures.wrong_for_none"
        heading = say(key, n=n, number=number, all_wrong=whole.all_wrong, of=whole.n)
    if not view.threshold_was_chosen:
        heading = say("failures.at_half")
    apart = whole.n - whole.all_right - whole.all_wrong
    # Of two models every disagreement is alike.
    return heading, say("failures.apart_most" if n > 2 else "failures.apart", n=apart, of=whole.n)
