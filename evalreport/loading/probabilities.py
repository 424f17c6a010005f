"""Columns of probabilities that name no class, and columns that look like probabilities.

Which class a probability belongs to follows from the labels, so it is found after all files are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.rows import first_of
from evalreport.loading.tables import Table
from evalreport.loading.task import positive_of, two_classes
from evalreport.options import Options, Scale
from evalreport.predictions.cells import (
    all_numbers,
    as_numbers,
    combined,
    dictionary_codes,
    dictionary_numbers,
    floats,
    in_unit_interval,
    keep,
    say_the_same,
    used_only,
)
from evalreport.predictions.column_names import usual_case
from evalreport.predictions.platforms import sas_classes
from evalreport.predictions.spelling import in_order, is_number, is_whole, one_spelling
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, plain, quoted

LEAST_CONFIDENCE = 0.5
"""No label of two that a model predicts has a smaller probability."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels that rows hold: the true ones and all of them, each in its one spelling, and whether they are text.

    ``every``: all labels in order.
    """

    true: frozenset[str]
    spelling: Mapping[str, str]
    every: tuple[str, ...]
    are_text: bool

    @property
    def trained(self) -> tuple[str, ...]:
        """The true labels as scikit-learn sorts them: text by code point, numbers by value."""
        return tuple(sorted(self.true)) if self.are_text else in_order(self.true)


def name_probabilities(
    tables: Sequence[Table], truth: Table | None, options: Options
) -> tuple[list[Table], Notes]:
    """Give the probabilities that name no class the class that they are about.

    Parameters
    ----------
    tables, truth
        The tables, and the table of true values where it is one of its own.

    Returns
    -------
    tables, notes
        Also which columns were taken or not.

    Raises
    ------
    InputError
        Where an array of probabilities has more or fewer columns than there are true labels, or a table has no other
        prediction than a column that cannot be taken for one.
    """
    like_counts = _like_counts(tables, options)
    if any(t.roles.numbers or {"outcome", "value", "y_set"} & set(t.roles.columns) for t in tables):
        return list(tables), Notes((), like_counts)
    every = [*tables, *([truth] if truth is not None else [])]
    labels = _labels(every) if any(_asks_for_labels(table, every) for table in tables) else NO_LABELS
    errors: list[InputError] = []
    named: list[Table] = []
    notes: list[FoundRecord] = []
    warnings: list[WarningRecord] = []
    for table in tables:
        with together(errors):
            _refuse_confidence_in_other_labels(table, labels)
            own, records = _of_array(table, labels)
            own, doubts = _of_one(own, labels, options)
            own, look = _look_alikes(own, labels, options)
            _require_prediction(own, (*doubts, *look))
            named.append(own)
            notes += records
            warnings += (*doubts, *look)
    refuse_all(errors)
    guesses = _guesses(tables, named)
    notes += [
        FoundRecord(what="probabilities", value=plain(w.about[0]), why=Message("found.lone")) for w in guesses
    ]
    distinct = tuple(record for k, record in enumerate(notes) if record not in notes[:k])
    return named, Notes(distinct, (*like_counts, *guesses, *warnings))


def _guesses(read: Sequence[Table], named: Sequence[Table]) -> list[WarningRecord]:
    """Say once for each header and class which columns were taken as the one probability of a binary task."""
    taken: dict[tuple[str, str], list[str]] = {}
    for before, after in zip(read, named, strict=True):
        if before.roles.one_probability is not None and after.roles.one_probability is None:
            new = after.roles.probabilities.keys() - before.roles.probabilities.keys()
            label, header = next(pair for pair in after.roles.probabilities.items() if pair[0] in new)
            taken.setdefault((header.strip(), label), []).append(after.shown_name)
    shown = ((*key, tuple(files[:5]), len(files)) for key, files in taken.items())
    return [
        warning("guessed_probability", about=(header,), column=header, label=label, files=files, n=n)
        for header, label, files, n in shown
    ]


MOST_LABELS = 10_000
"""Of more distinct labels no column is named after one: they are numbers, or more classes than may be."""


def _asks_for_labels(table: Table, tables: Sequence[Table]) -> bool:
    """Say whether a table has columns that are named by the labels, which takes a look at each of them."""
    roles = table.roles
    graded = "score" in roles.columns or roles.one_probability is not None
    if graded or roles.unlabelled or roles.probabilities:
        return True
    return bool(roles.metadata) and sum(len(labels) for _, labels in _distinct_labels(tables)) <= MOST_LABELS


def _distinct_labels(tables: Sequence[Table]) -> Iterator[tuple[str, pa.Array]]:
    """Yield the distinct labels of each table with their column, y_true or y_pred."""
    for table in tables:
        for column in ("y_true", "y_pred"):
            header = table.roles.columns.get(column)
            if header is not None:
                yield column, used_only(combined(table.read.arrays[header])).dictionary


NO_LABELS = Labels(frozenset(), {}, (), are_text=False)


def _labels(tables: Sequence[Table]) -> Labels:
    true: list[str] = []
    every: list[str] = []
    for column, labels in _distinct_labels(tables):
        (true if column == "y_true" else every).extend(labels.to_pylist())
    spelling = one_spelling([*true, *every])
    are_text = any(table.roles.columns.get("y_true") in table.read.texts for table in tables)
    return Labels(
        frozenset(spelling[label] for label in true), spelling, in_order(spelling.values()), are_text
    )


_PREDICTED = ("predicted_label", "pred_label", "prediction_label", "predicted_class", "y_hat", "yhat")


def _refuse_confidence_in_other_labels(table: Table, labels: Labels) -> None:
    """Refuse the confidence in a predicted label where the labels themselves are under a name that is not read.

    Raises
    ------
    InputError
        With the headers that may hold the labels.
    """
    roles = table.roles
    header = roles.columns.get("score") or roles.one_probability
    others = [h for h in (*roles.unused, *roles.metadata) if usual_case(h) in ("label", *_PREDICTED)]
    truth = roles.columns.get("y_true", "")
    doubted = usual_case(truth) == "label"
    if header is None or "y_pred" in roles.columns or not (others or doubted) or len(labels.true) != 2:
        return
    array = combined(table.read.arrays[header])
    values = floats(array) if header == roles.columns.get("score") else dictionary_numbers(array)
    given = values[~np.isnan(values)]
    if len(given) and (given >= LEAST_CONFIDENCE).all() and (given <= 1).all():
        file, score, least = table.name, header.strip(), f"{LEAST_CONFIDENCE:g}"
        if others:
            code, labels_called = "confidence_in_other_labels", [other.strip() for other in others]
            raise InputError.of(
                code, file=file, column=header, score=score, least=least, labels=labels_called
            )
        raise InputError.of(
            "confidence_beside_label", file=file, column=truth, label=truth.strip(), score=score, least=least
        )


def _of_array(table: Table, labels: Labels) -> tuple[Table, list[FoundRecord]]:
    """Give the columns of an (n, K) array the sorted true labels, as scikit-learn has them."""
    headers = table.roles.unlabelled
    if not headers:
        return table, []
    names = labels.trained
    header = headers[0].partition("[")[0]
    if len(names) != len(headers):
        shown, counts = first_of(map(quoted, names), 6), {"columns": len(headers), "labels": len(names)}
        raise InputError.of("unlike_labels", file=table.name, column=header, shown=shown, **counts)
    why = Message("found.sorted_labels", n=len(names), labels=names[:10])
    record = FoundRecord(what="probabilities", value=plain(header), why=why)
    probabilities = {**table.roles.probabilities, **dict(zip(names, headers, strict=True))}
    return replace(table, roles=replace(table.roles, probabilities=probabilities, unlabelled=())), [record]


def scale_of(values: np.ndarray) -> Scale | None:
    """Return the scale that numbers which are no probabilities may be on; None: neither percent nor logarithms.

    Examples
    --------
    >>> scale_of(np.array([3.0, 97])), scale_of(np.array([-0.1, -2.3])), scale_of(np.array([0.2, 0.8]))
    ('percent', 'log', None)
    """
    given = values[~np.isnan(values)]
    if not len(given) or not np.isfinite(given[given > 0]).all():
        return None
    if (given <= 0).all() and (given < 0).any():
        return "log"
    return "percent" if ((given >= 0) & (given <= 100)).all() and (given > 1).any() else None


def _of_one(table: Table, labels: Labels, options: Options) -> tuple[Table, list[WarningRecord]]:
    """Take the one probability of a binary task, or say why a column that is called so is none."""
    roles = table.roles
    headers = [h for h in (roles.one_probability, *roles.further_probabilities) if h is not None]
    if not headers:
        return table, []
    columns = {header: combined(table.read.arrays[header]) for header in headers}
    numbers_of = {header: dictionary_numbers(column) for header, column in columns.items()}
    reasons = {header: _why_not(table, header, numbers_of[header], labels, options) for header in headers}
    fitting = [header for header in headers if reasons[header] is None]
    header = next(iter(fitting), headers[0])
    why = reasons[header]
    if why is not None:
        if why[0] == "outside":
            _refuse_other_scale(table, header, numbers_of[header])
        return table, [_not_taken(table, (header,), *why)] if why[0] else []
    _refuse_two_probabilities(table, fitting)
    positive = positive_of(two_classes(labels.every), options.positive)
    lone = replace(roles, one_probability=None, further_probabilities=(), guessed_probability=header.strip())
    return _taken_by_class(replace(table, roles=lone), {header: positive}), []


def _refuse_two_probabilities(table: Table, headers: Sequence[str]) -> None:
    """Refuse columns that may each be the one probability of a binary task, unless they say the same.

    Raises
    ------
    InputError
        With both.
    """
    arrays = table.read.arrays
    for other in headers[1:]:
        if not say_the_same(arrays[headers[0]], arrays[other]):
            names = {"first": headers[0].strip(), "other": other.strip(), "standard": "p_<label>"}
            raise table.header_fault(other.strip(), "two_columns_for_one", **names)


def _refuse_other_scale(table: Table, header: str, values: np.ndarray) -> None:
    """Refuse a lone probability in percent, or its logarithm; ``p`` alone may be any number beside labels.

    Raises
    ------
    InputError
        With the option that converts it.
    """
    scale = scale_of(values)
    predicted = {"y_pred", "score"} & set(table.roles.columns)
    if scale is not None and (usual_case(header) != "p" or not predicted):
        low, high = (f"{end(values):.6g}" for end in (np.nanmin, np.nanmax))
        refused = partial(InputError.of, "lone_probability_scale", file=table.name, column=header.strip())
        raise refused(header=header.strip(), low=low, high=high, scale=scale)


def _why_not(
    table: Table, header: str, values: np.ndarray, labels: Labels, options: Options
) -> tuple[str, str] | None:
    """Say why a column is not the one probability of a binary task, and which name it should have; None: it is.

    The first of the two is empty where there is nothing to say.
    """
    inside = in_unit_interval(values)
    classes = labels.every
    if table.roles.probabilities or table.roles.unlabelled:
        return ("others" if inside else "", "p_<label>")
    graded = all(is_whole(label) for label in classes) or not all(is_number(label) for label in classes)
    if options.task in ("regression", "outcome", "scores") or not graded or not classes:
        return "", ""
    if not all_numbers(used_only(combined(table.read.arrays[header]))):
        return "", ""
    if len(classes) > 2 or options.task == "multiclass":
        return ("classes" if inside else "", "p_<label>")
    return None if inside else ("outside", "score")


def _look_alikes(table: Table, labels: Labels, options: Options) -> tuple[Table, list[WarningRecord]]:
    """Say which columns of numbers in [0, 1] are probabilities by another name, and take no class from a name alone."""
    if options.task == "regression" or not labels.true:
        return table, []
    roles = table.roles
    predicted, warnings = _unused_labels(table, labels, options)
    warnings += _called_probabilities(table, predicted)
    spelled = {label.casefold(): label for label in labels.every}
    known = {one_spelling([*labels.spelling, label])[label] for label in roles.probabilities}
    of_sas = sas_classes(roles.probabilities, labels.every) if known.isdisjoint(labels.every) else {}
    if of_sas and all(header.strip().startswith("P_") for header in roles.probabilities.values()):
        named = {of_sas[label]: header for label, header in roles.probabilities.items()}
        roles = replace(roles, probabilities=named)
    elif roles.probabilities and known.isdisjoint(labels.every):
        meant = {header: _meant(label, spelled) for label, header in roles.probabilities.items()}
        if all(label is not None for label in meant.values()) and len(set(meant.values())) == len(meant):
            warnings.append(_not_taken(table, tuple(meant), "spelling", _renamed(list(meant.values()))))
            roles = replace(roles, probabilities={}, metadata=(*roles.metadata, *meant))
            table = table.with_arrays({h: keep(table.read.arrays[h], "metadata") for h in meant})
    called = {h: spelled.get(h.strip().casefold()) or _without_decimals(h, spelled) for h in roles.metadata}
    alike = {header: label for header, label in called.items() if label is not None}
    if len(alike) > 1 and len(set(alike.values())) >= min(len(labels.true), len(labels.every)) > 1:
        probable = all(_are_probabilities(combined(table.read.arrays[header])) for header in alike)
        beside = not roles.probabilities and roles.columns.get("y_pred", "").strip() in _BESIDE_CLASSES
        if probable and beside:
            return _taken_by_class(replace(table, roles=roles), alike), warnings
        if probable:
            warnings.append(_not_taken(table, tuple(alike), "named_by_class", _renamed(list(alike.values()))))
    return replace(table, roles=roles), warnings


_CALLED_PREDICTED = re.compile(r"pred|class|label|scored|y_?hat|decision|output|result|answer", re.IGNORECASE)
_CALLED_PROBABLE = re.compile(r"(.*[^a-z])?(prob(a|s|abilit(y|ies))?|phat)([^a-z].*)?", re.IGNORECASE)
_CHANCE = 1e-3
"""Labels in an order that chance gives more often than this do not show that a threshold made them."""


def _unused_labels(table: Table, labels: Labels, options: Options) -> tuple[list[str], list[WarningRecord]]:
    """Find columns of labels that follow the probabilities of a table without y_pred: what the model predicted.

    Returns
    -------
    headers, warnings
        Those that are not called like predictions, which are said.

    Raises
    ------
    InputError
        One is called like a prediction: labels made anew would be others.
    """
    roles = table.roles
    if "y_pred" in roles.columns or options.threshold is not None or len(labels.true) != 2:
        return [], []
    ranking = _ranking(table, labels)
    if ranking is None:
        return [], []
    arrays, truth = table.read.arrays, roles.columns.get("y_true")
    following = [
        header
        for header in roles.metadata
        if _follows(combined(arrays[header]), ranking, labels)
        and (truth is None or not say_the_same(arrays[header], arrays[truth]))
    ]
    called = [header for header in following if _CALLED_PREDICTED.search(header)]
    if called:
        column = called[0].strip()
        raise table.header_fault(column, "labels_not_called_so", label=column)
    return following, [_not_taken(table, (header,), "labels", "y_pred") for header in following]


def _ranking(table: Table, labels: Labels) -> np.ndarray | None:
    """Return what ranks the rows of a binary table: its score, or a probability of either class."""
    roles, arrays = table.roles, table.read.arrays
    header = roles.columns.get("score")
    if header is None:
        spelled = {labels.spelling.get(label, label): name for label, name in roles.probabilities.items()}
        header = next((spelled[label] for label in labels.every if label in spelled), None)
    return None if header is None else floats(combined(arrays[header]))


def _follows(array: pa.Array, ranking: np.ndarray, labels: Labels) -> bool:
    """Say whether a column holds two labels of which a threshold on the ranking gives one, and not by chance."""
    if not pa.types.is_dictionary(array.type) or len(array.dictionary) > MOST_LABELS:
        return False
    array = used_only(array)
    texts = array.dictionary.to_pylist()
    if len(texts) != 2 or {one_spelling([*labels.every, text])[text] for text in texts} - set(labels.every):
        return False
    codes = dictionary_codes(array)
    given = (codes >= 0) & ~np.isnan(ranking)
    sides = [ranking[given & (codes == code)] for code in (0, 1)]
    if not all(map(len, sides)) or len(sides[0]) + len(sides[1]) < len(codes):
        return False
    below, above = sorted(sides, key=lambda side: float(side.min()))
    return bool(below.max() < above.min()) and 2 / math.comb(len(codes), len(below)) < _CHANCE


def _called_probabilities(table: Table, predicted: Sequence[str]) -> list[WarningRecord]:
    """Say which further columns are called like probabilities, and hold such numbers."""
    lone = {table.roles.one_probability, *table.roles.further_probabilities, *predicted}
    called = (h for h in table.roles.metadata if h not in lone and _CALLED_PROBABLE.fullmatch(h.strip()))
    probable = [header for header in called if _are_probabilities(combined(table.read.arrays[header]))]
    return [_not_taken(table, tuple(probable), "called_so", "p_<label>")] if probable else []


_BESIDE_CLASSES = ("predict", "pred")
"""What H2O and caret call the predicted labels beside probabilities that are called like the classes themselves."""


def _taken_by_class(table: Table, classes: Mapping[str, str]) -> Table:
    """Take columns for the probabilities of classes."""
    columns = {header: combined(table.read.arrays[header]) for header in classes}
    numbers = {header: as_numbers(c.dictionary).take(c.indices) for header, c in columns.items()}
    probabilities = {label: header for header, label in classes.items()}
    metadata = tuple(name for name in table.roles.metadata if name not in classes)
    taken = replace(table.roles, probabilities=probabilities, metadata=metadata)
    return replace(table.with_arrays(numbers), roles=taken)


def _without_decimals(header: str, spelled: Mapping[str, str]) -> str | None:
    return spelled.get(str(int(float(header)))) if is_whole(header) else None


def _meant(label: str, spelled: Mapping[str, str]) -> str | None:
    """Return the class that a column names in another spelling: class0, class_0, Cat, 0.0."""
    plain = label.strip().casefold()
    for start in ("", "class", "label", "y"):
        rest = plain.removeprefix(start).lstrip("_-. ") if plain.startswith(start) else ""
        if rest in spelled:
            return spelled[rest]
    return _without_decimals(plain, spelled)


def _like_counts(tables: Sequence[Table], options: Options) -> tuple[WarningRecord, ...]:
    """Say which tables look like counts of one model, though each of their lines is read as one example.

    They have a column ``count`` of whole numbers that no option names, predictions, and no id.
    """
    if "count" in (options.weight, options.cluster, *options.slices):
        return ()
    warned = []
    for table in tables:
        roles = table.roles
        header = next((name for name in roles.metadata if name.strip() == "count"), None)
        if header is None or {"id", "value"} & set(roles.columns):
            continue
        values = dictionary_numbers(combined(table.read.arrays[header]))
        whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
        if len(values) and whole.all() and (values != 1).any():
            warned.append(_not_taken(table, (header,), "counts", "y_pred.<model>"))
    return tuple(warned)


def _renamed(labels: Sequence[str | None]) -> str:
    names = [f"p_{label}" for label in labels[:3]]
    return ", ".join(names) + (" and so on" if len(labels) > 3 else "")


def _are_probabilities(array: pa.Array) -> bool:
    numbers = pa.types.is_dictionary(array.type) and all_numbers(array)
    return numbers and in_unit_interval(dictionary_numbers(array))


def _not_taken(table: Table, headers: tuple[str, ...], why: str, name: str) -> WarningRecord:
    about = tuple(header.strip() for header in headers)
    return warning("look_alike_column", why, about=about, columns=about[:6], file=table.shown_name, name=name)


def _require_prediction(table: Table, doubts: Sequence[WarningRecord]) -> None:
    """Refuse a table whose only prediction is a column that cannot be taken for one."""
    if table.roles.probabilities or {"y_pred", "score", "gold"} & set(table.roles.columns):
        return
    why = " ".join(str(record.text) for record in doubts)
    names = ", ".join(map(repr, list(table.read.names)[:12]))
    problem = f"no usable column among {names}. {why}".rstrip(". ")
    raise table.header_fault(None, "unusable_look_alikes", problem=problem)
