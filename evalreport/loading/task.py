"""The task that the columns mean, its classes and its positive class."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NoReturn

import numpy as np
import pyarrow as pa

from evalreport.errors import InputError, UsageError, refuse_all
from evalreport.loading.kinds import LABEL, SET
from evalreport.loading.numbers import labels_of, members_of
from evalreport.loading.roles import MOST_CLASSES
from evalreport.loading.rows import Rows, fault, first_of, origin_of
from evalreport.options import Options, Task
from evalreport.predictions.arrays import Floats, Indices, Mask
from evalreport.predictions.cells import as_numbers, dictionary_codes, floats, from_numpy, used_only
from evalreport.predictions.numbers import SUMS, levels, quantile_of
from evalreport.predictions.spelling import (
    TRUTHS,
    alikes,
    has_leading_zero,
    in_order,
    is_number,
    is_whole,
    one_number,
    one_spelling,
)
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, plain, quoted

MOST_SPELLINGS = 20 * MOST_CLASSES
MOST_WHOLE_CLASSES = 20
FEW_OF_A_CLASS = 5
"""With fewer rows for each whole number these look like values rather than like codes of classes."""
POSITIVE_PAIRS = (
    *(("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y")),
    *(("negative", "positive"), ("neg", "pos")),
)
"""Pairs of labels (negative, positive) whose positive class needs no guess, in any case of letters."""
_NO_FINITE_NUMBER = re.compile(r"[+-]?(inf|infinity|\d{1,3}(,\d{3})+(\.\d*)?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTask:
    """The task, its classes in canonical order, and how labels in files map to them.

    ``groups``: for a clustering, the names of all groups, true or a model's, which need not have anything in common.
    """

    task: Task
    classes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    positive: str | None = None
    spelling: dict[str, str] | None = None
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True, slots=True)
class KnownTask:
    """The task of an earlier run of the same models, for rows whose true values are not known yet."""

    task: Task
    classes: tuple[str, ...]
    positive: str | None


def without_true_values(rows: Rows, known: KnownTask | None) -> FoundTask | None:
    """Return the known task where no row has a true value; None: there are true values, or no task is known."""
    judged = rows.numbers or {"outcome", "value", SET} & set(rows.columns)
    if known is None or judged or len(_distinct(rows, "y_true", "truth")):
        return None
    if known.task == "regression":
        return FoundTask(task="regression")
    spelling = one_spelling([*known.classes, *_distinct(rows, "y_pred").to_pylist(), *rows.probabilities])
    classes = in_order(spelling.values())
    return FoundTask(task=known.task, classes=classes, positive=known.positive, spelling=spelling)


def find_task(rows: Rows, options: Options) -> FoundTask:
    """Find the task from the columns, or check the one that an option names.

    Raises
    ------
    InputError
        Where the task contradicts the columns, a label is not a finite number, or there are over 1,000 classes.
    UsageError
        Where the positive class is none of the classes.
    """
    _refuse_gold_alone(rows)
    task = _found(rows, options)
    if options.class_order is not None and task.task not in ("binary", "multiclass"):
        raise UsageError(f"--class-order: the task is {task.task}, which has no classes to put in an order")
    return task


def _found(rows: Rows, options: Options) -> FoundTask:
    if rows.numbers or SET in rows.columns or options.task in ("sums", "intervals", "sets"):
        return _of_kind(rows, options)
    judged = next((name for name in ("outcome", "value") if name in rows.columns), None)
    if judged is not None:
        return _judged(rows, judged, options)
    if options.task in ("outcome", "scores"):
        needed = "outcome" if options.task == "outcome" else "value"
        raise _contradiction(
            rows, options.task, f"there is no column {needed!r}", f"name it with --{needed} COLUMN"
        )
    if options.task is None:
        _refuse_several_labels(rows)
    task, why, guess = _classes_or_numbers(rows, options)
    if task == "regression":
        record = FoundRecord(what="task", value=plain("regression"), why=why)
        return FoundTask(task="regression", notes=Notes((record,), guess))
    if task == "clustering":
        return _clustering(rows, why)
    found = _classification(rows, options, why)
    return replace(found, notes=Notes((), guess) + found.notes)


def _refuse_gold_alone(rows: Rows) -> None:
    """Refuse people's outcomes where no file holds the judge's."""
    tables = [table for table in rows.tables if "gold" in table.roles.columns]
    if not tables or "outcome" in rows.columns:
        return
    raise InputError.of("gold_alone", file=tables[0].name, line=1, column=tables[0].roles.columns["gold"])


def _judged(rows: Rows, column: str, options: Options) -> FoundTask:
    task: Task = "outcome" if column == "outcome" else "scores"
    if options.task not in (None, task):
        raise _contradiction(
            rows,
            options.task,
            f"the column {column!r} means the task {task}",
            f"drop --task, or the column {column!r}",
        )
    lacking = [table for table in rows.tables if column not in table.roles.columns]
    if lacking:
        other = next(table for table in rows.tables if column in table.roles.columns)
        raise InputError.of("unlike_columns", file=lacking[0].name, header=repr(column), name=other.name)
    why = Message("found.task.column", column=rows.tables[0].roles.columns[column].strip())
    return FoundTask(task=task, notes=Notes((FoundRecord(what="task", value=plain(task), why=why),)))


def _of_kind(rows: Rows, options: Options) -> FoundTask:
    """Return the task of sums by unit, of prediction intervals or of prediction sets.

    Raises
    ------
    InputError
        The columns of the task that is named are not there, or a file has others than the first.
    """
    names = set(rows.numbers)
    task: Task = "sets" if SET in rows.columns else "sums" if names & set(SUMS) else "intervals"
    if not names and SET not in rows.columns:
        assert options.task is not None
        raise _contradiction(
            rows, options.task, "the columns that it needs are not there", _COLUMNS_OF[options.task]
        )
    first = rows.tables[0].roles
    for table in rows.tables[1:]:
        own, expected = ({*r.numbers, *({SET, LABEL} & set(r.columns))} for r in (table.roles, first))
        if own != expected:
            header = min(own ^ expected)
            here, there = (rows.tables[0], table) if header in own else (table, rows.tables[0])
            header = {**there.roles.numbers, **there.roles.columns}[header]
            raise InputError.of("unlike_columns", file=here.name, header=repr(header), name=there.name)
    headers = (*first.numbers.values(), *(first.columns[name] for name in (SET,) if name in first.columns))
    why = Message("found.task.columns", columns=[header.strip() for header in headers])
    notes = Notes((FoundRecord(what="task", value=plain(task), why=why),))
    if task == "sums":
        labels = labels_of(rows)[1] if LABEL in rows.columns else ()
        _refuse_many(rows, labels)
        notes += Notes((_classes_found(labels, "labels", "found.labels_of_sums"),)) if labels else Notes()
        return FoundTask(task=task, classes=labels, notes=notes)
    if not len(_distinct(rows, "y_true", "truth")):
        raise InputError.of("no_truth", file=rows.tables[0].name, column="y_true")
    if task == "intervals":
        without = len(levels(rows.numbers)) > 1 and quantile_of(0.5) not in rows.numbers
        value, why = Message("found.no_median.value"), Message("found.no_median.why")
        what = FoundRecord(what="weighted interval score", value=value, why=why)
        return FoundTask(task=task, notes=notes + Notes((what,) if without else ()))
    spelling = one_spelling([*_distinct(rows, "y_true", "truth", "y_pred").to_pylist(), *members_of(rows)])
    classes = in_order(spelling.values())
    _refuse_many(rows, classes)
    notes += Notes((_classes_found(classes),))
    return FoundTask(task=task, classes=classes, spelling=spelling, notes=notes)


_COLUMNS_OF: dict[Task, str] = {
    "sums": "name the columns tp, fp, fn (and tn), or errors, total",
    "intervals": "name the columns y_low@90, y_high@90 (or y_low, y_high with --level 0.9), or q_0.05, q_0.95",
    "sets": "name the column of prediction sets y_set, with labels such as a|b",
}

Guess = tuple[WarningRecord, ...]


def _classes_or_numbers(rows: Rows, options: Options) -> tuple[Task, Message, Guess]:
    """Say classes or numbers, and why (the contract's rule); and warn where that is a guess."""
    truth, predicted = _distinct(rows, "y_true", "truth"), _distinct(rows, "y_pred")
    if not len(truth):
        file = rows.tables[0].name
        code = "no_truth_of_arrays" if file.endswith(".npy") else "no_truth"
        raise InputError.of(code, file=file, column="y_true")
    if options.task not in ("regression", "clustering"):
        _refuse_probabilities(rows, truth)
    graded = "score" in rows.columns or bool(rows.probabilities)
    if options.task is not None:
        if options.task in ("regression", "clustering") and graded:
            raise _contradiction(
                rows, options.task, "columns score and p_<label> belong to classes", "drop --task"
            )
        return options.task, Message("found.task.asked"), ()
    if _are_truths(truth, predicted):
        return "binary", Message("found.task.truths"), ()
    values, predictions = floats(as_numbers(truth)), floats(as_numbers(predicted))
    texts = truth.filter(from_numpy(~np.isfinite(values))).to_pylist()
    if _all_whole(values):
        texts += [label for label in truth.to_pylist()[:MOST_SPELLINGS] if has_leading_zero(label)]
    _refuse_unfinished_numbers(rows, values[np.isfinite(values)], texts, graded=graded)
    if texts:
        return "binary", Message("found.task.text", example=min(texts)), ()
    if graded:
        _refuse_score_for_numbers(rows, values)
        return "binary", Message("found.task.graded"), ()
    if not _all_whole(values):
        return "regression", Message("found.task.decimals"), ()
    words = _of_words(rows)
    if words is not None and len(np.unique(values)) <= MOST_WHOLE_CLASSES:
        return "binary", Message("found.task.words", example=words), ()
    if not _all_whole(predictions):
        guess = _guessed_numbers(truth) if len(np.unique(values)) <= MOST_WHOLE_CLASSES else ()
        return "regression", Message("found.task.predictions_not_whole"), guess
    labels, predicted_labels = _whole_set(truth), _whole_set(predicted)
    distinct = len(np.unique(np.concatenate([values, predictions])))
    if max(distinct, len(labels | predicted_labels)) > MOST_WHOLE_CLASSES:
        return "regression", Message("found.task.many_whole", most=MOST_WHOLE_CLASSES), ()
    if not labels & predicted_labels:
        return "regression", Message("found.task.nothing_shared"), _guessed_numbers(truth)
    why = Message("found.task.few_whole", most=MOST_WHOLE_CLASSES)
    if options.class_order is not None:  # which says that they are classes
        return "binary", why, ()
    return "binary", why, _guessed_classes(np.unique(values), np.unique(predictions), rows.n_predictions)


def _of_words(rows: Rows) -> str | None:
    """Return the first label of a model that predicts nothing but words, where there is one."""
    array = rows.labels("y_pred")
    if array is None:
        return None
    texts = array.dictionary.to_pylist()
    number = np.array(
        [*(is_number(text) or _NO_FINITE_NUMBER.fullmatch(text.strip()) is not None for text in texts), True]
    )
    codes = dictionary_codes(array)
    for place in range(len(rows.models)):
        own = codes[(rows.model == place) & (codes >= 0)]
        if len(own) and not number[own].any():
            return str(min(texts[code] for code in np.unique(own)))
    return None


def _refuse_score_for_numbers(rows: Rows, values: Floats) -> None:
    """Refuse scores alone beside true numbers with decimals, which are no classes: ML.NET calls its predictions so.

    Raises
    ------
    InputError
        With the option that reads the score as the predicted number.
    """
    if rows.probabilities or "y_pred" in rows.columns or _all_whole(values) or len(np.unique(values)) <= 2:
        return
    raise fault(rows, 0, "score", "score_for_numbers", n=len(np.unique(values)))


def _refuse_probabilities(rows: Rows, truth: pa.Array) -> None:
    """Refuse a model whose y_pred are probabilities where the true values are two labels.

    Raises
    ------
    InputError
        For each of these models, the first row.
    """
    array = rows.labels("y_pred")
    numbers = floats(as_numbers(truth))
    # Unlike numbers are unlike labels, however they are spelled.
    if len(np.unique(numbers[np.isfinite(numbers)])) > 2:
        return
    labels = set(one_spelling(truth.to_pylist()).values())
    codes_of_two = len(labels) == 2 and all(is_whole(text) or text.casefold() in TRUTHS for text in labels)
    if array is None or not codes_of_two:
        return
    values = np.append(floats(as_numbers(array.dictionary)), np.nan)
    if not ((values > 0) & (values < 1)).any():
        return
    codes = dictionary_codes(array)
    given = values[codes]
    between, outside = (given > 0) & (given < 1), (codes >= 0) & ~((given >= 0) & (given <= 1))
    _refuse_models(rows, between, outside, "probabilities_for_labels", in_order(labels))


def _refuse_models(rows: Rows, wrong: Mask, otherwise: Mask, code: str, truth: Sequence[str]) -> None:
    """Refuse the models that have wrong predictions (rows,), and none that are otherwise, by their first wrong row."""
    errors: list[InputError] = []
    for model in range(len(rows.models)):
        own = rows.model == model
        hits = np.flatnonzero(own & wrong)
        if len(hits) and not (own & otherwise).any():
            errors.append(fault(rows, int(hits[0]), "y_pred", code, count=len(hits), truth=truth))
    refuse_all(errors)


def _are_truths(truth: pa.Array, predicted: pa.Array) -> bool:
    """Say whether true and false stand among the labels, and nothing else but 1 and 0."""
    words = numbers = False
    for label in (*truth.to_pylist(), *predicted.to_pylist()):
        if label.strip(" \t").casefold() in TRUTHS:
            words = True
        elif is_number(label) and float(label) in (0, 1):
            numbers = True
        else:
            return False
    return words and numbers


def _guessed_numbers(truth: pa.Array) -> Guess:
    """Warn that the true values could be classes, though the predictions are none of these."""
    return (warning("guessed_task", "numbers", about=("regression",), n=len(truth)),)


def _guessed_classes(truth: Floats, predictions: Floats, rows: int) -> Guess:
    """Warn where whole numbers are taken for classes: loudly unless they look like the codes of classes."""
    values = np.union1d(truth, predictions)
    if len(values) <= 2:
        return ()
    counted = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    loud = not counted or len(truth) < len(values) or rows < FEW_OF_A_CLASS * len(values)
    level: Literal["info", "caution"] = "caution" if loud else "info"
    return (warning("guessed_task", "classes", about=("multiclass",), level=level, n=len(values)),)


def _all_whole(values: Floats) -> bool:
    return bool((np.isfinite(values) & (np.floor(values) == values)).all())


def _whole_set(labels: pa.Array) -> set[str]:
    return {one_number(label) for label in labels.to_pylist()}


def _refuse_unfinished_numbers(rows: Rows, numbers: Floats, texts: list[str], *, graded: bool) -> None:
    """Refuse an "inf" or a "1,000" among numbers: it is a malformed number, not a class."""
    if not texts or not len(numbers):
        return
    fractions = not _all_whole(numbers) and len(numbers) > len(texts) and not graded
    wrong = texts if fractions else [label for label in texts if _NO_FINITE_NUMBER.fullmatch(label.strip())]
    if wrong:
        refuse_no_number(rows, "y_true", wrong)


def refuse_no_number(rows: Rows, column: str, wrong: Sequence[str]) -> NoReturn:
    """Refuse the first row whose label is one of ``wrong``.

    Raises
    ------
    InputError
        Always.
    """
    array = rows.labels(column)
    if array is None or not len(hits := _rows_with(array, wrong)):
        refuse_no_number(rows, "truth", wrong)
    row = int(hits[0])
    raise fault(rows, row, column, "label_is_no_number", count=len(hits), label=array[row].as_py())


def _rows_with(array: pa.DictionaryArray, texts: Sequence[str]) -> Indices:
    """Return which rows of a dictionary column hold one of some texts."""
    some = set(texts)
    codes = [code for code, text in enumerate(array.dictionary.to_pylist()) if text in some]
    return np.flatnonzero(np.isin(dictionary_codes(array), codes))


def _classification(rows: Rows, options: Options, why: Message) -> FoundTask:
    _refuse_numbers_for_text(rows)
    if options.task is None:
        _refuse_other_names(rows)
    distinct = _distinct(rows, "y_true", "truth", "y_pred")
    if len(distinct) > MOST_SPELLINGS:
        # However the rest are spelled, these alone are too many: millions of numbers are no classes.
        some = distinct.slice(0, MOST_SPELLINGS).to_pylist()
        _refuse_many(rows, list(dict.fromkeys(map(one_number, some))), "at least ")
    spelling = one_spelling([*distinct.to_pylist(), *rows.probabilities])
    classes = in_order(spelling.values())
    _refuse_many(rows, classes)
    if options.task == "binary" and len(classes) > 2:
        raise _contradiction(
            rows,
            "binary",
            f"there are {len(classes)} classes: {', '.join(map(quoted, classes[:5]))}",
            "pass --task multiclass",
        )
    if options.class_order is not None:
        classes = _in_named_order(classes, options.class_order)
    elif options.task != "multiclass":
        classes = two_classes(classes)
    task: Task = "multiclass" if len(classes) > 2 or options.task == "multiclass" else "binary"
    notes = [FoundRecord(what="task", value=plain(task), why=why), _classes_found(classes)]
    probable = {spelling[label] for label in rows.probabilities}
    positive, record, warnings = _positive(in_order(classes), task, options.positive, probable)
    held = {spelling[label] for label in distinct.to_pylist()}
    warnings += [
        warning("class_of_a_column", about=(label,), label=label, column=f"p_{label}", n=len(classes))
        for label in classes
        if held and label not in held and label in map(spelling.get, rows.probabilities)
    ]
    if record is not None:
        notes.append(record)
    said = Notes(tuple(notes), tuple(warnings))
    return FoundTask(task=task, classes=classes, positive=positive, spelling=spelling, notes=said)


def _in_named_order(classes: tuple[str, ...], order: str) -> tuple[str, ...]:
    """Return the classes as ``--class-order`` names them, also those that no row holds.

    Raises
    ------
    UsageError
        A class is not named, is named twice, or there is one only.
    """
    named = [text.strip() for text in next(csv.reader([order], skipinitialspace=True))]
    spelling = one_spelling([*classes, *named])
    places = [spelling[label] for label in named]
    lacking = [label for label in classes if spelling[label] not in places]
    if lacking or len(set(places)) < len(places) or len(places) < 2 or not all(named):
        why = f"it does not name {', '.join(map(quoted, lacking[:6]))}"
        why = why if lacking else "it names a class twice, or fewer than two"
        raise UsageError(f"--class-order {order}: {why}; name every class once, the lowest first")
    own = {spelling[label]: label for label in classes}
    return tuple(own.get(place, label) for place, label in zip(places, named, strict=True))


def _clustering(rows: Rows, why: Message) -> FoundTask:
    truth, predicted = (
        _distinct(rows, *columns).to_pylist() for columns in (("y_true", "truth"), ("y_pred",))
    )
    spelling = one_spelling([*truth, *predicted])
    n_true, n_predicted = (len({spelling[label] for label in labels}) for labels in (truth, predicted))
    value = Message("found.groups.value", true=n_true, groups=n_predicted)
    task = FoundRecord(what="task", value=plain("clustering"), why=why)
    groups = FoundRecord(what="groups", value=value, why=Message("found.groups.why"))
    notes = Notes((task, groups), (warning("clustering_bootstrap"),))
    return FoundTask(task="clustering", groups=in_order(spelling.values()), spelling=spelling, notes=notes)


def _refuse_many(rows: Rows, classes: Sequence[str], at_least: str = "") -> None:
    if len(classes) > MOST_CLASSES:
        refused = partial(InputError.of, "too_many_classes", file=rows.tables[0].name, column="y_true")
        raise refused(at_least=at_least, n=len(classes), classes=classes[:3], most_classes=MOST_CLASSES)


def _classes_found(
    classes: tuple[str, ...], what: str = "classes", why: str = "found.classes"
) -> FoundRecord:
    return FoundRecord(what=what, value=plain(first_of(map(quoted, classes), 10)), why=Message(why))


def _counterpart(label: str) -> str:
    """Name the class that was never seen, so that a binary task keeps two."""
    for pair in POSITIVE_PAIRS:
        for own, other in (pair, pair[::-1]):
            if label.lower() == own:
                return other.upper() if label.isupper() else other.capitalize() if label.istitle() else other
    return f"not {label}"


def two_classes(labels: Sequence[str]) -> tuple[str, ...]:
    """Give a single class the counterpart that was never seen; more are returned as they are."""
    return in_order((labels[0], _counterpart(labels[0]))) if len(labels) == 1 else tuple(labels)


def positive_of(classes: Sequence[str], named: str | None, probable: Collection[str] = ()) -> str:
    """Return the positive one of two classes: the one that is named, else that of a usual pair, else the last.

    Parameters
    ----------
    named
        The class that ``--positive`` names.
    probable
        The classes of which probabilities are given: a single one is positive, unless the pair is a usual one.

    Raises
    ------
    UsageError
        Where the one that is named is none of the classes.
    """
    if named is None:
        return _usual(classes) or _alone(classes, probable) or classes[-1]
    spelling = one_spelling([*classes, named])
    for label in (named, *classes):
        if label in classes and spelling[label] == spelling[named]:
            return label
    raise UsageError(f"--positive {named}: it is none of the classes {', '.join(map(quoted, classes))}")


def _usual(classes: Sequence[str]) -> str | None:
    lowered = {label.lower(): label for label in classes}
    return next((lowered[pair[1]] for pair in POSITIVE_PAIRS if set(pair) == set(lowered)), None)


def _alone(classes: Sequence[str], probable: Collection[str]) -> str | None:
    """Return the one class of which probabilities are given; None where there is none, or both are."""
    labels = [label for label in classes if label in probable]
    return labels[0] if len(labels) == 1 else None


def _positive(
    classes: tuple[str, ...], task: Task, named: str | None, probable: Collection[str]
) -> tuple[str | None, FoundRecord | None, list[WarningRecord]]:
    if task != "binary":
        if named is not None:
            raise UsageError(
                f"--positive {named}: only a binary task has a positive class, and there are {len(classes)}"
            )
        return None, None, []
    label = positive_of(classes, named, probable)
    if named is not None:
        why = Message("found.positive.asked")
    elif _usual(classes) is not None:
        why = Message("found.positive.usual", a=classes[0], b=classes[1])
    elif _alone(classes, probable) is not None:
        why = Message("found.positive.column", label=label)
    else:
        why = Message("found.positive.last")
    guessed = why.code == "found.positive.last"
    warnings = [warning("positive_class_guessed", about=(label,), label=label)] if guessed else []
    return label, FoundRecord(what="positive class", value=plain(label), why=why), warnings


_LABEL_WITH_SCORE = re.compile(
    r"""\s*\[?\s*\{.*['"](label['"].*['"]score|score['"].*['"]label)['"]\s*:.*""", re.DOTALL
)
"""What a pipeline of Hugging Face gives for an example."""
_LIST = re.compile(r"""\[\s*('[^']*'|"[^"]*"|[\w.+-]+)(\s*,\s*('[^']*'|"[^"]*"|[\w.+-]+))*\s*\]""")
_SEPARATORS = "|;,"
LONGEST_LABEL = 1000


def _refuse_several_labels(rows: Rows) -> None:
    """Refuse cells that hold several labels, which would each be a class of its own.

    Raises
    ------
    InputError
        With the first row, and what to do where it is one label after all.
    """
    arrays = {column: rows.labels(column) for column in ("y_true", "truth", "y_pred")}
    labels = {
        column: (array, used_only(array).dictionary.slice(0, MOST_SPELLINGS).to_pylist())
        for column, array in arrays.items()
        if array is not None
    }
    every = {label for _, texts in labels.values() for label in texts}
    for column, (array, texts) in labels.items():
        if texts and all(map(_LABEL_WITH_SCORE.fullmatch, texts)):
            raise fault(rows, int(_rows_with(array, texts)[0]), column, "label_with_score")
        # Most columns hold neither brackets nor separators.
        if not any(mark in "\n".join(texts) for mark in f"[{_SEPARATORS}"):
            continue
        several = [text for text in texts if len(text) <= LONGEST_LABEL and _holds_several(text, every)]
        if several:
            hits = _rows_with(array, several)
            raise fault(rows, int(hits[0]), column, "several_labels", count=len(hits))


def _holds_several(text: str, every: set[str]) -> bool:
    if "[" in text and _LIST.fullmatch(text.strip()):
        return True
    divided = ([part.strip() for part in text.split(mark)] for mark in _SEPARATORS if mark in text)
    return any(every.issuperset(labels) for labels in divided)


def _refuse_numbers_for_text(rows: Rows) -> None:
    """Refuse a model whose predictions are numbers where all true labels are text: none of them can be right.

    Raises
    ------
    InputError
        For each of these models, the first row.
    """
    array = rows.labels("y_pred")
    truth = _distinct(rows, "y_true", "truth").to_pylist()
    if array is None or any(is_number(label) or label.strip().casefold() in TRUTHS for label in truth):
        return
    number = np.array([*map(is_number, array.dictionary.to_pylist()), False])
    if not number.any():
        return
    codes = dictionary_codes(array)
    words = (codes >= 0) & ~number[codes]
    _refuse_models(rows, number[codes], words, "numbers_for_text", sorted(truth)[:3])


_BEFORE_A_LABEL = re.compile(r"(?:__label__|label|class|category|y)[_\-. ]*", re.IGNORECASE)
"""What programs write before the name or the number of a class."""


def _refuse_other_names(rows: Rows) -> None:
    """Refuse a model whose labels are the true ones by other names: nothing of these could be right.

    These are labels of which none is a true one; labels that are none and are, without a prefix such as ``LABEL_`` or
    in most of their rows, true labels that the model never predicts; and whole numbers that are one off.

    Raises
    ------
    InputError
        For each of these models, the first row, with the likely names.
    """
    array = rows.labels("y_pred")
    texts = _distinct(rows, "y_true", "truth").to_pylist()
    if array is None or len(texts) < 2:
        return
    spelling = one_spelling([*texts, *array.dictionary.to_pylist()])
    true = {spelling[text] for text in texts}
    labels = [spelling[text] for text in array.dictionary.to_pylist()]
    codes = dictionary_codes(array).astype(np.int64)
    pairs = np.unique(rows.model.astype(np.int64) * (len(labels) + 1) + codes + 1)
    errors: list[InputError] = []
    for place in range(len(rows.models)):
        own = pairs[pairs // (len(labels) + 1) == place] % (len(labels) + 1) - 1
        predicted = {labels[code] for code in own if code >= 0}
        others, lacking = predicted - true, true - predicted
        if not others:
            continue
        meant = _meant(others, lacking)
        disjoint = others == predicted and len(predicted) > 1
        partly = len(meant) == len(others) and _have_prefixes(meant)
        if not partly:
            counts = _counts(rows, place, labels, spelling)
            meant = meant if disjoint else {}
            meant = meant or _by_rows(counts, others, lacking) or _one_off(counts, predicted, true)
        if not (disjoint or meant):
            continue
        wrong = np.isin(codes, [code for code, label in enumerate(labels) if label in others])
        hits = np.flatnonzero(wrong & (rows.model == place))
        names = [Message("found.label_as", label=label, name=name) for label, name in sorted(meant.items())]
        shown = {"labels": in_order(others)[:5], "truth": in_order(true)[:5], "names": names[:5]}
        code = "labels_by_other_names" if meant else "labels_of_others"
        errors.append(fault(rows, int(hits[0]), "y_pred", code, count=len(hits), **shown))
    refuse_all(errors)


FEWEST_ROWS = 5
"""With fewer rows nothing shows which true label is meant by another."""


def _counts(
    rows: Rows, model: int, labels: Sequence[str], spelling: dict[str, str]
) -> Counter[tuple[str, str]]:
    """Count the rows of a model by predicted and true label, where they have both."""
    predicted, truth = rows.labels("y_pred"), rows.labels("y_true")
    truth = rows.labels("truth") if truth is None else truth
    assert predicted is not None
    assert truth is not None
    true_labels = [spelling[text] for text in truth.dictionary.to_pylist()]
    codes, of_truth = (dictionary_codes(array).astype(np.int64) for array in (predicted, truth))
    own = (rows.model == model) & (codes >= 0) & (of_truth >= 0)
    pairs, times = np.unique(codes[own] * (len(true_labels) + 1) + of_truth[own], return_counts=True)
    counts: Counter[tuple[str, str]] = Counter()
    for pair, n in zip(pairs.tolist(), times.tolist(), strict=True):
        counts[labels[pair // (len(true_labels) + 1)], true_labels[pair % (len(true_labels) + 1)]] += n
    return counts


def _by_rows(
    counts: Counter[tuple[str, str]], others: Collection[str], lacking: Collection[str]
) -> dict[str, str]:
    """Return the true label, never predicted, of most rows that hold each of the others; empty: some has none."""
    meant: dict[str, str] = {}
    for label in others:
        of_label = {true: n for (predicted, true), n in counts.items() if predicted == label}
        if sum(of_label.values()) < FEWEST_ROWS:
            return {}
        most = max(of_label.items(), key=lambda pair: (pair[1], pair[0]))[0]
        if most not in lacking or 2 * of_label[most] <= sum(of_label.values()):
            return {}
        meant[label] = most
    return meant if len(meant) == len(set(meant.values())) else {}


def _one_off(
    counts: Counter[tuple[str, str]], predicted: Collection[str], true: Collection[str]
) -> dict[str, str]:
    """Return the true label of each predicted one where these are whole numbers that count from another start."""
    if not all(map(is_whole, {*predicted, *true})) or counts.total() < FEWEST_ROWS:
        return {}
    right = sum(n for (label, true_label), n in counts.items() if label == true_label)
    for step in (1, -1):
        moved = {label: one_number(str(int(float(label)) + step)) for label in predicted}
        moved_right = sum(n for (label, true_label), n in counts.items() if moved[label] == true_label)
        if set(moved.values()) <= set(true) and 2 * moved_right > counts.total() > 2 * right:
            return moved
    return {}


def _meant(labels: Collection[str], true: Collection[str]) -> dict[str, str]:
    """Return the true label that each label most likely means, where one does."""
    plain = {one_number(label).casefold().strip(): label for label in true}
    alike = {label: other for label, (other, _) in alikes(labels, true).items()}
    stripped = {label: _BEFORE_A_LABEL.sub("", label, count=1) for label in labels}
    named = {label: plain[rest.casefold()] for label, rest in stripped.items() if rest.casefold() in plain}
    names = {**named, **alike}
    return names if len(set(names.values())) == len(names) else {}


def _have_prefixes(meant: dict[str, str]) -> bool:
    return all(_BEFORE_A_LABEL.match(label) and len(label) > len(name) for label, name in meant.items())


def _distinct(rows: Rows, *columns: str) -> pa.Array:
    """Return the distinct labels that the rows hold in each of the columns, as Arrow strings."""
    arrays = [rows.labels(name) for name in columns]
    dictionaries = [used_only(array).dictionary for array in arrays if array is not None]
    return pa.concat_arrays(dictionaries) if dictionaries else pa.nulls(0, pa.string())


def _contradiction(rows: Rows, task: str | None, problem: str, remedy: str) -> InputError:
    table, _ = origin_of(rows, 0)
    return InputError.of("task_contradicts", file=table.name, task=task, problem=problem, remedy=remedy)
