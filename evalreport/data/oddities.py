"""What is odd in aligned predictions but not fatal: said as warnings with stable codes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from evalreport.data.leaks import leaks
from evalreport.data.predictions import Codes, ModelOutputs, Predictions
from evalreport.records import WarningRecord, warning

FEW_EXAMPLES = 30
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def oddities(predictions: Predictions) -> Predictions:
    """Add the warnings that the aligned predictions give reason for."""
    warnings = [*predictions.warnings, *leaks(predictions), *_size(predictions)]
    warnings += [*_decimal_comma(predictions), *_truth(predictions)]
    for model in predictions.models:
        warnings += _constant(model)
        if predictions.classes:
            warnings += _labels(predictions, model)
    return dataclasses.replace(predictions, warnings=tuple(warnings))


def _size(predictions: Predictions) -> list[WarningRecord]:
    n = len(predictions.ids)
    if n == 1:
        return [warning("one_example", "of_scores" if predictions.task == "scores" else "of_predictions")]
    if n < FEW_EXAMPLES and predictions.task != "scores":
        return [warning("few_examples", n=n, enough=FEW_EXAMPLES)]
    return []


def _decimal_comma(predictions: Predictions) -> list[WarningRecord]:
    """Warn of labels that are numbers as a spreadsheet with a decimal comma writes them."""
    if not predictions.classes or not all(DECIMAL_COMMA.fullmatch(label) for label in predictions.classes):
        return []
    return [warning("decimal_comma", label=predictions.classes[0])]


def _truth(predictions: Predictions) -> list[WarningRecord]:
    if not predictions.classes or predictions.y_true is None:
        return []
    seen = _codes_in(predictions.y_true)
    if len(seen) > 1:
        return []
    label = predictions.classes[seen[0]]
    return [warning("one_class", about=(label,), label=label)]


def _constant(model: ModelOutputs) -> list[WarningRecord]:
    """Warn of a model that says the same whatever the example (one example does not tell)."""
    for what, values in (("score", model.score), ("prediction", model.y_pred), ("outcome", model.outcome)):
        if values is None:
            continue
        given = values if model.present is None else values[model.present]
        if len(given) > 1 and (given == given[0]).all():
            return [warning("constant_model", what, about=(model.name,), model=model.name)]
        return []
    return []


def _labels(predictions: Predictions, model: ModelOutputs) -> list[WarningRecord]:
    assert predictions.y_true is not None
    if model.y_pred is None:
        return []
    true = predictions.y_true if model.present is None else predictions.y_true[model.present]
    said = model.y_pred if model.present is None else model.y_pred[model.present]
    truths, predictions_made = set(_codes_in(true)), set(_codes_in(said))
    warnings = []
    for code in sorted(truths - predictions_made):
        label = predictions.classes[code]
        warnings.append(
            warning("class_never_predicted", about=(model.name, label), model=model.name, label=label)
        )
    for code in sorted(predictions_made - truths):
        label = predictions.classes[code]
        alike = _misspelt(label, [predictions.classes[code] for code in _codes_in(predictions.y_true)])
        about = (model.name, label)
        warnings.append(
            warning("label_never_true", "misspelt", about=about, model=model.name, label=label, alike=alike)
            if alike is not None
            else warning("label_never_true", "new", about=about, model=model.name, label=label)
        )
    return warnings


def _codes_in(codes: Codes) -> list[int]:
    """Return the distinct codes, sorted: they are few, so counting them beats sorting or hashing."""
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def _misspelt(label: str, true: Sequence[str]) -> str | None:
    """Give the true label that a predicted one differs from by capitals or outer spaces alone."""
    plain = label.strip().casefold()
    return next((other for other in true if other != label and other.strip().casefold() == plain), None)
