"""Where it fails: the examples that no model gets right, and those on which the models disagree most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from evalreport import numbers
from evalreport.report.characters import shorten
from evalreport.report.naming import listed
from evalreport.report.view import Model, View
from evalreport.texts import in_words, say

MOST_COLUMNS = 8
LONGEST_CELL = 40


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's answer to an example; ``word`` says right or wrong where that is known."""

    text: str
    word: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One example on which the models disagree."""

    id: str
    truth: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    """What the section shows: what it found, and the examples with the answers of the models in rank order."""

    heading: str
    text: str
    answering: tuple[Model, ...]
    examples: tuple[Example, ...]
    note: str

    @property
    def with_truth(self) -> bool:
        """Whether any example has a true value: outcomes that were graded elsewhere have none."""
        return any(example.truth != numbers.MISSING for example in self.examples)


def describe(view: View) -> Failures | None:
    """Lay out the examples on which the models disagree most; nothing where they agree on all."""
    records = view.results.disagreements
    if not records:
        return None
    held = {r.model for r in records}
    models = tuple(m for m in view.models if m.id in held)[:MOST_COLUMNS]
    examples = []
    for _, of_one in groupby(records, key=lambda r: r.id):
        by_model = {r.model: r for r in of_one}
        first = next(iter(by_model.values()))
        answers = tuple(_answer(by_model[m.id].answer, by_model[m.id].correct) for m in models)
        truth = numbers.MISSING if first.truth is None else shorten(first.truth, LONGEST_CELL)
        examples.append(Example(shorten(first.id, LONGEST_CELL), truth, answers))
    left_out = [m.name for m in view.models if m.id in held and m not in models]
    heading, text = _found(view, examples[0])
    note = say("report.left_out", names=listed(left_out)) if left_out else ""
    if view.results.judge_agreement:
        note = f"{say('judge.word')} {note}".strip()
    if not text:
        text = say("failures.furthest", measure=records[0].measure)
    return Failures(heading, text, models, tuple(examples), note)


def _answer(text: str, correct: bool | None) -> Answer:
    word = "" if correct is None else say("differences.right" if correct else "differences.wrong")
    return Answer(shorten(text, LONGEST_CELL), word, correct is False)


def _found(view: View, widest: Example) -> tuple[str, str]:
    """Say on how many examples the models disagree and none is right; else how far apart their answers lie."""
    counts = {record.label: record for record in view.results.unanimity}
    whole = counts.get(None)
    if whole is None:
        try:
            spread = sorted(widest.answers, key=lambda answer: float(answer.text))
        except ValueError:
            return say("failures.disagree"), ""
        low, high = spread[0].text, spread[-1].text
        key = "failures.widest" if view.results.task == "regression" else "failures.widest_outcome"
        return say(key, id=widest.id, low=low, high=high), ""
    positive = counts.get(view.results.positive) if view.results.positive is not None else None
    n, number = len(view.models), in_words(len(view.models))
    if positive is not None and positive.all_wrong:
        heading = say(
            "failures.missed_by_all", n=n, number=number, all_wrong=positive.all_wrong, of=positive.n,
            label=str(positive.label),
        )  # fmt: skip
    else:
        heading = say("failures.wrong_for_all", n=n, number=number, all_wrong=whole.all_wrong, of=whole.n)
    apart = whole.n - whole.all_right - whole.all_wrong
    return heading, say("failures.apart", n=apart, of=whole.n)
