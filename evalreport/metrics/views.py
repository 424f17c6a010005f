"""One model's outputs with the truth: the input of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evalreport.engine.distributions import Array
from evalreport.engine.ranks import Order, descending_order
from evalreport.predictions.arrays import Floats, Indices, required
from evalreport.predictions.spelling import complement
from evalreport.predictions.table import ModelOutputs, Predictions


@dataclass(frozen=True)
class ModelView:
    """One model's rows: ``true`` (n,) codes or values, ``y_pred`` alike, ``proba`` (n, K), ``outcome`` (n,).

    ``passes``: attempts at each question and how many of them passed, (n,) each. ``mean_weight``: that of the examples.
    ``numbers``: those of sums, intervals or sets, by name. ``n_classes``: K.
    """

    true: Array | None
    y_pred: Array | None
    proba: Floats | None
    outcome: Floats | None
    positive_code: int | None
    score: Floats | None = None
    passes: tuple[Floats, Floats] | None = None
    mean_weight: float = 1.0
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    n_classes: int = 0

    def of(self, rows: Indices) -> ModelView:
        """Return the view of some rows."""
        outputs = {name: getattr(self, name) for name in ("true", "y_pred", "proba", "outcome", "score")}
        return replace(
            self,
            **{name: values[rows] for name, values in outputs.items() if values is not None},
            passes=None if self.passes is None else (self.passes[0][rows], self.passes[1][rows]),
            numbers={name: values[rows] for name, values in self.numbers.items()},
        )

    @cached_property
    def order(self) -> Order:
        """The ranking by score; scores that only 1 - p has rounded to the same number are ranked by -p.

        So the area does not depend on which class is positive, nor on which of both probabilities was given.
        """
        assert self.score is not None
        other = self._complement
        ranked = self.score if other is None else -other
        order = descending_order(ranked, np.asarray(self.true == self.positive_code))
        return replace(order, score=self.score)

    @property
    def _complement(self) -> Floats | None:
        """Probability p (n,) of the other of two classes, where the score is 1 - p."""
        if self.proba is None or self.score is None or self.proba.shape[1] != 2 or self.positive_code is None:
            return None
        other = self.proba[:, 1 - self.positive_code]
        is_rest = np.array_equal(self.score, self.proba[:, self.positive_code]) and np.array_equal(
            self.score, complement(other)
        )
        return other if is_rest else None

    @property
    def ranked_by(self) -> Floats:
        """The scores (n,), or numbers in the order of the ranking where that tells equal scores apart."""
        assert self.score is not None
        order = self.order
        groups = len(order.starts)
        return self.score if groups == len(np.unique(self.score)) else -order.group.astype(np.float64)

    @property
    def p_true(self) -> Floats:
        """Probability given to the true class, (n,)."""
        place = required(self.true)[:, None].astype(np.intp)
        return np.asarray(np.take_along_axis(required(self.proba), place, axis=1)[:, 0])

    @property
    def errors(self) -> Floats:
        """Prediction minus truth, (n,), in the target's units."""
        return np.asarray(required(self.y_pred) - required(self.true), dtype=np.float64)


def view(predictions: Predictions, outputs: ModelOutputs) -> ModelView:
    """Join one model's outputs with the truth."""
    code = (
        predictions.positive_code
        if predictions.task == "binary" and predictions.positive is not None
        else None
    )
    given = (predictions.y_true, outputs.y_pred, outputs.proba, outputs.outcome)
    return ModelView(
        *given,
        code,
        outputs.score,
        outputs.passes,
        numbers=outputs.numbers,
        n_classes=len(predictions.classes),
    )


class Scored(NamedTuple):
    """Scores (n,), larger ones more positive, and whether each example is positive (n,), 1 or 0."""

    score: Floats
    y: Floats


def forecast(view: ModelView) -> Scored:
    """Return the probabilities of an event and whether it occurred: the positive class, else the most probable one."""
    proba, true, code = required(view.proba), required(view.true), view.positive_code
    if code is not None:
        return Scored(np.ascontiguousarray(proba[:, code]), (true == code).astype(np.float64))
    return Scored(proba.max(axis=1), (proba.argmax(axis=1) == true).astype(np.float64))
