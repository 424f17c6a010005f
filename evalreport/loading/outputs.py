"""Each model's outputs in canonical order, with labels cut from scores where none are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from evalreport.engine.blocks import Places, looked_up
from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.loaded import Loaded
from evalreport.loading.parsing import Parsed
from evalreport.loading.probabilities import LEAST_CONFIDENCE
from evalreport.loading.rows import Rows, fault, first_of, origin_of
from evalreport.loading.task import FoundTask
from evalreport.options import Options
from evalreport.predictions.arrays import Codes, Floats, Mask, Values
from evalreport.predictions.cells import SUM_TOLERANCE
from evalreport.predictions.spelling import complement
from evalreport.predictions.table import ModelOutputs, Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, plain, quoted


def model_outputs(loaded: Loaded, options: Options) -> tuple[list[ModelOutputs], Notes]:
    """Bring each model's outputs into canonical order and derive the labels that were not given.

    Raises
    ------
    InputError
        Where a model gives an output for some of its rows only, gives none at all, or its probabilities do
        not add up to 1.
    """
    rows, task, parsed = loaded.rows, loaded.task, loaded.parsed
    outputs: list[ModelOutputs] = []
    notes = Notes()
    errors: list[InputError] = []
    for name, index in zip(rows.models, loaded.alignment.rows, strict=True):
        chosen = _Chosen(rows, name, index)
        with together(errors):
            if parsed.numbers:
                outputs.append(_numbered(chosen, parsed))
                continue
            if task.task in ("regression", "clustering") or parsed.outcome is not None:
                outputs.append(_numeric(chosen, parsed))
                continue
            model, of_model = _classifying(chosen, task, parsed, loaded.y_true, options)
            outputs.append(model)
            notes += of_model
    refuse_all(errors)
    return outputs, Notes(tuple(_together(notes.found, len(rows.models))), notes.warnings)


def _together(found: Sequence[FoundRecord], n_models: int) -> list[FoundRecord]:
    """Say once what holds for several models for the same reason."""
    models: dict[tuple[str, Message], list[str]] = {}
    for record in found:
        models.setdefault((record.what, record.why), []).append(str(record.value))
    every = Message("found.all_models", n=n_models)
    said = (
        (what, every if n_models == len(names) > 3 else plain(", ".join(names)), why)
        for (what, why), names in models.items()
    )
    return [FoundRecord(what=what, value=value, why=why) for what, value, why in said]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One model's rows in canonical order: ``index`` (C,) into ``Rows``, -1 where it lacks the cell."""

    rows: Rows
    model: str
    index: Places

    @property
    def present(self) -> Mask | None:
        """Which of the n examples the model answers; None: all of them."""
        mask = self.index >= 0
        return None if mask.all() else mask

    @property
    def lone_probability(self) -> str | None:
        """The header of its one probability that does not name its class."""
        first = int(self.index[self.index >= 0].min())
        table, _ = origin_of(self.rows, first)
        return table.roles.guessed_probability


def _numeric(chosen: _Chosen, parsed: Parsed) -> ModelOutputs:
    if parsed.outcome is None:
        values = _taken(chosen, parsed.y_pred)
        if values is None:
            _refuse_silent(chosen, "y_pred")
        return ModelOutputs(chosen.model, y_pred=values, present=chosen.present)
    values = _taken(chosen, parsed.outcome)
    if values is None:
        _refuse_silent(chosen, "outcome" if "outcome" in chosen.rows.columns else "value")
    people = (parsed.gold, parsed.by_people, parsed.by_judge)
    gold, by_people, by_judge = (_taken(chosen, said) for said in people)
    of_people = ModelOutputs(chosen.model, gold=gold, by_people=by_people, by_judge=by_judge)
    return replace(of_people, outcome=values, present=chosen.present)


def _numbered(chosen: _Chosen, parsed: Parsed) -> ModelOutputs:
    numbers = {name: _taken(chosen, values) for name, values in parsed.numbers.items()}
    given = {name: values for name, values in numbers.items() if values is not None}
    if len(given) < len(numbers):
        _refuse_silent(chosen, next(name for name in numbers if name not in given))
    y_pred = _taken(chosen, parsed.y_pred)
    return ModelOutputs(chosen.model, y_pred=y_pred, numbers=given, present=chosen.present)


def _classifying(
    chosen: _Chosen, task: FoundTask, parsed: Parsed, truth: Values | None, options: Options
) -> tuple[ModelOutputs, Notes]:
    y_pred = _taken(chosen, parsed.y_pred)
    score = _taken(chosen, parsed.score)
    warnings: list[WarningRecord] = []
    by_class = {c: _taken(chosen, parsed.proba[c]) for c in task.classes if c in parsed.proba}
    given = {label: values for label, values in by_class.items() if values is not None}
    ranked = "score" in chosen.rows.columns
    if y_pred is None and score is None and not given and (not ranked or task.task == "binary"):
        _refuse_silent(chosen, "y_pred")
    if len(given) == len(task.classes):
        _check_sums(chosen, list(given.values()))
    if y_pred is not None and truth is not None and task.positive is not None:
        if score is not None:
            score, warnings = _score_beside_labels(chosen, y_pred, score, truth, task, "score")
        lone, label = chosen.lone_probability, task.positive
        if lone is not None and label in given:
            given[label], doubts = _score_beside_labels(chosen, y_pred, given[label], truth, task, lone)
            warnings += doubts
    proba = _beside(given, task)
    notes: list[FoundRecord] = []
    positive = None if task.positive is None else task.classes.index(task.positive)
    ranking = score
    if proba is not None and task.positive is not None:
        ranking = given.get(task.positive, proba[:, positive])
    derived = y_pred is None
    if y_pred is None:
        y_pred, record = _derived_labels(chosen, proba, ranking, positive, options)
        notes.append(record)
    elif proba is not None:
        warnings += _disagreement(chosen, y_pred, proba, positive, options)
    if given and proba is None:
        warnings.append(_incomplete(chosen, task, sorted(given)))
    score = np.ascontiguousarray(ranking) if score is None and ranking is not None else score
    if y_pred is None and score is None and proba is None:
        _refuse_too_little(chosen, task, sorted(given))
    model = ModelOutputs(
        chosen.model, y_pred=y_pred, score=score, proba=proba, present=chosen.present,
        cut_at_half=derived and y_pred is not None and positive is not None and options.threshold is None,
    )  # fmt: skip
    return model, Notes(tuple(notes), tuple(warnings))


def _taken(chosen: _Chosen, values: Values | None) -> Values | None:
    """Return a column in canonical order; None where the model does not give it at all."""
    if values is None:
        return None
    is_code = values.dtype.kind == "i"
    taken = looked_up(values, chosen.index)
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
            return None, _noted(chosen, "labels", Message("found.labels.none"))
        largest = proba.max(axis=1)
        ties = int(((proba == largest[:, None]).sum(axis=1) > 1).sum())
        why = Message("found.labels.largest_with_ties", n=ties) if ties else Message("found.labels.largest")
        filled = np.where(np.isnan(proba), -1.0, proba)
        return _masked(filled.argmax(axis=1).astype(np.int32), present), _noted(chosen, "labels", why)
    threshold = options.threshold if options.threshold is not None or proba is None else 0.5
    if ranking is None or threshold is None:
        return None, _noted(chosen, "threshold", Message("found.threshold.none"))
    if options.threshold is None:
        why = Message("found.threshold.default", threshold=threshold)
    elif proba is None:
        why = Message("found.threshold.of_score", threshold=threshold)
    else:
        why = Message("found.threshold.of_probability", threshold=threshold)
    labels = np.where(ranking >= threshold, np.int32(positive), np.int32(1 - positive))
    return _masked(labels, present), _noted(chosen, "threshold", why)


def _noted(chosen: _Chosen, what: str, why: Message) -> FoundRecord:
    return FoundRecord(what=what, value=plain(chosen.model), why=why)


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
    n, model = len(rows), chosen.model
    return [
        warning(
            "prediction_disagrees_with_probability", about=(model,), n=count, rows=n, model=model, rule=rule
        )
    ]


def _score_beside_labels(
    chosen: _Chosen, y_pred: Codes, score: Floats, truth: Values, task: FoundTask, header: str
) -> tuple[Floats, list[WarningRecord]]:
    """Check a score against the labels beside it, and turn one that is the confidence in the predicted label.

    A score of the positive class is greater where that is predicted. A confidence is 1/2 or more everywhere, and
    greater where the answer is right.

    Raises
    ------
    InputError
        It looks like a confidence, yet is not greater where the answer is right.
    """
    assert task.positive is not None
    known = (y_pred >= 0) & (y_pred < len(task.classes)) & ~np.isnan(score)
    positive = y_pred == task.classes.index(task.positive)
    above, below = score[known & positive], score[known & ~positive]
    if not len(below) or (len(above) and above.min() >= below.max()):
        return score, []
    confident = bool((score[known] >= LEAST_CONFIDENCE).all() and (score[known] <= 1).all())
    right, wrong = score[known & (y_pred == truth)], score[known & (y_pred != truth)]
    if confident and (len(above) or (len(wrong) and _shares_above(right, wrong) > 0.5)):
        if len(wrong) and len(right) and _shares_above(right, wrong) <= 0.5:
            row, column = int(chosen.index[known].min()), "score" if header == "score" else None
            least = f"{LEAST_CONFIDENCE:g}"
            said = {"score": header, "least": least, "positive": task.positive}
            raise fault(chosen.rows, row, column, "unclear_confidence", count=1, **said)
        note = warning("score_is_confidence", about=(chosen.model,), model=chosen.model, column=header)
        return np.where(positive | (y_pred < 0), score, complement(score)), [note]
    if header != "score" or not len(above):
        return score, []  # of a probability it is said by its threshold
    n = _misplaced(above, below)
    model, total = chosen.model, int(known.sum())
    return score, [warning("score_disagrees_with_prediction", about=(model,), model=model, n=n, rows=total)]


def _shares_above(above: Floats, below: Floats) -> float:
    """Return the share of pairs in which the first number is greater, with half the ties."""
    ordered = np.sort(below)
    smaller = np.searchsorted(ordered, above, "left") + np.searchsorted(ordered, above, "right")
    return float(smaller.sum() / (2 * len(above) * len(below))) if len(above) and len(below) else 0.5


def _misplaced(above: Floats, below: Floats) -> int:
    """Count the numbers on the wrong side of the threshold that leaves the fewest there."""
    cuts = np.unique(np.concatenate([above, below]))
    lost = np.searchsorted(np.sort(above), cuts, "left")
    kept = len(below) - np.searchsorted(np.sort(below), cuts, "left")
    return int(min((lost + kept).min(), len(above)))


def _beside(given: dict[str, Floats], task: FoundTask) -> Floats | None:
    """Put the classes' probabilities beside one another; None unless all are known (of two, one is enough)."""
    absent = [label for label in task.classes if label not in given]
    if absent and not (task.task == "binary" and len(absent) == 1):
        return None
    proba = np.empty((len(next(iter(given.values()))), len(task.classes)))
    for place, label in enumerate(task.classes):
        proba[:, place] = given[label] if label in given else complement(next(iter(given.values())))
    return proba


def _check_sums(chosen: _Chosen, proba: list[Floats]) -> None:
    totals = sum(proba[1:], start=proba[0])
    wrong = np.abs(totals - 1.0) > SUM_TOLERANCE
    if not wrong.any():
        return
    hits = np.flatnonzero(wrong)
    first = int(hits[chosen.index[hits].argmin()])
    said = {"n": len(proba), "total": f"{totals[first]:.6g}", "sum_tolerance": f"{SUM_TOLERANCE:g}"}
    raise fault(
        chosen.rows, int(chosen.index[first]), None, "probabilities_do_not_add_up", count=len(hits), **said
    )


def _refuse_silent(chosen: _Chosen, column: str) -> NoReturn:
    first = int(chosen.index[chosen.index >= 0].min())
    raise fault(chosen.rows, first, column, "no_prediction")


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
    column, has = "score", "a score, which ranks one class only"
    if given:
        column, has = f"p_{given[0]}", f"probabilities of {', '.join(map(quoted, given[:6]))}"
    first = int(chosen.index[chosen.index >= 0].min())
    raise fault(chosen.rows, first, column, "too_little", has=has, classes=classes)
