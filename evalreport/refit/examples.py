"""Reading the examples of a plan from a file: ids, features, target, groups and times."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import evalreport.sources.formats  # isort: skip
import evalreport.sources.binary  # noqa: F401  # isort: skip - its formats are listed after those of text
from evalreport.errors import InputError, UsageError
from evalreport.loading.roles import MOST_CLASSES
from evalreport.loading.task import MOST_WHOLE_CLASSES, POSITIVE_PAIRS
from evalreport.predictions.arrays import Arrow, Floats, Indices, Mask, Values
from evalreport.predictions.cells import (
    Kind,
    combined,
    dictionary_codes,
    dictionary_numbers,
    floats,
    used_only,
)
from evalreport.predictions.spelling import in_order, is_number, is_whole, one_spelling
from evalreport.refit.plans import DataSource, Task, keys_of
from evalreport.sources.files import digest, is_file
from evalreport.sources.formats import read_file
from evalreport.sources.reading import Columns, file_format, readable
from evalreport.texts import Message, quoted

if TYPE_CHECKING:
    import pandas as pd

Features: TypeAlias = "Floats | pd.DataFrame"
"""(n, p) float64; a data frame where a column is text."""
Rows = npt.NDArray[np.integer]
"""Row numbers of the examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The classes of a classification, and the class of each example.

    Attributes
    ----------
    classes, values
        The labels as written, in canonical order, and as estimators get them.
    codes
        (n,) position of each example's label in ``classes``.
    positive
        The positive class of a binary task.
    """

    classes: tuple[str, ...]
    values: Values
    codes: Indices
    positive: str | None = None


class Target(NamedTuple):
    """The target as estimators get it, (n,); the task; the labels (None: regression)."""

    target: Values
    task: Task
    labels: Labels | None


def read_target(read: Columns, source: DataSource, name: str) -> tuple[Target, Message]:
    """Return the target of the examples, and the reason for its task.

    Raises
    ------
    InputError
        A target is empty, or not a number in a regression, or there are too few or too many classes.
    UsageError
        The positive class is none of the classes, or the task has none.
    """
    header = header_of(read, source.target)
    array = used_only(read.arrays[header])
    codes = dictionary_codes(array)
    _refuse_where(
        codes < 0,
        read,
        (name, header),
        f"the target is empty ({int((codes < 0).sum())} of {read.rows} rows)",
        expected="the true label or value of every example",
        remedy="fill in the target, or remove these rows",
    )
    labels: list[str] = array.dictionary.to_pylist()
    task, why = _task(labels, source.task)
    if task == "regression":
        values = dictionary_numbers(array)
        wrong = ~np.isfinite(values)
        _refuse_where(
            wrong,
            read,
            (name, header),
            f"{quoted(labels[codes[np.argmax(wrong)]])} is not a finite number",
            expected="a finite number (the task is regression)",
            remedy="correct the value, or set [data] task",
        )
        _refuse_positive(source, task)
        return Target(values, task, None), why
    return _classes(labels, codes, task, source, name), why


def _task(labels: list[str], named: Task | None) -> tuple[Task, Message]:
    if named is not None:
        return named, Message("resample.as_planned")
    count = len(set(one_spelling(labels).values()))
    several: Task = "multiclass" if count > 2 else "binary"
    if not all(map(is_number, labels)):
        return several, Message("resample.text_target", example=min(labels))
    if all(map(is_whole, labels)) and count <= MOST_WHOLE_CLASSES:
        return several, Message("resample.whole_target", n=count)
    return "regression", Message("resample.number_target")


def _classes(
    labels: list[str], codes: npt.NDArray[np.int32], task: Task, source: DataSource, name: str
) -> Target:
    spelling = one_spelling(labels)
    classes = in_order(spelling.values())
    if len(classes) < 2 or len(classes) > MOST_CLASSES or (task == "binary" and len(classes) > 2):
        wanted = "two classes" if task == "binary" else f"2 to {MOST_CLASSES:,} classes"
        few = ", ".join(map(quoted, classes[:3])) + (", ..." if len(classes) > 3 else "")
        raise InputError(
            f"the target holds {len(classes)} class{'es' * (len(classes) > 1)} ({few})",
            file=name,
            column=source.target,
            expected=wanted,
            remedy="check [data] target, or set [data] task",
        )
    if task == "multiclass":
        _refuse_positive(source, task)
    place = np.array([classes.index(spelling[label]) for label in labels], dtype=np.int64)
    whole = all(map(is_whole, classes))
    values = np.array([int(float(label)) for label in classes] if whole else list(classes))
    of_rows = place[codes]
    positive = _positive(classes, source.positive) if task == "binary" else None
    return Target(
        values[of_rows], task, Labels(classes=classes, values=values, codes=of_rows, positive=positive)
    )


def _refuse_positive(source: DataSource, task: Task) -> None:
    if source.positive is not None:
        raise UsageError(f"[data] positive: only a binary task has a positive class, and the task is {task}")


def _positive(classes: tuple[str, ...], named: str | None) -> str:
    """Return the positive class by the rule of ``run``."""
    if named is not None:
        if named not in classes:
            raise UsageError(f"[data] positive {named!r} is none of the classes {', '.join(classes)}")
        return named
    lowered = {label.lower(): label for label in classes}
    pair = next((pair for pair in POSITIVE_PAIRS if set(pair) == set(lowered)), None)
    return classes[-1] if pair is None else lowered[pair[1]]


def guessed_positive(classes: tuple[str, ...]) -> str:
    """Return the class of two that ``run`` takes as positive by default.

    Examples
    --------
    >>> guessed_positive(("No", "Yes")), guessed_positive(("cat", "dog"))
    ('Yes', 'dog')
    """
    return _positive(classes, None)


def header_of(read: Columns, column: str) -> str:
    """Return the header of a column as in the file."""
    return next(header for header in read.names if header.strip() == column)


_MISSING = frozenset(("nan", "NaN", "NAN"))
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The examples to learn from, in the file's order.

    Attributes
    ----------
    name
        The file's name in messages.
    features
        (n, p) float64, nan for empty cells; or a pandas data frame if a column is text.
    target
        (n,) the target that estimators get: float64 (regression), else whole numbers or texts.
    labels
        The classes; None in regression.
    groups, times
        (n,) code of each example's group, and of its time in order.
    written
        Columns to write beside the predictions, as texts.
    sha256
        Of the file's bytes.
    """

    name: str
    ids: tuple[str, ...]
    features: Features
    feature_names: tuple[str, ...]
    target: Values
    task: Task
    labels: Labels | None = None
    groups: Indices | None = None
    times: Indices | None = None
    written: Mapping[str, tuple[str | None, ...]]
    sha256: str
    notes: tuple[Message, ...] = ()

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.ids)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as written; empty in regression."""
        return () if self.labels is None else self.labels.classes

    @property
    def positive(self) -> str | None:
        """The positive class of a binary task; None: another task."""
        return None if self.labels is None else self.labels.positive


def read_examples(source: DataSource, folder: Path) -> Examples:
    """Read the examples that a plan names.

    Parameters
    ----------
    source
        The file and the columns.
    folder
        The folder of relative paths.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, a target is empty, an id is empty or appears twice, or the
        target does not suit the task.
    UsageError
        The positive class is none of the classes, or pandas is needed and missing.
    """
    path = folder / source.file
    name = str(path)
    if not is_file(path) or file_format(path) is None:
        raise InputError(
            "there is no such file" if not is_file(path) else "its format is not read",
            file=name,
            expected=f"a file of examples ({readable()})",
            remedy="correct [data] file; it is relative to the plan's folder",
        )
    read, roles = _read(path, name, source)
    notes = []
    ids = _ids(read, roles.id, name)
    if roles.id is not None and source.id is None:
        notes.append(Message("resample.ids"))
    target, why = read_target(read, source, name)
    notes.append(Message("resample.task", task=target.task, why=why))
    features = _features(read, roles.features, source)
    return Examples(
        name=name,
        ids=ids,
        features=features,
        feature_names=tuple(header.strip() for header in roles.features),
        groups=None if source.group is None else _group_codes(read, source.group, name),
        times=None if source.time is None else _time_codes(read, source.time, name),
        written={
            column: tuple(read.arrays[header_of(read, column)].dictionary_decode().to_pylist())
            for column in dict.fromkeys((source.time, source.group, *source.keep))
            if column is not None
        },
        sha256=digest(path),
        notes=tuple(notes),
        target=target.target,
        task=target.task,
        labels=target.labels,
    )


def rows_of(features: Features, rows: Rows) -> Features:
    """Return a copy of some rows of a matrix or a data frame."""
    return features[rows] if isinstance(features, np.ndarray) else features.iloc[rows]


def same_features(examples: Examples) -> Indices:
    """Return (n,) numbers that are equal for examples with the same features."""
    matrix = examples.features
    if not isinstance(matrix, np.ndarray):
        columns = [np.unique(_comparable(matrix[c]), return_inverse=True)[1] for c in matrix.columns]
        matrix = np.stack(columns, axis=1).astype(np.float64)
    # + 0.0 turns -0.0 into 0.0.
    rows = np.ascontiguousarray(matrix + 0.0)
    packed = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.unique(packed, return_inverse=True)[1].astype(np.int64)


def data_digest(examples: Examples, source: DataSource) -> str:
    """Return a digest of the file's bytes and of the roles of its columns."""
    content = repr((examples.sha256, *(getattr(source, key) for key in keys_of(DataSource) if key != "file")))
    return hashlib.sha256(content.encode()).hexdigest()


def _comparable(column: pd.Series) -> Values:
    values = np.asarray(column)
    return np.array([str(value) for value in values]) if values.dtype == object else values + 0.0


def _read(path: Path, name: str, source: DataSource) -> tuple[Columns, _Roles]:
    """Read the columns in use; a second time as codes those that turn out to be text."""
    found: list[_Roles] = []

    def as_numbers(names: tuple[str, ...]) -> Mapping[str, Kind]:
        roles = _roles(names, source, name)
        found.append(roles)
        # A feature that is also written is read as text.
        kinds: dict[str, Kind] = dict.fromkeys(roles.features, "number")
        kinds |= dict.fromkeys((roles.target, *roles.others), "codes")
        return kinds if roles.id is None else {**kinds, roles.id: "text"}

    read = _whole(read_file(path, name, as_numbers))
    roles = found[-1]
    plain = [header for header in roles.features if header not in roles.others]
    texts = {header for header in plain if np.isnan(_no_number(read.arrays[header])).any()}
    if not texts:
        return read, roles

    def as_codes(_names: tuple[str, ...]) -> Mapping[str, Kind]:
        return dict.fromkeys(sorted(texts), "codes")

    again = _whole(read_file(path, name, as_codes))
    return Columns(read.names, {**read.arrays, **again.arrays}, read.rows, read.locate), roles


def _whole(read: Columns) -> Columns:
    """Combine the chunks of every column."""
    arrays = {header: combined(array) for header, array in read.arrays.items()}
    return Columns(read.names, arrays, read.rows, read.locate)


def _no_number(array: Arrow) -> Floats:
    """Return float64 values, nan for cells that are no number and 0 for empty cells."""
    values = floats(array)
    return np.where(array.is_null().to_numpy(zero_copy_only=False), 0.0, values)


class _Roles(NamedTuple):
    """The headers of the target, the ids, the features, and the other columns in use."""

    target: str
    id: str | None
    features: tuple[str, ...]
    others: tuple[str, ...]


def _roles(names: tuple[str, ...], source: DataSource, name: str) -> _Roles:
    headers = {header.strip(): header for header in names}
    used = [source.target, source.id, source.group, source.time, *source.keep, *source.features]
    for column in used:
        if column is not None and column not in headers:
            raise InputError(
                f"there is no column {column!r}",
                file=name,
                line=1,
                expected=f"one of {', '.join(list(headers)[:20])}{', ...' if len(headers) > 20 else ''}",
                remedy="correct the plan's table [data]",
            )
    identifier = source.id if source.id is not None else "id" if "id" in headers else None
    others = [column for column in (source.group, source.time, *source.keep) if column is not None]
    apart = {source.target, identifier, *others}
    if source.target in {identifier, *others, *source.features}:
        raise UsageError(f"[data] target {source.target!r} has another part as well; it can have one")
    if identifier in source.features:
        raise UsageError(f"[data] features: {identifier!r} names the examples, so it is no feature")
    features = source.features or tuple(column for column in headers if column and column not in apart)
    if not features:
        raise InputError("no column is left to predict from", file=name, remedy="add columns of features")
    return _Roles(
        target=headers[source.target],
        id=None if identifier is None else headers[identifier],
        features=tuple(headers[column] for column in dict.fromkeys(features)),
        others=tuple(headers[column] for column in dict.fromkeys(others)),
    )


def _ids(read: Columns, header: str | None, name: str) -> tuple[str, ...]:
    if header is None:
        return tuple(str(number) for number in range(1, read.rows + 1))
    ids = read.arrays[header].to_pylist()
    seen: dict[str, int] = {}
    for row, value in enumerate(ids):
        if not value or value in seen:
            problem = "the id is empty" if not value else f"the id {quoted(value)} appears twice"
            raise InputError(
                problem,
                file=name,
                line=read.locate(row, None)[0],
                column=header,
                expected="an id of its own for every example",
                remedy="give every example its id, or name another column with [data] id",
            )
        seen[value] = row
    return tuple(ids)


def _group_codes(read: Columns, column: str, name: str) -> Indices:
    codes = dictionary_codes(used_only(read.arrays[header_of(read, column)]))
    _refuse_empty(codes < 0, read, column, name, "the group of every example")
    return codes.astype(np.int64)


def _time_codes(read: Columns, column: str, name: str) -> Indices:
    array = used_only(read.arrays[header_of(read, column)])
    codes = dictionary_codes(array)
    _refuse_empty(codes < 0, read, column, name, "the time of every example")
    texts: list[str] = array.dictionary.to_pylist()
    order: Sequence[str] | Sequence[float] = texts
    if all(map(is_number, texts)):
        order = [float(text) for text in texts]
    elif not all(_DATE.fullmatch(text) for text in texts):
        wrong = next(text for text in texts if not _DATE.fullmatch(text))
        raise InputError(
            f"{quoted(wrong)} is neither a number nor a date",
            file=name,
            column=column,
            expected="numbers, or dates such as 2024-05-31 or 2024-05-31 12:00:00, all of one form",
            remedy="write the times so that they can be put in order",
        )
    return np.unique(order, return_inverse=True)[1].astype(np.int64)[codes]


def _refuse_empty(empty: Mask, read: Columns, column: str, name: str, expected: str) -> None:
    _refuse_where(
        empty,
        read,
        (name, column),
        f"the cell is empty ({int(empty.sum())} of {read.rows} rows)",
        expected=expected,
        remedy="fill it in, or take the column out of the plan",
    )


def _refuse_where(
    wrong: Mask, read: Columns, place: tuple[str, str], problem: str, *, expected: str, remedy: str
) -> None:
    """Raise an error about the first wrong row, if any; ``place`` is the file and the column."""
    if wrong.any():
        line, _ = read.locate(int(np.argmax(wrong)), None)
        file, column = place
        raise InputError(problem, file=file, line=line, column=column, expected=expected, remedy=remedy)


def _features(read: Columns, headers: Sequence[str], source: DataSource) -> Features:
    """Return a matrix if every feature is a number and the plan wants no data frame, else a data frame."""
    import pyarrow as pa

    columns: dict[str, Values] = {}
    for header in headers:
        array = read.arrays[header]
        if pa.types.is_floating(array.type):
            columns[header.strip()] = floats(array)
        elif all(is_number(text) or text in _MISSING for text in array.dictionary.to_pylist()):
            columns[header.strip()] = dictionary_numbers(array)
        else:
            columns[header.strip()] = np.array(array.dictionary_decode().to_pylist(), dtype=object)
    textual = [name for name, values in columns.items() if values.dtype == object]
    if not textual and not source.frame:
        return np.column_stack(list(columns.values()))
    try:
        import pandas as pd
    except ImportError:
        raise UsageError(
            f"the feature {textual[0]!r} is text, which needs pandas: pip install pandas"
            if textual
            else "the plan asks for a data frame, which needs pandas: pip install pandas"
        ) from None
    return pd.DataFrame(columns)
