"""What each model said, cell by cell: parsed, checked, and thresholded where labels are not given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.alignment import Alignment
from evalreport.loading.rows import Rows, fault, first_of, refuse_where
from evalreport.loading.task import FoundTask, refuse_no_number
from evalreport.options import Options
from evalreport.predictions.arrays import Arrow, Codes, Floats, Indices, Mask, Values
from evalreport.predictions.cells import dictionary_codes, dictionary_numbers, flags, floats, recode
from evalreport.predictions.table import ModelOutputs
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, Text, quoted

SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The models' columns as numbers, by row of ``Rows``: -1 or nan where the cell is empty."""

    y_pred: Values | None = None
    score: Floats | None = None
    proba: dict[str, Floats]
    outcome: Floats | None = None
    gold: Floats | None = None


def parse_outputs(rows: Rows, task: FoundTask) -> Parsed:
    """Parse the models' predictions.

    Raises
    ------
    InputError
        Where a cell is not a finite number, or a probability lies outside [0, 1].
    """
    if task.task in ("outcome", "scores"):
        column = "outcome" if task.task == "outcome" else "value"
        gold = _numbers(rows, "gold") if column == "outcome" and "gold" in rows.columns else None
        return Parsed(outcome=_numbers(rows, column), gold=gold, proba={})
    if task.task == "regression":
        return Parsed(y_pred=label_numbers(rows, "y_pred"), proba={})
    assert task.spelling is not None
    labels = rows.columns.get("y_pred")
    y_pred = None if labels is None else recode(labels, task.classes or task.groups, task.spelling)
    score = None
    proba: dict[str, Floats] = {}
    errors: list[InputError] = []
    if "score" in rows.columns and task.task == "binary":
        with together(errors):
            score = _numbers(rows, "score")
    for label in rows.probabilities:
        with together(errors):
            values = _probability(rows, label)
            name = task.spelling[label]
            proba[name] = np.where(np.isnan(proba[name]), values, proba[name]) if name in proba else values
    refuse_all(errors)
    return Parsed(y_pred=y_pred, score=score, proba=proba)


def _probability(rows: Rows, label: str) -> Floats:
    values = _finite(rows, f"p_{label}", rows.probabilities[label])
    refuse_where((values < 0) | (values > 1), rows, f"p_{label}", "probability_outside")
    return values


def label_numbers(rows: Rows, column: str) -> Floats | None:
    """Parse y_true, y_pred or the separate truth as numbers, nan where empty.

    Raises
    ------
    InputError
        Where a cell is not a finite number.
    """
    array = rows.labels(column)
    if array is None:
        return None
    values = dictionary_numbers(array)
    wrong = ~np.isfinite(values) & (dictionary_codes(array) >= 0)
    if wrong.any():
        codes = np.unique(dictionary_codes(array)[wrong])
        refuse_no_number(rows, column, [array.dictionary[int(code)].as_py() for code in codes])
    return values


def model_outputs(
    rows: Rows, alignment: Alignment, task: FoundTask, parsed: Parsed, options: Options
) -> tuple[list[ModelOutputs], list[FoundRecord], list[WarningRecord]]:
    """Bring each model's outputs into canonical order and derive the labels that were not given.

    Raises
    ------
    InputError
        Where a model gives an output for some of its rows only, gives none at all, or its probabilities do
        not add up to 1.
    """
    outputs: list[ModelOutputs] = []
    found: list[FoundRecord] = []
    warnings: list[WarningRecord] = []
    errors: list[InputError] = []
    for name, index in zip(rows.models, alignment.rows, strict=True):
        chosen = _Chosen(rows, name, index)
        with together(errors):
            if task.task in ("regression", "clustering") or parsed.outcome is not None:
                outputs.append(_numeric(chosen, parsed))
                continue
            model, said, odd = _classifying(chosen, task, parsed, options)
            outputs.append(model)
            found += said
            warnings += odd
    refuse_all(errors)
    return outputs, _together(found, len(rows.models)), warnings


def _together(found: list[FoundRecord], n_models: int) -> list[FoundRecord]:
    """Say once what holds for several models for the same reason."""
    models: dict[tuple[str, Text], list[Text]] = {}
    for record in found:
        models.setdefault((record.what, record.why), []).append(str(record.value))
    return [
        FoundRecord(
            what=what,
            value=Message("found.all_models", n=n_models)
            if n_models == len(names) > 3
            else ", ".join(map(str, names)),
            why=why,
        )
        for (what, why), names in models.items()
    ]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One model's rows in canonical order: ``index`` (C,) into ``Rows``, -1 where it lacks the cell."""

    rows: Rows
    model: str
    index: Indices

    @property
    def present(self) -> Mask | None:
        mask = self.index >= 0
        return None if mask.all() else mask


def _numeric(chosen: _Chosen, parsed: Parsed) -> ModelOutputs:
    column = (
        "y_pred" if parsed.outcome is None else "outcome" if "outcome" in chosen.rows.columns else "value"
    )
    values = _taken(chosen, parsed.y_pred if parsed.outcome is None else parsed.outcome)
    if values is None:
        _refuse_silent(chosen, column)
    if parsed.outcome is None:
        return ModelOutputs(chosen.model, y_pred=values, present=chosen.present)
    gold = _taken(chosen, parsed.gold)
    return ModelOutputs(chosen.model, outcome=values, gold=gold, present=chosen.present)


def _classifying(
    chosen: _Chosen, task: FoundTask, parsed: Parsed, options: Options
) -> tuple[ModelOutputs, list[FoundRecord], list[WarningRecord]]:
    y_pred = _taken(chosen, parsed.y_pred)
    score = _taken(chosen, parsed.score)
    by_class = {c: _taken(chosen, parsed.proba[c]) for c in task.classes if c in parsed.proba}
    given = {label: values for label, values in by_class.items() if values is not None}
    ranked = "score" in chosen.rows.columns
    if y_pred is None and score is None and not given and (not ranked or task.task == "binary"):
        _refuse_silent(chosen, "y_pred")
    if len(given) == len(task.classes):
        _check_sums(chosen, list(given.values()))
    proba = _beside(given, task)
    found: list[FoundRecord] = []
    warnings: list[WarningRecord] = []
    positive = None if task.positive is None else task.classes.index(task.positive)
    ranking = score
    if proba is not None and task.positive is not None:
        ranking = given.get(task.positive, proba[:, positive])
    if y_pred is None:
        y_pred, record = _derived_labels(chosen, proba, ranking, positive, options)
        found.append(record)
    elif proba is not None:
        warnings += _disagreement(chosen, y_pred, proba, positive, options)
    if given and proba is None:
        warnings.append(_incomplete(chosen, task, sorted(given)))
    score = np.ascontiguousarray(ranking) if score is None and ranking is not None else score
    if y_pred is None and score is None and proba is None:
        _refuse_too_little(chosen, task, sorted(given))
    model = ModelOutputs(chosen.model, y_pred=y_pred, score=score, proba=proba, present=chosen.present)
    return model, found, warnings


def _taken(chosen: _Chosen, values: Values | None) -> Values | None:
    """Return a column in canonical order; None where the model does not give it at all."""
    if values is None:
        return None
    is_code = values.dtype.kind == "i"
    taken = values[chosen.index]
    empty = taken < 0 if is_code else np.isnan(taken)
    present = chosen.present
    if present is not None:
        taken = np.where(present, taken, -1 if is_code else np.nan).astype(values.dtype)
        empty &= present
    return None if empty.sum() == (len(chosen.index) if present is None else present.sum()) else taken


def _derived_labels(
    chosen: _Chosen, proba: Floats | None, ranking: Floats | None, positive: int | None, options: Options
) -> tuple[Codes | None, FoundRecord]:
    """Threshold (binary) or take the largest probability (several classes); nothing from bare scores.

    ``ranking`` is what ranks a binary task: the probability of the positive class, else the score.
    """
    present = chosen.present
    if positive is None:
        if proba is None:
            return None, FoundRecord(what="labels", value=chosen.model, why=Message("found.labels.none"))
        largest = proba.max(axis=1)
        ties = int(((proba == largest[:, None]).sum(axis=1) > 1).sum())
        why = Message("found.labels.largest_with_ties", n=ties) if ties else Message("found.labels.largest")
        filled = np.where(np.isnan(proba), -1.0, proba)
        return _masked(filled.argmax(axis=1).astype(np.int32), present), FoundRecord(
            what="labels", value=chosen.model, why=why
        )
    threshold = options.threshold if options.threshold is not None or proba is None else 0.5
    if ranking is None or threshold is None:
        return None, FoundRecord(what="threshold", value=chosen.model, why=Message("found.threshold.none"))
    if options.threshold is None:
        why = Message("found.threshold.default", threshold=threshold)
    elif proba is None:
        why = Message("found.threshold.of_score", threshold=threshold)
    else:
        why = Message("found.threshold.of_probability", threshold=threshold)
    labels = np.where(ranking >= threshold, np.int32(positive), np.int32(1 - positive))
    return _masked(labels, present), FoundRecord(what="threshold", value=chosen.model, why=why)


def _masked(labels: Codes, present: Mask | None) -> Codes:
    return labels if present is None else np.where(present, labels, -1).astype(np.int32)


def _disagreement(
    chosen: _Chosen, y_pred: Codes, proba: Floats, positive: int | None, options: Options
) -> list[WarningRecord]:
    rows = np.flatnonzero(y_pred >= 0)
    own = proba[rows, y_pred[rows]]
    if positive is None:
        count, rule = int((own < proba[rows].max(axis=1)).sum()), Message("found.rule.largest")
    else:
        threshold = 0.5 if options.threshold is None else options.threshold
        p = proba[rows, positive]
        # At the threshold itself either label is right.
        count = int((((p >= threshold) != (y_pred[rows] == positive)) & (p != threshold)).sum())
        rule = Message("found.rule.threshold", threshold=threshold)
    if count == 0:
        return []
    return [
        warning(
            "prediction_disagrees_with_probability",
            about=(chosen.model,),
            n=count,
            rows=len(rows),
            model=chosen.model,
            rule=rule,
        )
    ]


def _beside(given: dict[str, Floats], task: FoundTask) -> Floats | None:
    """Put the classes' probabilities beside one another; None unless all are known (of two, one is enough)."""
    absent = [label for label in task.classes if label not in given]
    if absent and not (task.task == "binary" and len(absent) == 1):
        return None
    proba = np.empty((len(next(iter(given.values()))), len(task.classes)))
    for place, label in enumerate(task.classes):
        if label in given:
            proba[:, place] = given[label]
        else:
            np.subtract(1.0, next(iter(given.values())), out=proba[:, place])
    return proba


def _check_sums(chosen: _Chosen, proba: list[Floats]) -> None:
    totals = sum(proba[1:], start=proba[0])
    wrong = np.abs(totals - 1.0) > SUM_TOLERANCE
    if not wrong.any():
        return
    first = int(np.argmin(np.where(wrong, chosen.index, np.iinfo(np.int64).max)))
    raise fault(
        chosen.rows,
        int(chosen.index[first]),
        None,
        "probabilities_do_not_add_up",
        count=int(wrong.sum()),
        n=len(proba),
        total=f"{totals[first]:.6g}",
        sum_tolerance=f"{SUM_TOLERANCE:g}",
    )


def _numbers(rows: Rows, column: str) -> Floats:
    array = rows.columns[column]
    if column not in ("outcome", "gold"):
        return _finite(rows, column, array)
    values = dictionary_numbers(array, truths=True)
    wrong = ~np.isfinite(values) & (dictionary_codes(array) >= 0)
    refuse_where(wrong, rows, column, "gold_is_no_number" if column == "gold" else "no_number")
    return values


def _finite(rows: Rows, column: str, array: Arrow) -> Floats:
    values = floats(array)
    unusable = ~np.isfinite(values)
    if unusable.any():
        refuse_where(unusable & ~flags(array.is_null()), rows, column, "no_number")
    return values


def _refuse_silent(chosen: _Chosen, column: str) -> NoReturn:
    first = int(chosen.index[chosen.index >= 0].min())
    raise fault(chosen.rows, first, column, "no_prediction", model=chosen.model)


def _incomplete(chosen: _Chosen, task: FoundTask, given: list[str]) -> WarningRecord:
    absent = [label for label in task.classes if label not in given]
    return warning(
        "probabilities_incomplete",
        about=(chosen.model,),
        model=chosen.model,
        given=len(given),
        classes=len(task.classes),
        absent=absent[:5],
    )


def _refuse_too_little(chosen: _Chosen, task: FoundTask, given: list[str]) -> NoReturn:
    """Say why neither labels nor a ranking can be had of a model, though some of its cells are filled."""
    classes = first_of(map(quoted, task.classes), 6)
    has = (
        f"probabilities of {', '.join(map(quoted, given[:6]))}"
        if given
        else "a score, which ranks one class only"
    )
    raise fault(
        chosen.rows,
        int(chosen.index[chosen.index >= 0].min()),
        f"p_{given[0]}" if given else "score",
        "too_little",
        model=chosen.model,
        has=has,
        classes=classes,
    )
