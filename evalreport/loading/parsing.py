"""The models' columns as numbers: codes of labels, scores, probabilities, outcomes, costs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from evalreport.errors import InputError, UsageError, refuse_all, together
from evalreport.loading.numbers import parse_numbers, parse_sets
from evalreport.loading.probabilities import scale_of
from evalreport.loading.rows import Rows, refuse_where
from evalreport.loading.task import FoundTask, refuse_no_number
from evalreport.options import Options
from evalreport.predictions.arrays import Arrow, Floats, Mask, Values
from evalreport.predictions.cells import combined, dictionary_codes, dictionary_numbers, flags, floats, recode
from evalreport.predictions.spelling import outcome_words
from evalreport.predictions.table import Notes
from evalreport.questions.costs.options import cost_name
from evalreport.questions.judges.options import scales_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The models' columns as numbers, by row of ``Rows``: -1 or nan where the cell is empty."""

    y_pred: Values | None = None
    score: Floats | None = None
    proba: dict[str, Floats]
    outcome: Floats | None = None
    gold: Floats | None = None
    by_people: Floats | None = None
    by_judge: Floats | None = None
    costs: dict[str, Floats] = field(default_factory=dict)
    numbers: dict[str, Floats] = field(default_factory=dict)


def parse_outputs(rows: Rows, task: FoundTask, options: Options) -> tuple[Parsed, Notes]:
    """Parse the models' predictions.

    Raises
    ------
    InputError
        Where a cell is not a finite number, or a probability lies outside [0, 1].
    """
    if task.task in ("sums", "intervals"):
        numbers, notes = parse_numbers(rows, task.task, options)
        return Parsed(y_pred=label_numbers(rows, "y_pred"), proba={}, numbers=numbers), notes
    return _parsed(rows, task), Notes()


def _parsed(rows: Rows, task: FoundTask) -> Parsed:
    if task.task in ("outcome", "scores"):
        column = "outcome" if task.task == "outcome" else "value"
        gold = _numbers(rows, "gold") if column == "outcome" and "gold" in rows.columns else None
        return Parsed(outcome=_numbers(rows, column), gold=gold, proba={})
    if task.task == "regression":
        return Parsed(y_pred=label_numbers(rows, "y_pred"), proba={})
    assert task.spelling is not None
    labels = rows.columns.get("y_pred")
    y_pred = None if labels is None else recode(labels, task.classes or task.groups, task.spelling)
    if task.task == "sets":
        sets = parse_sets(rows, task.classes, task.spelling)
        return Parsed(y_pred=y_pred, proba={}, numbers=sets)
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
    outside = (values < 0) | (values > 1)
    if outside.any():
        scale = scale_of(values)
        code = "probability_outside"
        if scale is not None:
            code = "probability_in_percent" if scale == "percent" else "probability_in_log"
        refuse_where(outside, rows, f"p_{label}", code)
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


def _numbers(rows: Rows, column: str) -> Floats:
    array = rows.columns[column]
    if column not in ("outcome", "gold"):
        return _finite(rows, column, array)
    values = dictionary_numbers(array, outcome_words(array.dictionary.to_pylist()))
    wrong = ~np.isfinite(values) & (dictionary_codes(array) >= 0)
    refuse_where(wrong, rows, column, "gold_is_no_number" if column == "gold" else "no_outcome")
    return values


def on_scale_of_people(rows: Rows, parsed: Parsed, options: Options) -> Parsed:
    """Map the judge's outcomes onto people's scale, as ``--judge-scale`` says.

    Raises
    ------
    UsageError
        There is no judge beside people.
    InputError
        An outcome lies outside its scale.
    """
    if options.judge_scale is None:
        return parsed
    if parsed.gold is None or parsed.outcome is None:
        raise UsageError(
            "--judge-scale is about a judge beside people, and there is no column gold: leave it out"
        )
    of_judge, of_people = scales_of(options.judge_scale)
    errors: list[InputError] = []
    for column, values, (low, high) in (
        ("outcome", parsed.outcome, of_judge),
        ("gold", parsed.gold, of_people),
    ):
        with together(errors):
            outside = (values < low) | (values > high)
            refuse_where(outside, rows, column, "outside_scale", low=low, high=high)
    refuse_all(errors)
    share = (parsed.outcome - of_judge[0]) / (of_judge[1] - of_judge[0])
    if of_judge == of_people:
        return parsed
    return replace(parsed, outcome=of_people[0] + share * (of_people[1] - of_people[0]))


def require_zero_wrong(outcome: Floats, options: Options) -> None:
    """Refuse to count missing outcomes as wrong where 0 is not the worst that an outcome can be.

    Raises
    ------
    UsageError
        Outcomes go beyond 0 and 1, or smaller ones are better.
    """
    given = outcome[~np.isnan(outcome)]
    if options.lower_is_better or not ((given >= 0) & (given <= 1)).all():
        why = "smaller outcomes are better" if options.lower_is_better else "the outcomes go beyond 0 and 1"
        raise UsageError(f"--missing wrong: {why}, so 0 is not the wrong one; pass --missing drop")


def _finite(rows: Rows, column: str, array: Arrow) -> Floats:
    values = floats(array)
    unusable = ~np.isfinite(values)
    if unusable.any():
        refuse_where(unusable & ~flags(array.is_null()), rows, column, "no_number")
    return values


def parse_costs(rows: Rows, options: Options) -> dict[str, Floats]:
    """Parse every column of costs, nan where a cell is empty.

    Raises
    ------
    InputError
        A cell is no number of at least 0; or, where missing values are refused, a model's cell is empty though others
        of the column are not.
    UsageError
        A column that ``--cost`` names holds no number.
    """
    empty = [name for name in map(cost_name, options.costs) if name not in rows.costs]
    if empty:
        raise UsageError(f"--cost {empty[0]}: the column holds no number")
    errors: list[InputError] = []
    costs: dict[str, Floats] = {}
    for name, array in rows.costs.items():
        whole = combined(array)
        values, given = dictionary_numbers(whole), dictionary_codes(whole) >= 0
        with together(errors):
            refuse_where(given & ~(np.isfinite(values) & (values >= 0)), rows, name, "no_cost")
            if options.missing == "refuse":
                refuse_where(_gaps(rows, np.isnan(values)), rows, name, "empty_cost")
        costs[name] = values
    refuse_all(errors)
    return costs


def _gaps(rows: Rows, empty: Mask) -> Mask:
    """Return the empty cells of models that give the column in another test row."""
    if "part" in rows.columns:
        part = combined(rows.columns["part"])
        other = [code for code, name in enumerate(part.dictionary.to_pylist()) if name != "test"]
        empty = empty & ~np.isin(dictionary_codes(part), other)
    given = np.bincount(rows.model, weights=~empty, minlength=len(rows.models)) > 0
    return np.asarray(empty & given[rows.model], dtype=np.bool_)
