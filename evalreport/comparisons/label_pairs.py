"""Two models' labels on the same examples, counted as the closed-form tests of label metrics need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from evalreport.engine.counts import Cells, Codes, Counts
from evalreport.metrics.metric import ClassCounts, Function, Margins
from evalreport.metrics.registry import METRICS, Quantity, definition
from evalreport.metrics.table_functions import answers_outside, class_code
from evalreport.predictions.arrays import Floats
from evalreport.predictions.table import Predictions

DecidedBy = Literal["truth", "answers", "either"]


@dataclass(frozen=True, slots=True)
class PairedTrials:
    """Two models' shares of successes in trials, where an example may be a trial of one model alone.

    Attributes
    ----------
    counts
        (3, 3) examples that are no trial, a failure or a success: rows for the first model, columns for the second.
    decided_by
        What makes an example a trial: its true class (recall), the model's answer (precision) or either of them (the
        Jaccard index).
    of_value
        Whether the value is the share of successes, and not only equal where the shares are.
    """

    counts: Floats
    decided_by: DecidedBy
    of_value: bool = True

    @property
    def successes(self) -> tuple[float, float]:
        """Successes of each model."""
        return float(self.counts[2].sum()), float(self.counts[:, 2].sum())

    @property
    def trials(self) -> tuple[float, float]:
        """Trials of each model."""
        return float(self.counts[1:].sum()), float(self.counts[:, 1:].sum())

    @property
    def agreement(self) -> tuple[float, float, float, float] | None:
        """Trials in which both models succeed, only the first, only the second, neither; None where trials differ."""
        if self.decided_by != "truth":
            return None
        (neither, only_second), (only_first, both) = self.counts[1:, 1:].tolist()
        return both, only_first, only_second, neither


@dataclass(frozen=True, slots=True)
class PairedRecalls:
    """Two models' recalls of the same classes.

    Attributes
    ----------
    only_first, only_second, examples
        (K,) by class: examples that only the first model has right, only the second, and all of them.
    """

    only_first: Floats
    only_second: Floats
    examples: Floats


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """Two models' labels on the same examples; ``trials`` and ``recalls`` are None for metrics that have none."""

    cells: Cells
    trials: PairedTrials | None
    recalls: PairedRecalls | None


def label_pairs(quantity: Quantity, predictions: Predictions, cells: Cells) -> LabelPairs:
    """Count two models' labels as the closed-form tests of a metric need them."""
    return LabelPairs(
        cells, paired_trials(quantity, predictions, cells), paired_recalls(quantity, predictions, cells)
    )


def paired_trials(quantity: Quantity, predictions: Predictions, cells: Cells) -> PairedTrials | None:
    """Count trials of a share of one class, of F1 (its Jaccard index) or of what accuracy decides; None for others."""
    computation = definition(quantity).computation
    if not isinstance(computation, ClassCounts):
        return None
    share = quantity.average == "micro" and computation.micro_is_accuracy
    if share or _decided_by_accuracy(quantity, computation, predictions, cells):
        right = cells.predicted == cells.true
        # As of a single class, success is what makes the value larger.
        larger = ~right if definition(quantity).scale.greater_is_better is False else right
        return PairedTrials(_crossed(1 + larger, cells.counts, 3), "truth", of_value=share)
    if computation.monotone_of is not None:
        computation = METRICS[computation.monotone_of[0]].computation
    assert isinstance(computation, ClassCounts)
    if computation.proportion is None or quantity.average is not None:
        return None
    states, decided_by = _states(computation.proportion)
    return PairedTrials(
        _crossed(states[_outcomes(quantity, predictions, cells)], cells.counts, 3), decided_by
    )


def _decided_by_accuracy(
    quantity: Quantity, computation: ClassCounts, predictions: Predictions, cells: Cells
) -> bool:
    """Say whether two values agree just where the accuracies do.

    Recalls weighted by their classes' examples are the accuracy. Where every answer is one of the classes, each example
    is one TP and else one FP and one FN, so every micro average is a function of how many are right.
    """
    if quantity.average == "weighted":
        return bool(computation.recall_slope)
    return quantity.average == "micro" and bool((cells.predicted < len(predictions.classes)).all())


@cache
def _states(proportion: Function) -> tuple[Codes, DecidedBy]:
    """Return 0 (no trial), 1 (failure) or 2 (success) of a TP, FP, FN, TN and of no answer, and what decides trials."""
    successes, trials = proportion(Counts(*np.eye(4)))
    tp, fp, fn, tn = trials > 0
    decided_by: DecidedBy = "either"
    if tp == fn and fp == tn:
        decided_by = "truth"
    elif tp == fp and fn == tn:
        decided_by = "answers"
    return np.append(successes + trials, 0).astype(np.int32), decided_by


TP, FP, FN, TN, NO_ANSWER = range(5)


def _outcomes(quantity: Quantity, predictions: Predictions, cells: Cells) -> Codes:
    """Return whether each model's answers are TP, FP, FN or TN, or missing where only answers count, (2, u)."""
    code = class_code(quantity, predictions)
    called = cells.predicted == code
    outcomes = np.where(cells.true == code, np.where(called, TP, FN), np.where(called, FP, TN)).astype(
        np.int32
    )
    missing = cells.predicted >= len(predictions.classes)
    negatives = answers_outside(quantity, predictions)
    if negatives == "answers":
        outcomes[missing] = NO_ANSWER
    elif negatives == "truth":
        outcomes[missing & (cells.true != code)] = FP
    return outcomes


def paired_recalls(quantity: Quantity, predictions: Predictions, cells: Cells) -> PairedRecalls | None:
    """Count by class where equal values mean equal means of the class recalls; None for other quantities."""
    computation = definition(quantity).computation
    if not isinstance(computation, ClassCounts | Margins):
        return None
    if computation.recall_slope and (isinstance(computation, Margins) or quantity.average == "macro"):
        stratum, right = cells.true, cells.predicted == cells.true
    elif (
        isinstance(computation, ClassCounts) and quantity.average is None and computation.iso_slope == "rates"
    ):
        # A function of TPR - FPR: of the recalls of one class and of the rest.
        outcomes = _outcomes(quantity, predictions, cells)
        stratum = (cells.true == class_code(quantity, predictions)).astype(np.int32)
        right = (outcomes == TP) | (outcomes == TN)
    else:
        return None
    first, second = right
    sums = [
        np.bincount(stratum, weights=cells.counts * chosen).astype(np.float64)
        for chosen in (first & ~second, second & ~first, np.ones(len(stratum)))
    ]
    only_first, only_second, examples = (part[sums[2] > 0] for part in sums)
    # In an order that neither the names of the classes nor that of the models decides.
    order = np.lexsort([np.minimum(only_first, only_second), only_first + only_second, examples])
    return PairedRecalls(only_first[order], only_second[order], examples[order])


def _crossed(states: Codes, counts: Floats, n: int) -> Floats:
    """Count the examples with each pair of states, (n, n)."""
    first, second = states
    table: Floats = np.bincount(first * n + second, weights=counts, minlength=n * n).astype(np.float64)
    return table.reshape(n, n)
