"""What a table of predictions of any size holds: its headers, its models and its distinct labels, not its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evalreport.errors import InputError, UsageError
from evalreport.loading.roles import MOST_CLASSES, Roles, about_truth, require_usable, understand
from evalreport.loading.task import MOST_SPELLINGS, MOST_WHOLE_CLASSES
from evalreport.options import Options
from evalreport.predictions.cells import as_numbers, floats, keep
from evalreport.predictions.column_names import ANSWERS, IDENTITY_COLUMNS, KEY_COLUMNS
from evalreport.predictions.slicing import read_slicing
from evalreport.predictions.spelling import (
    DOUBTFUL_WORDS,
    IGNORED,
    MISSING_WORDS,
    WRITTEN,
    are_ignored,
    is_number,
    is_whole,
    one_number,
    one_spelling,
)
from evalreport.registry import unknown_name
from evalreport.scale.engines import Frame
from evalreport.sources.reading import MOST_TEXTS, empty_file
from evalreport.texts import say

COUNT, TRUTH, PREDICTION = "count", "y_true", ANSWERS
"""The columns of a table of counts: a prediction's is followed by the model's name."""


class NotLabels(InputError):  # noqa: N818 - it says what they are not
    """What a source holds is no test set of labels, and may well be analysed row by row."""


@dataclass(frozen=True, slots=True)
class Source:
    """One table of predictions, or of true values: what messages call it, its model, and its rows, not yet read.

    ``part``: other tables may hold more rows of the same model.
    """

    name: str
    model: str
    frame: Frame
    is_truth: bool = False
    part: bool = False


_TASKS = (None, "binary", "multiclass")


def unserved(options: Options) -> str | None:
    """Return the reason why joint counts cannot serve the options, naming one; None: they can."""
    if options.task not in _TASKS:
        return say("unserved.task", task=options.task)
    if options.join != "error":
        return say("unserved.examples")
    if options.probabilities is not None or options.encoding is not None or options.attempts_by is not None:
        return say("unserved.readers")
    return None


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source and its headers by their parts, read off its schema."""

    source: Source
    roles: Roles
    schema: nw.Schema

    @property
    def labelled(self) -> bool:
        """Whether it holds labels; where not, they are cut from scores."""
        return "y_pred" in self.roles.columns

    @property
    def graded(self) -> tuple[str, ...]:
        """The headers of scores and probabilities."""
        score = [self.roles.columns["score"]] if "score" in self.roles.columns else []
        lone = [self.roles.one_probability] if self.roles.one_probability is not None else []
        return (*score, *self.roles.probabilities.values(), *lone, *self.roles.unlabelled)


def open_source(source: Source, options: Options) -> OpenedSource:
    """Find the roles of a source's headers, and refuse a source that is no test set of labels.

    Raises
    ------
    InputError
        With what counts need.
    """
    schema = source.frame.collect_schema()
    names = tuple(schema.names())
    roles = understand(names, file=source.name, options=about_truth(options) if source.is_truth else options)
    for standard, others in roles.rivals.items():
        first = roles.columns.get(standard) or roles.probabilities[standard.removeprefix("p_")]
        other, first = others[0].strip(), first.strip()
        raise InputError.of(
            "two_columns_for_one", file=source.name, column=other, other=other, first=first, standard=standard
        )
    if source.is_truth:
        needed: tuple[str, ...] = ("id", "y_true")
    else:
        require_usable(roles, names, source.name)
        needed = ("id",)
        _refuse_other_designs(roles, source.name)
    if roles.nameless is not None:
        # Ids that appear twice are refused when they are counted.
        roles = replace(roles, columns={**roles.columns, "id": roles.nameless}, nameless=None)
    opened_source = OpenedSource(source, roles, schema)
    for name in needed:
        if name not in roles.columns:
            raise NotLabels.of(
                "column_lacking", file=source.name, column=name, quoted_name=repr(name), name=name
            )
    if not source.is_truth and not opened_source.labelled and not opened_source.graded:
        raise without_labels(opened_source)
    return opened_source


def without_labels(one: OpenedSource) -> NotLabels:
    """Return the error of a source without labels and without scores to cut them from."""
    return NotLabels.of("nothing_to_cut", file=one.source.name, column="y_pred")


@dataclass(frozen=True, slots=True)
class Graded:
    """What ranks the examples of a binary source: the expressions of its score and its probability, and their headers.

    ``score`` is None where the probability ranks, ``probability`` where there is none.
    """

    score: nw.Expr | None
    probability: nw.Expr | None
    headers: tuple[str, ...]

    @property
    def ranking(self) -> nw.Expr:
        """What ranks: the score, else the probability."""
        column = self.probability if self.score is None else self.score
        assert column is not None
        return column

    @property
    def cut(self) -> nw.Expr:
        """What labels are cut from: the probability, else the score."""
        column = self.score if self.probability is None else self.probability
        assert column is not None
        return column


def _doubles(one: OpenedSource, header: str) -> nw.Expr:
    """Return a column as doubles; of single precision by its text, as ``predictions.cells.as_written`` does."""
    column = nw.col(header)
    return (column.cast(nw.String) if one.schema[header] == nw.Float32 else column).cast(nw.Float64)


def graded(one: OpenedSource, classes: Sequence[str], positive: str) -> Graded | None:
    """Return what ranks the examples of a source of two classes; None: it gives nothing that does."""
    roles = one.roles
    header = roles.columns.get("score")
    score = None if header is None else _doubles(one, header)
    known = {one_spelling([*classes, label])[label]: own for label, own in roles.probabilities.items()}
    own = known.get(positive, roles.one_probability)
    other = next((h for label, h in known.items() if label in classes and label != positive), None)
    probability = None
    if own is not None:
        probability = _doubles(one, own)
    elif other is not None:
        probability = _complement(_doubles(one, other))
    if score is None and probability is None:
        return None
    used = (header, own, other if known.get(positive) is not None or own is None else None)
    return Graded(score, probability, tuple(h for h in used if h is not None))


def _complement(p: nw.Expr) -> nw.Expr:
    """Return 1 - p as it would be written, as ``predictions.spelling.complement`` does."""
    whole = (p * WRITTEN).round(0)
    return nw.when(whole / WRITTEN == p).then((WRITTEN - whole) / WRITTEN).otherwise(1.0 - p)


def _refuse_other_designs(roles: Roles, name: str) -> None:
    others = (column for column in (*IDENTITY_COLUMNS, *KEY_COLUMNS, "outcome", "value") if column != "time")
    header = next((roles.columns[column] for column in others if column in roles.columns), None)
    if header is not None:
        raise NotLabels.of("other_design", file=name, column=header, columns=repr(header))


def counted_columns(opened: Sequence[OpenedSource], options: Options) -> dict[str, str]:
    """Return the columns that the slices are cut from, that of the clusters and that of the weights: by option.

    Raises
    ------
    UsageError
        A column that is not there, that is called as one of the counts', or that is the weight and something else.
    """
    known = {header.strip() for one in opened for header in one.roles.metadata}
    columns = {part.column: "slice" for text in options.slices for part in read_slicing(text, known)}
    for option, named in (("cluster", options.cluster), ("weight", options.weight)):
        column = (named or "").strip()
        if named is not None and column not in known:
            raise UsageError(f"--{option} {column}: {unknown_name('column', column, sorted(known))}")
        if option == "weight" and column in columns:
            raise UsageError(f"--{columns[column]} {column}: the column is the weight; it cannot be both")
        if named is not None:
            columns[column] = option
    for column, option in columns.items():
        if column == COUNT or column.startswith(PREDICTION):
            raise UsageError(f"--{option} {column}: a table of counts has a column of this name; rename it")
    return dict(sorted(columns.items()))


@dataclass(frozen=True, slots=True)
class LabelledSource:
    """A source with its models and, by column (``TRUTH``, ``PREDICTION``, a slice ...), the codes of its texts."""

    opened: OpenedSource
    models: tuple[str, ...]
    rows: int
    values: dict[str, dict[str, str]]
    """Text, as the engine writes it, to text, as the reader of files does."""

    def relabelled(self, label_of: Callable[[str, str], str | None]) -> LabelledSource:
        """Return the source with other labels, by the column and the label; None: an empty cell."""
        values = dict(self.values)
        for name in {TRUTH, PREDICTION} & values.keys():
            labels = ((own, label_of(name, text)) for own, text in values[name].items())
            values[name] = {own: label for own, label in labels if label is not None}
        return replace(self, values=values)


def headers_of(one: OpenedSource, columns: Iterable[str]) -> dict[str, str]:
    """Return the source's own header of each column that it has."""
    metadata = {header.strip(): header for header in one.roles.metadata}
    headers = {name: metadata[name] for name in columns if name in metadata}
    for name, column in ((TRUTH, "y_true"), (PREDICTION, "y_pred")):
        if column in one.roles.columns and not (one.source.is_truth and name == PREDICTION):
            headers[name] = one.roles.columns[column]
    return headers


def labelled(
    one: OpenedSource, columns: Mapping[str, str], missing: Collection[str] = MISSING_WORDS
) -> LabelledSource:
    """Look at the distinct values of each column: a scan of that column alone.

    Parameters
    ----------
    columns
        What each column is that holds no labels: the slice, the cluster or the weight of an option.
    missing
        Labels that stand for an empty cell.

    Raises
    ------
    InputError
        No row, a column of neither text nor numbers, an invalid weight, a model without a name, or too many labels.
    UsageError
        Too many values of a column.
    """
    name, frame = one.source.name, one.source.frame
    rows = int(collected(frame.select(nw.len().alias("n")))["n"][0].as_py())
    if rows == 0:
        raise empty_file(name)
    values = {
        column: _distinct(one, header, option=columns.get(column))
        for column, header in headers_of(one, columns).items()
    }
    models: tuple[str, ...] = (one.source.model,)
    if "model" in one.roles.columns and not one.source.is_truth:
        header = one.roles.columns["model"]
        named = _distinct(one, header)
        models = tuple(sorted(set(named.values())))
        text = as_text(one, header)
        empty = (
            frame.select(text.alias(header)).filter(nw.col(header).is_null() | (nw.col(header) == "")).head(1)
        )
        if not all(model.strip() for model in models) or collected(empty).num_rows:
            raise InputError.of("model_without_name", file=name, column=header)
        values["model"] = named
    found = LabelledSource(one, () if one.source.is_truth else models, rows, values)
    return found.relabelled(lambda _name, text: None if text.strip() in missing else text)


def without_doubtful(sources: Sequence[LabelledSource], named: Collection[str]) -> list[LabelledSource]:
    """Take ``?``, ``-``, ``missing`` and -100 for empty cells where rows that are read in memory do.

    Parameters
    ----------
    named
        Labels that an option says are labels.
    """
    true, predicted = (
        {text.strip() for one in sources for text in one.values.get(name, {}).values()}
        for name in (TRUTH, PREDICTION)
    )
    doubtful = set(DOUBTFUL_WORDS) if len(true - {*DOUBTFUL_WORDS}) >= 2 else set()
    ignored = {IGNORED} if are_ignored(true - {*DOUBTFUL_WORDS}, predicted) else set()
    gone = {TRUTH: (doubtful | ignored) - set(named), PREDICTION: doubtful - set(named)}
    return [
        one.relabelled(lambda name, text: None if text.strip() in gone[name] else text) for one in sources
    ]


def one_spelling_each(sources: Sequence[LabelledSource]) -> list[LabelledSource]:
    """Spell labels that are the same number, or true and 1, alike in all sources."""
    every = [
        text for one in sources for name in (TRUTH, PREDICTION) for text in one.values.get(name, {}).values()
    ]
    spelling = one_spelling(every)
    return [one.relabelled(lambda _name, text: spelling[text]) for one in sources]


def as_text(one: OpenedSource, header: str) -> nw.Expr:
    """Return a column as text, as the engine writes it.

    Raises
    ------
    InputError
        A column of neither text nor numbers.
    """
    kind, column = one.schema[header], nw.col(header)
    is_id = header == one.roles.columns.get("id")
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Date, *(() if is_id else (nw.Boolean,)))
    if kind in texts or kind.is_integer() or (kind.is_float() and not is_id):
        return column.cast(nw.String)
    expected = "text or whole numbers" if is_id else "text, numbers or true and false"
    raise NotLabels.of("no_text", file=one.source.name, column=header, kind=kind, expected=expected)


def _distinct(one: OpenedSource, header: str, *, option: str | None = None) -> dict[str, str]:
    """Return the texts of a column as the engine writes them, and each as the readers of files do; none is empty.

    ``option`` says what a column is that holds no labels. Equal weights are one text.
    """
    is_label = option is None
    most = MOST_SPELLINGS if is_label else MOST_TEXTS
    texts = one.source.frame.select(as_text(one, header).alias("text"))
    found = (
        texts.group_by("text").agg(nw.len().alias("rows")).head(most + 2)
    )  # one of them may be the empty cell
    array = collected(found)["text"].combine_chunks().cast(pa.string()).drop_null()
    if len(array) > most and is_label:
        raise NotLabels.of(
            "too_many_labels", file=one.source.name, column=header, most=most, most_classes=MOST_CLASSES
        )
    if len(array) > most:
        why = say("unserved.of_weights") if option == "weight" else ""
        raise UsageError(
            f"--{option} {header}: the column has more than {most:,} values, too many to count{why}"
        )
    kind = one.schema[header]
    # Engines write a true and a 1.0 each in its own way.
    typed = array
    if kind == nw.Boolean:
        typed = pa.array([text.capitalize() for text in array.to_pylist()], pa.string())
    elif kind.is_float():
        typed = pa.array([float(text) for text in array.to_pylist()], pa.float64())
    kept = keep(typed, "labels" if is_label else "metadata")
    spelled = kept.to_pylist()
    if kind.is_float():
        spelled = [None if text is None or math.isnan(float(text)) else text for text in spelled]
    given = {own: text for own, text in zip(array.to_pylist(), spelled, strict=True) if text is not None}
    return _as_weights(given, name=one.source.name, header=header) if option == "weight" else given


def _as_weights(texts: dict[str, str], *, name: str, header: str) -> dict[str, str]:
    """Spell equal weights alike, and refuse what a run refuses."""
    numbers = floats(as_numbers(pa.array(texts.values(), pa.string())))
    for text, number in zip(texts.values(), numbers.tolist(), strict=True):
        if not 0 <= number < math.inf:
            raise InputError.of("no_weight_number", file=name, column=header, text=text)
    return {own: repr(number + 0.0) for own, number in zip(texts, numbers.tolist(), strict=True)}


def collected(frame: Frame) -> pa.Table:
    """Collect a frame as an Arrow table."""
    table: pa.Table = frame.collect(backend="pyarrow").to_native()
    return table


def whole_numbers(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    """Return a column of whole numbers as int64."""
    values: npt.NDArray[np.int64] = table[column].cast(pa.int64()).to_numpy()
    return values


def require_classes(labels: set[str], options: Options, file: str) -> None:
    """Refuse labels that are numbers to be predicted, by the rule of a run.

    Raises
    ------
    NotLabels
        More numbers than classes have, or numbers with decimals.
    """
    if options.task is not None or not labels or not all(is_number(label) for label in labels):
        return
    if len(set(map(one_number, labels))) > MOST_WHOLE_CLASSES or not all(is_whole(label) for label in labels):
        most = MOST_WHOLE_CLASSES
        raise NotLabels.of("numbers_to_predict", file=file, column="y_true", most_whole_classes=most)
