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
from evalreport.loading.task import MOST_WHOLE_CLASSES, positive_of
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
from evalreport.refit.plans import DataSource, Task, as_table
from evalreport.sources.files import digest, is_file
from evalreport.sources.formats import read_file
from evalreport.sources.reading import Columns, file_format, readable
from evalreport.texts import Message, quoted, say

if TYPE_CHECKING:
    import pandas as pd

Features: TypeAlias = "Floats | pd.DataFrame"
"""(n, p) float64; a data frame where a column is text."""
Rows = npt.NDArray[np.integer]
"""Row numbers of the examples."""
_MISSING = frozenset(("nan", "NaN", "NAN"))
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The examples to learn from, in the file's order.

    Attributes
    ----------
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
    digest
        Of the file's bytes and of the roles of its columns.
    """

    ids: tuple[str, ...]
    features: Features
    target: Values
    task: Task
    labels: Labels | None
    groups: Indices | None
    times: Indices | None
    written: Mapping[str, tuple[str | None, ...]]
    sha256: str
    digest: str
    notes: tuple[Message, ...]

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


class _File(NamedTuple):
    """A file that was read: its name in messages, its rows, and its columns by their headers without blanks."""

    name: str
    read: Columns
    columns: Mapping[str, Arrow]

    def column(self, name: str) -> Arrow:
        """Return a column of codes without unused entries."""
        return used_only(self.columns[name])

    def codes(self, name: str, problem: str, expected: str) -> Indices:
        """Return the codes of a column without empty cells."""
        codes = dictionary_codes(self.column(name))
        problem = f"{problem} is empty ({int((codes < 0).sum())} of {self.read.rows} rows)"
        self.refuse(codes < 0, name, problem, expected, say("plan_data.fill_in"))
        return codes.astype(np.int64)

    def refuse(self, wrong: Mask, name: str, problem: str, expected: str, remedy: str) -> None:
        """Raise an error about the first wrong row, if any."""
        if wrong.any():
            line, _ = self.read.locate(int(np.argmax(wrong)), None)
            raise InputError(
                problem, file=self.name, line=line, column=name, expected=expected, remedy=remedy
            )


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
    if not is_file(path) or file_format(path) is None:
        raise InputError(
            "its format is not read" if is_file(path) else "there is no such file",
            file=str(path),
            expected=f"a file of examples ({readable()})",
            remedy="correct [data] file; it is relative to the plan's folder",
        )
    file, roles = _read(path, source)
    target, task, labels, why = _target(file, source)
    notes = [Message("resample.ids")] if roles.id is not None and source.id is None else []
    sha256 = digest(path)
    others = {name: content for name, content in as_table(source).items() if name != "file"}
    written = dict.fromkeys(name for name in (source.time, source.group, *source.keep) if name is not None)
    group, time = source.group, source.time
    return Examples(
        ids=_ids(file, roles.id),
        features=_features(file, roles.features, source),
        target=target,
        task=task,
        labels=labels,
        groups=None if group is None else file.codes(group, "the cell", say("plan_data.groups")),
        times=None if time is None else _times(file, time),
        written={name: tuple(file.column(name).dictionary_decode().to_pylist()) for name in written},
        sha256=sha256,
        digest=hashlib.sha256(repr((sha256, others)).encode()).hexdigest(),
        notes=(*notes, Message("resample.task", task=task, why=why)),
    )


class _Roles(NamedTuple):
    """The columns of ids and features, and the other columns in use."""

    id: str | None
    features: tuple[str, ...]
    others: tuple[str, ...]


def _roles(headers: Sequence[str], source: DataSource, name: str) -> _Roles:
    written = [name for name in (source.group, source.time, *source.keep) if name is not None]
    for column in (source.target, source.id, *written, *source.features):
        if column is not None and column not in headers:
            raise InputError(
                f"there is no column {column!r}",
                file=name,
                line=1,
                expected=f"one of {', '.join(headers[:20])}{', ...' if len(headers) > 20 else ''}",
                remedy="correct the plan's table [data]",
            )
    identifier = source.id if source.id is not None else "id" if "id" in headers else None
    if source.target in {identifier, *written, *source.features}:
        raise UsageError(f"[data] target {source.target!r} has another part as well; it can have one")
    if identifier in source.features:
        raise UsageError(f"[data] features: {identifier!r} names the examples, so it is no feature")
    apart = {"", source.target, identifier, *written}
    features = source.features or tuple(column for column in headers if column not in apart)
    if not features:
        raise InputError("no column is left to predict from", file=name, remedy="add columns of features")
    return _Roles(identifier, tuple(dict.fromkeys(features)), (source.target, *dict.fromkeys(written)))


def _read(path: Path, source: DataSource) -> tuple[_File, _Roles]:
    """Read the columns in use; a second time as codes those that turn out to be text."""

    def kinds_of(names: tuple[str, ...]) -> Mapping[str, Kind]:
        headers = {header.strip(): header for header in names}
        roles = _roles(list(headers), source, str(path))
        # A feature that is also written is read as text.
        kinds: dict[str, Kind] = dict.fromkeys((headers[name] for name in roles.features), "number")
        kinds |= dict.fromkeys((headers[name] for name in roles.others), "codes")
        return kinds if roles.id is None else {**kinds, headers[roles.id]: "text"}

    read = read_file(path, str(path), kinds_of)
    arrays = {header: combined(array) for header, array in read.arrays.items()}
    kinds = kinds_of(read.names)
    texts = [header for header, kind in kinds.items() if kind == "number" and _holds_text(arrays[header])]
    if texts:
        again = read_file(path, str(path), lambda _names: dict.fromkeys(sorted(texts), "codes"))
        arrays |= {header: combined(array) for header, array in again.arrays.items()}
    columns = {header.strip(): array for header, array in arrays.items()}
    return _File(str(path), read, columns), _roles([name.strip() for name in read.names], source, str(path))


def _holds_text(array: Arrow) -> bool:
    """Whether a cell is neither a number nor empty."""
    return bool((np.isnan(floats(array)) & ~array.is_null().to_numpy(zero_copy_only=False)).any())


def _ids(file: _File, name: str | None) -> tuple[str, ...]:
    if name is None:
        return tuple(str(number) for number in range(1, file.read.rows + 1))
    ids = tuple(file.columns[name].to_pylist())
    first: dict[str, int] = {}
    bad = [not value or first.setdefault(value, row) != row for row, value in enumerate(ids)]
    example = next((value for value, wrong in zip(ids, bad, strict=True) if wrong), None)
    problem = say("plan_data.id_twice", id=quoted(example)) if example else say("plan_data.id_empty")
    file.refuse(np.array(bad), name, problem, say("plan_data.ids"), say("plan_data.give_ids"))
    return ids


def _target(file: _File, source: DataSource) -> tuple[Values, Task, Labels | None, Message]:
    """Return the target of the examples, the task, the labels (None: regression), and the reason for the task."""
    codes = file.codes(source.target, "the target", say("plan_data.targets"))
    array = file.column(source.target)
    texts: list[str] = array.dictionary.to_pylist()
    task, why = _task(texts, source.task)
    if source.positive is not None and task != "binary":
        raise UsageError(f"[data] positive: only a binary task has a positive class, and the task is {task}")
    if task == "regression":
        values = dictionary_numbers(array)
        wrong = ~np.isfinite(values)
        problem = say("plan_data.not_finite", value=quoted(texts[codes[np.argmax(wrong)]]))
        file.refuse(wrong, source.target, problem, say("plan_data.finite"), say("plan_data.correct"))
        return values, task, None, why
    spelling = one_spelling(texts)
    classes = in_order(spelling.values())
    if not 2 <= len(classes) <= (2 if task == "binary" else MOST_CLASSES):
        few = ", ".join(map(quoted, classes[:3])) + (", ..." if len(classes) > 3 else "")
        raise InputError(
            f"the target holds {len(classes)} class{'es' * (len(classes) > 1)} ({few})",
            file=file.name,
            column=source.target,
            expected="two classes" if task == "binary" else f"2 to {MOST_CLASSES:,} classes",
            remedy="check [data] target, or set [data] task",
        )
    if source.positive is not None and source.positive not in classes:
        raise UsageError(f"[data] positive {source.positive!r} is none of the classes {', '.join(classes)}")
    place = np.array([classes.index(spelling[text]) for text in texts])[codes]
    values = np.array([int(float(label)) for label in classes] if all(map(is_whole, classes)) else classes)
    positive = (source.positive or positive_of(classes, None)) if task == "binary" else None
    return values[place], task, Labels(classes=classes, values=values, codes=place, positive=positive), why


def _task(texts: list[str], named: Task | None) -> tuple[Task, Message]:
    if named is not None:
        return named, Message("resample.as_planned")
    count = len(set(one_spelling(texts).values()))
    several: Task = "multiclass" if count > 2 else "binary"
    if not all(map(is_number, texts)):
        return several, Message("resample.text_target", example=min(texts))
    if all(map(is_whole, texts)) and count <= MOST_WHOLE_CLASSES:
        return several, Message("resample.whole_target", n=count)
    return "regression", Message("resample.number_target")


def _times(file: _File, name: str) -> Indices:
    codes = file.codes(name, "the cell", say("plan_data.times"))
    texts: list[str] = file.column(name).dictionary.to_pylist()
    numeric = all(map(is_number, texts))
    wrong = next((text for text in texts if not numeric and not _DATE.fullmatch(text)), None)
    if wrong is not None:
        raise InputError(
            f"{quoted(wrong)} is neither a number nor a date",
            file=file.name,
            column=name,
            expected="numbers, or dates such as 2024-05-31 or 2024-05-31 12:00:00, all of one form",
            remedy="write the times so that they can be put in order",
        )
    order = list(map(float, texts)) if numeric else texts
    return np.unique(order, return_inverse=True)[1].astype(np.int64)[codes]


def _features(file: _File, names: Sequence[str], source: DataSource) -> Features:
    """Return a matrix if every feature is a number and the plan wants no data frame, else a data frame."""
    import pyarrow as pa

    columns: dict[str, Values] = {}
    for name in names:
        array = file.columns[name]
        if pa.types.is_floating(array.type):
            columns[name] = floats(array)
        elif all(is_number(text) or text in _MISSING for text in array.dictionary.to_pylist()):
            columns[name] = dictionary_numbers(array)
        else:
            columns[name] = np.array(array.dictionary_decode().to_pylist(), dtype=object)
    textual = [name for name, values in columns.items() if values.dtype == object]
    if not textual and not source.frame:
        return np.column_stack(list(columns.values()))
    try:
        import pandas as pd
    except ImportError:
        reason = f"the feature {textual[0]!r} is text" if textual else "the plan asks for a data frame"
        raise UsageError(f"{reason}, which needs pandas: pip install pandas") from None
    return pd.DataFrame(columns)


def rows_of(features: Features, rows: Rows) -> Features:
    """Return a copy of some rows of a matrix or a data frame."""
    return features[rows] if isinstance(features, np.ndarray) else features.iloc[rows]


def same_features(examples: Examples) -> Indices:
    """Return (n,) numbers that are equal for examples with the same features."""
    matrix = examples.features
    if not isinstance(matrix, np.ndarray):
        columns = [np.unique(_comparable(matrix[name]), return_inverse=True)[1] for name in matrix.columns]
        matrix = np.column_stack(columns).astype(np.float64)
    # + 0.0 turns -0.0 into 0.0; as bytes an empty cell equals another one.
    rows = np.ascontiguousarray(matrix + 0.0)
    packed = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.unique(packed, return_inverse=True)[1].astype(np.int64)


def _comparable(column: pd.Series) -> Values:
    values = np.asarray(column)
    return values.astype(str) if values.dtype == object else values + 0.0
