"""The examples on which the models disagree most: where to look first to learn what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import ModelOutputs, Predictions
from evalreport.records import DisagreementRecord
from evalreport.texts import Message

Floats = npt.NDArray[np.float64]
MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the answers to each example lie apart: (n,), what orders examples alike in it, and the measure."""

    size: Floats
    then: Floats
    measure: Message


def disagreements(predictions: Predictions, *, most: int = MOST_EXAMPLES) -> tuple[DisagreementRecord, ...]:
    """Return the examples with the widest spread of answers, the widest first; nothing where all answers agree.

    Classes: pairs of models with different labels, then the spread of the probability given to the true class.
    Numbers and outcomes: the largest minus the smallest. Ties go by id.

    Parameters
    ----------
    predictions
        One test set on which every model predicts every example; nothing is returned for other designs.
    most
        Largest number of examples.
    """
    if predictions.design != "test-set" or predictions.n != len(predictions.ids):
        return ()
    models = [m for m in predictions.models if m.present is None and _answers(m, predictions) is not None]
    if len(models) < 2:
        return ()
    spread = _spread(predictions, models)
    chosen = _widest(spread, most)
    return tuple(
        DisagreementRecord(
            id=str(predictions.ids[int(predictions.example[row])]),
            truth=_truth(predictions, row),
            model=model.name,
            answer=_answer(model, predictions, row),
            correct=_correct(model, predictions, row),
            spread=float(spread.size[row]),
            measure=spread.measure,
        )
        for row in chosen
        for model in models
    )


def _answers(model: ModelOutputs, predictions: Predictions) -> npt.NDArray[Any] | None:
    return model.outcome if predictions.task in ("outcome", "scores") else model.y_pred


def _spread(predictions: Predictions, models: Sequence[ModelOutputs]) -> Spread:
    answers = [np.asarray(_answers(m, predictions)) for m in models]
    if not predictions.classes:
        stacked = np.stack([a.astype(np.float64) for a in answers])
        return Spread(
            stacked.max(axis=0) - stacked.min(axis=0), np.zeros(predictions.n), Message("spread.range")
        )
    size = np.zeros(predictions.n)
    for first, second in combinations(answers, 2):
        size += first != second
    return Spread(size, _probability_spread(predictions, models), Message("spread.disagreeing_pairs"))


def _probability_spread(predictions: Predictions, models: Sequence[ModelOutputs]) -> Floats:
    """Return the largest minus the smallest probability given to the true class, over the models that give one."""
    given = [m.proba for m in models if m.proba is not None]
    if len(given) < 2 or predictions.y_true is None:
        return np.zeros(predictions.n)
    place = predictions.y_true[:, None].astype(np.intp)
    lowest = highest = np.take_along_axis(given[0], place, axis=1)[:, 0]
    for proba in given[1:]:
        p = np.take_along_axis(proba, place, axis=1)[:, 0]
        lowest, highest = np.minimum(lowest, p), np.maximum(highest, p)
    return np.asarray(highest - lowest)


def _widest(spread: Spread, most: int) -> list[int]:
    """Return the rows with the widest spread; only those that may be among them are sorted."""
    apart = np.flatnonzero(spread.size > 0)
    if len(apart) > most:
        least = np.partition(spread.size[apart], -most)[-most]
        apart = apart[spread.size[apart] >= least]
    # Rows stand in the order of their ids, and the sort is stable.
    order = np.lexsort((-spread.then[apart], -spread.size[apart]))
    return [int(row) for row in apart[order][:most]]


def _truth(predictions: Predictions, row: int) -> str | None:
    if predictions.y_true is None:
        return None
    value = predictions.y_true[row]
    return predictions.classes[int(value)] if predictions.classes else f"{float(value):.6g}"


def _answer(model: ModelOutputs, predictions: Predictions, row: int) -> str:
    answers = _answers(model, predictions)
    assert answers is not None
    if not predictions.classes:
        return f"{float(answers[row]):.6g}"
    code = int(answers[row])
    return predictions.classes[code] if code >= 0 else ""


def _correct(model: ModelOutputs, predictions: Predictions, row: int) -> bool | None:
    if not predictions.classes or predictions.y_true is None or model.y_pred is None:
        return None
    return bool(model.y_pred[row] == predictions.y_true[row])
