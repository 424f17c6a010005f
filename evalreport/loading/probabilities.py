"""Columns of probabilities without their class, columns that look like probabilities, and empty cells.

Which class a probability belongs to follows from the labels, so it is found after all files are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalreport.errors import InputError, UsageError, refuse_all, together
from evalreport.loading.alignment import Alignment, used_ids
from evalreport.loading.columns import (
    all_numbers,
    combined,
    dictionary_numbers,
    in_order,
    is_number,
    is_whole,
    keep,
    one_spelling,
    used_only,
)
from evalreport.loading.outputs import Parsed
from evalreport.loading.rows import Rows, Table, fault, first_of
from evalreport.loading.task import FoundTask, positive_of, two_classes
from evalreport.options import Options
from evalreport.predictions.table import Mask, Values
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message, quoted

if TYPE_CHECKING:
    import pyarrow as pa


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


@dataclass(frozen=True, slots=True)
class Named:
    """Tables whose probabilities name their classes, and what is said of columns that were taken or not."""

    tables: list[Table]
    found: tuple[FoundRecord, ...]
    warnings: tuple[WarningRecord, ...]


def name_probabilities(tables: Sequence[Table], truth: Table | None, options: Options) -> Named:
    """Give the probabilities that name no class the class that they are about.

    Parameters
    ----------
    tables, truth
        What was read, and the true values where they stand apart.

    Raises
    ------
    InputError
        Where an array of probabilities has more or fewer columns than there are true labels, or a table has no other
        prediction than a column that cannot be taken for one.
    """
    like_counts = _like_counts(tables, options)
    if any({"outcome", "value"} & set(table.roles.columns) for table in tables):
        return Named(list(tables), (), like_counts)
    every = [*tables, *([truth] if truth is not None else [])]
    labels = _labels(every) if any(_asks_for_labels(table, every) for table in tables) else NO_LABELS
    errors: list[InputError] = []
    named: list[Table] = []
    found: list[FoundRecord] = []
    warnings: list[WarningRecord] = []
    for table in tables:
        with together(errors):
            own, said = _of_array(table, labels)
            own, odd = _of_one(own, labels, options)
            own, look = _look_alikes(own, labels, options)
            _require_prediction(own, (*odd, *look))
            named.append(own)
            found += said
            warnings += (*odd, *look)
    refuse_all(errors)
    guesses = _guesses(tables, named)
    found += [FoundRecord(what="probabilities", value=w.about[0], why=Message("found.lone")) for w in guesses]
    return Named(named, tuple(dict.fromkeys(found)), (*like_counts, *guesses, *warnings))


def _guesses(read: Sequence[Table], named: Sequence[Table]) -> list[WarningRecord]:
    """Say once for each header and class which columns were taken as the one probability of a binary task."""
    taken: dict[tuple[str, str], list[str]] = {}
    for before, after in zip(read, named, strict=True):
        if before.roles.lone is not None and after.roles.lone is None:
            header = before.roles.lone
            label = next(label for label, own in after.roles.probabilities.items() if own == header)
            taken.setdefault((header.strip(), label), []).append(after.told)
    return [
        warning(
            "guessed_probability",
            about=(header,),
            column=header,
            label=label,
            files=tuple(files[:5]),
            n=len(files),
        )
        for (header, label), files in taken.items()
    ]


MOST_LABELS = 10_000
"""Of more distinct labels no column is named after one: they are numbers, or more classes than may be."""


def _asks_for_labels(table: Table, tables: Sequence[Table]) -> bool:
    """Say whether a table has columns that are named by the labels, which takes a look at each of them."""
    roles = table.roles
    if roles.unlabelled or roles.probabilities or roles.lone is not None:
        return True
    return bool(roles.metadata) and sum(len(labels) for _, labels in _distinct_labels(tables)) <= MOST_LABELS


def _distinct_labels(tables: Sequence[Table]) -> Iterator[tuple[str, pa.Array]]:
    """Yield the distinct labels of each table, true ones and predictions, with what they are."""
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


def _of_array(table: Table, labels: Labels) -> tuple[Table, list[FoundRecord]]:
    """Give the columns of an (n, K) array the sorted true labels, as scikit-learn has them."""
    headers = table.roles.unlabelled
    if not headers:
        return table, []
    names = labels.trained
    header = headers[0].partition("[")[0]
    if len(names) != len(headers):
        shown = first_of(map(quoted, names), 6)
        raise InputError(
            f"there are {len(headers)} columns of probabilities, but {len(names)} true labels ({shown})",
            file=table.name,
            column=header,
            expected="one column for each label, in sorted order",
            remedy="name their classes: classes=model.classes_ in Python, an array classes in an npz file",
        )
    said = FoundRecord(
        what="probabilities",
        value=header,
        why=Message("found.sorted_labels", n=len(names), labels=names[:10]),
    )
    probabilities = {**table.roles.probabilities, **dict(zip(names, headers, strict=True))}
    return replace(table, roles=replace(table.roles, probabilities=probabilities, unlabelled=())), [said]


def _of_one(table: Table, labels: Labels, options: Options) -> tuple[Table, list[WarningRecord]]:
    """Take the one probability of a binary task, or say why a column that is called so is none."""
    header = table.roles.lone
    if header is None:
        return table, []
    values = dictionary_numbers(combined(table.read.arrays[header]))
    why = _why_not(table, header, values, labels, options)
    if why is not None:
        return table, [_not_taken(table, (header,), *why)] if why[0] else []
    classes = two_classes(labels.every)
    positive = positive_of(classes, options.positive)
    import pyarrow as pa

    numbers = pa.array(values, pa.float64(), from_pandas=True)
    roles = table.roles
    taken = replace(
        roles,
        probabilities={positive: header},
        metadata=tuple(name for name in roles.metadata if name != header),
        lone=None,
    )
    read = replace(table.read, arrays={**table.read.arrays, header: numbers})
    return replace(table, roles=taken, read=read), []


def _why_not(
    table: Table, header: str, values: np.ndarray, labels: Labels, options: Options
) -> tuple[str, str] | None:
    """Say why a column is not the one probability of a binary task, and which name it should have; None: it is.

    The first of the two is empty where there is nothing to say.
    """
    inside = _in_unit_interval(values)
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
    spelled = {label.casefold(): label for label in labels.every}
    warnings: list[WarningRecord] = []
    known = {one_spelling([*labels.spelling, label])[label] for label in roles.probabilities}
    if roles.probabilities and known.isdisjoint(labels.every):
        meant = {header: _meant(label, spelled) for label, header in roles.probabilities.items()}
        if all(label is not None for label in meant.values()) and len(set(meant.values())) == len(meant):
            warnings.append(_not_taken(table, tuple(meant), "spelling", _renamed(list(meant.values()))))
            roles = replace(roles, probabilities={}, metadata=(*roles.metadata, *meant))
            read = {h: keep(a, "metadata") if h in meant else a for h, a in table.read.arrays.items()}
            table = replace(table, read=replace(table.read, arrays=read))
    called = {h: spelled.get(h.strip().casefold()) or _without_decimals(h, spelled) for h in roles.metadata}
    alike = {header: label for header, label in called.items() if label is not None}
    if len(alike) > 1 and len(set(alike.values())) >= min(len(labels.true), len(labels.every)) > 1:
        arrays = table.read.arrays
        if all(_are_probabilities(combined(arrays[header])) for header in alike):
            warnings.append(_not_taken(table, tuple(alike), "named_by_class", _renamed(list(alike.values()))))
    return replace(table, roles=roles), warnings


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
    if "count" in (options.weight, options.cluster, options.same_input, *options.slices):
        return ()
    found = []
    for table in tables:
        roles = table.roles
        header = next((name for name in roles.metadata if name.strip() == "count"), None)
        if header is None or {"id", "value"} & set(roles.columns):
            continue
        values = dictionary_numbers(combined(table.read.arrays[header]))
        whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
        if len(values) and whole.all() and (values != 1).any():
            found.append(_not_taken(table, (header,), "counts", "y_pred.<model>"))
    return tuple(found)


def _renamed(labels: Sequence[str | None]) -> str:
    names = [f"p_{label}" for label in labels[:3]]
    return ", ".join(names) + (" and so on" if len(labels) > 3 else "")


def _are_probabilities(array: pa.Array) -> bool:
    import pyarrow as pa

    numbers = pa.types.is_dictionary(array.type) and all_numbers(array)
    return numbers and _in_unit_interval(dictionary_numbers(array))


def _in_unit_interval(values: np.ndarray) -> bool:
    """Say whether there are numbers, and all of them lie in [0, 1]."""
    given = values[~np.isnan(values)]
    return len(given) > 0 and bool(((given >= 0) & (given <= 1)).all())


def _not_taken(table: Table, headers: tuple[str, ...], why: str, name: str) -> WarningRecord:
    about = tuple(header.strip() for header in headers)
    return warning("look_alike_column", why, about=about, columns=about[:6], file=table.told, name=name)


def _require_prediction(table: Table, said: Sequence[WarningRecord]) -> None:
    """Refuse a table whose only prediction is a column that cannot be taken for one."""
    if table.roles.probabilities or {"y_pred", "score", "gold"} & set(table.roles.columns):
        return
    why = " ".join(str(record.text) for record in said)
    raise InputError(
        f"no usable column among {', '.join(map(repr, list(table.read.names)[:12]))}. {why}".rstrip(". "),
        file=table.name,
        line=None if table.name.startswith("<") else 1,
        expected="y_pred, score, p_<label>, outcome or value",
        remedy="name the column that holds the predictions y_pred (or score, p_<label>, outcome, value)",
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """The cells that are left (what is to be said stands among their warnings), the models' columns, the true values.

    ``outside`` is 1 where missing labels are counted as wrong, by a code one beyond the classes; else 0.
    """

    alignment: Alignment
    parsed: Parsed
    y_true: Values | None
    outside: int = 0


@dataclass(frozen=True, slots=True)
class _Gap:
    """The cells (C,) in which a model's column is empty, though it is given in others."""

    model: int
    column: str
    cells: Mask


def settle_missing(
    rows: Rows, alignment: Alignment, task: FoundTask, parsed: Parsed, y_true: Values | None, options: Options
) -> Settled:
    """Do with empty cells what ``missing`` says.

    Parameters
    ----------
    y_true
        (C,) the true values, with gaps (-1 or nan); None: the task has none.
    options
        ``missing``: refuse; drop (the example is left out for every model, also one without a true value); wrong (a
        0/1 outcome becomes 0, a label one outside all classes).

    Raises
    ------
    InputError
        By ``refuse``: each model's first gap, with how many there are.
    UsageError
        By ``wrong``, where an empty cell cannot be counted as wrong.
    """
    gaps = list(_gaps(alignment, parsed))
    absent = np.zeros(0, dtype=np.bool_) if y_true is None else _empty(y_true)
    if options.missing == "refuse" or not (gaps or absent.any()):
        errors: list[InputError] = []
        for gap in gaps:
            with together(errors):
                raise _refused(rows, alignment, gap, task)
        with together(errors):
            _refuse_absent(rows, alignment, absent)
        refuse_all(errors)
        return Settled(alignment, parsed, y_true)
    if options.missing == "wrong":
        _refuse_absent(rows, alignment, absent)
        return _counted_as_wrong(rows, alignment, task, parsed, y_true, gaps)
    return _left_out(rows, alignment, parsed, y_true, gaps, absent)


def _empty(values: Values) -> Mask:
    return np.asarray(values < 0 if values.dtype.kind == "i" else np.isnan(values), dtype=np.bool_)


def _gaps(alignment: Alignment, parsed: Parsed) -> Iterator[_Gap]:
    columns: dict[str, Values | None] = {
        "y_pred": parsed.y_pred,
        "score": parsed.score,
        "outcome": parsed.outcome,
    }
    columns |= {f"p_{label}": values for label, values in parsed.proba.items()}
    for column, values in columns.items():
        if values is None:
            continue
        empty = _empty(values)
        if not empty.any():
            continue
        for model, index in enumerate(alignment.rows):
            own = empty[index] & (index >= 0)
            count = int(own.sum())
            if 0 < count < int((index >= 0).sum()):
                yield _Gap(model, column, own)


def _refused(rows: Rows, alignment: Alignment, gap: _Gap, task: FoundTask) -> InputError:
    hits = np.sort(alignment.rows[gap.model][gap.cells])
    # No number and no score is just wrong: what is refused next is not recommended.
    may_be_wrong = gap.column == "outcome" or (gap.column == "y_pred" and task.task != "regression")
    column = "value" if gap.column == "outcome" and "outcome" not in rows.columns else gap.column
    return fault(
        rows,
        int(hits[0]),
        column,
        f"the cell is empty, though the model {quoted(rows.models[gap.model])} gives this column in other rows",
        expected="a value in every row of the model, or in none",
        remedy="fill in the missing predictions, or leave these examples out for every model with --missing drop"
        " (missing='drop' in Python)"
        + (", or count them as wrong with --missing wrong" if may_be_wrong else ""),
        count=len(hits),
    )


def _refuse_absent(rows: Rows, alignment: Alignment, absent: Mask) -> None:
    if absent.any():
        row = int(alignment.rows.max(axis=0)[absent].min())
        raise fault(
            rows,
            row,
            "y_true",
            f"the id {rows.quoted_id(row)} has no true value"
            if rows.times is None
            else "there is no true value",
            expected="a true value for every example, in the prediction files or in the file of true values",
            remedy="add it, or leave the example out for every model with --missing drop",
            count=int(absent.sum()),
        )


def _left_out(
    rows: Rows, alignment: Alignment, parsed: Parsed, y_true: Values | None, gaps: list[_Gap], absent: Mask
) -> Settled:
    """Leave whole examples out, in whichever fold or replicate the gap is."""
    any_row = alignment.rows.max(axis=0)
    of_cell = alignment.group[any_row]
    lost = absent if len(absent) else np.zeros(len(of_cell), dtype=np.bool_)
    for gap in gaps:
        lost = lost | gap.cells
    kept = ~np.isin(of_cell, of_cell[lost])
    if not kept.any():
        raise UsageError("--missing drop: every example lacks a prediction of some model; none would be left")
    ids, example = used_ids(alignment.ids, alignment.example[kept])
    said = warning(
        "missing_left_out",
        about=_models(rows, gaps),
        n=len(np.unique(of_cell[~kept])) if rows.times is None else _number(rows, alignment, ~kept),
        total=len(np.unique(of_cell)) if rows.times is None else _number(rows, alignment, kept | ~kept),
        why=_counts(rows, alignment, gaps, absent),
    )
    left = replace(alignment, ids=ids, example=example, rows=alignment.rows[:, kept])
    left = replace(left, warnings=(*left.warnings, said))
    return Settled(left, parsed, None if y_true is None else y_true[kept])


def _models(rows: Rows, gaps: list[_Gap]) -> tuple[str, ...]:
    return tuple(rows.models[model] for model in sorted({gap.model for gap in gaps}))


def _counts(rows: Rows, alignment: Alignment, gaps: list[_Gap], absent: Mask) -> tuple[str, ...]:
    """Say how many cells are empty, by model and column."""
    said = [f"{rows.models[g.model]}: {g.column} {_number(rows, alignment, g.cells)}" for g in gaps]
    return (*said, *([f"y_true {_number(rows, alignment, absent)}"] if absent.any() else []))


def _number(rows: Rows, alignment: Alignment, cells: Mask) -> int:
    """Count some cells (C,); those of a table of counts as often as they stand for an example."""
    return int(cells.sum() if rows.times is None else rows.times[alignment.rows[0][cells]].sum())


def _counted_as_wrong(
    rows: Rows,
    alignment: Alignment,
    task: FoundTask,
    parsed: Parsed,
    y_true: Values | None,
    gaps: list[_Gap],
) -> Settled:
    def filled(values: Values, wrong: float, column: str) -> Values:
        values = values.copy()
        for gap in gaps:
            if gap.column == column:
                values[alignment.rows[gap.model][gap.cells]] = wrong
        return values

    counts = {rows.models[gap.model]: _number(rows, alignment, gap.cells) for gap in gaps}
    said = warning(
        "missing_is_wrong",
        about=_models(rows, gaps),
        n=sum(counts.values()),
        why=tuple(f"{model}: {count}" for model, count in counts.items()),
    )
    told = replace(alignment, warnings=(*alignment.warnings, said))
    if task.task == "outcome":
        assert parsed.outcome is not None
        given = parsed.outcome[~np.isnan(parsed.outcome)]
        if not np.isin(given, (0.0, 1.0)).all():
            raise UsageError(
                "--missing wrong: the outcomes are no 0 and 1, so none of them is wrong; pass --missing drop"
            )
        return Settled(told, replace(parsed, outcome=filled(parsed.outcome, 0.0, "outcome")), y_true)
    others = sorted({gap.column for gap in gaps} - {"y_pred"})
    others += [] if others else _graded(alignment, parsed, {gap.model for gap in gaps})
    if not task.classes or others:
        why = f"a model with gaps gives the column {others[0]!r}" if others else f"the task is {task.task}"
        raise UsageError(
            f"--missing wrong: {why}, where no number would be just wrong; pass --missing drop, or give labels alone"
        )
    assert parsed.y_pred is not None
    labelled = replace(parsed, y_pred=filled(parsed.y_pred, len(task.classes), "y_pred"))
    return Settled(told, labelled, y_true, outside=1)


def _graded(alignment: Alignment, parsed: Parsed, models: set[int]) -> list[str]:
    """Name the columns of probabilities that one of the models gives."""
    return [
        f"p_{label}"
        for label, values in parsed.proba.items()
        if any(not _empty(values[alignment.rows[model]]).all() for model in models)
    ]
