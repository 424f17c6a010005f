"""Verdicts on single questions: which of them two models pass unlike often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.pairs import draws_for, model_pairs
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.predictions.column_names import QUESTION
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.questions.attempts.question_tests import (
    attempts_needed,
    fisher_midp,
    permutation_midp,
    smallest_midp,
)
from evalreport.questions.attempts.records import QuestionRecord, QuestionVerdict
from evalreport.schema.warnings import WarningRecord, warning


@dataclass(frozen=True, slots=True)
class _Attempts:
    """One model's outcomes by question: position of the question -> outcomes, in ascending order."""

    outcomes: Mapping[int, Floats]
    passes: bool
    """Whether every outcome is 0 or 1."""


def question_records(
    predictions: Predictions, options: Options
) -> tuple[tuple[QuestionRecord, ...], tuple[WarningRecord, ...]]:
    """Return a record of every question and pair of models, and the warning where none could have been decided.

    None where no question is answered several times, on other designs than one test set, or with test sets of each
    model's own.
    """
    answered = {m.name: found for m in predictions.models if (found := _attempts(predictions, m)) is not None}
    if not answered or predictions.design != "test-set" or predictions.apart:
        return (), ()
    if all(len(own) < 2 for found in answered.values() for own in found.outcomes.values()):
        return (), ()
    names = _names(predictions)
    if len(answered) == 1:
        (model,) = answered
        return tuple(_alone(names[q], model, answered[model], q) for q in answered[model].outcomes), ()
    if options.baseline is not None and options.baseline not in answered:
        return (), ()
    every: list[QuestionRecord] = []
    raised: list[WarningRecord] = []
    for a, b in model_pairs(list(answered), options.baseline):
        records = _pair(names, (a, b), (answered[a], answered[b]), options)
        every += records
        raised += _none_could_be_decided(records, (a, b), options)
    return tuple(every), tuple(raised)


@dataclass(frozen=True, slots=True)
class _Name:
    id: str
    task: str | None
    text: str | None


def _names(predictions: Predictions) -> dict[int, _Name]:
    """Return the id, task and text of every question, by its code."""
    ids, tasks, texts = predictions.ids.to_pylist(), predictions.tasks, _texts(predictions)
    names: dict[int, _Name] = {}
    for row, example in enumerate(predictions.example.tolist()):
        if example in names:
            continue
        name = ids[example]
        task = None
        if tasks is not None and tasks.categories is not None:
            task = tasks.categories[int(tasks.values[row])]
            name = name.removeprefix(f"{task}:")
        names[example] = _Name(name, task, _cell(texts, row))
    return names


def _texts(predictions: Predictions) -> Column | None:
    """Return the column of the questions' texts; where models have texts of their own, the first model's."""
    every = [predictions.metadata, *(model.columns for model in predictions.models)]
    for name in QUESTION:
        for columns in every:
            found = next((column for header, column in columns.items() if header.casefold() == name), None)
            if found is not None:
                return found
    return None


def _cell(column: Column | None, row: int) -> str | None:
    if column is None:
        return None
    value = column.values[row]
    if column.categories is None:
        return None if np.isnan(value) else f"{value:g}"
    return column.categories[int(value)] if value >= 0 else None


def _attempts(predictions: Predictions, model: ModelOutputs) -> _Attempts | None:
    """Return a model's outcomes by question: of attempts, or whether each predicted label is right."""
    if model.attempts is not None and model.answers is not None and model.answers.outcome is not None:
        row, outcome = model.answers.row, model.answers.outcome
        example = predictions.example[row]
    elif "attempt" in predictions.keys and model.y_pred is not None and predictions.classes:
        outcome = (model.y_pred == predictions.y_true).astype(np.float64)
        example = predictions.example
    else:
        return None
    order = np.lexsort((outcome, example))
    codes, starts = np.unique(example[order], return_index=True)
    parts = np.split(outcome[order], starts[1:])
    return _Attempts(dict(zip(codes.tolist(), parts, strict=True)), bool(np.isin(outcome, (0.0, 1.0)).all()))


def _alone(name: _Name, model: str, own: _Attempts, question: int) -> QuestionRecord:
    outcomes = own.outcomes[question]
    passes = int(outcomes.sum()) if own.passes else None
    return QuestionRecord(
        id=name.id,
        task=name.task,
        text=name.text,
        a=model,
        b=None,
        n_a=len(outcomes),
        n_b=None,
        passes_a=passes,
    )


def _pair(
    names: Mapping[int, _Name], pair: tuple[str, str], both: tuple[_Attempts, _Attempts], options: Options
) -> list[QuestionRecord]:
    common = [question for question in both[0].outcomes if question in both[1].outcomes]
    m = 1 if options.correction == "none" else len(common)
    draws = draws_for(m, options)
    passes = both[0].passes and both[1].passes
    records = []
    for question in common:
        a, b = both[0].outcomes[question], both[1].outcomes[question]
        name = names[question]
        if passes:
            p = fisher_midp(int(a.sum()), len(a), int(b.sum()), len(b))
        else:
            purpose = f"question {name.task or ''}:{name.id} {pair[0]} {pair[1]}"
            p = permutation_midp(a, b, seed=options.seed, purpose=purpose, draws=draws)
        records.append(
            QuestionRecord(
                id=name.id,
                task=name.task,
                text=name.text,
                a=pair[0],
                b=pair[1],
                n_a=len(a),
                n_b=len(b),
                passes_a=int(a.sum()) if passes else None,
                passes_b=int(b.sum()) if passes else None,
                difference=float(a.sum()) / len(a) - float(b.sum()) / len(b),
                p_value=p,
            )
        )
    adjusted = adjust([record.p_value or 0.0 for record in records], options.correction)
    return [_decided(record, p, options) for record, p in zip(records, adjusted, strict=True)]


def _decided(record: QuestionRecord, p_adjusted: float, options: Options) -> QuestionRecord:
    better = (record.difference or 0.0) > 0
    better = better != options.lower_is_better
    decided = p_adjusted <= 1 - options.confidence and record.difference != 0
    verdict: QuestionVerdict = "undecided" if not decided else "better" if better else "worse"
    return replace(record, p_adjusted=p_adjusted, verdict=verdict)


def could_be_decided(n_a: int, n_b: int, questions: int, alpha: float) -> bool:
    """Say whether all passes against none would be decided in a family of so many questions.

    Examples
    --------
    >>> could_be_decided(4, 4, 40, 0.05), could_be_decided(6, 6, 40, 0.05)
    (False, True)
    """
    return smallest_midp(n_a, n_b) * questions <= alpha


def _none_could_be_decided(
    records: Sequence[QuestionRecord], pair: tuple[str, str], options: Options
) -> Iterator[WarningRecord]:
    alpha = 1 - options.confidence
    m = 1 if options.correction == "none" else len(records)
    if not records or any(could_be_decided(r.n_a, r.n_b or 0, m, alpha) for r in records):
        return
    most = max(min(r.n_a, r.n_b or 0) for r in records)
    best = min(min(1.0, m * smallest_midp(r.n_a, r.n_b or 0)) for r in records)
    yield warning(
        "few_attempts",
        about=pair,
        a=pair[0],
        b=pair[1],
        n=len(records),
        attempts=most,
        p=best,
        needed=attempts_needed(m, alpha),
    )
