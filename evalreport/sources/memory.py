"""Predictions in memory: data frames, arrays and mappings, aligned by their index as pandas does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.errors import InputError, refuse_all, together
from evalreport.predictions.arrays import Indices
from evalreport.predictions.column_names import (
    LONE_PROBABILITIES,
    PROBABILITY_PREFIXES,
    are_counts,
    spellings,
    usual_case,
)
from evalreport.sources.binary import read_arrays
from evalreport.sources.frames import (
    ID_NAMES,
    arrow_column,
    arrow_table,
    dimensions,
    index_texts,
    is_frame,
    is_labelled,
    unreadable,
    with_named_probabilities,
)
from evalreport.sources.reading import Choose, Columns, Source, empty_file

if TYPE_CHECKING:
    import pandas as pd


_TRUTH_NAMES = frozenset(spellings("y_true"))


MODEL = "model"


@dataclass(frozen=True, slots=True)
class _Part:
    """One source in memory.

    Attributes
    ----------
    name, model
        What messages call it, and the model whose predictions it holds where no column says so.
    columns
        Arrays by header; one of two dimensions holds probabilities.
    index
        The labels of its rows as text; None where rows are known by their position alone.
    labelled
        Whether the index says more than the position.
    """

    name: str
    model: str
    columns: Mapping[str, object]
    index: pa.Array | None = None
    labelled: bool = False

    @property
    def has_id(self) -> bool:
        """Whether a column names the rows, or they are counts, which need no ids."""
        named = map(usual_case, self.columns)
        return not ID_NAMES.isdisjoint(named) or are_counts(self.columns)


def memory_sources(
    source: object, truth: object, *, classes: Sequence[object] | None, named: Collection[str], wide: bool
) -> tuple[list[Source], Source | None]:
    """Take predictions, and true values where they are given, from memory.

    Parameters
    ----------
    source
        A data frame in long format; a mapping of model name to data frame, to columns, to its y_pred or to its
        (n, K) probabilities; or a mapping of column name to array.
    truth
        An array, a mapping of id to value, a mapping of columns or a data frame; None: the source holds them.
    classes
        The labels of the columns of (n, K) probabilities.
    named
        Columns of predictions that options name.
    wide
        Whether a mapping is one of columns, each of which holds a model.

    Returns
    -------
    sources, truth
        Rows have ids where an index says more than their position: labels are then matched, and what has no index is
        taken in the order of the index of the true values.

    Raises
    ------
    InputError
        Where the source is none of these, or labels do not allow an alignment.
    """
    errors: list[InputError] = []
    parts: list[_Part] = []
    for name, model, value in _divided(source, named, wide=wide):
        with together(errors):
            parts.append(_part(value, name, model))
    apart = None
    if truth is not None:
        with together(errors):
            apart = _truth_part(truth)
    refuse_all(errors)
    parts, apart = _with_ids(parts, apart)
    return [_source(part, classes) for part in parts], None if apart is None else _source(apart, None)


def truth_source(truth: object) -> Source:
    """Take true values from memory for predictions in files: by id, by the labels of an index, or by position.

    Raises
    ------
    InputError
        As ``memory_sources``.
    """
    part = _truth_part(truth)
    if part.labelled and not part.has_id:
        part = replace(part, columns={**part.columns, "id": part.index})
    return _source(part, None)


def _divided(source: object, named: Collection[str], *, wide: bool) -> Iterator[tuple[str, str, object]]:
    """Yield each source with its name in messages and its model."""
    if is_frame(source):
        yield "<data frame>", MODEL, source
        return
    if not isinstance(source, Mapping):
        _refuse_estimator(source, MODEL)
        raise InputError.of("unknown_source", name=repr(type(source).__name__))
    if not source:
        raise empty_file("<memory>")
    by_name = {str(name): value for name, value in source.items()}
    for name, value in (("data", source), *by_name.items()):
        _refuse_splits(value, name)
    if wide:
        yield "<memory>", MODEL, by_name
        return
    if all(isinstance(value, Mapping) or is_frame(value) for value in by_name.values()):
        models: Mapping[str, object] = by_name
    elif are_counts(by_name) or _names_a_prediction(list(by_name), named):
        yield "<memory>", MODEL, by_name
        return
    else:
        models = _by_model(by_name)
        if not models:
            yield "<memory>", MODEL, by_name
            return
    for model, value in sorted(models.items()):
        yield f"<{model}>", model, value


def _refuse_splits(source: object, name: str) -> None:
    """Refuse a ``DatasetDict`` of Hugging Face: it maps splits to data sets, and no models."""
    if isinstance(source, Mapping) and type(source).__module__.partition(".")[0] == "datasets":
        splits = [str(split) for split in source]
        remedy = f"{name}[{splits[0]!r}]" if splits else f"{name}['test']"
        raise InputError.of("splits", file=f"<{name}>", splits=splits, remedy=remedy)


def _names_a_prediction(names: Sequence[str], named: Collection[str]) -> bool:
    accepted = {*spellings("y_pred", "score", "outcome", "value"), *LONE_PROBABILITIES}
    return any(
        (usual := usual_case(name)) in accepted or name in named or usual.startswith(PROBABILITY_PREFIXES)
        for name in names
    )


def _by_model(source: Mapping[str, object]) -> dict[str, object]:
    """Read {"y_true": ..., "forest": ..., "logreg": ...} as models' predictions beside shared columns."""
    known = spellings()
    shared = {name: values for name, values in source.items() if usual_case(name) in known}
    errors: list[InputError] = []
    by_model: dict[str, object] = {}
    for name, values in source.items():
        if name in shared:
            continue
        with together(errors):
            whole = isinstance(values, Mapping) or is_frame(values)
            by_model[name] = values if whole else {**shared, **_predicted(values, name)}
    refuse_all(errors)
    return by_model


def _predicted(values: object, model: str) -> dict[str, object]:
    """Take two dimensions for probabilities, one for labels or values."""
    _refuse_estimator(values, model)
    return {"y_prob" if dimensions(values) == 2 else "y_pred": values}


def _refuse_estimator(value: object, model: str) -> None:
    """Refuse a fitted model given instead of its predictions: no model is ever run here.

    Raises
    ------
    InputError
        With the lines that make predictions.
    """
    if is_frame(value) or not hasattr(value, "predict"):
        return
    name = model if model.isidentifier() else MODEL
    graded = hasattr(value, "predict_proba")
    given, classes = f"'y_pred': {name}.predict(X_test)", ""
    if graded:
        given, classes = f"{given}, 'y_prob': {name}.predict_proba(X_test)", f", classes={name}.classes_"
    remedy = f"models = {{{model!r}: {{{given}}}}}; evalreport.evaluate(models, truth=y_test{classes})"
    if hasattr(value, "cv_results_"):
        remedy += f"; or pass {name}.cv_results_ to compare the candidates of the search"
    raise InputError.of("estimator", file=f"<{model}>", name=type(value).__name__, remedy=remedy)


def _part(source: object, name: str, model: str) -> _Part:
    """Bring one source into columns with one index.

    Raises
    ------
    InputError
        Where its columns cannot be read, or their labels do not allow an alignment.
    """
    if not is_frame(source):
        if not isinstance(source, Mapping):
            source = _predicted(source, model)
        return _aligned(source, name, model)
    frame, index = arrow_table(source, name)
    frame = with_named_probabilities(frame)
    columns = {field: frame.column(place) for place, field in enumerate(frame.schema.names)}
    if len(columns) < frame.num_columns:
        raise unreadable(name, "a column's name appears twice")
    labelled = index is not None and is_labelled(index)
    return _Part(name, model, columns, None if index is None else index_texts(index), labelled)


def _truth_part(truth: object) -> _Part:
    """Take true values: a frame, columns, a mapping of id to value, or one array."""
    if isinstance(truth, Mapping):
        if all(np.ndim(value) == 0 for value in truth.values()):
            truth = {"id": [str(i) for i in truth], "y_true": list(truth.values())}
    elif not is_frame(truth):
        _refuse_estimator(truth, "truth")
        truth = {"y_true": truth}
    part = _part(truth, "<truth>", "truth")
    if len(part.columns) == 1 and _TRUTH_NAMES.isdisjoint(map(usual_case, part.columns)):
        return replace(part, columns={"y_true": next(iter(part.columns.values()))})
    return part


def _aligned(columns: Mapping[str, object], name: str, model: str) -> _Part:
    """Bring the columns of a mapping into the order of one index, where some of them have one."""
    columns = _with_frames_apart(columns, name)
    taken = {str(header): arrow_column(values) for header, values in columns.items()}
    indexes = {header: index for header, (_, index) in taken.items() if index is not None}
    if not any(map(is_labelled, indexes.values())):
        index = index_texts(next(iter(indexes.values()))) if indexes else None
        return _Part(name, model, {header: values for header, (values, _) in taken.items()}, index)
    texts = {header: index_texts(index) for header, index in indexes.items()}
    first = next((header for header in texts if usual_case(header) in _TRUTH_NAMES), next(iter(texts)))
    reference = texts[first]
    alike = all(text.equals(reference) for text in texts.values())
    found: dict[str, object] = {}
    for header, (values, _) in taken.items():
        if header not in texts:
            if not alike:
                raise InputError.of("no_order", file=name, column=header)
            found[header] = values
        elif texts[header].equals(reference):
            found[header] = values
        else:
            found[header] = _taken(values, _places(texts[header], reference, name, (header, first)))
    return _Part(name, model, found, reference, labelled=True)


def _with_frames_apart(columns: Mapping[str, object], name: str) -> dict[str, object]:
    """Divide a frame of probabilities under one name whose columns are called like classes, one column a class."""
    frames: dict[str, object] = {}
    for header, values in columns.items():
        if not is_frame(values) or usual_case(str(header)) not in LONE_PROBABILITIES:
            frames[header] = values
            continue
        table, index = arrow_table(values, name)
        named = with_named_probabilities(table)
        if named is table:
            frames[header] = values
        else:
            frames |= {
                label: named.column(place) if index is None else _indexed(named.column(place), index)
                for place, label in enumerate(named.schema.names)
            }
    return frames


def _indexed(column: pa.ChunkedArray, index: pd.Index) -> pd.Series[float]:
    import pandas as pd

    return pd.Series(column.to_numpy(), index=index)


def _taken(values: object, places: Indices) -> object:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.take(pa.array(places))
    return np.asarray(values)[places]


def _places(own: pa.Array, reference: pa.Array, name: str, headers: tuple[str, str]) -> Indices:
    """Find the position of each label of the reference among a column's own labels.

    Raises
    ------
    InputError
        Where a label appears twice, or in one of the two only.
    """
    for header, labels in zip(headers, (own, reference), strict=True):
        counts = pc.value_counts(labels)
        twice = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(twice):
            label = twice[0]["values"].as_py()
            raise InputError.of("label_twice_in_index", file=name, column=header, label=label)
    places = pc.index_in(reference, own)
    if places.null_count or len(own) > len(reference):
        lost = reference.filter(pc.is_null(places))
        lost = lost if places.null_count else own.filter(pc.invert(pc.is_in(own, reference)))
        others = f", as are {len(lost) - 1} others" if len(lost) > 1 else ""
        label, names = lost[0].as_py(), {"first": repr(headers[0]), "second": repr(headers[1])}
        raise InputError.of(
            "other_labels_in_index",
            file=name,
            line=None,
            column=headers[0],
            label=label,
            others=others,
            **names,
        )
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _with_ids(parts: Sequence[_Part], truth: _Part | None) -> tuple[list[_Part], _Part | None]:
    """Make ids of the indexes where one of them says more than the position.

    Raises
    ------
    InputError
        Where a plain array is given with indexes of different orders, or of another length.
    """
    every = [part for part in (truth, *parts) if part is not None and not part.has_id]
    labelled = [part for part in every if part.labelled]
    if not labelled:
        return list(parts), truth
    # The truth stands first, so its order is that of the arrays beside it.
    reference = labelled[0]
    labels = reference.index
    assert labels is not None
    alike = all(part.index is not None and part.index.equals(labels) for part in labelled)

    def with_id(part: _Part) -> _Part:
        if part.has_id:
            return part
        index = part.index
        if index is None:
            rows = len(cast(Sized, next(iter(part.columns.values()), ())))
            if reference is not truth and not alike:
                raise InputError.of("no_order", file=part.name)
            if rows != len(labels):
                raise InputError.of(
                    "unlike_length_of_index", file=part.name, total=rows, name=reference.name, n=len(labels)
                )
            index = labels
        elif not part.labelled:
            _require_known(part, reference)
        return replace(part, columns={**part.columns, "id": index})

    errors: list[InputError] = []
    found: list[_Part] = []
    for part in parts:
        with together(errors):
            found.append(with_id(part))
    if truth is not None:
        with together(errors):
            truth = with_id(truth)
    refuse_all(errors)
    return found, truth


def _require_known(part: _Part, reference: _Part) -> None:
    """Refuse a default index whose labels are none of those beside it: it was lost, not meant.

    Raises
    ------
    InputError
        With the two ways to give it labels.
    """
    unknown = pc.invert(pc.is_in(part.index, reference.index))
    count = pc.sum(unknown).as_py() or 0
    if count:
        raise InputError.of("default_index", file=part.name, n=count, name=reference.name)


def _source(part: _Part, classes: Sequence[object] | None) -> Source:
    def read(choose: Choose) -> Columns:
        columns = read_arrays(part.columns, part.name, choose, classes=classes)
        if columns.rows == 0:
            raise empty_file(part.name)
        return columns

    return Source(part.name, part.model, read, in_memory=True)
