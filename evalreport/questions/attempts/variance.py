"""The variance of a value between questions and between the attempts at each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.comparisons.pairs import model_pairs
from evalreport.metrics.layout import task_weights
from evalreport.metrics.quantities import lacks
from evalreport.metrics.registry import METRICS, PRIMARY, Quantity, definition
from evalreport.metrics.sample import Sample
from evalreport.metrics.views import view
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.attempts.records import AttemptVarianceRecord
from evalreport.texts import Message


@dataclass(frozen=True, slots=True)
class Components:
    """A one-way layout of Q questions with n_i attempts each: its variance components.

    ``within`` is nan where no question has two attempts; ``between`` is then the variance of the outcomes.
    """

    between: float
    within: float


def components(count: Floats, mean: Floats, spread: Floats, task: Indices | None = None) -> Components:
    """Return the one-way random-effects components of variance.

    within = MSW = sum spread_i / (N - Q) and between = max(0, (MSB - MSW) / n_0), where MSB = sum n_i (mean_i - mean)^2
    / (Q - 1) about the mean of all attempts and n_0 = (N - sum n_i^2 / N) / (Q - 1). Of a suite about the means of the
    T tasks, with N and the sum of n_i^2 / N task by task and Q - T for Q - 1.

    Parameters
    ----------
    count, mean, spread
        (Q,) attempts at each question, at least 1, their mean, and the sum of their squared distances from it; Q >= 2.
    task
        (Q,) codes of the tasks of a suite, each of two questions or more.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, section 3.6.

    Examples
    --------
    Two questions with two attempts each, (0, 2) and (4, 6): MSW = 2, MSB = 16, n_0 = 2.

    >>> components(np.array([2.0, 2.0]), np.array([1.0, 5.0]), np.array([2.0, 2.0]))
    Components(between=7.0, within=2.0)
    """
    q, total = len(count), float(count.sum())
    task = np.zeros(q, dtype=np.int64) if task is None else task
    by_task = np.bincount(task, weights=count)
    centre = np.bincount(task, weights=count * mean) / by_task
    df = q - len(by_task)
    msb = float((count * (mean - centre[task]) ** 2).sum()) / df
    if total == q:
        return Components(msb, math.nan)
    within = float(spread.sum()) / (total - q)
    n_0 = (total - float((np.bincount(task, weights=count**2) / by_task).sum())) / df
    return Components(max(0.0, (msb - within) / n_0), within)


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions of one model, or of the difference of two.

    Attempts and mean (Q,), components, the part of the variance of the mean over questions that is due to the attempts,
    and the rows (n,) that the value is a mean of.
    """

    count: Floats
    mean: Floats
    parts: Components
    of_attempts: float
    rows: Floats


def attempt_variance_records(sample: Sample, baseline: str | None) -> tuple[AttemptVarianceRecord, ...]:
    """Return the variance components of every model's mean and of every pair's difference.

    Twice the attempts halves the part of the variance that is due to attempts, twice the questions (or groups of
    questions) halves all of it. Of a difference by question, the attempts of both models add to what varies within;
    a question's difficulty for both drops out of the variance between questions.
    """
    predictions = sample.predictions
    primary = Quantity(PRIMARY[predictions.task]) if predictions.task == "outcome" else sample.quantities[0]
    metric = definition(primary)
    if metric.root_of:
        primary, metric = Quantity(metric.root_of), METRICS[metric.root_of]
    repeated = any(m.attempts is not None for m in predictions.models) or "attempt" in predictions.keys
    if not repeated or predictions.design != "test-set":
        return ()
    if metric.per_example is None or predictions.n_examples < 2:
        return ()
    by_model = {m.name: q for m in predictions.models if (q := _questions(sample, m, primary)) is not None}
    records = [_record(sample, primary, (name, None), q) for name, q in by_model.items()]
    pairs = model_pairs(list(by_model), baseline) if baseline is None or baseline in by_model else []
    records += [
        _record(sample, primary, (a, b), _difference(sample, by_model[a], by_model[b])) for a, b in pairs
    ]
    return tuple(records)


def _questions(sample: Sample, model: ModelOutputs, quantity: Quantity) -> _Questions | None:
    share = task_weights(sample.units, sample.rows.layout)
    if model.attempts is not None and model.outcome is not None:
        count, mean, spread, rows = model.attempts.count, model.outcome, model.attempts.spread, model.outcome
    else:
        measure = None if lacks(model, quantity) else definition(quantity).per_example
        if measure is None or not np.isfinite(rows := measure(view(sample.predictions, model))).all():
            return None
        _, question = np.unique(sample.predictions.example, return_inverse=True)
        count = np.bincount(question).astype(np.float64)
        mean = np.bincount(question, weights=rows) / count
        spread = np.bincount(question, weights=(rows - mean[question]) ** 2).astype(np.float64)
        share = np.bincount(question, weights=share).astype(np.float64)
    parts = components(count, mean, spread, _task_of_questions(sample, len(count)))
    return _Questions(count, mean, parts, parts.within * float((share**2 / count).sum()), rows)


def _task_of_questions(sample: Sample, n: int) -> Indices | None:
    """Return the task of each question, (n,), in the order of their means; None without a suite."""
    task = sample.units.task
    if task is None or len(task) == n:
        return task
    return task[np.unique(sample.predictions.example, return_index=True)[1]]


def _difference(sample: Sample, a: _Questions, b: _Questions) -> _Questions:
    """Subtract the variance of both models' attempts from the variance of the differences by question."""
    of_attempts = a.of_attempts + b.of_attempts
    apart, ones = a.mean - b.mean, np.ones(len(a.mean))
    between = components(ones, apart, 0 * ones, _task_of_questions(sample, len(ones))).between
    if not math.isnan(of_attempts):
        between = max(0.0, between - sum(float((q.parts.within / q.count).mean()) for q in (a, b)))
    parts = Components(between, a.parts.within + b.parts.within)
    return _Questions((a.count + b.count) / 2, apart, parts, of_attempts, a.rows - b.rows)


def _record(
    sample: Sample, quantity: Quantity, names: tuple[str, str | None], of: _Questions
) -> AttemptVarianceRecord:
    parts, rows = of.parts, of.rows
    units = sample.units
    if units.task is None:
        total = units.base.sum()
        slopes = (rows - float((units.base * rows).sum()) / total) / total
    else:
        slopes = task_weights(units, sample.rows.layout) * rows  # centred within their tasks below
    now = float((units.factors * units.influence(slopes) ** 2).sum())
    known, whole = not math.isnan(of.of_attempts), parts.between + parts.within
    return AttemptVarianceRecord(
        model=names[0],
        b=names[1],
        metric=quantity.spelled,
        n_questions=sample.predictions.n_examples,
        attempts=float(of.count.mean()),
        between=parts.between,
        within=parts.within if known else None,
        share_within=parts.within / whole if known and whole > 0 else None,
        se_now=math.sqrt(now),
        se_more_attempts=math.sqrt(max(now - of.of_attempts / 2, now / 2)) if known else None,
        se_more_questions=math.sqrt(now / 2),
        reason=None if known else Message("attempts.once"),
    )
