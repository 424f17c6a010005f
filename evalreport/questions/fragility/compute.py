"""How many examples turned round undo a verdict: by the counts of McNemar's test, else by influence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evalreport.comparisons.adjustment import adjust
from evalreport.comparisons.decisions import Decision
from evalreport.comparisons.example_tests import P_OF_COUNTS
from evalreport.comparisons.pairs import Comparison, compare_all, records
from evalreport.comparisons.registry import Pair
from evalreport.comparisons.sample_size import least_enough
from evalreport.metrics.estimation import estimate_models
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.fragility.records import FragilityLists, FragilityRecord
from evalreport.questions.question import Run, question
from evalreport.texts import Message

MOST_ROWS, MOST_GREEDY, MOST_KINDS = 10_000, 10, 40
"""Examples, and pairs, of which the greedy number is computed, since each asks for several comparisons anew; and kinds
of answers, in place of examples, whose influence is tried.
"""
OUTPUTS = ("y_pred", "score", "proba", "outcome")
"""The outputs that are exchanged."""


@question("fragility", applies=lambda run: any(decision.decided for decision in run.pairs.decisions))
def fragility(run: Run) -> FragilityLists:
    """Return one record for each pair that this run decides."""
    decisions = run.pairs.decisions
    by_pair = {(row.a, row.b): row.p_value for row in run.pairs.family_rows if row.recommended}
    p_values = [by_pair.get((d.comparison.a, d.comparison.b)) for d in decisions]
    found, greedy = [], 0
    for place, decision in enumerate(decisions):
        pair = decision.comparison.pair
        if not decision.decided or decision.kept is not None or pair is None:
            continue
        record = _exact(run, decision, pair, _undone(run, p_values, place))
        if record is None:
            greedy += 1
            record = _greedy(run, decision, pair, _undone(run, p_values, place), enough=greedy > MOST_GREEDY)
        found.append(record)
    return FragilityLists(fragility=tuple(found))


def _undone(run: Run, p_values: Sequence[float | None], place: int) -> Callable[[float | None], bool]:
    """Return whether another p-value of one pair, the others as they are, leaves it undecided."""
    options = run.data.deciding

    def undone(p: float | None) -> bool:
        if p is None:
            return True
        family = [p if k == place else own for k, own in enumerate(p_values)]
        known = [own for own in family if own is not None]
        at = sum(own is not None for own in family[:place])
        return adjust(known, options.correction)[at] > 1 - options.confidence

    return undone


def _record(run: Run, decision: Decision, **found: object) -> FragilityRecord:
    comparison = decision.comparison
    fields: dict[str, object] = {"turned": None, "of": run.predictions.n_examples, **found}
    return FragilityRecord(a=comparison.a, b=comparison.b, metric=run.data.primary.spelled, **fields)  # type: ignore[arg-type]


def _exact(
    run: Run, decision: Decision, pair: Pair, undone: Callable[[float | None], bool]
) -> FragilityRecord | None:
    """Return the least number of discordant examples that turn round; None where counts do not decide."""
    p_of_counts = P_OF_COUNTS.get(decision.comparison.recommended_test)
    if p_of_counts is None or pair.agreement is None:
        return None
    both, only_a, only_b, neither = (round(cell) for cell in pair.agreement)
    more, fewer = max(only_a, only_b), min(only_a, only_b)
    # From equal counts on the p-value is 1: within these the number of turned examples only makes it greater.
    high = math.ceil((more - fewer) / 2)
    turned = least_enough(lambda n: undone(p_of_counts(more - n, fewer + n)), 0, high)
    return _record(run, decision, turned=turned, of=both + only_a + only_b + neither, method="exact")


# --- by influence ---------------------------------------------------------------------------------------------------


def _greedy(
    run: Run, decision: Decision, pair: Pair, undone: Callable[[float | None], bool], *, enough: bool
) -> FragilityRecord:
    """Exchange the answers to the examples that favour the winner most until the pair is no longer decided."""
    run = _of_rows(run)
    predictions = run.predictions
    outputs = {model.name: model for model in predictions.models}
    a, b = outputs[decision.comparison.a], outputs[decision.comparison.b]
    plain = len(run.samples) == 1 and run.samples[0].units.plain and predictions.multiplicity is None
    fits = pair.difference.fits is not None or predictions.design != "test-set"
    if fits or not plain or not _can_be_exchanged(a, b) or pair.decided_by_replicates:
        return _record(run, decision, reason=Message("fragility.not_of_this_design"))
    if enough or predictions.n > MOST_ROWS:
        return _record(
            run, decision, reason=Message("fragility.too_large", rows=MOST_ROWS, pairs=MOST_GREEDY)
        )
    sign = 1.0 if pair.difference.value > 0 else -1.0

    again = partial(_again, run, decision.comparison, a, b)
    effect = _effects(run, pair, a, b, again)
    if effect is None:
        return _record(run, decision, reason=Message("fragility.not_of_this_design"))
    order = np.argsort(-sign * effect, kind="stable")

    def undecided(turned: int) -> bool:
        p, value = again(order[:turned])
        return value is None or sign * value <= 0 or undone(p)

    turned = _least(undecided, _guess(decision, sign * effect[order]), predictions.n)
    if turned is None:
        return _record(run, decision, reason=Message("fragility.never"))
    return _record(run, decision, turned=turned, method="greedy")


def _of_rows(run: Run) -> Run:
    """Return the run with the rows that its counts stand for, where they are not too many."""
    predictions = run.predictions
    multiplicity = predictions.multiplicity
    if multiplicity is None or multiplicity.sum() > MOST_ROWS:
        return run
    rows = np.repeat(np.arange(predictions.n), multiplicity)
    apart = replace(subset(predictions, rows), counts=None, example=np.arange(len(rows)))
    return replace(run, data=replace(run.data, predictions=apart))


Again = Callable[[Indices], tuple[float | None, float | None]]


def _effects(run: Run, pair: Pair, a: ModelOutputs, b: ModelOutputs, again: Again) -> Floats | None:
    """Return to first order by how much the difference falls when an example is turned round, (n,).

    Of metrics of labels, whose influence is known by kinds of answers, one example of each kind is tried.
    """
    n, influence = run.predictions.n, pair.difference.influence
    if influence is not None and influence.values is not None and len(influence.values) == n:
        return np.asarray(2 * (influence.values + pair.difference.value) / n)
    if not run.predictions.classes or a.y_pred is None or b.y_pred is None or run.predictions.y_true is None:
        return None
    answers = np.stack([run.predictions.y_true, a.y_pred, b.y_pred], axis=1)
    apart = np.flatnonzero(a.y_pred != b.y_pred)
    _, first, kind = np.unique(answers[apart], axis=0, return_index=True, return_inverse=True)
    if not len(first) or len(first) > MOST_KINDS:
        return None
    values = [again(apart[place : place + 1])[1] for place in first]
    if any(value is None for value in values):
        return None
    effect = np.zeros(n)
    effect[apart] = (pair.difference.value - np.array(values, dtype=np.float64))[kind.reshape(-1)]
    return effect


def _can_be_exchanged(a: ModelOutputs, b: ModelOutputs) -> bool:
    """Return whether both models answer every example with the same kinds of outputs, once."""
    alike = all((getattr(a, name) is None) == (getattr(b, name) is None) for name in OUTPUTS)
    once = all(m.attempts is None and m.gold is None and m.present is None and not m.numbers for m in (a, b))
    return alike and once


def _guess(decision: Decision, effect: Floats) -> int:
    """Guess the number: so many examples, the greatest effects first, as carry the difference to where it is open."""
    limits = decision.limits
    if limits is None or limits.low is None or limits.high is None:
        return 1
    return int(np.searchsorted(np.cumsum(effect), min(abs(limits.low), abs(limits.high)))) + 1


def _least(undecided: Callable[[int], bool], guess: int, most: int) -> int | None:
    """Return a number that undoes the verdict while one less does not; None where none is found."""
    high = min(max(guess, 1), most)
    step = max(high // 8, 1)
    if undecided(high):
        while high - step > 0 and undecided(high - step):
            high, step = high - step, 2 * step
        return least_enough(undecided, max(high - step, 0), high)
    low = high
    while not undecided(high := min(low + step, most)):
        if high == most:
            return None
        low, step = high, 2 * step
    return least_enough(undecided, low, high)


def _again(
    run: Run, comparison: Comparison, a: ModelOutputs, b: ModelOutputs, rows: Indices
) -> tuple[float | None, float | None]:
    """Return p-value and difference of the pair after the answers to some examples are exchanged."""
    mask = np.zeros(run.predictions.n, dtype=bool)
    mask[rows] = True
    exchanged = {a.name: _exchanged(a, b, mask), b.name: _exchanged(b, a, mask)}
    models = tuple(exchanged[m.name] for m in run.predictions.models if m.name in exchanged)
    predictions = replace(run.predictions, models=models)
    options = replace(run.data.deciding, baseline=None)
    samples = estimate_models(predictions, [run.data.primary], options, lambda _estimate: False)
    (turned,) = compare_all(samples, [run.data.primary], options)
    row = records(turned, options, primary=True, beside=False)[0]
    same = (turned.a, turned.b) == (comparison.a, comparison.b)
    value = row.difference if same or row.difference is None else -row.difference
    return row.p_value, value


def _exchanged(one: ModelOutputs, other: ModelOutputs, mask: np.ndarray) -> ModelOutputs:
    columns = {}
    for name in OUTPUTS:
        own, others = getattr(one, name), getattr(other, name)
        if own is not None:
            columns[name] = np.where(mask[:, None] if own.ndim > 1 else mask, others, own)
    return replace(one, **columns)
