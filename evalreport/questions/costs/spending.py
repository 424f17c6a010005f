"""The costs of one model's answers, by question, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.intervals.registry import Bounds
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.costs.interval import (
    LEAST_SPREAD,
    NO_VARIATION,
    TOO_FEW,
    CostFigure,
    Stratum,
    log_hall,
    stratum,
)
from evalreport.texts import Message, Text

ALL_ZERO = Message("costs.all_zero")
NO_SUCCESS = Message("costs.no_success")
NO_SUCCESSES = Message("costs.no_outcomes")
OF_FITS = Message("costs.of_fits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the answers of one model cost, and which of them succeeded.

    Attributes
    ----------
    cost
        (A,) by answer.
    success
        (A,) 1 or 0; None where answers neither succeed nor fail.
    question
        (A,) codes of the questions, 0 to Q - 1.
    example
        (Q,) codes of the questions in ``Predictions``, by which two models' are matched.
    task, cluster, weight
        (Q,) of each question; None where there are none.
    by_task
        Whether the mean is the mean of the tasks' means.
    of_fits
        Whether the rows are of several fits, so that limits are not known.
    """

    cost: Floats
    success: Floats | None
    question: Indices
    example: Indices
    task: Indices | None
    cluster: Indices | None
    weight: Floats | None
    by_task: bool
    of_fits: bool

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.example)

    @property
    def groups(self) -> Indices | None:
        """(A,) codes of the clusters, else of questions with several answers; None where answers are independent."""
        if self.cluster is not None:
            return self.cluster[self.question]
        return self.question if len(self.cost) > self.n else None

    def by_question(self, values: Floats) -> Floats:
        """Return the sum (Q,) of the answers' values by question."""
        return np.bincount(self.question, weights=values, minlength=self.n).astype(np.float64)

    @property
    def means(self) -> Floats:
        """(Q,) mean cost of each question's answers."""
        return self.by_question(self.cost) / np.bincount(self.question, minlength=self.n)

    @property
    def weights(self) -> Floats:
        """(Q,) the questions' weights; ones where all count the same."""
        return np.ones(self.n) if self.weight is None else self.weight

    def shares(self, *, by_task: bool) -> Floats:
        """Return how much each question (Q,) counts in a mean; they add up to 1."""
        weights = self.weights
        if not by_task or self.task is None:
            return weights / float(weights.sum())
        of_task = np.bincount(self.task, weights=weights)
        return weights / of_task[self.task] / int((of_task > 0).sum())

    def within_tasks(self, values: Floats) -> Floats:
        """Return values (Q,) less the mean of their task."""
        task = np.zeros(self.n, dtype=np.int64) if self.task is None else self.task
        total = np.bincount(task, weights=self.weights)
        with np.errstate(invalid="ignore"):
            centre = np.bincount(task, weights=self.weights * values) / total
        return np.asarray(values - centre[task], dtype=np.float64)


def spending(
    predictions: Predictions, model: ModelOutputs, column: str, options: Options, kept: Mask
) -> Spending | None:
    """Return what a model's answers cost by one column, on the rows that are kept; None where it gives no such cost."""
    answers = model.answers
    if answers is None or column not in answers.costs:
        return None
    used = kept[answers.row]
    row = answers.row[used]
    if not len(row):
        return None
    example, first, question = np.unique(predictions.example[row], return_index=True, return_inverse=True)
    rows = row[first]
    success = _success(predictions, model, options)
    cluster = None
    if options.cluster is not None:
        of_column = predictions.column(options.cluster)
        cluster = np.unique(of_column.values[rows], return_inverse=True)[1].astype(np.int64)
    return Spending(
        cost=answers.costs[column][used],
        success=None if success is None else success[used],
        question=question.astype(np.int64),
        example=example,
        task=None if predictions.tasks is None else predictions.tasks.values[rows].astype(np.int64),
        cluster=cluster,
        weight=None if options.weight is None else predictions.metadata[options.weight].values[rows],
        by_task=options.average == "tasks",
        of_fits=predictions.design != "test-set",
    )


def _success(predictions: Predictions, model: ModelOutputs, options: Options) -> Floats | None:
    """Return whether each answer succeeded; None where that is not known of some."""
    assert model.answers is not None
    row, outcome = model.answers.row, model.answers.outcome
    if outcome is None and model.outcome is not None and predictions.task == "outcome":
        outcome = model.outcome[row]
    if (
        outcome is None
        and predictions.classes
        and model.y_pred is not None
        and predictions.y_true is not None
    ):
        if (model.y_pred[row] < 0).any():
            return None
        outcome = (model.y_pred == predictions.y_true)[row].astype(np.float64)
    if outcome is None or options.lower_is_better or not np.isin(outcome, (0.0, 1.0)).all():
        return None
    return outcome


# --- figures: a value, and each question's relative contribution -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of costs with the relative contributions z (Q,) of the questions, and how much each counts."""

    value: float
    relative: Floats
    share: Floats
    of: Spending


def mean_cost(spent: Spending) -> Figure | Text:
    """Return the mean cost: z = x / mean - 1; of a suite by its tasks, (x - the task's mean) / mean."""
    share, x = spent.shares(by_task=spent.by_task), spent.means
    mean = float((share * x).sum())
    if mean == 0:
        return ALL_ZERO
    return Figure(mean, spent.within_tasks(x) / mean, share, spent)


def cost_per_success(spent: Spending) -> Figure | Text:
    """Return the sum of costs over that of successes: z = c / mean(c) - s / mean(s), over all questions together."""
    if spent.success is None:
        return NO_SUCCESSES
    share = spent.shares(by_task=False)
    c, s = spent.by_question(spent.cost), spent.by_question(spent.success)
    costs, successes = float((share * c).sum()), float((share * s).sum())
    if successes == 0:
        return NO_SUCCESS
    if costs == 0:
        return ALL_ZERO
    return Figure(costs / successes, spent.within_tasks(c / costs - s / successes), share, spent)


def limits_of(figure: Figure, level: float) -> Bounds:
    """Return the limits of a figure; none where the costs do not vary or there are too few."""
    return _limits(figure.value, [(figure, 1.0)], level)


def ratio_limits(a: Figure, b: Figure, level: float) -> tuple[float, Bounds]:
    """Return the ratio of two models' figures with its limits: of the same questions paired, else as two strata."""
    ratio = a.value / b.value
    if np.array_equal(a.of.example, b.of.example):
        paired = replace(a, relative=a.relative - b.relative)
        return ratio, _limits(ratio, [(paired, 1.0)], level)
    return ratio, _limits(ratio, [(a, 1.0), (b, -1.0)], level)


def _limits(value: float, figures: Sequence[tuple[Figure, float]], level: float) -> Bounds:
    if any(figure.of.of_fits for figure, _ in figures):
        return Bounds(None, None, OF_FITS)
    if all(float(np.abs(figure.relative).max(initial=0.0)) <= LEAST_SPREAD for figure, _ in figures):
        return Bounds(None, None, NO_VARIATION)
    found = [part for figure, sign in figures for part in _strata(figure, sign)]
    strata = tuple(part for part in found if part is not None)
    return (
        log_hall(CostFigure(value, strata), level)
        if len(strata) == len(found)
        else Bounds(None, None, TOO_FEW)
    )


def _strata(figure: Figure, sign: float) -> list[Stratum | None]:
    """Divide a figure's contributions by the tasks of a suite."""
    spent, relative = figure.of, sign * figure.relative
    tasks = [np.arange(spent.n)] if spent.task is None else [
        np.flatnonzero(spent.task == code) for code in np.unique(spent.task)
    ]  # fmt: skip
    return [
        stratum(
            relative[rows],
            figure.share[rows],
            cluster=None if spent.cluster is None else spent.cluster[rows],
            weighted=spent.weight is not None,
        )
        for rows in tasks
    ]
