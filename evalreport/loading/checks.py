"""Warnings about aligned predictions: leaks, few examples, constant models, labels that never occur."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from evalreport.loading.suites import clusters_across_tasks, require_sizes, unlike_classes
from evalreport.options import Options
from evalreport.predictions.arrays import Codes
from evalreport.predictions.spelling import alikes, shown_apart
from evalreport.predictions.subsets import tested
from evalreport.predictions.table import Column, ModelOutputs, Predictions
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message

FITS = ("repeat", "fold", "replicate", "seed", "dataset", "train_size", "complexity")
"""The columns that tell one fitted model from another."""


def leaks(predictions: Predictions) -> Iterator[WarningRecord]:
    """Yield a blocker where a fit's training rows (part = train) and its test rows hold the same example.

    Training rows of a fit on all the data (no fold, no replicate) are another fit's: resubstitution is no leak.
    """
    part = predictions.keys.get("part")
    if part is None or part.categories is None or "train" not in part.categories:
        return
    train = part.values == part.categories.index("train")
    is_tested = tested(predictions.keys, predictions.n)
    columns = [predictions.keys[name].values for name in FITS if name in predictions.keys]
    rows = np.stack(
        [predictions.example.astype(np.float64), *(np.asarray(c, dtype=np.float64) for c in columns)]
    )
    _, fit = np.unique(np.nan_to_num(rows, nan=-1.0), axis=1, return_inverse=True)
    both = np.intersect1d(fit.ravel()[train], fit.ravel()[is_tested])
    if not len(both):
        return
    first = int(np.flatnonzero(is_tested & np.isin(fit.ravel(), both))[0])
    example = str(predictions.ids[int(predictions.example[first])])
    yield warning("trained_on_test", n=len(both), example=example)


def with_training_rows(predictions: Predictions) -> Predictions:
    """Mark rows without a replicate as training rows where replicates were drawn from the same examples.

    A file of replicates with ``inbag`` beside a file of resubstitution predictions needs no column ``part``: a fit to
    all the data has no test rows among the examples that it was fitted to.

    Returns
    -------
    Predictions
        The same object without training rows of this kind; else with ``part`` = train in them, and a note.
    """
    replicate, inbag = predictions.keys.get("replicate"), predictions.keys.get("inbag")
    if replicate is None or inbag is None:
        return predictions
    part = predictions.keys.get("part")
    unmarked = np.ones(predictions.n, dtype=bool) if part is None else np.asarray(part.values < 0, dtype=bool)
    drawn = np.unique(predictions.example[np.asarray(inbag.values > 0)])
    training = unmarked & (replicate.values < 0) & np.isin(predictions.example, drawn)
    if not training.any():
        return predictions
    categories = () if part is None else part.categories or ()
    names = categories if "train" in categories else (*categories, "train")
    values = np.full(predictions.n, -1, dtype=np.int32) if part is None else part.values.copy()
    values[training] = names.index("train")
    value = Message("found.training_rows.value", n=int(training.sum()))
    note = FoundRecord(what="training rows", value=value, why=Message("found.training_rows.why"))
    keys = {**predictions.keys, "part": Column(values, names)}
    return dataclasses.replace(predictions, keys=keys).noted(found=[note])


FEW_EXAMPLES = 30


def checked(predictions: Predictions, options: Options) -> Predictions:
    """Add the warnings that the aligned predictions give reason for; refuse tasks that are too small."""
    require_sizes(predictions, options.cluster)
    warnings = [*leaks(predictions), *_size(predictions)]
    warnings += [*clusters_across_tasks(predictions, options.cluster), *unlike_classes(predictions)]
    warnings += [*_truth(predictions), *_alike(predictions), *_fold_sizes(predictions)]
    for model in predictions.models:
        warnings += _constant(model, predictions.n_examples)
        if predictions.classes:
            warnings += _labels(predictions, model)
    return predictions.noted(warnings=warnings)


def _size(predictions: Predictions) -> list[WarningRecord]:
    n = len(predictions.ids) if predictions.multiplicity is None else predictions.n_examples
    if n == 1:
        return [warning("one_example", "of_scores" if predictions.task == "scores" else "of_predictions")]
    if n < FEW_EXAMPLES and predictions.task != "scores":
        return [warning("few_examples", n=n, enough=FEW_EXAMPLES)]
    return []


def _fold_sizes(predictions: Predictions) -> list[WarningRecord]:
    """Warn where values of folds are taken for those of a division, since nothing says how large the folds were."""
    folds = predictions.task == "scores" and predictions.design == "cross-validation"
    return [warning("fold_sizes_assumed")] if folds and "train_size" not in predictions.keys else []


def _alike(predictions: Predictions) -> list[WarningRecord]:
    """Warn of two true labels that look like one; capitals alone may tell letters apart."""
    if not predictions.classes or predictions.y_true is None:
        return []
    true = [predictions.classes[code] for code in _codes_in(predictions.y_true)]
    for label, (other, name) in alikes(true, true).items():
        if name != "capitals":
            a, b = sorted((label, other))
            shown = (shown_apart(a, name), shown_apart(b, name))
            how = Message(f"found.differ.{name}")
            return [warning("labels_look_alike", about=(a, b), a=shown[0], b=shown[1], how=how)]
    return []


def _truth(predictions: Predictions) -> list[WarningRecord]:
    if not predictions.classes or predictions.y_true is None:
        return []
    seen = _codes_in(predictions.y_true)
    if len(seen) > 1:
        return []
    label = predictions.classes[seen[0]]
    return [warning("one_class", about=(label,), label=label)]


def _constant(model: ModelOutputs, n: int) -> list[WarningRecord]:
    """Warn of a model that predicts the same for every example (one example is not enough to tell)."""
    for what, values in (("score", model.score), ("prediction", model.y_pred), ("outcome", model.outcome)):
        if values is None:
            continue
        given = values if model.present is None else values[model.present]
        if max(len(given), n) > 1 and (given == given[0]).all():
            return [warning("constant_model", what, about=(model.name,), model=model.name)]
        return []
    return []


def _labels(predictions: Predictions, model: ModelOutputs) -> list[WarningRecord]:
    if predictions.y_true is None or model.y_pred is None or model.cut_at_half:
        return []  # of labels that nobody chose nothing is said
    true = predictions.y_true if model.present is None else predictions.y_true[model.present]
    predicted = model.y_pred if model.present is None else model.y_pred[model.present]
    truths = set(_codes_in(true))
    predictions_made = {code for code in _codes_in(predicted) if code < len(predictions.classes)}
    warnings = []
    for label in (predictions.classes[code] for code in sorted(truths - predictions_made)):
        about = (model.name, label)
        warnings.append(warning("class_never_predicted", about=about, model=model.name, label=label))
    new = [predictions.classes[code] for code in sorted(predictions_made - truths)]
    alike = alikes(new, [predictions.classes[code] for code in truths])
    for label in new:
        about = (model.name, label)
        if label not in alike:
            warnings.append(warning("label_never_true", "new", about=about, model=model.name, label=label))
            continue
        other, name = alike[label]
        shown = {"label": shown_apart(label, name), "alike": shown_apart(other, name)}
        how = Message(f"found.differ.{name}")
        warnings.append(
            warning(
                "label_never_true", "misspelt", about=about, level=None, model=model.name, how=how, **shown
            )
        )
    return warnings


def _codes_in(codes: Codes) -> list[int]:
    """Return the distinct codes, sorted: they are few, so counting them beats sorting or hashing."""
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]
