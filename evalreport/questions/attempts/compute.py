"""Verdicts on single questions, and what attempts and questions add to the errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.pairs import draws_for, model_pairs
from evalreport.engine.draws import stream
from evalreport.options import Options
from evalreport.predictions.arrays import Floats
from evalreport.predictions.column_names import QUESTION
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.questions.attempts.records import AttemptLists, QuestionRecord, QuestionVerdict
from evalreport.questions.attempts.variance import attempt_variance_records
from evalreport.questions.question import Run, question
from evalreport.schema.inputs import JsonObject
from evalreport.schema.warnings import WarningRecord, warning


@dataclass(frozen=True, kw_only=True)
class Attempts(AttemptLists):
    """The lists of results.json about attempts; ``few``: the pairs none of whose questions could be decided."""

    few: tuple[WarningRecord, ...] = ()


def repeated(run: Run) -> bool:
    """Say whether some question is answered several times."""
    predictions = run.predictions
    return any(m.attempts is not None for m in predictions.models) or "attempt" in predictions.keys


@question("attempts", applies=repeated)
def attempts(run: Run) -> Attempts:
    """Return a record of every question and pair of models, and the parts of each mean's variance."""
    questions, few = question_records(run.predictions, run.data.deciding)
    variance = (attempt_variance_records(s, run.options.baseline) for s in run.samples)
    return Attempts(questions=questions, attempt_variance=tuple(chain.from_iterable(variance)), few=few)


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


def _names(predictions: Predictions) -> dict[int, JsonObject]:
    """Return the id, task and text of every question, as a record has them, by its code."""
    ids, tasks, texts = predictions.ids.to_pylist(), predictions.tasks, _texts(predictions)
    names: dict[int, JsonObject] = {}
    for row, example in enumerate(predictions.example.tolist()):
        if example in names:
            continue
        name, task = ids[example], _cell(tasks, row)
        if task is not None:
            name = name.removeprefix(f"{task}:")
        names[example] = {"id": name, "task": task, "text": _cell(texts, row)}
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


def _alone(name: JsonObject, model: str, own: _Attempts, question: int) -> QuestionRecord:
    outcomes = own.outcomes[question]
    passes = int(outcomes.sum()) if own.passes else None
    return QuestionRecord(**name, a=model, b=None, n_a=len(outcomes), n_b=None, passes_a=passes)


def _pair(
    names: Mapping[int, JsonObject],
    pair: tuple[str, str],
    both: tuple[_Attempts, _Attempts],
    options: Options,
) -> list[QuestionRecord]:
    common = [question for question in both[0].outcomes if question in both[1].outcomes]
    m = 1 if options.correction == "none" else len(common)
    draws = draws_for(m, options)
    passes = both[0].passes and both[1].passes
    records = []
    for place in common:
        a, b = both[0].outcomes[place], both[1].outcomes[place]
        name = names[place]
        if passes:
            p = fisher_midp(int(a.sum()), len(a), int(b.sum()), len(b))
        else:
            purpose = f"question {name['task'] or ''}:{name['id']} {pair[0]} {pair[1]}"
            p = permutation_midp(a, b, seed=options.seed, purpose=purpose, draws=draws)
        records.append(
            QuestionRecord(
                **name,
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
    better = ((record.difference or 0.0) > 0) != options.lower_is_better
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


MOST_ARRANGEMENTS = 20_000
"""With more ways to share the outcomes out, some are drawn."""
FEW_DRAWS, MOST_DRAWS = 2000, 1_000_000
LIKELY = 0.05
"""A first p-value above this, of ``FEW_DRAWS`` arrangements, is not drawn again with more."""


@cache
def fisher_midp(passes_a: int, n_a: int, passes_b: int, n_b: int) -> float:
    """Return the two-sided mid-p value of Fisher's exact test of equal chances to pass.

    Tables with the same margins are as probable as C(n_a, x) C(n_b, s - x), s passes in all. The mid-p is the
    probability of the less probable tables and half that of those as probable as the one seen.

    Parameters
    ----------
    passes_a, passes_b
        Attempts that passed.
    n_a, n_b
        Attempts, at least 1 each.

    References
    ----------
    Fisher (1935); Lancaster (1961), J Am Stat Assoc 56:223 (mid-p).

    Examples
    --------
    Of two tables 1/20 as probable as all together, all passes against none of three attempts: 1/20.

    >>> fisher_midp(3, 3, 0, 3)
    0.05
    """
    total = passes_a + passes_b
    possible = range(max(0, total - n_b), min(n_a, total) + 1)
    weights = [math.comb(n_a, x) * math.comb(n_b, total - x) for x in possible]
    seen = weights[passes_a - possible.start]
    less = sum(weight for weight in weights if weight < seen)
    alike = sum(weight for weight in weights if weight == seen)
    return (2 * less + alike) / (2 * math.comb(n_a + n_b, total))


def permutation_midp(a: Floats, b: Floats, *, seed: int = 0, purpose: str = "", draws: int = 0) -> float:
    """Return the two-sided mid-p value of the permutation test of one question's outcomes.

    The outcomes of both models are shared out among them in every way; an arrangement counts where its difference of
    means is farther from 0 than the one seen, and half where it is as far. Of more than ``MOST_ARRANGEMENTS`` ways some
    are drawn, and the p-value is (count + 1) / (draws + 1).

    Parameters
    ----------
    a, b
        The outcomes of each model's attempts.
    seed, purpose
        Of the random stream.
    draws
        How many arrangements are drawn where a first p-value of ``FEW_DRAWS`` is small; cut at ``MOST_DRAWS``.

    References
    ----------
    Pitman (1937), Suppl J R Stat Soc 4:119.

    Examples
    --------
    Of the six ways to share out 1, 2, 5 and 6 in twos, two are as far apart as 1, 2 and 5, 6.

    >>> round(permutation_midp(np.array([1.0, 2.0]), np.array([5.0, 6.0])), 6)
    0.166667
    """
    pooled = np.sort(np.concatenate([a, b]))
    centred = pooled - pooled.mean()
    largest = float(np.abs(centred).max())
    if largest == 0:
        return 0.5
    centred = centred / largest
    # With all outcomes centred the difference of means is the sum of a's share, times a constant.
    seen = abs(float((np.sort(a) - pooled.mean()).sum())) / largest
    near = 1e-9 * len(pooled)
    if math.comb(len(pooled), len(a)) <= MOST_ARRANGEMENTS:
        rows = np.array(list(combinations(range(len(pooled)), len(a))), dtype=np.int64)
        sums = np.abs(centred[rows].sum(axis=1))
        farther, as_far = (sums > seen + near).sum(), (np.abs(sums - seen) <= near).sum()
        return float((farther + as_far / 2) / len(sums))
    first = _drawn(centred, len(a), seen, near, FEW_DRAWS, (seed, f"{purpose} first"))
    more = min(max(draws, MOST_ARRANGEMENTS), MOST_DRAWS)
    return first if first > LIKELY else _drawn(centred, len(a), seen, near, more, (seed, purpose))


def _drawn(values: Floats, k: int, seen: float, near: float, draws: int, source: tuple[int, str]) -> float:
    count, block = 0.0, max(1, 2_000_000 // len(values))
    for number, start in enumerate(range(0, draws, block)):
        size = min(block, draws - start)
        order = stream(*source, number).random((size, len(values)))
        chosen = np.argpartition(order, k - 1, axis=1)[:, :k]
        sums = np.abs(values[np.sort(chosen, axis=1)].sum(axis=1))
        count += float((sums > seen + near).sum()) + float((np.abs(sums - seen) <= near).sum()) / 2
    return (count + 1) / (draws + 1)


def smallest_midp(n_a: int, n_b: int) -> float:
    """Return the mid-p value of all passes against none, the smallest that a question can have.

    Examples
    --------
    >>> round(smallest_midp(4, 4), 6)
    0.014286
    """
    return fisher_midp(n_a, n_a, 0, n_b)


def attempts_needed(questions: int, alpha: float) -> int:
    """Return the least number of attempts of each model at which all passes against none would be decided.

    The least k with m / C(2k, k) <= alpha, m questions in the family.

    Examples
    --------
    >>> attempts_needed(20, 0.05), attempts_needed(1, 0.05)
    (6, 3)
    """
    k = 1
    while questions / math.comb(2 * k, k) > alpha:
        k += 1
    return k
